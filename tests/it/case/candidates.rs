//! Which node packs a report accuses: naming none may be right, naming an innocent one never is.

use serde_json::Value;

use super::Case;
use super::json::{folder, texts};

/// Folders named with a reason that accuses, over all findings.
pub fn accused(report: &Value) -> Vec<&str> {
    let mut dirs = Vec::new();
    for finding in report["findings"].as_array().into_iter().flatten() {
        for candidate in finding["candidates"].as_array().into_iter().flatten() {
            if matches!(candidate["why"].as_str(), Some("traceback" | "known-fault")) {
                dirs.extend(candidate["dir"].as_str());
            }
        }
    }
    dirs.sort_unstable();
    dirs.dedup();
    dirs
}

/// Accused folders that have nothing to do with it.
pub fn innocent<'r>(case: &Case, report: &'r Value) -> Vec<&'r str> {
    let mut guilty: Vec<String> = texts(&case.expect["custom_nodes"]).into_iter().map(folder).collect();
    guilty.extend(texts(&case.expect["culprit_dirs"]).into_iter().map(folder));
    accused(report).into_iter().filter(|dir| !guilty.contains(&folder(dir))).collect()
}
