//! Shapes and words of `rules/redaction`, as the build wrote them.

use std::collections::BTreeMap;
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
    id: String,
    list: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    shape: Vec<Row>,
    words: Vec<Words>,
}

/// Shapes in the order in which they are tried, and lists of words by their names.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) shapes: Vec<Row>,
    words: BTreeMap<String, HashSet<String>>,
}

impl Rules {
    fn built_in() -> Self {
        let file: File = serde_json::from_str(TEXT).expect("the build wrote it, and every test reads it");
        let words = file.words.into_iter().map(|words| (words.id, words.list.into_iter().collect())).collect();
        Self { shapes: file.shape, words }
    }

    /// The word, in small letters, stands in the list.
    pub(super) fn has(&self, list: &str, word: &str) -> bool {
        self.words.get(list).is_some_and(|words| words.contains(word))
    }
}
