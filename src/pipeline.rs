//! The one way from bytes to a timeline: bytes → lines → events → timeline.
//!
//! Every command reads a log through a [`Pipeline`], so that all of them see the same: prefixes, broken lines, consoles
//! that print each line twice. The parts are private to it.

use crate::catalog::Packs;
use crate::event::{Classifier, Tally};
use crate::input::{Bar, InputError, Intake, Place, ReadOptions, Reader, Segment, Sink, Source, SourceEnd};
use crate::redact::Redactor;
use crate::timeline::{DuplicateLineFilter, Fold, Timeline};

/// How a log is read.
#[derive(Debug, Default)]
pub struct PipelineOptions<'r> {
    /// Takes what is private out of each line before anything is concluded from it; it must know the log already.
    pub redactor: Option<&'r mut Redactor>,
    /// How large the pieces are in which a source is read.
    pub read: ReadOptions,
}

/// A log that was read: its timeline, and how far it was understood.
#[derive(Debug, Clone)]
pub struct Read {
    pub timeline: Timeline,
    pub tally: Tally,
    pub intake: Intake,
}

impl Read {
    /// The same log, of which the reading ended before its end because of `error`.
    #[must_use]
    pub fn ended_by(mut self, error: Option<String>) -> Self {
        if error.is_some() {
            self.timeline.break_off();
        }
        self.intake.truncated_by_error = error;
        self
    }
}

/// A log that is being read.
pub struct Pipeline<'p, 'r> {
    reader: Reader,
    classifier: Classifier<'p, DuplicateLineFilter>,
    redactor: Option<&'r mut Redactor>,
    read: ReadOptions,
    /// The last byte was a line's end, or there is none yet.
    at_line_start: bool,
}

impl std::fmt::Debug for Pipeline<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline").field("reader", &self.reader).finish_non_exhaustive()
    }
}

impl<'p, 'r> Pipeline<'p, 'r> {
    /// A log of which nothing was read yet.
    #[must_use]
    pub fn new(packs: &'p Packs, options: PipelineOptions<'r>) -> Self {
        let PipelineOptions { mut redactor, read } = options;
        if let Some(redactor) = &mut redactor {
            redactor.begin();
        }
        let classifier = Classifier::new(packs, DuplicateLineFilter::new(Fold::new(packs)));
        Self { reader: Reader::new(), classifier, redactor, read, at_line_start: true }
    }

    /// The same, where nothing private reaches the timeline; `redactor` must know the log already.
    #[must_use]
    pub fn redacting(packs: &'p Packs, redactor: &'r mut Redactor) -> Self {
        Self::new(packs, PipelineOptions { redactor: Some(redactor), ..PipelineOptions::default() })
    }

    /// Takes the next bytes, however they are cut.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        self.at_line_start = matches!(last, b'\n' | b'\r');
        match &mut self.redactor {
            None => self.reader.feed(bytes, &mut self.classifier),
            Some(redactor) => {
                self.reader.feed(bytes, &mut Redacting { inner: &mut self.classifier, redactor });
            }
        }
    }

    /// What follows does not go on with the last line: another file, or a truncated one.
    pub fn break_line(&mut self) {
        if !self.at_line_start {
            self.feed(b"\n");
        }
    }

    /// Nothing came for a while: a message that may go on in the next line is taken for complete.
    pub fn settle(&mut self) {
        match &mut self.redactor {
            None => self.reader.settle(&mut self.classifier),
            Some(redactor) => self.reader.settle(&mut Redacting { inner: &mut self.classifier, redactor }),
        }
    }

    /// Bytes taken.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// Texts and bars taken so far; the number changes with every line.
    #[must_use]
    pub fn texts(&self) -> u64 {
        let tally = self.classifier.tally();
        tally.texts + tally.bars
    }

    /// The timeline up to now. A line that is not finished is not in it.
    #[must_use]
    pub fn snapshot(&self) -> Read {
        let intake = Intake { bytes: self.reader.bytes(), encoding: "utf-8", newline: "none", ..Intake::default() };
        Read { timeline: self.classifier.sink().clone().finish(), tally: self.classifier.tally(), intake }
    }

    /// The whole timeline.
    #[must_use]
    pub fn finish(self) -> Read {
        self.conclude(SourceEnd::default())
    }

    /// Reads a source to its end.
    ///
    /// # Errors
    /// When there was nothing to read.
    pub fn read(mut self, source: Source<'_>) -> Result<Read, InputError> {
        let options = self.read.clone();
        self.reader.allow(source.bounds);
        let end = source.blocks(&options, |block| self.feed(block))?;
        Ok(self.conclude(end))
    }

    fn conclude(self, end: SourceEnd) -> Read {
        let Self { reader, mut classifier, mut redactor, .. } = self;
        let mut intake = match &mut redactor {
            None => reader.finish(&mut classifier),
            Some(redactor) => reader.finish(&mut Redacting { inner: &mut classifier, redactor }),
        };
        end.tell(&mut intake);
        if let Some(redactor) = redactor {
            intake.sample = intake.sample.iter().map(|line| redactor.line(line)).collect();
            intake.truncated_by_error = intake.truncated_by_error.map(|error| redactor.line(&error));
        }
        let (filter, tally) = classifier.into_parts();
        let error = intake.truncated_by_error.take();
        Read { timeline: filter.finish(), tally, intake }.ended_by(error)
    }
}

/// Hands on lines without what is private.
struct Redacting<'s, S> {
    inner: &'s mut S,
    redactor: &'s mut Redactor,
}

impl<S: Sink> Sink for Redacting<'_, S> {
    fn segment(&mut self, segment: &Segment<'_>) {
        let text = String::from_utf8_lossy(segment.text);
        let redacted = self.redactor.line(&text);
        self.inner.segment(&Segment { text: redacted.as_bytes(), ..*segment });
    }

    fn bar(&mut self, place: Place, bar: Bar) {
        self.inner.bar(place, bar);
    }
}
