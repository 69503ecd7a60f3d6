//! Where logs are: `[[place]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a way of starting ComfyUI leaves its log. `[[place]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceDef {
    pub id: String,
    /// `windows`, `linux`, `macos`; empty for any.
    #[serde(default)]
    pub os: Vec<String>,
    /// A folder, which may begin with a name such as `{home}`.
    pub folder: String,
    /// Patterns below it.
    pub files: Vec<String>,
    /// The folders above it too.
    #[serde(default)]
    pub parents: bool,
    /// Only when nothing else was found.
    #[serde(default)]
    pub spare: bool,
    /// Id of the way of starting.
    #[serde(default)]
    pub launcher: String,
    /// Where the path is told.
    #[serde(default)]
    pub source: String,
}
