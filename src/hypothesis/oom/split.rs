//! Splits the peak of an out-of-memory: measured, derived and inseparable parts, and the one that decided.

use super::METAL;
use super::resident::resident;
use crate::catalog::Packs;
use crate::event::{GIB, MIB};
use crate::hypothesis::context::Context;
use crate::hypothesis::defaults::first_true;
use crate::timeline::OomRecord;

/// Share of the card that other programs must hold to be what decided.
const OTHERS_SHARE: f64 = 0.2;
/// Reserved but unused memory from this size on counts as fragmentation, not as the usual small change.
const PIECES: f64 = 512.0 * MIB;
/// A request from this size on is working memory of a step, not a weight or a buffer.
const STEP_BYTES: f64 = GIB;
/// A card with less than this share of it free is full: the driver keeps some for itself.
const FULL_SHARE: f64 = 0.02;
/// Allocators ask the driver for whole segments, so less than one is nothing, however small the request.
const SEGMENT: f64 = 32.0 * MIB;
/// Share of the card that live memory, or memory outside PyTorch, must fill to be what decided.
const LIVE_SHARE: f64 = 0.5;
/// What a process holds outside PyTorch's pool from this size on is more than the driver's context.
const MORE_THAN_CONTEXT: f64 = 1.5 * GIB;

/// The part that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Activations,
    Weights,
    /// Live memory that was there before the model was to be loaded, and that no load line tells of.
    Unexplained,
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
            Self::Unexplained => "unexplained",
            Self::Fragmentation => "fragmentation",
            Self::Others => "others",
            Self::Context => "context",
            Self::Unknown => "unknown",
        }
    }
}

/// The peak, split. All figures in bytes; what is not known is absent.
#[derive(Debug, Clone)]
pub struct Split {
    pub part: Part,
    pub capacity: Option<f64>,
    pub weights: Option<f64>,
    /// Classes whose load lines make up `weights`.
    pub classes: Vec<String>,
    /// PyTorch's live memory that is not weights.
    pub rest: Option<f64>,
    /// Other programs: measured where the processes are listed, else derived together with the context.
    pub others: Option<f64>,
    pub others_measured: bool,
    /// Memory of this very process outside PyTorch's pool, where the text tells it (MPS), or what it holds in all.
    pub own_outside: Option<f64>,
    /// The driver's list holds ComfyUI itself, so what others hold is the rest of the card.
    pub counted_twice: bool,
    /// Free if everything were offloaded; known only where the free memory is.
    pub freeable: Option<f64>,
    /// More than the card has is in use: the driver moved so much of it to RAM.
    pub spilled: Option<f64>,
    /// The request is larger than the card.
    pub impossible: bool,
    /// Far more was free than asked for, and still it was refused.
    pub refused: bool,
    /// Weights lie in PyTorch's pool for sure, so that what lies outside it is none.
    pooled: bool,
    nothing_went_on: bool,
}

impl Split {
    /// The request is larger than all that moving weights away could free.
    pub fn offload_cannot(&self, oom: &OomRecord) -> bool {
        self.impossible
            || self.freeable.zip(oom.numbers.requested).is_some_and(|(freeable, requested)| requested > freeable)
    }
}

/// Splits the peak of one record.
pub fn split(oom: &OomRecord, view: &Context<'_>, packs: &Packs) -> Split {
    let numbers = &oom.numbers;
    let capacity =
        numbers.capacity.or(numbers.limit).or(view.vram_mib().filter(|_| oom.kind != METAL).map(|mib| mib * MIB));
    let unallocated = numbers.reserved_unallocated.or(match (numbers.reserved_total, numbers.allocated) {
        (Some(total), Some(allocated)) => Some((total - allocated).max(0.0)),
        _ => None,
    });
    let dynamic = view.dynamic_vram == Some(true);
    let pooled = view.dynamic_vram == Some(false) || precedes_dynamic(view, packs);
    let resident = resident(oom, view, packs);
    let weights = resident.bytes.filter(|bytes| *bytes > 0.0 || resident.nothing_went_on);
    let rest = numbers.allocated.zip(weights).map(|(allocated, weights)| allocated - weights);
    let residual = match (capacity, numbers.free, numbers.allocated) {
        (Some(capacity), Some(free), Some(allocated)) if allocated <= capacity => {
            Some((capacity - free - allocated - unallocated.unwrap_or(0.0)).max(0.0))
        }
        _ => None,
    };
    // Inside a container the driver lists ComfyUI itself under its own number; then the list plus what PyTorch holds
    // is more than the card.
    let counted_twice = numbers.process.is_none()
        && matches!((numbers.others, numbers.allocated, capacity), (Some(others), Some(allocated), Some(capacity)) if others + allocated > capacity * 1.02);
    let listed = numbers.others.filter(|_| !counted_twice);
    let of_process = numbers
        .process
        .zip(numbers.allocated)
        .map(|(process, allocated)| process - allocated - unallocated.unwrap_or(0.0));
    let told = numbers.process.is_some() || numbers.other_allocations.is_some();
    let mut split = Split {
        part: Part::Unknown,
        capacity,
        weights,
        classes: resident.classes,
        rest,
        others: listed.or(residual.filter(|_| !told)),
        counted_twice,
        others_measured: listed.is_some(),
        own_outside: numbers.other_allocations.or(of_process.filter(|outside| *outside > MORE_THAN_CONTEXT && pooled)),
        pooled,
        freeable: weights.zip(numbers.free).map(|(weights, free)| weights + free + unallocated.unwrap_or(0.0)),
        spilled: numbers
            .allocated
            .zip(capacity)
            .map(|(allocated, capacity)| allocated - capacity)
            .filter(|over| *over > 0.0),
        impossible: numbers.requested.zip(capacity).is_some_and(|(requested, capacity)| requested > capacity),
        refused: numbers.requested.zip(numbers.free).is_some_and(|(requested, free)| {
            free > requested * 2.0 && free > capacity.map_or(SEGMENT, |capacity| SEGMENT.max(capacity * FULL_SHARE))
        }),
        nothing_went_on: resident.nothing_went_on,
    };
    split.part = decide(oom, &split, unallocated, dynamic);
    split
}

/// The version knew no dynamic VRAM.
fn precedes_dynamic(view: &Context<'_>, packs: &Packs) -> bool {
    first_true(packs, "dynamic-vram").is_some_and(|first| view.span.older_than(first))
}

// Long: one decision, read from the top: the first part that explains the request decides.
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
    if split.own_outside.is_some_and(|outside| outside > numbers.allocated.unwrap_or(0.0)) {
        return Part::Context;
    }
    // Most of the card is free: the driver or an allocator's limit refused, no part of the card did.
    if split.refused && numbers.free.is_some_and(|free| free > GIB) {
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
    let outside = split.others.filter(|_| split.pooled);
    let largest = |outside: f64| {
        let half = split.capacity.is_some_and(|capacity| outside > capacity * LIVE_SHARE);
        half && outside > numbers.allocated.unwrap_or(0.0) && outside > requested
    };
    if outside.is_some_and(largest) {
        return Part::Context;
    }
    if split.nothing_went_on && requested < STEP_BYTES {
        let live = split.rest.zip(split.capacity).is_some_and(|(rest, capacity)| rest > capacity * LIVE_SHARE);
        return match (live, others_large && !dynamic) {
            (true, _) => Part::Unexplained,
            (false, true) => Part::Context,
            (false, false) => Part::Unknown,
        };
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
