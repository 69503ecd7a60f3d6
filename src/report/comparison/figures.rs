//! Medians and spreads: few runs are never made to look like many.

use super::Seconds;

/// Prompts below which nothing is said of speed.
const ENOUGH: usize = 5;
/// A median must move by more than this share, and out of the other run's middle half.
const NOISE: f64 = 0.10;

/// Median and quartiles of `times`.
pub(super) fn seconds(times: &[f64]) -> Seconds {
    let mut sorted: Vec<f64> = times.iter().copied().filter(|time| time.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    Seconds {
        prompts: sorted.len(),
        median: quantile(&sorted, 0.5),
        low: quantile(&sorted, 0.25),
        high: quantile(&sorted, 0.75),
        enough: sorted.len() >= ENOUGH,
    }
}

fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = share * last as f64;
    let (low, high) = (sorted.get(at.floor() as usize)?, sorted.get(at.ceil() as usize)?);
    Some(low + (high - low) * at.fract())
}

/// How much longer a prompt takes in `b`, when that is more than noise: 1.5 is half as much again.
pub(super) fn slower(a: &Seconds, b: &Seconds) -> Option<f64> {
    let (before, after) = (a.median?, b.median?);
    if !a.enough || !b.enough || before <= 0.0 {
        return None;
    }
    let ratio = after / before;
    let apart = after > a.high? && before < b.low? || after < a.low? && before > b.high?;
    ((ratio - 1.0).abs() > NOISE && apart).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_not_moved_by_one_slow_prompt() {
        let told = seconds(&[1.0, 1.1, 0.9, 30.0, 1.0]);
        assert_eq!((told.median, told.enough), (Some(1.0), true));
        assert_eq!(seconds(&[]).median, None);
    }

    #[test]
    fn few_prompts_and_overlapping_ones_say_nothing() {
        let (calm, twice) = (seconds(&[1.0, 1.1, 0.9, 1.0, 1.0]), seconds(&[2.0, 2.1, 1.9, 2.0, 2.0]));
        assert_eq!(slower(&calm, &twice), Some(2.0));
        assert_eq!(slower(&calm, &seconds(&[2.0, 2.1])), None);
        assert_eq!(slower(&calm, &seconds(&[0.5, 1.1, 0.9, 1.4, 1.2])), None);
    }
}
