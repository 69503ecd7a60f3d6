//! ComfyUI and the user's script as children of this program: started, watched, ended.
//!
//! Only a child that was started here is ever signalled, while it has not been waited for, so its number cannot be
//! somebody else's by then. It is interrupted as Ctrl-C would, asked to end when that does not help, and never
//! killed. Whatever becomes of this program, also when it panics, the child is ended.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a child has for its end after SIGTERM, and when this program must go.
const GRACE: Duration = Duration::from_secs(10);

/// A program that was started here.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
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
            .spawn()?;
        Ok(Self { child })
    }

    /// A script that is waited for like a server.
    pub(super) fn of(child: Child) -> Self {
        Self { child }
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
            if self.ended()?.is_some() {
                return Ok(true);
            }
            let Some(pid) = i32::try_from(self.id()).ok().and_then(Pid::from_raw) else { return Ok(false) };
            kill_process(pid, signal)?;
            let until = Instant::now() + limit;
            while Instant::now() < until {
                if self.ended()?.is_some() {
                    return Ok(true);
                }
                sleep(PAUSE);
            }
        }
        Ok(self.ended()?.is_some())
    }
}

impl Drop for Server {
    /// Nothing that was started is left behind.
    fn drop(&mut self) {
        // There is nobody to tell any more when it cannot be ended.
        let _ = self.end(GRACE);
    }
}
