//! Does memory grow in a round as it grew beside the first log?
//!
//! A warm-up is no growth, and a trickle that was there all along is not what is looked for; readings that exclude
//! neither say nothing.

use crate::samples::{Shape, Trend};

/// Share of the first log's growth from which on a round has it: two culprits may share it.
const SAME: f64 = 0.2;
/// Share of it that must be excluded for a round to be quiet.
const EXCLUDED: f64 = 0.5;

/// Readings of a round, and what they are held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    pub trend: Trend,
    /// Growth per prompt beside the first log, in MiB, where it was measured.
    pub first_mib: Option<f64>,
}

/// What readings say of growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrowthSeen {
    Grows,
    Level,
    Unclear,
}

impl Measured {
    pub(super) fn seen(&self) -> GrowthSeen {
        let trend = &self.trend;
        let first = self.first_mib.unwrap_or(0.0);
        match (trend.shape, trend.per_prompt) {
            (Shape::Growing, Some(mib)) if mib >= first * SAME => GrowthSeen::Grows,
            (Shape::TooShort, _) => GrowthSeen::Unclear,
            // It still rises: a warm-up when the last prompts add next to nothing of what is looked for.
            (Shape::Filling | Shape::Growing, _) if trend.late_mib > first * SAME => GrowthSeen::Unclear,
            (Shape::Filling | Shape::Growing, _) => GrowthSeen::Level,
            (Shape::Plateau | Shape::OneStep | Shape::Sawtooth, _) => {
                let excluded = self.first_mib.is_none_or(|first| trend.bound <= first * EXCLUDED);
                if excluded { GrowthSeen::Level } else { GrowthSeen::Unclear }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(shape: Shape, per_prompt: Option<f64>, bound: f64, late_mib: f64) -> GrowthSeen {
        let trend = Trend {
            shape,
            readings: 100,
            seconds: 100.0,
            per_prompt,
            bound,
            noise: 1.0,
            first_mib: 500.0,
            last_mib: 900.0,
            level_mib: 800.0,
            late_mib,
            prompts: 10,
            coarse: false,
        };
        Measured { trend, first_mib: Some(50.0) }.seen()
    }

    #[test]
    fn what_grew_in_the_first_log_is_the_measure() {
        assert_eq!(seen(Shape::Growing, Some(48.0), 52.0, 48.0), GrowthSeen::Grows);
        assert_eq!(seen(Shape::Growing, Some(25.0), 27.0, 25.0), GrowthSeen::Grows, "one of two culprits");
        assert_eq!(seen(Shape::Growing, Some(2.0), 2.5, 2.0), GrowthSeen::Level, "a trickle");
        assert_eq!(seen(Shape::Plateau, None, 4.0, 0.0), GrowthSeen::Level);
        assert_eq!(seen(Shape::Plateau, None, 40.0, 0.0), GrowthSeen::Unclear, "so noisy that it may hide it");
        assert_eq!(seen(Shape::Filling, None, 90.0, 3.0), GrowthSeen::Level, "a warm-up that is over");
        assert_eq!(seen(Shape::Filling, None, 90.0, 30.0), GrowthSeen::Unclear, "one that is not");
        assert_eq!(seen(Shape::TooShort, None, f64::INFINITY, 0.0), GrowthSeen::Unclear);
    }
}
