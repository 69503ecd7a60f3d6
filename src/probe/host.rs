//! The machine as a probe sees it, behind a trait, so that tests can make up machines.
//!
//! Nothing is written; programs that are run only report.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Largest file that is read: `mountinfo` of a host with thousands of containers.
const FILE_LIMIT: u64 = 8 * 1024 * 1024;
/// A driver that hangs answers never.
const PROGRAM_LIMIT: Duration = Duration::from_secs(5);

/// Files, variables and programs of a machine.
pub trait Host {
    /// The whole text of a file with an absolute path.
    ///
    /// # Errors
    /// As the system says; also for files above 8 MiB.
    fn read(&self, path: &str) -> io::Result<String>;
    /// Something of this path is there.
    fn exists(&self, path: &str) -> bool;
    /// An environment variable that is not empty.
    fn env(&self, name: &str) -> Option<String>;
    /// What a program prints. `None` when it is not there, fails, or takes more than five seconds.
    fn run(&self, program: &str, arguments: &[&str]) -> Option<String>;
    /// `linux`, `windows`, `macos`, …
    fn system(&self) -> &str;
}

/// A machine whose files lie below a folder: `/`, or a tree that a test made.
#[derive(Debug, Clone)]
pub struct Root {
    base: PathBuf,
    system: String,
    /// Environment and programs are those of this process.
    own: bool,
}

impl Root {
    /// This machine.
    pub fn this() -> Self {
        Self { base: PathBuf::from("/"), system: std::env::consts::OS.to_owned(), own: true }
    }

    /// A made-up Linux below `base`, without variables and programs.
    pub fn below(base: &Path) -> Self {
        Self { base: base.to_owned(), system: "linux".to_owned(), own: false }
    }

    /// The same for another system.
    #[must_use]
    pub fn of_system(mut self, system: &str) -> Self {
        self.system = system.to_owned();
        self
    }

    fn place(&self, path: &str) -> PathBuf {
        self.base.join(path.trim_start_matches('/'))
    }
}

impl Host for Root {
    fn read(&self, path: &str) -> io::Result<String> {
        let mut bytes = Vec::new();
        File::open(self.place(path))?.take(FILE_LIMIT + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > FILE_LIMIT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn exists(&self, path: &str) -> bool {
        self.place(path).exists()
    }

    fn env(&self, name: &str) -> Option<String> {
        self.own.then(|| std::env::var(name).ok()).flatten().filter(|value| !value.is_empty())
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Option<String> {
        self.own.then(|| printed_by(program, arguments)).flatten()
    }

    fn system(&self) -> &str {
        &self.system
    }
}

fn printed_by(program: &str, arguments: &[&str]) -> Option<String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut pipe = child.stdout.take()?;
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        pipe.by_ref().take(FILE_LIMIT).read_to_end(&mut text).map(|_| text)
    });
    let until = Instant::now() + PROGRAM_LIMIT;
    let status = loop {
        match child.try_wait().ok()? {
            Some(status) => break status,
            None if Instant::now() >= until => {
                // Only the child started above; whatever becomes of it, its answer is not waited for.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    };
    let text = reader.join().ok()?.ok()?;
    status.success().then(|| String::from_utf8_lossy(&text).into_owned())
}
