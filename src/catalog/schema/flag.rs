//! The command line of ComfyUI: `[[flag]]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::{Constant, Prose};
use crate::catalog::role::FlagRole;
use crate::catalog::version::{Since, Version};

/// A command-line flag of ComfyUI. `[[flag]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagDef {
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub since: Since,
    /// With an unknown `since`: this version did not have it yet.
    #[serde(default)]
    pub since_after: Option<Version>,
    #[serde(default)]
    pub until: Option<Version>,
    #[serde(default)]
    pub takes: String,
    #[serde(default)]
    pub metavar: String,
    #[serde(default)]
    pub group: String,
    #[serde(default)]
    pub source: String,
    /// It can change memory use.
    #[serde(default)]
    pub memory: bool,
    #[serde(default)]
    pub effect: Prose,
    #[serde(default)]
    pub default: Prose,
    #[serde(default)]
    pub note: Prose,
    /// What the program uses it for.
    #[serde(default)]
    pub roles: Vec<FlagRole>,
    /// The value that serves most where advice names the flag.
    #[serde(default)]
    pub usual: String,
    /// Asks for models to stay: `vram` or `ram`.
    #[serde(default)]
    pub residency: Option<String>,
    /// Facts or flags without which it is idle.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Facts or flags with which it is idle.
    #[serde(default)]
    pub no_effect_with: Vec<String>,
    #[serde(default)]
    pub no_effect_since: Option<Version>,
    #[serde(default)]
    pub turns_off: Vec<String>,
    #[serde(default)]
    pub turns_off_since: Option<Version>,
    #[serde(default)]
    pub turns_on: Vec<String>,
    #[serde(default)]
    pub conflicts: Vec<String>,
    #[serde(default)]
    pub overridden_by: Vec<String>,
    #[serde(default)]
    pub overridden_since: Option<Version>,
    #[serde(default)]
    pub implies: Vec<String>,
    #[serde(default)]
    pub implies_since: Option<Version>,
    #[serde(default)]
    pub versions: Vec<FlagVersion>,
    /// Facts that follow for a log started with it.
    #[serde(default)]
    pub facts: BTreeMap<String, Constant>,
}

/// What a flag did in a range of versions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagVersion {
    #[serde(default)]
    pub since: Since,
    #[serde(default)]
    pub until: Option<Version>,
    #[serde(default)]
    pub effect: Prose,
}
