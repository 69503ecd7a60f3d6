//! Short texts that were looked up before, with what was found: a server says the same few things again and again.
//!
//! A text either is the same to the last byte or is not in here, so that nothing depends on what was remembered.

use super::worth::Worth;
use crate::catalog::{Found, Matcher, Spans};
use crate::eight::{begins_with, hash};

/// Longest text that is remembered, in bytes; most that come again are shorter.
const LONGEST: usize = 64;
/// Captures of a rule whose texts are remembered: what has more of them hardly comes again.
const CAPTURES: usize = 2;
/// Texts that are remembered, each in the place that its hash gives.
const PLACES: usize = 256;
/// In one of so many cases the answer must have been known.
const WORTH: u32 = 8;
/// Stands for a capture that took no part.
const ABSENT: u8 = u8::MAX;

/// The texts, and how well they serve.
pub(super) struct Memo {
    entries: Vec<Entry>,
    worth: Worth,
}

#[derive(Clone)]
struct Entry {
    text: [u8; LONGEST],
    length: u8,
    end: u8,
    tail: u8,
    spans: [(u8, u8); CAPTURES],
    rule: u16,
}

/// What is remembered of a text.
pub(super) enum Memory<'p, 't> {
    Known(Found<'p, 't>),
    /// Nothing; here it may be put.
    Unknown(usize),
    /// Nothing, and it is not to be remembered.
    Passed,
}

impl Memo {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), worth: Worth::one_in(WORTH) }
    }

    /// What was found for `text`, with the captures written to `spans`.
    #[inline]
    pub(super) fn find<'p, 't>(&mut self, matcher: &'p Matcher, text: &'t [u8], spans: &mut Spans) -> Memory<'p, 't> {
        if !(1..=LONGEST).contains(&text.len()) || !self.worth.asks() {
            return Memory::Passed;
        }
        let place = hash(text) as usize % PLACES;
        let Some(entry) = self.entries.get(place) else { return Memory::Unknown(place) };
        if usize::from(entry.length) != text.len() || !begins_with(&entry.text, text) {
            return Memory::Unknown(place);
        }
        let (end, tail) = (text.get(..entry.end.into()), text.get(entry.tail.into()..));
        let (Some(rule), Some(end), Some(tail)) = (matcher.rules().get(usize::from(entry.rule)), end, tail) else {
            return Memory::Unknown(place);
        };
        self.worth.was_worth_it();
        for (slot, (from, to)) in entry.spans.iter().take(rule.capture_count()).enumerate() {
            if *from == ABSENT { spans.unset(slot) } else { spans.set(slot, (*from).into(), (*to).into()) }
        }
        Memory::Known(Found { rule, text: end, tail })
    }

    /// Remembers what was found for `text`, if it is one of few words; `place` is what [`Memo::find`] said.
    pub(super) fn put(&mut self, place: usize, text: &[u8], found: &Found<'_, '_>, spans: &Spans) {
        let count = found.rule.capture_count();
        let byte = |number: usize| u8::try_from(number).ok();
        let lengths = (byte(text.len()), byte(found.text.len()), byte(text.len() - found.tail.len()));
        let (Some(length), Some(end), Some(tail)) = lengths else { return };
        let Ok(rule) = u16::try_from(found.rule.number()) else { return };
        if count > CAPTURES {
            return;
        }
        if self.entries.is_empty() {
            let free =
                Entry { text: [0; LONGEST], length: 0, end: 0, tail: 0, spans: [(ABSENT, 0); CAPTURES], rule: 0 };
            self.entries = vec![free; PLACES];
        }
        let Some(entry) = self.entries.get_mut(place) else { return };
        let Some(to) = entry.text.get_mut(..text.len()) else { return };
        to.copy_from_slice(text);
        (entry.length, entry.end, entry.tail, entry.rule) = (length, end, tail, rule);
        for (kept, (from, to)) in entry.spans.iter_mut().zip(spans.first(count)) {
            *kept = byte(*from as usize).zip(byte(*to as usize)).unwrap_or((ABSENT, 0));
        }
    }
}
