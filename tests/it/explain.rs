//! `explain` and `rules list|show`: every item of the packs can be looked up, in both languages.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use assert_cmd::Command;
use comfy_triage::catalog::Packs;

fn run(args: &[&str]) -> String {
    let mut command = Command::cargo_bin("comfy-triage").unwrap();
    command.args(args).env_remove("COMFY_TRIAGE_RULES").env("XDG_CONFIG_HOME", "/nonexistent").env("LC_ALL", "C");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn code_is_printed_as_it_can_be_saved() {
    for language in ["en", "zh"] {
        let text = run(&["explain", "container-limit", "--lang", language]);
        assert!(text.contains("\nimport os, runpy, psutil\n"), "{text}");
        assert!(text.contains("\ndef container():\n    ram = host()\n"), "{text}");
        assert!(text.contains("\n        try:\n            with open(path) as file:\n"), "{text}");
        assert!(text.contains("\nrunpy.run_path(main, run_name=\"__main__\")\n"));
        assert!(!text.contains("```"), "{text}");
        // What follows the code is prose again, laid out for the terminal.
        let prose = text.split("run_name").nth(1).unwrap();
        assert!(prose.lines().all(|line| line.chars().count() <= 100), "{prose}");
    }
}

#[test]
fn each_kind_of_item_says_what_it_is_in_both_languages() {
    let packs = Packs::built_in();
    let ids = [
        packs.verdicts[0].id.to_string(),
        "leak-warning".to_owned(),
        packs.flags[0].name.clone(),
        packs.bugs[0].id.clone(),
        packs.nodes[0].id.clone(),
        packs.remedies[0].id.clone(),
        packs.avoids[0].id.clone(),
    ];
    for id in &ids {
        let (english, chinese) = (run(&["explain", id, "--lang", "en"]), run(&["explain", id, "--lang", "zh"]));
        assert!(english.lines().count() > 1, "{id}: {english}");
        assert_ne!(english, chinese, "{id}");
        assert!(chinese.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter)), "{id}: {chinese}");
        assert!(!english.contains("label-") && !chinese.contains("label-"), "{id}: {english}{chinese}");
    }
    let bug = run(&["explain", &packs.bugs[0].id]);
    assert!(bug.contains("https://"), "{bug}");
    assert!(run(&["explain", "leak-warning"]).contains("comfy/model_management.py"));
}

#[test]
fn rules_are_listed_by_area_and_version_and_shown_whole() {
    let old = run(&["rules", "list", "--area", "load", "--comfyui", "0.3.64"]);
    let new = run(&["rules", "list", "--area", "load", "--comfyui", "0.31.0"]);
    assert!(old.contains("loaded-completely-2") && !old.contains("loaded-completely-3"), "{old}");
    assert!(new.contains("loaded-completely-3") && !new.contains("loaded-completely-2"), "{new}");
    let shown: toml::Value = toml::from_str(&run(&["rules", "show", "leak-warning"])).unwrap();
    let rule = &shown["message"][0];
    assert_eq!(rule["since"].as_str(), Some("0.3.7"));
    assert!(rule["text"].as_str().is_some_and(|text| text.contains("{class:class}")));
    assert!(rule["match"].as_array().is_some_and(|lines| !lines.is_empty()));
    assert!(rule["source"].as_str().is_some_and(|source| source.starts_with("comfy/")));
}
