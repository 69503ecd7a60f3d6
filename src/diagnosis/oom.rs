//! Which part filled the card: splits the peak of an out-of-memory and names the part that decided.

mod resident;
mod split;

use super::classes::kind;
use super::draft::{Draft, evidence, figure, told};
use super::finding::{Basis, Candidate, EvidenceReport, Figure, Finding, Grade, Status};
use super::view::{View, same_dir};
use super::words::Words;
use crate::event::GIB;
use crate::text;
use crate::timeline::OomRecord;

pub use split::{Part, Split, split};

/// Attention retries in an unfinished prompt that amount to an out-of-memory of their own.
const RETRIES_THAT_TELL: u64 = 4;
/// Share of the card that PyTorch holds when the card is said to be full of its memory.
const FULL_OF_TORCH: f64 = 0.8;
/// Bytes of a card on which no model fits.
const TINY_CARD: f64 = GIB;
/// Lines of further failures that are named.
const LINES_NAMED: usize = 4;
/// Node packs named for what they may hold.
const HOLDERS_NAMED: usize = 3;
/// Kind of fault, in the packs, of a node pack that keeps models of its own on the card.
const OWN_MODELS: &str = "own model manager";

/// One finding per kind of failure: the last one that nothing recovered from, else the last one.
pub fn examine(view: &View<'_>, words: &Words<'_>) -> Vec<Finding> {
    let ooms = &view.session.ooms;
    let chosen = ooms.iter().rev().find(|oom| !oom.recovered).or_else(|| ooms.last());
    let mut findings = Vec::new();
    if let Some(oom) = chosen {
        findings.push(finding(oom, view, words));
    } else if let Some(finding) = retries(view, words).or_else(|| tiled(view, words)) {
        findings.push(finding);
    }
    findings
}

fn finding(oom: &OomRecord, view: &View<'_>, words: &Words<'_>) -> Finding {
    let split = split(oom, view, words.packs);
    let size = |bytes: Option<f64>| bytes.map_or_else(|| "?".to_owned(), text::bytes);
    let values = [
        ("requested", size(oom.numbers.requested)),
        ("free", size(oom.numbers.free)),
        ("weights", size(split.weights)),
        ("reserved", size(oom.numbers.reserved_unallocated)),
        ("others", size(split.others)),
        ("outside", size(split.own_outside)),
        ("rest", size(split.rest)),
        ("allocated", size(oom.numbers.allocated)),
        ("capacity", size(split.capacity)),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let dynamic = view.dynamic_vram == Some(true);
    let offload_cannot = split.impossible
        || split.freeable.zip(oom.numbers.requested).is_some_and(|(freeable, requested)| requested > freeable);
    let key = match split.part {
        Part::Activations if offload_cannot => "oom-activations-impossible",
        Part::Activations if split.weights.is_none() => "oom-activations-likely",
        Part::Activations if oom.numbers.free.is_some() => "oom-activations",
        Part::Activations => "oom-activations-no-free",
        Part::Weights => "oom-weights",
        Part::Unexplained => "oom-unexplained",
        Part::Fragmentation if split.refused => "oom-fragmentation-or-driver",
        Part::Fragmentation => "oom-fragmentation",
        Part::Others => "oom-others",
        Part::Context if split.own_outside.is_some() => "oom-context-own",
        Part::Context => "oom-context",
        Part::Unknown if oom.numbers.requested.is_none() && oom.kind == "cuda-error" => "oom-driver",
        Part::Unknown if oom.numbers.requested.is_none() => "oom-no-numbers",
        Part::Unknown if split.refused => "oom-refused",
        Part::Unknown if is_tiny(&split) => "oom-tiny-card",
        Part::Unknown if full_of_torch(oom, &split) => "oom-full",
        Part::Unknown => "oom-undecided",
    };
    let (grade, reason) = match (split.part, oom.kind.as_str()) {
        (Part::Activations, _) if split.impossible => (Grade::Certain, "grade-oom-impossible"),
        (Part::Activations, _) if offload_cannot => (Grade::Strong, "grade-oom-over-freeable"),
        (Part::Unknown, _) if oom.numbers.requested.is_none() => (Grade::Moderate, "grade-oom-no-numbers"),
        (Part::Unknown, _) if is_tiny(&split) => (Grade::Strong, "grade-oom-numbers"),
        (Part::Unknown, _) => (Grade::Strong, "grade-oom-undecided"),
        (Part::Unexplained, _) => (Grade::Moderate, "grade-oom-unexplained"),
        (Part::Fragmentation, _) if split.refused => (Grade::Moderate, "grade-oom-or-driver"),
        (Part::Activations, _) if split.weights.is_none() => (Grade::Moderate, "grade-oom-size-only"),
        (Part::Activations, _) => (Grade::Strong, "grade-oom-request"),
        _ => (Grade::Strong, "grade-oom-numbers"),
    };
    let mut draft = Draft::new("gpu-oom", view.number, Status::Confirmed, words.say(key, &values))
        .about(acts_on(oom, &split))
        .grade(grade, words.say(reason, &[]))
        .recovered(oom.recovered)
        .in_prompt(oom.prompt)
        .figures(figures(oom, &split, view, words))
        .candidates(inside(oom, view, words).into_iter().chain(holders(&split, view, words)).collect());
    if split.part == Part::Unexplained {
        draft = draft.settle(words.say("settle-oom-unexplained", &[]));
    } else if split.part == Part::Unknown && !is_tiny(&split) {
        draft = draft.settle(words.say(if dynamic { "settle-oom-dynamic" } else { "settle-oom" }, &[]));
    }
    draft.because(lines(oom, &split, view, words))
}

/// What remedies have to act on: the part that decided, and the driver where it refused what was there.
fn acts_on(oom: &OomRecord, split: &Split) -> &'static str {
    let unnumbered = oom.numbers.requested.is_none() && oom.kind == "cuda-error";
    match split.part {
        Part::Unknown if split.refused || unnumbered => "driver",
        Part::Unknown if is_tiny(split) => "tiny-card",
        Part::Fragmentation if split.refused => "fragmentation-or-driver",
        part => part.name(),
    }
}

/// So little memory that no model fits: what firmware lends an integrated graphics unit by default.
fn is_tiny(split: &Split) -> bool {
    split.capacity.is_some_and(|capacity| capacity <= TINY_CARD)
}

fn full_of_torch(oom: &OomRecord, split: &Split) -> bool {
    let held = oom.numbers.allocated.zip(split.capacity);
    held.is_some_and(|(allocated, capacity)| allocated > capacity * FULL_OF_TORCH)
}

fn lines(oom: &OomRecord, split: &Split, view: &View<'_>, words: &Words<'_>) -> Vec<EvidenceReport> {
    let mut lines = vec![evidence(&oom.at.clone().through(oom.last_line), None)];
    if let Some(at) = &oom.unloaded_all {
        lines.push(evidence(at, Some(words.say("remark-all-unloaded", &[]))));
    }
    for class in split.classes.iter().take(3) {
        if let Some(at) = view.session.loads.get(class).and_then(|load| load.size_at.as_ref()) {
            lines.push(evidence(at, Some(words.say("remark-weights-of", &[("class", class)]))));
        }
    }
    if let Some(counted) = &view.session.counts.tiled_retries {
        lines.push(super::draft::counted(counted, Some(words.say("remark-tiled-retry", &[]))));
    }
    lines
}

fn figures(oom: &OomRecord, split: &Split, view: &View<'_>, words: &Words<'_>) -> Vec<Figure> {
    let numbers = &oom.numbers;
    let line = oom.at.place.line;
    let mut list = Vec::new();
    let mut add = |name: &str, key: &str, bytes: Option<f64>, basis: Basis| {
        if let Some(bytes) = bytes {
            list.push(figure(
                name,
                words.say(key, &[("size", &text::bytes(bytes))]),
                basis,
                bytes,
                "bytes",
                vec![line],
            ));
        }
    };
    add("capacity", "figure-capacity", split.capacity, Basis::Measured);
    add("free", "figure-free", numbers.free, Basis::Measured);
    add("allocated", "figure-allocated", numbers.allocated, Basis::Measured);
    add("weights", "figure-weights", split.weights, Basis::Estimate);
    let rest = if split.part == Part::Unexplained { "figure-rest-unexplained" } else { "figure-rest" };
    add("activations", rest, split.rest, Basis::Derived);
    add("reserved", "figure-reserved", numbers.reserved_unallocated, Basis::Measured);
    let outside = if numbers.other_allocations.is_some() { Basis::Measured } else { Basis::Derived };
    add("own-outside", "figure-own-outside", split.own_outside, outside);
    if split.others_measured {
        add("others", "figure-others", split.others, Basis::Measured);
    } else if view.dynamic_vram == Some(true) {
        add("outside-pytorch", "figure-outside-dynamic", split.others, Basis::Derived);
    } else {
        add("outside-pytorch", "figure-outside", split.others, Basis::Derived);
    }
    if split.part != Part::Unexplained {
        add("freeable", "figure-freeable", split.freeable, Basis::Derived);
    }
    if let Some(node) = &oom.node {
        list.push(told("node", words.say("figure-node", &[("node", node)]), Basis::Measured, vec![line]));
    } else if let Some((class, at)) = &oom.last_load {
        let step = match oom.sampling {
            Some((done, total)) => words.say(
                "figure-last-load-sampling",
                &[
                    ("class", class),
                    ("line", &at.to_string()),
                    ("done", &done.to_string()),
                    ("total", &total.to_string()),
                ],
            ),
            None if kind(words.packs, class) == Some("vae") => {
                words.say("figure-last-load-vae", &[("class", class), ("line", &at.to_string())])
            }
            None => words.say("figure-last-load", &[("class", class), ("line", &at.to_string())]),
        };
        list.push(told("where", step, Basis::Derived, vec![*at]));
    }
    list.extend(again(oom, view, words));
    if oom.recovered {
        list.push(told("recovered", words.say("figure-recovered", &[]), Basis::Measured, Vec::new()));
    }
    list
}

/// Where else memory ran out in this start.
fn again(oom: &OomRecord, view: &View<'_>, words: &Words<'_>) -> Option<Figure> {
    let ooms = &view.session.ooms;
    let lines: Vec<u64> =
        ooms.iter().map(|other| other.at.place.line).filter(|line| *line != oom.at.place.line).collect();
    let first: Vec<String> = lines.iter().take(LINES_NAMED).map(u64::to_string).collect();
    let count = lines.len() as u64 + view.session.ooms_left_out;
    (!lines.is_empty()).then(|| {
        let text = words.count("figure-oom-also-one", "figure-oom-also-many", count, &[("lines", &first.join(", "))]);
        told("also", text, Basis::Measured, lines)
    })
}

/// Node packs in the traceback: where the step ran, which is not yet whose fault it is.
fn inside(oom: &OomRecord, view: &View<'_>, words: &Words<'_>) -> Vec<Candidate> {
    let exception = view.session.exceptions.iter().find(|exception| exception.is_oom && exception.prompt == oom.prompt);
    let Some(exception) = exception else { return Vec::new() };
    let Some(dir) = exception.dirs.last() else { return Vec::new() };
    vec![Candidate {
        dir: dir.clone(),
        why: "traceback".to_owned(),
        reason: words.say("candidate-ran-inside", &[]),
        at: exception.dir_at.as_ref().map(|at| super::draft::place(&at.place, None)),
    }]
}

/// Node packs that are known to keep models of their own, where memory is on the card that no load line explains.
fn holders(split: &Split, view: &View<'_>, words: &Words<'_>) -> Vec<Candidate> {
    if split.part != Part::Unexplained {
        return Vec::new();
    }
    let keeps_models = |dir: &str| {
        words
            .packs
            .nodes
            .iter()
            .any(|def| def.fault.contains(OWN_MODELS) && def.dirs.iter().any(|known| same_dir(known, dir)))
    };
    let holders = view.packs_loaded().filter(|node| keeps_models(&node.dir)).take(HOLDERS_NAMED);
    holders
        .map(|node| Candidate {
            dir: node.dir.clone(),
            why: "own-loader".to_owned(),
            reason: words.say("candidate-own-models", &[]),
            at: Some(super::draft::place(&node.at.place, None)),
        })
        .collect()
}

/// Attention was tried again and again, and the prompt never ended.
fn retries(view: &View<'_>, words: &Words<'_>) -> Option<Finding> {
    let counted = view.session.counts.attention_retries.as_ref()?;
    let unfinished = counted.last_prompt > view.session.prompts.executed;
    if counted.count < RETRIES_THAT_TELL || !unfinished {
        return None;
    }
    let mut lines =
        vec![super::draft::counted(counted, Some(words.say("remark-retries", &[("n", &counted.count.to_string())])))];
    for class in view.session.resident_mib.keys().take(2) {
        if let Some(at) = view.session.loads.get(class).and_then(|load| load.size_at.as_ref()) {
            lines.push(evidence(at, Some(words.say("remark-weights-of", &[("class", class)]))));
        }
    }
    let finding = Draft::new(
        "gpu-oom",
        view.number,
        Status::Likely,
        words.say("oom-retries", &[("n", &counted.count.to_string())]),
    )
    .about("activations")
    .grade(Grade::Moderate, words.say("grade-oom-retries", &[]))
    .in_prompt(counted.last_prompt)
    .because(lines);
    Some(finding)
}

/// VAE did not fit and went on with tiles: a warning, not a failure.
fn tiled(view: &View<'_>, words: &Words<'_>) -> Option<Finding> {
    let counted = view.session.counts.tiled_retries.as_ref()?;
    let remark = words.say("remark-tiled-retry", &[]);
    let finding = Draft::new(
        "gpu-oom",
        view.number,
        Status::Possible,
        words.count("oom-tiled-one", "oom-tiled", counted.count, &[]),
    )
    .about("activations")
    .grade(Grade::Strong, words.say("grade-error-text", &[]))
    .in_prompt(counted.last_prompt)
    .recovered(true)
    .because(vec![super::draft::counted(counted, Some(remark))]);
    Some(finding)
}
