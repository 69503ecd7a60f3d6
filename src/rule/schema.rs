//! Rule packs as they are written: one struct per table of `docs/rule-format.md`.
//!
//! Only shapes and field names; meaning and checks are elsewhere. Unknown fields are errors, so that
//! a misspelt one is never silently ignored.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::EventKind;
use super::version::{Since, Version};

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

/// How a line of a start behaves when it is seen again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Stands once per start: a second one is a restart.
    Strong,
    /// May be repeated in one start.
    Weak,
}

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
    pub(super) fn fill(&mut self, told: Option<&serde_json::Map<String, serde_json::Value>>) {
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

/// Machine-readable conditions of a bug.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BugWhen {
    #[serde(default)]
    pub os: Vec<String>,
    #[serde(default)]
    pub gpu: Vec<String>,
    #[serde(default)]
    pub flags: Vec<String>,
    #[serde(default)]
    pub not_flags: Vec<String>,
    #[serde(default)]
    pub facts: BTreeMap<String, Constant>,
    #[serde(default)]
    pub torch_from: Option<Version>,
    #[serde(default)]
    pub torch_before: Option<Version>,
    #[serde(default)]
    pub swap: Option<String>,
    #[serde(default)]
    pub gpus_at_least: Option<u32>,
    #[serde(default)]
    pub nodes: Vec<String>,
    #[serde(default)]
    pub classes: Vec<String>,
}

/// `[[bug]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BugDef {
    /// Unique, kebab-case, stable.
    pub id: String,
    /// The bug in a few words.
    #[serde(default)]
    pub title: Prose,
    /// First affected version, as reported.
    #[serde(default)]
    pub since: Option<Version>,
    /// Last affected version; absent: still open or not established.
    #[serde(default)]
    pub until: Option<Version>,
    /// First version without it.
    #[serde(default)]
    pub fixed_in: Option<Version>,
    /// `established`, `reported` or `suspected`.
    #[serde(default)]
    pub confidence: String,
    /// A signature alone identifies it.
    #[serde(default)]
    pub decides: bool,
    /// Any one of these texts shows it.
    #[serde(default)]
    pub signature: Vec<String>,
    /// All of these must be seen in one prompt.
    #[serde(default)]
    pub signature_all: Vec<String>,
    /// Texts that show only that the mechanism is on.
    #[serde(default)]
    pub context: Vec<String>,
    /// What the log must look like; all must hold.
    #[serde(default)]
    pub structure: Vec<String>,
    /// Conditions of machine and settings; all must hold.
    #[serde(default)]
    pub when: BugWhen,
    /// What helps until it is repaired.
    #[serde(default)]
    pub workaround: Prose,
    /// Flags that the workaround names.
    #[serde(default)]
    pub workaround_flags: Vec<String>,
    /// What the maintainers said.
    #[serde(default)]
    pub said: Prose,
    /// What the log cannot show.
    #[serde(default)]
    pub needs: Prose,
    /// Public addresses.
    #[serde(default)]
    pub links: Vec<String>,
    /// `open`, `closed` or `unknown`.
    #[serde(default)]
    pub state: String,
    /// Day on which state and range were looked at.
    #[serde(default)]
    pub checked: String,
}

/// `[[node]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeDef {
    /// Unique, kebab-case, stable.
    pub id: String,
    /// Folder names under custom_nodes; case does not matter, `-` is `_`.
    #[serde(default)]
    pub dirs: Vec<String>,
    /// As people call it.
    pub name: String,
    /// `owner/name`.
    #[serde(default)]
    pub repository: String,
    /// Kind of fault, in a few words.
    #[serde(default)]
    pub fault: String,
    /// `node-fault`, `node-fault-repaired`, `open-report`, `not-at-fault` or `interaction`.
    pub verdict: String,
    /// Texts that only it prints.
    #[serde(default)]
    pub signature: Vec<String>,
    /// Versions, as known.
    #[serde(default)]
    pub affected: String,
    /// First version without the fault.
    #[serde(default)]
    pub fixed_in: String,
    /// What to do.
    #[serde(default)]
    pub advice: Prose,
    /// `established`, `reported` or `suspected`.
    #[serde(default)]
    pub confidence: String,
    /// Public addresses.
    #[serde(default)]
    pub links: Vec<String>,
    /// Day on which it was looked at.
    #[serde(default)]
    pub checked: String,
}

/// A command-line flag of ComfyUI. `[[flag]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagDef {
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub since: Since,
    /// With an unknown `since`: this version did not have it yet.
    #[serde(default)]
    pub since_after: Option<Version>,
    #[serde(default)]
    pub until: Option<Version>,
    #[serde(default)]
    pub takes: String,
    #[serde(default)]
    pub metavar: String,
    #[serde(default)]
    pub group: String,
    #[serde(default)]
    pub source: String,
    /// It can change memory use.
    #[serde(default)]
    pub memory: bool,
    #[serde(default)]
    pub effect: Prose,
    #[serde(default)]
    pub default: Prose,
    #[serde(default)]
    pub note: Prose,
    /// Asks for models to stay: `vram` or `ram`.
    #[serde(default)]
    pub residency: Option<String>,
    /// Facts or flags without which it is idle.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Facts or flags with which it is idle.
    #[serde(default)]
    pub no_effect_with: Vec<String>,
    #[serde(default)]
    pub no_effect_since: Option<Version>,
    #[serde(default)]
    pub turns_off: Vec<String>,
    #[serde(default)]
    pub turns_off_since: Option<Version>,
    #[serde(default)]
    pub turns_on: Vec<String>,
    #[serde(default)]
    pub conflicts: Vec<String>,
    #[serde(default)]
    pub overridden_by: Vec<String>,
    #[serde(default)]
    pub overridden_since: Option<Version>,
    #[serde(default)]
    pub implies: Vec<String>,
    #[serde(default)]
    pub implies_since: Option<Version>,
    #[serde(default)]
    pub versions: Vec<FlagVersion>,
    /// Facts that follow for a log started with it.
    #[serde(default)]
    pub facts: BTreeMap<String, Constant>,
}

/// What a flag did in a range of versions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagVersion {
    #[serde(default)]
    pub since: Since,
    #[serde(default)]
    pub until: Option<Version>,
    #[serde(default)]
    pub effect: Prose,
}

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

/// One term of a formula; exactly one field is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Part of RAM.
    #[serde(default)]
    pub share: Option<f64>,
    #[serde(default)]
    pub gib: Option<f64>,
    #[serde(default)]
    pub mib: Option<f64>,
    #[serde(default)]
    pub ram_minus_gib: Option<f64>,
    #[serde(default)]
    pub ram_plus_swap_minus_gib: Option<f64>,
}

/// A default or formula of a range of versions. `[[default]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DefaultDef {
    pub id: String,
    pub what: String,
    /// `windows`, `linux` (every other system) or `any`.
    #[serde(default)]
    pub os: String,
    #[serde(default)]
    pub since: Since,
    #[serde(default)]
    pub since_after: Option<Version>,
    #[serde(default)]
    pub until: Option<String>,
    #[serde(default)]
    pub value: Option<Constant>,
    /// Result = max(`at_least`, min of the `terms`), kept within `clamp_gib`.
    #[serde(default)]
    pub terms: Vec<Term>,
    #[serde(default)]
    pub at_least: Option<Term>,
    #[serde(default)]
    pub clamp_gib: Option<(f64, f64)>,
    #[serde(default)]
    pub gpu: Vec<String>,
    #[serde(default)]
    pub wsl: Option<bool>,
    #[serde(default)]
    pub opt_in: Vec<String>,
    #[serde(default)]
    pub off_with: Vec<String>,
    #[serde(default)]
    pub off_with_facts: Vec<String>,
    #[serde(default)]
    pub torch_from: Option<Version>,
    #[serde(default)]
    pub rocm_from: Option<Version>,
    #[serde(default)]
    pub cuda_from: Option<Version>,
    #[serde(default)]
    pub vram_above_mib: Option<f64>,
    #[serde(default)]
    pub vram_at_most_mib: Option<f64>,
    #[serde(default)]
    pub swap: Option<String>,
    #[serde(default)]
    pub source: String,
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

/// What a verdict means. `[[verdict]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictDef {
    pub id: String,
    #[serde(default)]
    pub name: Prose,
    /// A paragraph: what it means.
    #[serde(default)]
    pub says: Prose,
    #[serde(default)]
    pub supports: Prose,
    #[serde(default)]
    pub contradicts: Prose,
    #[serde(default)]
    pub to_do: Prose,
    #[serde(default)]
    pub not_to_do: Prose,
    /// Something is wrong; otherwise it is a state that is meant, or no state at all.
    #[serde(default)]
    pub fault: bool,
    /// Part of the packs' remedies that helps.
    #[serde(default)]
    pub acts_on: Vec<String>,
}

/// Something that helps. `[[remedy]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemedyDef {
    pub id: String,
    /// 1 is the cheapest.
    #[serde(default)]
    pub order: u32,
    pub acts_on: Vec<String>,
    #[serde(default)]
    pub text: Prose,
    #[serde(default)]
    pub cost: Prose,
    /// Flags that the text tells to add.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Flags that the text tells to take out; one must be in use.
    #[serde(default)]
    pub drops: Vec<String>,
    #[serde(default)]
    pub when: Vec<String>,
    #[serde(default)]
    pub not_when: Vec<String>,
    #[serde(default)]
    pub not_with: Vec<String>,
    #[serde(default)]
    pub since: Option<Version>,
    #[serde(default)]
    pub until: Option<Version>,
}

/// A common step that does not help. `[[avoid]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AvoidDef {
    pub id: String,
    pub acts_on: Vec<String>,
    #[serde(default)]
    pub text: Prose,
    #[serde(default)]
    pub why: Prose,
    #[serde(default)]
    pub flags: Vec<String>,
    #[serde(default)]
    pub when: Vec<String>,
    #[serde(default)]
    pub since: Option<Version>,
    #[serde(default)]
    pub until: Option<Version>,
}

/// A way of starting ComfyUI. `[[launcher]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LauncherDef {
    pub id: String,
    #[serde(default)]
    pub name: Prose,
    /// Parts of paths and command lines that show it; case does not count, `\\` equals `/`.
    #[serde(default)]
    pub signs: Vec<String>,
    /// Flags that show it.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Lines that tell of a container show it.
    #[serde(default)]
    pub container: bool,
    /// `windows`, `linux`, `macos`, or empty.
    #[serde(default)]
    pub os: String,
    /// What to type, with `{flags}`; empty where nothing is typed.
    #[serde(default)]
    pub command: String,
    /// Flags that the command always has.
    #[serde(default)]
    pub always: Vec<String>,
    /// How a flag is added.
    #[serde(default)]
    pub add: Prose,
    /// Where the full log is.
    #[serde(default)]
    pub log: Prose,
}

/// Where a report goes, and its headings there. `[[form]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormDef {
    pub id: String,
    /// `core`, `node` or `forum`.
    pub whom: String,
    #[serde(default)]
    pub place: String,
    #[serde(default)]
    pub source: String,
    pub sections: Vec<FormSection>,
}

/// A heading of a form, and what belongs under it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormSection {
    pub heading: String,
    pub holds: String,
}

/// A sentence that the program says. `[[sentence]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SentenceDef {
    /// Unique.
    pub id: String,
    /// English; `{name}` is filled in.
    pub en: String,
    /// Chinese, with the same placeholders.
    pub zh: String,
}

/// A row of the table of precedence. `[[precedence]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrecedenceDef {
    /// 1 goes first.
    pub rank: u32,
    /// Condition, from the closed list that the file explains.
    pub when: PrecedenceWhen,
    pub verdicts: Vec<String>,
    /// Words of `--asked` under which a verdict by design may be said.
    #[serde(default)]
    pub asked: BTreeMap<String, Vec<String>>,
}

/// Condition of a row of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrecedenceWhen {
    ProvenKill,
    UnrecoveredFailure,
    RecoveredFailure,
    Fault,
    ShownOrAsked,
    Always,
}
