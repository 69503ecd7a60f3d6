//! What filled the card when a request was refused, to scale, and the same with all models moved to RAM.

use maud::{Markup, html};

use super::context::{Context, Figure, table};
use super::svg::{Scale, bar, plot};
use crate::report::{Basis, CardPart, CardReport, OomReport};
use crate::text::bytes;

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const BAR: f64 = 34.0;
const FIRST: f64 = 24.0;
const SECOND: f64 = 96.0;
/// Narrowest part, in percent, that has its size written on it.
const WRITTEN: f64 = 11.0;

/// The card of an out-of-memory; nothing where the log does not tell what filled it.
pub(super) fn figure(oom: &OomReport, name: &str, context: &Context<'_>) -> Option<Markup> {
    let card = oom.card.as_ref()?;
    let title = context.with("card", &[("size", &bytes(card.capacity)), ("n", &oom.prompt.to_string())]);
    let figure = Figure {
        id: context.id(name),
        note: note(oom, card, context),
        plot: draw(oom, card, &title, context),
        legend: legend(oom, card, context),
        table: as_table(oom, card, context),
        title,
    };
    Some(figure.render(context))
}

fn note(oom: &OomReport, card: &CardReport, context: &Context<'_>) -> String {
    let Some(requested) = oom.requested else { return context.say("card-no-request") };
    let short = |id: &str, free: f64| {
        let values = [("requested", &*bytes(requested)), ("free", &bytes(free)), ("size", &bytes(card.capacity))];
        context.with(id, &values)
    };
    match card.freeable {
        _ if requested > card.capacity => short("card-impossible", card.capacity),
        Some(freeable) if requested > freeable => short("card-no-help", freeable),
        Some(freeable) => short("card-helps", freeable),
        None => short("card-unknown", oom.free.unwrap_or(0.0)),
    }
}

fn draw(oom: &OomReport, card: &CardReport, label: &str, context: &Context<'_>) -> Markup {
    let requested = oom.requested.unwrap_or(0.0);
    let used: f64 = card.parts.iter().filter(|part| part.name != "free").map(|part| part.bytes).sum();
    let stays: Vec<&CardPart> = card.parts.iter().filter(|part| stays(part)).collect();
    let left = (card.capacity - card.freeable.unwrap_or(0.0)).max(0.0);
    let most = card.capacity.max(used + requested).max(left + requested);
    let across = Scale::new(0.0, most * 1.02);
    let second = card.freeable.is_some();
    let bottom = if second { SECOND + BAR } else { FIRST + BAR };
    let inside = html! {
        text.lane x="0" y=(FIRST - 8.0) { (context.say("card-now")) }
        (row(&card.parts.iter().collect::<Vec<_>>(), None, FIRST, across, context))
        (request(oom, card.capacity, used, FIRST, across, context))
        @if second {
            text.lane x="0" y=(SECOND - 8.0) { (context.say("card-offloaded")) }
            (row(&stays, Some(left), SECOND, across, context))
            (request(oom, card.capacity, left, SECOND, across, context))
        }
        (wall(card.capacity, bottom, across))
        (axis(across, bottom))
    };
    plot(label, bottom + 24.0, false, inside)
}

/// A part that moving models to RAM leaves where it is.
fn stays(part: &CardPart) -> bool {
    !matches!(part.name.as_str(), "weights" | "reserved" | "free")
}

/// Parts side by side; `until` is where the last one ends when it takes what the others leave.
fn row(parts: &[&CardPart], until: Option<f64>, y: f64, across: Scale, context: &Context<'_>) -> Markup {
    let mut from = 0.0;
    let mut boxes = Vec::new();
    for part in parts {
        let to = until.map_or(from + part.bytes, |until| (from + part.bytes).min(until));
        boxes.push(part_box(part, from, to, y, across, context));
        from = to;
    }
    html! { g.parts data-now[until.is_none()] { @for part in boxes { (part) } } }
}

fn part_box(part: &CardPart, from: f64, to: f64, y: f64, across: Scale, context: &Context<'_>) -> Markup {
    let (x, width) = (across.at(from), across.width(from, to));
    let class = format!("part {} {}", part.name, edge(part.basis));
    let said = format!("{}: {} ({})", title(part, context), bytes(part.bytes), context.labels.basis(part.basis));
    let middle = across.at((from + to) / 2.0);
    let wide = across.percent(to) - across.percent(from) >= WRITTEN;
    html! {
        g role="img" aria-label=(said) data-part=(part.name) data-class=[part.class.as_deref()] data-bytes=(part.bytes) {
            (bar(&class, &x, &width, y, BAR))
            @if wide { text.inside.mid x=(middle) y=(y + BAR / 2.0 + 4.0) { (bytes(to - from)) } }
        }
    }
}

fn request(oom: &OomReport, capacity: f64, from: f64, y: f64, across: Scale, context: &Context<'_>) -> Markup {
    let Some(requested) = oom.requested else { return html! {} };
    let said = context.with("card-request-said", &[("size", &bytes(requested)), ("line", &oom.at.line.to_string())]);
    let to = from + requested;
    // Its size stands beside the card's edge, not across it.
    let edge = capacity.clamp(from, to);
    let (left, right) = if to - edge > edge - from { (edge, to) } else { (from, edge) };
    let wide = across.percent(right) - across.percent(left) >= WRITTEN;
    let shape = html! {
        (bar("part request", &across.at(from), &across.width(from, to), y - 5.0, BAR + 10.0))
        @if wide { text.inside.mid x=(across.at((left + right) / 2.0)) y=(y + BAR / 2.0 + 4.0) { (bytes(requested)) } }
    };
    html! { g data-part="request" data-bytes=(requested) { (context.mark(oom.at.line, &said, shape)) } }
}

fn wall(capacity: f64, bottom: f64, across: Scale) -> Markup {
    html! { line.wall x1=(across.at(capacity)) x2=(across.at(capacity)) y1="6" y2=(bottom + 4.0) data-capacity=(capacity) {} }
}

fn axis(across: Scale, bottom: f64) -> Markup {
    let (ticks, _) = across.ticks_of(5, GIB);
    html! {
        @for tick in ticks {
            @let last = across.percent(tick) > 94.0;
            text class=(if tick == 0.0 { "tick" } else if last { "tick end" } else { "tick mid" }) x=(across.at(tick)) y=(bottom + 19.0) {
                (crate::text::number(tick / GIB, 1)) @if tick == 0.0 { " GiB" }
            }
        }
    }
}

fn edge(basis: Basis) -> &'static str {
    match basis {
        Basis::Measured | Basis::Given => "measured",
        Basis::Derived | Basis::Formula | Basis::Estimate | Basis::Extrapolated => "derived",
        Basis::Unknown => "unsure",
    }
}

fn title(part: &CardPart, context: &Context<'_>) -> String {
    match &part.class {
        Some(class) => context.with("card-weights", &[("class", class)]),
        None => {
            context.say(&format!("card-{}", if part.name == "unknown" { "unknown-part" } else { part.name.as_str() }))
        }
    }
}

fn legend(oom: &OomReport, card: &CardReport, context: &Context<'_>) -> Markup {
    html! {
        ul.legend {
            @for part in &card.parts {
                li {
                    svg.key width="16" height="12" aria-hidden="true" { rect class=(format!("part {} {}", part.name, edge(part.basis))) x="1" y="1" width="14" height="10" {} }
                    (title(part, context)) " " b { (bytes(part.bytes)) } " " span.basis { (context.labels.basis(part.basis)) }
                }
            }
            @if let Some(requested) = oom.requested {
                li {
                    svg.key width="16" height="12" aria-hidden="true" { rect class="part request" x="1" y="1" width="14" height="10" {} }
                    (context.say("card-request")) " " b { (bytes(requested)) } " " span.basis { (context.labels.line(&oom.at)) }
                }
            }
        }
    }
}

fn as_table(oom: &OomReport, card: &CardReport, context: &Context<'_>) -> Markup {
    let head = [context.labels.get("col-part"), context.say("col-size"), context.say("col-basis")];
    let row =
        |name: String, size: f64, basis: String| vec![html! { (name) }, html! { (bytes(size)) }, html! { (basis) }];
    let mut rows: Vec<Vec<Markup>> =
        card.parts.iter().map(|part| row(title(part, context), part.bytes, context.labels.basis(part.basis))).collect();
    if let Some(requested) = oom.requested {
        rows.push(row(context.say("card-request"), requested, context.labels.basis(Basis::Measured)));
    }
    if let Some(freeable) = card.freeable {
        rows.push(row(context.say("card-freeable"), freeable, context.labels.basis(Basis::Derived)));
    }
    table(&head, rows)
}
