//! What all rounds together say of one set.
//!
//! A seen symptom proves that the set, and every larger one, has it. A quiet run only makes it less likely: how
//! much less depends on how often the symptom shows where it is known to be. That is the one rule of the search.

use super::round::{Round, Seen, Why};
use super::set::UnitSet;

/// The rounds, with everything on and the symptom seen as the first of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence<'r> {
    pub(super) all: &'r UnitSet,
    pub(super) rounds: &'r [Round],
}

impl Evidence<'_> {
    /// The symptom was seen with these units on, or with fewer.
    pub(super) fn is_bad(&self, set: &UnitSet) -> bool {
        self.all.within(set) || self.rounds.iter().any(|round| round.seen == Seen::Bad && round.on.within(set))
    }

    /// Quiet runs of this set or of a larger one that is not known to have the symptom.
    pub(super) fn quiet_runs(&self, set: &UnitSet) -> usize {
        self.rounds
            .iter()
            .filter(|round| round.seen == Seen::Good && set.within(&round.on) && !self.is_bad(&round.on))
            .count()
    }

    /// Quiet runs of exactly this set.
    pub(super) fn own_quiet_runs(&self, set: &UnitSet) -> usize {
        self.rounds.iter().filter(|round| round.seen == Seen::Good && round.on == *set).count()
    }

    /// Runs of exactly this set that counted.
    pub(super) fn own_runs(&self, set: &UnitSet) -> usize {
        let counts = |seen: &Seen| matches!(seen, Seen::Good | Seen::Bad);
        self.rounds.iter().filter(|round| counts(&round.seen) && round.on == *set).count()
    }

    /// It was confirmed by a run of its own: one that was asked for to confirm, after it had been found.
    pub(super) fn is_confirmed(&self, set: &UnitSet, seen: &Seen) -> bool {
        let confirms = |why: &Why| matches!(why, Why::Only | Why::Rest | Why::Rate | Why::ControlAgain { .. });
        self.rounds.iter().any(|round| round.on == *set && round.seen == *seen && confirms(&round.why))
    }

    /// How often the symptom showed and stayed away in runs that had all of `set`, which is known to have it.
    /// The first time is left out: without it, it would not be known.
    pub(super) fn shown(&self, set: &UnitSet) -> (usize, usize) {
        let (shown, missed) = self.rounds_with(set);
        let start = usize::from(set.within(self.all));
        ((shown + start).saturating_sub(1), missed)
    }

    /// The smallest set that is known to have it.
    pub(super) fn smallest_bad(&self) -> &UnitSet {
        let seen = self.rounds.iter().filter(|round| round.seen == Seen::Bad).map(|round| &round.on);
        seen.min_by_key(|on| on.len()).unwrap_or(self.all)
    }

    /// Rounds with all of `set` on in which the symptom showed, and in which it stayed away.
    pub(super) fn rounds_with(&self, set: &UnitSet) -> (usize, usize) {
        let of = |seen: &Seen| self.rounds.iter().filter(|round| round.seen == *seen && set.within(&round.on)).count();
        (of(&Seen::Bad), of(&Seen::Good))
    }

    /// A set that had the symptom was quiet once: it does not show every time.
    pub(super) fn is_unsteady(&self) -> bool {
        self.rounds.iter().any(|round| round.seen == Seen::Good && self.is_bad(&round.on))
    }

    /// The set was run, and the work could.
    pub(super) fn was_run(&self, set: &UnitSet) -> bool {
        self.rounds.iter().any(|round| round.on == *set && matches!(round.seen, Seen::Good | Seen::Bad))
    }

    /// How often the set was tried, in a row up to now, by rounds that did not count.
    pub(super) fn void_runs(&self, set: &UnitSet) -> usize {
        self.rounds.iter().rev().take_while(|round| round.seen == Seen::Void && round.on == *set).count()
    }

    /// How often the work could not run with exactly this set.
    pub(super) fn failed_runs(&self, set: &UnitSet) -> usize {
        self.rounds.iter().filter(|round| round.on == *set && matches!(round.seen, Seen::CannotRun { .. })).count()
    }

    /// The set was skipped, and not run at another time.
    pub(super) fn is_skipped(&self, set: &UnitSet) -> bool {
        self.rounds.iter().any(|round| round.on == *set && round.seen == Seen::Skip) && !self.was_run(set)
    }
}

/// How likely a set that has the symptom would stay quiet `quiet` times in a row, when sets known to have it
/// showed it `shown` times and missed `missed` times: the posterior predictive of a rate of which nothing was
/// known before (a uniform prior), `∏ (missed + i) / (shown + missed + 1 + i)` for `i` in `1..=quiet`.
pub fn doubt(shown: usize, missed: usize, quiet: usize) -> f64 {
    (1..=quiet).map(|i| (missed + i) as f64 / (shown + missed + 1 + i) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_runs_count_for_more_the_surer_the_symptom_shows() {
        assert!((doubt(0, 0, 1) - 0.5).abs() < 1e-12, "nothing known: as good as a coin");
        assert!((doubt(4, 0, 4) - 24.0 / 3024.0).abs() < 1e-12);
        assert!(doubt(10, 0, 2) < doubt(3, 0, 2) && doubt(10, 0, 2) < doubt(10, 5, 2));
        assert_eq!(doubt(3, 1, 0), 1.0);
    }

    #[test]
    fn a_symptom_proves_larger_sets_and_a_quiet_run_speaks_for_smaller_ones() {
        let set = |units: &[usize]| units.iter().copied().collect::<UnitSet>();
        let rounds = [(set(&[0, 1]), Seen::Good), (set(&[2]), Seen::Bad), (set(&[2, 3]), Seen::Good)]
            .map(|(on, seen)| Round { on, why: Why::Rate, seen, broken: UnitSet::new() });
        let all = set(&[0, 1, 2, 3]);
        let evidence = Evidence { all: &all, rounds: &rounds };
        assert!(evidence.is_bad(&set(&[1, 2])) && !evidence.is_bad(&set(&[1, 3])));
        assert_eq!(evidence.quiet_runs(&set(&[0])), 1);
        assert_eq!(evidence.quiet_runs(&set(&[3])), 0, "its quiet run had a culprit in it");
        assert_eq!(evidence.shown(&set(&[2])), (1, 1), "the start and one miss; the first sight is left out");
        assert!(evidence.is_unsteady());
    }
}
