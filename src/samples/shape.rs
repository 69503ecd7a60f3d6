//! The shape of a memory series: level, one step, growing, or up and down.
//!
//! The slope is Theil and Sen's (median of the slopes between pairs), which a few outliers such as the RAM peak
//! of a checkpoint load do not move. Only the later half is judged: the start, first loads and a filling cache
//! raise memory in any run.

use serde::Serialize;

/// Points that are compared pairwise; a longer series is thinned to so many.
const PAIRED: usize = 240;
/// Points that the judged half must have.
const LEAST: usize = 8;
/// Growth over the judged half that is no noise: a share of the level, and at least so many MiB.
const GROWTH_SHARE: f64 = 0.05;
const GROWTH_MIB: f64 = 48.0;

/// How a series runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    Plateau,
    /// One rise, then level.
    OneStep,
    Growing,
    Sawtooth,
    TooShort,
}

/// The judged half of a series in figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trend {
    pub shape: Shape,
    /// MiB per second.
    pub slope: f64,
    /// Lower and upper quartile of the pairwise slopes.
    pub spread: (f64, f64),
    pub first_mib: f64,
    pub last_mib: f64,
    pub seconds: f64,
    /// Size of the single rises, when they are all alike: what one prompt adds, most likely.
    pub rise_mib: Option<f64>,
}

/// Judges `series` of times and MiB.
pub fn trend(series: &[(f64, f64)]) -> Trend {
    let half = series.get(series.len() / 2..).unwrap_or_default();
    let points = thin(half);
    let (first, last) = (points.first().copied().unwrap_or_default(), points.last().copied().unwrap_or_default());
    let mut trend = Trend {
        shape: Shape::TooShort,
        slope: 0.0,
        spread: (0.0, 0.0),
        first_mib: first.1,
        last_mib: last.1,
        seconds: last.0 - first.0,
        rise_mib: None,
    };
    if points.len() < LEAST || trend.seconds <= 0.0 {
        return trend;
    }
    let slopes = pair_slopes(&points);
    trend.slope = quantile(&slopes, 0.5);
    trend.spread = (quantile(&slopes, 0.25), quantile(&slopes, 0.75));
    trend.shape = shape(&points, &trend);
    trend.rise_mib = rise(half);
    trend
}

/// The usual rise from one sample to the next, when at least four rises agree within a fifth.
fn rise(points: &[(f64, f64)]) -> Option<f64> {
    let rises: Vec<f64> =
        points.windows(2).filter_map(|pair| if let [a, b] = pair { Some(b.1 - a.1) } else { None }).collect();
    let largest = rises.iter().copied().fold(0.0, f64::max);
    let mut real: Vec<f64> = rises.into_iter().filter(|rise| *rise > largest * 0.25 && *rise > 1.0).collect();
    real.sort_by(f64::total_cmp);
    let usual = quantile(&real, 0.5);
    let close = real.iter().filter(|rise| (**rise - usual).abs() <= usual * 0.2).count();
    (real.len() >= 4 && close * 5 >= real.len() * 4).then_some(usual)
}

fn shape(points: &[(f64, f64)], trend: &Trend) -> Shape {
    let level = median(points.iter().map(|point| point.1));
    let grown = trend.slope * trend.seconds;
    let threshold = GROWTH_MIB.max(level * GROWTH_SHARE);
    let thirds = points.len() / 3;
    let part = |from: usize, to: usize| median(points.get(from..to).unwrap_or_default().iter().map(|point| point.1));
    let (early, middle, late) = (part(0, thirds), part(thirds, 2 * thirds), part(2 * thirds, points.len()));
    let swing = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max)
        - points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    // Growth goes on through all three parts; a step or a filling cache stops in one of them.
    if grown > threshold && trend.spread.0 > 0.0 && middle - early > threshold / 6.0 && late - middle > threshold / 6.0
    {
        return Shape::Growing;
    }
    if (late - early).abs() > threshold
        && ((middle - early).abs() < threshold / 6.0 || (late - middle).abs() < threshold / 6.0)
    {
        return Shape::OneStep;
    }
    if swing > 2.0 * threshold { Shape::Sawtooth } else { Shape::Plateau }
}

fn thin(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(PAIRED).max(1);
    points.iter().copied().step_by(step).collect()
}

fn pair_slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (index, from) in points.iter().enumerate() {
        for to in points.iter().skip(index + 1) {
            if to.0 > from.0 {
                slopes.push((to.1 - from.1) / (to.0 - from.0));
            }
        }
    }
    slopes.sort_by(f64::total_cmp);
    slopes
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(0.0)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Vec<(f64, f64)> {
        values.iter().enumerate().map(|(index, value)| (index as f64, *value)).collect()
    }

    #[test]
    fn shapes_are_told_apart() {
        let ramp = (0..20).map(|n| f64::from(n) * 30.0);
        let flat: Vec<f64> = ramp.clone().chain(std::iter::repeat_n(600.0, 40)).collect();
        assert_eq!(trend(&series(&flat)).shape, Shape::Plateau);
        let growing: Vec<f64> = ramp.clone().chain((0..40).map(|n| 600.0 + f64::from(n) * 24.0)).collect();
        let found = trend(&series(&growing));
        assert_eq!(found.shape, Shape::Growing);
        assert!((found.slope - 24.0).abs() < 0.01);
        let step: Vec<f64> = ramp.clone().chain((0..40).map(|n| if n < 30 { 600.0 } else { 1200.0 })).collect();
        assert_eq!(trend(&series(&step)).shape, Shape::OneStep);
        let saw: Vec<f64> = ramp.chain((0..40).map(|n| if n % 2 == 0 { 600.0 } else { 900.0 })).collect();
        assert_eq!(trend(&series(&saw)).shape, Shape::Sawtooth);
        assert_eq!(trend(&series(&[1.0, 2.0])).shape, Shape::TooShort);
    }

    #[test]
    fn a_peak_of_a_few_seconds_is_no_growth() {
        let mut flat = vec![600.0; 60];
        flat[45] = 1400.0;
        flat[46] = 1400.0;
        assert_ne!(trend(&series(&flat)).shape, Shape::Growing);
    }
}
