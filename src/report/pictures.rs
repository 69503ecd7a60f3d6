//! What pictures are drawn from: marks of a session, the card at an out-of-memory, RAM with its limits, samples.
//!
//! Part of the published report, so that every number in a picture can be looked up in the JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::report::Basis;
use crate::catalog::Packs;
use crate::diagnosis::{Context, LimitSource, Split, cache_trigger_mib};
use crate::event::MIB;
use crate::samples::Samples;
use crate::timeline::{Mark, MarkKind, OomRecord, PromptGroup};

/// Points of a series of samples that are shown.
const POINTS: usize = 240;

/// Something that happened in a session, with the line that tells it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MarkReport {
    /// `requested`, `loaded`, `partly-loaded`, `prepared`, `unloaded`, `leak-pass`, `out-of-memory`, `unloaded-all`,
    /// `tiled-retry`, `attention-retry`, `ram-refused`, `failed`, `interrupted` or `killed`.
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// MiB loaded or staged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mib: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offloaded_mib: Option<f64>,
    /// Models unloaded, or held after a leak pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    pub prompt: u64,
    pub line: u64,
    /// Last line, when several tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<u64>,
    /// Seconds by the log's stamps: since 1970, or since the first midnight where stamps have no date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl MarkReport {
    pub(super) fn of(mark: &Mark) -> Self {
        Self {
            kind: kind(mark.kind).to_owned(),
            class: mark.class.clone(),
            mib: mark.mib,
            offloaded_mib: mark.offloaded_mib,
            count: mark.count,
            prompt: mark.prompt,
            line: mark.line,
            last_line: Some(mark.last_line).filter(|last| *last > mark.line),
            seconds: mark.seconds,
        }
    }
}

fn kind(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Requested => "requested",
        MarkKind::Loaded => "loaded",
        MarkKind::PartlyLoaded => "partly-loaded",
        MarkKind::Prepared => "prepared",
        MarkKind::Unloaded => "unloaded",
        MarkKind::LeakPass => "leak-pass",
        MarkKind::OutOfMemory => "out-of-memory",
        MarkKind::UnloadedAll => "unloaded-all",
        MarkKind::TiledRetry => "tiled-retry",
        MarkKind::AttentionRetry => "attention-retry",
        MarkKind::RamRefused => "ram-refused",
        MarkKind::Failed => "failed",
        MarkKind::Interrupted => "interrupted",
        MarkKind::Killed => "killed",
    }
}

/// Prompts in a row, put together since there are many.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PromptGroupReport {
    /// Numbers of the first and the last prompt.
    pub first: u64,
    pub last: u64,
    pub first_line: u64,
    pub last_line: u64,
    pub ok: u64,
    pub failed: u64,
    pub interrupted: u64,
    pub unfinished: u64,
    /// Seconds of all of them.
    pub seconds: f64,
    /// Seconds of the slowest.
    pub longest: f64,
}

impl PromptGroupReport {
    pub(super) fn of(group: &PromptGroup) -> Self {
        Self {
            first: group.first,
            last: group.last,
            first_line: group.first_line,
            last_line: group.last_line,
            ok: group.ok,
            failed: group.failed,
            interrupted: group.interrupted,
            unfinished: group.unfinished,
            seconds: group.seconds,
            longest: group.longest,
        }
    }
}

/// A part of a card, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CardPart {
    /// `outside`, `own-outside`, `weights`, `working`, `reserved`, `used`, `unknown` or `free`.
    pub name: String,
    /// Class of the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    pub bytes: f64,
    pub basis: Basis,
}

/// What filled a card when a request was refused, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CardReport {
    pub capacity: f64,
    /// From the left edge of the card to the right one; together they are the capacity.
    pub parts: Vec<CardPart>,
    /// What would be free with all models moved off the card; null when no load line tells what they take.
    pub freeable: Option<f64>,
}

impl CardReport {
    /// The card at this out-of-memory; none where its size or what filled it is not known.
    pub(super) fn of(oom: &OomRecord, split: &Split) -> Option<Self> {
        let numbers = &oom.numbers;
        let capacity = split.capacity.filter(|capacity| *capacity > 0.0)?;
        // Without a figure of what is free, offloading may free more than the log can tell.
        let freeable = split.freeable.filter(|_| numbers.free.is_some());
        let mut card = Self { capacity, parts: Vec::new(), freeable };
        let measured = if split.others_measured { Basis::Measured } else { Basis::Derived };
        card.push("outside", None, split.others, measured);
        card.push("own-outside", None, split.own_outside, Basis::Measured);
        match numbers.allocated {
            Some(allocated) => card.allocated(oom, split, allocated),
            None => card.push("used", None, numbers.process, Basis::Measured),
        }
        card.push("reserved", None, numbers.reserved_unallocated, Basis::Measured);
        let taken: f64 = card.parts.iter().map(|part| part.bytes).sum();
        let known = taken + numbers.free.unwrap_or(0.0);
        match (card.parts.is_empty(), numbers.free) {
            (true, None) => return None,
            (true, Some(free)) => card.push("used", None, Some(capacity - free), Basis::Derived),
            // Where parts overlap, nothing is left to be unknown.
            (false, Some(_)) => card.push("unknown", None, Some(capacity - known), Basis::Derived),
            (false, None) => card.push("unknown", None, Some(capacity - known), Basis::Unknown),
        }
        card.push("free", None, numbers.free, Basis::Measured);
        Some(card)
    }

    fn allocated(&mut self, oom: &OomRecord, split: &Split, allocated: f64) {
        let mut rest = allocated;
        for (class, mib, _) in oom.resident_mib.iter().filter(|(class, _, _)| split.classes.contains(class)) {
            let bytes = (mib * MIB).min(rest);
            self.push("weights", Some(class), Some(bytes), Basis::Measured);
            rest -= bytes.max(0.0);
        }
        let name = if rest < allocated { "working" } else { "used" };
        let basis = if rest < allocated { Basis::Derived } else { Basis::Measured };
        self.push(name, None, Some(rest), basis);
    }

    fn push(&mut self, name: &str, class: Option<&str>, bytes: Option<f64>, basis: Basis) {
        if let Some(bytes) = bytes.filter(|bytes| *bytes >= MIB) {
            self.parts.push(CardPart { name: name.to_owned(), class: class.map(str::to_owned), bytes, basis });
        }
    }
}

/// RAM and what limits it, in MiB.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RamReport {
    /// What ComfyUI saw of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_mib: Option<f64>,
    /// Where the kernel ends the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_mib: Option<f64>,
    /// `given`, `cgroup-line` or `log`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_from: Option<String>,
    /// RAM in use at which ComfyUI's cache gives way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_trigger_mib: Option<f64>,
    /// Most that ComfyUI pins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned_ceiling_mib: Option<f64>,
    /// Largest weights of each class by the load lines, together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded_mib: Option<f64>,
    /// The process when it was killed, by the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed_at_mib: Option<f64>,
    /// Line that tells of the kill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed_line: Option<u64>,
}

impl RamReport {
    pub(super) fn of(view: &Context<'_>, packs: &Packs) -> Self {
        let (limit_mib, limit_from) = match view.limit_mib {
            Some((mib, source)) => (Some(mib), Some(source)),
            None => (None, None),
        };
        let from = |source| match source {
            LimitSource::Given => "given",
            LimitSource::CgroupLine => "cgroup-line",
            LimitSource::Log => "log",
        };
        let ending = view.ending();
        Self {
            total_mib: view.ram_mib(),
            limit_mib,
            limit_from: limit_from.map(|source| from(source).to_owned()),
            cache_trigger_mib: cache_trigger_mib(view, packs),
            pinned_ceiling_mib: view.session.number("pinned_budget_mib"),
            loaded_mib: Some(view.loaded_mib()).filter(|mib| *mib > 0.0),
            killed_at_mib: ending.and_then(|ending| ending.killed_anon_mib),
            killed_line: ending.and_then(|ending| ending.kills.first()).map(|at| at.place.line),
        }
    }
}

/// Memory samples that were given, thinned for a picture.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SamplesReport {
    /// Column that is shown: `anon`, `cgroup`, `pss` or `rss`.
    pub column: String,
    /// The file told times; else samples are only counted.
    pub has_time: bool,
    /// Samples of the file that hold the column.
    pub samples: usize,
    /// Seconds since the first sample, and MiB. Of many neighbours the highest is kept.
    pub points: Vec<(f64, f64)>,
}

impl SamplesReport {
    pub(super) fn of(samples: &Samples) -> Option<Self> {
        let column = samples.ram_column()?;
        let series = samples.series(column);
        let start = series.first()?.0;
        let size = series.len().div_ceil(POINTS).max(1);
        let highest = |chunk: &[(f64, f64)]| chunk.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let points = series.chunks(size).filter_map(highest).map(|(at, mib)| (at - start, mib)).collect();
        let column = serde_json::to_value(column).ok()?.as_str()?.to_owned();
        Some(Self { column, has_time: samples.has_time, samples: series.len(), points })
    }
}
