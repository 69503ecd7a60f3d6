//! Shapes and words of `rules/redaction`, as the build wrote them.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

/// Everything in `rules/redaction`.
const TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/redaction.json"));

/// The one copy of what stands in `rules/redaction`.
pub(super) static RULES: LazyLock<Rules> = LazyLock::new(Rules::built_in);

/// One way in which something private looks; see the head of `rules/redaction/shapes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// For faults in `rules/redaction`.
    #[serde(rename = "id")]
    pub(super) _id: String,
    pub(super) needles: Vec<String>,
    #[serde(default)]
    pub(super) edge: bool,
    #[serde(default)]
    pub(super) begins: bool,
    #[serde(default)]
    pub(super) back: Back,
    pub(super) pattern: String,
    pub(super) unless: Unless,
}

/// What a pattern also takes from before its needle.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Back {
    #[default]
    Nothing,
    Word,
    Text,
}

/// Which texts of a shape are not private.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unless {
    None,
    Token,
    Password,
    Masked,
    Mixed,
    Said,
    Bearer,
    Cookie,
    Login,
    Prompt,
    Prose,
    Email,
    Shell,
    Phone,
    Contact,
    Device,
    User,
    Account,
    Domain,
    Machine,
    Local,
    Unc,
    Host,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    id: List,
    list: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    shape: Vec<Row>,
    words: Vec<Words>,
}

/// A list of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum List {
    Accounts,
    Hosts,
    Modules,
    Folders,
    Launchers,
    Programs,
    ProgramsAnywhere,
    UsersOwn,
    Homes,
    Media,
    SharedEndings,
    ProgramFiles,
    BeforeFiles,
    NoPrompts,
    Said,
    PromptHeads,
}

/// How many lists there are.
const LISTS: usize = List::PromptHeads as usize + 1;

/// Shapes in the order in which they are tried, and lists of words.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) shapes: Vec<Row>,
    words: [HashSet<String>; LISTS],
}

impl Rules {
    fn built_in() -> Self {
        let file: File = serde_json::from_str(TEXT).expect("the build wrote it, and every test reads it");
        let mut words: [HashSet<String>; LISTS] = Default::default();
        for list in file.words {
            if let Some(into) = words.get_mut(list.id as usize) {
                into.extend(list.list);
            }
        }
        Self { shapes: file.shape, words }
    }

    /// The word, in small letters, stands in the list.
    pub(super) fn has(&self, list: List, word: &str) -> bool {
        self.words.get(list as usize).is_some_and(|words| words.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_list_is_empty() {
        assert!(RULES.words.iter().all(|words| !words.is_empty()));
    }
}
