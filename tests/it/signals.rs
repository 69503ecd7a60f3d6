//! Ctrl-C and SIGTERM at commands that need whole logs, and named pipes, which can be read only once.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // a test may panic

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const LOG: &str = "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nComfyUI version: 0.3.64\n** User directory: /home/zelda/ComfyUI/user\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\ngot prompt\nPrompt executed in 3.20 seconds\ngot prompt\nPrompt executed in 3.10 seconds\n";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("comfy-triage"));
    command.env_remove("COMFY_TRIAGE_RULES").args(arguments).args(["--lang", "en"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A named pipe and a log beside it; none where the system cannot make one.
fn folder() -> Option<(tempfile::TempDir, PathBuf, PathBuf)> {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, file) = (folder.path().join("pipe"), folder.path().join("log"));
    std::fs::write(&file, LOG).unwrap();
    let made = Command::new("mkfifo").arg(&pipe).status().is_ok_and(|made| made.success());
    made.then_some((folder, pipe, file))
}

/// Linux says that a process has something of its own to do for SIGINT and SIGTERM; elsewhere a second is enough.
fn until_it_listens(child: &Child) {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", child.id())) else {
            std::thread::sleep(Duration::from_secs(1));
            return;
        };
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        // One that has ended already will not.
        if caught & 0x4002 == 0x4002 || status.contains("State:\tZ") {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ended(mut child: Child) -> Output {
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it still waits");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn half_of_the_logs_is_no_answer() {
    let Some((_folder, pipe, file)) = folder() else { return };
    let (pipe, file) = (text(&pipe), text(&file));
    for arguments in [
        ["compare", file, pipe].as_slice(),
        &["compare", "--redact", file, pipe],
        &["checklist", pipe],
        &["redact", pipe],
    ] {
        for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
            let child = command(arguments).spawn().unwrap();
            until_it_listens(&child);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let output = ended(child);
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{arguments:?} {told}");
            assert!(told.contains("stopped before all logs were read to their end"), "{arguments:?} {told}");
            assert!(told.contains("comfy-triage LOG alone"), "{arguments:?} {told}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
        }
    }
}

#[test]
fn what_came_through_a_pipe_until_a_signal_is_answered() {
    let Some((_folder, _pipe, file)) = folder() else { return };
    for arguments in [["checklist", "-"].as_slice(), &["compare", text(&file), "-"]] {
        let mut child = command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        until_it_listens(&child);
        let mut input = child.stdin.take().unwrap();
        // As much again as a pipe holds: all of the log has been read then.
        input.write_all(format!("{LOG}{}", "a line of nobody\n".repeat(20_000)).as_bytes()).unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = ended(child);
        let (out, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(130), "{told}");
        assert!(told.contains("you pressed Ctrl-C"), "{told}");
        assert!(out.contains("0.3.64"), "{out}");
        drop(input);
    }
}

#[test]
fn a_named_pipe_is_read_once_however_often_it_is_gone_through() {
    let Some((_folder, pipe, file)) = folder() else { return };
    let (pipe, file) = (text(&pipe), text(&file));
    for arguments in [
        ["--redact", "--format", "json", pipe].as_slice(),
        &["redact", pipe],
        &["checklist", "--for", "core", pipe],
        &["compare", pipe, file],
        &["compare", "--redact", pipe, file],
    ] {
        let child = command(arguments).spawn().unwrap();
        let to = pipe.to_owned();
        let writer = std::thread::spawn(move || std::fs::write(to, LOG));
        let output = ended(child);
        let (out, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{arguments:?} {told}");
        writer.join().unwrap().unwrap();
        assert!(out.contains("0.3.64"), "{arguments:?} {out}");
        assert!(!out.contains("zelda"), "{arguments:?} {out}");
    }
}
