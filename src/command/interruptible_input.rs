//! A log on its way in: a bar on the terminal when it takes long, and Ctrl-C or SIGTERM ends the reading,
//! not the answer.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};
use tempfile::SpooledTempFile;

use super::inputs::Input;
use super::piped::Piped;
use crate::input::{Bounds, InputError, Source};
use crate::render::Labels;

/// What is read within this time needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A signal that ends the reading.
struct Ending {
    signal: i32,
    /// What shells report of a program that it ended.
    status: u8,
    /// The sentence of a report on what was read until it came.
    sentence: &'static str,
}

/// Ctrl-C, and what service managers and container runtimes send.
const ENDINGS: [Ending; 2] = [
    Ending { signal: SIGINT, status: 130, sentence: "gap-stopped" },
    Ending { signal: SIGTERM, status: 143, sentence: "gap-terminated" },
];

/// Opens logs and hears signals that ask for an end: the first one ends the reading, a second one the program.
#[derive(Debug)]
pub(super) struct InterruptibleInput {
    stop: Arc<Stop>,
    /// Several logs may be read at the same time.
    bars: MultiProgress,
    bounds: Bounds,
}

/// Whether the reading is to end, and why.
#[derive(Debug)]
struct Stop {
    asked: Arc<AtomicBool>,
    /// The exit status for the last signal that came; 0 before there is one.
    status: Arc<AtomicUsize>,
    /// What the report says, beside the status.
    messages: Vec<(u8, String)>,
}

impl Stop {
    fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    fn status(&self) -> Option<u8> {
        let status = u8::try_from(self.status.load(Ordering::Relaxed)).unwrap_or(0);
        (self.is_asked() && status > 0).then_some(status)
    }

    fn messages(&self) -> String {
        let status = self.status();
        let messages = self.messages.iter().find(|(of, _)| Some(*of) == status).or(self.messages.first());
        messages.map_or_else(String::new, |(_, messages)| messages.clone())
    }
}

impl InterruptibleInput {
    /// Listens from here on.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn new(labels: &Labels<'_>, bounds: Bounds) -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let status = Arc::new(AtomicUsize::new(0));
        for ending in &ENDINGS {
            // In this order: the first signal finds the flag unset and sets it, and whoever sees it finds the status.
            let code = i32::from(ending.status);
            signal_hook::flag::register_conditional_shutdown(ending.signal, code, Arc::clone(&asked))?;
            signal_hook::flag::register_usize(ending.signal, Arc::clone(&status), usize::from(ending.status))?;
            signal_hook::flag::register(ending.signal, Arc::clone(&asked))?;
        }
        let messages = ENDINGS.iter().map(|ending| (ending.status, labels.plain(ending.sentence, &[]))).collect();
        Ok(Self { stop: Arc::new(Stop { asked, status, messages }), bars: MultiProgress::new(), bounds })
    }

    /// How much each log may take.
    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The reading was asked to end.
    pub(super) fn stopped(&self) -> bool {
        self.stop.is_asked()
    }

    /// The exit status of a program whose reading was asked to end.
    pub(super) fn status(&self) -> Option<u8> {
        self.stop.status()
    }

    /// What the report says of a log whose reading was stopped.
    pub(super) fn messages(&self) -> String {
        self.stop.messages()
    }

    /// Standard input, on which the wait for bytes ends too.
    ///
    /// # Errors
    /// When the system gives none.
    pub(super) fn stdin(&self) -> io::Result<Piped> {
        Ok(Piped::new()?.until(&self.stop.asked))
    }

    /// Opens a log.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(&self, input: &Input) -> Result<Source<'static>, InputError> {
        match input {
            Input::Stdin => {
                let piped = self
                    .stdin()
                    .map_err(|source| InputError::CannotRead { name: "standard input".to_owned(), source })?;
                Source::within("standard input", self.attended(piped, None), self.bounds)
            }
            Input::File(path) if is_pipe(path) => {
                Source::within(path.display().to_string(), self.attended(self.pipe(path)?, None), self.bounds)
            }
            Input::Text { name, text } => {
                Source::within(name.clone(), io::Cursor::new(Vec::from(text.as_bytes())), self.bounds)
            }
            Input::File(path) => Source::open_with(path, self.bounds, |file| {
                let bytes = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len());
                self.attended::<File>(file, bytes)
            }),
        }
    }

    /// A log that was taken out of an archive.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn member(&self, name: &str, text: SpooledTempFile) -> Result<Source<'static>, InputError> {
        Source::within(name, self.attended(text, None), self.bounds)
    }

    /// A bar that counts files.
    pub(super) fn files(&self, count: u64) -> ProgressBar {
        let style = ProgressStyle::with_template("{pos} / {len} {bar:30} {eta}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
        self.bars.add(ProgressBar::new(count).with_style(style))
    }

    /// A named pipe or a device, on which the wait for somebody who writes ends too.
    ///
    /// # Errors
    /// When it cannot be opened, or a signal came first.
    pub(super) fn pipe(&self, path: &Path) -> Result<Piped, InputError> {
        let name = path.display().to_string();
        Piped::at(path, &self.stop.asked).map_err(|error| {
            if self.stopped() {
                InputError::CannotRead { name, source: io::Error::other(self.messages()) }
            } else {
                InputError::opening(name, error)
            }
        })
    }

    fn attended<R>(&self, inner: R, bytes: Option<u64>) -> Attended<R> {
        let (stop, bars) = (Arc::clone(&self.stop), self.bars.clone());
        Attended { inner, bytes, read: 0, begun: Instant::now(), bar: None, bars, stop }
    }
}

/// A named pipe or a device: to open it, or to read on, may take as long as somebody else wants.
pub(super) fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// Bytes of a file as they lie on the disk (packed or not), counted.
struct Attended<R> {
    inner: R,
    /// All there are, when known.
    bytes: Option<u64>,
    read: u64,
    begun: Instant,
    bar: Option<ProgressBar>,
    bars: MultiProgress,
    stop: Arc<Stop>,
}

impl<R: Read> Read for Attended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_asked() {
            return Err(io::Error::other(self.stop.messages()));
        }
        let n = self.inner.read(buffer)?;
        self.read += n as u64;
        if self.bar.is_none() && self.begun.elapsed() >= PATIENCE {
            self.bar = Some(self.bars.add(bar(self.bytes)));
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
