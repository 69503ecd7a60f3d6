//! Node packs of which something is known: `[[node]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;

/// `[[node]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeDef {
    /// Unique, kebab-case, stable.
    pub id: String,
    /// Folder names under custom_nodes; case does not matter, `-` is `_`.
    #[serde(default)]
    pub dirs: Vec<String>,
    /// As people call it.
    pub name: String,
    /// `owner/name`.
    #[serde(default)]
    pub repository: String,
    /// Kind of fault, in a few words.
    #[serde(default)]
    pub fault: String,
    /// `node-fault`, `node-fault-repaired`, `open-report`, `not-at-fault` or `interaction`.
    pub verdict: String,
    /// Texts that only it prints.
    #[serde(default)]
    pub signature: Vec<String>,
    /// Versions, as known.
    #[serde(default)]
    pub affected: String,
    /// First version without the fault.
    #[serde(default)]
    pub fixed_in: String,
    /// What to do.
    #[serde(default)]
    pub advice: Prose,
    /// `established`, `reported` or `suspected`.
    #[serde(default)]
    pub confidence: String,
    /// Public addresses.
    #[serde(default)]
    pub links: Vec<String>,
    /// Day on which it was looked at.
    #[serde(default)]
    pub checked: String,
}
