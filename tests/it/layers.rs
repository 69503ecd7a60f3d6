//! The import law: a folder uses only those before it in the sentence, and the library does not print.

use std::path::{Path, PathBuf};

/// Folders of `src/` in the order of the sentence. `text`, `error` and `redact` may be used by all.
const ORDER: [&str; 12] = [
    "input",
    "catalog",
    "event",
    "timeline",
    "samples",
    "probe",
    "hypothesis",
    "diagnosis",
    "report",
    "live",
    "render",
    "command",
];

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

#[test]
fn no_folder_reaches_forward() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut forward = Vec::new();
    for (place, folder) in ORDER.iter().enumerate() {
        let mut files = Vec::new();
        rust_files(&src.join(folder), &mut files);
        assert!(!files.is_empty(), "src/{folder} holds code");
        for file in files {
            let text = std::fs::read_to_string(&file).expect("UTF-8");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for later in ORDER.iter().skip(place + 1) {
                if code.contains(&format!("crate::{later}::")) {
                    forward.push(format!("{} uses {later}", file.display()));
                }
            }
        }
    }
    assert!(forward.is_empty(), "{forward:#?}");
}

#[test]
fn the_library_does_not_print() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    for file in files.iter().filter(|file| !file.ends_with("main.rs")) {
        let text = std::fs::read_to_string(file).expect("UTF-8");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for call in ["println!(", "eprintln!(", "print!(", "dbg!("] {
            let printed = code.lines().find(|line| line.contains(call) && !line.trim_start().starts_with("//"));
            assert!(printed.is_none(), "{}: {}", file.display(), printed.unwrap_or_default());
        }
    }
}
