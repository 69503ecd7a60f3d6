//! Defaults and formulas: `[[default]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Constant;
use crate::catalog::version::{Since, Version};

/// One term of a formula; exactly one field is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Part of RAM.
    #[serde(default)]
    pub share: Option<f64>,
    #[serde(default)]
    pub gib: Option<f64>,
    #[serde(default)]
    pub mib: Option<f64>,
    #[serde(default)]
    pub ram_minus_gib: Option<f64>,
    #[serde(default)]
    pub ram_plus_swap_minus_gib: Option<f64>,
}

/// A default or formula of a range of versions. `[[default]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DefaultDef {
    pub id: String,
    pub what: String,
    /// `windows`, `linux` (every other system) or `any`.
    #[serde(default)]
    pub os: String,
    #[serde(default)]
    pub since: Since,
    #[serde(default)]
    pub since_after: Option<Version>,
    #[serde(default)]
    pub until: Option<String>,
    #[serde(default)]
    pub value: Option<Constant>,
    /// Result = max(`at_least`, min of the `terms`), kept within `clamp_gib`.
    #[serde(default)]
    pub terms: Vec<Term>,
    #[serde(default)]
    pub at_least: Option<Term>,
    #[serde(default)]
    pub clamp_gib: Option<(f64, f64)>,
    #[serde(default)]
    pub gpu: Vec<String>,
    #[serde(default)]
    pub wsl: Option<bool>,
    #[serde(default)]
    pub opt_in: Vec<String>,
    #[serde(default)]
    pub off_with: Vec<String>,
    #[serde(default)]
    pub off_with_facts: Vec<String>,
    #[serde(default)]
    pub torch_from: Option<Version>,
    #[serde(default)]
    pub rocm_from: Option<Version>,
    #[serde(default)]
    pub cuda_from: Option<Version>,
    #[serde(default)]
    pub vram_above_mib: Option<f64>,
    #[serde(default)]
    pub vram_at_most_mib: Option<f64>,
    #[serde(default)]
    pub swap: Option<String>,
    #[serde(default)]
    pub source: String,
}
