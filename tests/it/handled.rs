//! Errors that somebody took care of: warnings and excuses that packs print, stacks without an error, the server's own
//! tracebacks beside a prompt, an optional module that a pack does without, and causes outside all code. Each has a near
//! one that is a failure.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nComfyUI version: 0.3.64\n";
const READY: &str = "Starting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const RESET: &str =
    "ConnectionResetError: [WinError 10054] An existing connection was forcibly closed by the remote host\n";

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

/// A start, a good prompt, and one with `lines` in it that runs to its end.
fn with(lines: &str) -> Report {
    let good = "got prompt\nPrompt executed in 3.20 seconds\n";
    triage(&format!("{START}{READY}{good}got prompt\n{lines}Prompt executed in 3.30 seconds\n"))
}

fn frame(path: &str, function: &str) -> String {
    format!("  File \"/opt/ComfyUI/{path}\", line 12, in {function}\n    return work()\n")
}

#[track_caller]
fn nothing_is_wrong(report: &Report) {
    assert_eq!(report.verdict.primary, "no-fault", "{}", report.verdict.headline);
    assert_eq!(report.sessions[0].prompts.failed, 0);
    assert!(report.verdict.secondary.is_empty(), "{:?}", report.verdict.secondary);
}

#[test]
fn a_printed_line_does_not_fail_the_prompt_that_runs_on() {
    for line in [
        "Warning: TAESD previews enabled, but could not find models/vae_approx/None",
        "UserWarning: deprecated thing",
        "Error: no face found",
        "ValueError: no face found, using fallback",
        "OutOfMemoryError: retrying tiled",
        "ConnectionError: retry 1/3",
    ] {
        nothing_is_wrong(&with(&format!("{line}\n")));
    }
}

#[test]
fn a_line_that_ends_the_log_may_be_the_failure_but_a_warning_is_none() {
    let ends = |line: &str| triage(&format!("{START}{READY}got prompt\n{line}\n"));
    let failed = ends("ValueError: bad shape");
    assert_eq!(failed.verdict.primary, "other-error");
    assert!(failed.verdict.headline.contains("bad shape"), "{}", failed.verdict.headline);
    assert_eq!(failed.findings[0].evidence[0].at.line, 10);
    assert_ne!(ends("UserWarning: bad shape").verdict.primary, "other-error");
    assert_ne!(ends("ValueError: bad shape, next try\nRequested to load Flux").verdict.primary, "other-error");
}

#[test]
fn a_warning_behind_an_error_does_not_take_its_place() {
    let report = with(&format!(
        "!!! Exception during processing !!! bad shape\nTraceback (most recent call last):\n{}ValueError: bad shape\nUserWarning: deprecated thing\n",
        frame("execution.py", "execute")
    ));
    assert!(report.verdict.headline.contains("ValueError: bad shape"), "{}", report.verdict.headline);
}

#[test]
fn a_browser_that_goes_away_fails_no_prompt() {
    let traceback = format!(
        "Traceback (most recent call last):\n  File \"C:\\Python312\\Lib\\asyncio\\events.py\", line 88, in _run\n    self._context.run(self._callback, *self._args)\n{RESET}"
    );
    nothing_is_wrong(&with(&traceback));
    nothing_is_wrong(&with(&traceback.replace(RESET, "")));
    let good = "got prompt\nPrompt executed in 3.20 seconds\n";
    let head = traceback.split_once('\n').map_or("", |(_, frames)| frames);
    nothing_is_wrong(&triage(&format!("{head}{good}")));
    assert_eq!(triage(head).verdict.primary, "other-error");
    // The same error in a node, with its head or without one, is told by its own words.
    let node = format!("!!! Exception during processing !!! x\n{}{RESET}", frame("execution.py", "execute"));
    let report = with(&node);
    assert_eq!(report.verdict.primary, "other-error");
    assert!(report.verdict.headline.contains("ConnectionResetError"), "{}", report.verdict.headline);
}

#[test]
fn a_stack_is_no_error() {
    let frames = format!("{}{}", frame("execution.py", "execute"), frame("custom_nodes/foo/nodes.py", "f"));
    nothing_is_wrong(&with(&format!("Stack (most recent call last):\n{frames}")));
    nothing_is_wrong(&with(&frames));
    // With an error behind them they are a traceback whose head is missing.
    let report = with(&format!("{frames}ValueError: bad shape\n"));
    assert_eq!(report.verdict.primary, "custom-node", "{}", report.verdict.headline);
    // A traceback whose last line is missing.
    let report = with(&format!("Traceback (most recent call last):\n{frames}"));
    assert_eq!(report.verdict.primary, "custom-node", "{}", report.verdict.headline);
}

#[test]
fn a_pack_that_is_listed_as_imported_took_care_of_what_it_lacks() {
    let traceback = format!(
        "Traceback (most recent call last):\n{}ModuleNotFoundError: No module named 'flash_attn'\n",
        frame("custom_nodes/foo/nodes.py", "<module>")
    );
    let row = "\nImport times for custom nodes:\n   0.4 seconds: /opt/ComfyUI/custom_nodes/foo\n\n";
    let good = "got prompt\nPrompt executed in 3.20 seconds\n";
    nothing_is_wrong(&triage(&format!("{START}{traceback}{row}{READY}{good}")));
    let primary = |log: &str| triage(log).verdict.primary;
    let cannot = "Cannot import /opt/ComfyUI/custom_nodes/foo module for custom nodes: No module named 'flash_attn'\n";
    let failed = format!("{cannot}{}", row.replace("seconds:", "seconds (IMPORT FAILED):"));
    assert_eq!(primary(&format!("{START}{traceback}{failed}{READY}{good}")), "import-failure");
    // Nothing says that the pack was imported all the same: what was raised while it was is a failed import.
    assert_eq!(primary(&format!("{START}{traceback}{READY}{good}")), "import-failure");
    let missing = "got prompt\ninvalid prompt: {'type': 'missing_node_type', 'message': \"Node 'Foo' not found.\"}\n";
    assert_eq!(primary(&format!("{START}{traceback}{row}{READY}{missing}")), "custom-node");
}

/// A node's error with `last` as its last line, raised in a library below the pack's own frame.
fn raised(last: &str) -> Report {
    let message = last.split_once(": ").map_or(last, |(_, message)| message);
    with(&format!(
        "!!! Exception during processing !!! {message}\nTraceback (most recent call last):\n{}{}{last}\n\n",
        frame("execution.py", "execute"),
        frame("custom_nodes/foo/nodes.py", "load"),
    ))
}

#[test]
fn what_lies_outside_the_code_is_no_packs_fault() {
    for (last, about, headline, next) in [
        (
            "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out.",
            "network",
            "A connection failed",
            "Check the connection",
        ),
        ("ConnectionRefusedError: [Errno 111] Connection refused", "network", "A connection failed", "does it run"),
        (
            "huggingface_hub.errors.GatedRepoError: 401 Client Error. Access to model x is restricted.",
            "refused",
            "A server did not give",
            "accept the model's terms",
        ),
        ("urllib.error.HTTPError: HTTP Error 404: Not Found", "refused", "A server did not give", "it is gone"),
        ("OSError: [Errno 28] No space left on device", "disk", "The disk is full", "Free space"),
        (
            "PermissionError: [Errno 13] Permission denied: '/opt/x/a.png'",
            "access",
            "The system did not let",
            "write to",
        ),
    ] {
        let report = raised(last);
        assert_eq!(report.verdict.primary, "other-error", "{last}");
        assert_eq!(report.findings[0].about.as_deref(), Some(about), "{last}");
        assert!(report.findings[0].candidates.is_empty(), "{last}");
        assert!(report.verdict.headline.starts_with(headline), "{}", report.verdict.headline);
        let steps: Vec<&str> = report.next_steps.iter().map(|step| step.text.as_str()).collect();
        assert!(steps.concat().contains(next) && !steps.concat().contains("author"), "{steps:?}");
    }
    for own in ["ValueError: node 404 not connected", "FileNotFoundError: [Errno 2] No such file: 'x.safetensors'"] {
        assert_eq!(raised(own).verdict.primary, "custom-node", "{own}");
    }
}
