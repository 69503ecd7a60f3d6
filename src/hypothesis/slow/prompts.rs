//! Two prompts that did equal work in unequal time.

use super::{DRIFT, DRIFT_SHOWN, PROMPT_SLOWER, STEP_SLOWER, WAIT, WORTH, budget, span};
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::hypothesis::context::Context;
use crate::hypothesis::finding::{Basis, Figure, Finding, Grade, Status};
use crate::hypothesis::finding_builder::{FindingBuilder, evidence, told};
use crate::text;
use crate::timeline::{Prompt, Steps};

/// Two prompts that did equal work in unequal time.
pub(super) struct Slower<'t> {
    pub(super) fast: &'t Prompt,
    pub(super) slow: &'t Prompt,
    /// How many prompts were as slow.
    pub(super) count: u64,
    /// By seconds per step, else by the whole prompt.
    pub(super) steps: Option<(Steps, Steps)>,
    pub(super) factor: f64,
}

/// The bar that took most of the prompt's time.
pub(super) fn main_bar(prompt: &Prompt) -> Option<Steps> {
    let timed = prompt.bars.iter().filter(|bar| bar.done > 1 && bar.per_step.is_some());
    timed.copied().max_by(|a, b| a.seconds().unwrap_or(0.0).total_cmp(&b.seconds().unwrap_or(0.0)))
}

/// The same steps, and no other models where both tell them.
pub(super) fn equal_work(a: &Prompt, b: &Prompt) -> bool {
    let classes =
        |prompt: &Prompt| -> Vec<String> { prompt.requested.keys().chain(prompt.prepared.keys()).cloned().collect() };
    let (of_a, of_b) = (classes(a), classes(b));
    let same_models = of_a.is_empty() || of_b.is_empty() || of_a == of_b;
    let totals = |prompt: &Prompt| main_bar(prompt).map(|bar| bar.total);
    same_models && totals(a) == totals(b)
}

pub(super) fn slower<'t>(view: &Context<'t>) -> Option<Slower<'t>> {
    let prompts: Vec<&Prompt> = view.session.prompt_list.iter().filter(|prompt| prompt.ended_well()).collect();
    let mut worst: Option<Slower<'t>> = None;
    for (at, slow) in prompts.iter().enumerate() {
        for fast in prompts.iter().take(at).filter(|fast| equal_work(fast, slow)) {
            let Some(found) = compare(fast, slow) else { continue };
            // The last prompt tells what is wrong now.
            if worst.as_ref().is_none_or(|known| found.slow.number > known.slow.number || found.factor > known.factor) {
                worst = Some(found);
            }
        }
    }
    let mut worst = worst?;
    let as_slow =
        prompts.iter().filter(|prompt| compare(worst.fast, prompt).is_some() && equal_work(worst.fast, prompt));
    worst.count = as_slow.count() as u64;
    Some(worst)
}

fn compare<'t>(fast: &'t Prompt, slow: &'t Prompt) -> Option<Slower<'t>> {
    if let (Some(a), Some(b)) = (main_bar(fast), main_bar(slow)) {
        let factor = b.per_step? / a.per_step?;
        let worth = b.seconds()? - a.seconds()? >= WORTH;
        return (factor >= STEP_SLOWER && worth).then_some(Slower {
            fast,
            slow,
            count: 1,
            steps: Some((a, b)),
            factor,
        });
    }
    let (a, b) = (fast.seconds?, slow.seconds?);
    (a > 0.0 && b / a >= PROMPT_SLOWER && b - a >= WAIT).then_some(Slower {
        fast,
        slow,
        count: 1,
        steps: None,
        factor: b / a,
    })
}

/// "2.00 s" or "0.25 s": seconds of one step.
pub(super) fn step(bar: Steps) -> String {
    text::number(bar.per_step.unwrap_or_default(), 2)
}

pub(super) fn comparison(slower: &Slower<'_>, messages: &Messages<'_>) -> String {
    let number = |prompt: &Prompt| prompt.number.to_string();
    let (fast, slow, factor) = (number(slower.fast), number(slower.slow), text::number(slower.factor, 1));
    let spent = |prompt: &Prompt| prompt.seconds.map(|seconds| span(seconds, messages)).unwrap_or_default();
    let (fast_time, slow_time) = (spent(slower.fast), spent(slower.slow));
    let mut values = vec![
        ("fast", fast.as_str()),
        ("slow", slow.as_str()),
        ("factor", factor.as_str()),
        ("fast_time", fast_time.as_str()),
        ("slow_time", slow_time.as_str()),
    ];
    let Some((a, b)) = slower.steps else { return messages.text("slower-prompt", &values) };
    let (a_step, b_step, total) = (step(a), step(b), b.total.to_string());
    values.extend([("fast_step", a_step.as_str()), ("slow_step", b_step.as_str()), ("total", total.as_str())]);
    messages.text("slower-steps", &values)
}

pub(super) fn slowdown(slower: &Slower<'_>, view: &Context<'_>, messages: &Messages<'_>) -> Finding {
    let mut figures = Vec::new();
    let all = &view.session.prompt_list;
    for prompt in all.iter().filter(|prompt| prompt.ended && !prompt.failed).take(4) {
        figures.extend(budget(prompt, view, messages));
    }
    let lines = [slower.fast, slower.slow];
    let lines = lines.iter().filter_map(|prompt| prompt.executed_at.as_ref());
    let about = if slower.steps.is_some() { "slow-steps" } else { "slow-prompts" };
    FindingBuilder::new(Verdict::InsufficientEvidence, view.number, Status::NotAssessable, comparison(slower, messages))
        .about(about)
        .grade(Grade::Moderate, messages.text("grade-slow", &[]))
        .figures(figures)
        .settle(messages.text("settle-slow", &[]))
        .because(lines.map(|at| evidence(at, None)).collect())
}

/// Prompts of which each took longer than the one before.
pub fn drift(view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let ran: Vec<&Prompt> = view.session.prompt_list.iter().filter(|prompt| prompt.ended_well()).collect();
    let seconds: Vec<f64> = ran.iter().filter_map(|prompt| prompt.seconds).collect();
    let (first, rest) = seconds.split_first()?;
    let longer = seconds.windows(2).all(|pair| matches!(pair, [a, b] if b > a));
    let shown = view.session.prompts_left_out == 0 && (3..=DRIFT_SHOWN).contains(&seconds.len());
    let last = rest.last()?;
    if !longer || !shown || *last < first * DRIFT || last - first < WAIT {
        return None;
    }
    let list: Vec<String> = rest.iter().map(|seconds| text::number(*seconds, 1)).collect();
    let values = [("first", text::number(*first, 1)), ("rest", list.join(messages.list_mark()))];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let lines = ran.iter().filter_map(|prompt| Some(prompt.executed_at.as_ref()?.place.line));
    Some(told("drift", messages.text("figure-drift", &values), Basis::Measured, lines.collect()))
}
