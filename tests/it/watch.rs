//! A log that grows: nothing lost, nothing doubled, each change said once, and the last word that of the file.
#![allow(clippy::unwrap_used)] // a test may panic

use std::fs::{self, File, OpenOptions};
use std::io::Write;
#[cfg(unix)]
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use comfy_triage::catalog::Packs;
use comfy_triage::diagnosis::Messages;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::live::{Change, ChangeKind, Changes, Follower, Poll};
use comfy_triage::pipeline::{Pipeline, PipelineOptions};
use comfy_triage::report::{Question, answer, read_log};
use proptest::prelude::*;
use serde_json::Value;

fn log(name: &str) -> Vec<u8> {
    fs::read(crate::case::root().join(format!("fixtures/case/{name}/console.log"))).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn however_the_bytes_come_the_last_word_is_that_of_the_file(
        name in prop::sample::select(vec!["085", "044", "006", "020", "100"]),
        cuts in prop::collection::vec(1_usize..400, 1..200),
        looks in any::<bool>(),
    ) {
        let packs = Packs::built_in();
        let bytes = log(name);
        let whole = read_log(Source::from_reader("x", bytes.as_slice()).unwrap(), &packs, &ReadOptions::default()).unwrap();
        let mut pipeline = Pipeline::new(&packs, PipelineOptions::default());
        let mut rest = bytes.as_slice();
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            pipeline.feed(now);
            if looks && cut % 7 == 0 {
                let _ = pipeline.snapshot();
            }
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        let lived = pipeline.finish();
        prop_assert_eq!(&lived.timeline, &whole.timeline);
        prop_assert_eq!(&lived.intake, &whole.intake);
        let question = Question::default();
        prop_assert_eq!(answer("x", &lived, &packs, &question), answer("x", &whole, &packs, &question));
    }
}

/// All changes of a log, looked at after every line.
fn changes(bytes: &[u8]) -> Vec<Change> {
    let packs = Packs::built_in();
    let mut pipeline = Pipeline::new(&packs, PipelineOptions::default());
    let mut changes = Changes::default();
    let mut said = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        pipeline.feed(line);
        let read = pipeline.snapshot();
        let report = answer("x", &read, &packs, &Question::default());
        said.extend(changes.since_last(&report, &read.timeline, &Messages { packs: &packs, zh: false }));
    }
    said
}

#[test]
fn a_growing_leak_is_said_when_it_shows_and_each_time_it_grows() {
    let said = changes(&log("a02_strong_leak_25"));
    let first = said.iter().find(|change| change.id.starts_with("leak-")).unwrap();
    assert_eq!(first.kind, ChangeKind::Finding);
    let held: Vec<u64> =
        said.iter().filter(|change| change.kind == ChangeKind::Held).filter_map(|change| change.held).collect();
    assert_eq!(held.last(), Some(&24), "{held:?}");
    assert!(held.windows(2).all(|pair| pair[0] < pair[1]), "{held:?}");
    let mut keys: Vec<_> = said
        .iter()
        .map(|change| {
            (
                change.kind,
                change.session,
                change.id.clone(),
                change.about.clone(),
                change.grade,
                change.held,
                change.text.clone(),
            )
        })
        .collect();
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all, "said twice");
    assert!(said.iter().any(|change| change.id == "leak-confirmed"));
}

#[test]
fn a_healthy_log_says_nothing() {
    let said = changes(&log("a01_healthy_25"));
    assert!(said.iter().all(|change| change.kind == ChangeKind::SessionEnded), "{said:#?}");
}

#[test]
fn a_kill_and_a_new_start_are_said() {
    let start = "Total VRAM 24564 MB, total RAM 65367 MB\nStarting server\nTo see the GUI go to: http://127.0.0.1:8188\ngot prompt\nRequested to load Flux\n";
    let said = changes(format!("{start}Killed\n{start}").as_bytes());
    let ids: Vec<(&str, u64)> = said
        .iter()
        .filter(|change| change.kind == ChangeKind::SessionEnded)
        .map(|change| (change.id.as_str(), change.line))
        .collect();
    assert_eq!(ids, [("killed", 6), ("started-anew", 7)], "{said:#?}");
}

/// Reads on until nothing comes for two looks.
fn drain(follower: &mut Follower, into: &mut Vec<u8>) -> usize {
    let mut block = vec![0; 1000];
    let (mut parts, mut quiet) = (0, 0);
    while quiet < 2 {
        match follower.poll(&mut block).unwrap() {
            Poll::Bytes(read) => {
                into.extend_from_slice(&block[..read]);
                quiet = 0;
            }
            Poll::Part => parts += 1,
            Poll::Nothing | Poll::Absent => quiet += 1,
        }
    }
    parts
}

fn append(path: &Path, text: &str) {
    OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_file_is_followed_from_before_it_is_there_and_half_lines_are_whole_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let (mut follower, mut got) = (Follower::new(&path), Vec::new());
    assert_eq!(drain(&mut follower, &mut got), 0);
    for part in ["got pro", "mpt\nReq", "", "uested to load Flux\n"] {
        append(&path, part);
        assert_eq!(drain(&mut follower, &mut got), 0);
    }
    assert_eq!(got, b"got prompt\nRequested to load Flux\n");
}

#[test]
fn a_truncated_file_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let (mut follower, mut got) = (Follower::new(&path), Vec::new());
    append(&path, "one\ntwo\nthree\n");
    drain(&mut follower, &mut got);
    fs::write(&path, "four\n").unwrap();
    assert_eq!(drain(&mut follower, &mut got), 1);
    // Cut and grown beyond the old length between two looks.
    fs::write(&path, "five is a longer text than what stood there before\n").unwrap();
    assert_eq!(drain(&mut follower, &mut got), 1);
    assert_eq!(
        String::from_utf8(got).unwrap(),
        "one\ntwo\nthree\nfour\nfive is a longer text than what stood there before\n"
    );
}

/// Of the same length, and with the same last lines: its beginning tells.
#[test]
fn a_file_that_is_written_anew_to_the_same_length_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let (mut follower, mut got) = (Follower::new(&path), Vec::new());
    let tail = "Prompt executed in 1.00 seconds\n".repeat(10);
    for (start, parts) in [("Starting server 1\n", 0), ("Starting server 2\n", 1), ("Starting server 2\n", 0)] {
        fs::write(&path, format!("{start}{tail}")).unwrap();
        assert_eq!(drain(&mut follower, &mut got), parts, "{start}");
    }
    assert_eq!(String::from_utf8(got).unwrap(), format!("Starting server 1\n{tail}Starting server 2\n{tail}"));
}

#[test]
fn a_file_that_returns_after_a_folder_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let (mut follower, mut got) = (Follower::new(&path), Vec::new());
    append(&path, "one\n");
    drain(&mut follower, &mut got);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    drain(&mut follower, &mut got);
    assert_eq!(follower.poll(&mut [0; 8]).unwrap(), Poll::Absent, "a folder is no file");
    fs::remove_dir(&path).unwrap();
    append(&path, "two\n");
    drain(&mut follower, &mut got);
    append(&path, "three\n");
    drain(&mut follower, &mut got);
    assert_eq!(String::from_utf8(got).unwrap(), "one\ntwo\nthree\n");
}

#[cfg(unix)]
#[test]
fn a_rotated_file_is_read_to_its_end_before_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let (mut follower, mut got) = (Follower::new(&path), Vec::new());
    append(&path, "one\n");
    drain(&mut follower, &mut got);
    let old = folder.path().join("x.log.1");
    append(&path, "two\n");
    fs::rename(&path, &old).unwrap();
    assert_eq!(drain(&mut follower, &mut got), 0, "the new one is not there yet");
    append(&old, "three\n");
    append(&path, "four\n");
    assert_eq!(drain(&mut follower, &mut got), 1);
    assert_eq!(String::from_utf8(got).unwrap(), "one\ntwo\nthree\nfour\n");
}

#[test]
fn a_fast_writer_loses_nothing() {
    const LINES: u64 = 400_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let writer = {
        let path = path.clone();
        std::thread::spawn(move || {
            let mut file = std::io::BufWriter::new(File::create(path).unwrap());
            for number in 0..LINES {
                writeln!(file, "line {number} of a writer that does not wait for anybody at all").unwrap();
            }
        })
    };
    let mut follower = Follower::new(&path);
    let (mut block, mut carry, mut next) = (vec![0; 64 * 1024], Vec::new(), 0_u64);
    let until = Instant::now() + Duration::from_secs(120);
    while next < LINES && Instant::now() < until {
        match follower.poll(&mut block).unwrap() {
            Poll::Bytes(read) => {
                carry.extend_from_slice(&block[..read]);
                let end = carry.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                for line in carry[..end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    let line = std::str::from_utf8(line).unwrap();
                    assert!(line.starts_with(&format!("line {next} of")), "{line}, not {next}");
                    next += 1;
                }
                carry.drain(..end);
            }
            Poll::Part => panic!("nobody rotated"),
            Poll::Nothing | Poll::Absent => std::thread::yield_now(),
        }
    }
    writer.join().unwrap();
    assert_eq!(next, LINES);
}

#[test]
fn a_part_of_a_line_is_not_glued_to_another_file() {
    let packs = Packs::built_in();
    let mut pipeline = Pipeline::new(&packs, PipelineOptions::default());
    pipeline.feed(b"got prompt\nRequested to lo");
    pipeline.break_line();
    pipeline.feed(b"got prompt\n");
    let read = pipeline.finish();
    assert_eq!((read.timeline.sessions[0].prompts.got, read.intake.lines), (2, 3));
}

fn lines(text: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(text).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_pipe_ends_with_the_same_report_as_the_file() {
    let piped = |arguments: &[&str]| {
        let mut child =
            crate::case::program().args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        for part in log("a02_strong_leak_25").chunks(997) {
            stdin.write_all(part).unwrap();
        }
        drop(stdin);
        lines(&child.wait_with_output().unwrap().stdout)
    };
    let watched = piped(&["watch", "-", "--format", "ndjson"]);
    let asked = piped(&["-", "--format", "ndjson"]);
    assert_eq!(watched.last(), asked.last());
    let said = &watched[..watched.len() - 1];
    assert!(!said.is_empty());
    assert!(said.iter().all(|line| line["change"]["line"].is_u64() && line["time"].is_string()));
}

#[test]
fn an_idle_file_ends_when_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    fs::write(&path, log("085")).unwrap();
    let name = path.to_str().unwrap();
    let done = crate::case::program().args(["watch", name, "--idle", "1", "--format", "ndjson"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let said = lines(&done.stdout);
    assert_eq!(said.last().unwrap()["report"], crate::case::report(&[name]));
    assert!(said.iter().any(|line| line["change"]["kind"] == "session-ended" && line["change"]["id"] == "killed"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_the_report_and_a_line_is_answered_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let mut child = crate::case::program()
        .args(["watch", path.to_str().unwrap(), "--format", "ndjson"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut waiting = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut waiting).unwrap();
    assert!(waiting.contains("is not there yet"), "{waiting}");
    append(&path, "Total VRAM 24564 MB, total RAM 65367 MB\nStarting server\ngot prompt\n");
    append(
        &path,
        "!!! Exception during processing !!! CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 23.99 GiB of which 1.00 GiB is free.\n",
    );
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&said["change"]["id"], &said["change"]["line"]), (&"gpu-oom".into(), &4.into()));
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let last = out.lines().last().unwrap().unwrap();
    let report: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(report["report"]["verdict"]["primary"], "gpu-oom");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn nothing_at_all_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let done = crate::case::program().args(["watch", folder.path().to_str().unwrap(), "--idle", "0"]).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let done = crate::case::program()
        .args(["watch", folder.path().join("none").to_str().unwrap(), "--idle", "0"])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2));
}
