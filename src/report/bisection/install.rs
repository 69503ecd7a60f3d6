//! What the first log tells of an install: its packs, its baseline, how ComfyUI was started.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalog::{FlagRole, Packs};
use crate::diagnosis::{Context, Launch as Start, Os};
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
/// Where flags go in a command line.
const PLACE: &str = "{flags}";

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
    /// Id of the launcher in the packs.
    pub id: String,
    /// The command line of the log, or the usual one, with `{flags}` where flags go. None where nothing is typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The log shows neither a command line nor flags: the person's own are not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_flags_unknown: bool,
    /// The file with the settings of the Desktop app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// It runs in a container.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub container: bool,
    /// Commands are for the shell of Windows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub windows: bool,
}

/// An install, as its first log shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Install {
    pub packs: Vec<Pack>,
    pub baseline: BTreeMap<String, String>,
    /// The version that wrote the log has a flag that names the packs to be loaded.
    pub whitelist: bool,
    pub launch: Launch,
}

/// Reads the last session of a log.
pub fn install(view: &Context<'_>, packs: &Packs) -> Install {
    let session = view.session;
    let known = packs.flag_for(FlagRole::NodesKept);
    let older = known.is_some_and(|flag| match flag.since {
        crate::catalog::Since::At(since) => {
            view.span.before.is_some_and(|before| before <= since) || view.span.exact.is_some_and(|exact| exact < since)
        }
        _ => false,
    });
    Install {
        packs: installed(view, packs),
        baseline: baseline(session),
        whitelist: !older,
        launch: launch(view, packs),
    }
}

fn installed(view: &Context<'_>, packs: &Packs) -> Vec<Pack> {
    view.session
        .nodes
        .iter()
        .filter(|node| {
            !packs.is_own_folder(&node.dir)
                && (node.seconds.is_some() || packs.node_folders().any(|folder| node.path.contains(folder)))
        })
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

fn launch(view: &Context<'_>, packs: &Packs) -> Launch {
    let windows = view.os == Os::Windows;
    let container = view.in_container().is_some();
    let Some(start) = Start::of(view, packs) else {
        let id = String::new();
        return Launch { id, template: None, own_flags_unknown: true, settings: None, container, windows };
    };
    let slash = if windows { "\\" } else { "/" };
    let settings = view.session.text("user_dir").filter(|_| !start.def.settings.is_empty()).map(|user| {
        let file = start.def.settings.replace('/', slash);
        format!("{}{slash}{file}", user.trim_end_matches(['/', '\\']))
    });
    let template = start.command(&[PLACE]).map(|line| without_nodes_flags(&line, packs));
    let own_flags_unknown = !start.has_line() && view.session.flags.is_empty();
    Launch { id: start.def.id.clone(), template, own_flags_unknown, settings, container, windows }
}

/// The line without the flags that the rounds set themselves.
fn without_nodes_flags(line: &str, packs: &Packs) -> String {
    let mut listing = false;
    let kept = line.split(' ').filter(|word| {
        let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        let keeps = packs.plays(name, FlagRole::NodesKept);
        listing = (keeps && value.is_none()) || (listing && !word.starts_with("--") && *word != PLACE);
        !listing && !keeps && !packs.plays(name, FlagRole::NodesOff)
    });
    kept.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Packs, without_nodes_flags};

    #[test]
    fn flags_of_an_earlier_round_are_not_repeated() {
        let line = "python main.py --disable-all-custom-nodes --whitelist-custom-nodes A B --listen {flags}";
        let packs = Packs::built_in();
        let cleaned = |line| without_nodes_flags(line, &packs);
        assert_eq!(cleaned(line), "python main.py --listen {flags}");
        assert_eq!(cleaned("python main.py --whitelist-custom-nodes A {flags}"), "python main.py {flags}");
        assert_eq!(cleaned("python main.py --whitelist-custom-nodes=A --cpu {flags}"), "python main.py --cpu {flags}");
    }
}
