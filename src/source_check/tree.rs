//! A ComfyUI source tree: a folder, or a revision of a git repository. Both become Python texts by path.
//!
//! Git is called as a program and only asked for names and contents; nothing of the tree is run.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use miette::Diagnostic;

use crate::catalog::Version;

/// Files larger than this hold data.
const FILE_LIMIT: u64 = 2 * 1024 * 1024;
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
    tree.version = version(&tree.files);
    tree.files.retain(|path, _| path.ends_with(".py"));
    Ok(tree)
}

fn version(files: &BTreeMap<String, String>) -> Option<Version> {
    let line = |path: &str, name: &str| {
        let text = files.get(path)?;
        let mut values = text.lines().filter_map(|line| line.trim().strip_prefix(name)?.trim_start().strip_prefix('='));
        values.find_map(|value| Version::parse(value.trim().trim_matches(['"', '\''])))
    };
    line("comfyui_version.py", "__version__").or_else(|| line("pyproject.toml", "version"))
}

fn is_wanted(path: &str) -> bool {
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

// Long: one conversation with git, answer by answer.
fn of_git(root: &Path, rev: &str) -> Result<Tree, TreeError> {
    let shown = root.display().to_string();
    let failed = |reason: String| TreeError::Git { path: shown.clone(), rev: rev.to_owned(), reason };
    // A revision that looks like an option must not become one.
    if rev.starts_with('-') {
        return Err(failed("a revision does not begin with `-`".to_owned()));
    }
    let git = || {
        let mut command = Command::new("git");
        command.arg("-C").arg(root).env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1");
        command
    };
    let listed = git()
        .args(["ls-tree", "-r", "-z", "-l", "--full-tree", rev])
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !listed.status.success() {
        return Err(failed(String::from_utf8_lossy(&listed.stderr).trim().to_owned()));
    }
    let listing = String::from_utf8_lossy(&listed.stdout);
    let mut wanted = Vec::new();
    for row in listing.split('\0') {
        // `mode kind object size<tab>path`
        let Some((head, path)) = row.split_once('\t') else { continue };
        let mut fields = head.split_whitespace().skip(1);
        let (kind, object, size) =
            (fields.next(), fields.next(), fields.next().and_then(|size| size.parse::<u64>().ok()));
        if let (Some("blob"), Some(object), Some(size)) = (kind, object, size)
            && size <= FILE_LIMIT
            && is_wanted(path)
            && wanted.len() < FILES
        {
            wanted.push((path.to_owned(), object.to_owned()));
        }
    }
    let mut child = git()
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let mut stdin = child.stdin.take().ok_or_else(|| failed("git takes no input".to_owned()))?;
    let asked: String = wanted.iter().map(|(_, object)| format!("{object}\n")).collect();
    // Asking while reading: git stops when its output is not taken.
    let asking = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let mut answers = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut answers).map_err(|error| failed(error.to_string()))?;
    }
    let _ = asking.join();
    let _ = child.wait();
    let mut tree = Tree { name: format!("{shown} {rev}"), ..Tree::default() };
    let mut rest = answers.as_slice();
    for (path, _) in wanted {
        let Some((text, later)) = answer(rest) else { break };
        tree.files.insert(path, String::from_utf8_lossy(text).into_owned());
        rest = later;
    }
    Ok(tree)
}

/// One answer of `cat-file --batch`: `object blob size`, a line break, the bytes, a line break.
fn answer(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'\n', bytes)?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let size: usize = head.rsplit(' ').next()?.parse().ok()?;
    let start = end + 1;
    Some((bytes.get(start..start + size)?, bytes.get(start + size + 1..)?))
}
