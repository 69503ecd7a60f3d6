//! Curves through the values at rest, one per prompt: level, a line, a fill that slows down, a line behind a
//! warm-up, one step. The one that explains most for its parameters is taken (Bayes' information criterion).
//!
//! Least squares with weights that let single peaks go.

/// How memory runs from prompt to prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Curve {
    Level,
    Line,
    /// `a + c·e^(-x/τ)`: it slows down.
    Fill,
    /// The same with a line on top: a warm-up, then steady growth.
    WarmLine,
    /// A warm-up, then a fill that slows down.
    WarmFill,
    /// Two levels.
    Step,
    /// The same behind a warm-up.
    WarmStep,
}

/// A fitted curve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    pub(super) curve: Curve,
    /// Growth per prompt of its line; 0 without one.
    pub(super) slope: f64,
    /// Standard error of the slope.
    pub(super) error: f64,
    /// Spread of the values about the curve.
    pub(super) noise: f64,
    /// First prompt of the later level, for a step.
    pub(super) step_at: Option<usize>,
    /// What it still rises over the last quarter.
    pub(super) late_rise: f64,
    /// Height of the step, for a step.
    pub(super) step: f64,
    score: f64,
}

/// Spread that is always there: what is measured is whole pages of many allocations.
const FLOOR_MIB: f64 = 0.3;
/// Rounds of reweighting.
const ROUNDS: usize = 4;

/// The curve that explains `points` (prompt, MiB) best.
pub(super) fn best(points: &[(f64, f64)]) -> Option<Fit> {
    let count = points.len() as f64;
    let last = points.last()?.0 - points.first()?.0;
    let mut fits = vec![fit(points, Curve::Level, None, None), fit(points, Curve::Line, None, None)];
    let mut tau = 0.7;
    while tau < 2.0 * last {
        fits.push(fit(points, Curve::Fill, Some((tau, tau)), None));
        // A warm-up is over within a third of what is judged; a slower one is a fill.
        if tau < last / 3.0 && count >= 7.0 {
            fits.push(fit(points, Curve::WarmLine, Some((tau, tau)), None));
        }
        let mut slow = (last / 3.0).max(3.0 * tau);
        while slow < 1.5 * last && tau < last / 4.0 && count >= 8.0 {
            fits.push(fit(points, Curve::WarmFill, Some((tau, slow)), None));
            slow *= 1.4;
        }
        tau *= 1.25;
    }
    for at in 1..points.len() {
        fits.push(fit(points, Curve::Step, None, Some(at)));
        for tau in [1.0, 2.0, 4.0, 8.0].into_iter().filter(|tau| *tau < last / 4.0) {
            fits.push(fit(points, Curve::WarmStep, Some((tau, tau)), Some(at)));
        }
    }
    fits.into_iter().flatten().min_by(|a, b| a.score.total_cmp(&b.score))
}

/// A straight line, whatever else would fit better.
pub(super) fn line(points: &[(f64, f64)]) -> Option<Fit> {
    fit(points, Curve::Line, None, None)
}

/// Columns of the curve at `x`, `x` counted from the first point.
fn columns(curve: Curve, x: f64, tau: (f64, f64), after: bool) -> ([f64; 3], usize) {
    let decay = (-x / tau.0).exp();
    match curve {
        Curve::Level => ([1.0, 0.0, 0.0], 1),
        Curve::Line => ([1.0, x, 0.0], 2),
        Curve::Fill => ([1.0, decay, 0.0], 2),
        Curve::WarmLine => ([1.0, x, decay], 3),
        Curve::WarmFill => ([1.0, (-x / tau.1).exp(), decay], 3),
        Curve::Step => ([1.0, f64::from(u8::from(after)), 0.0], 2),
        Curve::WarmStep => ([1.0, f64::from(u8::from(after)), decay], 3),
    }
}

fn fit(points: &[(f64, f64)], curve: Curve, tau: Option<(f64, f64)>, step: Option<usize>) -> Option<Fit> {
    let start = points.first()?.0;
    let rows: Vec<([f64; 3], f64)> = points
        .iter()
        .enumerate()
        .map(|(index, (x, y))| {
            (columns(curve, x - start, tau.unwrap_or((1.0, 1.0)), step.is_some_and(|at| index >= at)).0, *y)
        })
        .collect();
    let terms = columns(curve, 0.0, (1.0, 1.0), false).1;
    let mut weights = vec![1.0; rows.len()];
    let mut solved = solve(&rows, &weights, terms)?;
    for _ in 0..ROUNDS {
        let spread = spread(&rows, &solved.0).max(FLOOR_MIB);
        for (weight, row) in weights.iter_mut().zip(&rows) {
            let off = (row.1 - value(&row.0, &solved.0)) / (4.0 * spread);
            *weight = 1.0 / (1.0 + off * off).powi(2);
        }
        solved = solve(&rows, &weights, terms)?;
    }
    let (answer, variance) = solved;
    let kept: f64 = weights.iter().sum();
    let squares: f64 =
        rows.iter().zip(&weights).map(|(row, weight)| weight * (row.1 - value(&row.0, &answer)).powi(2)).sum();
    // The place of the step and the pace of a fill are chosen as well; a step is one of many places.
    let chosen = terms as f64
        + f64::from(u8::from(tau.is_some()))
        + f64::from(u8::from(curve == Curve::WarmFill))
        + 2.0 * f64::from(u8::from(step.is_some()));
    let count = points.len() as f64;
    let free = (kept - terms as f64).max(1.0);
    let noise = (squares / free).sqrt().max(FLOOR_MIB);
    let rise_of = |from: usize, to: usize| value(&rows[to].0, &answer) - value(&rows[from].0, &answer);
    let has_line = matches!(curve, Curve::Line | Curve::WarmLine);
    // Points that were let go count as badly explained, else a curve could drop what it does not fit.
    let dropped = count - kept;
    let score = count * (squares / kept.max(1.0) + FLOOR_MIB * FLOOR_MIB).ln() + (chosen + dropped) * count.ln();
    Some(Fit {
        curve,
        slope: if has_line { answer[1] } else { 0.0 },
        error: noise * variance[1].max(0.0).sqrt(),
        noise,
        step_at: step,
        step: if step.is_some() { answer[1] } else { 0.0 },
        late_rise: rise_of(rows.len() - 1 - rows.len() / 4, rows.len() - 1),
        score,
    })
}

fn value(row: &[f64; 3], answer: &[f64; 3]) -> f64 {
    row.iter().zip(answer).map(|(a, b)| a * b).sum()
}

/// Median distance, as a standard deviation.
fn spread(rows: &[([f64; 3], f64)], answer: &[f64; 3]) -> f64 {
    let mut off: Vec<f64> = rows.iter().map(|row| (row.1 - value(&row.0, answer)).abs()).collect();
    off.sort_by(f64::total_cmp);
    off.get(off.len() / 2).copied().unwrap_or(0.0) * 1.4826
}

/// Weighted least squares by Gauss and Jordan: the coefficients, and the diagonal of the inverse.
fn solve(rows: &[([f64; 3], f64)], weights: &[f64], terms: usize) -> Option<([f64; 3], [f64; 3])> {
    let mut matrix = [[0.0_f64; 7]; 3];
    for ((row, y), weight) in rows.iter().zip(weights) {
        for i in 0..terms {
            for j in 0..terms {
                matrix[i][j] += weight * row[i] * row[j];
            }
            matrix[i][6] += weight * row[i] * y;
        }
    }
    for i in 0..terms {
        matrix[i][3 + i] = 1.0;
    }
    for i in 0..terms {
        let pivot = (i..terms).max_by(|a, b| matrix[*a][i].abs().total_cmp(&matrix[*b][i].abs()))?;
        matrix.swap(i, pivot);
        let by = matrix[i][i];
        if by.abs() < 1e-9 {
            return None;
        }
        for cell in &mut matrix[i] {
            *cell /= by;
        }
        for j in (0..terms).filter(|j| *j != i) {
            let times = matrix[j][i];
            let pivot_row = matrix[i];
            for (cell, above) in matrix[j].iter_mut().zip(pivot_row) {
                *cell -= times * above;
            }
        }
    }
    let mut answer = [0.0; 3];
    let mut variance = [0.0; 3];
    for i in 0..terms {
        answer[i] = matrix[i][6];
        variance[i] = matrix[i][3 + i];
    }
    Some((answer, variance))
}
