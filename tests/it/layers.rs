//! The import law: a folder uses only those before it in the sentence, and the library does not print.

use std::path::{Path, PathBuf};

/// What stands in `src/`, each before what may use it. A folder that is not named here fails the test.
const ORDER: [&str; 28] = [
    "decimal",
    "eight",
    "shown",
    "text",
    "system",
    "shell",
    "error",
    "input",
    "redact",
    "catalog",
    "event",
    "timeline",
    "pipeline",
    "samples",
    "probe",
    "hypothesis",
    "diagnosis",
    "report",
    "live",
    "render",
    "find",
    "bisect",
    "coverage",
    "source_check",
    "docs",
    "cli",
    "command",
    "main",
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of src") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The folder, or the file without its ending, right below `src/`.
fn room(file: &Path) -> String {
    let below = file.strip_prefix(src()).expect("a file of src");
    let first = below.components().next().expect("a name").as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn no_folder_reaches_forward() {
    let mut files = Vec::new();
    rust_files(&src(), &mut files);
    let mut forward = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("src/lib.rs")) {
        let room = room(file);
        let Some(place) = ORDER.iter().position(|name| *name == room) else {
            forward.push(format!("src/{room} has no place in the order"));
            continue;
        };
        let text = std::fs::read_to_string(file).expect("UTF-8");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for later in ORDER.iter().skip(place + 1) {
            if code.contains(&format!("crate::{later}::")) {
                forward.push(format!("{} uses {later}", file.display()));
            }
        }
    }
    assert!(forward.is_empty(), "{forward:#?}");
}

#[test]
fn the_library_does_not_print() {
    let mut files = Vec::new();
    rust_files(&src(), &mut files);
    for file in files.iter().filter(|file| !file.ends_with("main.rs")) {
        let text = std::fs::read_to_string(file).expect("UTF-8");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for call in ["println!(", "eprintln!(", "print!(", "dbg!("] {
            let printed = code.lines().find(|line| line.contains(call) && !line.trim_start().starts_with("//"));
            assert!(printed.is_none(), "{}: {}", file.display(), printed.unwrap_or_default());
        }
    }
}

#[test]
fn ids_of_verdicts_stand_in_their_files_alone() {
    let mut files = Vec::new();
    rust_files(&src(), &mut files);
    // These ids are also names of other things: an area of messages, and structures that known bugs ask for.
    let shared = ["custom-node", "host-oom", "import-failure", "reload-each-prompt"];
    let verdicts = comfy_triage::catalog::Verdict::ALL.map(comfy_triage::catalog::Verdict::as_str);
    let mut repeated = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("UTF-8");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = if file.ends_with("tests.rs") { "" } else { code };
        for id in verdicts.iter().filter(|id| !shared.contains(id)) {
            if code.contains(&format!("\"{id}\"")) {
                repeated.push(format!("{}: {id}", file.display()));
            }
        }
    }
    assert!(repeated.is_empty(), "write Verdict::… in place of the text: {repeated:#?}");
}
