//! What is worth a word although nothing failed: `[[mention]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;
use crate::catalog::verdict::Verdict;

/// A text that somebody who knows ComfyUI would speak of. `[[mention]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MentionDef {
    pub id: String,
    /// One of these stands in the lines that are counted.
    pub texts: Vec<String>,
    /// Lines of one prompt from which on it is a finding; 0: it never is, and only its note is told.
    pub at_least: u64,
    /// Verdict under which it is told.
    pub verdict: Verdict,
    /// `{n}` stands for the number of lines.
    #[serde(default)]
    pub summary: Prose,
    #[serde(default)]
    pub step: Prose,
    /// Told beside another verdict where there are fewer lines than that. `{n}` as above.
    #[serde(default)]
    pub note: Prose,
    /// Flags that the step tells to add.
    #[serde(default)]
    pub flags: Vec<String>,
}
