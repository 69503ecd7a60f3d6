//! Standard input and named pipes, on which a signal ends the waiting as well as the reading.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
#[cfg(unix)]
use std::sync::atomic::Ordering;
#[cfg(unix)]
use std::sync::mpsc::RecvTimeoutError;
#[cfg(unix)]
use std::time::Duration;

/// Between two looks at whether to stop.
#[cfg(unix)]
const MOMENT: Duration = Duration::from_millis(100);

/// A stream. One that nobody writes to must not keep a signal waiting.
#[cfg(unix)]
pub(super) struct Piped {
    /// Without a buffer of our own, so that the system knows what is left.
    pipe: File,
    stopped: Arc<AtomicBool>,
}

#[cfg(unix)]
impl Piped {
    /// The input, without a buffer of our own.
    ///
    /// # Errors
    /// When the system gives none.
    pub(super) fn new() -> io::Result<Self> {
        use std::os::fd::AsFd;
        let pipe = io::stdin().as_fd().try_clone_to_owned()?.into();
        Ok(Self { pipe, stopped: Arc::default() })
    }

    /// Waits for bytes until `stopped` is set.
    pub(super) fn until(self, stopped: &Arc<AtomicBool>) -> Self {
        Self { stopped: Arc::clone(stopped), ..self }
    }

    /// A named pipe or a device, read until `stopped` is set. Already to open it may wait for somebody who writes.
    ///
    /// # Errors
    /// When it cannot be opened, or `stopped` was set before it could.
    pub(super) fn at(path: &Path, stopped: &Arc<AtomicBool>) -> io::Result<Self> {
        let (sender, opened) = std::sync::mpsc::sync_channel(1);
        let path = path.to_owned();
        // When it is stopped, the thread goes on waiting until the program ends.
        std::thread::spawn(move || sender.send(File::open(path)));
        loop {
            match opened.recv_timeout(MOMENT) {
                Ok(file) => return Ok(Self { pipe: file?, stopped: Arc::clone(stopped) }),
                Err(_) if stopped.load(Ordering::Relaxed) => return Err(io::ErrorKind::Interrupted.into()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::Other.into()),
            }
        }
    }
}

#[cfg(unix)]
impl Read for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let moment = Timespec { tv_sec: 0, tv_nsec: MOMENT.subsec_nanos().into() };
        // What cannot be polled is read, and waits as long as it takes.
        while let Ok(0) | Err(rustix::io::Errno::INTR) =
            poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], Some(&moment))
        {
            if self.stopped.load(Ordering::Relaxed) {
                // The next read says why.
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        self.pipe.read(buffer)
    }
}

/// A stream, as the system gives it.
#[cfg(not(unix))]
pub(super) struct Piped(Box<dyn Read + Send>);

#[cfg(not(unix))]
impl Piped {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(Box::new(io::stdin())))
    }

    pub(super) fn at(path: &Path, _stopped: &Arc<AtomicBool>) -> io::Result<Self> {
        Ok(Self(Box::new(File::open(path)?)))
    }

    pub(super) fn until(self, _stopped: &Arc<AtomicBool>) -> Self {
        self
    }
}

#[cfg(not(unix))]
impl Read for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}
