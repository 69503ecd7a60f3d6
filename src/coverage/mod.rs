//! How much of a log the packs know. A log becomes counts, and its unknown lines become shapes that can be counted.
//!
//! The classifier decides what is understood, so the counts are those of a report.

mod shape;

pub use shape::shape;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::Packs;
use crate::event::{Classifier, Event, EventSink};
use crate::input::{Bar, InputError, Place, ReadOptions, Segment, Sink, Source, read};
use crate::text::cut_chars;

/// Shapes that are kept; a log of nothing but different lines has no commonest one.
const MOST_SHAPES: usize = 200_000;
/// Letters of a shape.
const LONGEST: usize = 240;

/// Counts of a log.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Coverage {
    pub log: String,
    /// Texts looked at: lines, and parts of lines.
    pub texts: u64,
    pub understood: u64,
    /// Known to say nothing; part of `understood`.
    pub noise: u64,
    /// Progress bars; they are no texts.
    pub bars: u64,
}

impl Coverage {
    /// All logs together.
    pub fn total(logs: &[Self]) -> Self {
        logs.iter().fold(Self::default(), |sum, log| Self {
            log: String::new(),
            texts: sum.texts + log.texts,
            understood: sum.understood + log.understood,
            noise: sum.noise + log.noise,
            bars: sum.bars + log.bars,
        })
    }
}

/// An unknown line with what varies taken out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnknownShape {
    pub shape: String,
    pub times: u64,
    pub first_log: String,
    /// Line of the log, from 1.
    pub first_line: u64,
    /// The line itself, cut.
    pub example: String,
}

/// Unknown shapes of several logs.
#[derive(Debug, Default)]
pub struct Shapes {
    counted: HashMap<String, UnknownShape>,
}

impl Shapes {
    /// The commonest, most first; equal ones in the order of their letters.
    pub fn commonest(&self, top: usize) -> Vec<UnknownShape> {
        let mut all: Vec<UnknownShape> = self.counted.values().cloned().collect();
        all.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.shape.cmp(&b.shape)));
        all.truncate(top);
        all
    }

    fn add(&mut self, log: &str, line: u64, text: &str) {
        let shape = cut_chars(&shape(text), LONGEST);
        if let Some(known) = self.counted.get_mut(&shape) {
            known.times += 1;
        } else if self.counted.len() < MOST_SHAPES {
            let unknown = UnknownShape {
                shape: shape.clone(),
                times: 1,
                first_log: log.to_owned(),
                first_line: line,
                example: cut_chars(text, LONGEST),
            };
            self.counted.insert(shape, unknown);
        }
    }
}

/// Reads a log and counts what the packs know of it; unknown lines go to `shapes`.
pub fn cover(name: &str, source: Source<'_>, packs: &Packs, shapes: &mut Shapes) -> Result<Coverage, InputError> {
    let mut counter = Counter { classifier: Classifier::new(packs, Nothing), name, shapes };
    read(source, &mut counter, &ReadOptions::default())?;
    let tally = counter.classifier.tally();
    Ok(Coverage {
        log: name.to_owned(),
        texts: tally.texts,
        understood: tally.understood,
        noise: tally.noise,
        bars: tally.bars,
    })
}

struct Counter<'a, 'p> {
    classifier: Classifier<'p, Nothing>,
    name: &'a str,
    shapes: &'a mut Shapes,
}

impl Sink for Counter<'_, '_> {
    fn segment(&mut self, segment: &Segment<'_>) {
        let before = self.classifier.tally();
        self.classifier.segment(segment);
        let after = self.classifier.tally();
        let unknown = (after.texts - before.texts) > (after.understood - before.understood);
        if unknown {
            let line = segment.place.line;
            self.shapes.add(self.name, line, &String::from_utf8_lossy(segment.text));
        }
    }

    fn bar(&mut self, place: Place, bar: Bar) {
        self.classifier.bar(place, bar);
    }
}

/// Only the counts matter here.
struct Nothing;

impl EventSink for Nothing {
    fn event(&mut self, _: &Event<'_>) {}
}
