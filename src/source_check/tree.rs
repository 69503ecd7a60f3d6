//! A ComfyUI source tree: a folder, or a revision of a git repository. Both become Python texts by path.
//!
//! Nothing of the tree is run.

use std::collections::BTreeMap;
use std::path::Path;

use miette::Diagnostic;

use super::git::{FILE_LIMIT, Repository};
use crate::catalog::Version;

/// Folders inside folders.
const DEPTH: usize = 12;
/// Files that are read.
const FILES: usize = 20_000;
/// Folders that are no part of ComfyUI, or that never speak to a user.
const PASSED_OVER: [&str; 9] =
    [".git", "venv", ".venv", "custom_nodes", "node_modules", "__pycache__", "tests", "tests-unit", "site-packages"];

/// Sources of one version.
#[derive(Debug, Default)]
pub struct Tree {
    /// As the user named it, with the revision.
    pub name: String,
    /// Texts of Python files by their path, with `/`.
    pub files: BTreeMap<String, String>,
    /// The version that the tree says it is.
    pub version: Option<Version>,
}

/// Why a tree cannot be read.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum TreeError {
    #[error("{path} is no source tree of ComfyUI")]
    #[diagnostic(
        code(comfy_triage::tree::not_comfyui),
        help("name the folder that holds main.py, or a git repository together with --rev")
    )]
    NotComfyui { path: String },
    #[error("{path} cannot be read")]
    #[diagnostic(code(comfy_triage::tree::unreadable), help("check that the folder exists and that you may read it"))]
    Unreadable {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("git could not read `{rev}` in {path}: {reason}")]
    #[diagnostic(
        code(comfy_triage::tree::git),
        help("`git -C {path} rev-parse {rev}` says whether the revision is there")
    )]
    Git { path: String, rev: String, reason: String },
}

/// Reads the tree in `path`: the folder as it is, or the revision `rev` of its repository. A repository without a
/// work tree is read at `HEAD`.
pub fn read_tree(path: &Path, rev: Option<&str>) -> Result<Tree, TreeError> {
    let shown = path.display().to_string();
    let mut tree = match rev {
        Some(rev) => of_git(path, rev)?,
        None if path.join("main.py").is_file() => of_folder(path)?,
        None if path.join("HEAD").is_file() && path.join("objects").is_dir() => of_git(path, "HEAD")?,
        None => return Err(TreeError::NotComfyui { path: shown }),
    };
    if !tree.files.contains_key("main.py") {
        return Err(TreeError::NotComfyui { path: shown });
    }
    tree.version = version_in(&tree.files);
    tree.files.retain(|path, _| path.ends_with(".py"));
    Ok(tree)
}

/// The version that the files say they are.
pub(super) fn version_in(files: &BTreeMap<String, String>) -> Option<Version> {
    let line = |path: &str, name: &str| {
        let text = files.get(path)?;
        let mut values = text.lines().filter_map(|line| line.trim().strip_prefix(name)?.trim_start().strip_prefix('='));
        values.find_map(|value| Version::parse(value.trim().trim_matches(['"', '\''])))
    };
    line("comfyui_version.py", "__version__").or_else(|| line("pyproject.toml", "version"))
}

/// A file that can hold texts or the version.
pub(super) fn is_wanted(path: &str) -> bool {
    let outside = path.split('/').any(|part| PASSED_OVER.contains(&part));
    !outside && (path.ends_with(".py") || path == "pyproject.toml")
}

fn of_folder(root: &Path) -> Result<Tree, TreeError> {
    let mut tree = Tree { name: root.display().to_string(), ..Tree::default() };
    walk(root, "", 0, &mut tree)?;
    Ok(tree)
}

fn walk(folder: &Path, prefix: &str, depth: usize, tree: &mut Tree) -> Result<(), TreeError> {
    let unreadable = |source: std::io::Error| TreeError::Unreadable { path: folder.display().to_string(), source };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() && depth < DEPTH && !PASSED_OVER.contains(&name.as_str()) {
            walk(&entry.path(), &format!("{path}/"), depth + 1, tree)?;
        } else if kind.is_file() && is_wanted(&path) && tree.files.len() < FILES {
            let small = entry.metadata().is_ok_and(|data| data.len() <= FILE_LIMIT);
            if small && let Ok(bytes) = std::fs::read(entry.path()) {
                tree.files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    Ok(())
}

fn of_git(root: &Path, rev: &str) -> Result<Tree, TreeError> {
    let repository = Repository::at(root);
    let mut wanted = repository.files(rev)?;
    wanted.retain(|(path, _)| is_wanted(path));
    wanted.truncate(FILES);
    let contents = repository.contents(wanted.iter().map(|(_, object)| object.as_str()))?;
    let files = wanted.into_iter().map(|(path, _)| path).zip(contents).collect();
    Ok(Tree { name: format!("{} {rev}", root.display()), files, ..Tree::default() })
}
