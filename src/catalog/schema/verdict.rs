//! Verdicts and which of them goes first: `[[verdict]]` and `[[precedence]]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;
use crate::catalog::verdict::{ChecklistRoute, Sought, Verdict, VerdictClass};

/// What a verdict means. `[[verdict]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictDef {
    pub id: Verdict,
    #[serde(default)]
    pub name: Prose,
    /// A paragraph: what it means.
    #[serde(default)]
    pub says: Prose,
    #[serde(default)]
    pub supports: Prose,
    #[serde(default)]
    pub contradicts: Prose,
    #[serde(default)]
    pub to_do: Prose,
    #[serde(default)]
    pub not_to_do: Prose,
    /// How grave it is. This and what follows counts in the program's own packs only: another pack may change the texts.
    #[serde(default)]
    pub class: Option<VerdictClass>,
    /// Older packs said so in place of `class`.
    #[serde(default)]
    pub fault: Option<bool>,
    /// Rows of precedence in which it may become the answer.
    #[serde(default)]
    pub precedence: Vec<PrecedencePlace>,
    /// Worries of `--asked` that it answers by itself.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Worries under which it may be the answer although nothing shows that it troubles anybody.
    #[serde(default)]
    pub asked: Vec<String>,
    /// What `checklist` advises.
    #[serde(default)]
    pub checklist: Option<ChecklistRoute>,
    /// What `bisect` looks for again.
    #[serde(default)]
    pub bisect: Option<Sought>,
    /// Name under which known bugs ask whether it holds.
    #[serde(default)]
    pub structure: Option<String>,
    /// Parts of the packs' remedies that help.
    #[serde(default)]
    pub acts_on: Vec<String>,
    /// What the finding is about is such a part by itself.
    #[serde(default)]
    pub acts_on_what_it_is_about: bool,
    /// Parts for what the finding is about, where they differ.
    #[serde(default)]
    pub acts_on_for: BTreeMap<String, Vec<String>>,
    /// Remedies that also act on other parts are not shown.
    #[serde(default)]
    pub only_own_remedies: bool,
}

/// Where a verdict stands in the table of precedence.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrecedencePlace {
    /// Rank of the row.
    pub rank: u32,
    /// Place in the row; 1 is the first from the left.
    pub place: u32,
}

/// A row of the table of precedence. `[[precedence]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrecedenceDef {
    /// 1 goes first.
    pub rank: u32,
    /// Condition, from the closed list that the file explains.
    pub when: PrecedenceWhen,
    /// In place of those whose own files name this rank.
    #[serde(default)]
    pub verdicts: Vec<Verdict>,
    /// Words of `--asked` under which a verdict by design may be said, in place of those of its own file.
    #[serde(default)]
    pub asked: BTreeMap<Verdict, Vec<String>>,
}

/// Condition of a row of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrecedenceWhen {
    ProvenKill,
    UnrecoveredFailure,
    RecoveredFailure,
    Fault,
    ShownOrAsked,
    Mentioned,
    Always,
}
