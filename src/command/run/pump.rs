//! Bytes from the child to where it would have written them, and into the log. Nothing else happens here.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

const BLOCK: usize = 64 * 1024;

/// The log, written to by one pump per stream.
#[derive(Debug, Clone)]
pub(super) struct Log(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    file: File,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
    at_line_start: bool,
}

impl Log {
    pub(super) fn new(file: File) -> Self {
        Self(Arc::new(Mutex::new(Inner { file, failed: None, at_line_start: true })))
    }

    /// Appends bytes. A full disk must not stop ComfyUI: the failure is kept for the end.
    pub(super) fn append(&self, bytes: &[u8]) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.failed.is_none() {
            match inner.file.write_all(bytes) {
                Ok(()) => inner.at_line_start = bytes.last().map_or(inner.at_line_start, |last| *last == b'\n'),
                Err(error) => inner.failed = Some(error),
            }
        }
    }

    /// Appends lines of our own, from a line's beginning on.
    pub(super) fn lines(&self, lines: &[String]) -> Option<io::Error> {
        let at_line_start = self.0.lock().unwrap_or_else(PoisonError::into_inner).at_line_start;
        let mut text = if at_line_start { String::new() } else { "\n".to_owned() };
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        self.append(text.as_bytes());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failed.take()
    }
}

/// Passes everything on until the end. When nobody reads what is passed on, the child is told so the usual way:
/// its pipe breaks.
pub(super) fn pump(mut from: impl Read, mut to: File, log: &Log) {
    let mut block = vec![0; BLOCK];
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
        if to.write_all(bytes).is_err() {
            return;
        }
    }
}
