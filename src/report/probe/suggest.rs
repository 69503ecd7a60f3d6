//! Settings for this machine and version, and whether a threshold lies below what the work needs anyway.

use schemars::JsonSchema;
use serde::Serialize;

use super::derive::{self, Derived};
use super::{ProbeQuestion, Sight};
use crate::catalog::Verdict;
use crate::catalog::{FlagDef, FlagRole, Version};
use crate::diagnosis::Messages;
use crate::probe::{Hierarchy, Probe};
use crate::samples::Samples;
use crate::text;

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

/// What to set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Suggestion {
    /// Version that it is for.
    pub version: String,
    /// In one sentence.
    pub text: String,
    /// Best first.
    pub settings: Vec<Setting>,
    /// A launcher that shows ComfyUI the limit, where that is the better remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher: Option<String>,
    pub thresholds: Vec<Threshold>,
}

/// One way to start.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    pub flags: String,
    pub why: String,
    /// The number only holds as long as other programs use what they use now.
    pub moves_with_neighbours: bool,
}

/// A point at which memory is given back, beside what the samples show as normal.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Threshold {
    /// `given` or `cache`.
    pub kind: String,
    pub bytes: f64,
    /// What the work keeps in use.
    pub plateau_bytes: f64,
    pub below_plateau: bool,
    pub text: String,
}

pub(super) fn suggest(
    probe: &Probe,
    derived: &[Derived],
    sight: Sight,
    messages: &Messages<'_>,
    question: &ProbeQuestion<'_>,
    fixed: Version,
) -> Suggestion {
    let first = derived.first();
    let version = first.map_or_else(String::new, |derived| derived.version.clone());
    let thresholds = thresholds(first, messages, question);
    let blind = sight == Sight::Blind;
    let (Some(limit), Some(total), true) = (probe.limit_bytes(), probe.memory.total_bytes, blind) else {
        let id = if sight == Sight::Unknown { "suggest-unknown" } else { "suggest-nothing" };
        return Suggestion {
            text: messages.text(id, &[("version", &version)]),
            version,
            settings: Vec::new(),
            launcher: None,
            thresholds,
        };
    };
    let number = question.version.or_else(|| Version::parse(&version));
    let like_fixed = gives_way_bytes(probe, limit as f64, messages, fixed);
    let ceiling = like_fixed.unwrap_or(limit as f64 * 0.9);
    let mut settings = Vec::new();
    let known = |role: FlagRole| number.and_then(|number| messages.packs.flag_in(role, number));
    let unpinned = known(FlagRole::PinningOff);
    for (role, why) in [(FlagRole::CacheCount, "suggest-why-lru"), (FlagRole::CacheOff, "suggest-why-none")] {
        if let Some(flag) = known(role) {
            let flags: Vec<String> = unpinned.into_iter().chain([flag]).map(FlagDef::as_suggested).collect();
            settings.push(Setting {
                flags: flags.join(" "),
                why: messages.text(why, &[]),
                moves_with_neighbours: false,
            });
        }
    }
    let usable = text::bytes(limit as f64);
    if let Some(flag) = known(FlagRole::CacheHeadroom) {
        let gib = ((total as f64 - ceiling) / GIB).ceil();
        let values = [("total", &*text::bytes(total as f64)), ("ceiling", &*text::bytes(ceiling)), ("limit", &*usable)];
        settings.push(Setting {
            flags: format!("{} {gib:.0}", flag.name),
            why: messages.text("suggest-why-ram", &values),
            moves_with_neighbours: true,
        });
    }
    let text = messages.text(
        if like_fixed.is_some() { "suggest-blind" } else { "suggest-blind-small" },
        &[("version", &version), ("limit", &usable), ("ceiling", &text::bytes(ceiling)), ("fixed", &fixed.to_string())],
    );
    let launcher = launcher(probe, messages);
    Suggestion { version, text, settings, launcher, thresholds }
}

/// Where the first version that sees the limit would begin to give way; nothing where its headroom is the whole limit.
fn gives_way_bytes(probe: &Probe, limit: f64, messages: &Messages<'_>, fixed: Version) -> Option<f64> {
    derive::derived(probe, messages.packs, fixed).cache_gives_way_bytes.filter(|bytes| *bytes > 0.0 && *bytes < limit)
}

/// The program in the essay on the verdict, which looks where a container has its limit; here it looks where this
/// limit was found. It knows hard limits only.
fn launcher(probe: &Probe, messages: &Messages<'_>) -> Option<String> {
    let cgroup = &probe.cgroup;
    let at = cgroup.limit_at.as_ref().filter(|_| cgroup.limit_bytes == probe.limit_bytes())?;
    let essay = messages.packs.prose_text("verdict", Verdict::ContainerLimit.as_str(), "to_do", messages.zh)?;
    let (_, from) = essay.split_once("```python\n")?;
    let (code, _) = from.split_once("```")?;
    let usual = match cgroup.hierarchy {
        Hierarchy::V1 => "\"/sys/fs/cgroup/memory/\"",
        _ => "\"/sys/fs/cgroup/\"",
    };
    // What JSON writes is a text of Python too.
    let here = serde_json::to_string(&format!("{}/", at.trim_end_matches('/'))).ok()?;
    Some(code.trim_end().replacen(usual, &here, 1))
}

fn thresholds(derived: Option<&Derived>, messages: &Messages<'_>, question: &ProbeQuestion<'_>) -> Vec<Threshold> {
    let Some(plateau) = question.samples.and_then(plateau_mib).map(|mib| mib * MIB) else { return Vec::new() };
    let given = question.threshold_mib.map(|mib| ("given", mib * MIB));
    let cache = derived.and_then(|derived| derived.cache_gives_way_bytes).map(|bytes| ("cache", bytes));
    let one = |(kind, bytes): (&str, f64)| {
        let below_plateau = bytes < plateau;
        let id = match (kind, below_plateau) {
            ("given", true) => "threshold-given-below",
            ("given", false) => "threshold-given-above",
            (_, true) => "threshold-cache-below",
            (_, false) => "threshold-cache-above",
        };
        let text = messages.text(id, &[("threshold", &text::bytes(bytes)), ("plateau", &text::bytes(plateau))]);
        Threshold { kind: kind.to_owned(), bytes, plateau_bytes: plateau, below_plateau, text }
    };
    given.into_iter().chain(cache).map(one).collect()
}

/// What is normally in use: the median of the later half.
fn plateau_mib(samples: &Samples) -> Option<f64> {
    let series = samples.series(samples.ram_column()?);
    let mut later: Vec<f64> = series.get(series.len() / 2..)?.iter().map(|(_, mib)| *mib).collect();
    later.sort_by(f64::total_cmp);
    later.get(later.len() / 2).copied()
}
