//! Where a class that ComfyUI does not have is written: a search below `custom_nodes` of the install at hand.
//!
//! Only files of that folder are read, links are not followed. A class of the same name is a hint, no proof: two
//! packs may have one.

use std::fs;
use std::path::{Path, PathBuf};

use super::report::{Candidate, Report};
use crate::catalog::Packs;
use crate::diagnosis::Messages;
use crate::timeline::Timeline;

/// Folders below a node pack that are looked into.
const DEPTH: usize = 8;
/// Files that are looked into at most.
const FILES: usize = 20_000;
/// Larger files hold data.
const FILE_BYTES: u64 = 4 * 1024 * 1024;
/// End of the names of files with code.
const CODE: &str = "py";

/// A place in the code of a node pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassSource {
    /// Folder below `custom_nodes`.
    pub dir: String,
    /// Path below `custom_nodes`, with `/`.
    pub path: String,
    pub line: u64,
}

/// Adds where the class of the answer's leak is written to the candidates, when ComfyUI itself has no such class.
/// `comfyui` is the folder that the user named; without it the folder that the log names counts, when it is here.
pub fn add_class_source(
    report: &mut Report,
    timeline: &Timeline,
    comfyui: Option<&Path>,
    packs: &Packs,
    messages: &Messages<'_>,
) {
    let Some(chosen) = report.findings.first_mut().filter(|finding| finding.id.is_leak()) else { return };
    let Some(class) = chosen.about.clone().filter(|class| !crate::diagnosis::is_core(packs, class)) else {
        return;
    };
    let folders = packs.node_folders().map(str::to_owned).collect::<Vec<_>>();
    let named = comfyui.map(Path::to_owned).or_else(|| folder_of(timeline, &folders));
    let Some(root) = named else { return };
    let Some(found) = folders.iter().find_map(|folder| class_source(&root.join(folder), &class)) else { return };
    let line = found.line.to_string();
    let reason = messages.text("candidate-source", &[("class", &class), ("path", &found.path), ("line", &line)]);
    chosen.candidates.retain(|candidate| candidate.why != "name-hint");
    chosen.candidates.insert(0, Candidate { dir: found.dir, why: "source".to_owned(), reason, at: None });
}

/// The install that wrote the log, by the paths in its import table, when it is on this machine.
fn folder_of(timeline: &Timeline, folders: &[String]) -> Option<PathBuf> {
    let session = timeline.sessions.last()?;
    let root = session.nodes.iter().find_map(|node| {
        let path = node.path.replace('\\', "/");
        folders.iter().find_map(|folder| path.split_once(&format!("/{folder}/")).map(|(root, _)| root.to_owned()))
    })?;
    Some(PathBuf::from(root)).filter(|root| root.is_dir())
}

/// The first place below `folder` at which `class` is defined, in the order of the names.
pub fn class_source(folder: &Path, class: &str) -> Option<ClassSource> {
    let mut left = FILES;
    for pack in listed(folder) {
        let dir = pack.file_name()?.to_string_lossy().into_owned();
        if let Some((file, line)) = search(&pack, class, DEPTH, &mut left) {
            let path = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            return Some(ClassSource { dir, path, line });
        }
    }
    None
}

fn search(path: &Path, class: &str, depth: usize, left: &mut usize) -> Option<(PathBuf, u64)> {
    let data = fs::symlink_metadata(path).ok()?;
    if data.is_dir() && depth > 0 {
        return listed(path).into_iter().find_map(|entry| search(&entry, class, depth - 1, left));
    }
    let is_code = path.extension().is_some_and(|end| end == CODE);
    if !data.is_file() || !is_code || data.len() > FILE_BYTES || *left == 0 {
        return None;
    }
    *left -= 1;
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().position(|line| defines(line, class))?;
    Some((path.to_owned(), line as u64 + 1))
}

/// The line begins the definition of this class and of no other.
fn defines(line: &str, class: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("class ") else { return false };
    let Some(rest) = rest.trim_start().strip_prefix(class) else { return false };
    rest.starts_with(['(', ':', ' ', '\t', '['])
}

/// Entries of a folder in the order of their names; none when it cannot be read.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_found_in_its_file_and_line_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let nodes = folder.path().join("custom_nodes");
        for (path, text) in [
            ("A-pack/__init__.py", "# class QuibbleNet is elsewhere\nclass QuibbleNetLoader:\n    pass\n"),
            ("B-pack/models/net.py", "import torch\n\n\nclass QuibbleNet(torch.nn.Module):\n    pass\n"),
            ("B-pack/readme.md", "class QuibbleNet:\n"),
        ] {
            let path = nodes.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(folder.path().join("main.py"), "class Outside:\n").unwrap();
        let found = class_source(&nodes, "QuibbleNet").unwrap();
        assert_eq!((found.dir.as_str(), found.path.as_str(), found.line), ("B-pack", "B-pack/models/net.py", 4));
        assert_eq!(class_source(&nodes, "Outside"), None, "outside of the folder nothing is read");
    }
}
