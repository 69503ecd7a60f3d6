//! Does memory grow per prompt although no text tells why? Needs samples taken beside the log.

use super::Case;
use super::context::Context;
use super::finding::{Basis, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, figure, told};
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::samples::{Column, Samples, Shape, Trend, trend};
use crate::text;

/// What its finding is about.
const ABOUT: &str = "growth";

/// What the samples say, when there are any that can be judged.
pub struct Growth {
    pub trend: Trend,
    pub column: Column,
}

/// Judges the samples.
pub fn judge(samples: Option<&Samples>) -> Option<Growth> {
    let samples = samples?;
    let column = samples.ram_column()?;
    Some(Growth { trend: trend(&samples.series(column)), column })
}

/// The finding is one of this file.
pub fn is_growth(finding: &Finding) -> bool {
    finding.about.as_deref() == Some(ABOUT)
}

/// `leak-suspected` when memory grows on and nothing by design explains it.
pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    growing(case.view, case.messages, case.samples).into_iter().collect()
}

// Long: one finding, from its grounds to its lines.
fn growing(view: &Context<'_>, messages: &Messages<'_>, samples: Option<&Samples>) -> Option<Finding> {
    let growth = judge(samples)?;
    let session = view.session;
    let told_by_text = session.leaks.values().any(|leak| leak.warning > 0);
    if growth.trend.shape != Shape::Growing || told_by_text || session.prompts.executed < 3 {
        return None;
    }
    let trend = growth.trend;
    let grown = trend.last_mib - trend.first_mib;
    let per_prompt = per_prompt(view, &trend);
    let filling = super::by_design::cache_mode(view, messages.packs).is_some_and(|(mode, _)| mode == "lru");
    let new_models = loads_in_later_half(view);
    let (status, grade, reason) = match (filling, new_models) {
        (true, _) => (Status::Possible, Grade::Weak, "grade-growth-lru"),
        (_, true) => (Status::Possible, Grade::Weak, "grade-growth-new-models"),
        _ => (Status::Likely, Grade::Moderate, "grade-growth"),
    };
    let summary = match per_prompt {
        Some(mib) => messages.text("growth-per-prompt", &[("size", &text::mib(mib))]),
        None => messages.text("growth-summary", &[("size", &text::mib(grown))]),
    };
    let what = messages.text(&format!("column-{}", column_name(growth.column)), &[]);
    let values = [
        ("what", what),
        ("first", text::mib(trend.first_mib)),
        ("last", text::mib(trend.last_mib)),
        ("seconds", text::number(trend.seconds, 0)),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut figures =
        vec![figure("growth", messages.text("figure-growth", &values), Basis::Measured, grown, "MiB", Vec::new())];
    if let Some(mib) = per_prompt {
        figures.push(figure(
            "per-prompt",
            messages.text("figure-growth-per-prompt", &[("size", &text::mib(mib))]),
            Basis::Estimate,
            mib,
            "MiB",
            Vec::new(),
        ));
        if let Some(room) = room(view, samples, &trend) {
            let left = text::number((room / mib).floor().max(0.0), 0);
            figures.push(told(
                "prompts-left",
                messages.text("figure-prompts-left", &[("n", &left)]),
                Basis::Extrapolated,
                Vec::new(),
            ));
        }
    }
    let lines =
        session.last_executed.iter().map(|at| evidence(at, Some(messages.text("remark-no-leak-text", &[])))).collect();
    Some(
        FindingBuilder::new(Verdict::LeakSuspected, view.number, status, summary)
            .about(ABOUT)
            .grade(grade, messages.text(reason, &[]))
            .figures(figures)
            .settle(messages.text("settle-growth", &[]))
            .because(lines),
    )
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

/// MiB per prompt: the usual rise, or the slope times the mean length of a prompt with its pause. An estimate, since the log and the
/// samples share no clock.
fn per_prompt(view: &Context<'_>, trend: &Trend) -> Option<f64> {
    if trend.rise_mib.is_some() {
        return trend.rise_mib;
    }
    let seconds: Vec<f64> = view.session.prompt_list.iter().filter_map(|prompt| prompt.seconds).collect();
    let longest = seconds.iter().copied().fold(0.0, f64::max);
    let prompts = view.session.prompts.executed as f64;
    // The judged half of the samples holds about half of the prompts.
    let mean = (2.0 * trend.seconds / prompts).max(longest.min(seconds.iter().sum::<f64>() / prompts.max(1.0)));
    (prompts > 0.0 && mean > 0.0).then_some(trend.slope * mean)
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
