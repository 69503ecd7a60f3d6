//! How a log ends when the user stopped ComfyUI, when a start script waits behind it, and when only an exit code tells.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};
use comfy_triage::timeline::EndingKind;

const START: &str = "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nComfyUI version: 0.3.64\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\ngot prompt\nPrompt executed in 3.20 seconds\ngot prompt\nRequested to load Flux\n";

fn triage(log: &str) -> (Report, EndingKind) {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    let kind = read.timeline.ending.as_ref().map(|ending| ending.kind).expect("ends");
    (answer("log", &read, &packs, &Question::default()), kind)
}

fn ends(tail: &str) -> (Report, EndingKind) {
    triage(&format!("{START}{tail}"))
}

fn next(report: &Report) -> String {
    report.next_steps.iter().map(|step| step.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn ctrl_c_in_a_prompt_is_the_users_end() {
    let interrupt = "Traceback (most recent call last):\n  File \"/opt/ComfyUI/main.py\", line 300, in <module>\n    run()\nKeyboardInterrupt\n";
    for tail in [
        interrupt,
        &format!("^C{interrupt}"),
        "^CTerminate batch job (Y/N)? y\n",
        "终止批处理操作吗(Y/N)? y\n",
        "Stopped server\n",
    ] {
        let (report, kind) = ends(tail);
        assert_eq!((report.verdict.primary.as_str(), kind), ("no-fault", EndingKind::CleanStop), "{tail}");
    }
    let (report, kind) = ends("");
    assert_eq!((report.verdict.primary.as_str(), kind), ("insufficient-evidence", EndingKind::Abrupt));
    assert!(next(&report).contains("what the terminal printed after this"));
    // What a node raises under that name is the node's.
    let node = "!!! Exception during processing !!! KeyboardInterrupt wrapper broken\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 1, in execute\n    run()\nRuntimeError: KeyboardInterrupt wrapper broken\n\nPrompt executed in 1.00 seconds\n";
    assert_eq!(ends(node).0.verdict.primary, "other-error");
}

#[test]
fn ctrl_c_at_a_start_asks_for_nothing() {
    let start = START.split("Starting server").next().expect("has a head");
    let (report, _) = triage(&format!(
        "{start}Traceback (most recent call last):\n  File \"/opt/ComfyUI/main.py\", line 9, in <module>\n    import x\nKeyboardInterrupt\n"
    ));
    assert!(report.verdict.headline.starts_with("ComfyUI was stopped with Ctrl-C"), "{}", report.verdict.headline);
    assert_eq!(next(&report), "");
}

#[test]
fn a_start_script_that_waits_printed_all_there_is() {
    for tail in ["\nC:\\ComfyUI>pause\nPress any key to continue . . .\n", "\nC:\\ComfyUI>pause\n```\n"] {
        let (report, kind) = ends(tail);
        assert_eq!((report.verdict.primary.as_str(), kind), ("insufficient-evidence", EndingKind::Abrupt), "{tail}");
        assert!(report.findings[0].evidence[0].text.ends_with(['e', '.']), "{:?}", report.findings[0].evidence);
        assert!(!next(&report).contains("Give the whole log"), "{}", next(&report));
    }
    // Ctrl-C at the script's question stops what had ended before.
    let (_, kind) = ends("\nC:\\ComfyUI>pause\nPress any key to continue . . .\n^CTerminate batch job (Y/N)? y\n");
    assert_eq!(kind, EndingKind::Abrupt);
}

#[test]
fn the_exit_code_of_a_crash_is_the_line_that_tells() {
    let (report, kind) = ends(
        "[2025-05-15 10:28:55.140] [error] Python process exited with code 3221225477 and signal null\n[2025-05-15 10:28:57.482] [info]  @todesktop/runtime: Checking for update\n",
    );
    assert_eq!((report.verdict.primary.as_str(), kind), ("insufficient-evidence", EndingKind::NativeCrash));
    assert_eq!(report.findings[0].evidence[0].at.line, 13);
    assert!(report.verdict.headline.contains("which can be a crash in native code"), "{}", report.verdict.headline);
    assert!(next(&report).contains("PYTHONFAULTHANDLER"));
}
