//! Lines of a log for a page: all of a short log, of a long one those that matter with what stands around them.

use std::collections::BTreeSet;

use super::redaction::Open;
use super::report::{EvidenceReport, Report};
use crate::input::{self, Bar, InputError, Place, ReadOptions, Segment, Sink};
use crate::redact::Redactor;
use crate::text::cut_chars;

/// Lines of a log that is shown whole.
const WHOLE: u64 = 400;
/// Lines of a longer log that are shown.
const LIMIT: usize = 600;
/// Lines around a piece of evidence, and around anything else.
const AROUND_EVIDENCE: u64 = 3;
const AROUND: u64 = 1;
/// Letters of a line.
const LETTERS: usize = 240;

/// A line as a page shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PageLine {
    pub line: u64,
    /// Time stamp that stood before the text.
    pub stamp: Option<String>,
    pub text: String,
    /// The last frame of a progress bar, in place of a text.
    pub bar: Option<Bar>,
}

/// Reads the lines that the page of this report shows.
///
/// # Errors
/// What the input layer says: missing, unreadable, empty, a folder.
pub fn page_lines(
    open: &Open<'_>,
    report: &Report,
    redactor: Option<&mut Redactor>,
) -> Result<Vec<PageLine>, InputError> {
    let wanted = if report.fitness.lines <= WHOLE { None } else { Some(wanted(report)) };
    let mut sink = Collect { wanted, redactor, out: Vec::new() };
    if let Some(redactor) = &mut sink.redactor {
        redactor.begin();
    }
    input::read(open()?, &mut sink, &ReadOptions::default())?;
    Ok(sink.out)
}

/// The most telling lines first, until there are enough.
fn wanted(report: &Report) -> BTreeSet<u64> {
    let mut lines = BTreeSet::new();
    let mut add = |line: u64, around: u64| {
        if lines.len() < LIMIT {
            lines.extend(line.saturating_sub(around).max(1)..=line + around);
        }
    };
    let primary = report.findings.iter().filter(|finding| finding.id == report.verdict.primary);
    for one in primary.flat_map(|finding| finding.evidence.iter().chain(&finding.against)) {
        around_evidence(one, &mut add);
    }
    for one in report.findings.iter().flat_map(|finding| finding.evidence.iter().chain(&finding.against)) {
        around_evidence(one, &mut add);
    }
    for one in report.ruled_out.iter().flat_map(|out| &out.evidence) {
        add(one.at.line, AROUND);
    }
    for line in report.findings.iter().flat_map(|finding| &finding.figures).flat_map(|figure| &figure.lines) {
        add(*line, AROUND);
    }
    for session in &report.sessions {
        let failures = session.ooms.iter().map(|oom| oom.at.line);
        let failures = failures.chain(session.exceptions.iter().map(|one| one.at.line));
        failures.for_each(|line| add(line, AROUND_EVIDENCE));
        session.facts.values().for_each(|fact| add(fact.at.line, 0));
        session.custom_nodes.iter().for_each(|node| add(node.at.line, 0));
    }
    // Of what there are many, the first and the latest ones stand for the rest.
    for session in &report.sessions {
        let points = session.leaks.values().flat_map(|leak| &leak.curve).map(|point| point.line);
        points.for_each(|line| add(line, 0));
        session.marks.iter().for_each(|mark| add(mark.line, 0));
        session.timeline.iter().for_each(|prompt| add(prompt.last_line, 0));
    }
    lines
}

/// A long range is shown by its ends.
fn around_evidence(evidence: &EvidenceReport, add: &mut impl FnMut(u64, u64)) {
    add(evidence.at.line, AROUND_EVIDENCE);
    if let Some(last) = evidence.at.last_line {
        add(last, AROUND_EVIDENCE);
    }
}

struct Collect<'c> {
    /// None takes every line.
    wanted: Option<BTreeSet<u64>>,
    redactor: Option<&'c mut Redactor>,
    out: Vec<PageLine>,
}

impl Collect<'_> {
    fn wants(&self, line: u64) -> bool {
        self.out.len() < LIMIT * 2 && self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&line))
    }
}

impl Sink for Collect<'_> {
    fn segment(&mut self, segment: &Segment<'_>) {
        let wants = self.wants(segment.place.line);
        // What is private may be told by a line before, so the redactor sees every one.
        let text = match &mut self.redactor {
            Some(redactor) => redactor.line(&String::from_utf8_lossy(segment.text)),
            None if wants => String::from_utf8_lossy(segment.text).into_owned(),
            None => return,
        };
        if wants {
            let stamp = segment.stamp.map(|stamp| cut_chars(&String::from_utf8_lossy(stamp), 40));
            let indent = " ".repeat(segment.indent.min(16) as usize);
            let text = format!("{indent}{}", cut_chars(&text, LETTERS));
            self.out.push(PageLine { line: segment.place.line, stamp, text, bar: None });
        }
    }

    fn bar(&mut self, place: Place, bar: Bar) {
        if self.wants(place.line) {
            self.out.push(PageLine { line: place.line, stamp: None, text: String::new(), bar: Some(bar) });
        }
    }
}
