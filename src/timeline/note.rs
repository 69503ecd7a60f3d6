//! A line that may become evidence, in buffers that are used again.
//!
//! Most lines that are remembered as "the last one" are replaced by the next; making each of them [`Evidence`]
//! cost a quarter of the time on a log in which every line means something.

use super::evidence::{Evidence, STAMP_BYTES, TEXT_BYTES, TEXT_LIMIT, beginning};
use crate::event::At;
use crate::input::Place;
use crate::text::cut_chars;

/// A line as it stood.
#[derive(Debug, Clone, Default)]
pub(crate) struct Note {
    pub(crate) place: Place,
    pub(crate) last_line: Option<u64>,
    text: Vec<u8>,
    rule: String,
    stamp: Option<Vec<u8>>,
}

impl Note {
    pub(crate) fn of(at: &At<'_>) -> Self {
        let mut note = Self::default();
        note.set(at);
        note
    }

    /// Puts another line in its place.
    pub(crate) fn set(&mut self, at: &At<'_>) {
        self.place = at.place;
        self.last_line = None;
        self.text.clear();
        self.text.extend_from_slice(beginning(at.text, TEXT_BYTES));
        if !(self.rule.is_empty() && at.rule.is_empty()) {
            self.rule.clear();
            self.rule.push_str(at.rule);
        }
        match (&mut self.stamp, at.stamp.map(|stamp| beginning(stamp, STAMP_BYTES))) {
            (Some(kept), Some(stamp)) => {
                kept.clear();
                kept.extend_from_slice(stamp);
            }
            (kept, stamp) => *kept = stamp.map(<[u8]>::to_vec),
        }
    }

    /// The line as it was when it was read; another one followed.
    pub(crate) fn at(&self) -> At<'_> {
        At {
            place: self.place,
            text: &self.text,
            rule: &self.rule,
            stamp: self.stamp.as_deref(),
            level: None,
            cut: false,
            glued: false,
        }
    }

    pub(crate) fn into_evidence(self) -> Evidence {
        Evidence {
            place: self.place,
            last_line: self.last_line,
            text: cut_chars(&String::from_utf8_lossy(&self.text), TEXT_LIMIT),
            rule: self.rule,
            stamp: self.stamp.map(|stamp| String::from_utf8_lossy(&stamp).into_owned()),
        }
    }

    /// As evidence with a text of at most `bytes` and `chars`.
    pub(crate) fn into_short_evidence(mut self, bytes: usize, chars: usize) -> Evidence {
        self.text.truncate(bytes);
        let mut evidence = self.into_evidence();
        evidence.text = cut_chars(&evidence.text, chars);
        evidence
    }
}

/// Remembers `at` in `slot`, in place of what stood there.
pub(crate) fn overwrite(slot: &mut Option<Note>, at: &At<'_>) {
    match slot {
        Some(note) => note.set(at),
        None => *slot = Some(Note::of(at)),
    }
}
