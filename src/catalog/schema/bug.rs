//! Known bugs: `[[bug]]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::{Constant, Prose};
use crate::catalog::version::Version;

/// Machine-readable conditions of a bug.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BugWhen {
    #[serde(default)]
    pub os: Vec<String>,
    #[serde(default)]
    pub gpu: Vec<String>,
    #[serde(default)]
    pub flags: Vec<String>,
    #[serde(default)]
    pub not_flags: Vec<String>,
    #[serde(default)]
    pub facts: BTreeMap<String, Constant>,
    /// Facts that every version prints which has them: not seen counts as not so.
    #[serde(default)]
    pub seen: Vec<String>,
    #[serde(default)]
    pub torch_from: Option<Version>,
    #[serde(default)]
    pub torch_before: Option<Version>,
    #[serde(default)]
    pub swap: Option<String>,
    #[serde(default)]
    pub gpus_at_least: Option<u32>,
    #[serde(default)]
    pub nodes: Vec<String>,
    #[serde(default)]
    pub classes: Vec<String>,
}

/// `[[bug]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BugDef {
    /// Unique, kebab-case, stable.
    pub id: String,
    /// The bug in a few words.
    #[serde(default)]
    pub title: Prose,
    /// First affected version, as reported.
    #[serde(default)]
    pub since: Option<Version>,
    /// Last affected version; absent: still open or not established.
    #[serde(default)]
    pub until: Option<Version>,
    /// First version without it.
    #[serde(default)]
    pub fixed_in: Option<Version>,
    /// `established`, `reported` or `suspected`.
    #[serde(default)]
    pub confidence: String,
    /// A signature alone identifies it.
    #[serde(default)]
    pub decides: bool,
    /// Any one of these texts shows it.
    #[serde(default)]
    pub signature: Vec<String>,
    /// All of these must be seen in one prompt.
    #[serde(default)]
    pub signature_all: Vec<String>,
    /// Texts that show only that the mechanism is on.
    #[serde(default)]
    pub context: Vec<String>,
    /// What the log must look like; all must hold.
    #[serde(default)]
    pub structure: Vec<String>,
    /// Conditions of machine and settings; all must hold.
    #[serde(default)]
    pub when: BugWhen,
    /// What helps until it is repaired.
    #[serde(default)]
    pub workaround: Prose,
    /// Flags that the workaround names.
    #[serde(default)]
    pub workaround_flags: Vec<String>,
    /// What the maintainers said.
    #[serde(default)]
    pub said: Prose,
    /// What the log cannot show.
    #[serde(default)]
    pub needs: Prose,
    /// Public addresses.
    #[serde(default)]
    pub links: Vec<String>,
    /// `open`, `closed` or `unknown`.
    #[serde(default)]
    pub state: String,
    /// Day on which state and range were looked at.
    #[serde(default)]
    pub checked: String,
}
