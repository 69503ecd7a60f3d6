//! Standard input, on which Ctrl-C ends the waiting as well as the reading.

#[cfg(unix)]
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
#[cfg(unix)]
use std::sync::atomic::Ordering;

/// Standard input. A pipe that nobody writes to must not keep Ctrl-C waiting.
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
}

#[cfg(unix)]
impl Read for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
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

/// Standard input, as the system gives it.
#[cfg(not(unix))]
pub(super) struct Piped(io::Stdin);

#[cfg(not(unix))]
impl Piped {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(io::stdin()))
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
