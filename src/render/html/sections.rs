//! What stands below the pictures: evidence, what was ruled out, other findings, facts, node packs, records.

use maud::{Markup, html};

use super::context::{Context, table};
use super::log::quoted;
use crate::render::brief::{candidate, figure_rows};
use crate::render::session::value;
use crate::report::{Finding, NodeReport, Report, SessionReport};
use crate::text::number;

/// Evidence of the verdict, with its figures and who may be behind it.
pub(super) fn evidence(report: &Report, context: &Context<'_>) -> Markup {
    let Some(finding) = report.findings.iter().find(|finding| finding.id == report.verdict.primary) else {
        return html! {};
    };
    html! {
        section aria-labelledby=(context.id("evidence")) {
            h3 id=(context.id("evidence")) { (context.say("evidence")) }
            (basis(finding, context))
        }
    }
}

fn basis(finding: &Finding, context: &Context<'_>) -> Markup {
    html! {
        @if !finding.evidence.is_empty() { (quoted(&finding.evidence, context)) }
        @if !finding.figures.is_empty() {
            ul.figures { @for figure in figure_rows(&finding.figures, &context.labels) { li { (figure) } } }
        }
        @if !finding.against.is_empty() { h4 { (context.labels.get("against")) } (quoted(&finding.against, context)) }
        @if !finding.candidates.is_empty() {
            h4 { (context.labels.get("who")) }
            ul { @for one in &finding.candidates { li { (candidate(one, &context.labels)) } } }
        }
        @if let Some(settle) = &finding.settle { p { strong { (context.labels.get("settle")) } " " (settle) } }
    }
}

/// What this log speaks against, and what it cannot tell.
pub(super) fn ruled_out(report: &Report, context: &Context<'_>) -> Markup {
    html! {
        @if !report.ruled_out.is_empty() {
            section aria-labelledby=(context.id("ruled-out")) {
                h3 id=(context.id("ruled-out")) { (context.say("ruled-out")) }
                ul { @for out in &report.ruled_out { li { strong { (name(&out.id.to_string(), context)) } (context.labels.bracket(&out.reason)) } } }
            }
        }
        @if !report.cannot_tell.is_empty() {
            section aria-labelledby=(context.id("cannot-tell")) {
                h3 id=(context.id("cannot-tell")) { (context.say("cannot-tell")) }
                ul { @for text in &report.cannot_tell { li { (text) } } }
            }
        }
    }
}

/// A verdict's name in the page's language; its id where it has none.
fn name(id: &str, context: &Context<'_>) -> String {
    context.labels.packs().prose_text("verdict", id, "name", context.labels.zh()).unwrap_or(id).to_owned()
}

/// Everything else that was examined, folded.
pub(super) fn findings(report: &Report, context: &Context<'_>) -> Markup {
    let primary = report.findings.iter().position(|finding| finding.id == report.verdict.primary);
    let others = report.findings.iter().enumerate().filter(|(index, _)| Some(*index) != primary);
    let others: Vec<&Finding> = others.map(|(_, finding)| finding).collect();
    html! {
        @if !others.is_empty() {
            section aria-labelledby=(context.id("others")) {
                h3 id=(context.id("others")) { (context.say("others")) }
                @for one in others {
                    details {
                        summary {
                            strong { (name(&one.id.to_string(), context)) } @if let Some(about) = &one.about { " [" (about) "]" }
                            " · " (context.labels.status(one.status)) " · " (context.labels.grade(one.grade))
                        }
                        p { (one.summary) }
                        (basis(one, context))
                    }
                }
            }
        }
    }
}

/// Facts of each start, and its node packs.
pub(super) fn session(session: &SessionReport, context: &Context<'_>) -> Markup {
    let [n, first, last] =
        [session.number as u64, session.first_line, session.last_line].map(|value| value.to_string());
    let title = context.labels.with("session", &[("n", &n), ("first", &first), ("last", &last)]);
    let head = ["col-fact", "col-value", "col-line"].map(|id| context.labels.get(id));
    let rows = session
        .facts
        .iter()
        .map(|(name, fact)| vec![html! { code { (name) } }, html! { (value(&fact.value)) }, context.place(&fact.at)]);
    html! {
        section.session aria-label=(title) {
            h3 { (title) }
            details { summary { (context.labels.get("facts")) } (table(&head, rows.collect())) }
            @if !session.custom_nodes.is_empty() { (nodes(&session.custom_nodes, context)) }
        }
    }
}

fn nodes(nodes: &[NodeReport], context: &Context<'_>) -> Markup {
    let failed = nodes.iter().filter(|node| node.failed).count();
    let values = [("n", &*nodes.len().to_string()), ("failed", &failed.to_string())];
    html! {
        details open[failed > 0] {
            summary { (context.with(if failed > 0 { "nodes-failed" } else { "nodes" }, &values)) }
            label.filter hidden { (context.say("filter")) " " input type="search" autocomplete="off"; }
            div.scroll tabindex="0" role="region" aria-label=(context.with("nodes", &values)) {
                table.sortable {
                    thead { tr { @for id in ["col-pack", "col-import", "col-state"] { th scope="col" { (context.say(id)) } } th scope="col" { (context.labels.get("col-line")) } } }
                    tbody {
                        @for node in nodes {
                            tr.bad[node.failed] {
                                td { (node.dir) }
                                td data-value=(node.seconds.unwrap_or(-1.0)) { (node.seconds.map(|seconds| number(seconds, 1)).unwrap_or_default()) }
                                td { @if node.failed { (context.say("import-failed")) @if let Some(reason) = &node.reason { ": " (reason) } } }
                                td { (context.place(&node.at)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Public records that findings rest on, with their state when they were looked at.
pub(super) fn records(report: &Report, context: &Context<'_>) -> Markup {
    let mut seen = Vec::new();
    for one in report.findings.iter().flat_map(|finding| &finding.references) {
        if !seen.iter().any(|known: &&crate::report::Reference| known.link == one.link) {
            seen.push(one);
        }
    }
    let known = |state: &str| matches!(state, "open" | "closed" | "unknown");
    html! {
        @if !seen.is_empty() {
            section aria-labelledby=(context.id("records")) {
                h3 id=(context.id("records")) { (context.say("records")) }
                ul {
                    @for one in seen {
                        @let state = if known(&one.state) { context.labels.get(&format!("state-{}", one.state)) } else { one.state.clone() };
                        li {
                            // Only an address that the packs name; a log cannot bring one here.
                            @if one.link.starts_with("https://") { a href=(one.link) rel="noreferrer noopener" { (one.link) } } @else { (one.link) }
                            (context.labels.bracket(&if one.checked.is_empty() { state } else { context.labels.with("seen-on", &[("state", &state), ("date", &one.checked)]) }))
                        }
                    }
                }
            }
        }
    }
}

/// How far the log could be read, and what was given beside it.
pub(super) fn fitness(report: &Report, context: &Context<'_>) -> Markup {
    let fitness = &report.fitness;
    let counts = [fitness.lines, fitness.understood, fitness.texts].map(|count| count.to_string());
    let [lines, understood, texts] = &counts;
    let values =
        [("lines", lines.as_str()), ("understood", understood), ("texts", texts), ("encoding", &fitness.encoding)];
    html! {
        section aria-labelledby=(context.id("basis")) {
            h3 id=(context.id("basis")) { (context.labels.get("basis")) }
            ul {
                li { (context.labels.get("version")) " " (report.version.shown()) }
                li { (context.labels.get("fitness")) " " (context.labels.with("fitness-text", &values)) @if fitness.cut_end { (context.labels.get("between")) (context.labels.get("cut-end")) } }
                @for gap in &fitness.gaps { li { (gap) } }
                @for given in &report.given { li { (given) } }
            }
        }
    }
}
