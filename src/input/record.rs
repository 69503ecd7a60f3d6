//! A log line that is one JSON object, as Docker's own files and log collectors keep them, gives its message.
//!
//! Only the text is taken; other objects are left as they stand.

use serde_json::Value;

/// Names under which collectors keep the text of a line, most specific first.
const TEXT_KEYS: [&str; 4] = ["log", "message", "msg", "line"];
/// Names that such a record has beside its text; an object without any is the program's own output.
const BESIDE: [&str; 8] = ["stream", "time", "timestamp", "ts", "level", "@timestamp", "kubernetes", "container_name"];

/// The text of a record, with its line breaks. `None` when the line is no such record.
pub(crate) fn text_of(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.trim_ascii_end();
    if !line.ends_with(b"}") {
        return None;
    }
    let value: Value = serde_json::from_slice(line).ok()?;
    let object = value.as_object()?;
    if !BESIDE.iter().any(|key| object.contains_key(*key)) {
        return None;
    }
    let text = TEXT_KEYS.iter().find_map(|key| object.get(*key)?.as_str())?;
    Some(text.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_collectors_give_their_text() {
        let docker = br#"{"log":"got prompt\n","stream":"stderr","time":"2026-03-01T10:00:00.000000001Z"}"#;
        assert_eq!(text_of(docker).as_deref(), Some(&b"got prompt\n"[..]));
        let collector = br#"{"message": "got prompt", "level": "INFO"}"#;
        assert_eq!(text_of(collector).as_deref(), Some(&b"got prompt"[..]));
    }

    #[test]
    fn other_objects_are_left_alone() {
        assert_eq!(text_of(br#"{"prompt": "a cat", "seed": 1}"#), None);
        assert_eq!(text_of(br#"{"log": "cut off"#), None);
    }
}
