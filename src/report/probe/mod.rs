//! The answer to "what may this process really use, and does ComfyUI know?": the probe's facts beside what ComfyUI
//! would see and derive here, before and after it learnt to see a container's limit.
//!
//! Plain data; formulas are those of the packs.

mod derive;
mod suggest;

use schemars::JsonSchema;
use serde::Serialize;

pub use derive::Derived;
pub use suggest::{Setting, Suggestion, Threshold};

use crate::catalog::Version;
use crate::diagnosis::Messages;
use crate::probe::{Certainty, Probe};
use crate::samples::Samples;
use crate::text;

/// Version of the JSON contract of probes.
pub const PROBE_SCHEMA_VERSION: u32 = 1;

/// What was asked of a probe.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProbeQuestion<'q> {
    /// Version of ComfyUI that is meant; without it both sides of the fix are shown.
    pub version: Option<Version>,
    pub suggest: bool,
    /// Where the user frees memory or restarts, in MiB in use.
    pub threshold_mib: Option<f64>,
    pub samples: Option<&'q Samples>,
}

/// Does ComfyUI see here what it may use?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sight {
    /// No limit below the machine's RAM.
    Unlimited,
    /// There is a limit; versions before the fix take the whole machine's RAM for theirs.
    Blind,
    /// There is a limit, and the version asked about sees it.
    Sees,
    /// What the machine shows as its RAM is the container's already.
    Virtualised,
    /// The kernel slows the process down before the limit that ComfyUI looks at.
    Throttled,
    /// It cannot be told from here.
    Unknown,
}

/// The probe and what follows.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbeReport {
    /// Language of the texts: `en` or `zh`.
    pub language: String,
    pub sight: Sight,
    pub headline: String,
    /// What the process may use at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usable_bytes: Option<u64>,
    pub probe: Probe,
    /// What ComfyUI would see and derive, one entry per version.
    pub derived: Vec<Derived>,
    /// What to know besides, in sentences.
    pub notes: Vec<String>,
    pub next_steps: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Suggestion>,
}

/// Works out the report.
pub fn probe_report(probe: Probe, messages: &Messages<'_>, question: &ProbeQuestion<'_>) -> ProbeReport {
    let fixed = derive::fixed_in(messages.packs);
    let derived = derive::columns(&probe, messages.packs, question.version, fixed);
    let sight = sight(&probe, question.version, fixed);
    let fixed_text = fixed.to_string();
    let size = |bytes: Option<u64>| bytes.map_or_else(|| "?".to_owned(), |bytes| text::bytes(bytes as f64));
    let (limit, ram) = (size(probe.limit_bytes()), size(probe.memory.total_bytes));
    let version = question.version.map_or_else(String::new, |version| version.to_string());
    let values = [("limit", limit.as_str()), ("ram", &ram), ("fixed", &fixed_text), ("version", &version)];
    let headline = match (sight, question.version) {
        (Sight::Unlimited, _) if probe.cgroup.certainty == Certainty::Known => {
            messages.text("probe-unlimited", &values)
        }
        (Sight::Unlimited, _) => messages.text("probe-unlimited-partial", &values),
        (Sight::Blind, Some(_)) => messages.text("probe-blind-version", &values),
        (Sight::Blind, None) => messages.text("probe-blind", &values),
        (Sight::Sees, _) => messages.text("probe-sees", &values),
        (Sight::Virtualised, _) => messages.text("probe-virtualised", &values),
        (Sight::Throttled, _) => messages.text("probe-throttled", &values),
        (Sight::Unknown, _) => messages.text("probe-unknown", &values),
    };
    let suggestion = question.suggest.then(|| suggest::suggest(&probe, &derived, sight, messages, question, fixed));
    ProbeReport {
        language: if messages.zh { "zh" } else { "en" }.to_owned(),
        sight,
        headline,
        usable_bytes: probe.usable_bytes(),
        notes: notes(&probe, messages),
        next_steps: next_steps(&probe, sight, messages, fixed, question.suggest),
        derived,
        probe,
        suggestion,
    }
}

fn sight(probe: &Probe, version: Option<Version>, fixed: Version) -> Sight {
    if probe.limit_bytes().is_none() {
        return match (probe.memory.virtualised, probe.cgroup.certainty) {
            (true, _) => Sight::Virtualised,
            (false, Certainty::Unknown) => Sight::Unknown,
            (false, _) => Sight::Unlimited,
        };
    }
    if version.is_none_or(|version| version < fixed) {
        return Sight::Blind;
    }
    // Which of the two files ComfyUI reads is only established for the hard limit.
    match (probe.cgroup.limit_bytes, probe.cgroup.high_bytes) {
        (limit, Some(high)) if limit.is_none_or(|limit| high < limit) => Sight::Throttled,
        _ => Sight::Sees,
    }
}

fn notes(probe: &Probe, messages: &Messages<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let cgroup = &probe.cgroup;
    let linux = probe.system == "linux";
    let mut add = |holds: bool, id: &str, values: &[(&str, &str)]| {
        if holds {
            notes.push(messages.text(id, values));
        }
    };
    add(!linux, "probe-note-system", &[("system", &probe.system)]);
    add(cgroup.hidden_above, "probe-note-hidden", &[]);
    if let Some(first) = cgroup.unreadable.first() {
        add(true, "probe-note-unreadable", &[("file", first)]);
    }
    add(cgroup.changing, "probe-note-changing", &[]);
    add(probe.wsl, "probe-note-wsl", &[]);
    let memory = &probe.memory;
    let zram = memory.swap_zram_bytes.unwrap_or(0);
    add(zram > 0, "probe-note-zram", &[("size", &text::bytes(zram as f64))]);
    add(cgroup.swap_limit_bytes == Some(0) && memory.swap_disk_bytes.unwrap_or(0) > 0, "probe-note-no-swap", &[]);
    if let (Some(shm), Some(usable)) = (memory.shm_bytes, probe.usable_bytes()) {
        add(shm > usable, "probe-note-shm", &[("size", &text::bytes(shm as f64))]);
    }
    add(memory.overcommit == Some(2), "probe-note-overcommit", &[]);
    if let (Some(limit), Some(current)) = (probe.limit_bytes(), cgroup.current_bytes) {
        let held = current.saturating_sub(cgroup.reclaimable_bytes.unwrap_or(0));
        add(
            held.saturating_mul(10) > limit.saturating_mul(9),
            "probe-note-nearly-full",
            &[("used", &text::bytes(held as f64)), ("limit", &text::bytes(limit as f64))],
        );
    }
    if let Some(kills) = cgroup.oom_kills().filter(|kills| *kills > 0) {
        notes.push(messages.count("probe-note-kills-one", "probe-note-kills", kills, &[]));
    }
    notes
}

fn next_steps(probe: &Probe, sight: Sight, messages: &Messages<'_>, fixed: Version, suggested: bool) -> Vec<String> {
    let fixed = fixed.to_string();
    let mut steps = Vec::new();
    let mut add = |id: &str| steps.push(messages.text(id, &[("fixed", &fixed)]));
    match sight {
        Sight::Blind => {
            add("probe-step-upgrade");
            add("probe-step-fixed-size");
            add("probe-step-launcher");
            add("probe-step-triage");
        }
        Sight::Throttled => add("probe-step-high"),
        Sight::Unknown if probe.system == "linux" => add("probe-step-ask"),
        Sight::Unknown | Sight::Unlimited | Sight::Sees | Sight::Virtualised => {}
    }
    if sight == Sight::Blind && !suggested {
        add("probe-step-suggest");
    }
    steps
}
