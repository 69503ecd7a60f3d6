//! A line kept as evidence: where it stands, its text cut to a sane length, and the rule that knew it.

use serde::Serialize;

use crate::event::At;
use crate::input::Place;
use crate::text::cut_chars;

/// Longest evidence text that is kept, in characters.
pub(crate) const TEXT_LIMIT: usize = 400;
/// Bytes that are enough for such a text, with a letter more to show that it was cut. A line may have a MiB.
pub(crate) const TEXT_BYTES: usize = TEXT_LIMIT * 4 + 8;
pub(crate) const STAMP_BYTES: usize = 64;

/// A line of the log that supports a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    pub place: Place,
    /// Last line, when the evidence is a range.
    pub last_line: Option<u64>,
    pub text: String,
    /// Id of the rule that recognised the line.
    pub rule: String,
    /// Time stamp of the line as it stood in its prefix.
    pub stamp: Option<String>,
}

impl Evidence {
    /// Copies what an event borrowed.
    pub fn of(at: &At<'_>) -> Self {
        Self {
            place: at.place,
            last_line: None,
            text: cut_chars(&String::from_utf8_lossy(beginning(at.text, TEXT_BYTES)), TEXT_LIMIT),
            rule: at.rule.to_owned(),
            stamp: at.stamp.map(|stamp| String::from_utf8_lossy(beginning(stamp, STAMP_BYTES)).into_owned()),
        }
    }

    /// The same evidence as a range up to `line`.
    pub fn through(mut self, line: u64) -> Self {
        self.last_line = (line > self.place.line).then_some(line);
        self
    }
}

pub(crate) fn beginning(text: &[u8], bytes: usize) -> &[u8] {
    text.get(..bytes).unwrap_or(text)
}

/// Something counted, with its first and last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counted {
    pub count: u64,
    pub first: Evidence,
    pub last_line: u64,
    /// Prompt (from 1) in which it was first seen.
    pub prompt: u64,
    /// Prompt in which it was last seen.
    pub last_prompt: u64,
}

impl Counted {
    pub fn new(at: &At<'_>, prompt: u64) -> Self {
        Self { count: 1, first: Evidence::of(at), last_line: at.place.line, prompt, last_prompt: prompt }
    }

    pub fn again(&mut self, at: &At<'_>, prompt: u64) {
        self.count += 1;
        self.last_line = at.place.line;
        self.last_prompt = prompt;
    }
}

/// Counts `at` in `slot`.
pub(crate) fn count(slot: &mut Option<Counted>, at: &At<'_>, prompt: u64) {
    match slot {
        Some(counted) => counted.again(at, prompt),
        None => *slot = Some(Counted::new(at, prompt)),
    }
}
