//! Models that stay held after each prompt: a line per class, drawn as steps.

use maud::{Markup, html};

use super::context::{Context, Figure, table};
use super::svg::{Height, Scale, plot};
use crate::report::{CurveReport, SessionReport};
use crate::text::number;

/// Height of the plot, without its axis.
const HEIGHT: f64 = 150.0;
const TOP: f64 = 22.0;
/// A plot that holds less is not blown up to look like more.
const LEAST: u64 = 4;
/// Share of the width that the numbers on the left take.
const NUMBERS: f64 = 0.06;
/// Classes with a line of their own.
const CLASSES: usize = 6;

/// Steps of one class.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    pub(super) class: String,
    pub(super) points: Vec<CurveReport>,
}

/// Both axes, so that two ladders can be drawn to one scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axes {
    pub(super) prompts: u64,
    pub(super) held: u64,
}

impl Axes {
    pub(super) fn of(steps: &[Steps], prompts: u64) -> Self {
        let points = || steps.iter().flat_map(|steps| &steps.points);
        let last = points().map(|point| point.prompt).max().unwrap_or(0);
        let held = points().map(|point| point.held).max().unwrap_or(0);
        Self { prompts: prompts.max(last).max(1), held: held.max(LEAST) }
    }

    pub(super) fn join(self, other: Self) -> Self {
        Self { prompts: self.prompts.max(other.prompts), held: self.held.max(other.held) }
    }
}

/// Classes of a session that leak, the worst first; where none does, the classes that were loaded, at zero.
/// None, when the log cannot show leaks or nothing ran.
pub(super) fn steps(session: &SessionReport, visible: bool) -> Vec<Steps> {
    let mut steps: Vec<Steps> = session
        .leaks
        .iter()
        .filter(|(_, leak)| !leak.curve.is_empty())
        .map(|(class, leak)| Steps { class: class.clone(), points: from_zero(&leak.curve) })
        .collect();
    steps.sort_by_key(|steps| std::cmp::Reverse(steps.points.iter().map(|point| point.held).max()));
    let prompts = session.prompts.executed;
    if steps.is_empty() && visible && prompts > 1 {
        // One line for all: they would lie on one another.
        let mut classes: Vec<&str> = session.loads.keys().chain(session.dynamic.keys()).map(String::as_str).collect();
        classes.sort_unstable();
        classes.dedup();
        let more = if classes.len() > CLASSES { " …" } else { "" };
        classes.truncate(CLASSES);
        steps.push(Steps { class: format!("{}{more}", classes.join(", ")), points: flat(session) });
    }
    steps.truncate(CLASSES);
    steps
}

/// Nothing is held before the first prompt that tells of it.
fn from_zero(curve: &[CurveReport]) -> Vec<CurveReport> {
    let before = curve.first().filter(|first| first.prompt > 1).map(|first| CurveReport {
        prompt: first.prompt - 1,
        held: 0,
        line: first.line,
    });
    before.into_iter().chain(curve.iter().copied()).collect()
}

fn flat(session: &SessionReport) -> Vec<CurveReport> {
    let ends = [session.timeline.first(), session.timeline.last()];
    let point = |number, line| CurveReport { prompt: number, held: 0, line };
    ends.into_iter().flatten().map(|prompt| point(prompt.number, prompt.last_line)).collect()
}

/// The ladder of a session; nothing where the log cannot tell.
pub(super) fn figure(session: &SessionReport, visible: bool, context: &Context<'_>) -> Option<Markup> {
    let steps = steps(session, visible);
    if steps.is_empty() {
        return None;
    }
    let axes = Axes::of(&steps, session.prompts.executed);
    let most = steps.iter().flat_map(|steps| &steps.points).map(|point| point.held).max().unwrap_or(0);
    let values = [("n", &*session.prompts.executed.to_string()), ("most", &most.to_string())];
    let note = match most {
        0 => context.with("ladder-flat", &values),
        _ => context.with("ladder-note", &values),
    };
    let title = context.say("ladder");
    let figure = Figure {
        id: context.id(&format!("ladder-{}", session.number)),
        note,
        plot: draw(&steps, axes, &title, context),
        legend: legend(&steps),
        table: as_table(&steps, context),
        title,
    };
    Some(figure.render(context))
}

/// The picture itself.
pub(super) fn draw(steps: &[Steps], axes: Axes, label: &str, context: &Context<'_>) -> Markup {
    // Room for the numbers of the other axis, which would lie on the first step.
    let across = Scale::new(0.5 - axes.prompts as f64 * NUMBERS, axes.prompts as f64 + 0.5);
    let up = Height { top: TOP, height: HEIGHT, most: axes.held as f64 };
    let (ticks, _) = across.ticks(6);
    let bottom = TOP + HEIGHT;
    let inside = html! {
        (up.lines(true))
        @for tick in ticks.iter().filter(|tick| tick.fract() == 0.0 && **tick >= 1.0) {
            text.tick.mid x=(across.at(*tick)) y=(number(bottom + 16.0, 0)) { (number(*tick, 0)) }
        }
        text.tick.end x="100%" y=(number(bottom + 30.0, 0)) { (context.labels.get("col-prompt")) }
        @for (index, steps) in steps.iter().enumerate() { (line(steps, index, across, up, axes, context)) }
        (up.numbers(true, |tick| number(tick, 0)))
    };
    plot(label, bottom + 36.0, false, inside)
}

/// A line that never rises is no alarm.
fn colour(steps: &Steps, index: usize) -> String {
    match steps.points.iter().any(|point| point.held > 0) {
        true => format!("c{index}"),
        false => "flat".to_owned(),
    }
}

fn line(steps: &Steps, index: usize, across: Scale, up: Height, axes: Axes, context: &Context<'_>) -> Markup {
    let class = format!("step {}", colour(steps, index));
    let last = steps.points.last();
    html! {
        g data-class=(steps.class) {
            @for pair in steps.points.windows(2) {
                @if let [a, b] = pair {
                    line class=(class) x1=(across.at(a.prompt as f64)) x2=(across.at(b.prompt as f64)) y1=(up.y(a.held as f64)) y2=(up.y(a.held as f64)) {}
                    line class=(class) x1=(across.at(b.prompt as f64)) x2=(across.at(b.prompt as f64)) y1=(up.y(a.held as f64)) y2=(up.y(b.held as f64)) {}
                }
            }
            @for point in &steps.points {
                @let said = context.with("ladder-point", &[("class", &steps.class), ("n", &point.prompt.to_string()), ("held", &point.held.to_string()), ("line", &point.line.to_string())]);
                (context.mark(point.line, &said, html! {
                    circle class=(format!("dot {}", colour(steps, index))) cx=(across.at(point.prompt as f64)) cy=(up.y(point.held as f64)) r="3.5" data-prompt=(point.prompt) data-held=(point.held) {}
                }))
            }
            @if let Some(last) = last.filter(|_| index == 0) {
                @let near_end = last.prompt * 10 >= axes.prompts * 9;
                text class=(if near_end { "value end" } else { "value" }) x=(across.at(last.prompt as f64)) y=(number(up.at(last.held as f64) - 8.0, 1)) { (last.held) }
            }
        }
    }
}

pub(super) fn legend(steps: &[Steps]) -> Markup {
    html! {
        ul.legend {
            @for (index, steps) in steps.iter().enumerate() {
                li { svg.key width="22" height="10" aria-hidden="true" { line class=(format!("step {}", colour(steps, index))) x1="0" x2="22" y1="5" y2="5" {} } (steps.class) }
            }
        }
    }
}

pub(super) fn as_table(steps: &[Steps], context: &Context<'_>) -> Markup {
    let head = ["col-class", "col-prompt"].map(|id| context.labels.get(id));
    let mut head = head.to_vec();
    head.extend([context.say("col-held-now"), context.labels.get("col-line")]);
    let rows = steps.iter().flat_map(|steps| {
        steps.points.iter().map(|point| {
            vec![html! { (steps.class) }, html! { (point.prompt) }, html! { (point.held) }, context.line(point.line)]
        })
    });
    table(&head, rows.collect())
}
