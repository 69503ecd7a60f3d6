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
        let whole = |seen: &Seen| matches!(seen, Seen::Good | Seen::Bad);
        if self.evidence.rounds.iter().any(|round| round.on == *on && whole(&round.seen) && round.broken.is_empty()) {
            return None;
        }
        let failed = |seen: &Seen| matches!(seen, Seen::CannotRun { .. });
        let last = self.evidence.rounds.iter().rev().find(|round| round.on == *on && failed(&round.seen))?;
        // One at a time: two that broke together may need different ones.
        let broken: UnitSet = last.broken.iter().take(1).collect();
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
            match self.works(&set, &broken) {
                Some(true) => works = middle,
                Some(false) => fails = middle,
                // Tried, and something else broke: that is found out first. Else it has not been tried.
                None => return Some(self.want(set, Why::Missing)),
            }
        }
        let unit = others.get(fails).copied()?;
        Some(Stop::Learned { unit, of: broken })
    }

    /// Did it run with this set, as far as `broken` (or, when empty, the work itself) is concerned?
    ///
    /// A round in which the symptom showed tells this as well: what was broken in it was broken.
    fn works(&self, set: &UnitSet, broken: &UnitSet) -> Option<bool> {
        if set == self.evidence.all {
            return Some(true);
        }
        let mut answer = None;
        for round in self.evidence.rounds {
            let counts = !matches!(round.seen, Seen::Void | Seen::Skip);
            let refused = matches!(round.seen, Seen::CannotRun { .. }) && round.broken.is_empty();
            let ran = matches!(round.seen, Seen::Good | Seen::Bad);
            if broken.is_empty() {
                if refused && set.within(&round.on) {
                    return Some(false);
                }
                if ran && round.on.within(set) {
                    answer = Some(true);
                }
            } else if counts {
                let still = !round.broken.common(broken).is_empty();
                if still && set.within(&round.on) {
                    return Some(false);
                }
                if !still && broken.within(&round.on) && round.on.within(set) {
                    answer = Some(true);
                }
            }
        }
        answer
    }
}
