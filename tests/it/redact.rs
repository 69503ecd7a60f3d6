//! Planted secrets: none of them may survive, in any format and wherever in a log they stand.
#![allow(clippy::unwrap_used)] // a test may panic

use std::path::Path;

use clap::Parser;
use comfy_triage::cli::Cli;
use comfy_triage::command::{Console, Environment, run};
use proptest::prelude::*;

const SECRETS: &str = include_str!("../../fixtures/secrets/secrets.txt");
const PLANTED: &str = include_str!("../../fixtures/secrets/planted.log");
const LEAK: &str = include_str!("../../fixtures/checklist/core-leak.log");

/// Calls that show something of a log; `LOG` stands for it.
const CALLS: [&[&str]; 12] = [
    &["LOG", "--redact"],
    &["LOG", "--redact", "--verbose"],
    &["LOG", "--redact", "--quiet"],
    &["LOG", "--redact", "--format", "json"],
    &["LOG", "--redact", "--format", "ndjson"],
    &["LOG", "--redact", "--format", "markdown", "--verbose"],
    &["checklist", "LOG"],
    &["checklist", "LOG", "--for", "forum", "--format", "markdown", "--lang", "zh"],
    &["checklist", "LOG", "--format", "json"],
    &["compare", "LOG", "LOG", "--redact", "--force"],
    &["compare", "LOG", "LOG", "--redact", "--format", "json"],
    &["redact", "LOG"],
];

/// Output and error stream of a call.
fn call(words: &[&str], log: &str) -> (String, String) {
    let words = std::iter::once("comfy-triage").chain(words.iter().map(|word| if *word == "LOG" { log } else { word }));
    let cli = Cli::try_parse_from(words).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let around = Environment { columns: Some(100), ..Environment::default() };
    run(cli, &mut Console { out: &mut out, err: &mut err, around: &around }).unwrap();
    (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Secrets that are still in `text`.
fn survivors(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    SECRETS.lines().filter(|secret| text.contains(&secret.to_lowercase())).collect()
}

fn saved(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn of_a_log_that_was_not_read_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for words in [&["redact", "LOG"][..], &["LOG", "--redact"]] {
        let (_, told) = call(words, &saved(folder.path(), "empty.log", ""));
        assert!(told.contains("is empty") && !told.contains("private"), "{told}");
    }
}

/// What holds nothing that can be read is told under the name that the user gave.
#[test]
fn a_log_without_a_letter_is_told_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let log = saved(folder.path(), "zeros.log", &"\0".repeat(5000));
    let (shown, told) = call(&["redact", "LOG"], &log);
    assert!(shown.is_empty() && told.contains("zeros.log` is empty"), "{told}");
}

#[test]
fn every_secret_is_planted() {
    assert_eq!(
        survivors(PLANTED).len(),
        SECRETS.lines().count(),
        "missing: {:?}",
        SECRETS.lines().filter(|secret| !survivors(PLANTED).contains(secret)).collect::<Vec<_>>()
    );
}

#[test]
fn no_secret_survives_in_any_format() {
    let folder = tempfile::tempdir().unwrap();
    let log = saved(folder.path(), "marlenka.log", &format!("{LEAK}{PLANTED}"));
    for words in CALLS {
        let (out, err) = call(words, &log);
        assert!(!out.is_empty(), "{words:?}: {err}");
        assert_eq!(survivors(&out), [""; 0], "{words:?}: {out}");
        // The table of what was replaced gives hints, never the thing itself. The path of the log is the caller's.
        assert_eq!(survivors(&err.replace(&log, "")), [""; 0], "{words:?}: {err}");
        assert!(err.contains("redacted-user-1"), "{words:?}: {err}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn wherever_they_stand(places in prop::collection::vec(0_usize..60, 24..40), which in 0_usize..12) {
        let mut lines: Vec<&str> = LEAK.lines().collect();
        // Lines of a key belong together; every other line may stand anywhere.
        let planted: Vec<&str> = PLANTED.lines().collect();
        let key = planted.iter().position(|line| line.contains("BEGIN OPENSSH")).unwrap();
        let single: Vec<&str> = planted.iter().enumerate().filter(|(at, _)| !(key..key + 3).contains(at)).map(|(_, line)| *line).collect();
        for (line, place) in single.iter().zip(places.iter().cycle()) {
            lines.insert((*place).min(lines.len()), line);
        }
        lines.extend(&planted[key..key + 3]);
        let folder = tempfile::tempdir().unwrap();
        let log = saved(folder.path(), "x.log", &lines.join("\n"));
        let (out, _) = call(CALLS[which], &log);
        prop_assert_eq!(survivors(&out), [""; 0], "{:?}", CALLS[which]);
    }
}

#[test]
fn the_answer_and_its_lines_stay() {
    let folder = tempfile::tempdir().unwrap();
    let log = saved(folder.path(), "x.log", LEAK);
    let plain: serde_json::Value = serde_json::from_str(&call(&["LOG", "--format", "json"], &log).0).unwrap();
    let clean: serde_json::Value =
        serde_json::from_str(&call(&["LOG", "--format", "json", "--redact"], &log).0).unwrap();
    assert_eq!(plain["reports"][0]["verdict"], clean["reports"][0]["verdict"]);
    let lines = |report: &serde_json::Value| -> Vec<serde_json::Value> {
        report["reports"][0]["findings"][0]["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["at"].clone())
            .collect()
    };
    assert_eq!(lines(&plain), lines(&clean), "line numbers and offsets are those of the user's file");
}

#[test]
fn a_redacted_log_keeps_its_lines_and_gives_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let log = saved(folder.path(), "x.log", &format!("{LEAK}{PLANTED}"));
    let shared = call(&["redact", "LOG"], &log).0;
    assert_eq!(shared.lines().count(), format!("{LEAK}{PLANTED}").lines().count());
    assert!(
        shared.contains("ComfyUI version: 0.45.2")
            && shared.contains("custom_nodes/ComfyUI-Softgrain/nodes.py\", line 12")
    );
    let again = saved(folder.path(), "y.log", &shared);
    assert_eq!(call(&["redact", "LOG"], &again).0, shared, "a clean log stays as it is");
    let verdict = |log: &str| call(&["LOG", "--quiet"], log).0.split(':').next().map(str::to_owned);
    assert_eq!(verdict(&again), verdict(&log));
    // The same thing is the same token in every view of the same log.
    let leak = saved(folder.path(), "z.log", LEAK);
    let (shared, draft) = (call(&["redact", "LOG"], &leak).0, call(&["checklist", "LOG"], &leak).0);
    for same in ["/home/redacted-user-1/ComfyUI", "http://redacted-ip-1:8188"] {
        assert!(shared.contains(same) && draft.contains(same), "{same}");
    }
}

#[test]
fn a_log_of_the_server_stays_json() {
    let folder = tempfile::tempdir().unwrap();
    let entries: Vec<serde_json::Value> = LEAK
        .lines()
        .chain(PLANTED.lines())
        .map(|line| serde_json::json!({ "t": "2026-11-30T10:00:00.000001", "m": format!("{line}\n") }))
        .collect();
    let text = serde_json::json!({ "entries": entries, "size": { "cols": 80, "rows": 24 } }).to_string();
    let log = saved(folder.path(), "raw.json", &text);
    let shared = call(&["redact", "LOG"], &log).0;
    assert_eq!(survivors(&shared), [""; 0]);
    let value: serde_json::Value = serde_json::from_str(&shared).unwrap();
    assert_eq!(value["entries"].as_array().unwrap().len(), entries.len());
    assert_eq!(value["size"]["cols"], 80);
}

#[test]
fn wide_and_legacy_encodings_are_cleaned_too() {
    let folder = tempfile::tempdir().unwrap();
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(PLANTED.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let path = folder.path().join("wide.log");
    std::fs::write(&path, wide).unwrap();
    assert_eq!(survivors(&call(&["redact", "LOG"], path.to_str().unwrap()).0), [""; 0]);
}
