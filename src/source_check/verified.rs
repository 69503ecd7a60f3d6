//! What came of holding the rules against a source tree, as it is published.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::literal::Call;
use super::shape::Shape;
use crate::catalog::{Since, Version};

/// Should the text be in this version's sources?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    Expected,
    /// The rule does not say when the text began.
    Undated,
    /// Only earlier or later versions have it.
    OtherVersion,
}

/// What the search came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum LookupOutcome {
    Found {
        path: String,
        line: usize,
    },
    /// Put together while the program runs; its words stand in the file.
    Composed {
        path: String,
        line: usize,
    },
    Missing {
        reason: Reason,
    },
}

impl LookupOutcome {
    /// The text is there, whole or in pieces.
    pub fn is_found(&self) -> bool {
        !matches!(self, Self::Missing { .. })
    }
}

/// Why a text is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Reason {
    /// A text nearby looks like its new wording.
    Reworded { path: String, line: usize, text: String },
    /// All its words stand in the file, but in no text that could be this one.
    Composed,
    /// The file named as its source is not in this tree.
    NoFile { path: String },
    /// Neither the text nor its words.
    NotThere,
}

/// A rule whose text ComfyUI itself prints.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuleRow {
    pub id: String,
    pub area: String,
    pub source: String,
    pub since: Since,
    pub until: Option<String>,
    pub expectation: Expectation,
    pub outcome: LookupOutcome,
}

/// A text of the memory files that no rule knows.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnknownText {
    pub path: String,
    pub line: usize,
    pub function: String,
    pub call: Call,
    /// With `…` where something is filled in.
    pub text: String,
    /// The rule whose text it most looks like, and how much (0 to 1).
    pub nearest: Option<(String, f64)>,
    /// It takes the place of that rule's text.
    pub replaces: Option<String>,
    #[serde(skip)]
    pub(super) shape: Shape,
}

/// What the comparison came to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Verified {
    pub tree: String,
    pub version: Version,
    pub files: usize,
    pub texts: usize,
    pub rows: Vec<RuleRow>,
    /// Rules whose texts come from elsewhere, by where.
    pub elsewhere: BTreeMap<String, usize>,
    pub candidates: Vec<UnknownText>,
}

impl Verified {
    /// Rows of a kind.
    pub fn rows(&self, expectation: Expectation) -> impl Iterator<Item = &RuleRow> {
        self.rows.iter().filter(move |row| row.expectation == expectation)
    }
}
