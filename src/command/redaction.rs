//! Logs that are read more than once: first for what is private in them, then for the answer.
//!
//! What is piped in can be read only once, so it is kept, packed: in memory, or when it is large in a file without a name
//! that only this process can read and that is gone when it ends.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tempfile::SpooledData;

use super::inputs::Input;
use super::interruptible_input::{InterruptibleInput, is_pipe};
use super::{Console, Ended, Exit};
use crate::catalog::Packs;
use crate::error::UsageError;
use crate::input::{Bounds, InputError, Source};
use crate::redact::Redactor;
use crate::render::{Labels, replaced};
use crate::report::{Survey, learn, redactor};

/// Packed bytes that are kept in memory; more go to a file.
const IN_MEMORY: usize = 8 * 1024 * 1024;

/// A log that can be opened again.
#[derive(Debug, Clone)]
pub(super) struct Log {
    /// As given on the command line.
    pub(super) name: String,
    place: Kept,
    /// How much it may take.
    bounds: Bounds,
    /// How it is written, once it was gone through.
    pub(super) survey: Survey,
    /// Ctrl-C came while it was gone through for what is private.
    half_known: bool,
}

#[derive(Debug, Clone)]
enum Kept {
    File(PathBuf),
    Packed {
        bytes: Packed,
        /// What the report says of a pipe that Ctrl-C cut off before its end.
        cut: Option<String>,
    },
}

impl Log {
    /// Takes an input. A pipe, named or not, is read to its end, or until a signal ends it: it comes only once.
    pub(super) fn of(input: &Input, attendant: &InterruptibleInput) -> Result<Self, InputError> {
        let name = input.name();
        let pipe = match input {
            Input::File(path) if is_pipe(path) => attendant.pipe(path)?,
            Input::File(path) => return Ok(Self::new(name, Kept::File(path.clone()), attendant.bounds())),
            Input::Text { text, .. } => {
                let bytes = pack(&mut text.as_bytes(), &name)?;
                return Ok(Self::new(name, Kept::Packed { bytes, cut: None }, attendant.bounds()));
            }
            Input::Stdin => attendant.stdin().map_err(|source| unreadable("standard input", source))?,
        };
        let mut pipe = UntilStopped { inner: pipe, attendant, cut: None };
        let bytes = pack(&mut pipe, &name)?;
        Ok(Self::new(name, Kept::Packed { bytes, cut: pipe.cut }, attendant.bounds()))
    }

    fn new(name: String, place: Kept, bounds: Bounds) -> Self {
        Self { name, place, bounds, survey: Survey::default(), half_known: false }
    }

    /// A signal can cut it off while it is read: what was piped in lies here already.
    pub(super) fn is_file(&self) -> bool {
        matches!(self.place, Kept::File(_))
    }

    /// What was not gone through to its end: not everything private in it is known.
    pub(super) fn is_half_known(&self) -> bool {
        self.half_known
    }

    /// Opens it.
    pub(super) fn open(&self) -> Result<Source<'static>, InputError> {
        match &self.place {
            Kept::File(path) => Source::open_within(path, self.bounds),
            Kept::Packed { bytes, cut: None } => Source::within(self.name.clone(), unpack(bytes), self.bounds),
            Kept::Packed { bytes, cut: Some(messages) } => {
                Source::within(self.name.clone(), unpack(bytes).chain(Broken(messages.clone())), self.bounds)
            }
        }
    }

    /// The same, where Ctrl-C ends the reading of a file. What was piped in lies here whole and is read to its end:
    /// Ctrl-C has ended the pipe already, and all that came of it is to be answered.
    pub(super) fn open_attended(&self, attendant: &InterruptibleInput) -> Result<Source<'static>, InputError> {
        match &self.place {
            Kept::File(path) => attendant.open(&Input::File(path.clone())),
            Kept::Packed { .. } => self.open(),
        }
    }
}

/// A pipe that ends where Ctrl-C came.
struct UntilStopped<'a, R> {
    inner: R,
    attendant: &'a InterruptibleInput,
    cut: Option<String>,
}

impl<R> UntilStopped<'_, R> {
    /// Keeps that a signal came; false when none did.
    fn stop(&mut self) -> bool {
        self.cut = self.attendant.stopped().then(|| self.attendant.messages());
        self.cut.is_some()
    }
}

impl<R: Read> Read for UntilStopped<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cut.is_some() {
            return Ok(0);
        }
        let n = match self.inner.read(buffer) {
            // It waited for bytes, and does so no longer.
            Err(error) if error.kind() == io::ErrorKind::Interrupted && self.stop() => 0,
            read => read?,
        };
        // A pipe that ends by itself is whole, even when Ctrl-C is what ended the program before it.
        if n > 0 {
            self.stop();
        }
        Ok(n)
    }
}

fn unreadable(name: &str, source: io::Error) -> InputError {
    InputError::CannotRead { name: name.to_owned(), source }
}

/// An end that is none.
struct Broken(String);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(self.0.clone()))
    }
}

/// Packed bytes, in memory or in a file without a name.
#[derive(Debug, Clone)]
enum Packed {
    Memory(Arc<Vec<u8>>),
    File(Arc<Mutex<File>>),
}

fn pack(mut from: impl Read, name: &str) -> Result<Packed, InputError> {
    let mut packer = flate2::write::GzEncoder::new(tempfile::spooled_tempfile(IN_MEMORY), flate2::Compression::fast());
    let packed =
        io::copy(&mut from, &mut packer).and_then(|_| packer.finish()).map_err(|source| unreadable(name, source))?;
    Ok(match packed.into_inner() {
        SpooledData::InMemory(bytes) => Packed::Memory(Arc::new(bytes.into_inner())),
        SpooledData::OnDisk(file) => Packed::File(Arc::new(Mutex::new(file))),
    })
}

/// Only our own packing is taken off; what was piped in may be packed itself.
fn unpack(bytes: &Packed) -> impl Read + Send + 'static {
    flate2::read::GzDecoder::new(Bytes { packed: bytes.clone(), at: 0 })
}

/// Reads what was kept from its beginning, whoever else reads it.
struct Bytes {
    packed: Packed,
    at: u64,
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &self.packed {
            Packed::Memory(bytes) => {
                let from = usize::try_from(self.at).unwrap_or(usize::MAX).min(bytes.len());
                bytes.get(from..).unwrap_or_default().read(buffer)?
            }
            Packed::File(file) => {
                let mut file =
                    file.lock().map_err(|_| io::Error::other("the file with what was piped in is in use"))?;
                file.seek(SeekFrom::Start(self.at))?;
                file.read(buffer)?
            }
        };
        self.at += read as u64;
        Ok(read)
    }
}

/// Goes through all logs for what is private. A log that cannot be read is told, and left out. Ctrl-C ends it; the log
/// at hand is then the last, and half known.
pub(super) fn learn_all(
    inputs: &[Input],
    packs: &Packs,
    attendant: &InterruptibleInput,
    console: &mut Console<'_>,
) -> io::Result<(Vec<Log>, Redactor, bool)> {
    let mut redactor = redactor(packs);
    let mut logs = Vec::new();
    let mut all = true;
    for input in inputs {
        let log = Log::of(input, attendant)
            .and_then(|log| learn(&|| log.open_attended(attendant), &mut redactor).map(|survey| Log { survey, ..log }));
        let stopped = attendant.stopped();
        match log {
            Ok(mut log) => {
                log.half_known = stopped && log.is_file();
                logs.push(log);
            }
            Err(error) => {
                console.fault(&error)?;
                all = false;
            }
        }
        if stopped {
            break;
        }
    }
    Ok((logs, redactor, all))
}

/// Some log was not read, or not gone through, to its end, because a signal came.
pub(super) fn broken_off(inputs: &[Input], logs: &[Log], attendant: &InterruptibleInput) -> bool {
    attendant.stopped() && (logs.len() < inputs.len() || logs.iter().any(Log::is_half_known))
}

/// Says that a signal came too early for an answer.
pub(super) fn stopped(attendant: &InterruptibleInput, console: &mut Console<'_>) -> io::Result<Ended> {
    console.out.flush()?;
    console.fault(&UsageError::StoppedEarly)?;
    Ok(Ok(attendant.status().map_or(Exit::Refused, Exit::Passed)))
}

/// Says that a pipe was cut off where a signal came, and all of it up to there is answered.
pub(super) fn tell_cut(attendant: &InterruptibleInput, console: &mut Console<'_>) -> io::Result<()> {
    if attendant.stopped() {
        writeln!(console.err, "{}", attendant.messages())?;
    }
    Ok(())
}

/// Shows a report that was held back, unless something that was replaced stands in it; false then.
pub(super) fn show(held: &[u8], redactor: &Redactor, console: &mut Console<'_>) -> io::Result<bool> {
    let found = redactor.checker_of_report(Packs::built_in_texts()).text(&String::from_utf8_lossy(held));
    if !found.private.is_empty() {
        console.fault(&UsageError::StillPrivate { lines: numbers(&found.private) })?;
        return Ok(false);
    }
    console.out.write_all(held)?;
    console.out.flush()?;
    Ok(true)
}

/// `12, 88`.
pub(super) fn numbers(lines: &[u64]) -> String {
    lines.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Tells what was replaced, beside the output and not in it.
pub(super) fn tell(redactor: &Redactor, labels: &Labels<'_>, console: &mut Console<'_>) -> io::Result<()> {
    let text = replaced(&redactor.replaced(), labels, console.around.width());
    console.err.write_all(text.as_bytes())?;
    console.err.flush()
}
