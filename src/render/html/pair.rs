//! Two or more runs side by side: the same pictures, one below the other, to one scale.

use maud::{Markup, html};

use super::budget::{self, Bar, Most};
use super::context::{Context, Figure};
use super::ladder::{self, Axes, Steps};
use crate::render::label::Labels;
use crate::report::{Comparison, Report, SessionReport};

/// One run of a comparison.
struct Lane<'r> {
    title: String,
    session: &'r SessionReport,
    visible: bool,
}

/// The pictures of a comparison; `letter` names its runs.
pub(in crate::render) fn pictures(
    comparison: &Comparison,
    reports: &[&Report],
    labels: &Labels<'_>,
    letter: impl Fn(usize) -> String,
) -> Vec<Markup> {
    let context = Context::new(*labels, &[], 0);
    let lanes: Vec<Lane<'_>> = comparison
        .runs
        .iter()
        .zip(reports)
        .enumerate()
        .filter_map(|(index, (run, report))| {
            let session = report.sessions.iter().find(|session| session.number == run.session)?;
            let title = context.with("pair-run", &[("letter", &letter(index)), ("source", &run.source)]);
            Some(Lane { title, session, visible: super::leaks_visible(report) })
        })
        .collect();
    [held(&lanes, &context), seconds(&lanes, &context)].into_iter().flatten().collect()
}

fn held(lanes: &[Lane<'_>], context: &Context<'_>) -> Option<Markup> {
    let steps: Vec<Vec<Steps>> = lanes.iter().map(|lane| ladder::steps(lane.session, lane.visible)).collect();
    if steps.iter().all(Vec::is_empty) {
        return None;
    }
    let axes = lanes.iter().zip(&steps).map(|(lane, steps)| Axes::of(steps, lane.session.prompts.executed));
    let axes = axes.reduce(Axes::join)?;
    let plot = html! {
        @for (lane, steps) in lanes.iter().zip(&steps) {
            h4 { (lane.title) }
            @if steps.is_empty() { p { (context.say("pair-cannot-tell")) } } @else { (ladder::draw(steps, axes, &lane.title, context)) (ladder::legend(steps)) }
        }
    };
    let table = html! { @for (lane, steps) in lanes.iter().zip(&steps) { h4 { (lane.title) } (ladder::as_table(steps, context)) } };
    Some(figure("pair-ladder", plot, table, context))
}

fn seconds(lanes: &[Lane<'_>], context: &Context<'_>) -> Option<Markup> {
    let bars: Vec<Vec<Bar>> = lanes.iter().map(|lane| budget::bars(lane.session)).collect();
    let most = bars.iter().map(|bars| Most::of(bars)).fold(Most::default(), Most::join);
    if most.seconds <= 0.0 {
        return None;
    }
    let plot = html! {
        @for (lane, bars) in lanes.iter().zip(&bars).filter(|(_, bars)| !bars.is_empty()) {
            h4 { (lane.title) }
            (budget::draw(bars, most, &lane.title, context)) (budget::legend(bars, context))
        }
    };
    let table = html! { @for (lane, bars) in lanes.iter().zip(&bars) { h4 { (lane.title) } (budget::as_table(bars, context)) } };
    Some(figure("pair-budget", plot, table, context))
}

fn figure(id: &str, plot: Markup, table: Markup, context: &Context<'_>) -> Markup {
    let (title, legend) = (context.say(id), html! {});
    Figure { id: id.to_owned(), title, note: String::new(), plot, legend, table }.render(context)
}
