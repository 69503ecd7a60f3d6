//! From a set that shows the symptom to a smallest part of it that still does.
//!
//! As long as the symptom shows every time, a quiet half tells that it is the other: so one unit is found, and
//! tried alone. When that stays quiet, several are needed together: halves are tried with what is already known
//! to be needed, and when neither shows it alone, parts of both are needed: first the one is made smaller with
//! the other on, then the other (the divide-and-conquer form of delta debugging, QuickXplain).

use super::evidence::doubt;
use super::plan::{Search, Stop, Told};
use super::round::{Blank, Why};
use super::set::UnitSet;

/// Doubt at which both halves are taken to be quiet. It only steers: nobody is named by it.
const STEERING: f64 = 0.05;
/// Runs of one set, or of sets with the symptom, at which the search gives up.
const RUNS_LIMIT: usize = 40;
/// Misses in a row, with everything on, after which the symptom is gone.
const GONE: usize = 6;
/// Sights of the symptom up to which it pays to look how often it shows.
const RATE_WORTH: usize = 6;

/// A half with what it needs.
struct Half {
    /// Units that are on.
    on: UnitSet,
    /// Those of them that are in question.
    part: UnitSet,
}

impl Search<'_> {
    /// A smallest part of `among` that shows the symptom together with `base`. Both together do.
    pub(super) fn find(&self, base: &UnitSet, among: &UnitSet) -> Told<UnitSet> {
        if among.len() <= 1 {
            return Ok(among.clone());
        }
        let halves = self.halves(base, among)?;
        if let Some(half) = halves.iter().find(|half| self.evidence.is_bad(&half.on)) {
            return self.find(base, &half.part);
        }
        let Some(first) = halves.first() else {
            // They need one another: no smaller part can be on.
            return Ok(among.clone());
        };
        if self.steady {
            if let Some(found) = self.infer(base, among)? {
                return Ok(found);
            }
            self.shows_still()?;
        }
        let whole = self.closed(&base.with(among));
        self.until_quiet(&halves, &whole, among.len())?;
        let others = among.without(&first.part);
        let late = self.find(&base.with(&first.part), &others)?;
        let without_first = self.closed(&base.with(&late));
        if self.evidence.is_bad(&without_first) {
            return Ok(late);
        }
        let half = Half { on: without_first, part: late.clone() };
        self.until_quiet(std::slice::from_ref(&half), &whole, among.len())?;
        let early = self.find(&base.with(&late), &first.part)?;
        Ok(early.with(&late))
    }

    /// The part that shows it when one unit does it and shows it every time: a quiet half leaves the other, and
    /// what is left in the end is tried. Nothing when that was quiet: then several are needed together.
    fn infer(&self, base: &UnitSet, among: &UnitSet) -> Told<Option<UnitSet>> {
        let mut left = among.clone();
        while left.len() > 1 {
            let halves = self.halves(base, &left)?;
            if let Some(half) = halves.iter().find(|half| self.evidence.is_bad(&half.on)) {
                return self.find(base, &half.part).map(Some);
            }
            let Some(first) = halves.first() else { break };
            if self.evidence.quiet_runs(&first.on) == 0 {
                return Err(self.want(first.on.clone(), Why::Part { left: left.len() }));
            }
            left = left.without(&first.part);
        }
        let on = self.closed(&base.with(&left));
        if self.evidence.is_bad(&on) {
            return Ok(Some(left));
        }
        if self.evidence.quiet_runs(&on) > 0 { Ok(None) } else { Err(self.want(on, Why::Only)) }
    }

    /// The two halves that can be on by themselves, with what they need. A half that needs the other is none.
    fn halves(&self, base: &UnitSet, among: &UnitSet) -> Told<Vec<Half>> {
        let order = self.needed_first(among);
        let mut skipped = false;
        for turn in 0..order.len() {
            let turned = || order.iter().cycle().skip(turn).take(order.len()).copied();
            let middle = order.len() / 2;
            let (one, other) = (turned().take(middle).collect(), turned().skip(middle).collect());
            let mut halves: Vec<Half> = [one, other]
                .into_iter()
                .map(|part: UnitSet| self.closed(&base.with(&part)))
                .map(|on| Half { part: on.common(among), on })
                .filter(|half| half.part.len() < among.len())
                .collect();
            let possible = halves.len();
            halves.retain(|half| !self.evidence.is_skipped(&half.on) || self.evidence.is_bad(&half.on));
            skipped |= halves.len() < possible;
            if !halves.is_empty() {
                return Ok(halves);
            }
        }
        if skipped { Err(Stop::Blank(Blank::Skipped)) } else { Ok(Vec::new()) }
    }

    /// Units in an order in which each stands behind those it needs.
    pub(super) fn needed_first(&self, among: &UnitSet) -> Vec<usize> {
        if self.needs.is_empty() {
            return among.iter().collect();
        }
        let mut order: Vec<usize> = among.iter().collect();
        order.sort_by_key(|unit| self.closed(&UnitSet::from_iter([*unit])).len());
        order
    }

    /// No single unit shows it alone: either several are needed, or it did not show this time. Before several are
    /// looked for, everything is on once more, unless that was done.
    fn shows_still(&self) -> Told<()> {
        let (shown, missed) = self.evidence.shown(self.evidence.all);
        if shown + missed > 0 || self.evidence.is_skipped(self.evidence.all) {
            return Ok(());
        }
        Err(self.want(self.evidence.all.clone(), Why::Rate))
    }

    /// Returns when each half was quiet often enough to be taken as quiet; asks for rounds until then.
    /// A half that shows the symptom changes the telling before this is reached again.
    fn until_quiet(&self, halves: &[Half], whole: &UnitSet, left: usize) -> Told<()> {
        let least = halves.iter().min_by_key(|half| self.evidence.quiet_runs(&half.on));
        let Some(least) = least else { return Ok(()) };
        let quiet = self.evidence.quiet_runs(&least.on);
        if quiet == 0 {
            return Err(self.want(least.on.clone(), Why::Part { left }));
        }
        if self.is_quiet(quiet, whole, STEERING) {
            return Ok(());
        }
        Err(self.settling(&least.on, quiet, whole, Why::Again { quiet }))
    }

    /// So many quiet runs leave no more doubt than `limit`, by how often the larger set `shows` the symptom.
    pub(super) fn is_quiet(&self, quiet: usize, shows: &UnitSet, limit: f64) -> bool {
        if quiet < self.problem.runs.max(1) as usize {
            return false;
        }
        let (shown, missed) = self.evidence.shown(shows);
        self.steady || doubt(shown, missed, quiet) <= limit
    }

    /// The round that settles soonest whether `set`, quiet so often, is: that set again, or one that shows the
    /// symptom, to learn how often it does.
    pub(super) fn settling(&self, set: &UnitSet, quiet: usize, shows: &UnitSet, why: Why) -> Stop {
        let (shown, missed) = self.evidence.shown(shows);
        if self.steady {
            return self.want(set.clone(), why);
        }
        if shown == 0 && missed >= GONE {
            return Stop::Blank(Blank::Gone);
        }
        if shown + missed >= RUNS_LIMIT || quiet >= RUNS_LIMIT {
            return Stop::Blank(Blank::Rare);
        }
        let learn = quiet >= 2 && shown < RATE_WORTH && shown + missed < 2 * quiet && !self.evidence.is_skipped(shows);
        if learn { self.want(shows.clone(), Why::Rate) } else { self.want(set.clone(), why) }
    }
}
