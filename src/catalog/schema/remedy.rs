//! What helps and what does not: `[[remedy]]` and `[[avoid]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;
use crate::catalog::version::Version;

/// Something that helps. `[[remedy]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemedyDef {
    pub id: String,
    /// 1 is the cheapest.
    #[serde(default)]
    pub order: u32,
    pub acts_on: Vec<String>,
    #[serde(default)]
    pub text: Prose,
    #[serde(default)]
    pub cost: Prose,
    /// What to type, with the same places as the text: `{pip} install -r {requirements}`.
    #[serde(default)]
    pub command: String,
    /// Of the open remedies with the same group only the first is shown.
    #[serde(default)]
    pub group: String,
    /// Flags that the text tells to add.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Flags that the text tells to take out; one must be in use.
    #[serde(default)]
    pub drops: Vec<String>,
    #[serde(default)]
    pub when: Vec<String>,
    #[serde(default)]
    pub not_when: Vec<String>,
    #[serde(default)]
    pub not_with: Vec<String>,
    #[serde(default)]
    pub since: Option<Version>,
    #[serde(default)]
    pub until: Option<Version>,
}

/// A common step that does not help. `[[avoid]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AvoidDef {
    pub id: String,
    pub acts_on: Vec<String>,
    #[serde(default)]
    pub text: Prose,
    #[serde(default)]
    pub why: Prose,
    #[serde(default)]
    pub flags: Vec<String>,
    #[serde(default)]
    pub when: Vec<String>,
    #[serde(default)]
    pub since: Option<Version>,
    #[serde(default)]
    pub until: Option<Version>,
}
