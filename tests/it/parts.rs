//! Parts of one log that are given together are judged as the whole.

use std::path::Path;
use std::process::Command;

const WHOLE: &str = include_str!("../../fixtures/case/a01_healthy_25/console.log");

fn asked(words: &[&str], folder: &Path) -> (serde_json::Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_comfy-triage"));
    command.env_remove("COMFY_TRIAGE_RULES").env("HOME", "/nonexistent").env("LC_ALL", "C").current_dir(folder);
    let output = command.args(words).args(["--format", "json"]).output().unwrap();
    (serde_json::from_slice(&output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The log cut behind the twelfth prompt that began, under these names.
fn cut(folder: &Path, first: &str, second: &str) -> usize {
    let at = WHOLE.match_indices("got prompt\n").nth(11).unwrap().0 + "got prompt\n".len();
    std::fs::write(folder.join(first), &WHOLE[..at]).unwrap();
    std::fs::write(folder.join(second), &WHOLE[at..]).unwrap();
    WHOLE[..at].lines().count() + 1
}

#[test]
fn parts_are_read_as_one_in_whatever_order_they_are_given() {
    for (first, second) in
        [("x.part1.log", "x.part2.log"), ("x.log.1", "x.log"), ("x.prev.log", "x.log"), ("x.log.2", "x.log.1")]
    {
        let folder = tempfile::tempdir().unwrap();
        let line = cut(folder.path(), first, second);
        for words in [[first, second], [second, first]] {
            let (report, told) = asked(&words, folder.path());
            assert_eq!(report["reports"].as_array().unwrap().len(), 1, "{words:?}");
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(&format!("{second} goes on where {first} stops")), "{told}");
            assert!(told.contains(&format!("begins at line {line}.")), "{told}");
            let report = &report["reports"][0];
            assert_eq!(report["verdict"]["primary"], "no-fault");
            assert_eq!(report["sessions"][0]["prompts"]["got"], 25);
        }
    }
}

/// Neither a log with a start of its own nor one with another name is a part.
#[test]
fn logs_that_only_look_like_parts_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["x.log", "x.log.1"] {
        std::fs::write(folder.path().join(name), WHOLE).unwrap();
    }
    assert_eq!(asked(&["x.log", "x.log.1"], folder.path()).0["reports"].as_array().unwrap().len(), 2);
    cut(folder.path(), "a.log", "b.log");
    assert_eq!(asked(&["a.log", "b.log"], folder.path()).0["reports"].as_array().unwrap().len(), 2);
}
