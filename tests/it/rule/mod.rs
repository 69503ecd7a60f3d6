//! The TOML of `rules/` as plain values, for tests that hold the program's packs against it.

pub mod prose;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::Value;

/// Items of one table, each with the file it stands in.
pub type Tables = BTreeMap<String, Vec<(PathBuf, Value)>>;

/// Everything in `rules/`, by table. `pack.toml` is not a rule file.
pub fn tables() -> Tables {
    let mut files = Vec::new();
    toml_files(&root(), &mut files);
    files.sort();
    let mut tables = Tables::new();
    for file in files.into_iter().filter(|file| file.file_name().is_none_or(|name| name != "pack.toml")) {
        let text = fs::read_to_string(&file).unwrap();
        let parsed: toml::Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let shown = file.strip_prefix(root()).unwrap().to_path_buf();
        for (table, items) in parsed {
            let items = items.as_array().unwrap_or_else(|| panic!("{}: {table}", shown.display())).clone();
            tables.entry(table).or_default().extend(items.into_iter().map(|item| (shown.clone(), item)));
        }
    }
    tables
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")
}

fn toml_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            toml_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
}

/// What identifies an item of any table; rows of precedence have a rank instead.
pub fn id(item: &Value) -> &str {
    ["id", "name", "pattern", "version", "comfyui"]
        .iter()
        .find_map(|key| item.get(key).and_then(Value::as_str))
        .unwrap_or("(no id)")
}

/// What no two items of a table may share.
pub fn key(item: &Value) -> String {
    item.get("rank").filter(|_| item.get("id").is_none()).map_or_else(|| id(item).to_owned(), Value::to_string)
}

/// A list of texts; empty when it is not there.
pub fn texts<'v>(item: &'v Value, field: &str) -> Vec<&'v str> {
    item.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// One text.
pub fn text<'v>(item: &'v Value, field: &str) -> &'v str {
    item.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Fails with all of `faults`, one a line.
pub fn none(what: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{} {what}:\n{}", faults.len(), faults.join("\n"));
}
