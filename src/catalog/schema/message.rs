//! Texts that are looked for in a log: `[[message]]` and `[[oom_phrase]]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::{Constant, Prose};
use crate::catalog::kind::EventKind;
use crate::catalog::version::Since;

/// How a line of a start behaves when it is seen again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Stands once per start: a second one is a restart.
    Strong,
    /// May be repeated in one start.
    Weak,
}

/// Keys of `set` that stand for a capture of their own event and are no facts.
pub const SET_KEYS: [&str; 24] = [
    "patch_failed",
    "table",
    "kind",
    "code",
    "failed",
    "weak",
    "message",
    "func",
    "type",
    "reason",
    "cgroup",
    "section",
    "missing_node",
    "oom_killed",
    "explains",
    "alive",
    "stack",
    "worker",
    "builtin",
    "client",
    "node_finished",
    "native",
    "crashed",
    "current",
];

/// `[[message]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageDef {
    /// Unique, kebab-case, stable.
    pub id: String,
    /// Groups the documentation; one of the areas below.
    pub area: String,
    /// What the text means to the program.
    pub event: EventKind,
    /// One line with typed captures, or a regular expression.
    pub text: String,
    /// First version that prints it.
    #[serde(default)]
    pub since: Since,
    /// Last version that prints it; absent: still there.
    #[serde(default)]
    pub until: Option<String>,
    /// Level of the logger.
    #[serde(default)]
    pub level: Option<String>,
    /// Where the text comes from: `file.py:function` of ComfyUI, or another program.
    #[serde(default)]
    pub source: String,
    /// One or two sentences.
    #[serde(default)]
    pub means: Prose,
    /// Lines that the rule takes.
    #[serde(default, rename = "match")]
    pub matches: Vec<String>,
    /// Lines that look alike and are left alone.
    #[serde(default)]
    pub silent: Vec<String>,
    /// Facts or captures that follow from the text.
    #[serde(default)]
    pub set: BTreeMap<String, Constant>,
    /// How a line of a start behaves when it is seen again.
    #[serde(default)]
    pub mark: Option<Mark>,
    /// Any text may follow.
    #[serde(default)]
    pub open: bool,
    /// ComfyUI puts the text together while it runs, so that no text of its sources shows since when it is printed;
    /// `since` and `until` were read in the code.
    #[serde(default)]
    pub composed: bool,
    /// Ids of rules that this one wins over on purpose.
    #[serde(default)]
    pub shadows: Vec<String>,
    /// `text` is a regular expression.
    #[serde(default)]
    pub regex: bool,
    /// What a line must begin with for a regular expression.
    #[serde(default)]
    pub anchor: String,
    /// Types of the named groups of a regular expression.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
    /// Known, says nothing.
    #[serde(default)]
    pub noise: bool,
}

impl MessageDef {
    /// Takes over what the program keeps apart from matching.
    pub(in crate::catalog) fn fill(&mut self, told: Option<&serde_json::Map<String, serde_json::Value>>) {
        let Some(told) = told else { return };
        let list = |field: &str| -> Vec<String> {
            let texts = told.get(field).and_then(serde_json::Value::as_array).into_iter().flatten();
            texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        self.matches = list("match");
        self.silent = list("silent");
        self.source = told.get("source").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        self.means = told.get("means").and_then(|means| serde_json::from_value(means.clone()).ok()).unwrap_or_default();
    }
}

/// `[[oom_phrase]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OomPhraseDef {
    /// Unique.
    pub id: String,
    /// Part of a sentence with typed captures.
    pub text: String,
    /// The phrase may stand several times; the numbers are added (`Process … has …`).
    #[serde(default)]
    pub sum: bool,
}
