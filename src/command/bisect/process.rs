//! ComfyUI as a child of this program: started, watched until it is ready, ended by an interrupt.
//!
//! Only the child that was started here is ever signalled, while it has not been waited for, so its number cannot
//! be somebody else's by then. It is interrupted as Ctrl-C would; it is never killed.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// A ComfyUI that was started here.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
}

impl Server {
    /// Starts it with its whole output in `log`.
    pub(super) fn start(words: &[String], log: &Path) -> io::Result<Self> {
        let file = File::create(log)?;
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        Ok(Self { child })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its status, when it has ended.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits until `ready` says so. False when it ended before, or the time is up.
    pub(super) fn wait_ready(&mut self, limit: Duration, mut ready: impl FnMut() -> bool) -> io::Result<bool> {
        let until = Instant::now() + limit;
        while self.ended()?.is_none() && Instant::now() < until {
            if ready() {
                return Ok(true);
            }
            sleep(PAUSE);
        }
        Ok(false)
    }

    /// Interrupts it and waits. False when it is still there after `limit`; then it is left alone.
    pub(super) fn end(&mut self, limit: Duration) -> io::Result<bool> {
        if self.ended()?.is_some() {
            return Ok(true);
        }
        let Some(pid) = i32::try_from(self.id()).ok().and_then(Pid::from_raw) else { return Ok(false) };
        kill_process(pid, Signal::INT)?;
        let until = Instant::now() + limit;
        while self.ended()?.is_none() {
            if Instant::now() >= until {
                return Ok(false);
            }
            sleep(PAUSE);
        }
        Ok(true)
    }
}
