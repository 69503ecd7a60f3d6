//! The numbers of an out-of-memory, each with the line that holds it.

use super::METAL;
use super::split::{Part, Split};
use crate::catalog::messages::Messages;
use crate::hypothesis::classes::kind;
use crate::hypothesis::context::Context;
use crate::hypothesis::factor;
use crate::hypothesis::finding::{Basis, Figure};
use crate::hypothesis::finding_builder::{figure, told};
use crate::hypothesis::phase::{self, Scene};
use crate::text;
use crate::timeline::OomRecord;

/// Lines of further failures that are named.
const LINES_NAMED: usize = 4;

/// All figures, the whole first, then its parts, then where it happened.
pub fn figures(
    oom: &OomRecord,
    split: &Split,
    scene: &Scene,
    view: &Context<'_>,
    messages: &Messages<'_>,
) -> Vec<Figure> {
    let mut list = sizes(oom, split, view, messages);
    let requested = oom.numbers.requested;
    let factors = requested.and_then(|bytes| factor::of_request(bytes, oom.prompt, view));
    match factors {
        Some(factors) => list.push(factors.figure(requested, oom.line_of("requested"), messages)),
        None => list.extend(factor::pictures_before(oom.prompt, oom.at.place.line, view, messages)),
    }
    list.extend(place(oom, scene, messages));
    if let Some(errors) = view.session.counts.lora_errors.as_ref().filter(|errors| errors.last_prompt == oom.prompt) {
        let text = messages.count("figure-lora-errors-one", "figure-lora-errors", errors.count, &[]);
        let mut lines = vec![errors.first.place.line];
        lines.extend((errors.last_line > errors.first.place.line).then_some(errors.last_line));
        list.push(told("lora-errors", text, Basis::Measured, lines));
    }
    list.extend(again(oom, view, messages));
    if oom.recovered {
        list.push(told("recovered", messages.text("figure-recovered", &[]), Basis::Measured, Vec::new()));
    }
    list
}

fn sizes(oom: &OomRecord, split: &Split, view: &Context<'_>, messages: &Messages<'_>) -> Vec<Figure> {
    let numbers = &oom.numbers;
    let mut list = Vec::new();
    let mut add = |name: &str, key: &str, bytes: Option<f64>, basis: Basis, lines: Vec<u64>| {
        if let Some(bytes) = bytes {
            list.push(figure(name, messages.text(key, &[("size", &text::bytes(bytes))]), basis, bytes, "bytes", lines));
        }
    };
    let at = |name: &str| vec![oom.line_of(name)];
    let allocated = at("allocated");
    add("capacity", capacity_key(oom), split.capacity, Basis::Measured, vec![capacity_line(oom, view)]);
    add("free", "figure-free", numbers.free, Basis::Measured, at("free"));
    add("allocated", "figure-allocated", numbers.allocated, Basis::Measured, allocated.clone());
    add("spilled", "figure-spilled", split.spilled, Basis::Derived, allocated.clone());
    let of_loads: Vec<u64> =
        split.classes.iter().filter_map(|class| view.load_line(class)).map(|at| at.place.line).collect();
    let weights = if numbers.allocated.is_some() { "figure-weights" } else { "figure-weights-alone" };
    add("weights", weights, split.weights, Basis::Estimate, of_loads);
    let rest = if split.part == Part::Unexplained { "figure-rest-unexplained" } else { "figure-rest" };
    add("activations", rest, split.rest, Basis::Derived, allocated);
    add("reserved", "figure-reserved", numbers.reserved_unallocated, Basis::Measured, at("reserved_unallocated"));
    let reserved = numbers.reserved_total.filter(|_| numbers.reserved_unallocated.is_none());
    add("reserved-total", "figure-reserved-total", reserved, Basis::Measured, at("reserved_total"));
    if numbers.other_allocations.is_some() {
        add("own-outside", "figure-outside-metal", split.own_outside, Basis::Measured, at("other_allocations"));
    } else {
        add("own-outside", "figure-own-outside", split.own_outside, Basis::Derived, at("process"));
    }
    if split.others_measured {
        add("others", "figure-others", split.others, Basis::Measured, at("others"));
    } else if view.dynamic_vram == Some(true) {
        add("outside-pytorch", "figure-outside-dynamic", split.others, Basis::Derived, at("free"));
    } else {
        add("outside-pytorch", "figure-outside", split.others, Basis::Derived, at("free"));
    }
    if split.part != Part::Unexplained {
        add("freeable", "figure-freeable", split.freeable, Basis::Derived, at("free"));
    }
    list
}

/// What macOS allows is a limit on shared memory, and no card.
fn capacity_key(oom: &OomRecord) -> &'static str {
    if oom.kind == METAL && oom.numbers.limit.is_some() { "figure-limit-metal" } else { "figure-capacity" }
}

/// The line that tells the card's size: of the message, else of the start.
fn capacity_line(oom: &OomRecord, view: &Context<'_>) -> u64 {
    let told = ["capacity", "limit"].into_iter().find(|name| oom.number_lines.contains_key(*name));
    let fact = || view.session.fact("total_vram_mib").map(|fact| fact.at.place.line);
    told.map_or_else(|| fact().unwrap_or(oom.at.place.line), |name| oom.line_of(name))
}

/// The node that failed, and what it was about.
fn place(oom: &OomRecord, scene: &Scene, messages: &Messages<'_>) -> Vec<Figure> {
    let mut list = Vec::new();
    if let Some(node) = &oom.node {
        let line = oom.node_line.unwrap_or(oom.at.place.line);
        list.push(told("node", crate::hypothesis::failure::node_text(node, messages), Basis::Measured, vec![line]));
    }
    let seen = scene.phase.as_ref().filter(|seen| seen.basis == Basis::Measured);
    if let Some((function, line)) = seen.and_then(|seen| seen.function.as_deref().zip(seen.line)) {
        list.push(told(
            "frame",
            messages.text("figure-in-function", &[("function", function)]),
            Basis::Measured,
            vec![line],
        ));
    }
    if let Some((class, at)) = oom.last_load.as_ref().filter(|_| oom.node.is_none() || oom.sampling.is_some()) {
        list.push(told("where", last_load(oom, scene, class, *at, messages), Basis::Derived, vec![*at]));
    }
    list
}

fn last_load(oom: &OomRecord, scene: &Scene, class: &str, line: u64, messages: &Messages<'_>) -> String {
    let line = line.to_string();
    let values = [("class", class), ("line", line.as_str())];
    match oom.sampling {
        Some((done, total)) => {
            let (done, total) = (done.to_string(), total.to_string());
            messages.text("figure-last-load-sampling", &[values[0], values[1], ("done", &done), ("total", &total)])
        }
        None if scene.phase.is_none() && kind(messages.packs, class) == Some("vae") => {
            messages.text("figure-last-load-vae", &values)
        }
        None if scene.is(phase::LOADING) || scene.is(phase::PATCHING) => messages.text("figure-loading", &values),
        None => messages.text("figure-last-load", &values),
    }
}

/// Where else memory ran out in this start.
fn again(oom: &OomRecord, view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let ooms = &view.session.ooms;
    let lines: Vec<u64> =
        ooms.iter().map(|other| other.at.place.line).filter(|line| *line != oom.at.place.line).collect();
    let first: Vec<String> = lines.iter().take(LINES_NAMED).map(u64::to_string).collect();
    let count = lines.len() as u64 + view.session.ooms_left_out;
    (!lines.is_empty()).then(|| {
        let text =
            messages.count("figure-oom-also-one", "figure-oom-also-many", count, &[("lines", &first.join(", "))]);
        told("also", text, Basis::Measured, lines)
    })
}
