//! Bytes of a log, in whatever form people keep it, become numbered lines of text.
//!
//! `read` takes a `Source` and tells a `Sink` about bars and texts; `Reader` does the same for bytes as they come.
//! What a text means is not decided here.

mod ansi;
mod archive;
mod bounds;
mod decode;
mod error;
mod issue;
mod json_log;
mod line;
mod odd;
mod page;
mod part;
mod prefix;
mod progress_bar;
mod raw;
mod record;
mod rows;
mod source;
mod split;
mod stamp;
#[cfg(test)]
mod tests;
mod zstd;

pub use archive::{EachMember, NameKind, tar_members, zip_members};
pub use bounds::{Bounds, Exceeded};
pub(crate) use decode::CodePage;
pub use error::InputError;
pub(crate) use issue::log_of_issue;
pub use line::{Bar, Level, Place, Segment, Sink};
pub use prefix::{DIALECTS, Dialect};
pub(crate) use prefix::{level as level_of, strip as stripped};
pub(crate) use raw::{Raw, RawLine};
pub use source::{Compression, Source};

use serde::Serialize;
use std::io::{ErrorKind, Read as _};

/// How to read.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Size of the blocks that are read, in bytes; no result depends on it.
    pub block_size: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { block_size: 256 * 1024 }
    }
}

/// What was read, apart from its texts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Intake {
    /// Bytes after unpacking.
    pub bytes: u64,
    /// Line breaks, plus one for an unfinished last line.
    pub lines: u64,
    /// `utf-8`, `utf-16le-bom`, `gbk`, …
    pub encoding: &'static str,
    pub compression: Option<Compression>,
    /// `lf`, `crlf`, `cr`, `mixed`, or `none` for a single line without a break.
    pub newline: &'static str,
    /// Set when the input was JSON that was understood.
    pub json: Option<JsonKind>,
    /// The input ended without a line break.
    pub cut_end: bool,
    /// Zero bytes in texts.
    pub nul_bytes: u64,
    /// Lines that are not UTF-8 (those of a known code page included).
    pub invalid_lines: u64,
    /// Lines (or parts between carriage returns) above 1 MiB; their rest was not looked at.
    pub long_lines: u64,
    /// Lines that the journal replaced by `[197B blob data]`.
    pub blob_lines: u64,
    pub blank_lines: u64,
    /// The beginning holds so many control bytes that this is no text.
    pub looks_binary: bool,
    /// The first texts, shortened.
    pub sample: Vec<String>,
    /// Why reading ended before the end; what was read until then counts.
    pub truncated_by_error: Option<String>,
}

/// Which JSON was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JsonKind {
    /// Entries or the text of ComfyUI's log buffer.
    Log,
    /// Anything else, flattened to `/key = value`.
    Values,
}

/// Reads the lines of a source to its end.
///
/// # Errors
/// When there was nothing to read.
pub fn read<S: Sink + ?Sized>(source: Source<'_>, sink: &mut S, options: &ReadOptions) -> Result<Intake, InputError> {
    let mut reader = Reader::new();
    reader.allow(source.bounds);
    let end = source.blocks(options, |block| reader.feed(block, sink))?;
    let mut intake = reader.finish(sink);
    end.tell(&mut intake);
    Ok(intake)
}

/// How a source ended.
#[derive(Debug, Default)]
pub(crate) struct SourceEnd {
    compression: Option<Compression>,
    /// Why reading ended before the end.
    error: Option<String>,
}

impl SourceEnd {
    /// Puts into `intake` what only the source knows.
    pub(crate) fn tell(self, intake: &mut Intake) {
        intake.compression = self.compression;
        intake.truncated_by_error = self.error;
    }
}

impl Source<'_> {
    /// Reads the next bytes; 0 at the end.
    fn next(&mut self, block: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.reader.read(block) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    /// Reads to the end, block by block. What was read before reading failed counts.
    ///
    /// # Errors
    /// When there was nothing to read.
    pub(crate) fn blocks(self, options: &ReadOptions, mut each: impl FnMut(&[u8])) -> Result<SourceEnd, InputError> {
        let mut source = self;
        let mut block = vec![0; options.block_size.max(1)];
        let (mut nothing, mut failed) = (true, None);
        loop {
            match source.next(&mut block) {
                Ok(0) => break,
                Ok(length) => {
                    nothing = false;
                    each(block.get(..length).unwrap_or(&block));
                }
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        let Self { name, compression, .. } = source;
        if nothing {
            return Err(match (failed, compression) {
                (None, _) => InputError::Empty { name },
                (Some(source), None) => InputError::CannotRead { name, source },
                (Some(source), Some(kind)) => InputError::packed(name, kind.name(), source),
            });
        }
        Ok(SourceEnd { compression, error: failed.map(|error| error.to_string()) })
    }
}

/// Takes bytes as they come.
#[derive(Default)]
pub struct Reader {
    /// Bytes taken so far.
    bytes: u64,
    unwide: decode::Unwide,
    text: Text,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Reader {
    /// Starts a new input.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The input may take so much. To be said before its first bytes.
    pub(crate) fn allow(&mut self, bounds: Bounds) {
        self.text.gate.allow(bounds.json());
    }

    /// Bytes taken so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes the next bytes, and tells the sink about all parts that end in them.
    pub fn feed<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) {
        if bytes.is_empty() {
            return;
        }
        self.bytes += bytes.len() as u64;
        let text = &mut self.text;
        self.unwide.feed(bytes, false, |kind, block| text.feed(kind, block, sink));
    }

    /// The writer pauses: what only waited for a continuation is told to the sink.
    pub fn settle<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        self.text.lines.parts.end_rows(sink);
    }

    /// Ends the input: what is still open is told to the sink.
    pub fn finish<S: Sink + ?Sized>(self, sink: &mut S) -> Intake {
        let Self { bytes, mut unwide, mut text } = self;
        unwide.feed(&[], true, |kind, block| text.feed(kind, block, sink));
        let mut intake = text.finish(sink);
        intake.bytes = bytes;
        if !matches!(intake.encoding, "gbk" | "gb18030" | "shift_jis" | "big5" | "euc-kr" | "euc-jp") {
            intake.encoding = unwide.kind().name;
        }
        intake
    }
}

/// Decoded text: on its way to lines, or kept until it is known to be JSON.
#[derive(Default)]
struct Text {
    begun: bool,
    kind: Option<decode::Kind>,
    look: Look,
    gate: json_log::Gate,
    lines: split::Lines,
}

impl Text {
    fn feed<S: Sink + ?Sized>(&mut self, kind: decode::Kind, block: &[u8], sink: &mut S) {
        if !self.begun {
            self.begun = true;
            self.kind = Some(kind);
            self.lines.begin(kind.mark, kind.wide);
        }
        self.look.at(block);
        let lines = &mut self.lines;
        self.gate.feed(block, |text| lines.feed(text, sink));
    }

    fn finish<S: Sink + ?Sized>(mut self, sink: &mut S) -> Intake {
        let mut json = None;
        if let Some(held) = self.gate.held() {
            let (mark, wide) = self.kind.map_or((0, false), |kind| (kind.mark, kind.wide));
            json = json_log::deliver(&held, mark, wide, &mut self.lines, sink);
            if json.is_none() {
                self.lines.feed(&held, sink);
            } else {
                self.lines.finish(sink);
                let mut intake = self.intake();
                let file = json_log::lines_of(&held);
                intake.lines = file.lines;
                intake.newline = file.newline;
                intake.cut_end = false;
                intake.json = json;
                return intake;
            }
        }
        // Asked before: the end closes an open line.
        let (lines, open) = (self.lines.lines(), self.lines.is_open());
        self.lines.finish(sink);
        let mut intake = self.intake();
        intake.lines = lines;
        intake.cut_end = open;
        intake.json = json;
        intake
    }

    fn intake(&mut self) -> Intake {
        let counts = std::mem::take(&mut self.lines.parts.counts);
        Intake {
            encoding: self.lines.parts.legacy.name().unwrap_or("utf-8"),
            newline: self.lines.newline(),
            nul_bytes: counts.nul_bytes,
            invalid_lines: counts.invalid_lines,
            long_lines: self.lines.long_lines,
            blob_lines: counts.blob_lines,
            blank_lines: counts.blank_lines,
            looks_binary: self.look.binary(),
            sample: counts.sample,
            ..Intake::default()
        }
    }
}

/// Counts control bytes at the beginning.
#[derive(Default)]
struct Look {
    seen: usize,
    controls: usize,
    zero_runs: usize,
    in_zeros: bool,
}

impl Look {
    const FIRST: usize = 64 * 1024;

    fn at(&mut self, block: &[u8]) {
        let room = Self::FIRST - self.seen;
        if room == 0 {
            return;
        }
        let block = block.get(..room).unwrap_or(block);
        self.seen += block.len();
        for byte in block {
            let usual = matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x08 | 0x07);
            if *byte == 0 {
                // A run counts once: a crash leaves long runs of zeros in honest logs.
                self.zero_runs += usize::from(!self.in_zeros);
            } else if *byte < 0x20 && !usual {
                self.controls += 1;
            }
            self.in_zeros = *byte == 0;
        }
    }

    fn binary(&self) -> bool {
        let strange = self.controls + self.zero_runs;
        strange >= 4 && strange * 50 > self.seen
    }
}
