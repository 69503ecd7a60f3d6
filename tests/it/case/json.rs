//! Reading reports and expectations: sums and first values over the sessions of a log.

use serde_json::Value;

/// A list of texts; empty when it is not there.
pub fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The sessions of a report.
pub fn sessions(report: &Value) -> impl Iterator<Item = &Value> {
    report["sessions"].as_array().into_iter().flatten()
}

/// The number at `pointer`, added up over the sessions.
pub fn sum(report: &Value, pointer: &str) -> u64 {
    sessions(report).filter_map(|session| session.pointer(pointer)?.as_u64()).sum()
}

/// The value at `pointer` of the first session that has one.
pub fn first<'v>(report: &'v Value, pointer: &str) -> &'v Value {
    sessions(report)
        .filter_map(|session| session.pointer(pointer))
        .find(|value| !value.is_null())
        .unwrap_or(&Value::Null)
}

/// The value at `pointer` of the last session that has one.
pub fn last<'v>(report: &'v Value, pointer: &str) -> &'v Value {
    sessions(report)
        .filter_map(|session| session.pointer(pointer))
        .filter(|value| !value.is_null())
        .last()
        .unwrap_or(&Value::Null)
}

/// All items of the lists at `pointer`, in the order of the sessions.
pub fn items<'v>(report: &'v Value, pointer: &str) -> Vec<&'v Value> {
    sessions(report).filter_map(|session| session.pointer(pointer)?.as_array()).flatten().collect()
}

/// Same text, same truth value, or same number, whether written `6251` or `6251.0`.
pub fn equal(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}

/// A key made safe for a JSON pointer.
pub fn key(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A folder name as ComfyUI's users spell it in several ways.
pub fn folder(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_").trim_end_matches(".py").to_owned()
}
