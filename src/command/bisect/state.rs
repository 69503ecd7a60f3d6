//! A session of a bisection as it lies on the disk: plain JSON that a person can read and mend.
//!
//! It holds what was found in the first log and the rounds, by the packs' names. Everything else follows from
//! them and is worked out anew each time.

use serde::{Deserialize, Serialize};

use crate::bisect::{Next, Problem, Round, Seen, Steadiness, UnitSet, Why, next};
use crate::report::bisection::{Install, Symptom};

/// Version of the file's form.
pub(super) const FORMAT: u32 = 1;

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) format: u32,
    /// Grows by one with each change, so that two programs at once are noticed.
    pub(super) revision: u64,
    /// The first log.
    pub(super) log: String,
    /// As it is typed behind `--symptom`.
    pub(super) symptom: String,
    /// Line of the first log that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) symptom_line: Option<u64>,
    /// Growth of memory per prompt beside the first log, in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) growth_mib: Option<f64>,
    /// Prompts to run in each round.
    pub(super) prompts: u64,
    /// The symptom is taken to show in every run.
    pub(super) steady: bool,
    /// The first log is too short to tell whether it does: one round with everything on is asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) unsettled: bool,
    /// Quiet runs wanted at least.
    pub(super) runs: u32,
    /// Packs that stay on.
    pub(super) keep: Vec<String>,
    pub(super) install: Install,
    pub(super) rounds: Vec<Record>,
}

/// A round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// What it was asked for.
    pub(super) why: Reason,
    /// Packs that were on.
    pub(super) on: Vec<String>,
    pub(super) seen: Mark,
    /// Packs that the round told to be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) keep: Vec<String>,
    /// Packs that did not work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) broken: Vec<String>,
    /// The symptom showed in every prompt from its first one on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) steady: Option<bool>,
    /// How the user's script ended, when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) script_status: Option<String>,
    /// What decided, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) log: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) lines: Vec<Line>,
}

/// A line of a round's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) line: u64,
    pub(super) text: String,
}

/// [`Why`] in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reason {
    Control,
    ControlAgain,
    Steadiness,
    Part,
    Again,
    Rate,
    Missing,
    Only,
    Without,
    Rest,
    /// Not asked for: the user's log showed these packs.
    AsIs,
}

/// [`Seen`] in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mark {
    Bad,
    Good,
    CannotRun,
    Void,
    Skip,
}

impl Record {
    /// Packs that were to be on: those that were, and those that were on and did not work. Files of an earlier form
    /// leave the latter out of `on`.
    pub(super) fn asked(&self) -> Vec<String> {
        let missing = self.broken.iter().filter(|dir| !self.on.contains(dir));
        self.on.iter().chain(missing).cloned().collect()
    }
}

impl Reason {
    pub(super) fn of(why: &Why) -> Self {
        match why {
            Why::Control => Self::Control,
            Why::ControlAgain { .. } => Self::ControlAgain,
            Why::Steadiness => Self::Steadiness,
            Why::Part { .. } => Self::Part,
            Why::Again { .. } => Self::Again,
            Why::Rate => Self::Rate,
            Why::Missing => Self::Missing,
            Why::Only => Self::Only,
            Why::Without { .. } => Self::Without,
            Why::Rest => Self::Rest,
        }
    }

    /// The search asks only whether a round was one of confirmation; figures are not kept.
    fn why(self) -> Why {
        match self {
            Self::Control => Why::Control,
            Self::ControlAgain => Why::ControlAgain { quiet: 0 },
            Self::Steadiness => Why::Steadiness,
            Self::Part | Self::AsIs => Why::Part { left: 0 },
            Self::Again => Why::Again { quiet: 0 },
            Self::Rate => Why::Rate,
            Self::Missing => Why::Missing,
            Self::Only => Why::Only,
            Self::Without => Why::Without { unit: 0 },
            Self::Rest => Why::Rest,
        }
    }
}

impl Mark {
    /// The end of its sentences' ids.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Good => "good",
            Self::CannotRun => "cannot-run",
            Self::Void => "void",
            Self::Skip => "skip",
        }
    }
}

impl State {
    /// The symptom; a file that somebody mended wrongly is looked at by hand.
    pub(super) fn symptom(&self) -> Symptom {
        self.symptom.parse().unwrap_or(Symptom::Manual)
    }

    /// What to do next, by all rounds so far.
    pub(super) fn next(&self) -> Next {
        let rounds: Vec<Round> = self.rounds.iter().map(|record| self.round(record)).collect();
        next(&self.problem(), &rounds)
    }

    /// Folders of a set, in the order of the list.
    pub(super) fn names(&self, set: &UnitSet) -> Vec<String> {
        set.iter().filter_map(|unit| self.install.packs.get(unit)).map(|pack| pack.dir.clone()).collect()
    }

    fn problem(&self) -> Problem {
        Problem {
            units: self.install.packs.len(),
            keep: self.set(&self.keep),
            steadiness: self.steadiness(),
            runs: self.runs,
        }
    }

    /// How surely the symptom shows, by the first log and by the round that was asked for when that was too short.
    pub(super) fn steadiness(&self) -> Steadiness {
        if matches!(self.symptom(), Symptom::Import(_)) {
            return Steadiness::Certain;
        }
        if !self.unsettled {
            return if self.steady { Steadiness::Steady } else { Steadiness::ByChance };
        }
        let asked = self.rounds.iter().rev().find(|round| round.why == Reason::Steadiness && round.seen == Mark::Bad);
        match asked.map(|round| round.steady) {
            Some(Some(true)) => Steadiness::Steady,
            Some(_) => Steadiness::ByChance,
            None => Steadiness::Unsettled,
        }
    }

    fn set(&self, names: &[String]) -> UnitSet {
        names.iter().filter_map(|name| self.install.packs.iter().position(|pack| pack.dir == *name)).collect()
    }

    fn round(&self, record: &Record) -> Round {
        let seen = match record.seen {
            Mark::Bad => Seen::Bad,
            Mark::Good => Seen::Good,
            Mark::CannotRun => Seen::CannotRun { keep: self.set(&record.keep) },
            Mark::Void => Seen::Void,
            Mark::Skip => Seen::Skip,
        };
        Round { on: self.set(&record.asked()), why: record.why.why(), seen, broken: self.set(&record.broken) }
    }
}
