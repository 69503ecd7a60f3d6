//! `triage --all`: folders, patterns and archives; order, rows of what cannot be read, exit status.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

const LEAK: &str = "fixtures/case/a02_strong_leak_25/console.log";

fn leaking() -> Vec<u8> {
    fs::read(crate::case::root().join(LEAK)).unwrap()
}

fn call(folder: &Path, words: &[&str]) -> Output {
    crate::case::program().current_dir(folder).args(words).output().unwrap()
}

fn rows(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// `source=verdict`, or `source!code` for one that could not be read.
fn brief(rows: &[Value]) -> Vec<String> {
    let one = |row: &Value| match row.get("unread") {
        Some(unread) => format!("{}: {}", unread["source"].as_str().unwrap(), unread["code"].as_str().unwrap()),
        None => format!(
            "{}: {}",
            row["report"]["source"].as_str().unwrap(),
            row["report"]["verdict"]["primary"].as_str().unwrap()
        ),
    };
    rows.iter().map(|row| one(row).replace('\\', "/")).collect()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn tar_gz(path: &Path, members: &[(&str, &[u8])]) {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *text).unwrap();
    }
    fs::write(path, gz(&builder.into_inner().unwrap())).unwrap();
}

fn zip_of(path: &Path, members: &[(&str, &[u8])]) {
    let mut writer = zip::ZipWriter::new(File::create(path).unwrap());
    for (name, text) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text).unwrap();
    }
    writer.finish().unwrap();
}

/// A folder with everything: logs, a packed one, archives, an empty file, a damaged archive, and what is no log.
fn bundle() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir_all(logs.join("b")).unwrap();
    let leak = leaking();
    fs::write(logs.join("z.log"), &leak).unwrap();
    fs::write(logs.join("b/comfyui.log.gz"), gz(&leak)).unwrap();
    fs::write(logs.join("a.log"), b"").unwrap();
    fs::write(logs.join("model.safetensors"), b"no log").unwrap();
    fs::write(logs.join("d.zip"), b"PK\x03\x04 damaged").unwrap();
    tar_gz(
        &logs.join("c.tar.gz"),
        &[("two.log", &leak), ("one.log.gz", &gz(&leak)), ("x.png", b"no"), ("e.zip", b"PK")],
    );
    zip_of(&logs.join("y.zip"), &[("in/comfyui.log", &leak), ("picture.png", b"no")]);
    (folder, logs)
}

#[test]
fn every_log_is_a_row_in_order_and_a_broken_one_ends_nothing() {
    let (folder, _logs) = bundle();
    let output = call(folder.path(), &["--all", "logs", "--format", "ndjson"]);
    assert_eq!(output.status.code(), Some(2), "two could not be read");
    assert_eq!(
        brief(&rows(&output)),
        [
            "logs/a.log: comfy_triage::input::empty",
            "logs/b/comfyui.log.gz: leak-confirmed",
            "logs/c.tar.gz!two.log: leak-confirmed",
            "logs/c.tar.gz!one.log.gz: leak-confirmed",
            "logs/c.tar.gz!e.zip: comfy_triage::input::archive_in_archive",
            "logs/d.zip: comfy_triage::input::corrupt",
            "logs/y.zip!in/comfyui.log: leak-confirmed",
            "logs/z.log: leak-confirmed",
        ]
    );
    let again = call(folder.path(), &["--all", "logs", "--format", "ndjson"]);
    assert!(output.stdout == again.stdout, "the same call writes the same");
}

#[test]
fn rows_are_valid_by_the_schema_and_speak_chinese() {
    let schema = crate::case::program().args(["schema", "ndjson"]).output().unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema.stdout).unwrap()).unwrap();
    let (folder, _logs) = bundle();
    let output = call(folder.path(), &["--all", "logs", "--format", "ndjson", "--lang", "zh"]);
    let rows = rows(&output);
    for row in &rows {
        assert!(validator.is_valid(row), "{row}");
    }
    assert_eq!(rows[4]["unread"]["message"], "`logs/c.tar.gz!e.zip` 是压缩包里的压缩包");
    let mut wrong = rows[0].clone();
    wrong["unread"]["code"] = 7.into();
    assert!(!validator.is_valid(&wrong), "the schema tells a wrong row");
}

#[test]
fn named_files_patterns_and_repeats() {
    let (folder, logs) = bundle();
    fs::write(logs.join("odd-name"), leaking()).unwrap();
    let output = call(folder.path(), &["--all", "logs/odd-name", "logs/z*.log", "logs/z.log", "--format", "ndjson"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(brief(&rows(&output)), ["logs/odd-name: leak-confirmed", "logs/z.log: leak-confirmed"]);
    let failed = call(folder.path(), &["--all", "logs/z.log", "--fail-on", "leak-confirmed", "--quiet"]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(call(folder.path(), &["--all"]).status.code(), Some(2), "a folder has to be named");
}

/// A bomb: little on the disk, no end when it is unpacked.
#[test]
fn an_archive_without_end_is_answered_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let zeros = vec![b'\n'; 8 << 20];
    for name in ["bomb.tar.gz", "bomb.zip"] {
        let members: [(&str, &[u8]); 2] = [("a.log", &leaking()), ("b.log", &zeros)];
        let make = if name.ends_with("zip") { zip_of } else { tar_gz };
        make(&folder.path().join(name), &members);
        let output = call(folder.path(), &["--all", name, "--format", "ndjson", "--max-unpacked", "4MiB"]);
        assert_eq!(
            brief(&rows(&output)),
            [format!("{name}!a.log: leak-confirmed"), format!("{name}: comfy_triage::input::too_large")]
        );
    }
}

#[test]
fn many_logs_keep_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let leak = leaking();
    let names: Vec<String> = (0..60).map(|at| format!("{at:03}.log")).collect();
    for (at, name) in names.iter().enumerate() {
        let text: &[u8] = if at % 3 == 0 { &leak } else { b"got prompt\nPrompt executed in 1.00 seconds\n" };
        fs::write(folder.path().join(name), text).unwrap();
    }
    let rows = rows(&call(folder.path(), &["--all", ".", "--format", "ndjson"]));
    let told: Vec<&str> = rows.iter().map(|row| row["report"]["source"].as_str().unwrap()).collect();
    let expected: Vec<String> = names.iter().map(|name| Path::new(".").join(name).display().to_string()).collect();
    assert_eq!(told, expected);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row["report"]["verdict"]["primary"] == "leak-confirmed", at % 3 == 0, "{at}");
    }
}
