//! A set with which the work cannot run: which unit is missing?
//!
//! With everything on it runs. So the others are added in order, and halving finds the first one without which
//! it does not: that one is needed. It takes ⌈log2 n⌉ rounds when the round itself did not tell.

use super::plan::{Search, Stop};
use super::round::{Blank, Seen, Why};
use super::set::UnitSet;

impl Search<'_> {
    /// What to do before `on` can be asked for; nothing when it was never tried, or ran.
    pub(super) fn repair(&self, on: &UnitSet) -> Option<Stop> {
        if self.evidence.was_run(on) {
            return None;
        }
        let broken = self.evidence.rounds.iter().rev().find_map(|round| match &round.seen {
            Seen::CannotRun { broken, .. } if round.on == *on => Some(broken),
            _ => None,
        })?;
        // A unit behind those it needs: else it would be taken for what it brings along.
        let others = self.needed_first(&self.evidence.all.without(on));
        let with = |count: usize| self.closed(&on.with(&others.iter().copied().take(count).collect()));
        let (mut fails, mut works) = (0, others.len());
        if works == 0 {
            return Some(Stop::Blank(Blank::NeverRuns));
        }
        while works - fails > 1 {
            let middle = fails + (works - fails) / 2;
            let set = with(middle);
            match self.works(&set, broken) {
                Some(true) => works = middle,
                Some(false) => fails = middle,
                // Tried, and something else broke: that is found out first. Else it has not been tried.
                None => return Some(self.want(set, Why::Missing)),
            }
        }
        let unit = others.get(fails).copied()?;
        Some(Stop::Learned { unit, of: broken.clone() })
    }

    /// Did it run with this set, as far as `broken` (or, when empty, the work itself) is concerned?
    fn works(&self, set: &UnitSet, broken: &UnitSet) -> Option<bool> {
        if set == self.evidence.all {
            return Some(true);
        }
        let mut answer = None;
        for round in self.evidence.rounds {
            match &round.seen {
                Seen::Good | Seen::Bad if round.on.within(set) && broken.within(&round.on) => answer = Some(true),
                Seen::CannotRun { broken: now, .. } if !broken.is_empty() => {
                    let still = !now.common(broken).is_empty();
                    if still && set.within(&round.on) {
                        return Some(false);
                    }
                    if !still && round.on == *set {
                        answer = Some(true);
                    }
                }
                Seen::CannotRun { broken: now, .. } if now.is_empty() && set.within(&round.on) => return Some(false),
                _ => {}
            }
        }
        answer
    }
}
