//! The long axis of a timeline: by the log's stamps where every prompt has one, else by lines.

use super::svg::Scale;
use crate::report::{PromptReport, SessionReport};
use crate::text::number;

const DAY: f64 = 86_400.0;

/// Where a line of the log stands along the axis.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    scale: Scale,
    /// Lines with their times, both rising; empty where the axis counts lines.
    known: Vec<(f64, f64)>,
}

impl Axis {
    /// The axis of all sessions of a log.
    pub(super) fn of(sessions: &[SessionReport], last_line: u64) -> Self {
        let first = sessions.first().map_or(1, |session| session.first_line);
        let last = sessions.last().map_or(last_line, |session| session.last_line).max(last_line);
        Self::by_time(sessions)
            .unwrap_or_else(|| Self { scale: Scale::new(first as f64, last as f64), known: Vec::new() })
    }

    fn by_time(sessions: &[SessionReport]) -> Option<Self> {
        let prompts = || sessions.iter().flat_map(|session| &session.timeline);
        let stamped = |prompt: &PromptReport| prompt.ended_at.is_some() || prompt.outcome == "unfinished";
        if !prompts().all(stamped) {
            return None;
        }
        let of_prompt = |prompt: &PromptReport| {
            let begins = prompt.began_at.map(|at| (prompt.first_line as f64, at));
            let ends = prompt.ended_at.map(|at| (prompt.last_line as f64, at));
            [begins, ends]
        };
        let marks = sessions.iter().flat_map(|session| &session.marks);
        let marks = marks.filter_map(|mark| mark.seconds.map(|at| (mark.line as f64, at)));
        let mut all: Vec<(f64, f64)> = prompts().flat_map(of_prompt).flatten().chain(marks).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut known: Vec<(f64, f64)> = Vec::with_capacity(all.len());
        for (line, at) in all {
            match known.last() {
                Some((_, before)) if at < *before => {}
                Some((same, _)) if *same == line => {}
                _ => known.push((line, at)),
            }
        }
        let (from, to) = (known.first()?.1, known.last()?.1);
        (to > from && known.len() > 2).then(|| Self { scale: Scale::new(from, to), known })
    }

    pub(super) fn is_time(&self) -> bool {
        !self.known.is_empty()
    }

    /// Time of a line; between two lines with stamps it is divided evenly. The line itself where lines are counted.
    fn value(&self, line: u64) -> f64 {
        let line = line as f64;
        let next = self.known.partition_point(|(known, _)| *known < line);
        match (next.checked_sub(1).and_then(|index| self.known.get(index)), self.known.get(next)) {
            (Some((a, from)), Some((b, to))) => from + (to - from) * (line - a) / (b - a).max(1.0),
            (None, Some((_, at))) | (Some((_, at)), None) => *at,
            (None, None) => line,
        }
    }

    pub(super) fn percent(&self, line: u64) -> f64 {
        self.scale.percent(self.value(line))
    }

    pub(super) fn x(&self, line: u64) -> String {
        self.scale.at(self.value(line))
    }

    pub(super) fn width(&self, from: u64, to: u64) -> String {
        self.scale.width(self.value(from), self.value(to))
    }

    /// Round places along the axis, as attributes, with what is written there.
    pub(super) fn ticks(&self) -> Vec<(f64, String, String)> {
        let unit = match self.is_time() {
            true => self.scale.round_time(6),
            false => 1.0,
        };
        let (ticks, _) = self.scale.ticks_of(5, unit);
        let shown = |at: f64| if self.is_time() { clock(at) } else { number(at, 0) };
        ticks.into_iter().map(|at| (self.scale.percent(at), self.scale.at(at), shown(at))).collect()
    }
}

/// `13:05`, with seconds where they are not zero.
fn clock(at: f64) -> String {
    let of_day = at.rem_euclid(DAY).round() as u64;
    let (hours, minutes, seconds) = (of_day / 3600 % 24, of_day / 60 % 60, of_day % 60);
    match seconds {
        0 => format!("{hours:02}:{minutes:02}"),
        _ => format!("{hours:02}:{minutes:02}:{seconds:02}"),
    }
}
