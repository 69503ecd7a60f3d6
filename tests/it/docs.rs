//! The documentation says what the program does: generated pages are current, and walk-throughs work as written.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use comfy_triage::catalog::Packs;
use comfy_triage::docs::{pages, with_fields};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

const HOW: &str = "run `cargo run -- rules docs docs`";

#[test]
fn generated_pages_are_current() {
    let pages = pages(&Packs::built_in(), &Packs::definitions(&[]));
    for (path, text) in &pages {
        let written = std::fs::read_to_string(docs().join(path)).unwrap_or_default();
        assert!(written == *text, "docs/{path} is not current: {HOW}");
    }
    for entry in std::fs::read_dir(docs().join("rules")).unwrap() {
        let name = format!("rules/{}", entry.unwrap().file_name().to_str().unwrap());
        assert!(pages.contains_key(&name), "docs/{name} belongs to nothing: {HOW}");
    }
    let format = std::fs::read_to_string(docs().join("rule-format.md")).unwrap();
    assert!(with_fields(&format).as_deref() == Some(&format), "docs/rule-format.md is not current: {HOW}");
}

#[test]
fn the_schema_takes_the_built_in_pack_and_refuses_a_misspelt_field() {
    let schema: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(docs().join("rule-format.schema.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // What is private is no part of a pack.
            if path.ends_with("rules/redaction") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "toml") && !path.ends_with("pack.toml") {
                let value: toml::Value = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
                let value = serde_json::to_value(value).unwrap();
                let faults: Vec<String> = validator
                    .iter_errors(&value)
                    .take(3)
                    .map(|fault| format!("{}: {fault}", fault.instance_path))
                    .collect();
                assert!(faults.is_empty(), "{}: {faults:#?}", path.display());
                files += 1;
            }
        }
    }
    assert!(files > 30);
    assert!(
        !validator
            .is_valid(&serde_json::json!({ "message": [{ "id": "x", "area": "load", "event": "noise", "txt": "y" }] }))
    );
}

/// A fenced block: what stands behind its ticks, and its text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(head)) => open = Some((head.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// Writes the page's files, runs its commands, and looks for the lines it promises.
fn walk(name: &str) -> usize {
    let page = std::fs::read_to_string(docs().join(name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut output = String::new();
    let mut commands = 0;
    for (head, text) in blocks(&page) {
        let mut words = head.split(' ');
        match (words.next(), words.next()) {
            (Some("sh"), _) => {
                output.clear();
                for line in text.lines() {
                    let mut words = line.split(' ');
                    assert_eq!(words.next(), Some("comfy-triage"), "{name}: {line}");
                    let result = Command::cargo_bin("comfy-triage")
                        .unwrap()
                        .args(words)
                        .current_dir(folder.path())
                        .env_remove("COMFY_TRIAGE_RULES")
                        .env("XDG_CONFIG_HOME", folder.path().join("config"))
                        .env("LC_ALL", "C")
                        .output()
                        .unwrap();
                    assert!(result.status.success(), "{name}: {line}\n{}", String::from_utf8_lossy(&result.stderr));
                    output.push_str(&String::from_utf8_lossy(&result.stdout));
                    commands += 1;
                }
            }
            (Some("console"), _) => {
                for line in text.lines() {
                    assert!(output.contains(line), "{name}: no `{line}` in\n{output}");
                }
            }
            (Some(_), Some(path)) => {
                let path = folder.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            _ => {}
        }
    }
    commands
}

#[test]
fn the_walk_throughs_work_as_written() {
    let run = BTreeMap::from(["add-a-message.md", "add-a-known-bug.md"].map(|name| (name, walk(name))));
    assert!(run.values().all(|commands| *commands >= 3), "{run:?}");
}

#[test]
fn links_between_pages_lead_somewhere() {
    for entry in std::fs::read_dir(docs()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = std::fs::read_to_string(&path).unwrap();
        for target in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains("://") {
                assert!(docs().join(file).exists(), "{}: {target}", path.display());
            }
        }
    }
}
