//! `triage --all`: every log in folders and archives, in a stable order, in bounded memory.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use rayon::prelude::*;
use tempfile::SpooledTempFile;

use super::inputs::Input;
use super::interruptible_input::InterruptibleInput;
use super::triage::{Telling, no_lines};
use super::{Console, Exit};
use crate::catalog::Packs;
use crate::input::{InputError, NameKind, ReadOptions, Source, tar_members, zip_members};
use crate::report::{Read, read_log};

/// Logs per processor that are read before they are told.
const AHEAD: usize = 4;

/// A log that waits to be read.
enum Waiting {
    Log(Input),
    Member(SpooledTempFile),
    Unread(InputError),
}

/// The logs that `inputs` come to: those in folders are sorted, and none comes twice.
pub(super) fn expand(inputs: Vec<Input>) -> Vec<Input> {
    let mut found = Vec::new();
    for input in inputs {
        match input {
            Input::File(path) if path.is_dir() => walk(&path, &mut found),
            input => found.push(input),
        }
    }
    let mut seen = HashSet::new();
    found.retain(|input| seen.insert(input.name()));
    found
}

/// Logs and archives in a folder and below, in the order of their names. Links to folders are not followed: they may
/// lead round in a circle.
fn walk(folder: &Path, found: &mut Vec<Input>) {
    let Ok(entries) = fs::read_dir(folder) else {
        // To be told as a row: it cannot be read.
        found.push(Input::File(folder.to_owned()));
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir());
        let is_log = path.file_name().is_some_and(|name| NameKind::of(&name.to_string_lossy()) != NameKind::Other);
        if is_folder {
            walk(&path, found);
        } else if is_log && !path.is_dir() {
            found.push(Input::File(path));
        }
    }
}

/// Reads and tells all of them.
pub(super) fn run(
    inputs: &[Input],
    packs: &Packs,
    attendant: &InterruptibleInput,
    telling: Telling<'_>,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let progress = attendant.files(inputs.len() as u64);
    let mut batch = Batch { waiting: Vec::new(), most: threads * AHEAD, packs, attendant, telling, progress };
    for input in inputs {
        let end = match archive(input) {
            None => batch.add(input.name(), Waiting::Log(input.clone()), console)?,
            Some((path, kind)) => batch.archive(input, path, kind, console)?,
        };
        batch.progress.inc(1);
        if end.is_break() {
            break;
        }
    }
    let _: ControlFlow<()> = batch.flush(console)?;
    batch.progress.finish_and_clear();
    batch.telling.end(console)
}

fn archive(input: &Input) -> Option<(&Path, NameKind)> {
    let Input::File(path) = input else { return None };
    let kind = NameKind::of(&path.file_name()?.to_string_lossy());
    kind.is_archive().then_some((path.as_path(), kind))
}

/// Logs that are read together and told in their order.
struct Batch<'b> {
    waiting: Vec<(String, Waiting)>,
    most: usize,
    packs: &'b Packs,
    attendant: &'b InterruptibleInput,
    telling: Telling<'b>,
    progress: ProgressBar,
}

impl Batch<'_> {
    fn add(&mut self, name: String, log: Waiting, console: &mut Console<'_>) -> io::Result<ControlFlow<()>> {
        self.waiting.push((name, log));
        if self.waiting.len() < self.most { Ok(ControlFlow::Continue(())) } else { self.flush(console) }
    }

    /// The logs of an archive; why it could not be read to its end is a row of its own.
    fn archive(
        &mut self,
        input: &Input,
        path: &Path,
        kind: NameKind,
        console: &mut Console<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let (attendant, mut told) = (self.attendant, Ok(ControlFlow::Continue(())));
        let mut each = |name: String, text: Result<SpooledTempFile, InputError>| {
            told = self.add(name, text.map_or_else(Waiting::Unread, Waiting::Member), console);
            match &told {
                Ok(flow) => *flow,
                Err(_) => ControlFlow::Break(()),
            }
        };
        let ended = match kind {
            NameKind::Zip => zip_members(path, attendant.bounds(), &mut each),
            _ => attendant.open(input).and_then(|source| tar_members(source, &mut each)),
        };
        let flow = told?;
        match ended {
            Err(error) => self.add(input.name(), Waiting::Unread(error), console),
            Ok(()) => Ok(flow),
        }
    }

    /// Reads those that wait, at the same time, and tells them in their order.
    fn flush(&mut self, console: &mut Console<'_>) -> io::Result<ControlFlow<()>> {
        let (attendant, packs) = (self.attendant, self.packs);
        let waiting = std::mem::take(&mut self.waiting);
        let logs: Vec<_> = waiting.into_par_iter().map(|(name, log)| read(name, log, attendant, packs)).collect();
        for (name, log) in logs {
            let telling = &mut self.telling;
            self.progress.suspend(|| telling.one(&name, log, &mut no_lines, console))?;
            if self.telling.ends(attendant) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn read(
    name: String,
    log: Waiting,
    attendant: &InterruptibleInput,
    packs: &Packs,
) -> (String, Result<Read, InputError>) {
    let source: Result<Source<'static>, InputError> = match log {
        Waiting::Log(input) => attendant.open(&input),
        Waiting::Member(text) => attendant.member(&name, text),
        Waiting::Unread(error) => Err(error),
    };
    let read = source.and_then(|source| read_log(source, packs, &ReadOptions::default()));
    (name, read)
}
