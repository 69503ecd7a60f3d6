//! What the search is asked, what it is told, and what it answers.

use super::set::UnitSet;

/// What is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Number of units; they are called `0..units`. With all of them on, the symptom was seen.
    pub units: usize,
    /// Units that must be on in every round.
    pub keep: UnitSet,
    /// How surely it shows in a run of a set that has it.
    pub steadiness: Steadiness,
    /// Quiet runs that a set needs at least before it counts as quiet; 1 or more.
    pub runs: u32,
}

/// What is known beforehand of how surely the symptom shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steadiness {
    /// It shows in every run by its nature, as a failed import does.
    Certain,
    /// It is taken to show in every run, until a round says otherwise.
    Steady,
    /// The first log is too short to tell: one more run with everything on is asked for.
    Unsettled,
    /// It comes and goes.
    ByChance,
}

/// What a round showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// The symptom.
    Bad,
    /// No symptom, although everything ran.
    Good,
    /// The work could not run with this set on.
    CannotRun {
        /// Units that are known to be missing.
        keep: UnitSet,
    },
    /// The round does not count; the same set is asked for again.
    Void,
    /// The user cannot test this set.
    Skip,
}

/// A round that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// Units that were on.
    pub on: UnitSet,
    /// What it was asked for.
    pub why: Why,
    pub seen: Seen,
    /// Units that were on and did not work for lack of another. The symptom may have shown all the same.
    pub broken: UnitSet,
}

/// Why a round is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Nothing on but what must be.
    Control,
    /// Nothing on once more, so that nobody is named for what is there without anybody.
    ControlAgain { quiet: usize },
    /// Everything on: does it show every time?
    Steadiness,
    /// A part of those that are still in question.
    Part { left: usize },
    /// The same again: one quiet run of this set is not enough.
    Again { quiet: usize },
    /// How often does a set show the symptom that is known to have it?
    Rate,
    /// What is missing so that the work can run?
    Missing,
    /// Only the culprits on: it should show.
    Only,
    /// Without one of the suspects: it should stay away.
    Without { unit: usize },
    /// All but the culprits on: it should stay away.
    Rest,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Run this; `found` is proved so far.
    Run {
        on: UnitSet,
        why: Why,
        found: Vec<Group>,
    },
    Done(Outcome),
}

/// Units that have the fault together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub units: UnitSet,
    /// They need one another, so it cannot be said which of them it is.
    pub inseparable: bool,
}

/// Why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blank {
    /// The symptom did not come back even with everything on.
    Gone,
    /// It shows too rarely to tell quiet from lucky.
    Rare,
    /// The sets that would decide were skipped.
    Skipped,
    /// The round that would decide did not count, time after time.
    Void,
    /// Even with everything on the work cannot run.
    NeverRuns,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The symptom shows with nothing on but `kept`.
    NotTheUnits { kept: UnitSet },
    /// These, each group by itself.
    Culprits {
        groups: Vec<Group>,
        /// How likely it is at most, from 0 to 1, that all this came about by chance and nobody named has it.
        doubt: f64,
    },
    /// Not to be decided; `groups` were proved before, `suspects` are still in question.
    CannotTell { why: Blank, groups: Vec<Group>, suspects: UnitSet },
}
