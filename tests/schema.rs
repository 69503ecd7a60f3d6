//! Every report against the JSON Schema that the program publishes.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::string_slice)] // a test may fail loudly

mod case;

use std::collections::BTreeMap;

use serde_json::Value;

fn schema() -> Value {
    let done = case::program().arg("schema").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
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
    for case in case::all() {
        let output = case::output(&[&case.log()]);
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
    let case = &case::all()[0];
    let mut output = case::output(&[&case.log()]);
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
        let output = case::output(arguments);
        assert!(validator.is_valid(&output), "{arguments:?}");
    }
}
