//! What a version of ComfyUI would take for its RAM here, and what its formulas make of it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::{Packs, Version, VersionSpan};
use crate::diagnosis::{Context, Gpu, Os, VersionReport};
use crate::hypothesis::defaults;
use crate::probe::Probe;
use crate::timeline::{Session, Timeline};

const MIB: f64 = 1024.0 * 1024.0;

/// One version's view of this machine. Sizes in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Derived {
    /// Version of ComfyUI.
    pub version: String,
    /// It reads the container's limit.
    pub sees_limit: bool,
    pub total_ram_bytes: Option<f64>,
    /// Swap that its formulas count.
    pub swap_bytes: Option<f64>,
    /// `ram-pressure`, `classic`, …
    pub cache_mode: Option<String>,
    /// RAM in use, by all programs that share what it sees, at which cached results of the running work go.
    pub cache_gives_way_bytes: Option<f64>,
    /// The same for results that no queued work uses; zero says that they go at once.
    pub idle_cache_gives_way_bytes: Option<f64>,
    /// Ceiling of pinned memory.
    pub pinned_ceiling_bytes: Option<f64>,
    /// No card was found: the ceiling is that of a machine with an NVIDIA or AMD card.
    pub card_assumed: bool,
    /// The cache gives way, or the pins end, only beyond what may be used.
    pub beyond_limit: bool,
}

/// First version that sees a container's limit.
pub(super) fn fixed_in(packs: &Packs) -> Version {
    defaults::first_true(packs, "sees-cgroup")
        // A pack without that row knows no such version: then none is new enough.
        .unwrap_or(Version::new(u32::MAX, 0, 0))
}

/// The version asked about, or the last one before the fix; then the first one with it.
pub(super) fn columns(probe: &Probe, packs: &Packs, asked: Option<Version>, fixed: Version) -> Vec<Derived> {
    let before = packs.releases.iter().map(|release| release.version).filter(|version| *version < fixed).max();
    let first = asked.or(before);
    let second = Some(fixed).filter(|fixed| fixed.major < u32::MAX && first.is_none_or(|first| first < *fixed));
    first.into_iter().chain(second).map(|version| derived(probe, packs, version)).collect()
}

/// What `version` would make of this machine.
// Long: one entry for each derived figure.
pub(super) fn derived(probe: &Probe, packs: &Packs, version: Version) -> Derived {
    let timeline = Timeline::default();
    let session = Session::default();
    let maker = match probe.gpus.first().map(|gpu| gpu.maker.as_str()) {
        Some("nvidia") => Some(Gpu::Nvidia),
        Some("amd") => Some(Gpu::Amd),
        _ => None,
    };
    let os = match probe.system.as_str() {
        "windows" => Os::Windows,
        "macos" => Os::MacOs,
        "linux" if probe.wsl => Os::Wsl,
        "linux" => Os::Linux,
        _ => Os::Unknown,
    };
    // No log is at hand: a start without flags on this system and card.
    let view = Context {
        session: &session,
        number: 1,
        is_last: true,
        timeline: &timeline,
        span: VersionSpan::exactly(version),
        version: VersionReport {
            exact: Some(version.to_string()),
            from: None,
            before: None,
            basis: "unknown".to_owned(),
            evidence: Vec::new(),
        },
        os,
        gpu: maker.unwrap_or(Gpu::Nvidia),
        flags: std::collections::BTreeSet::new(),
        asked: std::collections::BTreeMap::new(),
        packs: Vec::new(),
        dynamic_vram: None,
        limit_mib: None,
    };
    let row = |what: &str| defaults::pick_at(packs, what, &view, Some(version));
    let sees_limit = row("sees-cgroup").is_some_and(|row| defaults::truth(row) == Some(true));
    let hard_limit =
        probe.cgroup.limit_bytes.filter(|limit| probe.memory.total_bytes.is_none_or(|total| *limit < total));
    let limited = sees_limit && hard_limit.is_some();
    let total = if limited { hard_limit } else { probe.memory.total_bytes }.map(|bytes| bytes as f64 / MIB);
    let disk_swap = probe.memory.swap_disk_bytes.or(probe.memory.swap_total_bytes).map(|bytes| bytes as f64 / MIB);
    let pinned = row("pinned-budget");
    let swap = match pinned.and_then(|row| row.swap.as_deref()) {
        Some("disk-without-cgroup-limit") if limited => Some(0.0),
        _ => disk_swap,
    };
    let cache_mode = row("cache-mode").and_then(|row| defaults::text_value(row)).map(str::to_owned);
    let pressure = cache_mode.as_deref() == Some("ram-pressure");
    let gives_way = |what: &str| {
        let total = total.filter(|_| pressure)?;
        let headroom = defaults::work_out(row(what)?, total, None)?;
        Some((total - headroom.mib).max(0.0) * MIB)
    };
    let ceiling =
        pinned.zip(total).and_then(|(row, total)| defaults::work_out(row, total, swap)).map(|worked| worked.mib * MIB);
    let active = gives_way("cache-active-headroom");
    let usable = probe.usable_bytes().map(|bytes| bytes as f64);
    let beyond = |bytes: Option<f64>| bytes.zip(usable).is_some_and(|(bytes, usable)| bytes >= usable);
    Derived {
        version: version.to_string(),
        sees_limit,
        total_ram_bytes: total.map(|mib| mib * MIB),
        swap_bytes: swap.map(|mib| mib * MIB),
        cache_gives_way_bytes: active,
        idle_cache_gives_way_bytes: gives_way("cache-inactive-headroom"),
        pinned_ceiling_bytes: ceiling,
        card_assumed: maker.is_none() && ceiling.is_some(),
        beyond_limit: probe.limit_bytes().is_some() && (beyond(active) || beyond(ceiling)),
        cache_mode,
    }
}
