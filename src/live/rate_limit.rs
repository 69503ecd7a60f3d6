//! Readings that cost much are taken seldom enough to cost little.

use std::time::{Duration, Instant};

/// One reading may take one part in so many of the time: a quarter of a percent of a core.
const SHARE: u32 = 400;

/// When a costly reading is due again: the dearer it was, the later.
#[derive(Debug, Default)]
pub(super) struct RateLimit {
    due: Option<Instant>,
}

impl RateLimit {
    /// Takes the reading when it is due, and not before `least` has gone by since the last one.
    pub(super) fn take<T>(&mut self, least: Duration, reading: impl FnOnce() -> T) -> Option<T> {
        let begun = Instant::now();
        if self.due.is_some_and(|due| begun < due) {
            return None;
        }
        let value = reading();
        // Time on the clock, not of the processor: it errs to the rare side on a busy machine.
        self.due = Some(Instant::now() + rest(begun.elapsed(), least));
        Some(value)
    }
}

/// How long not to read after a reading that took so long.
fn rest(cost: Duration, least: Duration) -> Duration {
    cost.saturating_mul(SHARE).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_is_read_less_often() {
        let least = Duration::from_secs(10);
        assert_eq!(rest(Duration::from_millis(1), least), least);
        assert_eq!(rest(Duration::from_millis(200), least), Duration::from_secs(80));
        assert_eq!(rest(Duration::from_millis(2), Duration::ZERO), Duration::from_millis(800));
    }

    #[test]
    fn between_two_readings_there_is_none() {
        let mut thrift = RateLimit::default();
        let least = Duration::from_secs(3600);
        assert_eq!(thrift.take(least, || 1), Some(1));
        assert_eq!(thrift.take(least, || 2), None);
        let mut cheap = RateLimit::default();
        assert_eq!(cheap.take(Duration::ZERO, || 1), Some(1));
    }
}
