//! Lints of single fields: ids, links, dates, and words from closed lists.

use std::collections::BTreeMap;

use super::head::{is_date, is_plain};
use super::lists::{STRUCTURES, WORDS};
use super::{Finding, Lint, text, texts};
use crate::catalog::folder::{SourceItem, SourceText};

pub(super) fn check(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    let mut seen: BTreeMap<(&str, String), (&SourceText, &SourceItem)> = BTreeMap::new();
    for (source, item) in lint.items() {
        let id = item.id();
        // A sentence may be named by the beginning of its id alone: what a missing word comes to.
        let plain = if item.table == "sentence" { id.trim_end_matches('-') } else { &id };
        if item.fields.contains_key("id") && !is_plain(plain) {
            findings.push(
                Finding::at("id-form", source, item, "id", "the id is not in kebab-case").help("use a-z, 0-9 and `-`"),
            );
        }
        if let Some((other, first)) = seen.insert((&item.table, id), (source, item)) {
            let (line, _) = other.position(first.at.start);
            let message = format!("the same id stands in {}, line {line}", other.path);
            findings.push(Finding::at("id-twice", source, item, "id", message).help("ids are unique in a pack"));
        }
        links(source, item, findings);
        words(source, item, findings);
        let checked = text(item, "checked");
        if !checked.is_empty() && !is_date(checked) {
            let message = format!("`{checked}` is no date");
            findings.push(Finding::at("date", source, item, "checked", message).help("write it as 2026-11-30"));
        }
        control_letters(source, item, "", &serde_json::Value::Object(item.fields.clone()), findings);
    }
}

fn links(source: &SourceText, item: &SourceItem, findings: &mut Vec<Finding>) {
    for (field, link) in texts(item, "links") {
        let host = link.strip_prefix("https://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let plain = link.chars().all(|letter| !letter.is_whitespace() && !letter.is_control());
        if !plain || !host.contains('.') || host.starts_with('.') || host.ends_with('.') {
            let message = format!("`{link}` is no address");
            findings.push(
                Finding::at("link", source, item, &field, message).help("write the whole address, from https:// on"),
            );
        }
    }
}

fn words(source: &SourceText, item: &SourceItem, findings: &mut Vec<Finding>) {
    for (table, field, words) in WORDS {
        let given = text(item, field);
        if item.table == table && !given.is_empty() && !words.contains(&given) {
            let message = format!("`{given}` is not one of the words for this field");
            findings.push(
                Finding::at("word", source, item, field, message).help(format!("use one of: {}", words.join(", "))),
            );
        }
    }
    if item.table == "bug" {
        for (field, name) in texts(item, "structure") {
            if !STRUCTURES.contains(&name) {
                let message = format!("there is no structure `{name}`");
                let help = format!("use one of: {}", STRUCTURES.join(", "));
                findings.push(Finding::at("word", source, item, &field, message).help(help));
            }
        }
        let decides = item.fields.get("decides").and_then(serde_json::Value::as_bool) == Some(true);
        if decides && texts(item, "signature").is_empty() && texts(item, "signature_all").is_empty() {
            let message = "a bug that decides needs a signature";
            findings.push(Finding::at("no-signature", source, item, "decides", message));
        }
    }
}

/// Letters that could steer a terminal or turn a text around have no business in a pack.
fn control_letters(
    source: &SourceText,
    item: &SourceItem,
    path: &str,
    value: &serde_json::Value,
    findings: &mut Vec<Finding>,
) {
    use serde_json::Value;
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::String(text) => {
            let steers = |letter: char| {
                (letter.is_control() && letter != '\n' && letter != '\t')
                    || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
            };
            if let Some(letter) = text.chars().find(|letter| steers(*letter)) {
                let message = format!("the control character U+{:04X} stands in the text", u32::from(letter));
                findings.push(Finding::at("control", source, item, path, message).help("take it out"));
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                control_letters(source, item, &below(&at.to_string()), inner, findings);
            }
        }
        Value::Object(fields) => {
            for (name, inner) in fields {
                control_letters(source, item, &below(name), inner, findings);
            }
        }
        _ => {}
    }
}
