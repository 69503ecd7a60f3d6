//! Errors whose text says, or is known to mean, what has to be done: `[[answer]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;

/// An error's text, what it means, and the way out. `[[answer]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerDef {
    /// Unique; remedies may act on it.
    pub id: String,
    /// One of these is in the text. Case counts only in texts with a capital letter.
    pub has: Vec<String>,
    /// All of these are in it.
    #[serde(default)]
    pub all: Vec<String>,
    /// None of these is in it.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Only of an error that ended a prompt, or that stands alone; a node pack whose code it came from stays the one
    /// that is named, and this step goes before its own.
    #[serde(default)]
    pub of_prompt: bool,
    /// ComfyUI goes on; it is only worth a word.
    #[serde(default)]
    pub goes_on: bool,
    /// Answers that say this already.
    #[serde(default)]
    pub part_of: Vec<String>,
    /// What it means; `{what}` stands for the error's text.
    #[serde(default)]
    pub says: Prose,
    /// What to do. Remedies that act on the id follow it.
    #[serde(default)]
    pub step: Prose,
    /// What to type, with placeholders.
    #[serde(default)]
    pub command: String,
}

impl AnswerDef {
    /// It answers this text.
    pub fn fits(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let holds = |needle: &String| {
            let exact = needle.chars().any(char::is_uppercase);
            if exact { text.contains(needle.as_str()) } else { lower.contains(needle.as_str()) }
        };
        self.has.iter().any(holds) && self.all.iter().all(holds) && !self.lacks.iter().any(holds)
    }
}
