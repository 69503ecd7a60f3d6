//! The schema of pack files, for editors as JSON and for people as tables.

use std::fmt::Write as _;

use schemars::schema_for;
use serde_json::Value;

use crate::catalog::lint::{AREAS, FACTS, STRUCTURES};
use crate::catalog::{PackFile, PackHead};

/// JSON Schema of a pack file; that of `pack.toml` is its definition `PackHead`.
pub(super) fn schema() -> String {
    let mut schema = schema_for!(PackFile).to_value();
    let mut head = schema_for!(PackHead).to_value();
    if let (Some(all), Some(own)) = (schema.get_mut("$defs").and_then(Value::as_object_mut), head.as_object_mut()) {
        own.remove("$schema");
        if let Some(Value::Object(more)) = own.remove("$defs") {
            all.extend(more);
        }
        all.insert("PackHead".to_owned(), head);
    }
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// Tables of all fields, and the closed lists.
pub(super) fn tables() -> String {
    let schema = schema_for!(PackFile).to_value();
    let mut out = String::from("`pack.toml`\n\n");
    let head = schema_for!(PackHead).to_value();
    table(&mut out, &head, &head);
    for name in PackFile::TABLES {
        let items = schema.pointer(&format!("/properties/{name}/items")).cloned().unwrap_or_default();
        let item = resolve(&schema, &items).clone();
        let _ = write!(out, "\n`[[{name}]]`\n\n");
        table(&mut out, &schema, &item);
    }
    for (name, words) in [("Areas", &AREAS[..]), ("Facts", &FACTS[..]), ("Structures", &STRUCTURES[..])] {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let _ = write!(out, "\n{name}: {}\n", words.join(" "));
    }
    out
}

fn table(out: &mut String, root: &Value, item: &Value) {
    out.push_str("| field | type | |\n|---|---|---|\n");
    let required: Vec<&str> =
        item.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in item.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let about = field.get("description").and_then(Value::as_str).unwrap_or_default();
        let must = if required.contains(&name.as_str()) { "required. " } else { "" };
        let _ = writeln!(
            out,
            "| `{name}` | {} | {must}{} |",
            kind(root, field),
            about.replace('|', "\\|").replace('\n', " ")
        );
    }
}

fn resolve<'v>(root: &'v Value, value: &'v Value) -> &'v Value {
    let target = value.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    target.and_then(|path| root.pointer(path)).unwrap_or(value)
}

/// A type in a word or two.
fn kind(root: &Value, field: &Value) -> String {
    if let Some(name) = field.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        return match name {
            "Prose" => "en, zh".to_owned(),
            "Version" | "Since" => "version".to_owned(),
            "EventKind" => "event".to_owned(),
            "Constant" => "true, number or text".to_owned(),
            _ => words(resolve(root, field)).unwrap_or_else(|| "table".to_owned()),
        };
    }
    let all = field.get("anyOf").or_else(|| field.get("allOf")).and_then(Value::as_array);
    if let Some(inner) =
        all.and_then(|all| all.iter().find(|one| one.get("type").and_then(Value::as_str) != Some("null")))
    {
        return kind(root, inner);
    }
    let name = match field.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.first().and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    match name.as_str() {
        "string" => words(field).unwrap_or_else(|| "text".to_owned()),
        "array" => match field.get("items").map(|items| kind(root, items)) {
            Some(items) => format!("list of {items}"),
            None => "list".to_owned(),
        },
        "object" => "table".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" | "number" => "number".to_owned(),
        other => other.to_owned(),
    }
}

/// The words of a closed list.
fn words(field: &Value) -> Option<String> {
    let list = |values: &[Value]| {
        let words: Vec<String> = values.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        (!words.is_empty()).then(|| words.join(" "))
    };
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        return list(values);
    }
    let one: Vec<Value> = field.get("oneOf")?.as_array()?.iter().filter_map(|one| one.get("const").cloned()).collect();
    list(&one)
}
