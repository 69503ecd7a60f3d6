//! What the first log tells of an install: its packs, its baseline, how ComfyUI was started.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::diagnosis::{Os, View, is_comfyui_own};
use crate::rule::Packs;
use crate::timeline::{FactJson, Session};

/// Facts that must stay the same in all rounds.
const BASELINE: [&str; 9] = [
    "comfyui_version",
    "git_describe",
    "pytorch_version",
    "device",
    "vram_state",
    "total_vram_mib",
    "total_ram_mib",
    "cache_mode",
    "dynamic_vram",
];
const WHITELIST: &str = "--whitelist-custom-nodes";

/// A folder under `custom_nodes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pack {
    pub dir: String,
    /// As the import table shows it; empty when it does not.
    pub path: String,
    /// Its import failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// How ComfyUI was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// `windows-portable`, `command`, `docker-run`, `docker-compose`, `desktop` or `unknown`.
    pub kind: String,
    /// The command line as the log shows it, without the shell's prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The file with the settings of the Desktop app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// Commands are for the shell of Windows.
    pub windows: bool,
}

/// An install, as its first log shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Install {
    pub packs: Vec<Pack>,
    pub baseline: BTreeMap<String, String>,
    /// `--whitelist-custom-nodes` exists in the version that wrote the log.
    pub whitelist: bool,
    pub launch: Launch,
}

/// Reads the last session of a log.
pub fn install(view: &View<'_>, packs: &Packs) -> Install {
    let session = view.session;
    let known = packs.flags.iter().find(|flag| flag.name == WHITELIST);
    let older = known.is_some_and(|flag| match flag.since {
        crate::rule::Since::At(since) => view.span.before.is_some_and(|before| before <= since) || view.span.exact.is_some_and(|exact| exact < since),
        _ => false,
    });
    Install {
        packs: installed(view),
        baseline: baseline(session),
        whitelist: !older,
        launch: launch(view),
    }
}

fn installed(view: &View<'_>) -> Vec<Pack> {
    view.session
        .nodes
        .iter()
        .filter(|node| !is_comfyui_own(&node.dir) && (node.seconds.is_some() || node.path.contains("custom_nodes")))
        .map(|node| Pack { dir: node.dir.clone(), path: node.path.clone(), failed: node.failed })
        .collect()
}

/// The facts of the baseline that a session states.
pub(super) fn baseline(session: &Session) -> BTreeMap<String, String> {
    let facts = BASELINE.iter().filter_map(|name| Some((*name, session.fact(name)?)));
    facts
        .filter(|(_, fact)| !fact.weak)
        .map(|(name, fact)| {
            let value = match &fact.value {
                FactJson::Bool(value) => value.to_string(),
                FactJson::Number(value) => crate::text::number(*value, 2),
                FactJson::Text(value) => value.clone(),
            };
            (name.to_owned(), value)
        })
        .collect()
}

fn launch(view: &View<'_>) -> Launch {
    let session = view.session;
    let seen = session.fact("launcher").filter(|fact| !fact.at.text.starts_with("- **")).map(|fact| fact.at.text.clone());
    let command = seen.filter(|text| !text.ends_with('…') && text.contains("main.py")).map(|text| from_program(&text));
    let docker = session.container_hints.iter().map(|hint| hint.text.trim()).find(|text| text.contains("docker run "));
    let install = ["install_path", "user_dir", "log_path", "python_path"].iter().filter_map(|name| session.text(name));
    let paths: Vec<&str> = install.chain(session.nodes.iter().map(|node| node.path.as_str())).collect();
    let anywhere = |part: &str| {
        let has = |text: &str| text.to_lowercase().contains(part);
        paths.iter().any(|path| has(path)) || command.as_deref().is_some_and(has)
    };
    let windows = view.os == Os::Windows;
    let kind = if docker.is_some() {
        "docker-run"
    } else if view.in_container().is_some() {
        "docker-compose"
    } else if anywhere("python_embeded") || anywhere("windows_portable") || session.flag("--windows-standalone-build").is_some() {
        "windows-portable"
    } else if anywhere("comfy-desktop") || anywhere("@comfyorgcomfyui") || anywhere("programs\\comfyui\\resources") || anywhere("comfyui.app/contents") {
        "desktop"
    } else if command.is_some() {
        "command"
    } else {
        "unknown"
    };
    let settings = session.text("user_dir").map(|user| {
        let slash = if windows { '\\' } else { '/' };
        format!("{}{slash}default{slash}comfy.settings.json", user.trim_end_matches(['/', '\\']))
    });
    let command = docker.map(str::to_owned).or(command);
    Launch { kind: kind.to_owned(), command, settings: settings.filter(|_| kind == "desktop"), windows }
}

/// A command line from its program on: what a shell writes before it is no part of it.
fn from_program(text: &str) -> String {
    let text = text.trim();
    let at = text.rfind(">.\\").map(|at| at + 1).or_else(|| text.strip_prefix("$ ").map(|_| 2));
    at.and_then(|at| text.get(at..)).unwrap_or(text).to_owned()
}
