//! Lints of texts in two languages: both are there, in their language, with the same placeholders.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Finding, Lint};
use crate::catalog::folder::{SourceItem, SourceText};

/// Plain words from which on a text is a sentence. Names, flags and commands may be equal in both languages.
const SENTENCE: usize = 4;

pub(super) fn check(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    for (source, item) in lint.items() {
        if item.table == "sentence" {
            pair(source, item, "", &item.fields, findings);
        }
        for (name, value) in &item.fields {
            below(source, item, name, value, findings);
        }
        if item.table == "message" && !item.fields.contains_key("means") {
            let message = "nothing says what the text means";
            findings.push(
                Finding::at("prose-missing", source, item, "means", message)
                    .help("add means = { en = \"…\", zh = \"…\" }"),
            );
        }
    }
}

fn below(source: &SourceText, item: &SourceItem, path: &str, value: &Value, findings: &mut Vec<Finding>) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("en") || fields.contains_key("zh") {
                pair(source, item, path, fields, findings);
            } else {
                for (name, inner) in fields {
                    below(source, item, &format!("{path}.{name}"), inner, findings);
                }
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                below(source, item, &format!("{path}.{at}"), inner, findings);
            }
        }
        _ => {}
    }
}

fn pair(source: &SourceText, item: &SourceItem, path: &str, fields: &Map<String, Value>, findings: &mut Vec<Finding>) {
    let text = |language: &str| fields.get(language).and_then(Value::as_str).unwrap_or_default();
    let field = |language: &str| if path.is_empty() { language.to_owned() } else { format!("{path}.{language}") };
    let (en, zh) = (text("en"), text("zh"));
    for (language, given) in [("en", en), ("zh", zh)] {
        if given.trim().is_empty() {
            let place = if fields.contains_key(language) { field(language) } else { path.to_owned() };
            let name = if language == "en" { "English" } else { "Chinese" };
            let message = format!("the {name} text is missing");
            findings.push(Finding::at("prose-missing", source, item, &place, message).help("give both `en` and `zh`"));
        }
    }
    if en.trim().is_empty() || zh.trim().is_empty() {
        return;
    }
    if en == zh && en.split(' ').filter(|word| is_plain_word(word)).count() >= SENTENCE {
        findings.push(Finding::at(
            "prose-untranslated",
            source,
            item,
            &field("zh"),
            "the Chinese text is the English one",
        ));
    }
    if en.chars().any(is_han) {
        findings.push(Finding::at(
            "prose-language",
            source,
            item,
            &field("en"),
            "Chinese letters stand in the English text",
        ));
    }
    if item.table == "sentence" && placeholders(en) != placeholders(zh) {
        let message = "the two languages have different placeholders";
        findings
            .push(Finding::at("placeholder", source, item, &field("zh"), message).help("use the same {names} in both"));
    }
}

/// Small letters only, apart from a sign behind them.
fn is_plain_word(word: &str) -> bool {
    let word = word.trim_end_matches(|letter: char| letter.is_ascii_punctuation());
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_han(letter: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&letter)
}

/// Names in braces.
fn placeholders(text: &str) -> BTreeSet<&str> {
    let inside = text.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name));
    inside
        .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        .collect()
}
