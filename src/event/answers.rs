//! Answers that one thread got for another: which rule each text belongs to, and where its captures stand.

use super::asker::Answer;
use crate::catalog::{Found, Matcher, Spans};

/// Answers for the first texts of a list, in its order.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// For each text the number of its rule, or one of the signs below.
    rules: Vec<u16>,
    /// For each text that has a rule.
    found: Vec<Place>,
    spans: Vec<(u32, u32)>,
}

/// What is no text, or means nothing that one could tell from it alone.
const MAYBE: u16 = u16::MAX;
/// Matchers have fewer rules than that.
const SILENT: u16 = u16::MAX - 1;

/// Where the part ends that a rule explains, and where the rest begins.
#[derive(Debug, Clone, Copy)]
struct Place {
    end: u32,
    tail: u32,
}

/// How far a list of answers was read.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    found: usize,
    spans: usize,
}

impl Answers {
    pub(super) fn clear(&mut self) {
        self.rules.clear();
        self.found.clear();
        self.spans.clear();
    }

    /// How many answers there are.
    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    /// Skips what is no text.
    pub(super) fn skip(&mut self) {
        self.rules.push(MAYBE);
    }

    /// Keeps the answer about the next text.
    #[inline(always)]
    pub(super) fn put(&mut self, text: &[u8], answer: Answer<'_, '_>, spans: &Spans) {
        let number = match answer {
            Answer::Silent => SILENT,
            Answer::Maybe => MAYBE,
            Answer::Rule(found) => self.keep(text, &found, spans),
        };
        self.rules.push(number);
    }

    #[inline(never)]
    fn keep(&mut self, text: &[u8], found: &Found<'_, '_>, spans: &Spans) -> u16 {
        // Texts are cut far below 4 GiB.
        let tail = (text.len() - found.tail.len()) as u32;
        self.found.push(Place { end: found.text.len() as u32, tail });
        self.spans.extend_from_slice(spans.first(found.rule.capture_count()));
        found.rule.number() as u16
    }

    /// How many texts from `number` on are silent.
    pub(super) fn silent_from(&self, number: usize) -> usize {
        let rest = self.rules.get(number..).unwrap_or_default();
        rest.iter().take_while(|rule| **rule == SILENT).count()
    }

    /// The answer for text `number`; those before it were read with the same cursor, silent ones aside. None when nobody
    /// asked.
    #[inline(always)]
    pub(super) fn next<'p, 't>(
        &self,
        number: usize,
        cursor: &mut Cursor,
        matcher: &'p Matcher,
        text: &'t [u8],
        spans: &mut Spans,
    ) -> Option<Answer<'p, 't>> {
        let rule = *self.rules.get(number)?;
        if rule == SILENT {
            return Some(Answer::Silent);
        }
        let Some(rule) = matcher.rules().get(usize::from(rule)) else { return Some(Answer::Maybe) };
        let place = self.found.get(cursor.found)?;
        let count = rule.capture_count();
        spans.take_over(self.spans.get(cursor.spans..cursor.spans + count)?);
        cursor.found += 1;
        cursor.spans += count;
        let (text, tail) = (text.get(..place.end as usize)?, text.get(place.tail as usize..)?);
        Some(Answer::Rule(Found { rule, text, tail }))
    }
}
