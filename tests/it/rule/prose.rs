//! Every text in two languages inside a pack item, wherever it stands.

use toml::Value;

/// One text with its place inside the item, e.g. `versions.0.effect`.
pub struct Prose<'v> {
    pub field: String,
    pub en: &'v str,
    pub zh: &'v str,
}

/// All prose of `value`: tables that hold a language, and the `en` and `zh` of a sentence.
pub fn all(value: &Value) -> Vec<Prose<'_>> {
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

fn collect<'v>(value: &'v Value, field: &str, found: &mut Vec<Prose<'v>>) {
    match value {
        Value::Table(table) => {
            if table.contains_key("en") || table.contains_key("zh") {
                let language = |name: &str| table.get(name).and_then(Value::as_str).unwrap_or_default();
                found.push(Prose { field: field.to_owned(), en: language("en"), zh: language("zh") });
            }
            for (key, inner) in table {
                collect(inner, &below(field, key), found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                collect(inner, &below(field, &index.to_string()), found);
            }
        }
        _ => {}
    }
}

fn below(field: &str, key: &str) -> String {
    if field.is_empty() { key.to_owned() } else { format!("{field}.{key}") }
}

/// Command-line flags named in a text: `--` and a lower-case word.
pub fn flags(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("--") {
        let inside_word =
            text[..at].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '-');
        let rest = &text[at + 2..];
        let len = rest
            .find(|letter: char| {
                !(letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_'))
            })
            .unwrap_or(rest.len());
        if !inside_word && rest.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            found.push(text[at..at + 2 + len].trim_end_matches('-'));
        }
    }
    found
}
