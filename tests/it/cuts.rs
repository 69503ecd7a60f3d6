//! Random cuts of every case: the head, the tail or a middle of the log is missing, as in what people paste.
//!
//! Whatever is left: no panic, nothing cited that is not there, no number without its line, and no claim that only the
//! whole log supported. The cuts come from a fixed seed, so a failure repeats.
#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use comfy_triage::catalog::{Packs, Verdict};
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::render::{Format, Printer, View};
use comfy_triage::report::{Basis, Figure, Question, Report, SessionReport, Status, answer, read_log};
use rayon::prelude::*;
use regex::Regex;

use crate::case::Case;

/// Cuts of each case, and lines above which a log is cut to a stretch of that many first.
const CUTS: u64 = 6;
const LONGEST: usize = 1500;

/// A small generator of numbers; what counts is that it repeats.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Part of a log, and what was taken away.
fn cut(lines: &[Vec<u8>], dice: &mut Dice) -> (Vec<Vec<u8>>, String) {
    let all = lines.len();
    let (a, b) = (dice.below(all + 1), dice.below(all + 1));
    let (from, to) = (a.min(b), a.max(b));
    let (kept, what): (Vec<Vec<u8>>, _) = match dice.below(4) {
        0 => (lines[from..].to_vec(), format!("head to line {from}")),
        1 => (lines[..to].to_vec(), format!("tail from line {to}")),
        2 => (lines[from..to].to_vec(), format!("all but lines {from} to {to}")),
        _ => ([&lines[..from], &lines[to..]].concat(), format!("lines {from} to {to}")),
    };
    (kept, what)
}

fn report(packs: &Packs, bytes: &[u8], zh: bool) -> Option<Report> {
    let source = Source::from_reader("cut.log", std::io::Cursor::new(bytes.to_vec())).ok()?;
    let read = read_log(source, packs, &ReadOptions::default()).ok()?;
    Some(answer("cut.log", &read, packs, &Question { zh, ..Question::default() }))
}

static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[0-9]+(?:\.[0-9]+)?(?:e\+?[0-9]+)?").unwrap());
static PERCENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"([0-9]+(?:\.[0-9]+)?) ?%").unwrap());

/// The figure, or the same in another unit, stands in one of its lines.
fn holds_number(figure: &Figure, lines: &[String]) -> bool {
    let (Some(value), false) = (figure.value, figure.lines.is_empty()) else { return true };
    if figure.basis != Basis::Measured || figure.unit.as_deref() != Some("MiB") {
        return true;
    }
    let units = [1.0, 1024.0, 1.0 / 1024.0, 1.0 / (1024.0 * 1024.0), 1000.0 * 1000.0 / (1024.0 * 1024.0)];
    figure.lines.iter().filter_map(|line| lines.get(*line as usize - 1)).any(|line| {
        let numbers = NUMBER.find_iter(line).filter_map(|found| found.as_str().parse::<f64>().ok());
        numbers
            .into_iter()
            .any(|number| units.iter().any(|unit| (number * unit - value).abs() <= value.abs() * 0.01 + 0.01))
    })
}

/// The words of a text in small letters, without what prefixes and pastes change.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(400).collect()
}

/// All that the report says in words.
fn said(report: &Report) -> Vec<String> {
    let mut all = vec![report.verdict.headline.clone(), report.verdict.grade_reason.clone()];
    for finding in &report.findings {
        all.push(finding.summary.clone());
        all.extend(finding.figures.iter().map(|figure| figure.text.clone()));
        all.extend(finding.evidence.iter().filter_map(|line| line.remark.clone()));
    }
    all.extend(report.next_steps.iter().map(|step| step.text.clone()));
    all.extend(report.ruled_out.iter().map(|out| out.reason.clone()));
    all.extend(report.cannot_tell.iter().cloned());
    all.push(report.ending.text.clone());
    all
}

/// What is cited and does not stand there.
fn cited(report: &Report, lines: &[String], faults: &mut Vec<String>) {
    let last = lines.len() as u64;
    for finding in &report.findings {
        for line in finding.evidence.iter().chain(&finding.against) {
            let end = line.at.last_line.unwrap_or(line.at.line);
            if line.at.line == 0 || end > last || end < line.at.line {
                faults.push(format!("{} cites lines {} to {end} of {last}", finding.id, line.at.line));
                continue;
            }
            let range = lines[line.at.line as usize - 1..end as usize].join(" ");
            let (text, range) = (plain(&line.text), plain(&range));
            let start: String = text.chars().take(7).collect();
            // A bar is told by its steps, whatever it drew.
            let is_bar = line
                .text
                .split_once('/')
                .is_some_and(|(done, all)| [done, all].iter().all(|part| part.chars().all(|c| c.is_ascii_digit())));
            if !range.contains(&start) && !is_bar {
                faults.push(format!("{} cites \"{}\", which is not in line {}", finding.id, line.text, line.at.line));
            }
        }
        for figure in &finding.figures {
            if figure.lines.iter().any(|line| *line == 0 || *line > last) {
                faults.push(format!("{:?} cites {:?} of {last} lines", figure.text, figure.lines));
            } else if !holds_number(figure, lines) {
                faults.push(format!("{:?} does not stand in lines {:?}", figure.text, figure.lines));
            }
        }
    }
}

/// Texts that must stand in a log of which something is said.
fn grounds(report: &Report, text: &str, faults: &mut Vec<String>) {
    let has = |needles: &[&str]| needles.iter().any(|needle| text.contains(needle));
    let confirmed = |verdict: Verdict| {
        report.findings.iter().any(|finding| finding.id == verdict && finding.status >= Status::Likely)
    };
    if confirmed(Verdict::LeakConfirmed) && !has(&["memory leak with model"]) {
        faults.push("a leak without its warning".to_owned());
    }
    let full = [
        "out of memory",
        "outofmemory",
        "allocation on device",
        "got an oom",
        "not enough memory",
        "device limit",
        "currently allocated",
        "requested ",
        "would exceed allowed memory",
        "hip error",
        "cuda error",
    ];
    if confirmed(Verdict::GpuOom) && !has(&full) {
        faults.push("a full GPU without a text".to_owned());
    }
    let ruled = |verdict: Verdict| report.ruled_out.iter().any(|out| out.id == verdict);
    if ruled(Verdict::GpuOom) && has(&["cuda out of memory", "hip out of memory", "torch.outofmemoryerror"]) {
        faults.push("a full GPU is ruled out beside its text".to_owned());
    }
    if ruled(Verdict::LeakConfirmed) && has(&["warning, memory leak with model"]) {
        faults.push("a leak is ruled out beside its warning".to_owned());
    }
    let ended = text.matches("prompt executed in").count();
    let of_prompts = ["in every prompt", "in each prompt", "after every prompt", "does not grow over"];
    let words = said(report).join("\n");
    if ended < 2 && of_prompts.iter().any(|claim| words.contains(claim) && !words.contains("whether")) {
        faults.push(format!("speaks of every prompt where {ended} ended"));
    }
    let start = [
        "total vram ",
        "set vram state",
        "comfyui version:",
        "comfyui startup time",
        "python version:",
        "starting server",
    ];
    if !has(&start) && words.contains("first warned of in prompt") {
        faults.push("tells of a first warning where the log begins in mid-run".to_owned());
    }
    if has(&["total vram "]) && words.contains("the start of ComfyUI is not in the log") {
        faults.push("misses the start, which is there".to_owned());
    }
    for found in PERCENT.captures_iter(&words) {
        if found[1].parse::<f64>().unwrap() > 100.0 {
            faults.push(format!("{} %", &found[1]));
        }
    }
}

/// Failures beside the answer that nothing is wrong.
fn quiet_failures(report: &Report, faults: &mut Vec<String>) {
    let failed: u64 = report.sessions.iter().map(|session| session.prompts.failed).sum();
    if report.verdict.primary == Verdict::NoFault && failed > 0 && report.verdict.secondary.is_empty() {
        let recovered = report.findings.iter().any(|finding| finding.recovered);
        if !recovered {
            faults.push(format!("nothing is wrong, and {failed} prompts failed"));
        }
    }
}

/// Something that is counted in each start of ComfyUI.
type Count = fn(&SessionReport) -> u64;

/// A part of a log holds no more than the whole.
fn no_more_than(whole: &Report, part: &Report, faults: &mut Vec<String>) {
    let sum = |report: &Report, of: Count| -> u64 { report.sessions.iter().map(of).sum() };
    let counts: [(&str, Count); 4] = [
        ("got", |session| session.prompts.got),
        ("executed", |session| session.prompts.executed),
        ("pin errors", |session| session.counts.pin_errors),
        ("leak warnings", |session| session.leaks.values().map(|leak| leak.warning).sum()),
    ];
    for (name, of) in counts {
        let (all, some) = (sum(whole, of), sum(part, of));
        if some > all {
            faults.push(format!("{some} {name} in a part, {all} in the whole"));
        }
    }
}

fn shown(report: Report, packs: &Packs, zh: bool) -> String {
    let mut out = Vec::new();
    Printer::new(Format::Text, View { verbose: true, ..View::default() }, packs, zh, 1)
        .report(report, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

fn examine(case: &Case, packs: &Packs) -> Vec<String> {
    let bytes = std::fs::read(crate::case::root().join(case.log())).unwrap();
    // Lines of other encodings, of JSON and of one long paste are not those of the report.
    let Ok(text) = std::str::from_utf8(&bytes) else { return Vec::new() };
    if text.contains('\0') || text.starts_with(['{', '[']) || text.lines().count() < 4 {
        return Vec::new();
    }
    let seed = case
        .name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |seed, byte| (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut dice = Dice(seed | 1);
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.len() > LONGEST {
        let from = dice.below(lines.len() - LONGEST);
        lines = lines[from..from + LONGEST].to_vec();
    }
    let Some(whole) = report(packs, &lines.concat(), false) else { return Vec::new() };
    let mut found = Vec::new();
    for number in 0..CUTS {
        let (kept, what) = cut(&lines, &mut dice);
        let zh = number % 3 == 2;
        let bytes = kept.concat();
        let Some(part) = report(packs, &bytes, zh) else { continue };
        let texts: Vec<String> = kept.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        let mut faults = Vec::new();
        cited(&part, &texts, &mut faults);
        if !zh {
            grounds(&part, &String::from_utf8_lossy(&bytes).to_lowercase(), &mut faults);
        }
        quiet_failures(&part, &mut faults);
        no_more_than(&whole, &part, &mut faults);
        let out = shown(part, packs, zh);
        for line in out.lines().filter(|line| !line.contains(" | ") && line.contains('{') && line.contains('}')) {
            let open = line.find('{').unwrap();
            if line[open + 1..].starts_with(|c: char| c.is_ascii_lowercase()) && !line.contains(':') {
                faults.push(format!("a gap is not filled: {line}"));
            }
        }
        found.extend(faults.into_iter().map(|fault| format!("{}, without {what}: {fault}", case.name)));
    }
    found
}

#[test]
fn a_part_of_a_log_claims_no_more_than_it_shows() {
    let packs = Packs::built_in();
    let found: Vec<String> = crate::case::all().par_iter().flat_map(|case| examine(case, &packs)).collect();
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
}
