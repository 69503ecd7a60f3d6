//! A log on its way in: a bar on the terminal when it takes long, and Ctrl-C ends the reading, not the answer.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::SIGINT;

use super::inputs::Input;
use super::piped::Piped;
use crate::input::{InputError, Source};

/// What is read within this time needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// What shells report of a program that Ctrl-C ended.
pub(super) const INTERRUPTED: u8 = 130;

/// Opens logs and hears Ctrl-C: the first one ends the reading, a second one the program.
#[derive(Debug)]
pub(super) struct Attendant {
    stopped: Arc<AtomicBool>,
    /// What the report says of a log whose reading was stopped.
    words: String,
}

impl Attendant {
    /// Listens from here on.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn new(words: String) -> io::Result<Self> {
        let stopped = Arc::new(AtomicBool::new(false));
        // In this order: the first signal finds the flag unset and sets it.
        signal_hook::flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&stopped))?;
        signal_hook::flag::register(SIGINT, Arc::clone(&stopped))?;
        Ok(Self { stopped, words })
    }

    /// Ctrl-C came.
    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// What the report says of a log whose reading was stopped.
    pub(super) fn words(&self) -> String {
        self.words.clone()
    }

    /// Opens a log.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(&self, input: &Input) -> Result<Source<'static>, InputError> {
        match input {
            Input::Stdin => {
                let piped = Piped::new()
                    .map_err(|source| InputError::CannotRead { name: "standard input".to_owned(), source })?;
                Source::from_reader("standard input", self.attended(piped.until(&self.stopped), None))
            }
            Input::File(path) => Source::open_with(path, |file| {
                let bytes = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len());
                self.attended::<File>(file, bytes)
            }),
        }
    }

    fn attended<R>(&self, inner: R, bytes: Option<u64>) -> Attended<R> {
        Attended {
            inner,
            bytes,
            read: 0,
            begun: Instant::now(),
            bar: None,
            stopped: Arc::clone(&self.stopped),
            words: self.words.clone(),
        }
    }
}

/// Bytes of a file as they lie on the disk (packed or not), counted.
struct Attended<R> {
    inner: R,
    /// All there are, when known.
    bytes: Option<u64>,
    read: u64,
    begun: Instant,
    bar: Option<ProgressBar>,
    stopped: Arc<AtomicBool>,
    words: String,
}

impl<R: Read> Read for Attended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(io::Error::other(self.words.clone()));
        }
        let n = self.inner.read(buffer)?;
        self.read += n as u64;
        if self.bar.is_none() && self.begun.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.bytes));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.read);
        }
        Ok(n)
    }
}

impl<R> Drop for Attended<R> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// On standard error, and only on a terminal.
fn bar(bytes: Option<u64>) -> ProgressBar {
    let bar = bytes.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let template = if bytes.is_some() {
        "{binary_bytes} / {binary_total_bytes} {bar:30} {eta}"
    } else {
        "{binary_bytes}  {binary_bytes_per_sec}"
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style.progress_chars("=> "))
}
