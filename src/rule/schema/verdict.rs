//! Verdicts and which of them goes first: `[[verdict]]` and `[[precedence]]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;

/// What a verdict means. `[[verdict]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictDef {
    pub id: String,
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
    /// Something is wrong; otherwise it is a state that is meant, or no state at all.
    #[serde(default)]
    pub fault: bool,
    /// Part of the packs' remedies that helps.
    #[serde(default)]
    pub acts_on: Vec<String>,
}

/// A row of the table of precedence. `[[precedence]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrecedenceDef {
    /// 1 goes first.
    pub rank: u32,
    /// Condition, from the closed list that the file explains.
    pub when: PrecedenceWhen,
    pub verdicts: Vec<String>,
    /// Words of `--asked` under which a verdict by design may be said.
    #[serde(default)]
    pub asked: BTreeMap<String, Vec<String>>,
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
