//! Consoles that print every line twice, and those where lines only repeat.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "Total VRAM 24081 MB, total RAM 63456 MB\npytorch version: 2.7.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 3090 : cudaMallocAsync\nUsing pytorch attention\nPython version: 3.12.3 (main, Aug 14 2025, 17:47:21) [GCC 13.3.0]\nComfyUI version: 0.3.50\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const PROMPT: &str = "got prompt\nmodel weight dtype torch.float16, manual cast: None\nmodel_type EPS\nRequested to load SDXL\nloaded completely 21000.5 4897.0483474731445 True\nPrompt executed in 12.31 seconds\n";

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

/// Each line twice, the second time behind `prefix`.
fn doubled(log: &str, prefix: &str) -> String {
    log.lines().map(|line| format!("{line}\n{prefix}{line}\n")).collect()
}

fn counts(report: &Report) -> (u64, u64, u64) {
    let session = &report.sessions[0];
    let requested = session.loads.get("SDXL").map_or(0, |load| load.requested);
    (session.prompts.got, session.prompts.executed, requested)
}

fn notice(report: &Report) -> Option<&String> {
    report.fitness.gaps.iter().find(|gap| gap.contains("twice"))
}

#[test]
fn lines_of_a_doubled_console_count_once() {
    let log = format!("{START}{}", PROMPT.repeat(4));
    for prefix in ["", "[INFO] ", "2024-05-31 15:05:22,111 - INFO - "] {
        let report = triage(&doubled(&log, prefix));
        assert_eq!(counts(&report), (4, 4, 4), "{prefix:?}");
        assert!(notice(&report).is_some_and(|gap| gap.contains("line 1 ")), "{:?}", report.fitness.gaps);
        assert_eq!(report.verdict.primary, "no-fault");
    }
    // Without the start: what came before the run was long enough is told once as well.
    let report = triage(&doubled(&PROMPT.repeat(3), "[INFO] "));
    assert_eq!(counts(&report), (3, 3, 3));
}

#[test]
fn lines_that_come_three_times_count_once() {
    let thrice = |log: &str| -> String { log.lines().map(|line| format!("{line}\n[INFO] {line}\n{line}\n")).collect() };
    for start in ["", START] {
        let report = triage(&thrice(&format!("{start}{}", PROMPT.repeat(4))));
        assert_eq!(counts(&report), (4, 4, 4), "{start}");
        assert!(report.fitness.gaps.iter().any(|gap| gap.contains("three times")), "{:?}", report.fitness.gaps);
    }
    // Two prompts that were queued at once.
    let single = PROMPT.replace("got prompt\n", "");
    let queued = format!("{START}got prompt\ngot prompt\n{single}{single}{}", PROMPT.repeat(2));
    assert_eq!(counts(&triage(&thrice(&queued))), (4, 4, 4));
}

/// A node that attaches a handler does so while the server starts, or later.
#[test]
fn a_console_may_become_doubled_and_single_again() {
    let late = format!("{START}{}{}", PROMPT.repeat(2), doubled(&PROMPT.repeat(3), "[INFO] "));
    let report = triage(&late);
    assert_eq!(counts(&report), (5, 5, 5));
    assert!(notice(&report).is_some_and(|gap| gap.contains("line 23 ")), "{:?}", report.fitness.gaps);
    let twice = "got prompt\ngot prompt\n";
    let single = PROMPT.replace("got prompt\n", "");
    let again = format!("{late}{}{twice}{single}{single}", PROMPT.repeat(3));
    assert_eq!(counts(&triage(&again)), (10, 10, 10));
    // Two prompts that were queued at once, on a doubled console.
    let queued = format!("{START}{twice}{single}{single}");
    assert_eq!(counts(&triage(&doubled(&queued, "[INFO] "))), (2, 2, 2));
}

/// A server that ran singly for long is not looked at any more, until it starts again.
#[test]
fn each_start_may_double_the_console() {
    let long = format!("{START}{}", PROMPT.repeat(400));
    let twice = doubled(&format!("{START}{}", PROMPT.repeat(4)), "[INFO] ");
    let report = triage(&format!("{long}{twice}"));
    let executed: Vec<u64> = report.sessions.iter().map(|session| session.prompts.executed).collect();
    assert_eq!(executed, [400, 4]);
    let first = long.lines().count() + 1;
    assert!(notice(&report).is_some_and(|gap| gap.contains(&format!("line {first} "))), "{:?}", report.fitness.gaps);
}

#[test]
fn lines_that_repeat_are_no_doubled_console() {
    let queued = "got prompt\ngot prompt\nUsing pytorch attention in VAE\nUsing pytorch attention in VAE\nRequested to load SDXL\nRequested to load SDXL\nPrompt executed in 1.00 seconds\nPrompt executed in 2.00 seconds\n";
    let report = triage(&format!("{START}{}", queued.repeat(5)));
    assert_eq!(counts(&report), (10, 10, 10));
    assert_eq!(notice(&report), None);
    // Many pairs of few texts.
    let report = triage(&format!(
        "{START}{}",
        "got prompt\ngot prompt\nPrompt executed in 1.00 seconds\nPrompt executed in 1.00 seconds\n".repeat(9)
    ));
    assert_eq!((counts(&report).0, notice(&report)), (18, None));
}
