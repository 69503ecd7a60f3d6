//! The last word on a suspect: only it on shows the symptom, and without any part of it the symptom stays away.
//!
//! Nobody is named before both are shown, by runs of exactly these sets: the runs that led to a suspect chose it,
//! so they cannot speak for it a second time. Here an innocent unit is let go that a lucky quiet run drew in.

use super::plan::{Search, Stop, Told};
use super::round::{Blank, Group, Seen, Why};
use super::set::UnitSet;

/// Doubt that may be left that the symptom stays away without a unit that is named.
const NAMING: f64 = 0.001;
/// The same when nothing else is left on: then somebody would be blamed for what ComfyUI does by itself.
const NAMING_AT_ALL: f64 = 0.000_1;
/// Doubt that may be left that nobody else has it too.
const COMPLETE: f64 = 0.02;

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
            let inseparable = found.len() > 1 && parts == found.len();
            return Ok(Group { units: found, inseparable });
        }
    }

    /// The suspects alone should show it. When they do not, what was inferred was wrong.
    fn shows_or_not(&self, only: UnitSet) -> Stop {
        let proved = self.evidence.is_bad(&only);
        match self.evidence.own_quiet_runs(&only) {
            0 => self.want(only, Why::Only),
            _ if self.steady => Stop::Unsteady,
            _ if proved => self.settling(&only, 0, &only, Why::Only),
            // Cannot come up: without inference only sets are followed in which the symptom was seen.
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
}
