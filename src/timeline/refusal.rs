//! Why ComfyUI refused a prompt, or left out one of its outputs, as the lines of its check tell it.

use serde::Serialize;

use super::evidence::Evidence;

/// One reason of a refusal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    pub at: Evidence,
    /// Kind of the reason, as the rule calls it: `not-in-list`, `bad-file`, `missing-node`, `no-class`, `missing-input` …
    pub kind: String,
    /// Node whose output cannot be made.
    pub output: Option<String>,
    /// Node with the error.
    pub node_id: Option<String>,
    pub node_type: Option<String>,
    /// Input of that node.
    pub input: Option<String>,
    /// What the workflow gives there.
    pub value: Option<String>,
    /// What may be given there, as printed: `[]`, `(list of length 64)`.
    pub list: Option<String>,
    /// The prompt ran without this output.
    pub output_only: bool,
    /// Number of times it was told.
    pub count: u64,
}

impl Refusal {
    /// The list to choose from holds nothing: ComfyUI finds no file for this input.
    pub fn list_is_empty(&self) -> bool {
        self.list.as_deref().is_some_and(|list| list.trim() == "[]")
    }

    /// The same reason told again.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let key = |one: &Self| (one.kind.clone(), one.node_id.clone(), one.node_type.clone(), one.input.clone());
        key(self) == key(other) && self.value == other.value
    }
}
