//! What the reader hands on: one text at a time, with the place where it stands in the user's file.
//!
//! A *segment* is what ComfyUI meant as one line: a line of the file, or a part of one between
//! carriage returns, or a text glued behind a progress bar. Prefixes and ANSI codes are gone;
//! what they said (time, level, stream) is kept beside the text.

use serde::Serialize;

/// Where a segment stands in the user's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// Line of the user's file, from 1, counted by LF.
    pub line: u64,
    /// Part of the line, from 1, when the line held several (bars redrawn with CR, glued texts).
    #[serde(skip_serializing_if = "is_zero")]
    pub segment: u32,
    /// Entry of a JSON log, from 1; 0 when the file is no JSON log.
    #[serde(skip_serializing_if = "is_zero")]
    pub entry: u32,
    /// Offset in bytes of the line's start (in the decompressed stream of a packed file).
    pub byte: u64,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The level a line was logged with, by its tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Debug,
    /// ComfyUI's own level 15, from 0.30.0.
    Detail,
    Info,
    Warning,
    Error,
    Critical,
}

/// One text to be matched, borrowed from the reader's buffers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Segment<'a> {
    pub place: Place,
    /// Text without prefixes, ANSI codes, surrounding blanks and line end. UTF-8 unless the file held
    /// bytes that no encoding explains.
    pub text: &'a [u8],
    /// Blanks that stood before the text, after the prefixes (traceback frames are indented).
    pub indent: u32,
    /// Text of the time stamp as it stood in the prefix, if any.
    pub stamp: Option<&'a [u8]>,
    pub level: Option<Level>,
    /// A ComfyUI or logger level tag stood before the text; a line without one may continue a record.
    pub tagged: bool,
    /// A shell prompt (`$ `, `C:\>`) stood before the text, so it is a command that somebody typed.
    pub prompted: bool,
    /// The text followed a progress bar on the same line, without a line break.
    pub glued: bool,
    /// The line ended without a line break at the end of the input: it may be cut.
    pub cut: bool,
}

impl Segment<'_> {
    /// Neither a stamp nor a level stood before the text.
    pub fn is_bare(&self) -> bool {
        self.stamp.is_none() && !self.tagged
    }
}

/// The last frame of a progress bar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Bar {
    pub done: u64,
    pub total: u64,
    /// Seconds per step, from `2.50s/it` or the inverse of `1.2it/s`; absent when the bar says `?`.
    pub seconds_per_step: Option<f64>,
    /// Seconds since the bar began, as the frame shows them.
    pub elapsed: Option<f64>,
    /// Seconds that passed before the first step was counted, where a frame showed them.
    pub before_first: Option<f64>,
}

/// Receives what the reader finds, in the order of the file.
pub trait Sink {
    /// A text to match.
    fn segment(&mut self, segment: &Segment<'_>);

    /// The same for a text of which nothing is known but where it stands, as of nearly all texts.
    #[inline]
    fn plain(&mut self, text: &[u8], place: Place, indent: u32) {
        self.segment(&Segment { place, text, indent, ..Segment::default() });
    }

    /// A progress bar's last frame on this line.
    fn bar(&mut self, place: Place, bar: Bar);
}
