//! The part of a log that belongs into a draft: the baseline, and the evidence with what stands around it.
//!
//! Not the whole log: thousands of equal lines help nobody. Repeats are counted, gaps are marked.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Serialize;

use crate::input::{self, Bar, InputError, Place, ReadOptions, Segment, Sink};
use crate::redact::Redactor;
use crate::report::comparison::Run;
use crate::report::redaction::Open;
use crate::text::cut_chars;

/// Lines in an excerpt.
const LIMIT: usize = 240;
/// Lines of a traceback.
const TRACEBACK: u64 = 150;
/// Lines around a piece of evidence.
const AROUND: usize = 2;
/// Letters of a line.
const LETTERS: usize = 240;
/// Node folders of the import table.
const FOLDERS: usize = 60;

/// A line of an excerpt; nothing stands for lines that were left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExcerptLine {
    pub line: u64,
    pub text: String,
    /// So many equal lines follow.
    #[serde(skip_serializing_if = "is_zero")]
    pub repeats: u64,
    /// Lines between the one before and this one were left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gap: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Places that belong into the excerpt, and whether what stands around them does.
#[must_use]
pub fn wanted(run: &Run<'_>) -> Vec<(u64, u64, bool)> {
    let mut places = Vec::new();
    let number = run.report.findings.first().map_or(1, |finding| finding.session);
    if let Some(session) = run.read.timeline.session(number) {
        places.extend(session.facts.values().map(|fact| (fact.at.place.line, fact.at.place.line, false)));
        places.extend(session.nodes.iter().take(FOLDERS).map(|node| (node.at.place.line, node.at.place.line, false)));
        let single = [&session.nodes_disabled, &session.server_ready, &session.first_got, &session.last_executed];
        places.extend(single.into_iter().flatten().map(|at| (at.place.line, at.place.line, false)));
    }
    if let Some(finding) = run.report.findings.first() {
        let session = run.read.timeline.session(finding.session);
        let cited = |line: u64| finding.evidence.iter().any(|cited| cited.at.line == line);
        let failed =
            session.into_iter().flat_map(|session| &session.exceptions).find(|raised| cited(raised.at.place.line));
        // A traceback is of use only as a whole.
        places.extend(failed.and_then(|raised| {
            let last = raised.last_line_at.as_ref()?.place.line;
            Some((raised.at.place.line, last.min(raised.at.place.line + TRACEBACK), true))
        }));
        places.extend(
            finding
                .evidence
                .iter()
                .chain(&finding.against)
                .map(|line| (line.at.line, line.at.last_line.unwrap_or(line.at.line), true)),
        );
        let figures = finding.figures.iter().flat_map(|figure| &figure.lines);
        places.extend(figures.map(|line| (*line, *line, true)));
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// Collects these lines, without what is private.
///
/// # Errors
/// What the input layer says: missing, unreadable, empty, a folder.
pub fn excerpt(
    open: &Open<'_>,
    places: &[(u64, u64, bool)],
    redactor: &mut Redactor,
) -> Result<Vec<ExcerptLine>, InputError> {
    redactor.begin();
    let mut sink = Collect { places, redactor, before: VecDeque::new(), after: 0, last: 0, out: Vec::new() };
    input::read(open()?, &mut sink, &ReadOptions::default())?;
    Ok(sink.out)
}

struct Collect<'c> {
    places: &'c [(u64, u64, bool)],
    redactor: &'c mut Redactor,
    before: VecDeque<(u64, String)>,
    after: usize,
    last: u64,
    out: Vec<ExcerptLine>,
}

impl Sink for Collect<'_> {
    fn segment(&mut self, segment: &Segment<'_>) {
        let text = self.redactor.line(&String::from_utf8_lossy(segment.text));
        let line = segment.place.line;
        let held = self
            .places
            .iter()
            .filter(|(first, last, _)| (*first..=*last).contains(&line))
            .map(|(_, _, around)| *around)
            .max();
        match held {
            Some(around) => {
                if around {
                    for (line, text) in std::mem::take(&mut self.before) {
                        self.push(line, text);
                    }
                    self.after = AROUND;
                }
                // What stood before belongs to no later line any more.
                self.before.clear();
                self.push(line, text);
            }
            None if self.after > 0 => {
                self.after -= 1;
                self.push(line, text);
            }
            None => {
                self.before.push_back((line, text));
                if self.before.len() > AROUND {
                    self.before.pop_front();
                }
            }
        }
    }

    fn bar(&mut self, _: Place, _: Bar) {}
}

impl Collect<'_> {
    fn push(&mut self, line: u64, text: String) {
        let text = cut_chars(&text, LETTERS);
        let next = line <= self.last + 1;
        self.last = line;
        if let Some(before) = self.out.last_mut()
            && before.text == text
            && next
        {
            before.repeats += 1;
            return;
        }
        let gap = !next && !self.out.is_empty();
        if self.out.len() < LIMIT {
            self.out.push(ExcerptLine { line, text, repeats: 0, gap });
        }
    }
}
