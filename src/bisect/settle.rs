//! The last word on a suspect: only it on shows the symptom, and without any part of it the symptom stays away.
//!
//! Nobody is named before both are shown. This is where an innocent unit is let go that a lucky quiet run drew in.

use super::plan::{Search, Stop, Told};
use super::round::{Blank, Group, Why};
use super::set::UnitSet;

/// Doubt that may be left that the symptom stays away without a unit that is named.
const NAMING: f64 = 0.001;
/// Doubt that may be left that nobody else has it too.
const COMPLETE: f64 = 0.02;

impl Search<'_> {
    /// The group that `found` comes down to.
    pub(super) fn settle(&self, found: UnitSet) -> Told<Group> {
        let mut found = found;
        'again: loop {
            let only = self.closed(&found);
            if !self.evidence.is_bad(&only) {
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
                if !self.is_quiet(&without, &only, NAMING) {
                    return Err(self.settling(&without, &only, Why::Without { unit }));
                }
                parts += usize::from(found.common(&without).is_empty());
            }
            let inseparable = found.len() > 1 && parts == found.len();
            return Ok(Group { units: found, inseparable });
        }
    }

    /// The suspects alone should show it. When they do not, what was inferred was wrong.
    fn shows_or_not(&self, only: UnitSet) -> Stop {
        match self.evidence.quiet_runs(&only) {
            0 => self.want(only, Why::Only),
            _ if self.steady => Stop::Unsteady,
            // Cannot come up: without inference only sets are followed in which the symptom was seen.
            _ => Stop::Blank(Blank::Rare),
        }
    }

    /// Is there more among `rest`, beside `found`?
    pub(super) fn rest_is_bad(&self, rest: &UnitSet, found: &UnitSet) -> Told<bool> {
        let on = self.closed(rest);
        if self.evidence.is_bad(&on) {
            return Ok(true);
        }
        let shows = self.closed(found);
        if self.is_quiet(&on, &shows, COMPLETE) { Ok(false) } else { Err(self.settling(&on, &shows, Why::Rest)) }
    }
}
