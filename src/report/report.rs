//! The answer to "what is wrong?": plain data that every output format is a view of.
//!
//! This is the published JSON contract. Names and units are stable within a `schema_version`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::pictures::{CardReport, MarkReport, PromptGroupReport, RamReport, SamplesReport};
use crate::catalog::{PackInfo, Verdict};
pub use crate::diagnosis::{
    Avoid, Basis, Candidate, EvidenceReport, Figure, Finding, Grade, PlaceReport, Reference, RuledOut, Status, Step,
    VersionReport,
};

/// Version of the JSON contract.
pub const SCHEMA_VERSION: u32 = 1;

/// What `--format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    pub schema_version: u32,
    pub tool: Tool,
    /// Rule packs in use, lowest layer first.
    pub packs: Vec<PackInfo>,
    /// One report per log.
    pub reports: Vec<Report>,
}

/// The program that made the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tool {
    pub name: String,
    pub version: String,
}

/// The answer for one log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Path as given, or `-` for standard input.
    pub source: String,
    /// Language of the texts: `en` or `zh`.
    pub language: String,
    /// What worried the user (`--asked`).
    pub asked: Vec<String>,
    pub verdict: VerdictReport,
    /// Every hypothesis that was examined and is not ruled out, most important first.
    pub findings: Vec<Finding>,
    /// Hypotheses that this log speaks against.
    pub ruled_out: Vec<RuledOut>,
    /// What to do, in order.
    pub next_steps: Vec<Step>,
    /// What not to do, with the reason.
    pub avoid: Vec<Avoid>,
    /// What this log cannot tell.
    pub cannot_tell: Vec<String>,
    pub version: VersionReport,
    pub sessions: Vec<SessionReport>,
    pub ending: EndingReport,
    pub fitness: Fitness,
    /// Memory samples that were given, thinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesReport>,
    /// Side evidence that was given: limits, samples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
    /// The log was not read to its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// The one answer, and what else holds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VerdictReport {
    pub primary: Verdict,
    /// Further verdicts that a line of this log supports.
    pub secondary: Vec<Verdict>,
    /// `certain`, `strong`, `moderate` or `weak`.
    pub grade: Grade,
    /// Which evidence makes the grade.
    pub grade_reason: String,
    /// The answer in one sentence.
    pub headline: String,
}

/// A fact of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactReport {
    /// Text, number or truth value; the unit is in the name.
    pub value: serde_json::Value,
    pub at: PlaceReport,
}

/// A folder under `custom_nodes`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NodeReport {
    pub dir: String,
    pub seconds: Option<f64>,
    pub failed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub at: PlaceReport,
}

/// Prompts of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PromptsReport {
    pub got: u64,
    /// `Prompt executed` lines, failures included.
    pub executed: u64,
    /// Part of `executed`.
    pub failed: u64,
    pub lost: u64,
    pub invalid: u64,
    pub interrupted: u64,
}

/// The leak texts about one class.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LeakReport {
    pub potential: u64,
    pub warning: u64,
    /// Models held; null when the passes cannot be told apart.
    pub held_first: Option<u64>,
    pub held_last: Option<u64>,
    pub held_max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub released_at: Option<PlaceReport>,
    /// Held models by prompt.
    pub curve: Vec<CurveReport>,
}

/// A point of the leak curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CurveReport {
    pub prompt: u64,
    pub held: u64,
    pub line: u64,
}

/// Load lines of one class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LoadReport {
    pub requested: u64,
    pub last_mib: Option<f64>,
}

/// Dynamic-VRAM lines of one class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DynamicReport {
    pub prepared: u64,
    pub staged_mib: f64,
}

/// `N models unloaded.` lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnloadsReport {
    pub lines: u64,
    pub models: u64,
}

/// One out-of-memory of a GPU. Sizes are in bytes, null when the log does not say; `texts` holds them as they stood.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OomReport {
    pub kind: String,
    pub requested: Option<f64>,
    pub capacity: Option<f64>,
    pub free: Option<f64>,
    pub allocated: Option<f64>,
    pub reserved_unallocated: Option<f64>,
    pub others: Option<f64>,
    pub limit: Option<f64>,
    /// This process, PyTorch and everything else.
    pub process: Option<f64>,
    /// MPS: memory of the driver outside PyTorch's pool.
    pub other_allocations: Option<f64>,
    /// `activations`, `weights`, `unexplained`, `fragmentation`, `others`, `context`, `unknown`.
    pub deciding_part: String,
    pub node: Option<String>,
    pub at: PlaceReport,
    /// Field name to the source text.
    pub texts: BTreeMap<String, String>,
    /// What filled the card; null where the log does not tell enough.
    pub card: Option<CardReport>,
    pub prompt: u64,
    pub recovered: bool,
}

/// A failed allocation of RAM.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HostOomReport {
    pub kind: String,
    /// Bytes.
    pub requested: Option<f64>,
    pub at: PlaceReport,
}

/// An exception.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExceptionReport {
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub message: String,
    pub node: Option<String>,
    /// Folders under `custom_nodes` in the traceback.
    pub dirs: Vec<String>,
    /// `prompt`, `import`, `start`, `idle` or `unknown`.
    pub place: String,
    pub at: PlaceReport,
}

/// Things that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CountsReport {
    pub total_vram_lines: u64,
    pub starts: u64,
    pub pin_errors: u64,
    pub aimdo_errors: u64,
    pub tiled_retries: u64,
    pub attention_retries: u64,
    pub oom_unloads: u64,
    pub kills: u64,
}

/// One start of the server.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionReport {
    /// Which start of the log it is, from 1; of many starts only the first and the latest ones are told.
    pub number: usize,
    pub first_line: u64,
    pub last_line: u64,
    pub facts: BTreeMap<String, FactReport>,
    pub custom_nodes: Vec<NodeReport>,
    pub prompts: PromptsReport,
    pub leaks: BTreeMap<String, LeakReport>,
    pub leak_passes: u64,
    pub loads: BTreeMap<String, LoadReport>,
    pub dynamic: BTreeMap<String, DynamicReport>,
    pub unloads: UnloadsReport,
    pub ooms: Vec<OomReport>,
    pub host_ooms: Vec<HostOomReport>,
    pub exceptions: Vec<ExceptionReport>,
    pub counts: CountsReport,
    /// The first and the latest prompts, for the timeline.
    pub timeline: Vec<PromptReport>,
    /// All prompts, neighbours put together; only where `timeline` does not hold them all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompt_groups: Vec<PromptGroupReport>,
    /// The first and the latest things that happened: loads, leak passes, failures.
    pub marks: Vec<MarkReport>,
    /// Marks between them that were left out.
    pub marks_left_out: u64,
    /// RAM and what limits it.
    pub ram: RamReport,
    /// Prompts and other items beyond the limits that are kept in detail.
    pub left_out: u64,
}

/// One prompt in the timeline.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PromptReport {
    pub number: u64,
    pub first_line: u64,
    pub last_line: u64,
    pub seconds: Option<f64>,
    /// `ok`, `failed`, `interrupted` or `unfinished`.
    pub outcome: String,
    /// Classes requested or prepared.
    pub loads: Vec<String>,
    pub seconds_per_step: Option<f64>,
    /// Seconds by the log's stamps: since 1970, or since the first midnight where stamps have no date.
    pub began_at: Option<f64>,
    pub ended_at: Option<f64>,
    /// Steps of its progress bars times their seconds per step.
    pub step_seconds: Option<f64>,
    /// From requests to load lines, by the log's stamps.
    pub load_seconds: Option<f64>,
}

/// What was going on at the end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InFlightReport {
    pub prompt: u64,
    pub class: Option<String>,
    pub mib: Option<f64>,
    pub step: Option<(u64, u64)>,
    pub since_line: u64,
}

/// How the log ends.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EndingReport {
    /// `clean-stop`, `still-running`, `traceback`, `native-crash`, `killed`, `given-up`, `abrupt`, `empty`, or `unread` when reading
    /// stopped before the end.
    pub kind: String,
    pub at: Option<PlaceReport>,
    pub in_flight: Option<InFlightReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// In a sentence.
    pub text: String,
}

/// How far the log could be read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fitness {
    pub lines: u64,
    /// Texts that a rule knows.
    pub understood: u64,
    /// Texts looked at.
    pub texts: u64,
    pub encoding: String,
    /// The last line has no line break.
    pub cut_end: bool,
    /// What is missing or was left out, in sentences.
    pub gaps: Vec<String>,
}
