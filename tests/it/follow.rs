//! `watch` beside writers of every habit: no line lost, none doubled, counted by lines and by prompts.
//!
//! Nothing here waits for a time: a writer that must not run ahead waits for the line that `watch` says.
#![allow(clippy::unwrap_used)] // a test may panic

#[cfg(unix)]
use std::fs::File;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const START: &str =
    "Total VRAM 24564 MB, total RAM 65367 MB\nStarting server\nTo see the GUI go to: http://127.0.0.1:8188\n";
const PROMPT: &str = "got prompt\nRequested to load Flux\nPrompt executed in 3.21 seconds\n";
/// `watch` says each of these, with its line.
const FULL: &str = "!!! Exception during processing !!! CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 23.99 GiB of which 1.00 GiB is free.\n";

/// A file that `watch` follows.
struct Watched {
    _folder: tempfile::TempDir,
    path: PathBuf,
    child: Child,
    said: BufReader<ChildStdout>,
    /// Lines written to the file, whatever became of it.
    lines: u64,
}

impl Watched {
    /// With the beginning of a log in it.
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        fs::write(&path, START).unwrap();
        let mut child = crate::case::program()
            .args(["watch", path.to_str().unwrap(), "--format", "ndjson"])
            .args(if cfg!(unix) { &[] as &[&str] } else { &["--idle", "20"] })
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { _folder: folder, path, child, said, lines: 3 }
    }

    fn append(&mut self, text: &str) {
        self.lines += text.matches('\n').count() as u64;
        append(&self.path, text.as_bytes());
    }

    /// Writes a failure, and reads what is said until it is told.
    fn append_and_wait(&mut self, text: &str) {
        self.append(text);
        self.append(FULL);
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "ended before line {} was said", self.lines);
            let said: Value = serde_json::from_str(&line).unwrap();
            if said["change"]["line"] == self.lines {
                return;
            }
            assert!(said["change"]["line"].as_u64().unwrap() < self.lines, "{line}");
        }
    }

    /// Of the report when everything was read: by how many lines it is wrong, and the prompts got and executed.
    fn counted(mut self) -> (u64, u64, u64) {
        self.append_and_wait("");
        if cfg!(unix) {
            let done = std::process::Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
            assert!(done.unwrap().success());
        }
        let last = self.said.lines().last().unwrap().unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let report: Value = serde_json::from_str(&last).unwrap();
        let report = &report["report"];
        let sum = |name: &str| {
            report["sessions"].as_array().unwrap().iter().map(|one| one["prompts"][name].as_u64().unwrap()).sum()
        };
        (self.lines.abs_diff(report["fitness"]["lines"].as_u64().unwrap()), sum("got"), sum("executed"))
    }
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_slow_writer_of_half_lines() {
    let mut watched = Watched::start();
    for number in 0..40_usize {
        // Cut at another place each time, also at a line's end and right behind it.
        for part in PROMPT.as_bytes().chunks(1 + number % 13) {
            append(&watched.path, part);
            if number % 8 == 0 {
                std::thread::sleep(Duration::from_millis(3));
            }
        }
        watched.lines += 3;
    }
    assert_eq!(watched.counted(), (0, 40, 40));
}

#[test]
fn a_log_that_is_rotated_again_and_again() {
    let mut watched = Watched::start();
    for number in 0..20 {
        watched.append_and_wait(&PROMPT.repeat(number % 4 + 1));
        let old = watched.path.with_extension(format!("log.{number}"));
        fs::rename(&watched.path, &old).unwrap();
        if number % 3 == 0 {
            // A writer that still has the old one open.
            watched.lines += 3;
            append(&old, PROMPT.as_bytes());
        }
        watched.append("");
    }
    let prompts = 20 / 4 * (1 + 2 + 3 + 4) + 7;
    assert_eq!(watched.counted(), (0, prompts, prompts));
}

#[test]
fn a_log_that_is_cut_again_and_again() {
    let mut watched = Watched::start();
    for number in 0..20 {
        watched.append_and_wait(&PROMPT.repeat(number % 4 + 1));
        // As logrotate's copytruncate does; every second time the new text is the longer one.
        OpenOptions::new().write(true).open(&watched.path).unwrap().set_len(0).unwrap();
        if number % 2 == 0 {
            watched.append(&PROMPT.replace("3.21", "12.5").repeat(8));
        }
    }
    watched.append(PROMPT);
    let prompts = 20 / 4 * (1 + 2 + 3 + 4) + 10 * 8 + 1;
    assert_eq!(watched.counted(), (0, prompts, prompts));
}

/// As fast as the disk takes it: above 100 MB/s on any machine of today.
#[test]
fn a_writer_that_waits_for_nobody() {
    const MIB: usize = 48;
    let mut watched = Watched::start();
    let block = PROMPT.repeat(16 * 1024);
    let (mut prompts, begun) = (0, Instant::now());
    let mut file = OpenOptions::new().append(true).open(&watched.path).unwrap();
    for _ in 0..(MIB * 1024 * 1024).div_ceil(block.len()) {
        file.write_all(block.as_bytes()).unwrap();
        prompts += 16 * 1024;
    }
    println!("{:.0} MiB/s written", MIB as f64 / begun.elapsed().as_secs_f64());
    watched.lines += prompts * 3;
    assert_eq!(watched.counted(), (0, prompts, prompts));
}

/// The time on the clock is printed, not judged: that a line is answered within a tenth of a second is shown on a
/// made-up clock in `src/command/watch.rs`.
#[test]
fn a_line_is_said_while_the_log_is_open() {
    let mut watched = Watched::start();
    let mut times = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        watched.append_and_wait("");
        times.push(begun.elapsed());
    }
    times.sort();
    println!("from written to said: median {:?}, slowest {:?}", times[10], times[19]);
    assert!(times[0] < Duration::from_secs(2), "{times:?}");
    assert_eq!(watched.counted().0, 0);
}

#[cfg(unix)]
#[test]
fn a_named_pipe_and_a_device_end_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("left out: no mkfifo here");
        return;
    }
    let watch = |path: &Path| {
        crate::case::program()
            .args(["watch", path.to_str().unwrap(), "--format", "ndjson"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let child = watch(&path);
    File::options().write(true).open(&path).unwrap().write_all(format!("{START}{PROMPT}").as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let last = String::from_utf8(done.stdout).unwrap();
    let report: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!(report["report"]["fitness"]["lines"], 6);
    let done = watch(Path::new("/dev/null")).wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("is empty"));
}

#[test]
fn a_file_that_never_came_is_not_called_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.log");
    let done = crate::case::program().args(["watch", path.to_str().unwrap(), "--idle", "0"]).output().unwrap();
    let err = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2));
    assert!(err.contains("there is no file"), "{err}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let mut child = crate::case::program()
        .args(["watch", "-", "--format", "ndjson"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{START}got prompt\n{FULL}").as_bytes()).unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    // It may be gone before the last byte.
    for _ in 0..50 {
        if stdin.write_all(format!("{PROMPT}{FULL}").as_bytes()).is_err() {
            break;
        }
    }
    drop(stdin);
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(0), ""));
}
