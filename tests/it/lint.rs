//! `rules check` finds each planted mistake, at its place, and nothing in good packs. One fixture per mistake.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use comfy_triage::catalog::lint::{Checked, Options, Sample, check};

/// Folders whose name is not the code they plant.
const NAMED_OTHERWISE: [(&str, &str); 4] =
    [("sign-fact", "fact"), ("template-anchor", "template"), ("syntax-field", "syntax"), ("syntax-table", "syntax")];
/// A fault of the whole pack, or of what is not there, has no line.
const WITHOUT_LINE: [&str; 4] = ["newer-format", "no-head", "id-gone", "role"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/lint")
}

/// Checks a fixture with what its mistake needs for company.
fn checked(name: &str) -> Checked {
    let samples = [Sample { name: "made up".into(), texts: (0..40).map(|step| format!("step {step}")).collect() }];
    let older = root().join("id-gone-older");
    let options = Options {
        against: (name == "id-gone").then_some(older.as_path()),
        samples: if name == "needle-flood" { &samples } else { &[] },
    };
    check(&root().join(name), &options)
}

#[test]
fn each_planted_mistake_is_found_and_no_other() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name == "clean" || name == "id-gone-older" {
            continue;
        }
        let code = NAMED_OTHERWISE.iter().find(|(folder, _)| *folder == name).map_or(name.as_str(), |(_, code)| code);
        let checked = checked(&name);
        let found: BTreeSet<&str> = checked.findings.iter().map(|finding| finding.code.as_str()).collect();
        let told: Vec<String> = checked.findings.iter().map(|finding| format!("{}: {finding}", finding.code)).collect();
        assert_eq!(found, BTreeSet::from([code]), "{name}: {told:#?}");
        for finding in &checked.findings {
            assert!(finding.line > 0 || WITHOUT_LINE.contains(&code), "{name}: {finding} has no line");
            assert!(finding.path.contains(&name), "{}", finding.path);
        }
        seen += 1;
    }
    assert!(seen >= 40, "{seen} fixtures");
}

#[test]
fn a_good_pack_and_the_built_in_one_are_clean() {
    for folder in [root().join("clean"), Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")] {
        let checked = check(&folder, &Options { samples: &fixture_logs(), ..Options::default() });
        let told: Vec<String> =
            checked.findings.iter().map(|finding| format!("{}:{} {finding}", finding.path, finding.line)).collect();
        assert!(told.is_empty(), "{told:#?}");
    }
}

/// Lines of all fixture logs that are UTF-8.
fn fixture_logs() -> Vec<Sample> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")];
    let mut samples = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "log")
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                samples.push(Sample {
                    name: path.display().to_string(),
                    texts: text.lines().map(str::to_owned).collect(),
                });
            }
        }
    }
    assert!(samples.len() > 50);
    samples
}

#[test]
fn the_place_is_the_field_itself() {
    let place = |name: &str| {
        let checked = checked(name);
        let finding = &checked.findings[0];
        let text = std::fs::read_to_string(&finding.path).unwrap();
        let line = text.lines().nth(finding.line - 1).unwrap().to_owned();
        (finding.field.clone(), line.chars().skip(finding.column - 1).collect::<String>())
    };
    assert_eq!(place("link"), ("links.0".into(), "\"github.com/Comfy-Org/ComfyUI/issues/1\"]".into()));
    assert_eq!(place("range").0, "until");
    assert_eq!(place("prose-missing"), ("means.zh".into(), "\"\" }".into()));
    assert_eq!(place("near-miss").0, "silent.0");
    assert_eq!(place("head-version"), ("version".into(), "version = \"one\"".into()));
}

#[test]
fn the_command_says_so_by_its_status_and_as_json() {
    let run = |folder: &str, json: bool| {
        let mut command = assert_cmd::Command::cargo_bin("comfy-triage").unwrap();
        command
            .args(["rules", "check"])
            .arg(root().join(folder))
            .env_remove("COMFY_TRIAGE_RULES")
            .env("XDG_CONFIG_HOME", "/nonexistent");
        if json {
            command.arg("--json");
        }
        command.output().unwrap()
    };
    let output = run("range", false);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("rules::range") && told.contains("made-up.toml:11") && told.contains("0.98.0"), "{told}");
    assert_eq!(run("clean", false).status.code(), Some(0));
    let value: serde_json::Value = serde_json::from_slice(&run("range", true).stdout).unwrap();
    let finding = &value["packs"][0]["findings"][0];
    assert_eq!((finding["code"].as_str(), finding["field"].as_str()), (Some("range"), Some("until")));
    assert_eq!(finding["id"].as_str(), Some("made-up-text"));
}
