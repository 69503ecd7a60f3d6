//! ComfyUI and the user's script as children of this program: started, watched, ended.
//!
//! Only what was started here is ever signalled: a child that has not been waited for, or its process group while
//! that has members, so the number cannot be somebody else's by then. It is interrupted as Ctrl-C would, asked to end
//! when that does not help, and never killed. Whatever becomes of this program, also when it panics, it is ended.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a child has for its end after SIGTERM, and when this program must go.
const GRACE: Duration = Duration::from_secs(10);

/// A program that was started here.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    /// It leads a process group: what it started belongs to it.
    leads: bool,
}

/// How the waiting for something came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    Ready,
    Ended,
    Late,
    /// A signal asked this program to end.
    Stopped,
}

impl Server {
    /// Starts it with its whole output in `log`, whose first line is the command.
    pub(super) fn start(words: &[String], log: &Path) -> io::Result<Self> {
        let mut file = File::create(log)?;
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let shown = words.join(" ").replace('"', "'").replace(|letter: char| letter.is_control(), " ");
        writeln!(file, "comfy-triage run [COMMAND=\"{shown}\"]")?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            // A start script waits for the Python that it started and does not pass an interrupt on: both must get it.
            .process_group(0)
            .spawn()?;
        Ok(Self { child, leads: true })
    }

    /// A script that is waited for like a server.
    pub(super) fn of(child: Child) -> Self {
        Self { child, leads: false }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its status, when it has ended.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits until `ready` says so, it ends, the time is up, or `stopped`.
    pub(super) fn wait(
        &mut self,
        limit: Option<Duration>,
        mut ready: impl FnMut() -> bool,
        mut stopped: impl FnMut() -> bool,
    ) -> io::Result<Waited> {
        let until = limit.map(|limit| Instant::now() + limit);
        loop {
            if self.ended()?.is_some() {
                return Ok(Waited::Ended);
            }
            if stopped() {
                return Ok(Waited::Stopped);
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(Waited::Late);
            }
            if ready() {
                return Ok(Waited::Ready);
            }
            sleep(PAUSE);
        }
    }

    /// Interrupts it and waits; then asks it to end and waits once more. False when it is still there; then it is
    /// left alone.
    pub(super) fn end(&mut self, limit: Duration) -> io::Result<bool> {
        for (signal, limit) in [(Signal::INT, limit), (Signal::TERM, limit.min(GRACE))] {
            if self.is_gone()? {
                return Ok(true);
            }
            let Some(pid) = self.pid() else { return Ok(false) };
            let sent = if self.leads { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
            // It may have ended in this moment.
            if sent.is_err() && self.is_gone()? {
                return Ok(true);
            }
            sent?;
            let until = Instant::now() + limit;
            while Instant::now() < until {
                if self.is_gone()? {
                    return Ok(true);
                }
                sleep(PAUSE);
            }
        }
        self.is_gone()
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.id()).ok().and_then(Pid::from_raw)
    }

    /// It has ended, and so has what it started.
    fn is_gone(&mut self) -> io::Result<bool> {
        let ended = self.ended()?.is_some();
        Ok(ended && (!self.leads || self.pid().is_none_or(|pid| test_kill_process_group(pid).is_err())))
    }
}

impl Drop for Server {
    /// Nothing that was started is left behind.
    fn drop(&mut self) {
        // There is nobody to tell any more when it cannot be ended.
        let _ = self.end(GRACE);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let words = ["sh", "-c", "sleep 60; true"].map(str::to_owned);
        let server = Server::start(&words, &folder.path().join("x.log")).unwrap();
        let pid = server.pid().unwrap();
        let fell = catch_unwind(AssertUnwindSafe(|| {
            let _held = server;
            panic!("on purpose");
        }));
        assert!(fell.is_err());
        assert!(test_kill_process_group(pid).is_err(), "neither the shell nor what it started");
    }
}
