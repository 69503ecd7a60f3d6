//! Which part filled the card: splits the peak of an out-of-memory and names the part that decided.

mod figures;
mod resident;
mod split;

use super::Case;
use super::context::{Context, same_dir};
use super::finding::{Candidate, EvidenceReport, Finding, Grade, RuledOut, Status};
use super::finding_builder::{FindingBuilder, evidence};
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::event::GIB;
use crate::hypothesis::phase::{self, Scene};
use crate::text;
use crate::timeline::{Exception, OomRecord, UNNAMED};

pub use split::{Part, Split, split};

/// Attention retries in an unfinished prompt that amount to an out-of-memory of their own.
const RETRIES_THAT_TELL: u64 = 4;
/// Share of the card that PyTorch holds when the card is said to be full of its memory.
const FULL_OF_TORCH: f64 = 0.8;
/// Bytes of a card on which no model fits.
const TINY_CARD: f64 = GIB;
/// Kind of out-of-memory that only Apple's cards have.
pub const METAL: &str = "MPS";
/// Node packs named for what they may hold.
const HOLDERS_NAMED: usize = 3;
/// Kind of fault, in the packs, of a node pack that keeps models of its own on the card.
const OWN_MODELS: &str = "own model manager";

/// One finding per kind of failure: the last one that nothing recovered from, else the last one.
pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    let ooms = &view.session.ooms;
    let chosen = ooms.iter().rev().find(|oom| !oom.recovered).or_else(|| ooms.last());
    let mut findings = Vec::new();
    if let Some(oom) = chosen {
        findings.push(finding(oom, view, messages));
    } else if let Some(finding) = retries(view, messages).or_else(|| tiled(view, messages)) {
        findings.push(finding);
    }
    findings
}

// Long: one finding, from its grounds to its lines.
fn finding(oom: &OomRecord, view: &Context<'_>, messages: &Messages<'_>) -> Finding {
    let split = split(oom, view, messages.packs);
    let scene = Scene::of_oom(oom, view, messages);
    let key = sentence_key(oom, &split, &scene);
    let (grade, reason) = grade(oom, &split);
    let mut draft = FindingBuilder::new(
        Verdict::GpuOom,
        view.number,
        Status::Confirmed,
        summary(key, oom, &split, &scene, messages),
    )
    .about(acts_on(oom, &split))
    .grade(grade, messages.text(reason, &[]))
    .recovered(oom.recovered)
    .in_prompt(oom.prompt)
    .figures(figures::figures(oom, &split, &scene, view, messages))
    .candidates(inside(oom, view, messages).into_iter().chain(holders(&split, view, messages)).collect());
    if let Some(key) = settle(oom, &split, &scene, view) {
        draft = draft.settle(messages.text(key, &[]));
    }
    draft.because(lines(oom, &split, view, messages))
}

fn summary(key: &str, oom: &OomRecord, split: &Split, scene: &Scene, messages: &Messages<'_>) -> String {
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
        ("where", phase::in_words(scene, Some(oom), messages)),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    messages.text(key, &values)
}

/// Weights were on their way to the card, so no step's working memory can have decided.
fn is_loading(scene: &Scene) -> bool {
    scene.is(phase::LOADING) || scene.is(phase::PATCHING)
}

fn sentence_key(oom: &OomRecord, split: &Split, scene: &Scene) -> &'static str {
    let requested = oom.numbers.requested.is_some();
    if oom.kind == METAL && requested {
        let outside = split.own_outside.is_some_and(|outside| outside > GIB);
        return if outside { "oom-metal-outside" } else { "oom-metal" };
    }
    match split.part {
        _ if split.refused && !split.impossible && split.part != Part::Fragmentation => "oom-refused",
        Part::Activations if split.impossible || split.offload_cannot(oom) => "oom-activations-impossible",
        Part::Activations | Part::Unknown if is_loading(scene) && requested => "oom-loading",
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
        Part::Unknown if !requested && oom.kind == "cuda-error" => "oom-driver",
        Part::Unknown if !requested => "oom-no-numbers",
        Part::Unknown if is_tiny(split) => "oom-tiny-card",
        Part::Unknown if full_of_torch(oom, split) => "oom-full",
        Part::Unknown => "oom-undecided",
    }
}

fn grade(oom: &OomRecord, split: &Split) -> (Grade, &'static str) {
    match split.part {
        Part::Activations if split.impossible => (Grade::Certain, "grade-oom-impossible"),
        Part::Activations if split.offload_cannot(oom) => (Grade::Strong, "grade-oom-over-freeable"),
        Part::Unknown if oom.numbers.requested.is_none() => (Grade::Moderate, "grade-oom-no-numbers"),
        Part::Unknown if is_tiny(split) => (Grade::Strong, "grade-oom-numbers"),
        Part::Unknown => (Grade::Strong, "grade-oom-undecided"),
        Part::Unexplained => (Grade::Moderate, "grade-oom-unexplained"),
        Part::Fragmentation if split.refused => (Grade::Moderate, "grade-oom-or-driver"),
        Part::Activations if split.weights.is_none() => (Grade::Moderate, "grade-oom-size-only"),
        Part::Activations => (Grade::Strong, "grade-oom-request"),
        _ => (Grade::Strong, "grade-oom-numbers"),
    }
}

/// What would decide where the numbers do not.
fn settle(oom: &OomRecord, split: &Split, scene: &Scene, view: &Context<'_>) -> Option<&'static str> {
    let dynamic = view.dynamic_vram == Some(true);
    match split.part {
        Part::Unexplained => Some("settle-oom-unexplained"),
        Part::Unknown if is_tiny(split) => None,
        Part::Unknown if split.refused => Some("settle-oom-refused"),
        Part::Unknown if is_loading(scene) => Some("settle-oom-loading"),
        Part::Unknown if scene.is(phase::TEXT_ENCODING) => Some("settle-oom-loading"),
        Part::Unknown if oom.kind == METAL => None,
        Part::Unknown if dynamic => Some("settle-oom-dynamic"),
        Part::Unknown => Some("settle-oom"),
        _ => None,
    }
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

/// Whose weights a load line tells of, and whether all of them are on the card.
fn weights_of(class: &str, view: &Context<'_>, messages: &Messages<'_>) -> String {
    if class == UNNAMED {
        return messages.text("remark-weights-unnamed", &[]);
    }
    let offloaded = view.session.loads.get(class).and_then(|load| load.last_offloaded_mib);
    match offloaded.filter(|mib| *mib > 0.0) {
        Some(mib) => messages.text("remark-weights-part-of", &[("class", class), ("rest", &text::mib(mib))]),
        None => messages.text("remark-weights-of", &[("class", class)]),
    }
}

fn lines(oom: &OomRecord, split: &Split, view: &Context<'_>, messages: &Messages<'_>) -> Vec<EvidenceReport> {
    let mut lines = vec![evidence(&oom.at.clone().through(oom.last_line), None)];
    if let Some(at) = &oom.unloaded_all {
        lines.push(evidence(at, Some(messages.text("remark-all-unloaded", &[]))));
    }
    for class in split.classes.iter().take(3) {
        if let Some(at) = view.load_line(class) {
            lines.push(evidence(at, Some(weights_of(class, view, messages))));
        }
    }
    if let Some(counted) = &view.session.counts.tiled_retries {
        lines.push(super::finding_builder::counted(counted, Some(messages.text("remark-tiled-retry", &[]))));
    }
    lines
}

/// Node packs in the traceback: where the step ran, which is not yet whose fault it is. Where the last failure shows
/// none, an earlier one may.
fn inside(oom: &OomRecord, view: &Context<'_>, messages: &Messages<'_>) -> Vec<Candidate> {
    let told = |exception: &&Exception| exception.is_oom && !exception.dirs.is_empty();
    let own = phase::failed_in(view, oom.prompt).filter(told);
    let earlier = || view.session.exceptions.iter().rev().find(told);
    let (exception, reason) = match own {
        Some(exception) => (exception, messages.text("candidate-ran-inside", &[])),
        None => {
            let Some(exception) = earlier() else { return Vec::new() };
            let at = exception.last_line_at.as_ref().unwrap_or(&exception.at).place.line;
            (exception, messages.text("candidate-ran-inside-before", &[("line", &at.to_string())]))
        }
    };
    let Some(dir) = exception.dirs.last() else { return Vec::new() };
    vec![Candidate {
        dir: dir.clone(),
        why: "traceback".to_owned(),
        reason,
        at: exception.dir_at.as_ref().map(|at| super::finding_builder::place(&at.place, None)),
    }]
}

/// Node packs that are known to keep models of their own, where memory is on the card that no load line explains.
fn holders(split: &Split, view: &Context<'_>, messages: &Messages<'_>) -> Vec<Candidate> {
    if split.part != Part::Unexplained {
        return Vec::new();
    }
    let keeps_models = |dir: &str| {
        messages
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
            reason: messages.text("candidate-own-models", &[]),
            at: Some(super::finding_builder::place(&node.at.place, None)),
        })
        .collect()
}

fn retries_summary(count: u64, view: &Context<'_>, messages: &Messages<'_>) -> String {
    let on_card = view.session.resident_mib.iter().filter(|(_, mib)| **mib > 0.0);
    // The largest is the one whose steps were tried; of what was loaded before, part may have left the card.
    let largest = on_card.filter(|(class, _)| *class != UNNAMED).max_by(|a, b| a.1.total_cmp(b.1));
    let n = count.to_string();
    match largest {
        Some((class, mib)) => {
            messages.text("oom-retries-weights", &[("n", &n), ("weights", &text::mib(*mib)), ("classes", class)])
        }
        None => messages.text("oom-retries", &[("n", &n)]),
    }
}

/// Attention was tried again and again, and the prompt never ended.
fn retries(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let counted = view.session.counts.attention_retries.as_ref()?;
    let unfinished = counted.last_prompt > view.session.prompts.executed;
    if counted.count < RETRIES_THAT_TELL || !unfinished {
        return None;
    }
    let mut lines = vec![super::finding_builder::counted(
        counted,
        Some(messages.text("remark-retries", &[("n", &counted.count.to_string())])),
    )];
    for (class, _) in view.session.resident_mib.iter().filter(|(_, mib)| **mib > 0.0).take(2) {
        if let Some(at) = view.load_line(class) {
            lines.push(evidence(at, Some(weights_of(class, view, messages))));
        }
    }
    let finding = FindingBuilder::new(
        Verdict::GpuOom,
        view.number,
        Status::Likely,
        retries_summary(counted.count, view, messages),
    )
    .about("activations")
    .grade(Grade::Moderate, messages.text("grade-oom-retries", &[]))
    .in_prompt(counted.last_prompt)
    .because(lines);
    Some(finding)
}

/// VAE did not fit and went on with tiles: a warning, not a failure.
fn tiled(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let counted = view.session.counts.tiled_retries.as_ref()?;
    let remark = messages.text("remark-tiled-retry", &[]);
    let finding = FindingBuilder::new(
        Verdict::GpuOom,
        view.number,
        Status::Possible,
        messages.count("oom-tiled-one", "oom-tiled", counted.count, &[]),
    )
    .about("activations")
    .grade(Grade::Strong, messages.text("grade-error-text", &[]))
    .in_prompt(counted.last_prompt)
    .recovered(true)
    .because(vec![super::finding_builder::counted(counted, Some(remark))]);
    Some(finding)
}

/// No text of the card's memory running out stands anywhere.
pub fn rule_out(case: &Case<'_>) -> Vec<RuledOut> {
    let session = case.view.session;
    let mentioned =
        session.exceptions.iter().any(|exception| exception.message.to_lowercase().contains("out of memory"));
    let seen = case.has(Verdict::GpuOom)
        || case.view.timeline.left_out.gpu_ooms.starts > 0
        || !session.ooms.is_empty()
        || session.counts.attention_retries.is_some()
        || mentioned;
    let against = || case.against(Verdict::GpuOom, case.messages.text("not-oom", &[]), Vec::new());
    (!seen).then(against).into_iter().collect()
}
