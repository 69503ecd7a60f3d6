//! Where sessions lie, and how they are changed: under a lock, whole or not at all.
//!
//! A change is written beside the file and put in its place in one step, so that a cut-off machine leaves the old
//! session or the new one. A lock keeps two programs apart; the revision notices whoever went around it.

use std::fs::{self, File, OpenOptions};
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
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Left behind it would be found by its process number; nothing else can be done here.
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
        for _ in 0..2 {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let written = writeln!(file, "{}", std::process::id());
                    let lock = Lock { path };
                    return written.map(|()| lock).map_err(|source| BisectError::Write { path: self.shown(), source });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists && is_left_behind(&path) => {
                    let _ = fs::remove_file(&path);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => break,
                Err(source) => return Err(BisectError::Write { path: self.shown(), source }),
            }
        }
        Err(BisectError::Locked { lock: path.display().to_string() })
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

/// The program that made the lock is gone. Only where the system tells; elsewhere the user decides.
fn is_left_behind(lock: &Path) -> bool {
    let processes = Path::new("/proc/self");
    let owner = fs::read_to_string(lock).ok().and_then(|text| text.trim().parse::<u32>().ok());
    processes.exists() && owner.is_some_and(|owner| !Path::new("/proc").join(owner.to_string()).exists())
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
