//! Fills the steps of the packs in for one log: its Python, its folders, its node packs, the way it was started.
//!
//! A step holds places such as `{pip}` or `{pack}`. What the log does not tell stays empty, and a step with an empty
//! place is not shown: the packs have a more general one behind it.

use std::collections::BTreeMap;

use super::Question;
use super::launcher::Launch;
use crate::catalog::messages::{Messages, fill};
use crate::catalog::{Packs, SignOf};
use crate::hypothesis::context::{Context, Os};
use crate::hypothesis::finding::Finding;
use crate::shell;

/// Stands for the log where it has no path, because it came through a pipe.
const NO_PATH: &str = "LOG";

/// Values that are typed words already.
const AS_TYPED: [&str; 1] = ["packages"];

/// What the places of a step stand for, in this log.
#[derive(Debug)]
pub struct Places {
    /// As people read it.
    plain: BTreeMap<String, String>,
    /// As a shell of that machine takes it for one word.
    quoted: BTreeMap<String, String>,
}

impl Places {
    /// Looks up everything that a step about `finding` may need. What is typed about the log itself is typed here.
    pub fn of(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, question: &Question) -> Self {
        let launch = Launch::of(view, messages.packs);
        let windows = view.os == Os::Windows;
        let mut places = Self { plain: BTreeMap::new(), quoted: BTreeMap::new() };
        for (name, value) in &finding.values {
            match AS_TYPED.contains(&name.as_str()) {
                true => places.put_as_is(name, value),
                false => places.put(name, value, windows),
            }
        }
        let facts = |name: &str| view.session.text(name);
        if let (Some(python), Some(path)) = (facts("required_by"), facts("requirements_path")) {
            let command =
                format!("{} -s -m pip install -r {}", shell::quoted(python, windows), shell::quoted(path, windows));
            places.put_as_is("requirements_command", &command);
        }
        if let Some(index) = facts("pytorch_version").and_then(torch_index) {
            places.put_as_is("torch_index", &index);
        }
        if let Some(port) = port_of(&finding.summary) {
            places.put_as_is("port", &port);
        }
        if let Some(node) = view.session.exceptions.iter().rev().find_map(|exception| exception.node.as_deref()) {
            places.put("node", node, windows);
        }
        let failed = view.session.nodes.iter().filter(|node| node.failed).map(|node| node.dir.as_str());
        let named: Vec<&str> = match finding.candidates.as_slice() {
            [] => failed.collect(),
            candidates => candidates.iter().map(|candidate| candidate.dir.as_str()).collect(),
        };
        // A name that a shell would take for something else stands in no step: the more general one is shown.
        let named: Vec<&str> = named.into_iter().filter(|name| shell::is_name(name, windows)).collect();
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
        let log = question.log.as_deref();
        let log = log.map_or_else(|| NO_PATH.to_owned(), |path| shell::quoted_for(question.here, path));
        places.put_as_is("log", &log);
        let python = python(view, messages.packs, launch.as_ref());
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

/// Where PyTorch's builds of this kind are: `2.9.1+cu130` names them by `cu130`.
fn torch_index(version: &str) -> Option<String> {
    let (_, build) = version.split_once('+')?;
    let known = ["cu", "rocm", "xpu", "cpu"].iter().any(|kind| build.starts_with(kind));
    let plain = build.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '.');
    (known && plain).then(|| format!("https://download.pytorch.org/whl/{build}"))
}

/// The port that an error's text names: `Port 8188 is`, `('127.0.0.1', 8188)`.
fn port_of(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let digit = |letter: char| letter.is_ascii_digit();
    let behind = lower.split_once("port ").map(|(_, rest)| rest).filter(|rest| rest.starts_with(digit));
    let rest = behind.or_else(|| lower.split_once("', ").map(|(_, rest)| rest))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (2..=5).contains(&digits.len()).then_some(digits)
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
fn python(view: &Context<'_>, packs: &Packs, launch: Option<&Launch<'_>>) -> String {
    if let Some(own) = launch.map(|launch| launch.def.python.as_str()).filter(|own| !own.is_empty()) {
        return own.to_owned();
    }
    if let Some(path) = view.session.text("python_path").filter(|path| path.contains(['/', '\\'])) {
        return path.to_owned();
    }
    let session = view.session;
    let of_nodes = session.nodes.iter().flat_map(|node| [node.library.as_deref(), node.reason.as_deref()]);
    let own = |text: &&str| !packs.shows(SignOf::UserSite, text);
    if let Some(python) = of_nodes.flatten().filter(own).find_map(interpreter) {
        return python;
    }
    let frames =
        view.session.exceptions.iter().flat_map(|exception| exception.first_frame.iter().chain(&exception.frames));
    frames.map(String::as_str).filter(own).find_map(interpreter).unwrap_or_else(|| "python".to_owned())
}

/// The interpreter whose packages lie on this path: `/opt/venv/lib/python3.12/site-packages/…` is of
/// `/opt/venv/bin/python`. An environment on Windows keeps it in `Scripts`, a whole Python in its own folder.
fn interpreter(path: &str) -> Option<String> {
    // A reason may hold the path in brackets.
    let path = path.rsplit_once('(').map_or(path, |(_, path)| path);
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
    use super::{BTreeMap, filled, interpreter, port_of, torch_index};

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
    fn ports_and_builds_are_read_from_texts() {
        assert_eq!(port_of("Port 8188 is already in use on address 127.0.0.1.").as_deref(), Some("8188"));
        assert_eq!(port_of("bind on address ('0.0.0.0', 8190): in use").as_deref(), Some("8190"));
        assert_eq!(port_of("a port is taken"), None);
        assert_eq!(torch_index("2.9.1+cu130").as_deref(), Some("https://download.pytorch.org/whl/cu130"));
        assert_eq!(torch_index("2.9.1"), None);
    }

    #[test]
    fn a_step_with_an_empty_place_is_none() {
        let places = BTreeMap::from([("pip".to_owned(), "python -m pip {x}".to_owned())]);
        assert_eq!(filled("{pip} install", &places).as_deref(), Some("python -m pip {x} install"));
        assert_eq!(filled("{pip} install {module}", &places), None);
    }
}
