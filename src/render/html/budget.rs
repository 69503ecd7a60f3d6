//! Where the time of each prompt went: loading, steps, the rest, one bar per prompt; seconds per step as dots.

use maud::{Markup, html};

use super::context::{Context, Figure, table};
use super::svg::{Height, Scale, bar, plot};
use crate::report::{PromptReport, SessionReport};
use crate::text::number;

const HEIGHT: f64 = 130.0;
const TOP: f64 = 22.0;
/// Share of the width that the numbers on the left take.
const NUMBERS: f64 = 0.08;
/// Prompts from which a picture says more than a line of text.
const LEAST: usize = 2;

/// One bar: a prompt, or many of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bar {
    from: u64,
    to: u64,
    line: u64,
    /// Seconds: of the prompt, or the mean of many.
    pub(super) seconds: f64,
    load: Option<f64>,
    step: Option<f64>,
    per_step: Option<f64>,
    /// The slowest of many.
    longest: Option<f64>,
}

impl Bar {
    fn of(prompt: &PromptReport) -> Option<Self> {
        let seconds = prompt.seconds?;
        // Bars of two programs at once, or rounding, can add up to more than the whole.
        let load = prompt.load_seconds.map(|load| load.min(seconds));
        let step = prompt.step_seconds.map(|step| step.min(seconds - load.unwrap_or(0.0)));
        Some(Self {
            from: prompt.number,
            to: prompt.number,
            line: prompt.last_line,
            seconds,
            load,
            step,
            per_step: prompt.seconds_per_step,
            longest: None,
        })
    }

    fn rest(&self) -> f64 {
        (self.seconds - self.load.unwrap_or(0.0) - self.step.unwrap_or(0.0)).max(0.0)
    }
}

/// Bars of a session, of many prompts those of the groups.
pub(super) fn bars(session: &SessionReport) -> Vec<Bar> {
    if session.prompt_groups.is_empty() {
        return session.timeline.iter().filter_map(Bar::of).collect();
    }
    let groups = session.prompt_groups.iter().filter(|group| group.seconds > 0.0);
    let bars = groups.map(|group| {
        let all = (group.ok + group.failed + group.interrupted + group.unfinished).max(1);
        Bar {
            from: group.first,
            to: group.last,
            line: group.last_line,
            seconds: group.seconds / all as f64,
            load: None,
            step: None,
            per_step: None,
            longest: Some(group.longest),
        }
    });
    bars.collect()
}

/// The greatest values of bars, so that several pictures can be drawn to one scale.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Most {
    pub(super) seconds: f64,
    per_step: f64,
}

impl Most {
    pub(super) fn of(bars: &[Bar]) -> Self {
        let seconds = bars.iter().map(|bar| bar.longest.unwrap_or(bar.seconds)).fold(0.0, f64::max);
        Self { seconds, per_step: bars.iter().filter_map(|bar| bar.per_step).fold(0.0, f64::max) }
    }

    pub(super) fn join(self, other: Self) -> Self {
        Self { seconds: self.seconds.max(other.seconds), per_step: self.per_step.max(other.per_step) }
    }
}

/// The time budget of a session; nothing where no prompt tells its time, or only one does.
pub(super) fn figure(session: &SessionReport, context: &Context<'_>) -> Option<Markup> {
    let bars = bars(session);
    let most = Most::of(&bars);
    if bars.len() < LEAST || most.seconds <= 0.0 {
        return None;
    }
    let title = context.say("budget");
    let split = bars.iter().any(|bar| bar.load.is_some() || bar.step.is_some());
    let grouped = bars.iter().any(|bar| bar.longest.is_some());
    let id = match (grouped, split) {
        (true, _) => "budget-groups",
        (false, true) => "budget-split",
        (false, false) => "budget-whole",
    };
    let figure = Figure {
        id: context.id(&format!("budget-{}", session.number)),
        note: context.say(id),
        plot: draw(&bars, most, &title, context),
        legend: legend(&bars, context),
        table: as_table(&bars, context),
        title,
    };
    Some(figure.render(context))
}

/// The picture, up to the greatest values.
pub(super) fn draw(bars: &[Bar], most: Most, label: &str, context: &Context<'_>) -> Markup {
    let first = bars.first().map_or(1, |bar| bar.from);
    let last = bars.last().map_or(1, |bar| bar.to);
    // Room for the seconds on the left, which would lie on the first bar.
    let room = (last - first + 1) as f64 * NUMBERS;
    let across = Scale::new(first as f64 - 0.5 - room, last as f64 + 0.5);
    let up = Height { top: TOP, height: HEIGHT, most: most.seconds * 1.05 };
    let slowest = most.per_step;
    let dots = Height { most: slowest * 1.15, ..up };
    let bottom = TOP + HEIGHT;
    let (ticks, _) = across.ticks(6);
    let seconds = |tick: f64| context.labels.with("took", &[("n", &number(tick, 2))]);
    let inside = html! {
        (up.lines(false))
        @for one in bars { (stack(one, across, up, context)) }
        (up.numbers(false, seconds))
        @if slowest > 0.0 && bars.len() > 1 {
            @for one in bars.iter().filter(|one| one.per_step.is_some()) { (dot(one, across, dots, context)) }
            text.tick.end x="100%" y=(TOP - 8.0) { (context.with("budget-dots", &[("n", &number(slowest, 2))])) }
        }
        @for tick in ticks.iter().filter(|tick| tick.fract() == 0.0 && **tick >= first as f64) {
            text.tick.mid x=(across.at(*tick)) y=(bottom + 16.0) { (number(*tick, 0)) }
        }
        text.tick.end x="100%" y=(bottom + 30.0) { (context.labels.get("col-prompt")) }
    };
    plot(label, bottom + 36.0, false, inside)
}

fn stack(one: &Bar, across: Scale, up: Height, context: &Context<'_>) -> Markup {
    let inset = (one.to - one.from + 1) as f64 * 0.1;
    let (from, to) = (one.from as f64 - 0.5 + inset, one.to as f64 + 0.5 - inset);
    let (x, width) = (across.at(from), across.width(from, to));
    let parts = [("load", one.load), ("steps", one.step), ("rest", Some(one.rest()))];
    let mut below = 0.0;
    let mut boxes = Vec::new();
    for (name, seconds) in parts {
        let seconds = seconds.unwrap_or(0.0);
        if seconds > 0.0 {
            let (top, floor) = (up.at(below + seconds), up.at(below));
            boxes.push((name, seconds, top, floor - top));
            below += seconds;
        }
    }
    let shape = html! {
        @for (name, seconds, y, height) in boxes {
            rect class=(format!("budget {name}")) x=(x) width=(width) y=(number(y, 1)) height=(number(height, 1)) data-part=(name) data-seconds=(number(seconds, 6)) {}
        }
        @if let Some(longest) = one.longest { (bar("longest", &x, &width, up.at(longest), 2.0)) }
    };
    html! { g data-prompt=(one.from) data-seconds=(one.seconds) data-longest=[one.longest] { (context.mark(one.line, &said(one, context), shape)) } }
}

fn said(one: &Bar, context: &Context<'_>) -> String {
    let shown = |seconds: f64| context.labels.with("took", &[("n", &number(seconds, 2))]);
    if let Some(longest) = one.longest {
        let [first, last] = [one.from, one.to].map(|value| value.to_string());
        let values = [("first", &*first), ("last", &last), ("mean", &shown(one.seconds)), ("longest", &shown(longest))];
        return context.with("budget-group-said", &values);
    }
    let mut parts =
        vec![context.with("budget-said", &[("n", &one.from.to_string()), ("seconds", &shown(one.seconds))])];
    for (id, seconds) in [("load", one.load), ("steps", one.step)] {
        parts.extend(seconds.map(|seconds| format!("{} {}", context.say(&format!("budget-{id}")), shown(seconds))));
    }
    if parts.len() > 1 {
        parts.push(format!("{} {}", context.say("budget-rest"), shown(one.rest())));
    }
    context.labels.join(&parts)
}

fn dot(one: &Bar, across: Scale, dots: Height, context: &Context<'_>) -> Markup {
    let per_step = one.per_step.unwrap_or(0.0);
    let said = context.with("budget-dot-said", &[("n", &one.from.to_string()), ("seconds", &number(per_step, 2))]);
    context.mark(one.line, &said, html! {
        circle.perstep cx=(across.at(one.from as f64)) cy=(dots.y(per_step)) r="3.5" data-prompt=(one.from) data-per-step=(per_step) {}
    })
}

pub(super) fn legend(bars: &[Bar], context: &Context<'_>) -> Markup {
    let split = bars.iter().any(|bar| bar.load.is_some() || bar.step.is_some());
    let mut kinds = Vec::new();
    if bars.iter().any(|bar| bar.load.is_some()) {
        kinds.push("load");
    }
    if bars.iter().any(|bar| bar.step.is_some()) {
        kinds.push("steps");
    }
    html! {
        @if split {
            ul.legend {
                @for kind in kinds.into_iter().chain(["rest"]) {
                    li { svg.key width="14" height="12" aria-hidden="true" { rect class=(format!("budget {kind}")) x="1" y="1" width="12" height="10" {} } (context.say(&format!("budget-{kind}"))) }
                }
            }
        }
    }
}

pub(super) fn as_table(bars: &[Bar], context: &Context<'_>) -> Markup {
    let shown = |value: Option<f64>| value.map(|value| number(value, 2)).unwrap_or_default();
    let mut head = vec![context.labels.get("col-prompt"), context.labels.get("col-seconds")];
    head.extend(["load", "steps", "rest"].map(|id| context.say(&format!("budget-{id}"))));
    head.extend([context.labels.get("col-step"), context.say("col-longest")]);
    let rows = bars.iter().map(|one| {
        let number = if one.from == one.to { one.from.to_string() } else { format!("{}…{}", one.from, one.to) };
        let cells = [Some(one.seconds), one.load, one.step, Some(one.rest()), one.per_step, one.longest].map(shown);
        [number].into_iter().chain(cells).map(|cell| html! { (cell) }).collect()
    });
    table(&head, rows.collect())
}
