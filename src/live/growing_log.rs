//! Bytes of a running log become the story up to now, and at the end the same story as of the finished file.

use crate::catalog::Packs;
use crate::event::Classifier;
use crate::input::{Intake, Reader};
use crate::report::Read;
use crate::timeline::Fold;

/// A log that is being read while it grows.
pub struct GrowingLog<'p> {
    reader: Reader,
    classifier: Classifier<'p, Fold>,
    /// The last byte was a line's end, or there is none yet.
    at_line_start: bool,
}

impl std::fmt::Debug for GrowingLog<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GrowingLog").field("reader", &self.reader).finish_non_exhaustive()
    }
}

impl<'p> GrowingLog<'p> {
    /// A log of which nothing was read yet.
    pub fn new(packs: &'p Packs) -> Self {
        Self { reader: Reader::new(), classifier: Classifier::new(packs, Fold::new(packs)), at_line_start: true }
    }

    /// Takes the next bytes, however they are cut.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.at_line_start = matches!(last, b'\n' | b'\r');
            self.reader.feed(bytes, &mut self.classifier);
        }
    }

    /// What follows is not the continuation of the last line: another file, or a truncated one.
    pub fn part(&mut self) {
        if !self.at_line_start {
            self.feed(b"\n");
        }
    }

    /// Nothing came for a while: a message that may go on in the next line is taken for complete.
    pub fn settle(&mut self) {
        self.reader.settle(&mut self.classifier);
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// Texts told so far; it changes with every line.
    pub fn texts(&self) -> u64 {
        let tally = self.classifier.tally();
        tally.texts + tally.bars
    }

    /// The story up to now. A line that is not finished is not in it.
    pub fn now(&self) -> Read {
        let intake = Intake { bytes: self.reader.bytes(), encoding: "utf-8", newline: "none", ..Intake::default() };
        Read { timeline: self.classifier.sink().clone().finish(), tally: self.classifier.tally(), intake }
    }

    /// The whole story, as of the finished log.
    pub fn finish(mut self) -> Read {
        let intake = self.reader.finish(&mut self.classifier);
        let (fold, tally) = self.classifier.into_parts();
        Read { timeline: fold.finish(), tally, intake }
    }
}
