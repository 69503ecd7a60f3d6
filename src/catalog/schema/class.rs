//! Classes of models: `[[class]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;

/// What kind of thing a model class is. `[[class]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassDef {
    #[serde(default)]
    pub name: Option<String>,
    /// With `*` at the start, the end, or both.
    #[serde(default)]
    pub pattern: Option<String>,
    pub kind: String,
    /// ComfyUI's own class.
    #[serde(default)]
    pub core: bool,
    /// Node packs have classes of the same name.
    #[serde(default)]
    pub shared: bool,
    #[serde(default)]
    pub label: Prose,
}

impl ClassDef {
    pub(crate) fn key(&self) -> String {
        self.name.clone().or_else(|| self.pattern.clone()).unwrap_or_default()
    }
}
