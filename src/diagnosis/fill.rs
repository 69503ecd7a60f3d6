//! Fills the steps of the packs in for one log: its Python, its folders, its node packs, the way it was started.
//!
//! A step holds places such as `{pip}` or `{pack}`. What the log does not tell stays empty, and a step with an empty
//! place is not shown: the packs have a more general one behind it.

use std::collections::BTreeMap;

use super::launcher::Launch;
use crate::catalog::messages::{Messages, fill};
use crate::hypothesis::context::{Context, Os};
use crate::hypothesis::finding::Finding;
use crate::shell;

/// Stands for the log where it has no path, because it came through a pipe.
const NO_PATH: &str = "LOG";

/// What the places of a step stand for, in this log.
#[derive(Debug)]
pub struct Places {
    /// As people read it.
    plain: BTreeMap<String, String>,
    /// As a shell of that machine takes it for one word.
    quoted: BTreeMap<String, String>,
}

impl Places {
    /// Looks up everything that a step about `finding` may need. `log` is the path under which the log was read.
    pub fn of(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, log: Option<&str>) -> Self {
        let launch = Launch::of(view, messages.packs);
        let windows = view.os == Os::Windows;
        let mut places = Self { plain: BTreeMap::new(), quoted: BTreeMap::new() };
        for (name, value) in &finding.values {
            places.put(name, value, windows);
        }
        if let Some(node) = view.session.exceptions.iter().rev().find_map(|exception| exception.node.as_deref()) {
            places.put("node", node, windows);
        }
        let failed = view.session.nodes.iter().filter(|node| node.failed).map(|node| node.dir.as_str());
        let named: Vec<&str> = match finding.candidates.as_slice() {
            [] => failed.collect(),
            candidates => candidates.iter().map(|candidate| candidate.dir.as_str()).collect(),
        };
        if let Some(first) = named.first() {
            places.put("pack", first, windows);
            places.put("packs", &named.join(if messages.zh { "、" } else { ", " }), windows);
            if let Some(folder) = pack_folder(view, messages, launch.as_ref(), first) {
                places.put("requirements", &join(&folder, "requirements.txt"), windows);
                places.put("pack_folder", &folder, windows);
            }
        }
        if let Some(root) = root(view, messages, launch.as_ref()) {
            places.put("comfyui", &root, windows);
        }
        // A command for the log runs on this machine, whatever machine wrote the log.
        let log = log.map_or_else(|| NO_PATH.to_owned(), |path| shell::quoted(path, cfg!(windows)));
        places.put_as_is("log", &log);
        let python = python(view, launch.as_ref());
        let quoted = shell::quoted(&python, windows);
        // Without -s, packages of the user's own Python hide those of the portable one.
        let pip =
            if launch.as_ref().is_some_and(|launch| !launch.def.python.is_empty()) { "-s -m pip" } else { "-m pip" };
        places.put_as_is("pip", &format!("{quoted} {pip}"));
        places.put("python", &python, windows);
        places
    }

    fn put(&mut self, name: &str, value: &str, windows: bool) {
        self.plain.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        self.quoted.entry(name.to_owned()).or_insert_with(|| shell::quoted(value, windows));
    }

    fn put_as_is(&mut self, name: &str, value: &str) {
        for places in [&mut self.plain, &mut self.quoted] {
            places.insert(name.to_owned(), value.to_owned());
        }
    }

    /// A sentence with its places filled in; `None` when the log does not tell one of them.
    pub fn sentence(&self, text: &str) -> Option<String> {
        filled(text, &self.plain)
    }

    /// A command with its places filled in; `None` when the log does not tell one of them.
    pub fn command(&self, text: &str) -> Option<String> {
        filled(text, &self.quoted)
    }
}

fn filled(text: &str, places: &BTreeMap<String, String>) -> Option<String> {
    let known: Vec<(&str, &str)> = places.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    // Asked of the template and not of the result: a text of the log may hold braces of its own.
    let mut rest = text;
    while let Some((_, from)) = rest.split_once('{') {
        let (name, after) = from.split_once('}')?;
        known.iter().find(|(known, _)| *known == name)?;
        rest = after;
    }
    Some(fill(text, &known))
}

/// ComfyUI's own Python: as the log prints it, as this way of starting has it, or by where its packages lie.
fn python(view: &Context<'_>, launch: Option<&Launch<'_>>) -> String {
    if let Some(own) = launch.map(|launch| launch.def.python.as_str()).filter(|own| !own.is_empty()) {
        return own.to_owned();
    }
    if let Some(path) = view.session.text("python_path").filter(|path| path.contains(['/', '\\'])) {
        return path.to_owned();
    }
    let frames =
        view.session.exceptions.iter().flat_map(|exception| exception.first_frame.iter().chain(&exception.frames));
    frames.filter_map(|frame| interpreter(frame)).next().unwrap_or_else(|| "python".to_owned())
}

/// The interpreter whose packages lie on this path: `/opt/venv/lib/python3.12/site-packages/…` is of
/// `/opt/venv/bin/python`. An environment on Windows keeps it in `Scripts`, a whole Python in its own folder.
fn interpreter(path: &str) -> Option<String> {
    let (before, _) = path.split_once("site-packages")?;
    let before = before.trim_end_matches(['/', '\\']);
    if before.contains('\\') {
        let (home, lib) = before.rsplit_once('\\')?;
        let name = home.rsplit('\\').next().unwrap_or(home).to_lowercase();
        let environment = name.ends_with("env");
        return lib.eq_ignore_ascii_case("lib").then(|| match environment {
            true => format!("{home}\\Scripts\\python.exe"),
            false => format!("{home}\\python.exe"),
        });
    }
    let (lib, version) = before.rsplit_once('/')?;
    let home = lib.strip_suffix("/lib")?;
    version.starts_with("python").then(|| format!("{home}/bin/python"))
}

/// ComfyUI's folder: as this way of starting has it, as the log prints it, or by the folder of its node packs.
fn root(view: &Context<'_>, messages: &Messages<'_>, launch: Option<&Launch<'_>>) -> Option<String> {
    if let Some(own) = launch.map(|launch| launch.def.root.as_str()).filter(|own| !own.is_empty()) {
        return Some(own.to_owned());
    }
    if let Some(path) = view.session.text("install_path") {
        return Some(path.trim_end_matches(['/', '\\']).to_owned());
    }
    let folder = messages.packs.node_folders().next()?;
    paths(view).find_map(|path| {
        let (root, after) = path.split_once(folder)?;
        let root = root.strip_suffix(['/', '\\'])?;
        (after.starts_with(['/', '\\']) && !root.is_empty()).then(|| root.to_owned())
    })
}

/// Paths that the log names: of node packs, then of frames.
fn paths<'v>(view: &'v Context<'_>) -> impl Iterator<Item = &'v str> {
    let nodes = view.session.nodes.iter().map(|node| node.path.as_str());
    nodes.chain(view.session.exceptions.iter().flat_map(|exception| exception.frames.iter().map(String::as_str)))
}

/// The folder of a node pack, as a person finds it.
fn pack_folder(view: &Context<'_>, messages: &Messages<'_>, launch: Option<&Launch<'_>>, dir: &str) -> Option<String> {
    let folder = messages.packs.node_folders().next()?;
    if launch.is_none_or(|launch| launch.def.root.is_empty())
        && let Some(node) = view.session.nodes.iter().find(|node| node.dir == dir && node.path.contains(['/', '\\']))
    {
        return Some(node.path.clone());
    }
    let root = root(view, messages, launch);
    Some(root.map_or_else(|| join(folder, dir), |root| join(&join(&root, folder), dir)))
}

/// `name` inside `folder`, with the separator that the folder's path has.
fn join(folder: &str, name: &str) -> String {
    let separator = if folder.contains('\\') { '\\' } else { '/' };
    format!("{folder}{separator}{name}")
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, filled, interpreter};

    #[test]
    fn packages_tell_their_interpreter() {
        let of = |path| interpreter(path);
        assert_eq!(
            of("/opt/venv/lib/python3.12/site-packages/torch/x.py:1 f").as_deref(),
            Some("/opt/venv/bin/python")
        );
        assert_eq!(of(r"D:\ai\venv\Lib\site-packages\torch\x.py").as_deref(), Some(r"D:\ai\venv\Scripts\python.exe"));
        assert_eq!(of(r"c:\aki\python\lib\site-packages\numpy\x.py").as_deref(), Some(r"c:\aki\python\python.exe"));
        assert_eq!(of("/opt/ComfyUI/execution.py:1 f"), None);
    }

    #[test]
    fn a_step_with_an_empty_place_is_none() {
        let places = BTreeMap::from([("pip".to_owned(), "python -m pip {x}".to_owned())]);
        assert_eq!(filled("{pip} install", &places).as_deref(), Some("python -m pip {x} install"));
        assert_eq!(filled("{pip} install {module}", &places), None);
    }
}
