//! Turns `rules/` into JSON blobs for the binary: what matching needs apart from prose, which is read on demand.
//!
//! Parsing half a megabyte of TOML at each start would cost more than reading a small log. The split is
//! generic (a table with `en` is prose), so that a new field needs no change here. Shapes are checked when the
//! blobs are read, and a test holds them equal to the TOML files.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::{Map, Value};

#[path = "build/verdicts.rs"]
mod verdicts;

/// Fields that only documentation, `rules check` and `explain` read.
const PROSE_FIELDS: [&str; 4] = ["match", "silent", "source", "links"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut files = Vec::new();
    toml_files(Path::new("rules"), &mut files)?;
    files.sort();
    // What is private is the program's own and in no pack: it is read when something is to be redacted.
    let (private, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.starts_with("rules/redaction"));
    fs::write(out.join("redaction.json"), serde_json::to_string(&tables_of(&private)?)?)?;

    let mut core: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut prose: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    let mut languages: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut head = Value::Null;
    let mut verdicts = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file)?;
        let value: toml::Value = toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let Value::Object(tables) = serde_json::to_value(value)? else { continue };
        if file.file_name().is_some_and(|name| name == "pack.toml") {
            head = Value::Object(tables);
            continue;
        }
        for (table, items) in tables {
            let Value::Array(items) = items else {
                return Err(format!("{}: `{table}` is not an array of tables", file.display()).into());
            };
            for item in items {
                let Value::Object(item) = item else { continue };
                if table == "sentence" {
                    add_sentence(&mut languages, &item);
                    continue;
                }
                if table == "verdict" {
                    verdicts.push(item.clone());
                }
                let (kept, told) = split(item);
                let id = ["id", "name", "version", "pattern"]
                    .iter()
                    .find_map(|key| kept.get(*key).and_then(Value::as_str))
                    .unwrap_or_default();
                prose.entry(table.clone()).or_default().insert(id.to_owned(), Value::Object(told));
                core.entry(table.clone()).or_default().push(Value::Object(kept));
            }
        }
    }
    fs::write(out.join("verdicts.rs"), verdicts::code(&verdicts)?)?;
    fs::write(out.join("head.json"), serde_json::to_string(&head)?)?;
    fs::write(out.join("core.json"), serde_json::to_string(&core)?)?;
    // A file for each table: a report needs the prose of a few, and looking for them in all of it took as long as all rules.
    let mut tables = String::from("[\n");
    for (table, items) in &prose {
        fs::write(out.join(format!("prose-{table}.json")), serde_json::to_string(items)?)?;
        tables.push_str(&format!("({table:?}, include_str!(concat!(env!(\"OUT_DIR\"), \"/prose-{table}.json\"))),\n"));
    }
    fs::write(out.join("prose.rs"), tables + "]\n")?;
    for language in ["en", "zh"] {
        let sentences = languages.remove(language).unwrap_or_default();
        fs::write(out.join(format!("{language}.json")), serde_json::to_string(&sentences)?)?;
    }
    Ok(())
}

/// All tables of these files.
fn tables_of(files: &[PathBuf]) -> Result<Map<String, Value>, Box<dyn Error>> {
    let mut tables = Map::new();
    for file in files {
        let value: toml::Value =
            toml::from_str(&fs::read_to_string(file)?).map_err(|error| format!("{}: {error}", file.display()))?;
        if let Value::Object(table) = serde_json::to_value(value)? {
            tables.extend(table);
        }
    }
    Ok(tables)
}

fn toml_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            toml_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

fn split(item: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    let mut kept = Map::new();
    let mut told = Map::new();
    for (key, value) in item {
        let is_prose = value.get("en").is_some() || PROSE_FIELDS.contains(&key.as_str());
        if is_prose {
            told.insert(key, value)
        } else {
            kept.insert(key, value)
        };
    }
    (kept, told)
}

fn add_sentence(languages: &mut BTreeMap<&str, Map<String, Value>>, item: &Map<String, Value>) {
    let Some(id) = item.get("id").and_then(Value::as_str) else { return };
    for language in ["en", "zh"] {
        if let Some(text) = item.get(language) {
            languages.entry(language).or_default().insert(id.to_owned(), text.clone());
        }
    }
}
