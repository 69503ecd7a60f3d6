//! Answers that go to a file, and pages that are opened in a browser.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Console, Ended, Exit};
use crate::catalog::Packs;
use crate::cli::AnswerFile;
use crate::diagnosis::Messages;
use crate::error::UsageError;

/// What a page of ours has near its beginning.
const OURS: &str = concat!("name=\"generator\" content=\"", env!("CARGO_PKG_NAME"));
/// Bytes in which that is looked for.
const HEAD: usize = 4096;

/// Runs a command whose answer goes to `output` instead of standard output.
pub(super) fn written(
    output: &AnswerFile,
    console: &mut Console<'_>,
    command: impl FnOnce(&mut Console<'_>) -> io::Result<Ended>,
) -> io::Result<Ended> {
    if let Some(log) = overwritten(output) {
        return Ok(Err(Box::new(UsageError::OutputIsLog { path: log.display().to_string() })));
    }
    let mut answer = anstream::StripStream::new(Vec::new());
    let mut inner = Console { out: &mut answer, err: console.err, around: console.around };
    let ended = command(&mut inner)?;
    let answer = answer.into_inner();
    if answer.is_empty() && !matches!(ended, Ok(Exit::Done)) {
        return Ok(ended);
    }
    let (path, wrote) = match &output.file {
        Some(path) => (path.clone(), fs::write(path, &answer)),
        None => beside(output.log(), &answer),
    };
    if let Err(source) = wrote {
        return Ok(Err(Box::new(UsageError::CannotWrite { path: path.display().to_string(), source })));
    }
    if output.open {
        open(&path, console)?;
    }
    Ok(ended)
}

/// A log of the call that the answer would be written over.
fn overwritten(output: &AnswerFile) -> Option<&PathBuf> {
    let file = fs::canonicalize(output.file.as_ref()?).ok()?;
    output.logs.iter().find(|log| fs::canonicalize(log).is_ok_and(|log| log == file))
}

/// Opens a page and says where it lies.
pub(super) fn open(path: &Path, console: &mut Console<'_>) -> io::Result<()> {
    let packs = Packs::built_in();
    let messages = Messages { packs: &packs, zh: console.around.chinese };
    writeln!(console.err, "{}", messages.text("page-written", &[("path", &path.display().to_string())]))?;
    if let Err(reason) = ::open::that_detached(path) {
        writeln!(console.err, "{}", messages.text("page-not-opened", &[("reason", &reason.to_string())]))?;
    }
    console.err.flush()
}

/// Writes a page beside the log; into the temporary folder where there is no log, no right to write, or a file of
/// that name which is none of ours.
pub(super) fn beside(log: Option<&Path>, page: &[u8]) -> (PathBuf, io::Result<()>) {
    let name = log
        .and_then(Path::file_name)
        .map_or_else(|| format!("{}.html", env!("CARGO_PKG_NAME")), |name| format!("{}.html", name.to_string_lossy()));
    if let Some(path) = log.map(|log| log.with_file_name(&name))
        && may_replace(&path)
        && fs::write(&path, page).is_ok()
    {
        return (path, Ok(()));
    }
    let path = std::env::temp_dir().join(name);
    let wrote = fs::write(&path, page);
    (path, wrote)
}

fn may_replace(path: &Path) -> bool {
    match fs::read(path) {
        Ok(there) => {
            let head = String::from_utf8_lossy(there.get(..HEAD).unwrap_or(&there)).into_owned();
            head.contains(OURS)
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_lies_beside_its_log_and_replaces_only_pages() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("comfyui.log");
        let page = format!("<meta {OURS} 1\">");
        assert_eq!(beside(Some(&log), page.as_bytes()).0, folder.path().join("comfyui.log.html"));
        assert_eq!(beside(Some(&log), b"again").0, folder.path().join("comfyui.log.html"), "its own page");
        let (other, wrote) = beside(Some(&log), page.as_bytes());
        assert!(wrote.is_ok());
        assert_eq!(other, std::env::temp_dir().join("comfyui.log.html"), "somebody else's file stays");
        fs::remove_file(other).unwrap();
    }
}
