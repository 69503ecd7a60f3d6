//! Memory does not grow with the log: logs made to fill every table, with the limits of the tables in the report.
//!
//! Sizes are counted in the report and not in bytes, so that the tests are quick and the same everywhere.

#![allow(clippy::unwrap_used)] // a test may fail loudly

use std::fmt::Write;

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, answer, read_log};
use serde_json::Value;

/// Names in a log; far more than any table holds.
const MANY: usize = 20_000;
/// Names of one table, and the entry for all others.
const TABLE: usize = 256 + 1;

fn report(log: &str) -> Value {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", log.as_bytes()).unwrap();
    let read = read_log(source, &packs, &ReadOptions::default()).unwrap();
    serde_json::to_value(answer("log", &read, &packs, &Question::default())).unwrap()
}

fn many(line: impl Fn(usize, &mut String)) -> String {
    let mut log = String::from("got prompt\n");
    for number in 0..MANY {
        line(number, &mut log);
    }
    log.push_str("Prompt executed in 1.00 seconds\n");
    log
}

fn size(value: &Value) -> usize {
    value.as_object().map_or_else(|| value.as_array().unwrap().len(), serde_json::Map::len)
}

/// The report is for people and programs; none may be larger than this, whatever the log.
fn is_small(report: &Value) {
    let length = serde_json::to_string(report).unwrap().len();
    assert!(length < 2 * 1024 * 1024, "{length} bytes");
}

#[test]
fn leak_warnings_of_many_classes() {
    let log = many(|n, log| {
        writeln!(log, "Potential memory leak detected with model C{n}, doing a full garbage collect, for maximum performance avoid circular references in the model code.").unwrap();
        writeln!(
            log,
            "WARNING, memory leak with model C{n}. Please make sure it is not being referenced from somewhere."
        )
        .unwrap();
    });
    let report = report(&log);
    let leaks = &report["sessions"][0]["leaks"];
    assert_eq!(size(leaks), TABLE);
    let warnings: u64 = leaks.as_object().unwrap().values().map(|leak| leak["warning"].as_u64().unwrap()).sum();
    assert_eq!(warnings, MANY as u64, "those beyond the table are counted together");
    is_small(&report);
}

#[test]
fn loads_of_many_classes() {
    let log = many(|n, log| {
        writeln!(log, "Requested to load C{n}").unwrap();
        writeln!(log, "loaded completely 9000.5 {n}.25 True").unwrap();
    });
    let report = report(&log);
    let session = &report["sessions"][0];
    assert_eq!(size(&session["loads"]), TABLE);
    let requested: u64 =
        session["loads"].as_object().unwrap().values().map(|load| load["requested"].as_u64().unwrap()).sum();
    assert_eq!(requested, MANY as u64);
    assert_eq!(size(&session["timeline"][0]["loads"]), 64 + 1);
    is_small(&report);
}

#[test]
fn many_node_packs() {
    let log = many(|n, log| {
        writeln!(log, "   0.1 seconds (IMPORT FAILED): /opt/ComfyUI/custom_nodes/Pack-{n}").unwrap();
    });
    let report = report(&log);
    assert_eq!(size(&report["sessions"][0]["custom_nodes"]), 1024);
    is_small(&report);
}

#[test]
fn many_failures() {
    let log = many(|n, log| {
        writeln!(log, "!!! Exception during processing !!! CUDA out of memory. Tried to allocate {n}.00 MiB").unwrap();
        writeln!(log, "Traceback (most recent call last):").unwrap();
        writeln!(log, "  File \"/opt/ComfyUI/custom_nodes/Pack-{n}/nodes.py\", line {n}, in run").unwrap();
        writeln!(log, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {n}.00 MiB").unwrap();
        writeln!(log, "Got an OOM, unloading all loaded models.\nPrompt executed in 1.00 seconds\ngot prompt").unwrap();
    });
    let report = report(&log);
    let session = &report["sessions"][0];
    assert_eq!(size(&session["ooms"]), 64);
    assert_eq!(size(&session["exceptions"]), 64);
    assert_eq!(size(&session["timeline"]), 128);
    let left_out = session["left_out"].as_u64().unwrap();
    assert!(left_out >= 3 * (MANY as u64 - 200), "{left_out}");
    is_small(&report);
}

#[test]
fn many_starts() {
    let log = many(|n, log| {
        writeln!(log, "Total VRAM {n} MB, total RAM 65367 MB\nStarting server\ngot prompt\nRequested to load C{n}")
            .unwrap();
        writeln!(log, "Prompt executed in 1.00 seconds").unwrap();
    });
    let report = report(&log);
    assert_eq!(size(&report["sessions"]), 64);
    is_small(&report);
}

#[test]
fn endless_lines_and_names() {
    let long = "x".repeat(3 * 1024 * 1024);
    let mut log = format!("{long}\n");
    for n in 0..20 {
        writeln!(log, "Requested to load {n}{long}").unwrap();
        writeln!(log, "   0.1 seconds: /opt/ComfyUI/custom_nodes/{n}{long}").unwrap();
        writeln!(log, "Cannot import /opt/{n}{long} module for custom nodes: {long}").unwrap();
        writeln!(log, "python main.py --flag{n} {long}").unwrap();
        writeln!(log, "Device: {n} {long}").unwrap();
    }
    let report = report(&log);
    assert!(report["fitness"]["lines"].as_u64().unwrap() == 101);
    is_small(&report);
}
