//! Transcripts in the documentation are what the program really says. `UPDATE_DOCS=1` writes them anew.
#![allow(clippy::unwrap_used)] // a test may panic

use std::fs;
use std::path::Path;

/// Pages whose `console` blocks are run.
const PAGES: [&str; 3] = ["docs/checklist.md", "docs/compare.md", "docs/redact.md"];

#[test]
fn transcripts_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for page in PAGES {
        let path = root.join(page);
        let text = fs::read_to_string(&path).unwrap();
        let fresh = renewed(&text, root);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &fresh).unwrap();
        }
        assert!(
            fresh == text || std::env::var_os("UPDATE_DOCS").is_some(),
            "{page} is not current: UPDATE_DOCS=1 cargo test --test it transcripts::\n{fresh}"
        );
    }
}

/// The page with every `console` block run again. A block ends with as many backticks as it began with.
fn renewed(text: &str, root: &Path) -> String {
    let mut out = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        match (fence, line.strip_suffix("console")) {
            (None, Some(ticks)) if ticks.len() >= 3 && ticks.chars().all(|letter| letter == '`') => fence = Some(ticks),
            (Some(ticks), _) if line == ticks => fence = None,
            (Some(_), _) if line.starts_with("$ comfy-triage ") => {
                out.push_str(&format!("{line}\n{}", output(line, root)));
                continue;
            }
            (Some(_), _) => continue,
            (None, _) => {}
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// What the call prints; of a call that ends in `2>/dev/null` only its output, of one with `| head -N` only so many lines.
fn output(line: &str, root: &Path) -> String {
    let (call, head) = line.split_once(" | head -").map_or((line, usize::MAX), |(call, n)| (call, n.parse().unwrap()));
    let quiet = call.ends_with(" 2>/dev/null");
    let words = call.trim_end_matches(" 2>/dev/null").split_whitespace().skip(2);
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_comfy-triage"));
    for name in ["LC_ALL", "LC_MESSAGES", "LANG", "COMFY_TRIAGE_RULES", "CLICOLOR_FORCE"] {
        program.env_remove(name);
    }
    let done = program.args(words).current_dir(root).env("COLUMNS", "100").output().unwrap();
    let mut told = String::from_utf8(done.stdout).unwrap();
    if !quiet {
        told.push_str(&String::from_utf8(done.stderr).unwrap());
    }
    told.lines().take(head).map(|line| format!("{line}\n")).collect()
}
