//! The last word on a suspect: only it on shows the symptom, and without any part of it the symptom stays away.
//!
//! Nobody is named before both are shown, by runs of exactly these sets: the runs that led to a suspect chose it,
//! so they cannot speak for it a second time. Here an innocent unit is let go that a lucky quiet run drew in.

use super::evidence::doubt;
use super::plan::{Search, Stop, Told};
use super::round::{Blank, Group, Seen, Why};
use super::set::UnitSet;

/// Doubt that may be left that the symptom stays away without a unit that is named.
const NAMING: f64 = 0.001;
/// The same when nothing else is left on: then somebody would be blamed for what ComfyUI does by itself.
const NAMING_AT_ALL: f64 = 0.000_1;
/// Doubt that may be left that nobody else has it too.
const COMPLETE: f64 = 0.02;
/// Doubt that may be left that a symptom which was taken to show every time is ComfyUI's own, comes and goes, and
/// fell on those who are named by chance. A sixty-fourth: six more coins than the halvings.
const BY_CHANCE: f64 = 0.0165;
/// The same when it is of one of those who are named together: several of these stand in question at once.
const PART_BY_CHANCE: f64 = 0.014;
/// The control at the start, and the round with all others on.
const LEAST_QUIET: usize = 2;
/// The least share of the runs in which such a symptom is taken to show: the first log showed it all along.
const LEAST_RATE: f64 = 0.5;

/// How likely it is that such a symptom showed `shown` times and stayed away `missed` times just as it would for `more`
/// guilty ones of `units`.
fn chance(units: usize, more: usize, shown: usize, missed: usize) -> f64 {
    let rate = (shown as f64 / (shown + missed).max(1) as f64).max(LEAST_RATE);
    let power = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let choices = (units as f64).powi(power(more));
    (choices * rate.powi(power(shown)) * (1.0 - rate).powi(power(missed))).min(1.0)
}

/// Quiet rounds, controls among them, that are wanted at most when one of `units` showed the symptom in `shown` rounds.
pub(super) fn quiet_wanted(units: usize, shown: usize) -> usize {
    (LEAST_QUIET..).find(|quiet| chance(units, 1, shown, *quiet) <= BY_CHANCE).unwrap_or(LEAST_QUIET)
}

impl Search<'_> {
    /// The group that `found` comes down to.
    pub(super) fn settle(&self, found: UnitSet) -> Told<Group> {
        let mut found = found;
        'again: loop {
            let only = self.closed(&found);
            if !self.evidence.is_confirmed(&only, &Seen::Bad) {
                return Err(self.shows_or_not(only));
            }
            let mut parts = 0;
            for unit in found.clone().iter() {
                let one = UnitSet::from_iter([unit]);
                let without = only.without(&one).without(&self.dependents(&one));
                if self.evidence.is_bad(&without) {
                    found = self.find(&UnitSet::new(), &without.without(&self.kept))?;
                    continue 'again;
                }
                self.stays_away(&without, &only, unit)?;
                parts += usize::from(found.common(&without).is_empty());
            }
            self.all_are_needed(&found, &only)?;
            let inseparable = found.len() > 1 && parts == found.len();
            return Ok(Group { units: found, inseparable });
        }
    }

    /// The suspects alone should show it. When they do not, what was inferred was wrong.
    fn shows_or_not(&self, only: UnitSet) -> Stop {
        let proved = self.evidence.is_bad(&only);
        match self.evidence.own_quiet_runs(&only) {
            0 => self.want(only, Why::Only),
            _ if proved => self.settling(&only, 0, &only, Why::Only),
            // Cannot come up: only sets are followed in which the symptom was seen.
            _ => Stop::Blank(Blank::Rare),
        }
    }

    /// Returns when `without`, a suspect less than `only`, is known to be quiet.
    fn stays_away(&self, without: &UnitSet, only: &UnitSet, unit: usize) -> Told<()> {
        let own = self.evidence.own_quiet_runs(without);
        let quiet = if self.steady { self.evidence.quiet_runs(without) } else { own };
        let limit = if without.within(&self.closed(&UnitSet::new())) { NAMING_AT_ALL } else { NAMING };
        if self.is_quiet(quiet, only, limit) {
            Ok(())
        } else {
            Err(self.settling(without, quiet, only, Why::Without { unit }))
        }
    }

    /// Returns when it is unlikely enough that fewer of `found` have it, by chance, and the others were only there.
    fn all_are_needed(&self, found: &UnitSet, only: &UnitSet) -> Told<()> {
        if !self.steady || self.is_certain() || found.len() < 2 {
            return Ok(());
        }
        for unit in found.iter() {
            let one = UnitSet::from_iter([unit]);
            let without = only.without(&one).without(&self.dependents(&one));
            self.not_by_chance(&without, 1, Why::Without { unit })?;
            let alone = self.closed(&one);
            // One that needs the others cannot be on without them.
            if !found.within(&alone) {
                let quiet = self.evidence.own_quiet_runs(&alone);
                self.not_by_chance(&alone, found.len() - 1, Why::Again { quiet })?;
            }
        }
        Ok(())
    }

    /// Returns when chance is no likely reason; asks for a run of `base` until then.
    fn not_by_chance(&self, base: &UnitSet, more: usize, why: Why) -> Told<()> {
        if self.by_chance(base, more) <= PART_BY_CHANCE { Ok(()) } else { Err(self.want(base.clone(), why)) }
    }

    /// How likely it is at most that `base` alone has it, in a share of its runs, and that all rounds fell out as
    /// if some `more` units were needed as well: `p^shown · (1-p)^missed` for any of these, at the worst share `p`.
    fn by_chance(&self, base: &UnitSet, more: usize) -> f64 {
        let (shown, missed) = self.evidence.rounds_with(base);
        let units = self.problem.units.saturating_sub(self.kept.len());
        chance(units, more, shown, missed)
    }

    /// Is there more among `rest`, beside `found`?
    pub(super) fn rest_is_bad(&self, rest: &UnitSet, found: &UnitSet) -> Told<bool> {
        let on = self.closed(rest);
        if self.evidence.is_bad(&on) {
            return Ok(true);
        }
        let shows = self.closed(found);
        let quiet = self.evidence.quiet_runs(&on);
        if self.is_quiet(quiet, &shows, COMPLETE) && self.evidence.is_confirmed(&on, &Seen::Good) {
            return Ok(false);
        }
        Err(self.settling(&on, quiet, &shows, Why::Rest))
    }

    /// The doubt that is left when all of `groups` are found; asks for the control again until it is small enough.
    pub(super) fn until_sure(&self, groups: &[Group]) -> Told<f64> {
        let nothing = self.closed(&UnitSet::new());
        let quiet = self.evidence.own_quiet_runs(&nothing);
        if self.is_certain() {
            return Ok(0.0);
        }
        if !self.steady {
            let shows = groups.first().map(|group| self.closed(&group.units)).unwrap_or_default();
            let (shown, missed) = self.evidence.shown(&shows);
            return Ok(doubt(shown, missed, quiet).max(NAMING));
        }
        let left = self.by_chance(&nothing, groups.iter().map(|group| group.units.len()).sum());
        if left <= BY_CHANCE { Ok(left) } else { Err(self.want(nothing, Why::ControlAgain { quiet })) }
    }
}
