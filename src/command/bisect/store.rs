//! Where sessions lie, and how they are changed: under a lock, whole or not at all.
//!
//! A change is written beside the file and put in its place in one step, so that a cut-off machine leaves the old
//! session or the new one. A lock keeps two programs apart; the revision notices whoever went around it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

use super::fault::BisectError;
use super::state::{FORMAT, State};

/// A session's file.
#[derive(Debug, Clone)]
pub(super) struct Store {
    path: PathBuf,
}

/// While it lives, nobody else changes the session.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// The system lets go of it when the program is gone, however it ended.
    _held: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Left behind, the file keeps nobody out.
        let _ = fs::remove_file(&self.path);
    }
}

impl Store {
    /// The file that was named, or the one of this name in the data folder.
    pub(super) fn of(name: &str, file: Option<&Path>) -> Result<Self, BisectError> {
        if let Some(file) = file {
            return Ok(Self { path: file.to_path_buf() });
        }
        let plain = !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
        if !plain {
            return Err(BisectError::Name { given: name.to_owned() });
        }
        let strategy = choose_base_strategy().map_err(|_| BisectError::NoFolder)?;
        Ok(Self { path: strategy.data_dir().join("comfy-triage").join("bisect").join(format!("{name}.json")) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Another file of the session, beside it: `NAME.json` has `NAME.suffix`.
    pub(super) fn beside(&self, suffix: &str) -> PathBuf {
        self.path.with_extension(suffix)
    }

    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// The session.
    ///
    /// # Errors
    /// There is none, it cannot be read, or a newer program wrote it.
    pub(super) fn load(&self) -> Result<State, BisectError> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(BisectError::NoSession { path: self.shown() });
            }
            Err(source) => return Err(BisectError::Read { path: self.shown(), source }),
        };
        let format =
            serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|value| value.get("format")?.as_u64());
        if let Some(format) = format.filter(|format| *format > u64::from(FORMAT)) {
            return Err(BisectError::Newer { path: self.shown(), format });
        }
        serde_json::from_str(&text).map_err(|source| BisectError::Broken { path: self.shown(), source })
    }

    /// Puts `state` in the place of what was loaded with its revision.
    ///
    /// # Errors
    /// Somebody changed the session in between, or it cannot be written.
    pub(super) fn save(&self, state: &mut State, _lock: &Lock) -> Result<(), BisectError> {
        if let Ok(now) = self.load()
            && now.revision != state.revision
        {
            return Err(BisectError::Changed { path: self.shown() });
        }
        state.revision += 1;
        self.replace(state).map_err(|source| BisectError::Write { path: self.shown(), source })
    }

    fn replace(&self, state: &State) -> std::io::Result<()> {
        let beside = self.beside(&format!("{}.tmp", std::process::id()));
        let written = (|| {
            let mut file = File::create(&beside)?;
            serde_json::to_writer_pretty(&mut file, state)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&beside, &self.path)
        })();
        if written.is_err() {
            // What is half written is of no use to anybody.
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// Puts a new session in the place of another, which is kept beside it as `NAME.prev`. Cut off at any moment, the old
    /// session or the new one stands in its place.
    ///
    /// # Errors
    /// The old one cannot be copied, or the new one not written.
    pub(super) fn replace_session(&self, state: &mut State, _lock: &Lock) -> Result<(), BisectError> {
        let kept = (|| {
            let beside = self.beside(&format!("{}.prev.tmp", std::process::id()));
            fs::copy(&self.path, &beside)?;
            File::open(&beside)?.sync_all()?;
            fs::rename(&beside, self.beside("prev"))
        })();
        state.revision = 1;
        kept.and_then(|()| self.replace(state)).map_err(|source| BisectError::Write { path: self.shown(), source })
    }

    /// Forgets the session. True when there was one.
    pub(super) fn remove(&self, _lock: &Lock) -> Result<bool, BisectError> {
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(source) => Err(BisectError::Write { path: self.shown(), source }),
        }
    }

    /// Keeps others out.
    ///
    /// # Errors
    /// Another program works on the session, or the folder cannot be written to.
    pub(super) fn lock(&self) -> Result<Lock, BisectError> {
        let path = self.beside("lock");
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|source| BisectError::Write { path: self.shown(), source })?;
        }
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let held = open.map_err(|source| BisectError::Write { path: self.shown(), source })?;
        match held.try_lock() {
            Ok(()) => Ok(Lock { path, _held: held }),
            Err(TryLockError::WouldBlock) => Err(BisectError::Locked),
            Err(TryLockError::Error(source)) => Err(BisectError::Write { path: self.shown(), source }),
        }
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
