//! How much a log may take: memory that it makes the reader hold, and bytes that a packed one unpacks to.

use std::io::{self, Read};

use thiserror::Error;

const MIB: u64 = 1024 * 1024;

/// What reading a log may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of memory that one log may make the reader hold at once.
    pub memory: u64,
    /// Bytes that a packed log may unpack to.
    pub unpacked: u64,
}

impl Default for Bounds {
    /// No log of ComfyUI needs as much; a file made to do harm is stopped in good time.
    fn default() -> Self {
        Self { memory: 128 * MIB, unpacked: 16 * 1024 * MIB }
    }
}

impl Bounds {
    /// The largest JSON text that is taken as a whole: what it becomes needs about eight times as much.
    #[must_use]
    pub(crate) fn json(self) -> usize {
        usize::try_from(self.memory / 8).unwrap_or(usize::MAX)
    }
}

/// A log that needs more than it may take. Told in the user's language by the sentence of its code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Exceeded {
    /// Unpacking needs a window that is too large.
    #[error("unpacking needs {need} MiB of memory, and {allowed} MiB are allowed")]
    Window { need: u64, allowed: u64 },
    /// There is no end to what it unpacks to.
    #[error("it unpacks to more than {allowed} MiB; --max-unpacked allows more")]
    Unpacked { allowed: u64 },
    /// An archive with too many files.
    #[error("it holds more than {allowed} files")]
    Members { allowed: u64 },
}

impl Exceeded {
    /// Sentences that tell it, in the packs.
    pub const SENTENCES: [&'static str; 3] = ["bound-window", "bound-unpacked", "bound-members"];

    /// A window of `need` bytes where `allowed` may be used.
    pub(crate) fn window(need: u64, allowed: u64) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, Self::Window { need: need.div_ceil(MIB), allowed: allowed / MIB })
    }
}

/// Bytes up to a bound, and an error where more would come.
pub(crate) struct Bounded<R> {
    inner: R,
    left: u64,
    allowed: u64,
}

impl<R> Bounded<R> {
    pub(crate) fn new(inner: R, allowed: u64) -> Self {
        Self::within(inner, allowed, allowed)
    }

    /// The same where others took their part of what is allowed.
    pub(crate) fn within(inner: R, left: u64, allowed: u64) -> Self {
        Self { inner, left, allowed }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(usize::try_from(self.left.max(1)).unwrap_or(usize::MAX));
        let read = self.inner.read(buffer.get_mut(..length).unwrap_or_default())?;
        if self.left == 0 && read > 0 {
            return Err(io::Error::other(Exceeded::Unpacked { allowed: self.allowed / MIB }));
        }
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole_and_what_does_not_is_cut_with_a_reason() {
        let read = |bytes: usize, allowed: u64| {
            let (text, mut out) = (vec![7_u8; bytes], Vec::new());
            let ended = Bounded::new(text.as_slice(), allowed).read_to_end(&mut out);
            (out.len(), ended.is_ok())
        };
        assert_eq!(read(10, 10), (10, true));
        assert_eq!(read(11, 10), (10, false));
        assert_eq!(read(0, 0), (0, true));
    }
}
