//! Right, wrong, or harmful: what a wrong verdict would make somebody do.

use serde_json::Value;

use super::json::texts;
use super::{Case, primary};

const LEAKS: [&str; 2] = ["leak-confirmed", "leak-suspected"];
const BY_DESIGN: [&str; 3] = ["caching-by-design", "pinning-by-design", "user-residency"];
const MUST_NOT_BE_WAVED_AWAY: [&str; 5] =
    ["leak-confirmed", "leak-suspected", "host-oom", "container-limit", "version-bug"];

fn is_healthy(verdict: &str) -> bool {
    BY_DESIGN.contains(&verdict) || matches!(verdict, "no-fault" | "cycle-collected")
}

/// The verdict may be given.
pub fn is_right(case: &Case, report: &Value) -> bool {
    case.acceptable().contains(&primary(report))
}

/// Why the report would do harm, if it would.
pub fn harm(case: &Case, report: &Value) -> Option<String> {
    let (said, truth, acceptable) = (primary(report), case.truth(), case.acceptable());
    let secondary = texts(&report["verdict"]["secondary"]);
    let expected: Vec<&str> =
        texts(&case.expect["secondary"]).into_iter().chain(acceptable.iter().copied()).chain([truth]).collect();
    let healthy = is_healthy(truth) && acceptable.iter().all(|verdict| is_healthy(verdict));
    if healthy && LEAKS.contains(&said) {
        return Some(format!("{truth} is called a leak ({said})"));
    }
    if healthy && secondary.contains(&"leak-confirmed") {
        return Some(format!("{truth} is also called leak-confirmed"));
    }
    let waved_away = BY_DESIGN.contains(&said) || said == "no-fault";
    if MUST_NOT_BE_WAVED_AWAY.contains(&truth) && waved_away && !acceptable.contains(&said) {
        return Some(format!("{truth} is waved away as {said}"));
    }
    let names_bug = said == "version-bug" || secondary.contains(&"version-bug");
    if healthy && names_bug && !expected.contains(&"version-bug") {
        return Some("a log without a fault is given a version bug".to_owned());
    }
    None
}
