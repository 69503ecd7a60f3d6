//! Further cases of `fixtures/folder`: a doubled console, private words, a narrow terminal, old texts, news of a leak.
#![allow(clippy::unwrap_used)] // a test may panic

use std::fs;
use std::io::Write;
use std::process::Stdio;

fn file(path: &str) -> String {
    format!("fixtures/folder/{path}")
}

/// What a call prints, with one blank between words: lines are broken anywhere.
fn told(arguments: &[&str], columns: &str) -> String {
    let done = crate::case::program().args(arguments).env("COLUMNS", columns).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What `watch -` says of `log`.
fn watched(log: &[u8]) -> String {
    let mut child = crate::case::program()
        .args(["watch", "-"])
        .env("COLUMNS", "200")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(log).unwrap();
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read(path: &str) -> Vec<u8> {
    fs::read(crate::case::root().join(file(path))).unwrap()
}

#[test]
fn a_doubled_console_is_one_leak_in_every_command() {
    let twice = file("each-line-twice/twice.log");
    let once = file("each-line-twice/once.log");
    for text in [
        told(&[&twice], "200"),
        told(&["--redact", &twice], "200"),
        watched(&read("each-line-twice/twice.log")),
        told(&["checklist", &twice], "200"),
    ] {
        assert!(text.contains("1 model of class Flux"), "{text}");
        assert!(text.contains("over 4 prompts") && text.contains("of 4 passes"), "{text}");
        assert!(!text.contains("2 models") && !text.contains("8 prompts"), "{text}");
    }
    for arguments in [&["compare", &once, &twice][..], &["compare", "--redact", &once, &twice]] {
        let text = told(arguments, "200");
        assert!(text.contains("unchanged") && !text.contains("improved"), "{text}");
        assert!(text.starts_with("As before: 1 model of class Flux held after 4 prompts; before, 1."), "{text}");
    }
}

#[test]
fn words_of_a_shell_prompt_and_of_a_private_folder_are_replaced() {
    for name in ["prompt.log", "folder.log"] {
        let text = told(&["redact", &file(&format!("redact-shell-prompt-and-folder/{name}"))], "100");
        for private in ["mia", "Zabrina", "Photos", "Nothing private was found"] {
            assert!(!text.contains(private), "{name} shows {private}: {text}");
        }
        assert!(text.contains("redacted-"), "{name}: {text}");
    }
}

#[test]
fn a_refused_node_is_whole_on_a_narrow_terminal() {
    let text = told(&[&file("refused-node-on-a-narrow-terminal/refused.log")], "80");
    assert!(text.contains("ETN_BackgroundRegion (node 3)"), "{text}");
    assert!(text.contains("brings ETN_BackgroundRegion: in the Manager"), "{text}");
    for other in ["model file", "LoRA", "image", "sound"] {
        assert!(!text.contains(other), "{other}: {text}");
    }
}

/// The log is of September 2024, when 0.2.2 was the newest.
#[test]
fn texts_that_are_old_leave_room_for_old_versions() {
    let log = file("versions-of-old-texts/start.log");
    for text in [told(&["-v", &log], "200"), told(&["checklist", &log], "200")] {
        assert!(!text.contains("0.3.10") && !text.contains("contradict"), "{text}");
    }
    let report = crate::case::report(&[&log]);
    let version = &report["version"];
    assert!(version["from"].is_null() || version["from"].as_str().is_some_and(|from| from <= "0.2.2"), "{version}");
}

#[test]
fn growth_is_told_when_a_later_pass_tells_of_more() {
    let log = String::from_utf8(read("watch-first-news-of-a-leak/growth.log")).unwrap();
    let text = watched(log.as_bytes());
    assert!(text.contains("one more after every prompt") && !text.contains("does not grow"), "{text}");
    let lines: Vec<&str> = log.lines().collect();
    let second_end = lines.iter().enumerate().filter(|(_, line)| line.starts_with("Prompt executed")).nth(1).unwrap().0;
    let early = watched(format!("{}\n", lines[..=second_end].join("\n")).as_bytes());
    assert!(early.contains("cannot be told from one prompt"), "{early}");
    assert!(!early.contains("does not grow") && !early.contains("one more after every"), "{early}");
}
