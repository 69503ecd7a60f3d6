//! The shape of memory from prompt to prompt: level, filling, one step, a sawtooth, or growing.
//!
//! Growth is told only when it stands out from the noise, goes on in several prompts, and is not the beginning of a
//! fill: a wrong "it leaks" costs more than a "cannot tell".

use serde::Serialize;

use super::fit::{Curve, best, line};
use super::rest::{Work, at_rest};

/// Prompts at the start that are not judged: models are loaded, caches filled.
const WARM_UP: f64 = 2.0;
/// Prompts that are judged at least.
const LEAST: usize = 4;
/// How many standard errors a slope must be away from none.
const SURE: f64 = 4.0;
/// Growth over all judged prompts that is no matter, in MiB.
const LITTLE_MIB: f64 = 12.0;
/// Growth per prompt that is no matter, in MiB.
const TRIFLE_MIB: f64 = 0.5;
/// Share of the whole growth that a single prompt may bring.
const ONE_RISE: f64 = 0.5;

/// How many standard errors two paces must be apart to differ.
const SLOWER: f64 = 1.5;
/// A pace that keeps this share of the earlier one goes on.
const STEADY: f64 = 0.8;

/// How a series runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    Plateau,
    /// One rise, then level.
    OneStep,
    /// It rises, and less with each prompt.
    Filling,
    Growing,
    Sawtooth,
    TooShort,
}

/// A series in figures, all in MiB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    pub shape: Shape,
    /// Readings of the series.
    pub readings: usize,
    /// From its first reading to its last.
    pub seconds: f64,
    /// Growth per prompt, when it grows.
    pub per_prompt: Option<f64>,
    /// Growth per prompt up to this cannot be excluded.
    pub bound: f64,
    pub noise: f64,
    /// At rest after the first judged prompt, and after the last.
    pub first_mib: f64,
    pub last_mib: f64,
    /// At rest in the middle of the later prompts.
    pub level_mib: f64,
    /// Growth per prompt over the last quarter of the judged prompts.
    pub late_mib: f64,
    /// Prompts that were judged.
    pub prompts: usize,
    /// Fewer readings than prompts.
    pub coarse: bool,
}

/// Judges `series` of times and MiB by the prompts that ran meanwhile.
pub fn trend(series: &[(f64, f64)], work: &Work) -> Trend {
    let rest = at_rest(series, work);
    let points: Vec<(f64, f64)> = rest.points.iter().copied().filter(|point| point.0 > WARM_UP).collect();
    let ends = (rest.points.first().copied().unwrap_or_default().1, rest.points.last().copied().unwrap_or_default().1);
    let mut trend = Trend {
        shape: Shape::TooShort,
        readings: series.len(),
        seconds: series.last().map_or(0.0, |last| last.0) - series.first().map_or(0.0, |first| first.0),
        per_prompt: None,
        bound: f64::INFINITY,
        noise: 0.0,
        first_mib: points.first().map_or(ends.0, |point| point.1),
        last_mib: ends.1,
        level_mib: middle(points.get(points.len() / 2..).unwrap_or_default()).unwrap_or(ends.1),
        late_mib: 0.0,
        prompts: work.durations.len().saturating_sub(WARM_UP as usize),
        coarse: rest.coarse,
    };
    if rest.coarse {
        return coarse(series, work, trend);
    }
    if points.len() < LEAST {
        return trend;
    }
    let Some(fit) = best(&points) else { return trend };
    let Some(straight) = line(&points) else { return trend };
    trend.noise = fit.noise;
    trend.prompts = points.len();
    trend.late_mib = fit.late_rise / (points.len() / 4).max(1) as f64;
    let grows = fit.slope > TRIFLE_MIB.max(SURE * fit.error) && fit.slope * points.len() as f64 > LITTLE_MIB;
    let slows = fit.curve == Curve::WarmLine && slows_down(&points);
    trend.shape = match fit.curve {
        _ if is_sawtooth(&points) => Shape::Sawtooth,
        Curve::WarmLine if grows && slows => Shape::Filling,
        Curve::Line | Curve::WarmLine if grows && is_spread(&points, fit.slope, fit.noise) => Shape::Growing,
        Curve::Line | Curve::WarmLine if grows => Shape::OneStep,
        Curve::Fill | Curve::WarmFill if fit.late_rise > LITTLE_MIB.max(SURE * fit.noise) => Shape::Filling,
        Curve::Step | Curve::WarmStep if fit.step > LITTLE_MIB.max(SURE * fit.noise) => Shape::OneStep,
        _ => Shape::Plateau,
    };
    trend.per_prompt = (trend.shape == Shape::Growing).then_some(fit.slope);
    // Behind a step, only the later level tells.
    let level = points.get(fit.step_at.unwrap_or(0)..).filter(|later| later.len() >= LEAST).and_then(line);
    let told = if fit.step_at.is_some() { level.unwrap_or(straight) } else { straight };
    let told = if matches!(fit.curve, Curve::Line | Curve::WarmLine) { fit } else { told };
    trend.bound = (told.slope.max(0.0) + SURE * told.error).max(TRIFLE_MIB);
    trend
}

/// The median of the values.
fn middle(points: &[(f64, f64)]) -> Option<f64> {
    let mut values: Vec<f64> = points.iter().map(|point| point.1).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// It rises in several prompts, not in one or two.
fn is_spread(points: &[(f64, f64)], slope: f64, noise: f64) -> bool {
    let rises: Vec<f64> =
        points.windows(2).filter_map(|pair| if let [a, b] = pair { Some(b.1 - a.1) } else { None }).collect();
    let whole = slope * (points.len() - 1) as f64;
    let largest = rises.iter().copied().fold(0.0, f64::max);
    // A jump of a noisy reading is none.
    let several = rises.iter().filter(|rise| **rise > slope * 0.3).count() >= 3;
    several && (largest <= (whole * ONE_RISE).max(4.0 * noise) || points.len() <= LEAST)
}

/// The pace of the last quarter is clearly below that of the quarter before: what looks like growth behind a warm-up
/// is the late part of a fill.
fn slows_down(points: &[(f64, f64)]) -> bool {
    let (half, quarter) = (points.len() / 2, points.len() * 3 / 4);
    let (Some(earlier), Some(later)) = (points.get(half..quarter).and_then(line), points.get(quarter..).and_then(line))
    else {
        return false;
    };
    let slower = earlier.slope - later.slope;
    slower > SLOWER * earlier.error.hypot(later.error) && later.slope < STEADY * earlier.slope
}

/// It falls by much, more than once, and comes back.
fn is_sawtooth(points: &[(f64, f64)]) -> bool {
    let low = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let much = (high - low) * 0.35;
    let falls = points.windows(2).filter(|pair| matches!(pair, [a, b] if a.1 - b.1 > much)).count();
    falls >= 2 && much > 2.0 * LITTLE_MIB
}

/// Several prompts between two readings: only what all of them added is known, when it rose more than once.
fn coarse(series: &[(f64, f64)], work: &Work, mut trend: Trend) -> Trend {
    let count = work.durations.len();
    let tail: Vec<f64> = series.iter().map(|point| point.1).collect();
    let rises: Vec<(usize, f64)> = (1..tail.len())
        .map(|at| (at, tail[at] - tail[at - 1]))
        .rev()
        .skip_while(|(_, rise)| rise.abs() < LITTLE_MIB)
        .take_while(|(_, rise)| *rise >= LITTLE_MIB.max(0.02 * tail.last().copied().unwrap_or(0.0)))
        .collect();
    let added: f64 = rises.iter().map(|(_, rise)| rise).sum();
    if count < WARM_UP as usize + LEAST || rises.len() < 2 {
        return trend;
    }
    let mut seconds = work.durations.clone();
    seconds.sort_by(f64::total_cmp);
    let usual = seconds.get(count / 2).copied().unwrap_or(0.0);
    // One prompt that took so much longer may have brought it all.
    if seconds.last().is_some_and(|longest| *longest > 3.0 * usual + 0.5) {
        trend.shape = Shape::OneStep;
    } else {
        trend.shape = Shape::Growing;
        trend.per_prompt = Some(added / count as f64);
        trend.first_mib = trend.last_mib - added;
        trend.prompts = count;
        trend.bound = added / count as f64;
    }
    trend
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SplitMix64: numbers that come out the same each time.
    struct Dice(u64);

    impl Dice {
        fn share(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }

        fn between(&mut self, low: f64, high: f64) -> f64 {
            low + (high - low) * self.share()
        }

        /// Normally distributed, with a spread of one.
        fn normal(&mut self) -> f64 {
            let radius = (-2.0 * self.share().max(1e-12).ln()).sqrt();
            radius * (std::f64::consts::TAU * self.share()).cos()
        }
    }

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Truth {
        Level,
        Growing,
        Filling,
        Step,
        Sawtooth,
    }

    /// A made-up run: a warm-up, prompts with peaks, idling before and behind, noise, and one truth.
    #[derive(Debug)]
    struct Run {
        series: Vec<(f64, f64)>,
        work: Work,
        /// MiB per prompt.
        growth: f64,
    }

    fn run(truth: Truth, seed: u64) -> Run {
        let dice = &mut Dice(seed * 7919 + truth as u64);
        let prompts = dice.between(8.0, 50.0).floor();
        let seconds = dice.between(4.0, 30.0);
        let pause = if dice.share() < 0.5 { 0.3 } else { seconds * dice.between(0.0, 0.15) };
        let every = if dice.share() < 0.5 { 1.0 } else { (seconds / 4.0).min(5.0) };
        let noise = [1.0, 5.0, 12.0, 30.0][(dice.share() * 4.0) as usize];
        let (base, warm) = (dice.between(300.0, 900.0), dice.between(500.0, 7000.0));
        let pace = if dice.share() < 0.5 { 0.6 } else { dice.between(0.8, (prompts / 6.0).max(0.9)) };
        let growth = dice.between(20.0, 200.0).max(noise * dice.between(1.0, 4.0));
        let growth = if truth == Truth::Growing { growth } else { 0.0 };
        let (fill, fill_pace) = (dice.between(1000.0, 5000.0), prompts * dice.between(0.25, 0.7));
        let (step_at, step) = (prompts * dice.between(0.3, 0.95), dice.between(200.0, 1500.0));
        let peak = if dice.share() < 0.4 { dice.between(500.0, 3000.0) } else { 0.0 };
        let before = if dice.share() < 0.3 { dice.between(20.0, 1200.0) } else { 0.0 };
        let behind = if dice.share() < 0.4 { dice.between(20.0, 2400.0) } else { 0.0 };
        let (tooth, teeth) = (dice.between(200.0, 2000.0), dice.between(3.0, 7.0).floor());
        let slot = seconds + pause;
        let mut series = Vec::new();
        let mut time = 0.0;
        while time <= before + slot * prompts + behind {
            let at = ((time - before) / slot).clamp(0.0, prompts);
            let ended = at.floor();
            let mut memory = base + if time < before { 0.0 } else { warm * (1.0 - (-at / pace).exp()) };
            memory += match truth {
                Truth::Level => 0.0,
                Truth::Growing => growth * ended,
                Truth::Filling => fill * (1.0 - (-ended / fill_pace).exp()),
                Truth::Step => step * f64::from(u8::from(ended >= step_at.floor())),
                Truth::Sawtooth => tooth * (ended % teeth) / teeth,
            };
            if time >= before && at < prompts && (at - ended) * slot < seconds * 0.5 && dice.share() < 0.8 {
                memory += peak;
            }
            series.push((1.7e9 + time, (memory + noise * dice.normal()).max(1.0)));
            time += every;
        }
        Run { series, work: Work { durations: vec![seconds; prompts as usize], ends: None }, growth }
    }

    const SEEDS: u64 = 100;

    #[test]
    fn hardly_ever_does_it_grow_where_it_does_not() {
        for truth in [Truth::Level, Truth::Filling, Truth::Step, Truth::Sawtooth] {
            let runs = (0..SEEDS).map(|seed| run(truth, seed));
            let wrong = runs.filter(|run| trend(&run.series, &run.work).shape == Shape::Growing).count();
            assert!(wrong as u64 * 100 <= 2 * SEEDS, "{truth:?}: {wrong} of {SEEDS}");
        }
    }

    #[test]
    fn growth_is_found_and_measured_within_a_tenth() {
        let runs: Vec<Run> = (0..SEEDS).map(|seed| run(Truth::Growing, seed)).collect();
        let told: Vec<(f64, f64)> = runs
            .iter()
            .filter_map(|run| trend(&run.series, &run.work).per_prompt.map(|mib| (mib, run.growth)))
            .collect();
        assert!(told.len() as u64 * 100 >= 85 * SEEDS, "found in {} of {SEEDS}", told.len());
        let mut errors: Vec<f64> = told.iter().map(|(mib, truth)| (mib - truth).abs() / truth).collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors[errors.len() / 2] < 0.02, "median of the errors: {}", errors[errors.len() / 2]);
        let within = errors.iter().filter(|error| **error <= 0.1).count();
        assert!(within * 100 >= 94 * errors.len(), "{within} of {} within a tenth", errors.len());
    }

    #[test]
    fn with_the_ends_of_the_prompts_nothing_has_to_be_guessed() {
        for seed in 0..SEEDS {
            let mut run = run(Truth::Growing, seed);
            let first = run.series[0].0;
            // The ends as `run` stamps them.
            let jump = |at: usize| first + 3.0 * at as f64;
            let prompts = 20;
            run.series = (0..70).map(|at| (first + f64::from(at), 500.0 + 7.0 * f64::from(at / 3))).collect();
            run.work = Work { durations: vec![0.2; prompts], ends: Some((1..=prompts).map(jump).collect()) };
            let told = trend(&run.series, &run.work);
            assert_eq!(told.shape, Shape::Growing);
            assert!((told.per_prompt.unwrap() - 7.0).abs() < 0.1, "{told:?}");
        }
    }

    #[test]
    fn too_few_prompts_are_said_to_be_too_few() {
        let series: Vec<(f64, f64)> =
            (0..60).map(|at| (f64::from(at), 5500.0 * (1.0 - (-f64::from(at) / 20.0).exp()))).collect();
        let told = trend(&series, &Work { durations: vec![19.0; 3], ends: None });
        assert_eq!((told.shape, told.per_prompt), (Shape::TooShort, None));
        assert_eq!(trend(&series, &Work::default()).shape, Shape::TooShort);
    }

    /// The smallest growth that is found, by noise; the figures of `docs/samples.md`.
    #[test]
    fn what_cannot_be_excluded_is_stated_by_the_noise() {
        for noise in [1.0, 5.0, 20.0] {
            let dice = &mut Dice(7);
            let level: Vec<(f64, f64)> = (0..300).map(|at| (f64::from(at), 3000.0 + noise * dice.normal())).collect();
            let work =
                Work { durations: vec![10.0; 30], ends: Some((1..=30).map(|at| 10.0 * f64::from(at)).collect()) };
            let told = trend(&level, &work);
            assert_eq!(told.shape, Shape::Plateau, "{noise}: {told:?}");
            assert!(told.bound <= 0.5 + noise * 0.3, "{noise}: {told:?}");
        }
    }
}
