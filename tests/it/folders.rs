//! Cases of more than one file in `fixtures/folder`: what must be said of each, and what must not.
#![allow(clippy::unwrap_used)] // a test may panic

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

fn file(path: &str) -> String {
    crate::case::root().join("fixtures/folder").join(path).display().to_string()
}

/// What a call prints; it must be answered.
fn told(arguments: &[&str]) -> String {
    let done = crate::case::program().args(arguments).env("COLUMNS", "200").output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// The words of a text with one blank between them: lines are broken anywhere.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Session {
    folder: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("s.json")
    }

    fn bisect(&self, arguments: &[&str]) -> String {
        let state = self.state().display().to_string();
        let mut all = vec!["bisect", "--state", state.as_str()];
        all.extend(arguments);
        words(&told(&all))
    }

    fn status(&self) -> Value {
        let state = self.state().display().to_string();
        serde_json::from_str(&told(&["bisect", "--state", &state, "status", "--format", "json"])).unwrap()
    }
}

#[test]
fn a_round_in_which_a_pack_was_broken_is_not_asked_for_again() {
    let session = Session::new();
    session.bisect(&["start", &file("bisect-round-asked-again/r0.log")]);
    let mut asked = vec![session.status()["next"]["whitelist"].clone()];
    for round in 1..=4 {
        session.bisect(&["step", &file(&format!("bisect-round-asked-again/r{round}.log"))]);
        let next = session.status()["next"]["whitelist"].clone();
        assert_ne!(asked.last(), Some(&next), "round {round} is asked for again");
        asked.push(next);
    }
    assert_eq!(session.status()["outcome"], "searching");
    assert_eq!(session.status()["rounds"], 4);
    assert_eq!(asked[4].as_array().unwrap().len(), 6, "the pack that is needed is still looked for: {asked:?}");
}

#[test]
fn a_skipped_confirmation_names_the_only_suspect_left() {
    let session = Session::new();
    session.bisect(&["start", &file("bisect-skip-with-one-suspect-left/start.log")]);
    for _ in 0..4 {
        session.bisect(&["good"]);
    }
    let text = session.bisect(&["skip"]);
    assert!(text.contains("only ComfyUI-Gloamwatch is left, not confirmed"), "{text}");
    let status = session.status();
    assert_eq!(status["outcome"], "cannot-tell");
    assert_eq!(status["suspects"], serde_json::json!(["ComfyUI-Gloamwatch"]));
    assert_eq!(status["culprits"], serde_json::json!([]));
}

#[test]
fn a_leak_that_warnings_tell_is_looked_for_by_its_class() {
    let session = Session::new();
    let text = session.bisect(&["start", &file("bisect-symptom-told-by-warnings/start.log")]);
    assert!(text.contains("looking for: leak:SDXL"), "{text}");
    assert!(text.contains("The first log shows it in line 52."), "{text}");
    assert!(!text.contains("growth") && !text.contains("--samples"), "{text}");
    assert_eq!(session.status()["symptom"], "leak:SDXL");
}

#[test]
fn the_status_is_valid_by_its_schema() {
    let schema: Value = serde_json::from_str(&told(&["schema", "bisect"])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let session = Session::new();
    session.bisect(&["start", &file("bisect-skip-with-one-suspect-left/start.log")]);
    assert!(validator.is_valid(&session.status()), "{}", session.status());
    session.bisect(&["bad"]);
    let core = session.status();
    assert!(validator.is_valid(&core), "{core}");
    assert_eq!((&core["outcome"], &core["next"]), (&"core".into(), &Value::Null));
    let mut wrong = core;
    wrong["outcome"] = "guilty".into();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn a_pack_that_is_kept_by_hand_stays_on_and_is_named_when_it_happens_with_it() {
    let session = Session::new();
    session.bisect(&["start", &file("bisect-skip-with-one-suspect-left/start.log"), "--symptom", "manual"]);
    let text = session.bisect(&["keep", "comfyui-gloamwatch"]);
    assert!(text.contains("--whitelist-custom-nodes ComfyUI-Gloamwatch"), "{text}");
    session.bisect(&["bad"]);
    let status = session.status();
    assert_eq!((&status["outcome"], &status["kept"]), (&"kept".into(), &serde_json::json!(["ComfyUI-Gloamwatch"])));
}

fn compared(before: &str, after: &str) -> (String, String) {
    let (before, after) = (file(before), file(after));
    let json: Value = serde_json::from_str(&told(&["compare", &before, &after, "--format", "json"])).unwrap();
    let pair = &json["comparison"]["pairs"][0];
    (pair["outcome"].as_str().unwrap().to_owned(), words(&told(&["compare", &before, &after])))
}

#[test]
fn a_flag_that_hides_a_leak_is_no_cure() {
    let (outcome, text) =
        compared("compare-cache-none-is-no-cure/leak.log", "compare-cache-none-is-no-cure/cache-none.log");
    assert_eq!(outcome, "hidden");
    assert!(text.starts_with("Hidden, not cured: the leak text is gone while --cache-none was added."), "{text}");
    assert!(text.contains("cannot be told") && !text.contains("The leak is gone"), "{text}");
}

#[test]
fn another_failure_is_not_fewer_of_the_same() {
    let (outcome, text) = compared("compare-another-failure/before.log", "compare-another-failure/after.log");
    assert_eq!(outcome, "changed");
    assert!(text.starts_with("The first failure is gone and another one is there:"), "{text}");
    assert!(text.contains("HeaderTooLarge") && text.contains("in load_torch_file"), "{text}");
    assert!(!text.contains("Fewer failures"), "{text}");
}

#[test]
fn hours_in_durations_are_hours() {
    let (outcome, text) = compared("compare-hours-in-durations/before.log", "compare-hours-in-durations/after.log");
    assert_eq!(outcome, "improved");
    assert!(text.contains("4.1 times as fast: 1231 s (20 min 31 s) per prompt, then 300.2 s"), "{text}");
}

#[test]
fn loads_are_held_against_each_other_per_prompt() {
    let (outcome, text) = compared("compare-loads-per-prompt/before.log", "compare-loads-per-prompt/after.log");
    assert_eq!(outcome, "improved");
    assert!(text.starts_with("Fewer loads than before: 2.1, then 1.2 per prompt."), "{text}");
    assert!(!text.contains("More loads"), "{text}");
}

#[test]
fn a_model_that_is_let_go_is_not_zero_models_left() {
    let (outcome, text) =
        compared("compare-one-warning-then-none-held/leak.log", "compare-one-warning-then-none-held/one-warning.log");
    assert_eq!(outcome, "improved");
    let wanted = "Before, 9 models of class Flux are held after 10 prompts; after, 1 was told of in prompt 2 and none from prompt 3 on.";
    assert!(text.starts_with(wanted), "{text}");
}

#[test]
fn gone_with_an_update_is_an_outcome_of_its_own() {
    let leak = fs::read_to_string(file("compare-one-warning-then-none-held/leak.log")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let quiet: String =
        leak.lines().filter(|line| !line.contains("memory leak")).map(|line| format!("{line}\n")).collect();
    let (before, after) = (save("before.log", leak), save("after.log", quiet.replace("0.33.0", "0.35.0")));
    let json: Value = serde_json::from_str(&told(&["compare", &before, &after, "--format", "json"])).unwrap();
    let pair = &json["comparison"]["pairs"][0];
    assert_eq!(pair["outcome"], "gone-after-update", "{pair}");
    assert!(pair["headline"].as_str().unwrap().starts_with("Gone after the update: 0.33.0 had it, 0.35.0 has not"));
}

#[test]
fn an_old_version_is_updated_before_anything_is_opened() {
    let text = words(&told(&["checklist", &file("checklist-old-version/core.log")]));
    assert!(text.starts_with("Not yet: update first. 0.3.64 is behind "), "{text}");
    assert!(text.contains("[ ] It is the newest version: 0.3.64; the newest known here is "), "{text}");
    assert!(!text.contains("Yes, open it") && !text.contains("0.3.64…"), "{text}");
}

#[test]
fn a_traceback_is_whole_in_the_draft() {
    let log = fs::read_to_string(file("checklist-whole-traceback/error.log")).unwrap();
    let text = told(&["checklist", &file("checklist-whole-traceback/error.log")]);
    let lines: Vec<&str> = log.lines().collect();
    // The last of three: what is wrong now.
    let first = lines.iter().rposition(|line| line.starts_with("!!! Exception")).unwrap();
    let last = first + lines[first..].iter().position(|line| line.starts_with("RuntimeError: The size")).unwrap();
    for (number, line) in lines.iter().enumerate().take(last + 1).skip(first) {
        let wanted = format!("{:>6} | {}", number + 1, line.trim_start());
        assert!(
            text.lines()
                .any(|shown| shown.replace("| ", "|").replace(' ', "") == wanted.replace("| ", "|").replace(' ', "")),
            "{wanted}\n{text}"
        );
    }
    assert!(words(&text).contains("comfy-triage redact"), "the whole log is named as what to attach");
    assert!(!text.contains("only the seed"), "nothing is invented");
}

#[test]
fn a_windows_portable_install_is_asked_in_its_own_terms() {
    let text = told(&["checklist", &file("checklist-windows-portable/error.log")]);
    assert!(words(&text).contains("Started by: Windows portable"), "{text}");
    assert!(text.contains("Win32_PageFileUsage"), "{text}");
    for other in ["swapon", "lsblk", "dmesg"] {
        assert!(!text.contains(other), "{other}: {text}");
    }
}

#[test]
fn a_foreign_class_is_looked_up_in_the_node_packs() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("custom_nodes/Quibble-pack/net.py");
    fs::create_dir_all(net.parent().unwrap()).unwrap();
    fs::write(&net, "import torch\n\nclass ZorblaxNet(torch.nn.Module):\n    pass\n").unwrap();
    let log = crate::case::root().join("fixtures/case/a02_strong_leak_25/console.log").display().to_string();
    let root = folder.path().display().to_string();
    let text = words(&told(&[&log, "--comfyui", &root]));
    assert!(
        text.contains("Quibble-pack (class ZorblaxNet is defined in Quibble-pack/net.py, line 3; a hint"),
        "{text}"
    );
}

/// A report on a log with its samples.
fn sampled(log: &str, csv: &str, asked: &[&str]) -> String {
    let (log, csv) = (file(log), file(csv));
    let mut arguments = vec![log.as_str(), "--samples", csv.as_str()];
    arguments.extend(asked);
    words(&told(&arguments))
}

#[test]
fn samples_are_answered_unasked() {
    let text = sampled("samples-level-told-unasked/run.log", "samples-level-told-unasked/run.csv", &[]);
    assert!(text.contains("level at about 7.11 GiB after 10 prompts (36 readings), no growth"), "{text}");
    assert!(text.contains("per prompt cannot be excluded") && !text.contains("Cannot tell: growth"), "{text}");
}

/// MiB per prompt of the headline.
fn per_prompt(text: &str) -> f64 {
    let (_, rest) = text.split_once("grows by about ").unwrap_or_else(|| panic!("no growth: {text}"));
    rest.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn idle_readings_hide_no_growth() {
    for csv in ["idle-after.csv", "idle-before.csv"] {
        let csv = format!("samples-longer-than-the-prompts/{csv}");
        let text = sampled("samples-longer-than-the-prompts/run.log", &csv, &["--asked", "ram-high"]);
        assert!((90.0..=110.0).contains(&per_prompt(&text)), "{text}");
        assert!(!text.contains("Nothing is wrong") && !text.contains("level at"), "{text}");
    }
}

#[test]
fn the_shape_of_the_growth_is_told() {
    let told = |log: &str, csv: &str| {
        let folder = "samples-shape-of-the-growth";
        sampled(&format!("{folder}/{log}"), &format!("{folder}/{csv}"), &["--asked", "ram-high"])
    };
    let three = told("three.log", "three.csv");
    assert!(
        three.contains("too few prompts") && !three.contains("leak-suspected") && !three.contains("752"),
        "{three}"
    );
    let filling = told("thirty.log", "filling.csv");
    assert!(filling.contains("less with each prompt") && filling.contains("a longer run tells"), "{filling}");
    assert!(!filling.contains("leak-suspected"), "{filling}");
    let peaks = told("thirty.log", "peaks.csv");
    assert!((90.0..=110.0).contains(&per_prompt(&peaks)), "{peaks}");
}

#[test]
fn genuine_runs_with_readings_are_right() {
    let report = |name: &str| {
        let folder = crate::case::root().join("fixtures/case").join(name);
        let path = |file: &str| folder.join(file).display().to_string();
        words(&told(&[&path("console.log"), "--samples", &path("samples.csv")]))
    };
    let hoard = report("n05_hoard_quick_033");
    assert!((43.0..=53.0).contains(&per_prompt(&hoard)), "48 MiB per prompt: {hoard}");
    let step = report("n16_one_step_late_033");
    assert!(step.contains("no-fault") && !step.contains("grows by"), "one step is no growth: {step}");
    let new = report("n11_new_model_each_prompt_033");
    assert!(new.contains("no-fault") && !new.contains("--highvram"), "nothing is slow: {new}");
    let stopped = report("n08_ctrl_c_sampling_033");
    assert!(stopped.contains("no-fault") && !stopped.contains("driver"), "stopped by the user: {stopped}");
}

#[test]
fn options_may_stand_before_the_command() {
    let run = file("options-before-the-command/run.log");
    assert_eq!(
        told(&["--lang", "zh", "explain", "leak-confirmed"]),
        told(&["explain", "leak-confirmed", "--lang", "zh"])
    );
    assert_eq!(told(&["-v", "triage", &run]), told(&["triage", &run, "-v"]));
    assert_eq!(
        told(&["--color", "never", "explain", "--cache-none"]),
        told(&["explain", "--cache-none", "--color", "never"])
    );
}
