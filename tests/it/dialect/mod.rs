//! The same log behind each dialect of prefixes: what is said of it is the same.

mod clients;
mod page;
mod report;
mod run;

use std::io::Cursor;

use comfy_triage::catalog::Packs;
use comfy_triage::input::Source;
use comfy_triage::pipeline::{Pipeline, PipelineOptions};
use comfy_triage::report::{Question, Report, answer};

/// Writes a line as a tool shows it; the number is that of the line, from 0.
type Write = fn(usize, &str) -> String;

/// A clock that goes on by a second with each line.
fn clock(number: usize) -> String {
    format!("{:02}:{:02}:{:02}", 12 + number / 3600, number / 60 % 60, number % 60)
}

/// Tools and how they show a line.
const DIALECTS: [(&str, Write); 24] = [
    ("docker compose", |_, line| format!("comfyui-1  | {line}")),
    ("docker logs -t", |n, line| format!("2026-08-05T{}.137431771Z {line}", clock(n))),
    ("docker compose logs -t", |n, line| format!("comfyui-1  | 2026-08-05T{}.137431771Z {line}", clock(n))),
    ("docker's JSON files", |n, line| {
        let log = format!("{line}\n");
        let time = format!("2026-08-05T{}.1Z", clock(n));
        serde_json::json!({ "log": log, "stream": "stderr", "time": time }).to_string()
    }),
    ("kubectl logs --prefix", |_, line| format!("[pod/comfy-0/comfyui] {line}")),
    ("container runtime", |n, line| format!("2026-08-05T{}.137431771Z stderr F {line}", clock(n))),
    ("syslog", |n, line| format!("Aug 05 {} host python[1234]: {line}", clock(n))),
    ("journalctl -o short-iso", |n, line| format!("2026-08-05T{}+0200 host python[1234]: {line}", clock(n))),
    ("journalctl -o short-precise", |n, line| format!("Aug 05 {}.123456 host python[1234]: {line}", clock(n))),
    ("journalctl in Chinese", |n, line| format!("9月 08 {} node1 python[1234]: {line}", clock(n))),
    ("logging with names", |n, line| format!("2026-08-05 {},703 - root - INFO - {line}", clock(n))),
    ("logging with levels", |n, line| format!("2026-08-05 {},703 INFO {line}", clock(n))),
    ("logging without a format", |_, line| format!("INFO:root:{line}")),
    ("ISO stamps", |n, line| format!("2026-08-05T{} {line}", clock(n))),
    ("level tags", |_, line| format!("[INFO] {line}")),
    ("the log buffer", |n, line| format!("2026-08-05T{}.149144 - {line}", clock(n))),
    ("ComfyUI-Manager", |n, line| format!("[2026-08-05 {}.002] {line}", clock(n))),
    ("Desktop", |n, line| format!("[2026-08-05 {}.212] [info]  {line}", clock(n))),
    ("SwarmUI", |n, line| format!("2026-08-05 {}.687 [Debug] [ComfyUI-0/STDERR] {line}", clock(n))),
    ("a launcher with streams", |_, line| format!("STDERR: {line}")),
    ("a quoting reply", |_, line| format!("> {line}")),
    ("Ray", |_, line| format!("(RayWorker pid=1234) {line}")),
    ("PM2", |_, line| format!("0|comfyui  | {line}")),
    ("coloured level tags", |_, line| format!("\u{1b}[32m[INFO]\u{1b}[0m {line}")),
];

/// The report on a text.
fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = Pipeline::new(&packs, PipelineOptions::default()).read(source).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

/// A log as a tool shows it.
fn shown(log: &str, write: Write) -> String {
    log.lines().enumerate().map(|(number, line)| write(number, line) + "\n").collect()
}

/// What must be the same behind all prefixes.
#[derive(Debug, PartialEq)]
struct Essence {
    verdict: String,
    version: Option<String>,
    facts: Vec<(String, serde_json::Value)>,
    /// Node, kind and line of each failure.
    failures: Vec<(Option<String>, Option<String>, u64)>,
    /// Out-of-memory errors of the card, and of the machine.
    ooms: (usize, usize),
    counts: String,
}

fn essence(report: &Report) -> Essence {
    let sessions = &report.sessions;
    let facts = sessions.iter().flat_map(|session| &session.facts);
    let failures = sessions.iter().flat_map(|session| &session.exceptions);
    let counts =
        sessions.iter().map(|session| format!("{:?} {:?} {:?}", session.prompts, session.loads, session.leaks));
    Essence {
        verdict: format!("{:?} {:?}", report.verdict.primary, report.verdict.grade),
        version: report.version.exact.clone(),
        facts: facts.map(|(name, fact)| (name.clone(), fact.value.clone())).collect(),
        failures: failures.map(|e| (e.node.clone(), e.kind.clone(), e.at.line)).collect(),
        ooms: (
            sessions.iter().map(|session| session.ooms.len()).sum(),
            sessions.iter().map(|session| session.host_ooms.len()).sum(),
        ),
        counts: counts.collect(),
    }
}

/// Behind each prefix the same is said as of the log itself; what that is.
fn same_behind_each(log: &str) -> Essence {
    let plain = essence(&triage(log));
    for (name, write) in DIALECTS {
        assert_eq!(essence(&triage(&shown(log, write))), plain, "{name}");
    }
    plain
}
