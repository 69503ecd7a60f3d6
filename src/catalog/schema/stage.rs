//! The stages of a start: `[[stage]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;

/// A stage of ComfyUI's start and the texts that show it. `[[stage]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageDef {
    /// Unique.
    pub id: String,
    /// 1 comes first.
    pub order: u32,
    /// Ids of message rules; one that ends in `*` stands for all that begin so.
    pub rules: Vec<String>,
    /// What ComfyUI does in it, as a noun.
    #[serde(default)]
    pub name: Prose,
}

impl StageDef {
    /// The text of this rule shows the stage.
    pub fn has(&self, rule: &str) -> bool {
        self.rules.iter().any(|known| match known.strip_suffix('*') {
            Some(begin) => rule.starts_with(begin),
            None => known == rule,
        })
    }
}
