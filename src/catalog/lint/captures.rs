//! Which types a capture of a name may have. Another type would be read as nothing, or as a wrong unit.

use crate::catalog::{CaptureType, EventKind};

const COUNTS: &[&str] = &["count", "patches", "code", "pid", "index", "steps"];
const SIZES: &[&str] = &[
    "usable",
    "loaded",
    "offloaded",
    "buffer",
    "freed",
    "remains",
    "staged",
    "requested",
    "allocated",
    "limit",
    "free",
    "anon_rss",
    "total_vm",
];
const FLAGS: &[&str] = &["full", "active", "cgroup", "value"];

/// What the capture should be, when it is something else.
pub(super) fn misfit(event: EventKind, name: &str, kind: &CaptureType) -> Option<&'static str> {
    let is_size =
        matches!(kind, CaptureType::Mib | CaptureType::Gib | CaptureType::Kib | CaptureType::Bytes | CaptureType::Size);
    if event == EventKind::Fact {
        return (name.ends_with("_mib") && !is_size).then_some("mib, gib, kib, bytes or size");
    }
    // These carry free details, whatever they call them.
    if matches!(
        event,
        EventKind::Notice
            | EventKind::ErrorNotice
            | EventKind::Noise
            | EventKind::Launch
            | EventKind::PromptDetail
            | EventKind::PromptInvalid
    ) {
        return None;
    }
    if COUNTS.contains(&name) {
        return (*kind != CaptureType::Int).then_some("int");
    }
    if SIZES.contains(&name) {
        return (!is_size).then_some("mib, gib, kib, bytes or size");
    }
    if FLAGS.contains(&name) {
        return (!matches!(kind, CaptureType::Bool | CaptureType::OneOf(_))).then_some("bool");
    }
    match name {
        "seconds" => (*kind != CaptureType::Seconds).then_some("seconds"),
        "class" => (!matches!(kind, CaptureType::Class | CaptureType::OneOf(_))).then_some("class"),
        "message" if matches!(event, EventKind::Exception | EventKind::ExceptionLine | EventKind::Aimdo) => {
            (*kind != CaptureType::Message).then_some("message")
        }
        _ => None,
    }
}
