//! Every report against the JSON Schema that the program publishes.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::string_slice)] // a test may fail loudly

use std::collections::BTreeMap;

use serde_json::Value;

fn schema() -> Value {
    schema_of(&[])
}

/// The schema of what a command writes.
fn schema_of(command: &[&str]) -> Value {
    let done = crate::case::program().arg("schema").args(command).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// What a call writes, value by value.
fn values(call: &[&str]) -> Vec<Value> {
    let done = crate::case::program().args(call).output().unwrap();
    let told = serde_json::Deserializer::from_slice(&done.stdout).into_iter().map(Result::unwrap).collect::<Vec<_>>();
    assert!(!told.is_empty(), "{call:?}: {}", String::from_utf8_lossy(&done.stderr));
    told
}

#[test]
fn the_schema_is_a_schema() {
    jsonschema::meta::validate(&schema()).unwrap();
}

#[test]
fn every_report_is_valid() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    // One example of each fault: the same field is missing everywhere.
    let mut faults = BTreeMap::new();
    for case in crate::case::all() {
        let output = crate::case::output(&[&case.log()]);
        for error in validator.iter_errors(&output) {
            let place: String =
                error.instance_path.to_string().chars().filter(|letter| !letter.is_ascii_digit()).collect();
            faults.entry(format!("{place}: {error}")).or_insert_with(|| case.name.clone());
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_schema_tells_a_wrong_report() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let case = &crate::case::all()[0];
    let mut output = crate::case::output(&[&case.log()]);
    output["reports"][0]["verdict"]["grade"] = "91 %".into();
    assert!(!validator.is_valid(&output));
}

#[test]
fn the_worries_samples_and_languages_are_valid_too() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let log = "fixtures/case/a04_hoard_25/console.log";
    let samples = "fixtures/case/a04_hoard_25/samples.csv";
    for arguments in [
        &["--asked", "ram-high", log][..],
        &["--samples", samples, log],
        &["--lang", "zh", log],
        &["--memory-limit", "16GiB", log],
        &[log, log],
    ] {
        let output = crate::case::output(arguments);
        assert!(validator.is_valid(&output), "{arguments:?}");
    }
}

#[test]
fn what_each_command_writes_is_valid_and_another_s_is_not() {
    let log = "fixtures/case/a04_hoard_25/console.log";
    let [all, none] = ["fixtures/case/a30_bisect_s0_all/console.log", "fixtures/case/a30_bisect_s1_none/console.log"];
    let calls: [(&str, &[&[&str]]); 9] = [
        ("triage", &[&["--format", "json", log], &["triage", "--format", "json", log, "fixtures/none.log"]]),
        ("ndjson", &[&["--format", "ndjson", log, all]]),
        ("watch", &[&["watch", "--format", "ndjson", "--idle", "0", log]]),
        ("checklist", &[&["checklist", "--format", "json", all, none], &["checklist", "--format", "json", log]]),
        ("compare", &[&["compare", "--format", "json", all, none], &["compare", "--format", "json", log, all, none]]),
        (
            "probe",
            &[&["probe", "--format", "json"], &["probe", "--format", "json", "--suggest", "--comfyui", "0.28.0"]],
        ),
        (
            "rules-check",
            &[&["rules", "check", "--json", "rules"], &["rules", "check", "--json", "fixtures/lint/range"]],
        ),
        ("rules-coverage", &[&["rules", "coverage", "--json", log, "fixtures/README.md"]]),
        ("rules-verify", &[&["rules", "verify", "--json", "--comfyui", "fixtures/trees/new", "--version", "0.33.0"]]),
    ];
    let folder = tempfile::tempdir().unwrap();
    let [own_log, samples, report] = ["log", "csv", "json"].map(|end| folder.path().join(format!("run.{end}")));
    let places = [&own_log, &samples, &report].map(|path| path.to_str().unwrap());
    let run = ["run", "--log", places[0], "--samples", places[1], "--report", places[2], "--format", "json", "--"];
    assert!(crate::case::program().args(run).args(["cat", log]).output().unwrap().status.success());
    let told: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert!(jsonschema::validator_for(&schema()).unwrap().is_valid(&told), "the report of `run`");
    for (command, calls) in calls {
        let schema = schema_of(&[command]);
        jsonschema::meta::validate(&schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for call in calls {
            for value in values(call) {
                let faults: Vec<String> =
                    validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path)).collect();
                assert!(faults.is_empty(), "{call:?}: {faults:#?}");
            }
        }
        assert!(!validator.is_valid(&serde_json::json!({ "schema_version": 1 })), "{command} asks for an answer");
    }
}
