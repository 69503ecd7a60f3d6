//! Where the time of prompts went, as far as the log tells it: bars with their seconds, and silences between stamps.

use serde::Serialize;

use super::clock::Clock;
use super::evidence::Evidence;
use super::note::Note;
use crate::event::At;
use crate::input::{Bar, Place};

/// Silences of a session that are kept, longest first.
const KEPT: usize = 3;
/// Bars of a prompt that are kept; the latest ones.
const BARS_KEPT: usize = 12;
/// Seconds from which on a silence is one.
const SILENT: f64 = 5.0;

/// A bar of steps, by its last frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Steps {
    pub done: u64,
    pub total: u64,
    pub per_step: Option<f64>,
    /// Seconds before the first step was counted, where a frame shows them.
    pub before_first: Option<f64>,
    pub line: u64,
}

impl Steps {
    fn of(bar: &Bar, place: Place) -> Self {
        let before_first = if bar.done == 0 { bar.elapsed } else { bar.before_first };
        Self { done: bar.done, total: bar.total, per_step: bar.seconds_per_step, before_first, line: place.line }
    }

    /// Seconds of the steps that were done.
    pub fn seconds(&self) -> Option<f64> {
        Some(self.per_step? * self.done as f64)
    }

    /// A later frame of the same bar.
    fn goes_on(&self, bar: &Bar) -> bool {
        self.total == bar.total && bar.done >= self.done && self.done < self.total
    }
}

/// Adds a frame to the bars of a prompt.
pub(crate) fn add_bar(bars: &mut Vec<Steps>, bar: &Bar, place: Place) {
    let mut steps = Steps::of(bar, place);
    match bars.last_mut() {
        Some(last) if last.goes_on(bar) => {
            steps.before_first = steps.before_first.or(last.before_first);
            *last = steps;
        }
        _ => {
            if bars.len() == BARS_KEPT {
                bars.remove(0);
            }
            bars.push(steps);
        }
    }
}

/// Time that passed between two stamped lines of a prompt without a word and without a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Silence {
    pub from: Evidence,
    pub to: Evidence,
    pub seconds: f64,
    pub prompt: u64,
}

/// Looks for silences while a session is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pace {
    clock: Clock,
    last: Option<(f64, Note)>,
    /// A bar moved since the last stamped line.
    stepped: bool,
    /// A prompt ran at the last stamped line.
    working: bool,
    longest: Vec<Silence>,
}

impl Pace {
    /// A line; `prompt` is the one that runs now.
    pub(crate) fn line(&mut self, at: &At<'_>, prompt: u64) {
        let Some(now) = self.clock.tell(at.stamp) else { return };
        let silent = match &self.last {
            Some((before, note)) if self.working && !self.stepped && now - before >= SILENT => {
                Some((now - before, note))
            }
            _ => None,
        };
        if let Some((seconds, note)) = silent {
            let shortest = self.longest.last().map_or(0.0, |silence| silence.seconds);
            if self.longest.len() < KEPT || seconds > shortest {
                let silence = Silence { from: note.clone().into_evidence(), to: Evidence::of(at), seconds, prompt };
                self.longest.push(silence);
                self.longest.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
                self.longest.truncate(KEPT);
            }
        }
        match &mut self.last {
            Some((before, note)) => {
                *before = now;
                note.set(at);
            }
            None => self.last = Some((now, Note::of(at))),
        }
        self.stepped = false;
    }

    /// A bar moved.
    pub(crate) fn step(&mut self) {
        self.stepped = true;
    }

    /// Whether a prompt runs behind the line that was told last.
    pub(crate) fn work(&mut self, working: bool) {
        self.working = working;
    }

    pub(crate) fn into_silences(self) -> Vec<Silence> {
        self.longest
    }
}
