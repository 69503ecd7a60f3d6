//! Logs that are read more than once: first for what is private in them, then for the answer.
//!
//! What is piped in can be read only once, so it is kept, packed, in memory; nothing private goes to the disk.

use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::Console;
use super::inputs::Input;
use crate::answer::{learn, redactor};
use crate::input::{InputError, Source};
use crate::redact::Redactor;
use crate::report::{Labels, replaced};
use crate::rule::Packs;

/// A log that can be opened again.
#[derive(Debug, Clone)]
pub(super) struct Log {
    /// As given on the command line.
    pub(super) name: String,
    place: Kept,
}

#[derive(Debug, Clone)]
enum Kept {
    File(PathBuf),
    Packed(Arc<Vec<u8>>),
}

impl Log {
    /// Takes an input; a pipe is read to its end.
    pub(super) fn of(input: &Input) -> Result<Self, InputError> {
        let place = match input {
            Input::File(path) => Kept::File(path.clone()),
            Input::Stdin => Kept::Packed(Arc::new(pack(io::stdin().lock())?)),
        };
        Ok(Self { name: input.name(), place })
    }

    /// Opens it.
    pub(super) fn open(&self) -> Result<Source<'static>, InputError> {
        match &self.place {
            Kept::File(path) => Source::open(path),
            Kept::Packed(bytes) => Source::from_reader(self.name.clone(), unpack(bytes)),
        }
    }
}

fn pack(mut from: impl Read) -> Result<Vec<u8>, InputError> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let packed = io::copy(&mut from, &mut packer).and_then(|_| packer.finish());
    packed.map_err(|source| InputError::CannotRead { name: "standard input".to_owned(), source })
}

/// Only our own packing is taken off; what was piped in may be packed itself.
fn unpack(bytes: &Arc<Vec<u8>>) -> impl Read + 'static {
    flate2::read::GzDecoder::new(Cursor::new(Bytes(Arc::clone(bytes))))
}

struct Bytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Goes through all logs for what is private. A log that cannot be read is told, and left out.
pub(super) fn learn_all(
    inputs: &[Input],
    packs: &Packs,
    console: &mut Console<'_>,
) -> io::Result<(Vec<Log>, Redactor, bool)> {
    let mut redactor = redactor(packs);
    let mut logs = Vec::new();
    let mut all = true;
    for input in inputs {
        let log = Log::of(input).and_then(|log| learn(&|| log.open(), &mut redactor).map(|()| log));
        match log {
            Ok(log) => logs.push(log),
            Err(error) => {
                console.fault(&error)?;
                all = false;
            }
        }
    }
    Ok((logs, redactor, all))
}

/// Tells what was replaced, beside the output and not in it.
pub(super) fn tell(redactor: &Redactor, labels: &Labels<'_>, console: &mut Console<'_>) -> io::Result<()> {
    let text = replaced(&redactor.replaced(), labels, console.around.width());
    console.err.write_all(text.as_bytes())?;
    console.err.flush()
}
