//! What several tables are made of: a text in both languages, and a constant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text in both languages of the program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prose {
    pub en: String,
    #[serde(default)]
    pub zh: String,
}

impl Prose {
    /// The text in `language`, English where the Chinese is missing.
    pub fn in_language(&self, zh: bool) -> &str {
        if zh && !self.zh.is_empty() { &self.zh } else { &self.en }
    }
}

/// A constant that follows from a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Constant {
    Bool(bool),
    Number(f64),
    Text(String),
}
