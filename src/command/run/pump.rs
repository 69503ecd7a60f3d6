//! Bytes from the child to where it would have written them, and into the log. Nothing else happens here.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::stamps::{Carry, Stamps};

const BLOCK: usize = 64 * 1024;
/// Before another try at a stream that is full and does not wait.
const FULL: Duration = Duration::from_millis(5);

/// The log, written to by one pump per stream.
#[derive(Debug, Clone)]
pub(super) struct Log(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    file: File,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
    at_line_start: bool,
    /// The last word was said: what a helper that outlives the program still writes comes too late.
    closed: bool,
}

impl Log {
    pub(super) fn new(file: File) -> Self {
        Self(Arc::new(Mutex::new(Inner { file, failed: None, at_line_start: true, closed: false })))
    }

    /// Appends bytes. A full disk must not stop ComfyUI: the failure is kept for the end.
    pub(super) fn append(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).append(bytes);
    }

    /// Appends lines of our own, from a line's beginning on; nothing follows them.
    pub(super) fn end(&self, lines: &[String]) -> Option<io::Error> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = if inner.at_line_start { String::new() } else { "\n".to_owned() };
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        inner.append(text.as_bytes());
        inner.closed = true;
        inner.failed.take()
    }
}

impl Inner {
    fn append(&mut self, bytes: &[u8]) {
        if self.failed.is_some() || self.closed {
            return;
        }
        match self.file.write_all(bytes) {
            Ok(()) => self.at_line_start = bytes.last().map_or(self.at_line_start, |last| *last == b'\n'),
            Err(error) => self.failed = Some(error),
        }
    }
}

/// Passes everything on until the end. When nobody reads what is passed on, the child is told so the usual way:
/// its pipe breaks.
pub(super) fn pump(mut from: impl Read, mut to: impl Write, log: &Log, stamps: &Stamps) {
    let mut block = vec![0; BLOCK];
    let mut carry = Carry::new();
    loop {
        let read = match from.read(&mut block) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            // A pseudo-terminal ends with an error when the last program has closed it.
            Err(_) => return,
        };
        let bytes = block.get(..read).unwrap_or_default();
        // The log first: should we be killed between the two, the line that was seen is in it.
        log.append(bytes);
        if write_patiently(&mut to, bytes).is_err() {
            return;
        }
        stamps.look(&mut carry, bytes);
    }
}

/// Writes everything. Another program on the same pipe or terminal may have made it one that does not wait.
fn write_patiently(to: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(FULL),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes three bytes, then refuses once, and so on.
    struct Reluctant(Vec<u8>, bool);

    impl Write for Reluctant {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            let taken = bytes.len().min(3);
            self.0.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stream_that_does_not_wait_gets_everything_all_the_same() {
        let mut to = Reluctant(Vec::new(), false);
        let file = tempfile::NamedTempFile::new().unwrap();
        pump(&b"got prompt\nhalf"[..], &mut to, &Log::new(file.reopen().unwrap()), &Stamps::default());
        assert_eq!(to.0, b"got prompt\nhalf");
    }

    #[test]
    fn nothing_follows_the_last_word() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let log = Log::new(file.reopen().unwrap());
        log.append(b"half");
        assert!(log.end(&["the end".to_owned()]).is_none());
        log.append(b"a helper speaks on\n");
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "half\nthe end\n");
    }
}
