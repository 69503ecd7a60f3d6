//! The cases of `fixtures/case`: a log, what may be said of it, and what the program says.
//!
//! Reports come from the program itself as JSON, so that the published contract is what is tested.

#![allow(dead_code)] // each test program uses its part

pub mod candidates;
pub mod facts;
pub mod json;
pub mod leaks;
pub mod score;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A folder of `fixtures/case`.
#[derive(Debug)]
pub struct Case {
    pub name: String,
    pub expect: Value,
}

impl Case {
    /// The log's path, from the project's folder.
    pub fn log(&self) -> String {
        self.beside("console.log")
    }

    /// Another file of the case.
    pub fn beside(&self, file: &str) -> String {
        format!("fixtures/case/{}/{file}", self.name)
    }

    /// Made by really running ComfyUI, with the truth known.
    pub fn is_real(&self) -> bool {
        self.expect.get("real").is_some()
    }

    /// What was really wrong.
    pub fn truth(&self) -> &str {
        self.expect["primary"].as_str().unwrap()
    }

    /// Verdicts that may be given from the log alone.
    pub fn acceptable(&self) -> Vec<&str> {
        json::texts(&self.expect["acceptable_primary"])
    }

    /// The program's report on the log alone.
    pub fn report(&self) -> Value {
        report(&[&self.log()])
    }
}

/// All cases, by name.
pub fn all() -> Vec<Case> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root().join("fixtures/case")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.iter().map(|folder| read(folder)).collect()
}

fn read(folder: &Path) -> Case {
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let text = fs::read_to_string(folder.join("expect.json")).unwrap();
    let expect = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    Case { name, expect }
}

/// The project's folder.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program, in the project's folder and untouched by the caller's settings.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_comfy-triage"));
    command
        .current_dir(root())
        .env_remove("COMFY_TRIAGE_RULES")
        .env_remove("LANG")
        .env("LC_ALL", "C")
        .env("NO_COLOR", "1");
    command
}

/// The whole JSON that the program prints for `arguments`.
pub fn output(arguments: &[&str]) -> Value {
    let done = program().args(["--format", "json"]).args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}\n{}", done.status, String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

/// The only report that the program gives for `arguments`.
pub fn report(arguments: &[&str]) -> Value {
    let mut output = output(arguments);
    let reports = output["reports"].as_array_mut().unwrap();
    assert_eq!(reports.len(), 1, "{arguments:?}");
    reports.remove(0)
}

/// The primary verdict of a report.
pub fn primary(report: &Value) -> &str {
    report["verdict"]["primary"].as_str().unwrap()
}

/// Whoever started this test had Ctrl-C ignored (`cargo test &` in a script); what it starts inherits that.
pub fn ctrl_c_is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 0b10 != 0)
}
