//! Which part filled the card: splits the peak of an out-of-memory and names the part that decided.

use super::classes::kind;
use super::draft::{Draft, evidence, figure, told};
use super::finding::{Basis, Candidate, EvidenceReport, Figure, Finding, Grade, Status};
use super::view::View;
use super::words::Words;
use crate::event::{GIB, MIB};
use crate::text;
use crate::timeline::OomRecord;

/// Attention retries in an unfinished prompt that amount to an out-of-memory of their own.
const RETRIES_THAT_TELL: u64 = 4;
/// Share of the card that other programs must hold to be what decided.
const OTHERS_SHARE: f64 = 0.2;
/// Reserved but unused memory from this size on counts as fragmentation, not as the usual small change.
const PIECES: f64 = 512.0 * MIB;
/// A request from this size on is working memory of a step, not a weight or a buffer.
const STEP_BYTES: f64 = GIB;

/// The part that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Activations,
    Weights,
    Fragmentation,
    Others,
    Context,
    Unknown,
}

impl Part {
    /// Name in the report and in the packs' remedies.
    pub fn name(self) -> &'static str {
        match self {
            Self::Activations => "activations",
            Self::Weights => "weights",
            Self::Fragmentation => "fragmentation",
            Self::Others => "others",
            Self::Context => "context",
            Self::Unknown => "unknown",
        }
    }
}

/// The peak, split. All figures in bytes; what is not known is absent.
#[derive(Debug, Clone, Copy)]
pub struct Split {
    pub part: Part,
    pub capacity: Option<f64>,
    pub weights: Option<f64>,
    /// PyTorch's live memory that is not weights.
    pub rest: Option<f64>,
    /// Measured where the processes are listed, else derived together with the context.
    pub others: Option<f64>,
    pub others_measured: bool,
    /// The driver's list holds ComfyUI itself, so what others hold is the rest of the card.
    pub counted_twice: bool,
    /// All that offloading could free.
    pub freeable: Option<f64>,
    /// The request is larger than the card.
    pub impossible: bool,
}

/// Splits the peak of one record.
pub fn split(oom: &OomRecord, view: &View<'_>) -> Split {
    let numbers = &oom.numbers;
    let capacity =
        numbers.capacity.or(numbers.limit).or(view.vram_mib().filter(|_| oom.kind != "MPS").map(|mib| mib * MIB));
    let unallocated = numbers.reserved_unallocated.or(match (numbers.reserved_total, numbers.allocated) {
        (Some(total), Some(allocated)) => Some((total - allocated).max(0.0)),
        _ => None,
    });
    let dynamic = view.dynamic_vram == Some(true);
    let known: f64 = oom.resident_mib.iter().map(|(_, mib, _)| mib * MIB).sum();
    let weights = (known > 0.0).then_some(numbers.allocated.map_or(known, |allocated| known.min(allocated)));
    let rest = numbers.allocated.zip(weights).map(|(allocated, weights)| allocated - weights);
    let residual = match (capacity, numbers.free, numbers.allocated) {
        (Some(capacity), Some(free), Some(allocated)) => {
            Some((capacity - free - allocated - unallocated.unwrap_or(0.0)).max(0.0))
        }
        _ => None,
    };
    // Inside a container the driver lists ComfyUI itself under its own number; then the list plus what PyTorch holds
    // is more than the card.
    let counted_twice = numbers.process.is_none()
        && matches!((numbers.others, numbers.allocated, capacity), (Some(others), Some(allocated), Some(capacity)) if others + allocated > capacity * 1.02);
    let listed = numbers.others.filter(|_| !counted_twice);
    let others = listed.or(numbers.other_allocations).or(if numbers.process.is_some() { None } else { residual });
    let freeable = weights.map(|weights| weights + numbers.free.unwrap_or(0.0) + unallocated.unwrap_or(0.0));
    let impossible = numbers.requested.zip(capacity).is_some_and(|(requested, capacity)| requested > capacity);
    let mut split = Split {
        part: Part::Unknown,
        capacity,
        weights,
        rest,
        others,
        counted_twice,
        others_measured: listed.is_some() || numbers.other_allocations.is_some(),
        freeable,
        impossible,
    };
    split.part = decide(oom, &split, unallocated, dynamic);
    split
}

fn decide(oom: &OomRecord, split: &Split, unallocated: Option<f64>, dynamic: bool) -> Part {
    let numbers = &oom.numbers;
    let Some(requested) = numbers.requested else { return Part::Unknown };
    if split.impossible {
        return Part::Activations;
    }
    let room = split
        .capacity
        .zip(numbers.allocated)
        .is_none_or(|(capacity, allocated)| allocated + requested < capacity * 0.97);
    if room && unallocated.is_some_and(|unallocated| unallocated >= requested && unallocated >= PIECES) {
        return Part::Fragmentation;
    }
    if numbers.other_allocations.is_some_and(|other| other > numbers.allocated.unwrap_or(0.0)) {
        return Part::Context;
    }
    // Most of the card is free: the driver or an allocator's limit refused, no part of the card did.
    if numbers.free.is_some_and(|free| free > requested * 2.0 && free > GIB) {
        return Part::Unknown;
    }
    if split.counted_twice
        && split.capacity.zip(split.others).is_some_and(|(capacity, others)| others > capacity * OTHERS_SHARE)
    {
        return Part::Others;
    }
    let others_large = split
        .capacity
        .zip(split.others)
        .is_some_and(|(capacity, others)| others > capacity * OTHERS_SHARE && others > requested && others > 1.5 * GIB);
    // Where the processes are not listed, the remainder is the context too, and with dynamic VRAM mostly weights.
    if others_large && split.others_measured {
        return Part::Others;
    }
    if split.freeable.is_some_and(|freeable| requested > freeable) {
        return Part::Activations;
    }
    let allocated = numbers.allocated.unwrap_or(0.0);
    if let Some(weights) = split.weights
        && weights > 0.6 * allocated
        && requested < weights
        && requested < STEP_BYTES
    {
        return Part::Weights;
    }
    let spilled = split.capacity.is_some_and(|capacity| allocated > capacity);
    if requested >= STEP_BYTES || spilled || split.rest.zip(split.weights).is_some_and(|(rest, weights)| rest > weights)
    {
        return Part::Activations;
    }
    if others_large && !dynamic {
        return Part::Context;
    }
    Part::Unknown
}

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
    let split = split(oom, view);
    let size = |bytes: Option<f64>| bytes.map_or_else(|| "?".to_owned(), text::bytes);
    let values = [
        ("requested", size(oom.numbers.requested)),
        ("free", size(oom.numbers.free)),
        ("weights", size(split.weights)),
        ("reserved", size(oom.numbers.reserved_unallocated)),
        ("others", size(split.others)),
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
        Part::Fragmentation => "oom-fragmentation",
        Part::Others => "oom-others",
        Part::Context => "oom-context",
        Part::Unknown if oom.numbers.requested.is_none() && oom.kind == "cuda-error" => "oom-driver",
        Part::Unknown if oom.numbers.requested.is_none() => "oom-no-numbers",
        Part::Unknown
            if oom.numbers.free.zip(oom.numbers.requested).is_some_and(|(free, requested)| free > requested * 2.0) =>
        {
            "oom-refused"
        }
        Part::Unknown => "oom-undecided",
    };
    let (grade, reason) = match (split.part, oom.kind.as_str()) {
        (Part::Activations, _) if split.impossible => (Grade::Certain, "grade-oom-impossible"),
        (Part::Activations, _) if offload_cannot => (Grade::Strong, "grade-oom-over-freeable"),
        (Part::Unknown, _) if oom.numbers.requested.is_none() => (Grade::Moderate, "grade-oom-no-numbers"),
        (Part::Unknown, _) => (Grade::Strong, "grade-oom-undecided"),
        (Part::Activations, _) if split.weights.is_none() => (Grade::Moderate, "grade-oom-size-only"),
        (Part::Activations, _) => (Grade::Strong, "grade-oom-request"),
        _ => (Grade::Strong, "grade-oom-numbers"),
    };
    let mut draft = Draft::new("gpu-oom", view.number, Status::Confirmed, words.say(key, &values))
        .about(split.part.name())
        .grade(grade, words.say(reason, &[]))
        .recovered(oom.recovered)
        .in_prompt(oom.prompt)
        .figures(figures(oom, &split, view, words))
        .candidates(inside(oom, view, words));
    if split.part == Part::Unknown {
        draft = draft.settle(words.say(if dynamic { "settle-oom-dynamic" } else { "settle-oom" }, &[]));
    }
    draft.because(lines(oom, view, words))
}

fn lines(oom: &OomRecord, view: &View<'_>, words: &Words<'_>) -> Vec<EvidenceReport> {
    let mut lines = vec![evidence(&oom.at.clone().through(oom.last_line.min(oom.at.place.line + 6)), None)];
    if let Some(at) = &oom.unloaded_all {
        lines.push(evidence(at, Some(words.say("remark-all-unloaded", &[]))));
    }
    for (class, _, _) in oom.resident_mib.iter().take(3) {
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
    add("activations", "figure-rest", split.rest, Basis::Derived);
    add("reserved", "figure-reserved", numbers.reserved_unallocated, Basis::Measured);
    if split.others_measured {
        add("others", "figure-others", split.others, Basis::Measured);
    } else if view.dynamic_vram == Some(true) {
        add("outside-pytorch", "figure-outside-dynamic", split.others, Basis::Derived);
    } else {
        add("outside-pytorch", "figure-outside", split.others, Basis::Derived);
    }
    add("freeable", "figure-freeable", split.freeable, Basis::Derived);
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
    if oom.recovered {
        list.push(told("recovered", words.say("figure-recovered", &[]), Basis::Measured, Vec::new()));
    }
    list
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
