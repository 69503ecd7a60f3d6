//! The whole log at a glance: starts as bands, prompts as bars, a lane for each class of model, marks for what went
//! wrong.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::axis::Axis;
use super::context::{Context, Figure};
use super::svg::{bar, plot};
use super::timeline_table;
use crate::report::{MarkReport, PromptGroupReport, PromptReport, Report, SessionReport};
use crate::text::{mib, number};

/// Lanes of classes; the table has all.
const LANES: usize = 8;
const BAND: f64 = 18.0;
const PROMPTS: f64 = 26.0;
const LANE: f64 = 40.0;
const LABEL: f64 = 13.0;
const TRACK: f64 = 20.0;
/// Narrowest bar, in percent, with its number on a wide screen, and on any.
const NUMBERED: f64 = 2.4;
const NUMBERED_ANYWHERE: f64 = 7.0;
/// Marks of one lane that stand nearer than this, in percent, would lie on one another: on a phone, on a wide screen,
/// and after zooming in. Those in between wait until there is room.
const APART: [(f64, &str); 3] = [(3.2, ""), (1.1, " roomy"), (0.1, " zoomed")];

/// The timeline of a report; nothing where no prompt ran and no model was loaded.
pub(super) fn figure(report: &Report, context: &Context<'_>) -> Option<Markup> {
    let sessions = &report.sessions;
    let work = |session: &SessionReport| !session.timeline.is_empty() || !session.marks.is_empty();
    if !sessions.iter().any(work) {
        return None;
    }
    let axis = Axis::of(sessions, report.fitness.lines);
    let title = context.say("timeline");
    let figure = Figure {
        id: context.id("timeline"),
        note: note(report, &axis, context),
        plot: draw(report, &axis, &title, context),
        legend: legend(report, context),
        table: timeline_table::tables(sessions, context),
        title,
    };
    Some(figure.render(context))
}

fn note(report: &Report, axis: &Axis, context: &Context<'_>) -> String {
    let mut parts = vec![context.say(if axis.is_time() { "timeline-by-time" } else { "timeline-by-line" })];
    let groups: Vec<&PromptGroupReport> = report.sessions.iter().flat_map(|session| &session.prompt_groups).collect();
    if let Some(group) = groups.iter().max_by_key(|group| group.last - group.first) {
        let all: u64 = groups.iter().map(|group| group.last - group.first + 1).sum();
        let each = (group.last - group.first + 1).to_string();
        parts.push(context.with("timeline-groups", &[("n", &all.to_string()), ("each", &each)]));
    }
    let left_out: u64 = report.sessions.iter().map(|session| session.marks_left_out).sum();
    if left_out > 0 {
        parts.push(context.with("timeline-marks-left-out", &[("n", &left_out.to_string())]));
    }
    parts.iter().fold(
        String::new(),
        |all, part| {
            if all.is_empty() { part.clone() } else { context.labels.sentences(&all, part) }
        },
    )
}

/// Classes with a lane, those that are held first, then as they came.
fn lanes(sessions: &[SessionReport]) -> Vec<String> {
    let mut order: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for session in sessions {
        for (class, leak) in &session.leaks {
            let held = leak.held_max.unwrap_or(0);
            let line = leak.curve.first().map_or(u64::MAX, |point| point.line);
            order.entry(class).or_insert((0, line)).0 += held;
        }
        for mark in &session.marks {
            if let Some(class) = &mark.class {
                let entry = order.entry(class).or_insert((0, mark.line));
                entry.1 = entry.1.min(mark.line);
            }
        }
    }
    let mut list: Vec<(&str, (u64, u64))> = order.into_iter().collect();
    list.sort_by_key(|(_, (held, line))| (std::cmp::Reverse(*held), *line));
    list.into_iter().take(LANES).map(|(class, _)| class.to_owned()).collect()
}

fn draw(report: &Report, axis: &Axis, label: &str, context: &Context<'_>) -> Markup {
    let sessions = &report.sessions;
    let classes = lanes(sessions);
    let first_lane = BAND + PROMPTS + 6.0;
    let marks = first_lane + classes.len() as f64 * LANE;
    let bottom = if sessions.iter().flat_map(|session| &session.marks).any(is_event) { marks + LANE } else { marks };
    let inside = html! {
        @for (index, session) in sessions.iter().enumerate() { (band(session, index, axis, bottom)) }
        (ticks(axis, bottom))
        @for session in sessions { (prompts(session, axis, context)) }
        @for (index, class) in classes.iter().enumerate() {
            (lane(class, sessions, axis, first_lane + index as f64 * LANE, context))
        }
        // Below the marks: the one of what ended it stands on the line.
        (end(report, axis, bottom, context))
        (events(report, axis, marks, context))
        @if sessions.len() > 1 { @for session in sessions { (band_name(session, axis, context)) } }
    };
    plot(label, bottom + 22.0, true, inside)
}

fn ticks(axis: &Axis, bottom: f64) -> Markup {
    html! {
        @for (percent, x, shown) in axis.ticks() {
            line class="grid" x1=(x) x2=(x) y1=(BAND) y2=(bottom) {}
            text class=(if percent < 4.0 { "tick" } else if percent > 94.0 { "tick end" } else { "tick mid" }) x=(x) y=(bottom + 16.0) { (shown) }
        }
    }
}

fn band(session: &SessionReport, index: usize, axis: &Axis, bottom: f64) -> Markup {
    let class = if index.is_multiple_of(2) { "band" } else { "band odd" };
    bar(class, &axis.x(session.first_line), &axis.width(session.first_line, session.last_line), 0.0, bottom)
}

/// Its name, where there is room for it.
fn band_name(session: &SessionReport, axis: &Axis, context: &Context<'_>) -> Markup {
    let said = context.with("timeline-start", &[("n", &session.number.to_string())]);
    let (from, to) = (axis.percent(session.first_line), axis.percent(session.last_line));
    html! { @if to - from > 16.0 { text.tick x=(axis.x(session.first_line)) y="12" dx="3" { (said) } } }
}

fn prompts(session: &SessionReport, axis: &Axis, context: &Context<'_>) -> Markup {
    html! {
        @if session.prompt_groups.is_empty() {
            @for one in &session.timeline { (prompt(one, session, axis, context)) }
        } @else {
            @for group in &session.prompt_groups { (prompt_group(group, axis, context)) }
        }
    }
}

fn prompt(one: &PromptReport, session: &SessionReport, axis: &Axis, context: &Context<'_>) -> Markup {
    let seconds = one.seconds.map(|seconds| number(seconds, 2)).unwrap_or_default();
    let outcome = context.labels.get(&format!("outcome-{}", one.outcome));
    let [n, first, last] = [one.number, one.first_line, one.last_line].map(|value| value.to_string());
    let id = if one.seconds.is_some() { "timeline-prompt" } else { "timeline-prompt-open" };
    let values = [("n", n.as_str()), ("outcome", &outcome), ("seconds", &seconds), ("first", &first), ("last", &last)];
    let said = context.with(id, &values);
    let width = axis.percent(one.last_line) - axis.percent(one.first_line);
    let middle = format!("{}%", number((axis.percent(one.last_line) + axis.percent(one.first_line)) / 2.0, 2));
    // A failed prompt leads to what failed, any other to its end.
    let failure = |mark: &&MarkReport| {
        mark.prompt == one.number && matches!(mark.kind.as_str(), "failed" | "out-of-memory" | "ram-refused")
    };
    let line = session.marks.iter().find(failure).map_or(one.last_line, |mark| mark.line);
    context.mark(line, &said, html! {
        rect class=(format!("prompt {}", one.outcome)) x=(axis.x(one.first_line)) width=(axis.width(one.first_line, one.last_line)) y=(BAND + 2.0) height="20"
            data-prompt=(one.number) data-outcome=(one.outcome) data-seconds=[one.seconds] {}
        @if one.outcome != "ok" {
            text.letter.mid x=(middle) y=(BAND + 16.0) { (context.say(&format!("letter-{}", one.outcome))) }
        } @else if width >= NUMBERED {
            text class=(if width >= NUMBERED_ANYWHERE { "inside mid" } else { "inside mid roomy" }) x=(middle) y=(BAND + 16.0) { (one.number) }
        }
    })
}

/// Many prompts in one bar: those that did not end well fill it from above.
fn prompt_group(group: &PromptGroupReport, axis: &Axis, context: &Context<'_>) -> Markup {
    let bad = group.failed + group.interrupted + group.unfinished;
    let all = (group.ok + bad).max(1);
    let values =
        [group.first, group.last, group.ok, bad, group.first_line, group.last_line].map(|value| value.to_string());
    let names = ["first", "last", "ok", "bad", "from", "to"];
    let values: Vec<(&str, &str)> = names.into_iter().zip(values.iter().map(String::as_str)).collect();
    let said = context.with("timeline-group", &values);
    let (x, width) = (axis.x(group.first_line), axis.width(group.first_line, group.last_line));
    let height = 20.0 * bad as f64 / all as f64;
    context.mark(group.last_line, &said, html! {
        rect class="prompt ok" x=(x) width=(width) y=(BAND + 2.0) height="20" data-first=(group.first) data-last=(group.last) data-ok=(group.ok) data-bad=(bad) {}
        @if bad > 0 { (bar("prompt failed", &x, &width, BAND + 2.0, height.max(3.0))) }
    })
}

fn lane(class: &str, sessions: &[SessionReport], axis: &Axis, y: f64, context: &Context<'_>) -> Markup {
    let track = y + LABEL + 3.0;
    html! {
        g data-lane=(class) {
            line.grid x1="0" x2="100%" y1=(track + TRACK) y2=(track + TRACK) {}
            @for session in sessions {
                (used(class, session, axis, track))
                (held(class, session, axis, track, context))
            }
            text.lane x="0" y=(y + 11.0) { (class) }
            @for session in sessions { (loads(class, session, axis, track, context)) }
        }
    }
}

/// Prompts that asked for the class.
fn used(class: &str, session: &SessionReport, axis: &Axis, y: f64) -> Markup {
    let asks = |prompt: &&PromptReport| prompt.loads.iter().any(|load| load == class);
    html! {
        @for prompt in session.timeline.iter().filter(asks).filter(|_| session.prompt_groups.is_empty()) {
            (bar("used", &axis.x(prompt.first_line), &axis.width(prompt.first_line, prompt.last_line), y + 8.0, 12.0))
        }
    }
}

/// Models of the class that are held, as a staircase.
fn held(class: &str, session: &SessionReport, axis: &Axis, y: f64, context: &Context<'_>) -> Markup {
    let Some(leak) = session.leaks.get(class) else { return html! {} };
    let most = leak.curve.iter().map(|point| point.held).max().unwrap_or(0).max(4) as f64;
    let ends = leak.curve.iter().skip(1).map(|point| point.line).chain([session.last_line]);
    html! {
        @for (point, end) in leak.curve.iter().zip(ends).filter(|(point, _)| point.held > 0) {
            @let [n, held, line] = [point.prompt, point.held, point.line].map(|value| value.to_string());
            @let said = context.with("ladder-point", &[("class", class), ("n", &n), ("held", &held), ("line", &line)]);
            @let height = TRACK * point.held as f64 / most;
            (context.mark(point.line, &said, html! {
                rect.held x=(axis.x(point.line)) width=(axis.width(point.line, end)) y=(number(y + TRACK - height, 1)) height=(number(height, 1)) data-prompt=(point.prompt) data-held=(point.held) {}
            }))
        }
    }
}

fn loads(class: &str, session: &SessionReport, axis: &Axis, y: f64, context: &Context<'_>) -> Markup {
    let of_class = session.marks.iter().filter(|mark| mark.class.as_deref() == Some(class));
    let (passes, loads): (Vec<&MarkReport>, Vec<&MarkReport>) = of_class.partition(|mark| mark.kind == "leak-pass");
    // Leak checks stand above loads: they come first in every prompt.
    let rows = [(loads, y + TRACK - 6.0), (passes, y + 4.0)];
    html! {
        @for (mark, room, y) in rows.into_iter().flat_map(|(marks, y)| thinned(&marks, axis).into_iter().map(move |(mark, room)| (mark, room, y))) {
            @let shape = match mark.kind.as_str() { "loaded" => "m-loaded", "partly-loaded" => "m-partly", "prepared" => "m-prepared", "requested" => "m-requested", _ => "m-pass" };
            (context.mark(mark.line, &said(mark, context), html! {
                use href=(format!("#{shape}")) class=(format!("mark {}{room}", look(mark))) x=(axis.x(mark.line)) y=(number(y, 1)) data-kind=(mark.kind) data-mib=[mark.mib] data-count=[mark.count] {}
            }))
        }
    }
}

/// Marks with the room that they need. Of those that would lie on one another, a load counts for more than its request.
fn thinned<'m>(marks: &[&'m MarkReport], axis: &Axis) -> Vec<(&'m MarkReport, &'static str)> {
    let mut shown: Vec<(f64, &MarkReport, &'static str)> = Vec::new();
    let told = |weighty: bool| marks.iter().filter(move |mark| (mark.kind != "requested") == weighty);
    for mark in told(true).chain(told(false)) {
        let at = axis.percent(mark.line);
        // A mark that is shown on less room stands in the way on more of it too.
        let free = |level: usize| {
            let apart = APART.get(level).map_or(0.0, |(apart, _)| *apart);
            let before =
                |room: &str| APART.iter().position(|(_, name)| *name == room).is_some_and(|other| other <= level);
            !shown.iter().any(|(other, _, room)| before(room) && (at - other).abs() < apart)
        };
        if let Some((_, room)) = (0..APART.len()).find(|level| free(*level)).and_then(|level| APART.get(level)) {
            shown.push((at, mark, *room));
        }
    }
    shown.into_iter().map(|(_, mark, room)| (mark, room)).collect()
}

/// Its kind; a leak check that freed everything looks unlike one that did not.
fn look(mark: &MarkReport) -> String {
    match (mark.kind.as_str(), mark.count) {
        ("leak-pass", Some(0)) => "leak-pass clean".to_owned(),
        (kind, _) => kind.to_owned(),
    }
}

/// What a mark stands for, in words.
pub(super) fn said(mark: &MarkReport, context: &Context<'_>) -> String {
    let line = mark.line.to_string();
    let class = mark.class.clone().unwrap_or_default();
    let size = mark.mib.map(mib).unwrap_or_default();
    let count = mark.count.unwrap_or(0).to_string();
    let sized = matches!(mark.kind.as_str(), "loaded" | "partly-loaded" | "prepared");
    let id = match (sized, mark.mib, mark.kind.as_str(), mark.count) {
        (true, None, kind, _) => format!("mark-{kind}-unsized"),
        (_, _, "leak-pass", Some(0)) => "mark-leak-pass-clean".to_owned(),
        (_, _, kind, _) => format!("mark-{kind}"),
    };
    let text = context.with(&id, &[("class", &class), ("size", &size), ("count", &count)]);
    format!("{text}{}", context.labels.bracket(&context.labels.with("line", &[("n", &line)])))
}

/// It belongs to no class of models.
fn is_event(mark: &MarkReport) -> bool {
    matches!(
        mark.kind.as_str(),
        "unloaded" | "out-of-memory" | "unloaded-all" | "tiled-retry" | "attention-retry" | "ram-refused" | "killed"
    )
}

/// What belongs to no class: unloads, retries, memory that was refused.
fn events(report: &Report, axis: &Axis, y: f64, context: &Context<'_>) -> Markup {
    let marks: Vec<&MarkReport> =
        report.sessions.iter().flat_map(|session| &session.marks).filter(|mark| is_event(mark)).collect();
    let grave = |mark: &&MarkReport| matches!(mark.kind.as_str(), "out-of-memory" | "ram-refused" | "killed");
    let (grave, other): (Vec<&MarkReport>, Vec<&MarkReport>) = marks.into_iter().partition(grave);
    html! {
        @if !grave.is_empty() || !other.is_empty() { text.lane x="0" y=(y + 11.0) { (context.say("timeline-events")) } }
        @for (mark, room) in thinned(&other, axis) { (event(mark, &format!("event{room}"), axis, y + 32.0, context)) }
        @for (mark, room) in thinned(&grave, axis) { (event(mark, &format!("event grave{room}"), axis, y + 21.0, context)) }
    }
}

fn event(mark: &MarkReport, class: &str, axis: &Axis, y: f64, context: &Context<'_>) -> Markup {
    let letter = context.say(&format!("letter-{}", mark.kind));
    let x = axis.x(mark.line);
    context.mark(
        mark.line,
        &said(mark, context),
        html! {
            circle class=(class) cx=(x) cy=(y) r="7" data-kind=(mark.kind) data-count=[mark.count] {}
            text class=(format!("letter mid {}", class.trim_start_matches("event"))) x=(x) y=(y + 3.5) { (letter) }
        },
    )
}

/// An end that says something: the log stops there.
fn end(report: &Report, axis: &Axis, bottom: f64, context: &Context<'_>) -> Markup {
    let ending = &report.ending;
    let tells = matches!(ending.kind.as_str(), "killed" | "abrupt" | "native-crash" | "given-up" | "traceback");
    let Some(at) = ending.at.as_ref().filter(|_| tells) else { return html! {} };
    let x = axis.x(at.line);
    // What is seen there is part of what is said.
    let shown = context.say(&format!("end-{}", ending.kind));
    let said = format!("{shown}{}", context.labels.bracket(&ending.text));
    context.mark(
        at.line,
        &said,
        html! {
            line.end x1=(x) x2=(x) y1=(BAND) y2=(bottom) data-ending=(ending.kind) {}
            text.grave.endmark x=(x) y="12" dx="-3" { (shown) }
        },
    )
}

fn legend(report: &Report, context: &Context<'_>) -> Markup {
    let marks = || report.sessions.iter().flat_map(|session| &session.marks);
    let has = |kind: &str| marks().any(|mark| look(mark) == kind);
    let outcomes = ["ok", "failed", "interrupted", "unfinished"];
    let seen = |outcome: &&str| {
        report.sessions.iter().flat_map(|session| &session.timeline).any(|prompt| prompt.outcome == **outcome)
    };
    let held =
        report.sessions.iter().flat_map(|session| session.leaks.values()).any(|leak| leak.held_max.unwrap_or(0) > 0);
    let shapes = [
        ("requested", "m-requested"),
        ("loaded", "m-loaded"),
        ("partly-loaded", "m-partly"),
        ("prepared", "m-prepared"),
        ("leak-pass", "m-pass"),
        ("leak-pass clean", "m-pass"),
    ];
    let letters =
        ["unloaded", "out-of-memory", "unloaded-all", "tiled-retry", "attention-retry", "ram-refused", "killed"];
    html! {
        ul.legend {
            @for outcome in outcomes.into_iter().filter(seen) {
                li { svg.key width="18" height="12" aria-hidden="true" { rect class=(format!("prompt {outcome}")) x="1" y="1" width="16" height="10" {} }
                    @if outcome != "ok" { b { (context.say(&format!("letter-{outcome}"))) } " " } (context.labels.get(&format!("outcome-{outcome}"))) }
            }
            @if held { li { svg.key width="18" height="12" aria-hidden="true" { rect.held x="1" y="1" width="16" height="10" {} } (context.say("key-held")) } }
            @for (kind, shape) in shapes.into_iter().filter(|(kind, _)| has(kind)) {
                li { svg.key width="14" height="14" aria-hidden="true" { use href=(format!("#{shape}")) class=(format!("mark {kind}")) x="7" y="7" {} } (context.say(&format!("key-{}", kind.replace(' ', "-")))) }
            }
            @for kind in letters.into_iter().filter(|kind| has(kind)) {
                li { b.badge { (context.say(&format!("letter-{kind}"))) } (context.say(&format!("key-{kind}"))) }
            }
        }
    }
}

/// Shapes that marks use, once for the page.
pub(super) fn shapes() -> Markup {
    html! {
        svg.defs width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" { rect.pf width="6" height="6" {} line.ps x1="0" x2="0" y1="0" y2="6" {} }
                pattern id="dots" width="6" height="6" patternUnits="userSpaceOnUse" { rect.pi width="6" height="6" {} circle.pd cx="3" cy="3" r="1.4" {} }
                pattern id="cross" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" { rect.pr width="7" height="7" {} line.ps x1="0" x2="0" y1="0" y2="7" {} }
                path id="m-requested" d="M-4 -5L4 0L-4 5Z" {}
                path id="m-loaded" d="M-4 -5H4V5H-4Z" {}
                path id="m-partly" d="M-4 -5H4V5H-4ZM-4 0H4" {}
                path id="m-prepared" d="M0 -6L6 0L0 6L-6 0Z" {}
                path id="m-pass" d="M0 -5A5 5 0 1 1 0 5A5 5 0 1 1 0 -5Z" {}
            }
        }
    }
}
