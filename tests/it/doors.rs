//! Doors through which a log, a pack or a careless moment could do harm.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_comfy-triage"));
    for name in ["LC_ALL", "LC_MESSAGES", "LANG", "COLUMNS", "COMFY_TRIAGE_RULES", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("HOME", "/nonexistent").env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// A process that is ended also when the test fails.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(state: &Path, log: &str) -> Command {
    let mut command = program();
    command.arg("bisect").arg("--state").arg(state).args(["start", log, "--force"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn session(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", path.display()))
}

/// Killed at any moment, the old session or the new one stands there, whole.
#[test]
fn a_killed_start_loses_no_session() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state.json");
    let first = "fixtures/case/a30_bisect_s0_all/console.log";
    assert!(start(&state, first).status().unwrap().success());
    // The same log under another name: the session tells which start wrote it.
    let other = folder.path().join("other.log");
    std::fs::copy(first, &other).unwrap();
    let names = [first.to_owned(), other.to_str().unwrap().to_owned()];
    for round in 0..200_u64 {
        let mut child = Ended(start(&state, &names[(round % 2) as usize]).spawn().unwrap());
        std::thread::sleep(Duration::from_micros(round * 311 % 60_000));
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        let log = session(&state)["log"].as_str().unwrap().to_owned();
        assert!(names.contains(&log), "{round}: {log}");
    }
    assert!(start(&state, &names[0]).status().unwrap().success(), "a lock that was left behind keeps nobody out");
    assert!(start(&state, &names[1]).status().unwrap().success());
    assert_eq!(session(&state)["log"], names[1]);
    assert_eq!(session(&state.with_extension("prev"))["log"], names[0]);
}

/// A log that does not do leaves the old session where it was.
#[test]
fn a_refused_start_keeps_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state.json");
    let first = "fixtures/case/a30_bisect_s0_all/console.log";
    assert!(start(&state, first).status().unwrap().success());
    let refused = start(&state, "fixtures/case/a01_healthy_25/console.log").status().unwrap();
    assert_eq!(refused.code(), Some(2));
    assert_eq!(session(&state)["log"], first);
}

#[test]
fn a_missing_folder_of_rules_is_refused() {
    let output =
        program().args(["fixtures/case/a01_healthy_25/console.log", "--rules", "/nonexistent/rules"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.stdout.is_empty() && told.contains("there is no folder `/nonexistent/rules`"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn samples_of_an_endless_device_end() {
    let output =
        program().args(["fixtures/case/a01_healthy_25/console.log", "--samples", "/dev/zero"]).output().unwrap();
    assert!(output.status.code().is_some());
}

#[test]
fn sizes_beyond_all_numbers_are_no_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("x.log");
    let text = "Total VRAM 1e400 MB, total RAM 1e400 MB\nComfyUI version: 0.33.0\ngot prompt\n\
        Tried to allocate 1e400 GiB. GPU 0 has a total capacity of 1e308 GiB of which 1e400 GiB is free.\n\u{2028}x\u{85}y\n";
    std::fs::write(&log, text).unwrap();
    for format in ["json", "ndjson"] {
        let output = program().arg(&log).args(["--format", format]).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(!told.contains("inf") || !told.contains(": inf"), "{told}");
        serde_json::from_str::<serde_json::Value>(&told).unwrap();
        assert!(!told.contains(['\u{2028}', '\u{2029}', '\u{85}', '\u{1b}']), "{told}");
        assert!(format == "json" || told.lines().count() == 1, "{told}");
    }
}

/// What `deny.toml` says of sources and crates, without another program.
#[test]
fn dependencies_come_from_one_place_and_the_banned_stay_out() {
    let lock: toml::Value = toml::from_str(include_str!("../../Cargo.lock")).unwrap();
    let deny: toml::Value = toml::from_str(include_str!("../../deny.toml")).unwrap();
    let banned = deny["bans"]["deny"].as_array().unwrap();
    let mut places = std::collections::BTreeSet::from(["registry+".to_owned()]);
    for package in lock["package"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        assert!(!banned.iter().any(|one| one.as_str() == Some(name)), "{name} is banned");
        let source = package.get("source").and_then(toml::Value::as_str).unwrap_or("registry+");
        assert!(source.starts_with("registry+"), "{name} comes from {source}");
        places.insert(source.to_owned());
    }
    assert_eq!(places.len(), 2, "the own package, and one registry: {places:?}");
}
