//! Ways of starting ComfyUI: `[[launcher]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prose::Prose;

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
    /// Its Python as it is typed from the folder that it is started in, where that is always the same.
    #[serde(default)]
    pub python: String,
    /// ComfyUI's folder as it is seen from there.
    #[serde(default)]
    pub root: String,
    /// Flags are added in a file or a dialog: `add` says it better than a command line.
    #[serde(default)]
    pub by_hand: bool,
    /// File with its settings, below the user's folder.
    #[serde(default)]
    pub settings: String,
    /// How a flag is added.
    #[serde(default)]
    pub add: Prose,
    /// Where the full log is.
    #[serde(default)]
    pub log: Prose,
}
