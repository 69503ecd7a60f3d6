//! Why an import fails, what pip calls a module, and which folder an input takes its files from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;

/// A reason for which something cannot be imported. `[[cause]]`, tried in the order of their files.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CauseDef {
    /// Unique.
    pub id: String,
    /// A regular expression that the reason fits somewhere; named groups: `module`, `name`, `need`, `command`.
    pub text: String,
    /// The circumstance that remedies ask for in `when`.
    pub tag: String,
    /// What pip has to install instead of the missing module, as typed.
    #[serde(default)]
    pub pip: String,
    /// Installing what the pack requires may help.
    #[serde(default)]
    pub requirements: bool,
    /// It is no fault: nobody misses anything.
    #[serde(default)]
    pub harmless: bool,
    /// Lines that the expression takes.
    #[serde(default, rename = "match")]
    pub matches: Vec<String>,
    /// What is wrong, in a clause: `{module}`, `{name}`, `{need}` and `{library}` stand for what the reason names.
    #[serde(default)]
    pub says: Prose,
}

/// What pip calls a Python module of another name. `[[package]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackageDef {
    /// Its name in small letters.
    pub id: String,
    /// As pip calls it, if otherwise.
    #[serde(default)]
    pub pip: String,
    /// First parts of the modules that it brings.
    pub modules: Vec<String>,
}

/// Which folder an input of a node takes its files from. `[[input]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputDef {
    /// Unique.
    pub id: String,
    /// Names of inputs.
    pub inputs: Vec<String>,
    /// Types of nodes, if only those are meant; one that ends in `*` stands for all that begin so.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Folder below ComfyUI's, with `/`.
    pub folder: String,
}

/// The node pack that types of nodes belong to. `[[node_types]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeTypesDef {
    /// Unique.
    pub id: String,
    /// As people call the pack, and most often its folder.
    pub name: String,
    /// `owner/name`.
    pub repository: String,
    /// Day on which it was looked at.
    pub checked: String,
    /// Types of nodes; one that ends in `*` stands for all that begin so.
    pub types: Vec<String>,
}

/// A known type, or the beginning of several, is that of `node`.
fn is_type(known: &str, node: &str) -> bool {
    known.strip_suffix('*').map_or(known == node, |begin| node.starts_with(begin))
}

impl NodeTypesDef {
    /// The type belongs to this pack.
    pub fn fits(&self, node: &str) -> bool {
        self.types.iter().any(|known| is_type(known, node))
    }
}

impl InputDef {
    /// It tells of this input of this type of node. Rows without types are asked last.
    pub fn fits(&self, node: &str, input: &str) -> bool {
        let of_type = |known: &String| is_type(known, node);
        self.inputs.iter().any(|known| known == input) && (self.nodes.is_empty() || self.nodes.iter().any(of_type))
    }
}
