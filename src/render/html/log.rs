//! Lines of the log as a page shows them: with numbers, those that speak marked, gaps told.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::context::Context;
use crate::report::{EvidenceReport, PageLine, Report};
use crate::text::number;

/// Lines around a piece of evidence where it is quoted.
const AROUND: u64 = 2;
/// Lines of one quotation.
const QUOTED: usize = 12;

/// Evidence with what stands around it.
pub(super) fn quoted(evidence: &[EvidenceReport], context: &Context<'_>) -> Markup {
    html! { div.quotes { @for one in evidence { (quote(one, context)) } } }
}

fn quote(one: &EvidenceReport, context: &Context<'_>) -> Markup {
    let last = one.at.last_line.unwrap_or(one.at.line);
    let around =
        one.at.line.saturating_sub(AROUND)..=one.at.line.saturating_add(AROUND).max(last.min(one.at.line + AROUND));
    let lines: Vec<&PageLine> = context.lines.iter().filter(|line| around.contains(&line.line)).take(QUOTED).collect();
    let held = lines.iter().any(|line| line.line == one.at.line);
    html! {
        div.quote {
            @if let Some(remark) = &one.remark { p.remark { (remark) } }
            div.code tabindex="0" role="group" aria-label=(context.labels.line(&one.at)) {
                @if held {
                    @for line in lines {
                        div class=(if (one.at.line..=last).contains(&line.line) { "row hit" } else { "row" }) {
                            (context.line(line.line)) span.text { (text(line, context)) }
                        }
                    }
                    @if last > one.at.line + AROUND { div.row.gap { (context.with("through", &[("n", &last.to_string())])) } }
                } @else {
                    div.row.hit { (context.place(&one.at)) span.text { (one.text) } }
                }
            }
        }
    }
}

fn text(line: &PageLine, context: &Context<'_>) -> Markup {
    html! {
        @if let Some(stamp) = &line.stamp { span.stamp { (stamp) " " } }
        @match &line.bar {
            Some(bar) => span.barline {
                (context.with("bar", &[("done", &bar.done.to_string()), ("total", &bar.total.to_string())]))
                @if let Some(step) = bar.seconds_per_step { " · " (number(step, 2)) " " (context.labels.get("col-step")) }
            },
            None => (line.text),
        }
    }
}

/// All lines that the page holds. Each has an id, so that marks of pictures lead to it.
pub(super) fn section(report: &Report, context: &Context<'_>) -> Markup {
    if context.lines.is_empty() {
        return html! {};
    }
    let hits = hits(report);
    let whole = context.lines.last().is_some_and(|line| line.line >= report.fitness.lines)
        && context.lines.windows(2).all(|pair| matches!(pair, [a, b] if b.line <= a.line + 1));
    let mut before = 0;
    let rows: Vec<Markup> = context
        .lines
        .iter()
        .map(|line| {
            let gap = line.line > before + 1 && before > 0;
            let skipped = line.line.saturating_sub(before + 1).to_string();
            let first = line.line != before;
            before = line.line;
            let class = match hits.get(&line.line) {
                Some(true) => "row hit grave",
                Some(false) => "row hit",
                None => "row",
            };
            html! {
                @if gap { div.row.gap { (context.with("skipped", &[("n", &skipped)])) } }
                div class=(class) id=[first.then(|| context.line_id(line.line))] {
                    span.ln { (line.line) } span.text { (text(line, context)) }
                }
            }
        })
        .collect();
    let shown = context.lines.len().to_string();
    let all = report.fitness.lines.to_string();
    html! {
        section aria-labelledby=(context.id("log-title")) {
            h3 id=(context.id("log-title")) { (context.say("log")) }
            p { (context.with(if whole { "log-whole" } else { "log-part" }, &[("n", &shown), ("all", &all)])) }
            div.code.log tabindex="0" role="region" aria-label=(context.say("log")) { @for row in rows { (row) } }
        }
    }
}

/// Lines that the findings rest on; true for those of the verdict.
fn hits(report: &Report) -> BTreeMap<u64, bool> {
    let mut hits = BTreeMap::new();
    for finding in &report.findings {
        let primary = finding.id == report.verdict.primary;
        for one in &finding.evidence {
            *hits.entry(one.at.line).or_insert(false) |= primary;
        }
    }
    hits
}
