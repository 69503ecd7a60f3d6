//! Tracebacks that Rich printed: in a box, between rules, and as narrow as the window was.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "Total VRAM 24081 MB, total RAM 63456 MB\npytorch version: 2.7.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 3090 : cudaMallocAsync\nPython version: 3.12.3 (main, Aug 14 2025, 17:47:21) [GCC 13.3.0]\nComfyUI version: 0.3.50\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";

const FRAMES: [&str; 3] = [
    "/opt/ComfyUI/execution.py:496 in execute",
    "/opt/ComfyUI/custom_nodes/ComfyUI-Zorblax-Extended-Suite/zorblax/nodes/sampling.py:1084 in sample_more",
    "/opt/ComfyUI/custom_nodes/ComfyUI-Zorblax-Extended-Suite/zorblax/tools.py:12 in <lambda>",
];

/// The report on a log, and the frames of its first exception.
fn triage(log: &str) -> (Report, Vec<String>) {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    let frames = read.timeline.sessions[0].exceptions.first().map(|exception| exception.frames.clone());
    (answer("log", &read, &packs, &Question::default()), frames.unwrap_or_default())
}

/// Rows as Rich wraps them: at words, and within a word that has no room in any row.
fn rows(text: &str, room: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split(' ') {
        let row = rows.last().expect("one");
        if !row.is_empty() && row.len() + 1 + word.len() <= room {
            let row = rows.last_mut().expect("one");
            *row += &format!(" {word}");
            continue;
        }
        if !row.is_empty() {
            rows.push(String::new());
        }
        for piece in word.as_bytes().chunks(room) {
            let row = rows.last_mut().expect("one");
            if row.is_empty() {
                *row = String::from_utf8_lossy(piece).into_owned();
            } else {
                rows.push(String::from_utf8_lossy(piece).into_owned());
            }
        }
    }
    rows
}

/// A traceback in a box of this width; `edges` are its corner, its line and its side.
fn boxed(width: usize, (corner, line, side): (&str, &str, &str)) -> String {
    let title = " Traceback (most recent call last) ";
    let left = (width - 2 - title.len()) / 2;
    let right = width - 2 - title.len() - left;
    let mut out = format!("{corner}{}{title}{}{corner}\n", line.repeat(left), line.repeat(right));
    let room = width - 4;
    for frame in FRAMES {
        let code =
            ["", "  1083 │   model.load()", "❱ 1084 │   for step in a:12 in b", "  1085 │   x[\"/a.py:12 in f\"]", ""];
        for row in rows(frame, room).into_iter().chain(code.map(str::to_owned)) {
            let blanks = " ".repeat(room.saturating_sub(row.chars().count()));
            out += &format!("{side} {row}{blanks} {side}\n");
        }
    }
    out + &format!("{corner}{}{corner}\n", line.repeat(width - 2))
}

#[test]
fn frames_in_a_box_are_read_however_wide_it_is() {
    for edges in [("╭", "─", "│"), ("┌", "─", "│"), ("+", "-", "|"), ("─", "─", " ")] {
        for width in [60, 72, 80, 99, 100, 120, 160] {
            let log = format!(
                "{START}got prompt\n!!! Exception during processing !!! no room\n{}ValueError: no room\n\nPrompt executed in 1.00 seconds\ngot prompt\n",
                boxed(width, edges)
            );
            let (report, frames) = triage(&log);
            let exceptions = &report.sessions[0].exceptions;
            assert_eq!(exceptions.len(), 1, "{width} {edges:?}\n{log}");
            let expected = FRAMES.map(|frame| frame.replace(" in ", " "));
            assert_eq!(frames[..], expected, "{width} {edges:?}\n{log}");
            assert_eq!(exceptions[0].kind.as_deref(), Some("ValueError"));
            assert_eq!(report.verdict.primary, "custom-node", "{}", report.verdict.headline);
            assert!(report.verdict.headline.contains("ComfyUI-Zorblax-Extended-Suite"), "{}", report.verdict.headline);
            assert_eq!(report.sessions[0].prompts.got, 2);
        }
    }
}

/// Behind the columns of a log handler, and behind a container's name.
#[test]
fn a_box_may_stand_behind_other_columns() {
    let in_columns: String =
        boxed(72, ("╭", "─", "│")).lines().map(|row| format!("{}{row}\n", " ".repeat(20))).collect();
    let log = format!(
        "{START}[12:00:00] INFO     got prompt                    server.py:610\n[12:00:00] ERROR    !!! Exception during          execution.py:7\n                    processing !!! no room\n{in_columns}                    ValueError: no room\n[12:00:01] INFO     Prompt executed in 1.00 seconds   main.py:7\n"
    );
    for log in [log.clone(), log.lines().map(|line| format!("comfyui-1  | {line}\n")).collect()] {
        let (_, frames) = triage(&log);
        assert_eq!(frames[..], FRAMES.map(|frame| frame.replace(" in ", " ")), "{log}");
    }
}

/// A box without such a head, or rows without a box, are no traceback.
#[test]
fn other_boxes_say_nothing() {
    let body = boxed(80, ("╭", "─", "│"));
    let rows = body.split_once('\n').expect("rows").1;
    let log =
        format!("{START}got prompt\n╭──────────── Options ────────────╮\n{rows}Prompt executed in 1.00 seconds\n");
    let (report, _) = triage(&log);
    assert!(report.sessions[0].exceptions.is_empty(), "{:?}", report.sessions[0].exceptions);
    assert_eq!(report.verdict.primary, "no-fault");
}
