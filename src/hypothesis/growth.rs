//! Does memory grow per prompt although no text tells why? Needs samples taken beside the log.

use super::Case;
use super::context::Context;
use super::finding::{Basis, Figure, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, figure, told};
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::samples::{Column, Samples, Shape, Trend, Work, trend};
use crate::text;
use crate::timeline::Session;

/// What its finding is about.
const ABOUT: &str = "growth";

/// What the samples say, when there are any.
pub struct Growth {
    pub trend: Trend,
    pub column: Column,
}

/// Judges the samples by the prompts of a session.
pub fn judge(session: &Session, samples: Option<&Samples>) -> Option<Growth> {
    let samples = samples?;
    let column = samples.ram_column()?;
    Some(Growth { trend: trend(&samples.series(column), &work(session, samples)), column })
}

/// The prompts of a session in order, with the moments at which they ended where the samples tell.
pub fn work(session: &Session, samples: &Samples) -> Work {
    let ended: Vec<f64> =
        session.prompt_list.iter().filter(|prompt| prompt.ended).filter_map(|prompt| prompt.seconds).collect();
    let mut sorted = ended.clone();
    sorted.sort_by(f64::total_cmp);
    // Those between the first and the last are not kept in a long log; they took as long as the others.
    let usual = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let missing = usize::try_from(session.prompts_left_out).unwrap_or(0);
    let middle = ended.len() / 2;
    let mut durations = ended.get(..middle).unwrap_or_default().to_vec();
    durations.extend(std::iter::repeat_n(usual, missing));
    durations.extend(ended.get(middle..).unwrap_or_default());
    let ends = (!samples.ended.is_empty()).then(|| samples.ended.clone());
    Work { durations, ends }
}

/// The finding is one of this file.
pub fn is_growth(finding: &Finding) -> bool {
    finding.about.as_deref() == Some(ABOUT)
}

/// Memory is level at the end, by this many prompts: nothing goes on growing.
pub fn is_level(growth: &Growth) -> bool {
    matches!(growth.trend.shape, Shape::Plateau | Shape::OneStep | Shape::Sawtooth) && growth.trend.bound.is_finite()
}

/// `leak-suspected` when memory grows on and nothing by design explains it.
pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    growing(case.view, case.messages, case.samples).into_iter().collect()
}

// Long: one finding, from its grounds to its lines.
fn growing(view: &Context<'_>, messages: &Messages<'_>, samples: Option<&Samples>) -> Option<Finding> {
    let session = view.session;
    let growth = judge(session, samples)?;
    let told_by_text = session.leaks.values().any(|leak| leak.warning > 0);
    let per_prompt = growth.trend.per_prompt?;
    let new_models = loads_in_later_half(view);
    // What loads new models may keep them for that; few readings cannot tell one load from a leak.
    if growth.trend.shape != Shape::Growing || told_by_text || (growth.trend.coarse && new_models) {
        return None;
    }
    let mode = super::by_design::cache_mode(view, messages.packs).map(|(mode, _)| mode);
    let filling = mode.as_deref() == Some("lru");
    let keeps = mode.as_deref() == Some("ram-pressure");
    let (status, grade, reason) = match (filling, new_models, growth.trend.coarse) {
        (true, ..) => (Status::Possible, Grade::Weak, "grade-growth-lru"),
        (_, true, _) => (Status::Possible, Grade::Weak, "grade-growth-new-models"),
        (_, _, true) => (Status::Likely, Grade::Weak, "grade-growth-coarse"),
        _ if keeps => (Status::Likely, Grade::Moderate, "grade-growth-ram-pressure"),
        _ => (Status::Likely, Grade::Moderate, "grade-growth"),
    };
    let summary = messages.text("growth-per-prompt", &[("size", &text::mib(per_prompt))]);
    let lines =
        session.last_executed.iter().map(|at| evidence(at, Some(messages.text("remark-no-leak-text", &[])))).collect();
    let settle = if keeps { "settle-growth-cache" } else { "settle-growth" };
    Some(
        FindingBuilder::new(Verdict::LeakSuspected, view.number, status, summary)
            .about(ABOUT)
            .grade(grade, messages.text(reason, &[]))
            .figures(figures(view, messages, samples, &growth, per_prompt))
            .settle(messages.text(settle, &[]))
            .because(lines),
    )
}

fn figures(
    view: &Context<'_>,
    messages: &Messages<'_>,
    samples: Option<&Samples>,
    growth: &Growth,
    per_prompt: f64,
) -> Vec<Figure> {
    let trend = growth.trend;
    let values = values(messages, growth);
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let grown = trend.last_mib - trend.first_mib;
    let mut figures = vec![
        figure("growth", messages.text("figure-growth", &values), Basis::Measured, grown, "MiB", Vec::new()),
        figure(
            "per-prompt",
            messages.text("figure-growth-per-prompt", &[("size", &text::mib(per_prompt))]),
            Basis::Estimate,
            per_prompt,
            "MiB",
            Vec::new(),
        ),
    ];
    if let Some(room) = room(view, samples, &trend) {
        let left = text::number((room / per_prompt).floor().max(0.0), 0);
        let text = messages.text("figure-prompts-left", &[("n", &left)]);
        figures.push(told("prompts-left", text, Basis::Extrapolated, Vec::new()));
    }
    figures
}

/// What the samples say, whatever the verdict: samples that are given are always answered. Nothing when the finding
/// `chosen` is about them or they are not there.
pub fn note(
    view: &Context<'_>,
    messages: &Messages<'_>,
    samples: Option<&Samples>,
    chosen: &Finding,
) -> Option<Figure> {
    let growth = judge(view.session, samples)?;
    let told_already = is_growth(chosen) || chosen.figures.iter().any(|figure| figure.name == "level");
    (!told_already).then(|| level(messages, &growth))
}

/// The shape in one sentence, as a figure.
pub fn level(messages: &Messages<'_>, growth: &Growth) -> Figure {
    let trend = growth.trend;
    let key = match trend.shape {
        Shape::Plateau if trend.bound.is_finite() => "figure-level",
        Shape::OneStep if trend.bound.is_finite() => "figure-one-step",
        Shape::Sawtooth => "figure-sawtooth",
        Shape::Filling => "figure-filling",
        Shape::Growing => "figure-growing",
        _ if trend.readings == 1 => "figure-one-reading",
        _ if trend.coarse => "figure-coarse",
        _ => "figure-too-short",
    };
    let values = values(messages, growth);
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    figure("level", messages.text(key, &values), Basis::Measured, trend.level_mib, "MiB", Vec::new())
}

/// What the sentences about a series are filled with.
fn values(messages: &Messages<'_>, growth: &Growth) -> Vec<(&'static str, String)> {
    let trend = growth.trend;
    let bound = if trend.bound.is_finite() { trend.bound } else { 0.0 };
    vec![
        ("what", messages.text(&format!("column-{}", column_name(growth.column)), &[])),
        ("first", text::mib(trend.first_mib)),
        ("last", text::mib(trend.last_mib)),
        ("level", text::mib(trend.level_mib)),
        ("seconds", text::number(trend.seconds, 0)),
        ("readings", messages.count("reading-one", "reading-many", trend.readings as u64, &[])),
        ("prompts", messages.count("prompt-one", "prompt-many", trend.prompts as u64, &[])),
        ("bound", text::mib(bound)),
        ("size", text::mib(trend.per_prompt.unwrap_or(0.0))),
    ]
}

/// Text id of a column.
pub fn column_name(column: Column) -> &'static str {
    match column {
        Column::Anon => "anon",
        Column::Rss => "rss",
        Column::Pss => "pss",
        Column::Cgroup => "cgroup",
        Column::Available => "available",
        Column::Vram => "vram",
    }
}

fn loads_in_later_half(view: &Context<'_>) -> bool {
    let half = view.session.prompts.executed / 2;
    view.session
        .prompt_list
        .iter()
        .any(|prompt| prompt.number > half && (prompt.loader_lines > 0 || !prompt.requested.is_empty()))
}

fn room(view: &Context<'_>, samples: Option<&Samples>, trend: &Trend) -> Option<f64> {
    if let Some((limit, _)) = view.limit_mib {
        return Some((limit - trend.last_mib).max(0.0));
    }
    samples?.points.last()?.available_mib
}
