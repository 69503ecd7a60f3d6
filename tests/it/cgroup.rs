//! A real kill by the kernel: a program that takes memory until the limit of its cgroup ends it.
//!
//! Needs the right to make a cgroup, as root or in a delegated one; elsewhere it says why it is left out. The limits
//! that need no right are tested in `run.rs`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test may panic, and says why it is left out

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use comfy_triage::probe::{Hierarchy, Probe, Root, glance};
use comfy_triage::samples::{Column, read_samples};
use serde_json::Value;

/// Enough for this program, soon too little for one that never has enough.
const LIMIT: u64 = 128 * 1024 * 1024;
const START: &str = "Total VRAM 24564 MB, total RAM 65367 MB\nComfyUI version: 0.28.0\nStarting server\nTo see the GUI go to: http://127.0.0.1:8188\ngot prompt\nRequested to load Flux\n";
/// `tail` keeps the last line of what it reads, and this one never ends.
const NEVER_ENOUGH: &str = "tail /dev/zero";

/// A cgroup with a limit, gone with the value.
struct Limited(PathBuf);

impl Limited {
    /// Below the cgroup of this test where that may have some, else beside it.
    fn make(name: &str) -> Result<Self, String> {
        let own = glance(&Root::this(), None);
        let folder =
            own.levels.first().map(|level| PathBuf::from(&level.folder)).ok_or("no cgroup counts memory here")?;
        let name = format!("comfy-triage-test-{}-{name}", std::process::id());
        if own.hierarchy == Hierarchy::V1 {
            return Self::below(
                &folder,
                &name,
                "memory.limit_in_bytes",
                "memory.memsw.limit_in_bytes",
                &LIMIT.to_string(),
            );
        }
        let has_memory = |folder: &&Path| {
            fs::read_to_string(folder.join("cgroup.subtree_control"))
                .is_ok_and(|list| list.split_whitespace().any(|name| name == "memory"))
        };
        let above = [Some(folder.as_path()), folder.parent()].into_iter().flatten().find(has_memory);
        let above = above.ok_or("no cgroup here may have others with a limit below it")?;
        Self::below(above, &name, "memory.max", "memory.swap.max", "0")
    }

    fn below(above: &Path, name: &str, limit: &str, swap_limit: &str, swap: &str) -> Result<Self, String> {
        let folder = above.join(name);
        fs::create_dir(&folder).map_err(|error| format!("no cgroup can be made in {}: {error}", above.display()))?;
        let made = Self(folder);
        fs::write(made.0.join(limit), LIMIT.to_string()).map_err(|error| format!("it takes no limit: {error}"))?;
        // A machine without swap has no such file.
        let _ = fs::write(made.0.join(swap_limit), swap);
        let joined = made.shell().args(["true"]).status().map_err(|error| error.to_string())?;
        if joined.success() { Ok(made) } else { Err("nothing can be put into it".to_owned()) }
    }

    /// A command in it; its words follow.
    fn shell(&self) -> Command {
        let mut command = Command::new("sh");
        let script = format!("echo $$ > '{}/cgroup.procs' && exec \"$@\"", self.0.display());
        command.args(["-c", &script, "sh"]).stderr(Stdio::piped());
        command
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        // What was in it may be about to end.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Runs `script` with `run` in a cgroup of its own. `None` where there can be none.
fn run(name: &str, folder: &Path, script: &str) -> Option<Output> {
    let limited = match Limited::make(name) {
        Ok(limited) => limited,
        Err(reason) => {
            println!("left out: {reason}");
            return None;
        }
    };
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let mut command = limited.shell();
    command
        .args([env!("CARGO_BIN_EXE_comfy-triage"), "run", "--log", &at("x.log"), "--report", &at("x.json")])
        .args(["--format", "json", "--every", "0.1", "--", "sh", "-c", script])
        .env("LC_ALL", "C")
        .env_remove("COMFY_TRIAGE_RULES");
    Some(command.output().unwrap())
}

fn report(folder: &Path) -> Value {
    let json: Value = serde_json::from_str(&fs::read_to_string(folder.join("x.json")).unwrap()).unwrap();
    json["reports"][0].clone()
}

#[test]
fn the_kernels_kill_is_confirmed_by_its_counter() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let Some(done) = run("kill", folder, &format!("printf '{START}'; exec {NEVER_ENOUGH}")) else { return };
    assert_eq!(done.stdout, START.as_bytes(), "what it wrote, and nothing else");
    assert_eq!(done.status.code(), Some(137), "{}", String::from_utf8_lossy(&done.stderr));
    let log = fs::read_to_string(folder.join("x.log")).unwrap();
    let ending = log.split_once('\n').unwrap().1.strip_prefix(START).unwrap().lines();
    let (readings, told): (Vec<&str>, Vec<&str>) =
        ending.partition(|line| line.starts_with("comfy-triage run: last memory reading, "));
    assert_eq!(readings.len(), 1, "{log}");
    assert_eq!(
        told,
        [
            "comfy-triage run: memory limit of the cgroup: 134217728 bytes",
            "comfy-triage run: oom_kill counter rose by 1, constraint=CONSTRAINT_MEMCG",
            "comfy-triage run: ended by signal 9, exit code 137",
        ]
    );
    let report = report(folder);
    assert_eq!(report["ending"]["kind"], "killed");
    let verdict = |report: &Value| (report["verdict"]["primary"].clone(), report["verdict"]["grade"].clone());
    assert_eq!(verdict(&report), ("container-limit".into(), "certain".into()));
    // The log alone says it too.
    let path = folder.join("x.log");
    assert_eq!(verdict(&crate::case::report(&[path.to_str().unwrap()])), verdict(&report));

    let json: Value = serde_json::from_str(&fs::read_to_string(folder.join("x.log.probe.json")).unwrap()).unwrap();
    let probe: Probe = serde_json::from_value(json["probe"].clone()).unwrap();
    assert_eq!(probe.limit_bytes(), Some(LIMIT));
    let samples = read_samples("x", fs::File::open(folder.join("x.log.samples.csv")).unwrap()).unwrap();
    assert!(samples.series(Column::Cgroup).iter().all(|(_, mib)| *mib <= 128.5), "{samples:?}");
}

/// As a start script does: the shell lives, and passes on what became of its child.
#[test]
fn a_kill_behind_a_shell_is_confirmed_too() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let Some(done) = run("shell", folder, &format!("printf '{START}'; {NEVER_ENOUGH}; exit $?")) else { return };
    assert_eq!(done.status.code(), Some(137));
    let report = report(folder);
    assert_eq!(
        (&report["verdict"]["primary"], &report["verdict"]["grade"]),
        (&"container-limit".into(), &"certain".into())
    );
}

/// A start script that goes on without it.
#[test]
fn a_kill_that_a_script_hides_is_told_all_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let Some(done) = run("hidden", folder, &format!("printf '{START}'; {NEVER_ENOUGH}; exit 0")) else { return };
    assert_eq!(done.status.code(), Some(0));
    let log = fs::read_to_string(folder.join("x.log")).unwrap();
    assert!(log.contains("\ncomfy-triage run: oom_kill counter of the cgroup rose by 1, the program"), "{log}");
    assert!(log.ends_with("comfy-triage run: ended with exit code 0\n"), "{log}");
    assert!(report(folder)["findings"].as_array().is_some_and(|list| !list.is_empty()));
}

/// The same signal from somebody else, under the same limit.
#[test]
fn a_kill_by_somebody_else_is_not_put_on_the_limit() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let Some(done) = run("other", folder, &format!("printf '{START}'; kill -KILL $$")) else { return };
    assert_eq!(done.status.code(), Some(137));
    let log = fs::read_to_string(folder.join("x.log")).unwrap();
    assert!(log.contains("oom_kill counters did not rise"), "{log}");
    assert_ne!(report(folder)["verdict"]["grade"], "certain");
}
