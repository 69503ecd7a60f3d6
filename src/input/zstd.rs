//! zstd frames become bytes, one after the other, as `zstd` itself does with files that were appended to.
//!
//! The decoder checks the window of no first frame, so every head is looked at here.

use std::io::{self, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::bounds::Exceeded;

/// The largest window that the decoder takes.
const WIDEST: u64 = 100 * 1024 * 1024;
/// Bytes of a frame's longest head.
const HEAD: usize = 18;

/// Unpacks frames.
pub(super) struct ZstdFrames<R> {
    source: Peeked<R>,
    decoder: FrameDecoder,
    /// The largest window that may be used, in bytes.
    window: u64,
    open: bool,
}

impl<R: Read> ZstdFrames<R> {
    /// A window may be as large as `memory`.
    pub(super) fn new(source: R, memory: u64) -> Self {
        let source = Peeked { inner: source, held: Vec::new() };
        Self { source, decoder: FrameDecoder::new(), window: memory.min(WIDEST), open: false }
    }

    /// Goes to the next frame; false at the end of the data.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            let head = self.source.peek(HEAD)?;
            if head.is_empty() {
                return Ok(false);
            }
            if let Some(window) = window_of(head).filter(|window| *window > self.window) {
                return Err(Exceeded::window(window, self.window));
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.source.by_ref().take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::new(ErrorKind::InvalidData, error.to_string())),
            }
        }
    }
}

impl<R: Read> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.open {
                if !self.next_frame()? {
                    return Ok(0);
                }
                self.open = true;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.decoder.is_finished() {
                self.open = false;
                continue;
            }
            self.decoder
                .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.to_string()))?;
        }
    }
}

/// Bytes whose next ones can be looked at before they are read.
struct Peeked<R> {
    inner: R,
    held: Vec<u8>,
}

impl<R: Read> Peeked<R> {
    /// The next `count` bytes, or fewer at the end.
    fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.held.len() < count {
            let missing = (count - self.held.len()) as u64;
            if self.inner.by_ref().take(missing).read_to_end(&mut self.held)? == 0 {
                break;
            }
        }
        Ok(&self.held)
    }
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.held.is_empty() {
            return self.inner.read(buffer);
        }
        let read = self.held.as_slice().read(buffer)?;
        self.held.drain(..read);
        Ok(read)
    }
}

/// Bytes of the window that a frame's head asks for; none when it is no such head.
fn window_of(head: &[u8]) -> Option<u64> {
    let [0x28, 0xb5, 0x2f, 0xfd, about, rest @ ..] = head else { return None };
    if about & 0x20 == 0 {
        let byte = u64::from(*rest.first()?);
        let base = 1 << (10 + (byte >> 3));
        return Some(base + base / 8 * (byte & 7));
    }
    // One segment: the window is as large as the content, whose size stands behind the number of the dictionary.
    let dictionary = [0, 1, 2, 4].get(usize::from(about & 3))?;
    let length = *[1, 2, 4, 8].get(usize::from(about >> 6))?;
    let size = rest.get(*dictionary..dictionary + length)?;
    let size = size.iter().rev().fold(0_u64, |size, byte| size << 8 | u64::from(*byte));
    Some(if length == 2 { size + 256 } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    fn refused(head: &[u8], memory: u64) -> Option<Exceeded> {
        let data = [&[0x28, 0xb5, 0x2f, 0xfd], head, &[1, 0, 0]].concat();
        let error = ZstdFrames::new(data.as_slice(), memory).read(&mut [0; 8]).err()?;
        error.downcast::<Exceeded>().ok()
    }

    /// Also of a first frame, which the decoder would take.
    #[test]
    fn windows_are_held_against_the_bound() {
        let window = |need, allowed| Some(Exceeded::Window { need, allowed });
        assert_eq!(refused(&[0, (20 << 3)], 2048 * MIB), window(1024, 100));
        assert_eq!(refused(&[0, (16 << 3)], 32 * MIB), window(64, 32));
        assert_eq!(refused(&[0xe0, 0, 0, 0, 0, 1, 0, 0, 0], 2048 * MIB), window(4096, 100));
        assert_eq!(refused(&[0, (16 << 3)], 64 * MIB), None);
        assert_eq!(refused(&[0x20, 0], 64 * MIB), None);
    }
}
