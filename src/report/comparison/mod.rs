//! The answer to "did it help?": two or more runs side by side, comparable or not, and what changed.
//!
//! Plain data; the formats are views of it. It concludes only what both logs can show: a fix whose path never
//! ran is no fix, and runs that differ in more than the thing tried are not judged without being forced.

mod comparable;
mod figures;
mod judge;
mod leaks;
mod reloads;
mod rows;
mod run;
mod traps;

use crate::catalog::Verdict;
use schemars::JsonSchema;
use serde::Serialize;

use super::report::{CurveReport, EvidenceReport, Grade, PromptsReport, Report};
use crate::diagnosis::Messages;
use crate::pipeline::Read;
use crate::samples::Samples;
use crate::timeline::Session;

/// Version of the JSON contract of comparisons.
pub const COMPARISON_SCHEMA_VERSION: u32 = 1;

/// One run to be compared: what was read, and the answer on it.
#[derive(Debug)]
pub struct Run<'r> {
    pub name: String,
    pub read: &'r Read,
    pub report: &'r Report,
    pub samples: Option<&'r Samples>,
}

impl Run<'_> {
    /// Index of the session with the verdict's evidence, or of the last one in which something ran.
    pub(crate) fn telling_session(&self) -> Option<usize> {
        let sessions = &self.read.timeline.sessions;
        let ran = |index: &usize| sessions.get(*index).is_some_and(Session::has_work);
        let named =
            self.report.findings.first().and_then(|finding| self.read.timeline.index_of(finding.session)).filter(ran);
        named.or_else(|| (0..sessions.len()).rev().find(ran)).or(sessions.len().checked_sub(1))
    }
}

/// Runs side by side. The first is what the others are held against.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Language of the texts: `en` or `zh`.
    pub language: String,
    pub runs: Vec<RunReport>,
    /// The first run with each other one.
    pub pairs: Vec<Pair>,
}

/// What one run shows.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunReport {
    pub source: String,
    /// Session of the log that is compared, from 1.
    pub session: usize,
    /// As the log tells it; a range when it only shows one.
    pub version: String,
    pub verdict: Verdict,
    pub grade: Grade,
    pub headline: String,
    pub flags: Vec<String>,
    pub node_packs: Vec<String>,
    pub prompts: PromptsReport,
    pub seconds: Seconds,
    /// Models held at the end that nothing should use; null when the log cannot show it.
    pub held: Option<u64>,
    /// Loads of models that had been loaded before, per prompt.
    pub reloads_per_prompt: Option<f64>,
    pub out_of_memory: u64,
    /// How the log ends.
    pub ending: String,
    /// From samples, when they were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// Seconds per prompt. The first prompt of a run loads the models and is left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Seconds {
    pub prompts: usize,
    pub median: Option<f64>,
    /// A quarter of the prompts took less.
    pub low: Option<f64>,
    /// A quarter of the prompts took more.
    pub high: Option<f64>,
    /// There are enough prompts to speak of a change.
    pub enough: bool,
}

/// Memory of the process by its samples, in MiB.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Memory {
    /// `plateau`, `one-step`, `filling`, `growing`, `sawtooth` or `too-short`.
    pub shape: String,
    pub first_mib: f64,
    pub last_mib: f64,
    /// Growth per prompt, when it grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_prompt_mib: Option<f64>,
    /// RAM of the machine in use at its highest, from what was left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_peak_mib: Option<f64>,
}

/// What came out of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The fault of the first run is gone, and its path ran.
    Fixed,
    /// It is gone with an update of ComfyUI, and its path ran.
    GoneAfterUpdate,
    /// The symptom is gone because it is hidden; whether the fault is, cannot be told.
    Hidden,
    /// Less of it, or something milder.
    Improved,
    /// The fault of the first run is gone, another one is there.
    Changed,
    Unchanged,
    Worse,
    /// More differs between the runs than may, or one log cannot show it.
    NotComparable,
    /// What was to be tried did not happen.
    NotExercised,
}

impl Outcome {
    /// As JSON and the headings name it.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::GoneAfterUpdate => "gone-after-update",
            Self::Hidden => "hidden",
            Self::Improved => "improved",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Worse => "worse",
            Self::NotComparable => "not-comparable",
            Self::NotExercised => "not-exercised",
        }
    }
}

/// Two runs held against each other.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Pair {
    /// Numbers of the runs, from 0.
    pub a: usize,
    pub b: usize,
    pub outcome: Outcome,
    pub headline: String,
    /// Which evidence makes the outcome.
    pub reason: String,
    pub evidence: Vec<SeenIn>,
    /// Judged although the runs are not comparable.
    pub forced: bool,
    /// Why the runs are not comparable; empty when they are.
    pub obstacles: Vec<Difference>,
    /// What was changed: node packs and flags first.
    pub changed: Vec<Difference>,
    pub rows: Vec<Row>,
    /// Models held by prompt, for each class that leaks in one of the runs.
    pub curves: Vec<Curves>,
    /// Whether the mechanism that a flag speaks to was seen to work.
    pub mechanisms: Vec<Mechanism>,
    /// What makes this comparison weaker than it looks.
    pub traps: Vec<Trap>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A line of one of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeenIn {
    /// Number of the run, from 0.
    pub run: usize,
    #[serde(flatten)]
    pub line: EvidenceReport,
}

/// Something that is not the same in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// `version`, `gpu`, `flag`, `node-pack`, …
    pub what: String,
    /// `added`, `removed` or `changed`.
    pub kind: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
}

/// One figure of both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Row {
    pub id: String,
    pub label: String,
    pub a: String,
    pub b: String,
    /// `better`, `worse`, `same`, `changed` or `unknown`.
    pub change: String,
}

/// Models of one class held, by prompt.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Curves {
    pub class: String,
    pub a: Vec<CurveReport>,
    pub b: Vec<CurveReport>,
}

/// Something that a flag or fix relies on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mechanism {
    /// `cache-eviction`.
    pub id: String,
    /// `worked`, `never-worked` or `cannot-tell`, in each run.
    pub a: String,
    pub b: String,
    pub text: String,
}

/// A way in which a comparison misleads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trap {
    /// `two-changes`, `never-ran`, `plateau` or `threshold`.
    pub id: String,
    pub text: String,
}

/// Holds each run against the first.
#[must_use]
pub fn compare(runs: &[Run<'_>], messages: &Messages<'_>, force: bool) -> Comparison {
    let sides: Vec<run::Side<'_>> = runs.iter().filter_map(|run| run::Side::of(run, messages)).collect();
    let pairs = match sides.split_first() {
        Some((first, rest)) => {
            rest.iter().enumerate().map(|(index, other)| pair(first, other, index + 1, messages, force)).collect()
        }
        None => Vec::new(),
    };
    Comparison {
        language: if messages.zh { "zh" } else { "en" }.to_owned(),
        runs: sides.iter().map(run::Side::report).collect(),
        pairs,
    }
}

fn pair(a: &run::Side<'_>, b: &run::Side<'_>, number: usize, messages: &Messages<'_>, force: bool) -> Pair {
    let differences = comparable::differences(a, b, messages);
    let mechanisms = traps::mechanisms(a, b, messages);
    let judged = || judge::judge(a, b, number, &differences, &mechanisms, messages);
    let updated = differences.only_updated().then(|| judge::after_update(a, b, judged(), messages)).flatten();
    let refused = !differences.obstacles.is_empty() && !force && updated.is_none();
    let mut judgement = match updated {
        Some(gone) => gone,
        None if refused => judge::refusal(&differences.obstacles, messages),
        None => judged(),
    };
    let mut found = traps::traps(a, b, &differences, &mechanisms, &judgement, messages);
    if !refused && let Some(plateau) = traps::plateau(b, &differences, &mechanisms, messages) {
        // A result that does not fit what the change predicts is not explained by the change.
        if !plateau.fits && judgement.outcome == Outcome::Fixed {
            judgement.outcome = Outcome::Improved;
        }
        found.extend(plateau.trap);
    }
    Pair {
        a: 0,
        b: number,
        outcome: judgement.outcome,
        headline: judgement.headline,
        reason: judgement.reason,
        evidence: judgement.evidence,
        forced: force && !differences.obstacles.is_empty(),
        obstacles: differences.obstacles,
        changed: differences.changed,
        rows: rows::rows(a, b, messages),
        curves: rows::curves(a, b),
        mechanisms,
        traps: found,
        next: judgement.next,
    }
}
