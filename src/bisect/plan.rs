//! The whole search, told from the start at each call: control, halving, confirmation, the rest.
//!
//! The code reads as if rounds could be run on the spot. Where one is missing it stops and asks for it; with the
//! next observation it is told again and comes further. What rounds taught (units that must be on, units that
//! need others) holds for the whole telling.

use super::evidence::Evidence;
use super::round::{Blank, Group, Next, Outcome, Problem, Round, Seen, Steadiness, Why};
use super::set::UnitSet;
use super::settle::quiet_wanted;

/// Control rounds at the start when the symptom does not show every time: cheaper than hunting for nobody.
const CONTROLS_FIRST: usize = 3;
/// Quiet control rounds that are wanted before a second culprit is looked for.
const CONTROLS_FOR_MORE: usize = 4;
/// Rounds in a row with the same units on that did not count, or could not run, until another way is taken.
const TRIES: usize = 5;
/// Runs of the same units at most, whatever they are asked for.
const SAME_LIMIT: usize = 60;

/// Why the telling stops here.
#[derive(Debug)]
pub(super) enum Stop {
    /// A round is missing.
    Run { on: UnitSet, why: Why },
    /// Nothing can be said.
    Blank(Blank),
    /// A unit must be on: always, or with those in `of`.
    Learned { unit: usize, of: UnitSet },
}

pub(super) type Told<T> = Result<T, Stop>;

/// One telling.
#[derive(Debug)]
pub(super) struct Search<'r> {
    pub(super) problem: &'r Problem,
    pub(super) evidence: Evidence<'r>,
    /// One quiet run is proof, and of two parts one is enough to know the other.
    pub(super) steady: bool,
    pub(super) kept: UnitSet,
    /// A unit, and those it needs.
    pub(super) needs: Vec<(usize, UnitSet)>,
}

/// The next round, or the answer.
pub fn next(problem: &Problem, rounds: &[Round]) -> Next {
    let all = UnitSet::all(problem.units);
    let evidence = Evidence { all: &all, rounds };
    let (kept, needs) = told_needs(problem, rounds);
    let steady = problem.steadiness != Steadiness::ByChance
        && problem.runs <= 1
        && !evidence.is_unsteady()
        && !(problem.steadiness == Steadiness::Unsettled && evidence.is_skipped(&all));
    let mut search = Search { problem, evidence, steady, kept, needs };
    loop {
        let mut groups = Vec::new();
        let mut rest = all.without(&search.kept);
        let why = match search.tell(&mut groups, &mut rest) {
            Ok(outcome) => return Next::Done(outcome),
            Err(Stop::Run { on, why }) => return Next::Run { on, why, found: groups },
            Err(Stop::Blank(why)) => why,
            Err(Stop::Learned { unit, of }) if search.learn(unit, &of) => continue,
            Err(Stop::Learned { .. }) => Blank::NeverRuns,
        };
        let suspects = search.suspects(&rest);
        return Next::Done(Outcome::CannotTell { why, groups, suspects });
    }
}

/// Halvings that `units` take at most: ⌈log2 n⌉.
pub fn halvings(units: usize) -> u32 {
    units.max(1).next_power_of_two().trailing_zeros()
}

/// Rounds for one culprit whose symptom shows every time, at most: control, halvings, two confirmations, and the
/// controls at the end that settle that it is not ComfyUI's own and came and went by chance. `certain`: it shows every
/// time by its nature, so that no control is repeated.
pub fn expected_rounds(units: usize, certain: bool) -> u32 {
    if certain {
        return halvings(units) + 3;
    }
    // The most rounds are taken where each half that is on shows it.
    let shown = halvings(units) + 1;
    shown + u32::try_from(quiet_wanted(units, shown as usize)).unwrap_or(u32::MAX)
}

/// What rounds that could not run told by themselves.
fn told_needs(problem: &Problem, rounds: &[Round]) -> (UnitSet, Vec<(usize, UnitSet)>) {
    let mut kept = problem.keep.clone();
    let mut needs = Vec::new();
    for round in rounds {
        let Seen::CannotRun { keep } = &round.seen else { continue };
        if round.broken.is_empty() {
            kept.extend(keep.iter());
        } else if !keep.is_empty() {
            needs.extend(round.broken.iter().map(|unit| (unit, keep.clone())));
        }
    }
    (kept, needs)
}

impl Search<'_> {
    /// Fills `groups` with what is proved and takes it out of `rest`, until the symptom stays away.
    fn tell(&self, groups: &mut Vec<Group>, rest: &mut UnitSet) -> Told<Outcome> {
        let nothing = self.closed(&UnitSet::new());
        let controls = if self.steady { 1 } else { CONTROLS_FIRST };
        if !self.evidence.is_bad(&nothing) && self.evidence.own_quiet_runs(&nothing) < controls {
            return Err(self.want(nothing, Why::Control));
        }
        if self.is_unsettled() && !self.evidence.is_bad(&nothing) {
            return Err(self.want(self.evidence.all.clone(), Why::Steadiness));
        }
        loop {
            if self.evidence.is_bad(&nothing) {
                // Also when it was seen late: whatever was found by then was found in its shadow.
                groups.clear();
                return Ok(Outcome::NotTheUnits { kept: nothing });
            }
            if let Some(last) = groups.last() {
                if !self.rest_is_bad(rest, &last.units)? {
                    let doubt = self.until_sure(groups)?;
                    return Ok(Outcome::Culprits { groups: groups.clone(), doubt });
                }
                self.control_again(&nothing, groups)?;
            }
            let found = self.find(&UnitSet::new(), rest)?;
            let group = self.settle(found)?;
            *rest = rest.without(&group.units).without(&self.dependents(&group.units));
            groups.push(group);
        }
    }

    /// Nobody knows yet whether it shows every time.
    fn is_unsettled(&self) -> bool {
        let all = self.evidence.all;
        self.problem.steadiness == Steadiness::Unsettled
            && self.problem.runs <= 1
            && !self.evidence.was_run(all)
            && !self.evidence.is_skipped(all)
    }

    /// It shows in every run by its nature.
    pub(super) fn is_certain(&self) -> bool {
        self.problem.steadiness == Steadiness::Certain
    }

    /// Still there without the culprit: a second one, or nobody, when the first control was quiet by luck. The
    /// control is run again before anybody else is accused.
    fn control_again(&self, nothing: &UnitSet, groups: &mut Vec<Group>) -> Told<()> {
        let quiet = self.evidence.own_quiet_runs(nothing);
        if quiet >= CONTROLS_FOR_MORE || self.is_certain() {
            return Ok(());
        }
        groups.clear();
        Err(self.want(nothing.clone(), Why::ControlAgain { quiet }))
    }

    /// Those of `rest` that may still have it: in the smallest set that has it, and not cleared by a quiet round.
    fn suspects(&self, rest: &UnitSet) -> UnitSet {
        let smallest = rest.common(self.evidence.smallest_bad());
        let among = if smallest.is_empty() { rest.clone() } else { smallest };
        let cleared = |unit: &usize| self.evidence.quiet_runs(&self.closed(&UnitSet::from_iter([*unit]))) > 0;
        let left: UnitSet = among.iter().filter(|unit| !self.steady || !cleared(unit)).collect();
        if left.is_empty() { among } else { left }
    }

    /// `set` with all that must be on with it.
    pub(super) fn closed(&self, set: &UnitSet) -> UnitSet {
        let mut closed = set.with(&self.kept);
        loop {
            let before = closed.len();
            for (unit, needed) in &self.needs {
                if closed.contains(*unit) {
                    closed.extend(needed.iter());
                }
            }
            if closed.len() == before {
                return closed;
            }
        }
    }

    /// Units that cannot be on without one of `units`.
    pub(super) fn dependents(&self, units: &UnitSet) -> UnitSet {
        let all = UnitSet::all(self.problem.units);
        all.without(units)
            .iter()
            .filter(|unit| {
                let closed = self.closed(&UnitSet::from_iter([*unit]));
                !closed.without(&self.kept).common(units).is_empty()
            })
            .collect()
    }

    /// False when it was known, so that nothing new follows from it.
    fn learn(&mut self, unit: usize, of: &UnitSet) -> bool {
        if of.is_empty() {
            return self.kept.insert(unit);
        }
        let needed = UnitSet::from_iter([unit]);
        let new: Vec<(usize, UnitSet)> =
            of.iter().map(|dependent| (dependent, needed.clone())).filter(|need| !self.needs.contains(need)).collect();
        let learned = !new.is_empty();
        self.needs.extend(new);
        learned
    }

    /// Asks for a round; first for what it takes to make it run, when it was tried and could not.
    pub(super) fn want(&self, on: UnitSet, why: Why) -> Stop {
        if self.evidence.is_skipped(&on) {
            return Stop::Blank(Blank::Skipped);
        }
        if self.evidence.void_runs(&on) >= TRIES {
            return Stop::Blank(Blank::Void);
        }
        match self.repair(&on) {
            Some(stop) => stop,
            None if self.evidence.failed_runs(&on) >= TRIES => Stop::Blank(Blank::NeverRuns),
            None if self.evidence.own_runs(&on) >= SAME_LIMIT => Stop::Blank(Blank::Rare),
            None => Stop::Run { on, why },
        }
    }
}
