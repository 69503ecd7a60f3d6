//! A git repository, asked for names and contents by git itself; nothing of it is run or checked out.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::tree::TreeError;

/// Files larger than this hold data, in bytes.
pub(super) const FILE_LIMIT: u64 = 2 * 1024 * 1024;

/// A repository, with or without a work tree.
pub(super) struct Repository<'p> {
    root: &'p Path,
}

impl<'p> Repository<'p> {
    pub(super) fn at(root: &'p Path) -> Self {
        Self { root }
    }

    fn failed(&self, asked: &str, reason: String) -> TreeError {
        TreeError::Git { path: self.root.display().to_string(), rev: asked.to_owned(), reason }
    }

    fn git(&self) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.root).env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1");
        command
    }

    fn output(&self, arguments: &[&str]) -> Result<String, TreeError> {
        let asked = arguments.last().copied().unwrap_or_default();
        let output = self.git().args(arguments).output().map_err(|error| self.failed(asked, error.to_string()))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(self.failed(asked, String::from_utf8_lossy(&output.stderr).trim().to_owned()))
        }
    }

    /// The lines that git prints.
    pub(super) fn lines(&self, arguments: &[&str]) -> Result<Vec<String>, TreeError> {
        Ok(self.output(arguments)?.lines().map(str::to_owned).collect())
    }

    /// Paths and objects of a revision's files, without those that are too large.
    pub(super) fn files(&self, rev: &str) -> Result<Vec<(String, String)>, TreeError> {
        // A revision that looks like an option must not become one.
        if rev.starts_with('-') {
            return Err(self.failed(rev, "a revision does not begin with `-`".to_owned()));
        }
        let listing = self.output(&["ls-tree", "-r", "-z", "-l", "--full-tree", rev])?;
        // Each row: `mode kind object size<tab>path`
        let file = |row: &str| {
            let (head, path) = row.split_once('\t')?;
            let mut fields = head.split_whitespace().skip(1);
            let (kind, object, size) = (fields.next()?, fields.next()?, fields.next()?.parse::<u64>().ok()?);
            (kind == "blob" && size <= FILE_LIMIT).then(|| (path.to_owned(), object.to_owned()))
        };
        Ok(listing.split('\0').filter_map(file).collect())
    }

    /// What the objects hold, in their order; what is no UTF-8 in them is replaced.
    pub(super) fn contents<'o>(&self, objects: impl Iterator<Item = &'o str>) -> Result<Vec<String>, TreeError> {
        let asked: Vec<&str> = objects.collect();
        let failed = |reason: String| self.failed("cat-file", reason);
        let mut child = self
            .git()
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let mut stdin = child.stdin.take().ok_or_else(|| failed("git takes no input".to_owned()))?;
        let lines: String = asked.iter().map(|object| format!("{object}\n")).collect();
        // Asking while reading: git stops when its output is not taken.
        let asking = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
        let mut answers = Vec::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_end(&mut answers).map_err(|error| failed(error.to_string()))?;
        }
        let written = asking.join().map_err(|_| failed("the question was not put".to_owned()))?;
        written.and_then(|()| child.wait()).map_err(|error| failed(error.to_string()))?;
        let mut rest = answers.as_slice();
        let mut contents = Vec::with_capacity(asked.len());
        for object in asked {
            let (text, later) = answer(rest).ok_or_else(|| failed(format!("no answer for {object}")))?;
            contents.push(String::from_utf8_lossy(text).into_owned());
            rest = later;
        }
        Ok(contents)
    }
}

/// One answer of `cat-file --batch`: `object blob size`, a line break, the bytes, a line break; of an object that is
/// not there, `object missing` alone.
fn answer(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'\n', bytes)?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let start = end + 1;
    let last = head.rsplit(' ').next()?;
    if last == "missing" {
        return Some((&[], bytes.get(start..)?));
    }
    let size: usize = last.parse().ok()?;
    Some((bytes.get(start..start + size)?, bytes.get(start + size + 1..)?))
}
