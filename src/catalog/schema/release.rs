//! Versions, and the native packages that they need: `[[release]]` and `[[aimdo]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;
use crate::catalog::version::Version;

/// A release of ComfyUI. `[[release]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseDef {
    pub version: Version,
    #[serde(default)]
    pub date: String,
    #[serde(default)]
    pub date_from: String,
    #[serde(default)]
    pub date_until: String,
    #[serde(default)]
    pub released: String,
    #[serde(default)]
    pub known_from: String,
    #[serde(default)]
    pub certain: Option<bool>,
    #[serde(default)]
    pub note: Prose,
}

/// Native packages that a version needs. `[[aimdo]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AimdoDef {
    /// From this version on, until the next row.
    pub comfyui: Version,
    #[serde(default)]
    pub required: Option<Version>,
    #[serde(default)]
    pub exact: bool,
    #[serde(default)]
    pub kitchen: Option<Version>,
    #[serde(default)]
    pub kitchen_exact: bool,
    #[serde(default)]
    pub certain: bool,
    #[serde(default)]
    pub source: String,
}

impl AimdoDef {
    pub(crate) fn key(&self) -> String {
        self.comfyui.to_string()
    }
}
