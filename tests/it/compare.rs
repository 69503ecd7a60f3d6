//! Before and after: what may be concluded from two runs, and what must not.
#![allow(clippy::unwrap_used)] // a test may panic

use std::fs;

use serde_json::Value;

fn compare(arguments: &[&str]) -> Value {
    let done = crate::case::program().arg("compare").args(arguments).args(["--format", "json"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

fn real(name: &str) -> String {
    format!("fixtures/case/{name}/console.log")
}

fn pair(arguments: &[&str]) -> Value {
    compare(arguments)["comparison"]["pairs"][0].clone()
}

fn ids(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

fn row(pair: &Value, id: &str) -> (String, String, String) {
    let row =
        pair["rows"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no row {id}"));
    let text = |key: &str| row[key].as_str().unwrap().to_owned();
    (text("a"), text("b"), text("change"))
}

#[test]
fn the_real_leak_is_gone_in_the_healthy_control() {
    let pair = pair(&[&real("a02_strong_leak_25"), &real("a01_healthy_25")]);
    assert_eq!(pair["outcome"], "fixed");
    assert_eq!(row(&pair, "held"), ("24".into(), "0".into(), "better".into()));
    assert_eq!(row(&pair, "leak-lines"), ("600".into(), "0".into(), "better".into()));
    let seen: Vec<(u64, u64)> = pair["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["run"].as_u64().unwrap(), line["at"]["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(seen, [(0, 751), (1, 80)]);
    let changed = &pair["changed"][0];
    assert_eq!(
        (&changed["what"], &changed["kind"], &changed["a"]),
        (&"node-pack".into(), &"removed".into(), &"ComfyUI-Zorblax-Upscale".into())
    );
    assert_eq!(
        ids(&pair["traps"], "id"),
        ["never-ran"],
        "the class was not loaded: the pack takes part, its code is not repaired"
    );
    assert_eq!(pair["curves"][0]["a"].as_array().unwrap().len(), 24);
    assert!(pair["curves"][0]["b"].as_array().unwrap().is_empty());
}

#[test]
fn the_other_way_round_is_worse() {
    assert_eq!(pair(&[&real("a01_healthy_25"), &real("a02_strong_leak_25")])["outcome"], "worse");
}

#[test]
fn different_versions_are_refused_unless_forced() {
    let (a, b) = (real("a02_strong_leak_25"), real("b02_strong_leak_25"));
    let refused = pair(&[&a, &b]);
    assert_eq!(refused["outcome"], "not-comparable");
    assert_eq!(ids(&refused["obstacles"], "what"), ["version"]);
    assert!(refused["evidence"].as_array().unwrap().is_empty());
    let forced = pair(&[&a, &b, "--force"]);
    assert_eq!((&forced["outcome"], &forced["forced"]), (&"unchanged".into(), &true.into()));
}

#[test]
fn a_threshold_that_never_had_to_act_is_not_exercised() {
    let pair = pair(&["fixtures/compare/cache-ram-4.log", "fixtures/compare/cache-ram-8.log"]);
    assert_eq!(pair["outcome"], "not-exercised");
    let mechanism = &pair["mechanisms"][0];
    assert_eq!(
        (&mechanism["id"], &mechanism["a"], &mechanism["b"]),
        (&"cache-eviction".into(), &"never-worked".into(), &"never-worked".into())
    );
    assert_eq!(ids(&pair["changed"], "what"), ["flag"]);
    assert_eq!(ids(&pair["traps"], "id"), ["never-ran", "plateau"]);
    let lines: Vec<u64> =
        pair["evidence"].as_array().unwrap().iter().map(|line| line["at"]["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [1, 32, 1, 32]);
}

#[test]
fn many_runs_are_held_against_the_first() {
    let names = ["s0_all", "s1_none", "s2_first_half", "s3_second_half", "s4_one", "s5_two", "s6_second", "s7_third"];
    let logs: Vec<String> = names.iter().map(|name| real(&format!("a30_bisect_{name}"))).collect();
    let told = compare(&logs.iter().map(String::as_str).collect::<Vec<_>>());
    let outcomes = ids(&told["comparison"]["pairs"], "outcome");
    assert_eq!(outcomes, ["fixed", "unchanged", "fixed", "fixed", "unchanged", "fixed", "unchanged"]);
    assert_eq!(told["comparison"]["runs"].as_array().unwrap().len(), 8);
}

#[test]
fn a_collected_cycle_is_better_and_not_clean() {
    let leak = fs::read_to_string(crate::case::root().join("fixtures/checklist/core-leak.log")).unwrap();
    let cycle: String =
        leak.lines().filter(|line| !line.contains("WARNING, memory leak")).map(|line| format!("{line}\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cycle.log");
    fs::write(&path, cycle).unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(pair(&["fixtures/checklist/core-leak.log", path])["outcome"], "improved");
}

#[test]
fn a_run_that_is_too_short_or_never_loads_the_class_proves_nothing() {
    let leak = fs::read_to_string(crate::case::root().join("fixtures/checklist/core-leak.log")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let short: String = leak.lines().take(22).map(|line| format!("{line}\n")).collect();
    let short = pair(&["fixtures/checklist/core-leak.log", &save("short.log", &short)]);
    assert_eq!(
        (&short["outcome"], short["headline"].as_str().unwrap().starts_with("Too short")),
        (&"not-exercised".into(), true)
    );
    let quiet: String = leak
        .lines()
        .filter(|line| !line.contains("memory leak") && !line.contains("Lumina2"))
        .map(|line| format!("{line}\n"))
        .collect();
    let quiet = pair(&["fixtures/checklist/core-leak.log", &save("quiet.log", &quiet)]);
    assert_eq!(quiet["outcome"], "not-exercised");
    assert_eq!(ids(&quiet["traps"], "id"), ["never-ran"]);
}

#[test]
fn two_changes_at_once_are_named() {
    let four = fs::read_to_string(crate::case::root().join("fixtures/compare/cache-ram-4.log")).unwrap();
    let other = four.replace("--cache-ram 4", "--cache-ram 8 --disable-pinned-memory");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.log");
    fs::write(&path, other).unwrap();
    let pair = pair(&["fixtures/compare/cache-ram-4.log", path.to_str().unwrap()]);
    assert!(ids(&pair["traps"], "id").contains(&"two-changes".to_owned()), "{}", pair["traps"]);
}

#[test]
fn few_prompts_say_nothing_of_speed() {
    let pair = pair(&[&real("a30_bisect_s3_second_half"), &real("a30_bisect_s6_second")]);
    assert_eq!(row(&pair, "seconds").2, "unknown");
    assert_eq!(pair["outcome"], "unchanged");
}

#[test]
fn samples_are_shown_beside_the_runs() {
    let samples = |name: &str| format!("fixtures/case/{name}/samples.csv");
    let told = compare(&[
        &real("a04_hoard_25"),
        &real("a05_hoard_control_25"),
        "--samples-a",
        &samples("a04_hoard_25"),
        "--samples-b",
        &samples("a05_hoard_control_25"),
    ]);
    let memory = |run: usize| told["comparison"]["runs"][run]["memory"]["shape"].clone();
    assert_eq!(memory(0), "growing");
    assert_ne!(memory(1), "growing");
    assert_eq!(told["comparison"]["pairs"][0]["outcome"], "fixed");
}

#[test]
fn a_single_log_or_a_missing_one_is_refused() {
    let one = crate::case::program().args(["compare", "fixtures/compare/cache-ram-4.log"]).output().unwrap();
    assert_eq!(one.status.code(), Some(2));
    let missing =
        crate::case::program().args(["compare", "fixtures/compare/cache-ram-4.log", "none.log"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(missing.stdout.is_empty());
}
