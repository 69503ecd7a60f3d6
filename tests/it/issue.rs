//! `issue`: the log within the text of an issue, answered as a comment; and faults for programs.

use std::path::PathBuf;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_comfy-triage"));
    for name in ["LC_ALL", "LC_MESSAGES", "LANG", "COLUMNS", "COMFY_TRIAGE_RULES", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("HOME", "/nonexistent").env("XDG_CONFIG_HOME", "/nonexistent").args(arguments).output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn written(folder: &tempfile::TempDir, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

const LOG: &str = include_str!("../../fixtures/case/a02_strong_leak_25/console.log");

/// A form as GitHub fills it, with the log in two fences and a sentence that quotes the log.
fn form(log: &str) -> String {
    let half = log.lines().count() / 2;
    let rows: Vec<&str> = log.lines().collect();
    format!(
        "### Custom Node Testing\n\n- [ ] I have tried disabling custom nodes\n\n### Actual Behavior\n\nI am @somebody and see \
         `got prompt`, then it stops.\n\n### Debug Logs\n\n```powershell\n{}\n```\n\nand then\n\n```\n{}\n```\n\n### Other\n\n_No response_\n",
        rows[..half].join("\n"),
        rows[half..].join("\n")
    )
}

#[test]
fn a_form_with_several_fences_is_answered_like_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, "issue.md", form(LOG));
    let output = run(&["issue", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let told = text(output.stdout);
    assert!(told.contains("ZorblaxNet models are never freed, one more after every prompt (24 so far"), "{told}");
    assert!(told.contains("leak\\-confirmed") || told.contains("leak-confirmed"), "{told}");
    // The line of the issue: eleven lines stand before the log's first one.
    let line = form(LOG).lines().position(|line| line.contains("Potential memory leak detected")).unwrap() + 1;
    assert!(told.contains(&format!("{line} | Potential memory leak detected with model ZorblaxNet")), "{line}: {told}");
    assert!(told.contains("**Fingerprint:**") && told.contains("\n`ct-"), "{told}");
    assert!(!told.contains("@somebody"), "{told}");
}

#[test]
fn a_log_pasted_without_fences_has_the_same_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let fingerprint = |name: &str, body: String| {
        let file = written(&folder, name, body);
        let told = text(run(&["issue", file.to_str().unwrap()]).stdout);
        told.lines().find(|line| line.starts_with("`ct-")).expect("a fingerprint").to_owned()
    };
    let fenced = fingerprint("fenced.md", form(LOG));
    assert_eq!(fingerprint("raw.md", format!("Hello\n\n{LOG}\n\nThanks")), fenced);
    let other = include_str!("../../fixtures/case/044/console.log");
    assert_ne!(fingerprint("other.md", format!("```\n{other}\n```\n")), fenced);
}

#[test]
fn a_comment_is_redacted_and_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let body = "```\n** Python executable: /home/zorblatt/venv/bin/python\nTotal VRAM 24576 MB, total RAM 65536 MB\n\
        got prompt\n!!! Exception during processing !!! /home/zorblatt/x.png is missing\n```\n";
    let file = written(&folder, "issue.md", body);
    let told = text(run(&["issue", file.to_str().unwrap()]).stdout);
    assert!(!told.contains("zorblatt"), "{told}");
    assert!(told.contains("**Missing in this issue:**") && told.contains("PyTorch"), "{told}");
    let chinese = text(run(&["issue", file.to_str().unwrap(), "--lang", "zh"]).stdout);
    assert!(chinese.contains("**此 issue 缺少：**") && chinese.contains("**指纹：**"), "{chinese}");
}

#[test]
fn an_issue_without_a_log_is_answered_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, "issue.md", "It does not work. Please help!\n");
    let output = run(&["issue", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let told = text(output.stdout);
    assert!(told.contains("insufficient-evidence") || told.contains("insufficient\\-evidence"), "{told}");
    let empty = written(&folder, "empty.md", "");
    assert_eq!(run(&["issue", empty.to_str().unwrap()]).status.code(), Some(2));
}

#[test]
fn faults_are_json_where_the_answer_is() {
    for (arguments, code) in [
        (vec!["no-such.log", "--format", "json"], "comfy_triage::input::not_found"),
        (vec!["no-such.log", "--format", "ndjson"], "comfy_triage::input::not_found"),
        (vec!["checklist", "no-such.log", "--format", "json"], "comfy_triage::input::not_found"),
        (vec!["compare", "no-such.log", "nor-this.log", "--format=json"], "comfy_triage::input::not_found"),
        (vec!["rules", "coverage", "no-such.log", "--json"], "comfy_triage::input::not_found"),
        (vec!["x.log", "--fail-on", "leek", "--format", "json"], "comfy_triage::usage::unknown_verdict"),
        (vec!["x.log", "--memory-limit", "much", "--format", "json"], "comfy_triage::usage::memory_limit"),
        (vec!["x.log", "--verbos", "--format", "json"], "comfy_triage::usage::options"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = text(output.stderr);
        for line in told.lines() {
            let fault: serde_json::Value =
                serde_json::from_str(line).unwrap_or_else(|_| panic!("{arguments:?}: {told}"));
            let fault = &fault["error"];
            assert_eq!(fault["code"], code, "{arguments:?}");
            assert!(!fault["message"].as_str().unwrap().is_empty() && fault["help"].is_string(), "{told}");
        }
        assert!(!told.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_code_of_a_fault_stands_behind_its_message() {
    let told = text(run(&["no-such.log"]).stderr);
    let first = told.lines().find(|line| !line.trim().is_empty()).unwrap();
    assert!(first.contains("there is no file `no-such.log` [comfy_triage::input::not_found]"), "{told}");
}

#[test]
fn what_holds_no_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let starts: [(&str, &[u8], &str); 4] = [
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
        ("a.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG"),
        ("a.pdf", b"%PDF-1.7\n", "PDF"),
        ("a.zip", b"PK\x03\x04\x14\0", "ZIP"),
    ];
    for (name, bytes, kind) in starts {
        let file = written(&folder, name, bytes);
        let output = run(&[file.to_str().unwrap()]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{name}");
        assert!(text(output.stderr).contains(&format!("is a {kind} file, not a log")), "{name}");
        let chinese = text(run(&[file.to_str().unwrap(), "--lang", "zh"]).stderr);
        assert!(chinese.contains(&format!("是 {kind} 文件，不是日志")), "{chinese}");
    }
}

#[test]
fn ids_are_completed_and_listed() {
    let script = text(run(&["completions", "bash"]).stdout);
    assert!(script.contains("leak-confirmed") && script.contains("--cache-none"), "ids of --fail-on and explain");
    let listed = text(run(&["explain"]).stdout);
    for id in ["leak-confirmed", "--cache-none", "rules list"] {
        assert!(listed.contains(id), "{id}: {listed}");
    }
    let row = listed.lines().find(|line| line.trim_start().starts_with("leak-confirmed")).unwrap();
    assert!(row.ends_with("model leak"), "a verdict is listed with its name: {row}");
    assert!(text(run(&["explain", "--lang", "zh"]).stdout).contains("消息规则："));
}
