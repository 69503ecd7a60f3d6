//! One start of the server and what ran in it: the baseline, node packs, prompts, loads.

use std::collections::BTreeMap;

use serde::Serialize;

use super::crash::CrashStack;
use super::ending::{Ending, EndingKind};
use super::evidence::{Counted, Evidence};
use super::failure::{Exception, HostOom, OomRecord, Pictures};
use super::leak::{CurvePoint, Leak};
use super::pace::{Silence, Steps};
use super::refusal::Refusal;
use super::signature_hit::SignatureHit;
use super::stage::Start;
use super::track::{Mark, PromptGroup};
use crate::event::FactValue;

/// Value of a fact, as JSON shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FactJson {
    Bool(bool),
    Number(f64),
    Text(String),
}

impl FactJson {
    pub(crate) fn of(value: &FactValue<'_>) -> Self {
        match value {
            FactValue::Bool(value) => Self::Bool(*value),
            FactValue::Number(value) => Self::Number(*value),
            FactValue::Text(value) => Self::Text(crate::text::cut_chars(value, 300)),
        }
    }

    /// The text of a text fact.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number of a numeric fact.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// A fact of the start-up baseline, with the line that states it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    pub value: FactJson,
    pub at: Evidence,
    /// From a side source (Error Report, `/system_stats`); a console line replaces it.
    pub weak: bool,
}

/// A command-line flag that was seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flag {
    pub name: String,
    pub values: Vec<String>,
    pub at: Evidence,
}

impl Flag {
    /// As on the command line: `--cache-ram 4`.
    pub fn written(&self) -> String {
        if self.values.is_empty() { self.name.clone() } else { format!("{} {}", self.name, self.values.join(" ")) }
    }
}

/// A folder of the import table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeFolder {
    pub dir: String,
    pub path: String,
    pub seconds: Option<f64>,
    pub failed: bool,
    pub reason: Option<String>,
    pub at: Evidence,
    /// Line of the message that says why the import failed.
    pub reason_at: Option<Evidence>,
    /// The last file of an installed package that its traceback passed.
    pub library: Option<String>,
    /// A file of nodes that ships with ComfyUI.
    pub is_own: bool,
    /// What failed is a script of the pack that runs before ComfyUI starts.
    pub prestartup: bool,
}

/// A line that names an error, without a traceback.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoneError {
    /// Type of the exception.
    pub kind: String,
    pub message: String,
    pub at: Evidence,
}

/// Prompts of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PromptCounts {
    pub got: u64,
    /// `Prompt executed` lines; they follow failures and interrupts too.
    pub executed: u64,
    pub failed: u64,
    /// Got, but neither executed nor refused when the session ended.
    pub lost: u64,
    /// Refused before they ran.
    pub invalid: u64,
    /// Outputs that were left out of prompts that ran.
    pub ignored: u64,
    /// Failed, and no `Prompt executed` follows; not part of `executed`.
    pub broken: u64,
    pub interrupted: u64,
}

/// One prompt: from the end of the one before to its `Prompt executed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Prompt {
    /// From 1, in the order in which prompts ended.
    pub number: u64,
    pub first_line: u64,
    pub last_line: u64,
    pub seconds: Option<f64>,
    pub failed: bool,
    pub interrupted: bool,
    /// Classes requested, with the times.
    pub requested: BTreeMap<String, u64>,
    pub prepared: BTreeMap<String, u64>,
    /// A model file was read and a model object built.
    pub loader_lines: u64,
    /// `loading new` and `Loading 1 new model` of old versions.
    pub old_loads: u64,
    pub ooms: u64,
    pub unloaded_models: u64,
    pub tiled_retry: bool,
    /// Seconds per step of the last bar.
    pub seconds_per_step: Option<f64>,
    pub ended: bool,
    /// Its bars, each by its last frame; the latest ones.
    pub bars: Vec<Steps>,
    /// Its `Prompt executed` line.
    pub executed_at: Option<Evidence>,
    /// Seconds by the log's stamps; without a date in them since the first midnight.
    pub began_at: Option<f64>,
    pub ended_at: Option<f64>,
    /// Steps times seconds per step of its bars.
    pub step_seconds: Option<f64>,
    /// From requests to load lines, by their stamps.
    pub load_seconds: Option<f64>,
}

impl Prompt {
    /// It ended, without an error and without an interrupt.
    pub fn ended_well(&self) -> bool {
        self.ended && !self.failed && !self.interrupted
    }
}

/// Name of a model that was on the card before the log tells of its class.
pub const UNNAMED: &str = "";

/// Load lines of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Load {
    pub requested: u64,
    /// MiB of its last load line.
    pub last_mib: Option<f64>,
    pub last_offloaded_mib: Option<f64>,
    /// Room for weights before that load.
    pub usable_mib: Option<f64>,
    pub sizes_mib: Vec<f64>,
    pub first: Option<Evidence>,
    pub last: Option<Evidence>,
    /// The line that gave `last_mib`.
    pub size_at: Option<Evidence>,
    /// Prompts in which it was requested.
    pub prompts: u64,
    /// Prompts in which it was requested although it had been loaded before and nothing was built anew.
    pub reload_prompts: u64,
    /// Prompts in which it was requested again with loader lines: another file, or a rebuilt loader.
    pub rebuilt_prompts: u64,
    pub(crate) last_prompt: u64,
}

impl Load {
    pub(crate) fn new() -> Self {
        Self {
            requested: 0,
            last_mib: None,
            last_offloaded_mib: None,
            usable_mib: None,
            sizes_mib: Vec::new(),
            first: None,
            last: None,
            size_at: None,
            prompts: 0,
            reload_prompts: 0,
            rebuilt_prompts: 0,
            last_prompt: 0,
        }
    }
}

/// The node that an error dialog names above its message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Title {
    pub node: String,
    pub line: u64,
}

/// `prepared for dynamic VRAM loading` lines of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dynamic {
    pub prepared: u64,
    /// Size of the weights; not memory in use.
    pub staged_mib: f64,
    pub at: Evidence,
}

/// `N models unloaded.` lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Unloads {
    pub lines: u64,
    pub models: u64,
}

/// Things that are counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Counts {
    pub total_vram_lines: u64,
    pub starts: u64,
    pub pin_errors: Option<Counted>,
    pub aimdo_errors: Option<Counted>,
    pub aimdo_warnings: Option<Counted>,
    pub tiled_retries: Option<Counted>,
    pub attention_retries: Option<Counted>,
    pub oom_unloads: Option<Counted>,
    pub old_loads: Option<Counted>,
    /// Weights that a LoRA could not be applied to.
    pub lora_errors: Option<Counted>,
    pub pin_evictions: Option<Counted>,
    pub cache_evictions: Option<Counted>,
    pub cache_evictions_active: Option<Counted>,
    /// Requests of the browser or of another program that the server could not answer.
    pub requests_failed: Option<Counted>,
    pub device_clones: Option<Counted>,
    pub detail_lines: u64,
    pub debug_lines: u64,
}

/// One start of the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Session {
    /// Which start of the log it is, from 1.
    pub number: usize,
    pub first_line: u64,
    pub last_line: u64,
    pub facts: BTreeMap<String, Fact>,
    pub flags: Vec<Flag>,
    /// Distinct `Device:` lines.
    pub devices: Vec<Fact>,
    pub nodes: Vec<NodeFolder>,
    pub nodes_disabled: Option<Evidence>,
    pub nodes_skipped: Vec<String>,
    pub prompts: PromptCounts,
    /// The first and the latest prompts; those between are only counted.
    pub prompt_list: Vec<Prompt>,
    pub prompts_left_out: u64,
    /// The longest silences between stamped lines of prompts.
    pub silences: Vec<Silence>,
    /// All prompts, neighbours put together where there are many.
    pub prompt_groups: Vec<PromptGroup>,
    /// The first and the latest things that happened, for pictures.
    pub marks: Vec<Mark>,
    pub marks_left_out: u64,
    pub leaks: BTreeMap<String, Leak>,
    pub leak_passes: u64,
    /// WARNINGs without their INFO line.
    pub stray_leak_warnings: u64,
    pub loads: BTreeMap<String, Load>,
    pub dynamic: BTreeMap<String, Dynamic>,
    /// The last load line of a model whose class the log does not tell.
    pub unnamed_load: Option<Evidence>,
    /// MiB that the load lines say are on the card at the end of the session.
    pub resident_mib: BTreeMap<String, f64>,
    /// Kinds of model with a line that states their load device: the line, where no such line names a card.
    pub off_card: BTreeMap<String, Option<Evidence>>,
    pub unloads: Unloads,
    pub ooms: Vec<OomRecord>,
    pub ooms_left_out: u64,
    pub host_ooms: Vec<HostOom>,
    /// How large the pictures are that nodes worked on; the latest lines.
    pub pictures: Vec<Pictures>,
    pub exceptions: Vec<Exception>,
    pub exceptions_left_out: u64,
    /// What a crash handler printed.
    pub crash_stack: Option<CrashStack>,
    pub counts: Counts,
    pub signals: Vec<SignatureHit>,
    pub container_hints: Vec<Evidence>,
    /// A limit that the log itself names, in MiB.
    pub container_limit_mib: Option<(f64, Evidence)>,
    pub first_got: Option<Evidence>,
    pub last_executed: Option<Evidence>,
    pub first_interrupt: Option<Evidence>,
    pub invalid_at: Option<Evidence>,
    /// Why a prompt, or a part of it, was refused.
    pub refusals: Vec<Refusal>,
    /// An output was left out.
    pub ignored_at: Option<Evidence>,
    /// The thread that runs prompts died.
    pub worker_died: Option<Evidence>,
    /// Lines like the last one of a traceback that stand alone, outside prompts.
    pub lone_errors: Vec<LoneError>,
    /// How far the start came.
    pub start: Option<Start>,
    pub error_notices: Vec<Evidence>,
    pub server_ready: Option<Evidence>,
    pub stopped: Option<Evidence>,
    /// The node of the last error dialog.
    pub title: Option<Title>,
    /// How this start ended.
    pub ending: Option<Ending>,
    /// Models held over all classes: after the first, the last and the worst pass.
    pub held_total: Option<(u64, u64, u64)>,
    /// Models held over all classes after the last pass of a prompt.
    pub held_by_prompt: Vec<CurvePoint>,
    /// Models that DETAIL lines sized: RAM and VRAM in MiB.
    pub detail_sizes: BTreeMap<String, (Option<f64>, Option<f64>)>,
}

impl Session {
    /// A fact's value, when the log states it.
    pub fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.get(name)
    }

    /// A fact that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.facts.get(name)?.value.as_text()
    }

    /// A fact that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.facts.get(name)?.value.as_number()
    }

    /// A fact that is true or false.
    pub fn flag_fact(&self, name: &str) -> Option<bool> {
        match self.facts.get(name)?.value {
            FactJson::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The flag was on the command line that the log shows.
    pub fn flag(&self, name: &str) -> Option<&Flag> {
        self.flags.iter().find(|flag| flag.name == name)
    }

    /// A prompt was queued or ran in this session.
    pub fn has_work(&self) -> bool {
        self.prompts.got > 0 || self.prompts.executed > 0 || !self.loads.is_empty() || !self.dynamic.is_empty()
    }

    /// No prompt failed, no model was held, and nothing was in flight when it ended.
    pub fn ran_well(&self) -> bool {
        let over = |ending: &Ending| matches!(ending.kind, EndingKind::StillRunning | EndingKind::CleanStop);
        self.prompts.failed == 0
            && self.ending.as_ref().is_none_or(over)
            && !self.leaks.values().any(|leak| leak.warning > 0)
    }

    /// Number of the prompt that runs now, or would run next.
    pub fn current_prompt(&self) -> u64 {
        self.prompts.executed + 1
    }
}
