//! `pack.toml`: which pack this is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;
use crate::catalog::version::Version;

/// `pack.toml`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackHead {
    /// Name of the pack, kebab-case.
    pub id: String,
    /// Three numbers.
    pub version: String,
    /// Format of the files; a pack of a newer format is refused.
    pub format: u32,
    /// What the pack is about.
    #[serde(default)]
    pub title: Prose,
    /// ComfyUI versions it was held against.
    #[serde(default)]
    pub verified_from: Option<Version>,
    #[serde(default)]
    pub verified_to: Option<Version>,
    /// Day of this state.
    #[serde(default)]
    pub date: String,
}
