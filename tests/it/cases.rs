//! Every case in `fixtures/case`: the verdict, each number, the leak curve, the culprit, and that nothing said is harmful.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::string_slice)] // a test may fail loudly

use std::sync::OnceLock;

use crate::case::{Case, candidates, facts, json, leaks, primary, report, score};
use serde_json::Value;

/// Share of the retyped logs whose verdict must be one that may be given. The real runs must all be right.
const RETYPED_SHARE: f64 = 0.95;

/// Each case with the report on its log.
fn reports() -> &'static [(Case, Value)] {
    static REPORTS: OnceLock<Vec<(Case, Value)>> = OnceLock::new();
    REPORTS.get_or_init(|| {
        crate::case::all()
            .into_iter()
            .map(|case| {
                let report = case.report();
                (case, report)
            })
            .collect()
    })
}

fn none(what: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{} {what}:\n{}", faults.len(), faults.join("\n"));
}

fn share(real: bool) -> (usize, usize) {
    let of_kind = reports().iter().filter(|(case, _)| case.is_real() == real);
    let right = of_kind.clone().filter(|(case, report)| score::is_right(case, report)).count();
    (right, of_kind.count())
}

#[test]
fn verdicts_are_what_may_be_said() {
    println!("{:<32} {:<5} {:<24} {:<24} {:<10} also", "case", "", "expected", "said", "grade");
    for (case, report) in reports() {
        let mark = if score::is_right(case, report) { "" } else { "WRONG" };
        let also = json::texts(&report["verdict"]["secondary"]).join(", ");
        let grade = report["verdict"]["grade"].as_str().unwrap_or_default();
        println!(
            "{:<32} {mark:<5} {:<24} {:<24} {grade:<10} {also}",
            case.name,
            case.acceptable().join("|"),
            primary(report)
        );
    }
    let (right, all) = share(false);
    let (right_real, all_real) = share(true);
    println!("retyped {right}/{all}, real {right_real}/{all_real}");
    assert!(right as f64 >= RETYPED_SHARE * all as f64, "retyped logs: {right} of {all} right");
    assert_eq!(right_real, all_real, "real runs");
}

#[test]
fn nothing_said_is_harmful() {
    let harmful: Vec<String> = reports()
        .iter()
        .filter_map(|(case, report)| score::harm(case, report).map(|harm| format!("{}: {harm}", case.name)))
        .collect();
    none("harmful verdicts", &harmful);
}

#[test]
fn every_number_is_read_exactly() {
    let found: Vec<String> = reports().iter().flat_map(|(case, report)| facts::differences(case, report)).collect();
    none("facts that differ", &found);
}

#[test]
fn leaks_are_counted_as_models() {
    let found: Vec<String> = reports().iter().flat_map(|(case, report)| leaks::differences(case, report)).collect();
    none("leak figures that differ", &found);
}

#[test]
fn no_innocent_pack_is_accused() {
    let mut wrong = Vec::new();
    for (case, report) in reports() {
        wrong.extend(candidates::innocent(case, report).iter().map(|dir| format!("{}: {dir}", case.name)));
    }
    none("innocent packs accused", &wrong);
}

#[test]
fn a_worry_that_is_told_is_answered() {
    let mut wrong = Vec::new();
    for (case, _) in reports() {
        let acceptable = json::texts(&case.expect["acceptable_asked"]);
        for asked in json::texts(&case.expect["asked"]) {
            let report = report(&["--asked", asked, &case.log()]);
            if !acceptable.contains(&primary(&report)) {
                wrong.push(format!("{} --asked {asked}: {} instead of {acceptable:?}", case.name, primary(&report)));
            }
        }
    }
    none("wrong answers to a worry", &wrong);
}

#[test]
fn memory_samples_are_heeded() {
    let mut wrong = Vec::new();
    for (case, _) in reports().iter().filter(|(case, _)| case.expect.get("with_samples").is_some()) {
        let acceptable = json::texts(&case.expect["with_samples"]["acceptable_primary"]);
        let report = report(&["--samples", &case.beside("samples.csv"), &case.log()]);
        if !acceptable.contains(&primary(&report)) {
            wrong.push(format!("{}: {} instead of {acceptable:?}", case.name, primary(&report)));
        }
    }
    none("wrong answers with samples", &wrong);
}

#[test]
fn the_same_bytes_give_the_same_report() {
    for (case, report) in reports().iter().step_by(7) {
        assert_eq!(case.report().to_string(), report.to_string(), "{}", case.name);
    }
}
