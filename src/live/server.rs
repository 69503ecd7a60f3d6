//! The log of a ComfyUI that runs on this machine, asked of the server itself.

use std::time::Duration;

use serde_json::Value;

use super::stats::{StatsError, StatsUrl};

/// Where ComfyUI listens when nobody says otherwise.
pub const USUAL_SERVER: &str = "http://127.0.0.1:8188";
/// Its log, with the time of each entry; since 0.3.0.
const LOG: &str = "/internal/logs/raw";
/// Versions, RAM and cards.
const STATS: &str = "/system_stats";
/// A server that is loading a model answers late.
const PATIENCE: Duration = Duration::from_secs(10);
/// The server keeps 300 entries; one can be a long traceback.
const LIMIT: usize = 32 * 1024 * 1024;

/// The log and the machine's figures as one JSON object, which is read like a saved answer of the server.
///
/// # Errors
/// When the address is none of this machine's. `Ok(None)` when nobody answers there with a log.
pub fn running_log(url: &str) -> Result<Option<String>, StatsError> {
    let server = StatsUrl::parse(url)?;
    let object = |path: &str| match server.get(path, PATIENCE, LIMIT).map(|text| serde_json::from_str(&text)) {
        Some(Ok(Value::Object(members))) => Some(members),
        _ => None,
    };
    let Some(log) = object(LOG) else { return Ok(None) };
    // The figures help, and a log without them is still a log.
    let mut all = object(STATS).unwrap_or_default();
    all.extend(log);
    Ok(Some(Value::Object(all).to_string()))
}
