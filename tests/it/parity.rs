//! One log gives one answer, whatever command reads it and however it comes: as a file, through a pipe in odd pieces,
//! packed, watched while it grows, without what is private, and from a console that prints each line twice.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read as _, Write};
use std::path::{Path, PathBuf};

use comfy_triage::catalog::Packs;
use comfy_triage::input::Source;
use comfy_triage::pipeline::{Pipeline, PipelineOptions, Read};
use comfy_triage::report::{Question, Report, SessionReport, answer, learn, redactor};

/// Logs of all kinds: real runs, encodings, containers, healthy ones.
fn logs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut logs: Vec<PathBuf> = Vec::new();
    for folder in ["encoding", "clean", "checklist", "compare"] {
        logs.extend(fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    for case in fs::read_dir(root.join("case")).unwrap() {
        let files = fs::read_dir(case.unwrap().path()).unwrap().map(|entry| entry.unwrap().path());
        logs.extend(files.filter(|path| path.extension().is_some_and(|end| end == "log")));
    }
    logs.retain(|path| path.is_file());
    logs.sort();
    assert!(logs.len() > 100, "{} logs", logs.len());
    logs
}

/// The unpacked bytes of a log.
fn bytes(path: &Path) -> Vec<u8> {
    let packed = fs::read(path).unwrap();
    let mut bytes = Vec::new();
    match path.extension().and_then(|end| end.to_str()) {
        Some("gz") => flate2::read::MultiGzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap(),
        Some("zst") => return Vec::new(), // the program is what unpacks these
        _ => return packed,
    };
    bytes
}

fn source(bytes: &[u8]) -> Source<'static> {
    Source::from_reader("log", Cursor::new(bytes.to_vec())).unwrap()
}

fn file(packs: &Packs, bytes: &[u8]) -> Read {
    Pipeline::new(packs, PipelineOptions::default()).read(source(bytes)).unwrap()
}

/// As `watch` reads: in odd pieces, with pauses between some of them, and looked at now and then.
fn watched(packs: &Packs, bytes: &[u8]) -> Read {
    let mut pipeline = Pipeline::new(packs, PipelineOptions::default());
    let mut rest = bytes;
    for turn in 0_usize.. {
        let (now, later) = rest.split_at((turn * 31 % 997 + 1).min(rest.len()));
        pipeline.feed(now);
        if turn % 37 == 3 {
            let _ = pipeline.snapshot();
        }
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    pipeline.finish()
}

fn gzipped(packs: &Packs, bytes: &[u8]) -> Read {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    let mut read = file(packs, &encoder.finish().unwrap());
    read.intake.compression = None;
    read
}

/// As `--redact`, `checklist` and `compare --redact` read.
fn redacted(packs: &Packs, bytes: &[u8]) -> Read {
    let mut redactor = redactor(packs);
    learn(&|| Ok(source(bytes)), &mut redactor).unwrap();
    Pipeline::redacting(packs, &mut redactor).read(source(bytes)).unwrap()
}

fn report(packs: &Packs, read: &Read) -> Report {
    answer("log", read, packs, &Question::default())
}

/// What must be the same although names and paths were replaced: the verdicts, the grade, and in each session which
/// facts stand in which line, what was counted, and what failed.
fn essence(report: &Report) -> String {
    let sessions: Vec<String> = report.sessions.iter().map(session_essence).collect();
    format!(
        "{:?} {:?} {:?}\n{}\n{} {} {} {}",
        report.verdict.primary,
        report.verdict.secondary,
        report.verdict.grade,
        sessions.join("\n"),
        report.ending.kind,
        report.fitness.lines,
        report.fitness.texts,
        report.fitness.understood,
    )
}

fn session_essence(session: &SessionReport) -> String {
    let facts: Vec<_> = session.facts.iter().map(|(name, fact)| (name, fact.at.line)).collect();
    let failures: Vec<_> = session.exceptions.iter().map(|failure| (&failure.kind, failure.at.line)).collect();
    format!(
        "{}-{} {facts:?} {:?} {:?} {:?} {:?} {failures:?} {}",
        session.first_line,
        session.last_line,
        session.prompts,
        session.counts,
        session.leaks.values().collect::<Vec<_>>(),
        session.loads.values().collect::<Vec<_>>(),
        session.ooms.len(),
    )
}

/// An answer depends on nothing but these.
fn same(whole: &Read, other: &Read, name: &str) {
    assert!(whole.timeline == other.timeline, "{name}: the timeline");
    assert_eq!((whole.tally, &whole.intake), (other.tally, &other.intake), "{name}");
}

#[test]
fn every_way_in_gives_the_same_answer() {
    let packs = Packs::built_in();
    for path in logs() {
        let bytes = bytes(&path);
        if bytes.is_empty() {
            continue;
        }
        for (how, bytes) in [("", bytes.clone()), (" with each line twice", doubled(&bytes))] {
            let name = format!("{}{how}", path.display());
            let whole = file(&packs, &bytes);
            same(&whole, &watched(&packs, &bytes), &format!("{name}: watched"));
            same(&whole, &gzipped(&packs, &bytes), &format!("{name}: packed"));
            let (whole, clean) = (report(&packs, &whole), report(&packs, &redacted(&packs, &bytes)));
            assert_eq!(essence(&whole), essence(&clean), "{name}: redacted");
        }
    }
}

/// Each line twice; where lines are wide, or the file is no text, nothing is changed.
fn doubled(bytes: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(bytes) else { return bytes.to_vec() };
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.last().is_some_and(|line| !line.ends_with('\n')) {
        lines.pop();
    }
    let doubled: String = lines.iter().flat_map(|line| [*line, *line]).collect();
    if doubled.is_empty() { bytes.to_vec() } else { doubled.into_bytes() }
}

/// What must be the same of a console that prints each line twice.
fn counted(report: &Report) -> BTreeMap<String, String> {
    let mut counted = BTreeMap::new();
    counted.insert("verdict".to_owned(), format!("{:?} {:?}", report.verdict.primary, report.verdict.grade));
    for (number, session) in report.sessions.iter().enumerate() {
        let facts: Vec<_> = session.facts.iter().map(|(name, fact)| (name, &fact.value)).collect();
        let held: Vec<_> = session.leaks.iter().map(|(class, leak)| (class, leak.warning, leak.held_max)).collect();
        counted.insert(format!("facts {number}"), format!("{facts:?}"));
        counted.insert(format!("prompts {number}"), format!("{:?}", session.prompts));
        counted.insert(format!("leaks {number}"), format!("{held:?} {}", session.leak_passes));
        counted.insert(format!("loads {number}"), format!("{:?}", session.loads));
    }
    counted
}

#[test]
fn a_console_that_prints_each_line_twice_is_the_same_console() {
    let packs = Packs::built_in();
    let mut shown = 0;
    for path in logs() {
        let bytes = bytes(&path);
        let text = String::from_utf8_lossy(&bytes);
        // Tracebacks come as records: all of their lines, then all of them again.
        if bytes.is_empty() || text.contains('\r') || text.contains("Traceback") || text.starts_with(['{', '[', '"']) {
            continue;
        }
        let once = file(&packs, &bytes);
        let twice = file(&packs, &doubled(&bytes));
        // In a short log nothing shows that lines were doubled, and one that was doubled by itself may be four-fold.
        if twice.timeline.copies == 2 && once.timeline.copies != 2 {
            shown += 1;
            let (once, twice) = (report(&packs, &once), report(&packs, &twice));
            assert_eq!(counted(&once), counted(&twice), "{}", path.display());
        }
    }
    assert!(shown > 20, "{shown} consoles");
}
