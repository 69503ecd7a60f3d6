//! Which readings belong to which prompt, and the memory at rest after each: the lowest reading from its end to the
//! end of the next one.
//!
//! Readings and log share a clock only where the readings say when prompts ended. Without that the prompts are laid
//! where memory moves: an idle stretch in front of them or behind them holds none.

/// Points that idle stretches are looked for in; a longer series is thinned to so many.
const THINNED: usize = 800;
/// Drift over an idle stretch that is none, in MiB.
const DRIFT_MIB: f64 = 3.0;
/// Spread of readings up to which a stretch may be idle, in MiB: load peaks are larger.
const NOISE_MIB: f64 = 40.0;
/// Readings that an idle stretch has at least.
const IDLE: usize = 4;
/// A process that has not loaded its libraries yet is smaller than this, in MiB.
const EMPTY_MIB: f64 = 100.0;

/// The prompts of a session, in order.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// Seconds that each took.
    pub durations: Vec<f64>,
    /// When each ended, on the clock of the readings, where that is known.
    pub ends: Option<Vec<f64>>,
}

/// Memory at rest, by the number of prompts that had ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct AtRest {
    pub(super) points: Vec<(f64, f64)>,
    /// Fewer readings than prompts: what single prompts added cannot be told apart.
    pub(super) coarse: bool,
}

/// Joins readings and prompts.
pub(super) fn at_rest(series: &[(f64, f64)], work: &Work) -> AtRest {
    let ends = work.ends.clone().unwrap_or_else(|| laid(series, &work.durations));
    let Some(last) = series.last() else { return AtRest::default() };
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut readings = 0;
    for (index, end) in ends.iter().enumerate() {
        let until = ends.get(index + 1).copied().unwrap_or(last.0 + 1.0);
        let from = series.partition_point(|point| point.0 < *end);
        let to = series.partition_point(|point| point.0 < until);
        let slot = series.get(from..to).unwrap_or_default();
        readings += slot.len();
        let lowest = slot.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        if lowest.is_finite() {
            points.push(((index + 1) as f64, lowest));
        }
    }
    let coarse = points.len() * 10 < ends.len() * 6 || readings < ends.len();
    AtRest { points, coarse }
}

/// Ends of the prompts, laid into the stretch in which memory moves.
fn laid(series: &[(f64, f64)], durations: &[f64]) -> Vec<f64> {
    let busy: f64 = durations.iter().sum();
    let (start, end) = stretch(series, busy, durations.len());
    let pause = ((end - start - busy) / durations.len().max(1) as f64).max(0.0);
    let shrink = if busy > end - start && busy > 0.0 { (end - start) / busy } else { 1.0 };
    let mut at = start;
    durations
        .iter()
        .map(|seconds| {
            at += seconds * shrink;
            let ended = at;
            at += pause;
            ended
        })
        .collect()
}

/// From when to when the prompts ran.
fn stretch(series: &[(f64, f64)], busy: f64, prompts: usize) -> (f64, f64) {
    let step = series.len().div_ceil(THINNED).max(1);
    let points: Vec<(f64, f64)> = series.iter().copied().step_by(step).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return (0.0, 0.0) };
    let mut from = 0;
    if first.1 < EMPTY_MIB {
        // Libraries are loaded first; what follows that is flat for a moment.
        from = (1..points.len().saturating_sub(IDLE)).find(|at| is_flat(&points[*at..at + IDLE - 1])).unwrap_or(0);
    }
    let behind = (IDLE..=points.len() - from).rfind(|count| is_idle(&points[from..from + count]));
    let idle_head = behind.map_or(points[from].0, |count| points[from + count - 1].0);
    let ahead = (IDLE..=points.len()).rfind(|count| is_idle(&points[points.len() - count..]));
    let idle_tail = ahead.map_or(last.0, |count| points[points.len() - count].0);
    if idle_tail <= idle_head {
        // It never moves.
        return (first.0, last.0);
    }
    let end = idle_tail.max((idle_head + busy).min(last.0));
    let known = behind.is_some() || from > 0;
    let about = end - idle_head <= busy * 1.25;
    let start = if (known || about) && end - idle_head >= busy { idle_head } else { (end - busy).max(first.0) };
    let moving: Vec<(f64, f64)> = points.iter().copied().filter(|point| point.0 <= end).collect();
    (first_of_alike(&moving, prompts).unwrap_or(start).min(start), end)
}

/// The reading in front of the first of the last rises that are all alike: one for each prompt, most likely.
fn first_of_alike(points: &[(f64, f64)], prompts: usize) -> Option<f64> {
    let rises: Vec<(f64, f64)> =
        points.windows(2).filter_map(|pair| if let [a, b] = pair { Some((a.0, b.1 - a.1)) } else { None }).collect();
    let mut sizes: Vec<f64> = rises.iter().map(|rise| rise.1).filter(|rise| *rise > DRIFT_MIB).collect();
    sizes.sort_by(f64::total_cmp);
    let usual = sizes.get(sizes.len() / 2).copied()?;
    let other = |rise: f64| rise.abs() > DRIFT_MIB && (rise - usual).abs() > usual * 0.2;
    let alike: Vec<f64> = rises
        .iter()
        .rev()
        .take_while(|rise| !other(rise.1))
        .filter(|rise| rise.1 > DRIFT_MIB)
        .map(|rise| rise.0)
        .take(prompts)
        .collect();
    let first = alike.last().copied().filter(|_| alike.len() >= IDLE && alike.len() * 2 >= prompts)?;
    let last = alike.first().copied()?;
    // Prompts in front of them, whose rises are among others, ran at the same pace.
    let pace = (last - first) / (alike.len() - 1) as f64;
    Some((first - pace * (prompts - alike.len()) as f64).max(points.first()?.0))
}

/// Three readings or more that hardly differ.
fn is_flat(points: &[(f64, f64)]) -> bool {
    let low = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    high - low <= DRIFT_MIB.max(high * 0.02)
}

/// No drift beyond the noise, and no peak.
fn is_idle(points: &[(f64, f64)]) -> bool {
    let count = points.len() as f64;
    let (mut x_sum, mut y_sum, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0);
    let start = points.first().map_or(0.0, |point| point.0);
    for (x, y) in points {
        let x = x - start;
        x_sum += x;
        y_sum += y;
        xx += x * x;
        xy += x * y;
    }
    let slope = (count * xy - x_sum * y_sum) / (count * xx - x_sum * x_sum).max(1e-9);
    let level = (y_sum - slope * x_sum) / count;
    let seconds = points.last().map_or(0.0, |point| point.0) - start;
    let off: Vec<f64> = points.iter().map(|(x, y)| (y - level - slope * (x - start)).abs()).collect();
    let spread = (off.iter().map(|off| off * off).sum::<f64>() / count).sqrt();
    let largest = off.iter().copied().fold(0.0, f64::max);
    (slope * seconds).abs() <= DRIFT_MIB.max(5.0 * spread / count.sqrt())
        && largest <= DRIFT_MIB.max(5.0 * spread)
        && spread <= NOISE_MIB.max(y_sum / count * 0.01)
}
