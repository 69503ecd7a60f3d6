//! Answers as a page: one HTML file with pictures, that needs no network and shows log text as text.
//!
//! `maud` escapes whatever is put into markup; only the style and the script, which are constants, go in as they are.

mod axis;
mod blocks;
mod budget;
mod card;
mod context;
mod frame;
mod ladder;
mod log;
pub(super) mod pair;
mod ram;
pub(super) mod rounds;
mod sections;
mod svg;
mod timeline;
mod timeline_table;
mod top;

use maud::{Markup, html};

use self::context::Context;
use super::brief::tone;
use super::document::Block;
use super::label::Labels;
use super::palette::Tone;
use crate::catalog::{Packs, Verdict};
use crate::report::{PageLine, Report};

/// Cards that are drawn of one log; the table has all.
const CARDS: usize = 4;

/// A report with the lines of its log that a page shows.
#[derive(Debug)]
pub struct PageReport {
    pub report: Report,
    pub lines: Vec<PageLine>,
}

/// One page for the reports of a run.
pub fn page(reports: &[PageReport], packs: &Packs, zh: bool, redacted: Option<u64>) -> String {
    let labels = Labels::new(packs, zh);
    let several = reports.len() > 1;
    let title = match reports {
        [one] => one.report.verdict.headline.clone(),
        _ => labels.with("summary", &[("n", &reports.len().to_string())]),
    };
    let body = html! {
        @if several { h1 { (title) } (contents(reports, &labels)) }
        @for (number, one) in reports.iter().enumerate() {
            @let context = Context::new(Labels::new(packs, one.report.language == "zh"), &one.lines, number);
            article id=[several.then(|| format!("log{number}"))] { (article(&one.report, several, &context)) }
        }
        @if let Some(count) = redacted { p.redacted { (labels.plain("page-redacted", &[("n", &count.to_string())])) } }
    };
    frame::document(&title, &labels, &body)
}

/// One page for an answer that has no log of its own: its head, pictures, and blocks.
pub(crate) fn page_of(head: &Head<'_>, pictures: &[Markup], told: &[Block], labels: &Labels<'_>) -> String {
    let context = Context::new(*labels, &[], 0);
    let body = html! {
        header class=(format!("answer {}", top::tone_class(head.tone))) {
            h1 { (head.headline) }
            @if !head.standing.is_empty() { p.verdict { (head.standing) } }
        }
        @for picture in pictures { (picture) }
        section aria-label=(head.headline) { (blocks::blocks(told, &context)) }
    };
    frame::document(head.headline, labels, &body)
}

/// What a page without a log begins with.
#[derive(Debug)]
pub(crate) struct Head<'h> {
    pub(crate) headline: &'h str,
    /// The outcome, with its reason.
    pub(crate) standing: &'h str,
    pub(crate) tone: Tone,
}

/// Several logs: which is which.
fn contents(reports: &[PageReport], labels: &Labels<'_>) -> Markup {
    let rows = reports.iter().enumerate().map(|(number, one)| {
        let verdict = &one.report.verdict;
        vec![
            html! { a href=(format!("#log{number}")) { (one.report.source) } },
            html! { code { (verdict.primary.to_string()) } },
            html! { (labels.grade(verdict.grade)) },
            html! { (verdict.headline) },
        ]
    });
    let head = ["col-log", "col-verdict", "col-grade", "col-headline"].map(|id| labels.get(id));
    html! { nav aria-label=(labels.with("summary", &[("n", &reports.len().to_string())])) { (context::table(&head, rows.collect())) } }
}

fn article(report: &Report, several: bool, context: &Context<'_>) -> Markup {
    html! {
        (top::top(report, tone(report.verdict.primary), if several { 2 } else { 1 }, context))
        @for picture in pictures(report, context) { (picture) }
        (sections::evidence(report, context))
        (sections::ruled_out(report, context))
        (sections::findings(report, context))
        @for session in &report.sessions { (sections::session(session, context)) }
        (sections::records(report, context))
        (log::section(report, context))
        (sections::fitness(report, context))
    }
}

/// The log could show a leak: it ruled one out, or tells of one.
fn leaks_visible(report: &Report) -> bool {
    report.ruled_out.iter().any(|out| out.id == Verdict::LeakConfirmed)
        || report.sessions.iter().any(|session| session.leak_passes > 0)
}

/// Those pictures that this log can fill; what filled the card comes first where that is the answer.
fn pictures(report: &Report, context: &Context<'_>) -> Vec<Markup> {
    let telling = report.findings.first().map_or(0, |finding| finding.session);
    let visible = leaks_visible(report);
    let mut cards = Vec::new();
    for session in &report.sessions {
        for (index, oom) in session.ooms.iter().enumerate() {
            cards.extend(card::figure(oom, &format!("card-{}-{index}", session.number), context));
        }
    }
    cards.truncate(CARDS);
    let ram = ram::figure(report, telling, context);
    let ladders = report.sessions.iter().filter_map(|session| ladder::figure(session, visible, context));
    let budgets = report.sessions.iter().filter_map(|session| budget::figure(session, context));
    let timeline = timeline::figure(report, context);
    let mut list: Vec<Markup> = Vec::new();
    match report.verdict.primary {
        Verdict::GpuOom => list.extend(cards.into_iter().chain(timeline).chain(ladders).chain(ram)),
        Verdict::ContainerLimit | Verdict::HostOom => {
            list.extend(ram.into_iter().chain(timeline).chain(ladders).chain(cards))
        }
        Verdict::LeakConfirmed | Verdict::LeakSuspected => list.extend(ladders.chain(timeline).chain(ram).chain(cards)),
        _ => list.extend(timeline.into_iter().chain(ladders).chain(cards).chain(ram)),
    }
    list.extend(budgets);
    list
}
