//! What a diagnosis is made of: findings with their lines, grades in words, figures with where they come from.
//!
//! These types are part of the published JSON contract; `answer` puts them into its report as they are.

use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::Verdict;

/// How much the evidence carries. A named grade, never a percentage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// It fits; little speaks for it.
    Weak,
    /// Several things speak for it, one that would decide is missing.
    Moderate,
    /// The deciding text or arithmetic is there.
    Strong,
    /// Nothing else can have written this.
    Certain,
}

/// How a hypothesis stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    NotAssessable,
    RuledOut,
    Possible,
    Likely,
    Confirmed,
}

/// A place in the user's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct PlaceReport {
    /// Line, from 1.
    pub line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<u64>,
    /// Part of the line, when it held several texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<u32>,
    /// Entry of a JSON log, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<u32>,
    /// Offset of the line's start in bytes.
    pub byte: u64,
}

/// A line that supports or contradicts a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EvidenceReport {
    pub at: PlaceReport,
    /// The text of the line, without prefixes, cut to a sane length.
    pub text: String,
    /// Id of the rule that recognised it.
    pub rule: String,
    /// What it shows here, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Printed by the program that measured it.
    Measured,
    /// Computed from measured figures.
    Derived,
    /// Computed with an assumption.
    Estimate,
    /// Continued beyond what was seen.
    Extrapolated,
    /// From a formula or default of this version.
    Formula,
    /// Told by the user.
    Given,
    /// Not to be had from this log.
    Unknown,
}

/// One line of arithmetic or detail.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// Stable name, e.g. `pinned-ceiling`.
    pub name: String,
    pub text: String,
    pub basis: Basis,
    /// The figure itself, with its unit in `unit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Lines it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<u64>,
}

/// A node pack that may be behind it, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Candidate {
    /// Folder under `custom_nodes`.
    pub dir: String,
    /// `traceback`, `known-fault`, `source`, `name-hint`, `own-loader`.
    pub why: String,
    pub reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<PlaceReport>,
}

/// A public record that a statement rests on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reference {
    pub link: String,
    /// `open`, `closed` or `unknown`, as last seen.
    pub state: String,
    /// Day it was last looked at.
    pub checked: String,
}

/// A hypothesis and how it stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    pub id: Verdict,
    /// What it is about: a class, a folder, the id of a known bug.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    pub status: Status,
    pub grade: Grade,
    pub grade_reason: String,
    pub summary: String,
    /// Same cause, same fingerprint; no line numbers in it.
    pub fingerprint: String,
    pub evidence: Vec<EvidenceReport>,
    pub against: Vec<EvidenceReport>,
    pub figures: Vec<Figure>,
    pub candidates: Vec<Candidate>,
    pub references: Vec<Reference>,
    /// The one experiment that would settle it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<String>,
    /// What the places of a step stand for here, such as the missing `module`; only for filling steps in.
    #[serde(skip)]
    pub values: std::collections::BTreeMap<String, String>,
    /// Session it was seen in, from 1.
    pub session: usize,
    /// Prompt in which the failure stands; only for choosing the verdict.
    #[serde(skip)]
    pub prompt: Option<u64>,
    /// Circumstances that remedies ask for in `when`.
    #[serde(skip)]
    pub circumstances: Vec<String>,
    /// A later prompt ended well.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
    /// The packs' answer to the error's text, where the finding is about something else; only for its step.
    #[serde(skip)]
    pub answer: Option<String>,
    /// A native crash; its remedies go by what was switched on.
    #[serde(skip)]
    pub crash: bool,
    /// Nothing failed; it is only worth a word.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mentioned: bool,
}

/// A hypothesis that this log speaks against.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RuledOut {
    pub id: Verdict,
    pub reason: String,
    pub evidence: Vec<EvidenceReport>,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Flags of ComfyUI that the step adds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Id of the remedy in the packs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// Something not to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Avoid {
    pub text: String,
    pub why: String,
}

/// Which version of ComfyUI wrote the log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VersionReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
    /// First version it can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// First version it can no longer be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// `printed`, `checkout`, `wording`, `report` or `unknown`.
    pub basis: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceReport>,
}

impl VersionReport {
    /// In one word; with a range when the log only shows one, and `?` when it shows none.
    pub fn shown(&self) -> String {
        let bound = |bound: &Option<String>| bound.clone().unwrap_or_default();
        match (&self.exact, &self.from, &self.before) {
            (Some(exact), _, _) => exact.clone(),
            (None, None, None) => "?".to_owned(),
            (None, from, before) => format!("{}…<{}", bound(from), bound(before)),
        }
    }
}
