//! The leak curve of a real run against what was really held.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Case;
use super::json::{equal, first, key, last, sessions, sum};

/// What is not as expected, one line each. Nothing when the case says nothing of leaks.
pub fn differences(case: &Case, report: &Value) -> Vec<String> {
    let Some(expected) = case.expect["leaks"].as_object() else { return Vec::new() };
    let mut found = Vec::new();
    let mut compare = |name: String, expected: &Value, shown: Value| {
        if !equal(expected, &shown) {
            found.push(format!("{}: {name}: expected {expected}, got {shown}", case.name));
        }
    };
    for (class, held) in expected {
        let at = |field: &str| format!("/leaks/{}/{field}", key(class));
        compare(format!("{class} potential"), &held["potential"], json!(sum(report, &at("potential"))));
        compare(format!("{class} warning"), &held["warning"], json!(sum(report, &at("warning"))));
        compare(format!("{class} held_first"), &held["held_first"], first(report, &at("held_first")).clone());
        compare(format!("{class} held_last"), &held["held_last"], last(report, &at("held_last")).clone());
        let most = sessions(report).filter_map(|session| session.pointer(&at("held_max"))?.as_u64()).max();
        compare(format!("{class} held_max"), &held["held_max"], json!(most));
    }
    let named: BTreeSet<&String> =
        sessions(report).filter_map(|session| session["leaks"].as_object()).flat_map(|leaks| leaks.keys()).collect();
    compare("classes".to_owned(), &json!(expected.keys().collect::<BTreeSet<_>>()), json!(named));
    compare("leak_passes".to_owned(), &case.expect["leak_passes"], json!(sum(report, "/leak_passes")));
    found
}
