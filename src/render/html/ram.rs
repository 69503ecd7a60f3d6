//! RAM and its limits: what ComfyUI saw and where it would give way, beside the wall at which the kernel ends it;
//! samples as a line.

use maud::{Markup, html};

use super::context::{Context, Figure, table};
use super::svg::{Height, Scale, bar, plot};
use crate::report::{RamReport, Report, SamplesReport};
use crate::text::{mib, number};

const ROW: f64 = 34.0;
const BAR: f64 = 14.0;
const LABEL: f64 = 14.0;
const CURVE: f64 = 150.0;
const GIB: f64 = 1024.0;

/// A size with its name.
struct Row {
    id: &'static str,
    size: f64,
    line: Option<u64>,
}

/// RAM of the session that matters; nothing where only its size is known.
pub(super) fn figure(report: &Report, session: usize, context: &Context<'_>) -> Option<Markup> {
    let session = report.sessions.iter().find(|one| one.number == session).or(report.sessions.last())?;
    let ram = &session.ram;
    let line = session.facts.get("total_ram_mib").map(|fact| fact.at.line);
    let pinned = session.facts.get("pinned_budget_mib").map(|fact| fact.at.line);
    let rows = rows(ram, line, pinned);
    let samples = report.samples.as_ref().filter(|samples| samples.points.len() > 1);
    if samples.is_none()
        && (rows.len() < 2
            || ram.limit_mib.is_none()
                && ram.killed_at_mib.is_none()
                && ram.cache_trigger_mib.is_none()
                && ram.pinned_ceiling_mib.is_none())
    {
        return None;
    }
    let title = context.say("ram");
    let figure = Figure {
        id: context.id("ram"),
        note: note(ram, context),
        plot: html! {
            @if !rows.is_empty() { (draw(ram, &rows, &title, context)) }
            @if let Some(samples) = samples { (curve(samples, ram, context)) }
        },
        legend: html! {},
        table: as_table(ram, &rows, context),
        title,
    };
    Some(figure.render(context))
}

fn rows(ram: &RamReport, total_line: Option<u64>, pinned_line: Option<u64>) -> Vec<Row> {
    let row = |id, size: Option<f64>, line| size.map(|size| Row { id, size, line });
    let rows = [
        row("ram-total", ram.total_mib, total_line),
        row("ram-trigger", ram.cache_trigger_mib, None),
        row("ram-pinned", ram.pinned_ceiling_mib, pinned_line),
        row("ram-loaded", ram.loaded_mib, None),
        row("ram-killed", ram.killed_at_mib, ram.killed_line),
    ];
    rows.into_iter().flatten().collect()
}

/// Whether the thresholds lie beyond the wall.
fn note(ram: &RamReport, context: &Context<'_>) -> String {
    let Some(limit) = ram.limit_mib else { return context.say("ram-no-limit") };
    let beyond = |size: Option<f64>| size.is_some_and(|size| size > limit);
    let id = match (beyond(ram.cache_trigger_mib), beyond(ram.total_mib)) {
        (true, _) => "ram-trigger-beyond",
        (false, true) => "ram-total-beyond",
        (false, false) => "ram-within",
    };
    let shown = |size: Option<f64>| size.map(mib).unwrap_or_default();
    let values =
        [("limit", &*mib(limit)), ("total", &shown(ram.total_mib)), ("trigger", &shown(ram.cache_trigger_mib))];
    context.with(id, &values)
}

fn draw(ram: &RamReport, rows: &[Row], label: &str, context: &Context<'_>) -> Markup {
    let most = rows.iter().map(|row| row.size).chain(ram.limit_mib).fold(0.0, f64::max);
    let across = Scale::new(0.0, most * 1.04);
    let top = if ram.limit_mib.is_some() { 20.0 } else { 2.0 };
    let bottom = top + rows.len() as f64 * ROW;
    let (ticks, _) = across.ticks_of(5, GIB);
    let inside = html! {
        @for (index, row) in rows.iter().enumerate() { (bar_of(row, top + index as f64 * ROW, across, ram, context)) }
        @for (index, row) in rows.iter().enumerate() { (name_of(row, top + index as f64 * ROW, context)) }
        @if let Some(limit) = ram.limit_mib {
            // In pieces, so that it does not cut through the names.
            @for index in 0..rows.len() {
                @let y = top + index as f64 * ROW + LABEL;
                line.wall x1=(across.at(limit)) x2=(across.at(limit)) y1=(y - 1.0) y2=(y + BAR + 5.0) data-limit=(limit) {}
            }
            @if let Some(line) = ram.killed_line {
                (context.mark(line, &context.with("ram-killed-here", &[("line", &line.to_string())]), html! {
                    circle class="event grave" cx=(across.at(limit)) cy=(bottom - ROW + LABEL + 2.0 + BAR / 2.0) r="8" data-killed=(line) {}
                    text.letter.mid x=(across.at(limit)) y=(bottom - ROW + LABEL + 6.0 + BAR / 2.0) { (context.say("letter-killed")) }
                }))
            }
            text class=(if across.percent(limit) > 60.0 { "value end" } else { "value" }) x=(across.at(limit)) y="11" { (context.with("ram-limit", &[("size", &mib(limit))])) }
        }
        @for tick in ticks {
            @let percent = across.percent(tick);
            text class=(if tick == 0.0 { "tick" } else if percent > 94.0 { "tick end" } else { "tick mid" }) x=(across.at(tick)) y=(bottom + 16.0) { (number(tick / GIB, 1)) @if tick == 0.0 { " GiB" } }
        }
    };
    plot(label, bottom + 22.0, false, inside)
}

fn bar_of(row: &Row, y: f64, across: Scale, ram: &RamReport, context: &Context<'_>) -> Markup {
    let beyond = ram.limit_mib.is_some_and(|limit| row.size > limit);
    let said = format!("{}: {}", context.say(row.id), mib(row.size));
    let class = format!("ram {}", row.id);
    let limit = ram.limit_mib.unwrap_or(row.size).min(row.size);
    let shape = html! {
        (bar(&class, "0", &across.width(0.0, limit), y + LABEL + 2.0, BAR))
        @if beyond { (bar("ram beyond", &across.at(limit), &across.width(limit, row.size), y + LABEL + 2.0, BAR)) }
    };
    html! {
        g data-ram=(row.id) data-mib=(row.size) {
            @match row.line {
                Some(line) => (context.mark(line, &said, shape)),
                None => g role="img" aria-label=(said) { (shape) },
            }
        }
    }
}

fn name_of(row: &Row, y: f64, context: &Context<'_>) -> Markup {
    html! { text.lane x="0" y=(y + 11.0) { (context.say(row.id)) " " tspan.strong { (mib(row.size)) } } }
}

/// Samples over time, under the same limits.
fn curve(samples: &SamplesReport, ram: &RamReport, context: &Context<'_>) -> Markup {
    let first = samples.points.first().map_or(0.0, |point| point.0);
    let last = samples.points.last().map_or(0.0, |point| point.0);
    let across = Scale::new(first, last);
    let highest = samples.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let walls = [("wall", ram.limit_mib), ("trigger", ram.cache_trigger_mib)];
    // A wall far above the curve would press it flat.
    let near: Vec<(&str, f64)> =
        walls.into_iter().filter_map(|(class, at)| Some((class, at?))).filter(|(_, at)| *at < highest * 4.0).collect();
    let most = near.iter().map(|(_, at)| *at).fold(highest, f64::max) * 1.05;
    let up = Height { top: 18.0, height: CURVE, most };
    let bottom = 18.0 + CURVE;
    let label = context.with("ram-samples", &[("n", &samples.samples.to_string()), ("column", &samples.column)]);
    let duration = last - first;
    let ends = match samples.has_time {
        true => context.labels.with("took", &[("n", &number(duration, 0))]),
        false => context.with("ram-samples-count", &[("n", &samples.samples.to_string())]),
    };
    let inside = html! {
        (up.lines(false))
        @for pair in samples.points.windows(2) {
            @if let [a, b] = pair { line.sample x1=(across.at(a.0)) x2=(across.at(b.0)) y1=(up.y(a.1)) y2=(up.y(b.1)) data-seconds=(b.0) data-mib=(b.1) {} }
        }
        (up.numbers(false, mib))
        @for (class, at) in near { line class=(class) x1="0" x2="100%" y1=(up.y(at)) y2=(up.y(at)) {} }
        text.tick x="0" y=(bottom + 16.0) { "0" }
        text.tick.end x="100%" y=(bottom + 16.0) { (ends) }
    };
    html! { p.caption { (label) } (plot(&label, bottom + 22.0, false, inside)) }
}

fn as_table(ram: &RamReport, rows: &[Row], context: &Context<'_>) -> Markup {
    let head = [context.say("col-what"), context.say("col-size"), context.labels.get("col-line")];
    let limit = ram.limit_mib.map(|size| Row { id: "ram-wall", size, line: None });
    let cells = |row: &Row| {
        let line = row.line.map(|line| context.line(line));
        vec![html! { (context.say(row.id)) }, html! { (mib(row.size)) }, html! { @if let Some(line) = line { (line) } }]
    };
    table(&head, rows.iter().chain(limit.as_ref()).map(cells).collect())
}
