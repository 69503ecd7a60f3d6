//! A stream without end: whatever it brings, memory stays where it was.
//!
//! Alone in its program, since the memory of the whole process is measured. `COMFY_TRIAGE_SOAK_LINES` sets the length;
//! a thousand million lines take some hours with `--release`.
#![allow(clippy::unwrap_used)] // a test may panic

use std::fmt::Write;
use std::fs;
use std::time::Instant;

use comfy_triage::catalog::Packs;
use comfy_triage::diagnosis::Messages;
use comfy_triage::live::Changes;
use comfy_triage::pipeline::{Pipeline, PipelineOptions};
use comfy_triage::report::{Question, answer};

const LINES: u64 = 600_000;
/// Each limit of the pipeline is met in this part of the stream.
const WARM_UP: u64 = 3;
/// Growth after it that is the allocator's own unrest.
const UNREST_MIB: f64 = 24.0;

/// One prompt in which everything that can have a name has a new one. Gives its lines.
fn prompt(number: u64, into: &mut String) -> u64 {
    let before = into.len();
    if number.is_multiple_of(500) {
        let _ = write!(
            into,
            "Total VRAM 24564 MB, total RAM {} MB\npytorch version: 2.8.{number}+cu128\nComfyUI version: 0.28.{number}\nStarting server\nTo see the GUI go to: http://127.0.0.1:8188\n",
            65_000 + number
        );
        let _ = write!(into, "Import times for custom nodes:\n   0.{number} seconds: /x/custom_nodes/pack-{number}\n");
    }
    let _ = write!(into, "got prompt\nRequested to load Class{number}\nloaded completely 9.5e+25 {number}.5 True\n");
    let _ = write!(
        into,
        "  0%|          | 0/20 [00:00<?, ?it/s]\r 50%|#####     | 10/20 [00:05<00:05,  1.9it/s]\r100%|##########| 20/20 [00:10<00:00,  1.9it/s]\n"
    );
    let _ = writeln!(into, "a line of pack {number} that nobody knows: {}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    match number % 7 {
        1 => {
            let _ = write!(
                into,
                "Potential memory leak detected with model Class{number}, doing a full garbage collect, for maximum performance avoid circular references in the model code.\nWARNING, memory leak with model Class{number}. Please make sure it is not being referenced from somewhere.\n"
            );
        }
        2 => {
            let _ = write!(
                into,
                "!!! Exception during processing !!! CUDA out of memory. Tried to allocate {number}.00 MiB. GPU 0 has a total capacity of 23.99 GiB of which 1.00 GiB is free.\nTraceback (most recent call last):\n  File \"/x/custom_nodes/pack-{number}/nodes.py\", line {number}, in run{number}\n    x{number}()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate {number}.00 MiB\n"
            );
        }
        3 => {
            let _ = write!(
                into,
                "!!! Exception during processing !!! error {number} of its own kind\nTraceback (most recent call last):\n  File \"/x/custom_nodes/pack-{number}/nodes.py\", line 7, in f{number}\nValueError: {number}\n"
            );
        }
        // A line that does not end for long, and bytes that are no text.
        4 => into.extend((0..2000).map(|at| if at % 97 == 0 { '\u{fffd}' } else { 'x' })),
        5 => {
            let _ = write!(
                into,
                "\u{1b}[33m[WARNING]\u{1b}[0m 2026-11-30 09:{:02}:{:02} something {number}\nKilled\n",
                number / 60 % 60,
                number % 60
            );
        }
        _ => {}
    }
    let _ = writeln!(into, "Prompt executed in {}.{} seconds", number % 100, number % 10);
    into.as_bytes()[before..].iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Resident memory of this process, where the system tells.
fn rss_mib() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let row = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(row.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}

#[test]
fn memory_does_not_grow_with_the_stream() {
    let lines: u64 = std::env::var("COMFY_TRIAGE_SOAK_LINES").map_or(LINES, |lines| lines.parse().unwrap());
    let packs = Packs::built_in();
    let messages = Messages { packs: &packs, zh: false };
    let question = Question::default();
    let (mut pipeline, mut changes) = (Pipeline::new(&packs, PipelineOptions::default()), Changes::default());
    let (mut fed, mut number, mut block) = (0, 0, String::new());
    let (mut warm, mut last, mut looks, mut dearest) = (None, None, 0_u64, std::time::Duration::ZERO);
    while fed < lines {
        block.clear();
        while block.len() < 256 * 1024 {
            fed += prompt(number, &mut block);
            number += 1;
        }
        // Cut anywhere, also within a character.
        for part in block.as_bytes().chunks(7919) {
            pipeline.feed(part);
        }
        let begun = Instant::now();
        let read = pipeline.snapshot();
        let report = answer("x", &read, &packs, &question);
        changes.since_last(&report, &read.timeline, &messages);
        dearest = dearest.max(begun.elapsed());
        looks += 1;
        let size = serde_json::to_vec(&read.timeline).unwrap().len();
        let now = (size, rss_mib());
        if warm.is_none() && fed >= lines / WARM_UP {
            warm = Some(now);
        }
        last = Some(now);
    }
    let ((warm_size, warm_rss), (size, rss)) = (warm.unwrap(), last.unwrap());
    println!(
        "{fed} lines, {number} prompts, {looks} looks, the dearest {dearest:?}; pipeline {warm_size} then {size} bytes; RSS {warm_rss:?} then {rss:?} MiB"
    );
    assert!(size < warm_size + warm_size / 8, "the pipeline grew from {warm_size} to {size} bytes");
    if let (Some(warm), Some(now)) = (warm_rss, rss) {
        assert!(now < warm + UNREST_MIB, "resident memory grew from {warm} to {now} MiB");
    }
    let read = pipeline.finish();
    assert!(read.intake.lines >= fed);
}
