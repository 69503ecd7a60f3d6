//! A console that prints every line twice, or three times, since log handlers are attached: each line is told once.
//!
//! Repeated lines are usual, so that only a long run of pairs shows it: many texts, each so often in a row and never alone.
//! From the first pair of a run on, the story is told in all ways, until it is known which one is right.

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

/// How often such a console prints each line: two handlers, or three.
const COPIES: [u32; 2] = [2, 3];

/// Tells a [`Fold`] each line of a doubled console once.
#[derive(Debug, Clone)]
pub struct DuplicateLineFilter {
    fold: Fold,
    /// The same story with one line told of each two, and of each three, while that is not settled.
    others: [Option<Box<Fold>>; 2],
    /// Lines of which one is told.
    copies: u32,
    /// Where the lines began of which only some are told, and of how many one is.
    from: Option<(u64, u32)>,
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
#[derive(Debug, Clone, Default)]
struct Line {
    line: u64,
    entry: u32,
    mark: Mark,
    /// Which one it is in a run of the same, from 1.
    run: u32,
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

impl DuplicateLineFilter {
    pub fn new(fold: Fold) -> Self {
        let (last, rules) = (Line::default(), Vec::new());
        let (others, from, left) = ([None, None], None, LOOKED_AT);
        Self { fold, others, copies: 1, from, attempts: 0, last, pairs: 0, rules, began: 0, singles: 0, left }
    }

    /// The story up to now; the fold is used up.
    pub fn finish(mut self) -> Timeline {
        self.ended();
        let mut timeline = self.fold.finish();
        timeline.doubled_from = self.from.map(|(line, _)| line);
        timeline.copies = self.from.map_or(0, |(_, copies)| copies);
        timeline
    }

    /// Which one the event's line is in a run of the same, from 1.
    #[inline]
    fn run(&mut self, event: &Event<'_>) -> u32 {
        let At { place, text, .. } = event.at;
        let same_line = place.line == self.last.line && place.entry == self.last.entry;
        // The lines of a record stand together, then all of them again.
        let in_record = matches!(
            event.what,
            What::TracebackStart { .. } | What::TracebackFrame { .. } | What::ExceptionLine { .. }
        );
        let Some(rule) = event.rule.filter(|_| !same_line && !in_record) else {
            return if same_line { self.last.run } else { 1 };
        };
        let near = place.line <= self.last.line + APART && place.entry <= self.last.entry + 1;
        let mark = Mark::of(rule.number(), text);
        let run = if near && self.last.mark == mark {
            if self.last.run == 1 {
                self.begin();
            }
            self.last.run.saturating_add(1)
        } else {
            self.ended();
            1
        };
        self.last = Line { line: place.line, entry: place.entry, mark, run };
        run
    }

    /// A line comes a second time: from here on the story is told in all ways.
    #[inline(never)]
    fn begin(&mut self) {
        let told = self.copies > 1 || self.others.iter().any(Option::is_some);
        if !told && self.attempts < ATTEMPTS {
            self.attempts += 1;
            self.began = self.last.line;
            self.others = [Some(Box::new(self.fold.clone())), Some(Box::new(self.fold.clone()))];
        }
    }

    /// The line before was the last of a run.
    #[inline]
    fn ended(&mut self) {
        match self.last.run {
            0 => {}
            1 => self.single(),
            run => self.pair(run),
        }
    }

    #[inline(never)]
    fn pair(&mut self, run: u32) {
        self.singles = 0;
        if self.copies > 1 || self.others.iter().all(Option::is_none) {
            return;
        }
        for (other, copies) in self.others.iter_mut().zip(COPIES) {
            other.take_if(|_| !run.is_multiple_of(copies));
        }
        let Some(way) = self.others.iter().position(Option::is_some) else { return self.no_more() };
        let copies = COPIES.get(way).copied().unwrap_or(1);
        self.pairs += (run / copies) as usize;
        let rule = self.last.mark.rule;
        if self.rules.len() < RULES && !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
        if self.pairs >= PAIRS
            && self.rules.len() >= RULES
            && let Some(other) = std::mem::take(&mut self.others).into_iter().flatten().next()
        {
            self.fold = *other;
            self.copies = copies;
            self.from.get_or_insert((self.began, copies));
        }
    }

    #[inline]
    fn single(&mut self) {
        self.singles += 1;
        let begun = self.copies > 1 || self.others.iter().any(Option::is_some);
        self.left = self.left.saturating_sub(u32::from(!begun));
        if !begun || (self.copies > 1 && self.singles < SINGLES) {
            return;
        }
        self.no_more();
    }

    #[inline(never)]
    fn no_more(&mut self) {
        self.copies = 1;
        self.pairs = 0;
        self.rules.clear();
        self.others = [None, None];
    }
}

impl EventSink for DuplicateLineFilter {
    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        if self.left == 0 {
            if event.rule.is_none_or(|rule| rule.mark.is_none()) {
                return self.fold.event(event);
            }
            self.left = LOOKED_AT;
        }
        let before = self.run(event) - 1;
        for (other, copies) in self.others.iter_mut().zip(COPIES) {
            if let Some(other) = other.as_mut().filter(|_| before.is_multiple_of(copies)) {
                other.event(event);
            }
        }
        if before.is_multiple_of(self.copies) {
            self.fold.event(event);
        }
    }

    fn unknown(&mut self, at: &At<'_>) {
        for other in self.others.iter_mut().flatten() {
            other.unknown(at);
        }
        self.fold.unknown(at);
    }
}
