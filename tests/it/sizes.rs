//! Files and functions stay small enough to be read at once. A long one says why, beside it.

use std::path::{Path, PathBuf};

/// Lines of a file; a longer one has a line `//! Long: …` in its head.
const FILE: usize = 400;
/// Lines of a function; above a longer one stands a line `// Long: …`.
const FUNCTION: usize = 60;

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn all() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "build", "tests"] {
        rust_files(&root.join(folder), &mut files);
    }
    files.sort();
    let read = |file: &PathBuf| std::fs::read_to_string(file).expect("UTF-8");
    let name = |file: &PathBuf| file.strip_prefix(root).expect("a file of the project").display().to_string();
    files.iter().map(|file| (name(file), read(file))).collect()
}

#[test]
fn files_are_short_or_say_why_not() {
    let long = |(_, text): &(String, String)| text.lines().count() > FILE && !text.contains("\n//! Long: ");
    let long: Vec<String> =
        all().into_iter().filter(long).map(|(name, text)| format!("{name}: {}", text.lines().count())).collect();
    assert!(long.is_empty(), "more than {FILE} lines: {long:#?}");
}

/// Where a function begins: its indentation and its name.
fn function(line: &str) -> Option<(&str, &str)> {
    let code = line.trim_start();
    let indent = &line[..line.len() - code.len()];
    let before = code.split("fn ").next()?;
    let is_head =
        before.split_whitespace().all(|word| word.starts_with("pub") || matches!(word, "const" | "async" | "unsafe"));
    let name = code.strip_prefix(before)?.strip_prefix("fn ")?;
    (is_head && !line.trim_end().ends_with(';')).then(|| (indent, name.split(['(', '<']).next().unwrap_or_default()))
}

#[test]
fn functions_are_short_or_say_why_not() {
    let mut long = Vec::new();
    for (file, text) in all() {
        let lines: Vec<&str> = text.lines().collect();
        for (start, line) in lines.iter().enumerate() {
            let Some((indent, name)) = function(line) else { continue };
            let end = format!("{indent}}}");
            let Some(count) = lines.iter().skip(start).position(|line| **line == end) else { continue };
            let above = lines.iter().take(start).rev().map(|line| line.trim_start());
            let reason = above
                .take_while(|line| line.starts_with("//") || line.starts_with("#["))
                .any(|line| line.starts_with("// Long: "));
            if count + 1 > FUNCTION && !reason {
                long.push(format!("{file}: {name}, {} lines", count + 1));
            }
        }
    }
    assert!(long.is_empty(), "functions of more than {FUNCTION} lines: {long:#?}");
}
