//! A console that prints every line twice, since two log handlers are attached: each line is told once.
//!
//! Repeated lines are usual, so that only a long run of pairs shows it: many texts, each twice in a row and never alone.
//! From the first pair of a run on, the story is told in both ways, until it is known which one is right.

use super::Timeline;
use super::fold::Fold;
use crate::event::{At, Event, EventSink, What};

/// Pairs in a row, and of how many rules, that show it.
const PAIRS: usize = 8;
const RULES: usize = 5;
/// Lines that came alone in a row, after which the console is no longer doubled.
const SINGLES: usize = 12;
/// How often a run may begin; a log in which many lines repeat is none.
const ATTEMPTS: usize = 12;
/// Handlers are attached while a server starts or soon after: of each start so many lines are looked at.
const LOOKED_AT: u32 = 1024;
/// Lines from one to its twin: an empty one may stand between.
const APART: u64 = 2;

/// Tells a [`Fold`] each line of a doubled console once.
#[derive(Debug)]
pub struct Once {
    fold: Fold,
    /// The same story without the second line of each pair, while that is not settled.
    other: Option<Box<Fold>>,
    /// Where the pairs began that are left out.
    doubled: bool,
    from: Option<u64>,
    attempts: usize,
    last: Line,
    pairs: usize,
    rules: Vec<usize>,
    began: u64,
    singles: usize,
    /// Lines that are still looked at.
    left: u32,
}

/// A line that a rule knows.
#[derive(Debug, Default)]
struct Line {
    line: u64,
    entry: u32,
    mark: Mark,
    /// It repeats the one before it.
    is_twin: bool,
}

/// By what a line is known again: its rule, and how its text begins and ends. To copy each line would cost more than this
/// question is worth, and a doubled console shows in many pairs, not in one.
#[derive(Debug, Default, PartialEq, Clone, Copy)]
struct Mark {
    rule: usize,
    length: usize,
    begin: u128,
    end: u128,
}

impl Mark {
    #[inline]
    fn of(rule: usize, text: &[u8]) -> Self {
        let length = text.len();
        match (text.first_chunk(), text.last_chunk()) {
            (Some(begin), Some(end)) => {
                Self { rule, length, begin: u128::from_le_bytes(*begin), end: u128::from_le_bytes(*end) }
            }
            _ => Self { rule, length, begin: text.iter().fold(0, |all, byte| all << 8 | u128::from(*byte)), end: 0 },
        }
    }
}

impl Once {
    pub fn new(fold: Fold) -> Self {
        let (other, from) = (None, None);
        let (last, rules) = (Line::default(), Vec::new());
        let left = LOOKED_AT;
        Self { fold, other, doubled: false, from, attempts: 0, last, pairs: 0, rules, began: 0, singles: 0, left }
    }

    /// The story up to now; the fold is used up.
    pub fn finish(self) -> Timeline {
        let mut timeline = self.fold.finish();
        timeline.doubled_from = self.from;
        timeline
    }

    /// Whether the event belongs to a line that repeats the one before it.
    #[inline]
    fn is_twin(&mut self, event: &Event<'_>) -> bool {
        let At { place, text, .. } = event.at;
        let same_line = place.line == self.last.line && place.entry == self.last.entry;
        // The lines of a record stand together, then all of them again.
        let in_record = matches!(
            event.what,
            What::TracebackStart { .. } | What::TracebackFrame { .. } | What::ExceptionLine { .. }
        );
        let Some(rule) = event.rule.filter(|_| !same_line && !in_record) else {
            return same_line && self.last.is_twin;
        };
        let near = place.line <= self.last.line + APART && place.entry <= self.last.entry + 1;
        let mark = Mark::of(rule.number(), text);
        let twin = near && !self.last.is_twin && self.last.mark == mark;
        if twin {
            self.pair(mark.rule, self.last.line);
        } else if !self.last.is_twin {
            self.single();
        }
        self.last = Line { line: place.line, entry: place.entry, mark, is_twin: twin };
        twin
    }

    #[inline(never)]
    fn pair(&mut self, rule: usize, line: u64) {
        self.singles = 0;
        if self.doubled {
            return;
        }
        if self.pairs == 0 && self.attempts < ATTEMPTS {
            self.attempts += 1;
            self.began = line;
            self.other = Some(Box::new(self.fold.clone()));
        }
        self.pairs += 1;
        if self.rules.len() < RULES && !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
        if self.pairs >= PAIRS
            && self.rules.len() >= RULES
            && let Some(other) = self.other.take()
        {
            self.fold = *other;
            self.doubled = true;
            self.from.get_or_insert(self.began);
        }
    }

    #[inline]
    fn single(&mut self) {
        self.singles += 1;
        let begun = self.pairs > 0 || self.doubled;
        self.left = self.left.saturating_sub(u32::from(!begun));
        if !begun || (self.doubled && self.singles < SINGLES) {
            return;
        }
        self.no_more();
    }

    #[inline(never)]
    fn no_more(&mut self) {
        self.doubled = false;
        self.pairs = 0;
        self.rules.clear();
        self.other = None;
    }
}

impl EventSink for Once {
    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        if self.left == 0 {
            if event.rule.is_none_or(|rule| rule.mark.is_none()) {
                return self.fold.event(event);
            }
            self.left = LOOKED_AT;
        }
        let twin = self.is_twin(event);
        if !twin && let Some(other) = &mut self.other {
            other.event(event);
        }
        if !(twin && self.doubled) {
            self.fold.event(event);
        }
    }

    fn unknown(&mut self, at: &At<'_>) {
        if let Some(other) = &mut self.other {
            other.unknown(at);
        }
        self.fold.unknown(at);
    }

    fn silence(&mut self, count: u64, first: u64, last: u64) {
        if let Some(other) = &mut self.other {
            other.silence(count, first, last);
        }
        self.fold.silence(count, first, last);
    }
}
