//! One part of a line (between carriage returns) becomes bars and segments for the sink.
//!
//! Calls `decode`, `ansi`, `bar` and `prefix` where the bytes ask for it; bars wait in `frames` until they are the last
//! of their series, texts go out by `hand_over`. Knows nothing of blocks; keeps no part after it was handed on.

mod frames;
mod hand_over;

use super::decode::Legacy;
use super::line::{Level, Place, Sink};
use super::odd::has_odd;
use super::progress_bar;
use super::rows::Rows;
use super::{ansi, page, prefix, record, stamp};
use frames::Frames;

/// How many pieces (bars, texts) one part may hold; what follows stays one text.
const PIECES: usize = 256;
/// How many lines are kept as a sample of the input.
const SAMPLE: usize = 3;

/// How a part ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// A carriage return; the line goes on.
    Cr,
    /// A line break.
    Line,
    /// The end of the input.
    Input,
}

/// What was counted while parts were read.
#[derive(Debug, Default, Clone)]
pub(crate) struct Counts {
    pub(crate) nul_bytes: u64,
    pub(crate) invalid_lines: u64,
    pub(crate) blob_lines: u64,
    pub(crate) blank_lines: u64,
    pub(crate) sample: Vec<String>,
}

/// Where a text stands, and what stands around it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spot {
    pub(crate) place: Place,
    /// It follows a bar on the same line.
    pub(crate) glued: bool,
    /// It is the end of the input, without a line break.
    pub(crate) cut: bool,
}

/// Turns parts into bars and segments.
pub(crate) struct Parts {
    pub(crate) counts: Counts,
    pub(crate) legacy: Legacy,
    /// Number of the part within its line, from 0.
    part: u32,
    frames: Frames,
    /// See [`Parts::is_calm`].
    calm: bool,
    /// The line held a bar.
    barred: bool,
    /// Invalid bytes were seen on this line.
    invalid: bool,
    /// The log buffer's stamps were seen, so they may stand inside lines too.
    buffered: bool,
    /// The next line goes on with a typed command.
    continued: bool,
    /// A level tag stood alone on the line before.
    tag: Option<(u64, Level)>,
    /// A message in a column of its own, which may go on below.
    rows: Rows,
    /// Stamp of the entry that the line began in.
    pub(crate) entry_stamp: Vec<u8>,
    decoded: Vec<u8>,
    stripped: Vec<u8>,
    joined: Vec<u8>,
}

impl Parts {
    pub(crate) fn new() -> Self {
        Self {
            counts: Counts::default(),
            legacy: Legacy::new(),
            part: 0,
            frames: Frames::new(),
            calm: false,
            barred: false,
            invalid: false,
            buffered: false,
            continued: false,
            tag: None,
            rows: Rows::default(),
            entry_stamp: Vec::new(),
            decoded: Vec::new(),
            stripped: Vec::new(),
            joined: Vec::new(),
        }
    }

    /// Takes the next part; `odd` tells whether it holds bytes other than plain text (see `split`).
    #[inline]
    pub(crate) fn take<S: Sink + ?Sized>(&mut self, raw: &[u8], odd: bool, end: End, line: Place, sink: &mut S) {
        let text = trim_end(raw);
        if odd && progress_bar::fills(text) {
            self.hold_unread(text, line, sink);
        } else if !text.is_empty() {
            let several = end == End::Cr || self.part > 0;
            let place = Place { segment: if several { self.part + 1 } else { 0 }, ..line };
            if text.starts_with(b"{\"")
                && let Some(record) = record::text_of(text)
            {
                // Bars and colours may stand inside; what a record holds is read as a line of its own.
                for line in record.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty()) {
                    self.odd_text(line, place, end == End::Input, sink);
                }
            } else if odd || self.part > 0 || self.buffered {
                self.odd_text(text, place, end == End::Input, sink);
            } else {
                self.plain_text(text, place, end == End::Input, sink);
            }
        } else if end == End::Line && self.part == 0 {
            self.counts.blank_lines += 1;
        }
        match end {
            End::Cr => self.part = self.part.saturating_add(1),
            End::Line | End::Input => self.line_ends(sink),
        }
        self.calm = self.is_calm();
    }

    /// Takes a whole line if it is plain; false when it needs a closer look. Nearly all lines of a plain log end here.
    #[inline]
    pub(crate) fn take_plain<S: Sink + ?Sized>(&mut self, raw: &[u8], line: Place, sink: &mut S) -> bool {
        if !self.calm || !self.entry_stamp.is_empty() {
            return false;
        }
        let text = trim_end(raw);
        let indent = prefix::leading(text);
        let text = text.get(indent..).unwrap_or_default();
        // See `take` and `plain_text` for what these may mean.
        let special = matches!(text, [b'{', b'"', ..] | [.., b'-' | b']' | b'>']) || raw.get(10) == Some(&b'T');
        if special || has_odd(text) || !prefix::is_bare(text) {
            return false;
        }
        sink.plain(text, line, u32::try_from(indent).unwrap_or(u32::MAX));
        true
    }

    /// Nothing that was seen before has a say in what the next line is.
    fn is_calm(&self) -> bool {
        let fresh = self.part == 0 && !self.barred && !self.invalid && !self.frames.wait();
        let usual = !self.buffered && !self.continued && self.tag.is_none() && !self.rows.were_seen();
        fresh && usual && self.counts.sample.len() >= SAMPLE
    }

    /// Frames that others redraw: they take part in nothing but the numbers of parts.
    #[inline]
    pub(crate) fn skip_frames(&mut self, count: u32) {
        self.part = self.part.saturating_add(count);
        self.calm = false;
    }

    #[inline]
    fn line_ends<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if self.part > 0 || self.barred || self.invalid {
            self.part = 0;
            self.frames.release(sink);
            self.barred = false;
            self.counts.invalid_lines += u64::from(std::mem::take(&mut self.invalid));
        }
    }

    /// A frame that may still be redrawn, of which all but its percentage is still to be read.
    #[inline]
    fn hold_unread<S: Sink + ?Sized>(&mut self, text: &[u8], line: Place, sink: &mut S) {
        self.bar_begins(sink);
        self.frames.hold_unread(text, Place { segment: self.part + 1, ..line }, sink);
    }

    #[inline]
    fn bar_begins<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        self.barred = true;
        self.end_rows(sink);
    }

    #[inline]
    fn plain_text<S: Sink + ?Sized>(&mut self, text: &[u8], place: Place, cut: bool, sink: &mut S) {
        if matches!(text.last(), Some(b'-' | b'>')) || (text.get(10) == Some(&b'T') && stamp::of_buffer(text).is_some())
        {
            self.odd_text(text, place, cut, sink);
        } else if text.last() == Some(&b']') && progress_bar::endless(text) {
            self.barred = true;
        } else if text.last() == Some(&b']') && progress_bar::continued(text).is_some() {
            self.pieces(text, place, cut, sink);
        } else {
            self.deliver(&self.stripped(text), Spot { place, glued: false, cut }, sink);
        }
    }

    /// Without its prefixes; within a message what looks like one is none.
    #[inline]
    fn stripped<'t>(&self, text: &'t [u8]) -> prefix::Stripped<'t> {
        if self.rows.wait() { self.rows.strip(text) } else { prefix::strip(text) }
    }

    /// A text that may hold anything. The buffers are lent out while the text stands in them.
    #[inline(never)]
    fn odd_text<S: Sink + ?Sized>(&mut self, text: &[u8], place: Place, cut: bool, sink: &mut S) {
        if !self.buffered
            && let Some((tag, text)) = ansi::coloured_tag(text)
            // Endless bars, stamps and marks at the end need a closer look.
            && !matches!(text.last(), Some(b']' | b'-' | b'>'))
            && let Some(out) = prefix::behind_tag(tag, trim_end(text))
        {
            return self.deliver(&out, Spot { place, glued: self.barred, cut }, sink);
        }
        let mut decoded = std::mem::take(&mut self.decoded);
        let mut stripped = std::mem::take(&mut self.stripped);
        let mut joined = std::mem::take(&mut self.joined);
        let mut text = text;
        if !text.is_ascii() {
            let valid = encoding_rs::Encoding::utf8_valid_up_to(text) == text.len();
            self.invalid |= !valid;
            let line = if valid { self.legacy.decode_lookalike(text) } else { self.legacy.decode(text) };
            if let Some(line) = line {
                decoded.clear();
                decoded.extend_from_slice(line);
                text = trim_end(&decoded);
            }
            if page::has_fixed_blanks(text) {
                decoded = page::with_blanks(text);
                text = trim_end(&decoded);
            }
        }
        // Asked first: counting in a text without any cost a tenth of the time on coloured logs.
        if memchr::memchr(0, text).is_some() {
            self.counts.nul_bytes += memchr::memchr_iter(0, text).count() as u64;
            if let Some(whole) = page::without_zeros(text) {
                decoded = whole;
                text = trim_end(&decoded);
            }
        }
        if ansi::strip(text, &mut stripped) {
            text = trim_end(&stripped);
        }
        if !self.buffered && stamp::of_buffer(text).is_some() {
            self.buffered = true;
        }
        if self.buffered && stamp::join_writes(text, &mut joined) {
            text = trim_end(&joined);
        } else {
            text = trim_end(stamp::without_tail(text));
        }
        text = trim_end(page::without_break(text));
        if progress_bar::fills(text) {
            self.hold_unread(text, place, sink);
        } else {
            self.pieces(text, place, cut, sink);
        }
        self.decoded = reuse(decoded);
        self.stripped = reuse(stripped);
        self.joined = reuse(joined);
    }

    /// Takes bars out of a text and hands on what stands around them.
    fn pieces<S: Sink + ?Sized>(&mut self, text: &[u8], place: Place, cut: bool, sink: &mut S) {
        let mut out = self.stripped(text);
        let mut place = place;
        for _ in 0..PIECES {
            if out.text.last() == Some(&b']') && progress_bar::endless(out.text) {
                self.barred = true;
                return;
            }
            // Blanks belong to the frame: its number is right-aligned.
            let Some(frame) = progress_bar::continued(out.text).or_else(|| progress_bar::find(out.text)) else { break };
            if place.segment == 0 {
                place.segment = 1;
            }
            let before = trim_end(out.text.get(..frame.start).unwrap_or_default());
            if !before.is_empty() {
                let piece = prefix::Stripped { text: before, ..out };
                self.deliver(&piece, Spot { place, glued: self.barred, cut: false }, sink);
                self.next_piece(&mut place);
            }
            self.bar_begins(sink);
            self.frames.hold_read(frame.percent, frame.bar, place, sink);
            let rest = out.text.get(frame.end..).unwrap_or_default();
            let stamp = out.stamp;
            out = prefix::strip(rest);
            out.stamp = out.stamp.or(stamp);
            if out.text.is_empty() {
                return;
            }
            self.next_piece(&mut place);
        }
        self.deliver(&out, Spot { place, glued: self.barred, cut }, sink);
    }

    fn next_piece(&mut self, place: &mut Place) {
        self.part = self.part.saturating_add(1);
        place.segment = self.part + 1;
    }
}

/// Gives back a buffer, unless one huge line made it huge.
fn reuse(buffer: Vec<u8>) -> Vec<u8> {
    if buffer.capacity() > 256 * 1024 { Vec::new() } else { buffer }
}

#[inline]
pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    let mut text = text;
    while let [rest @ .., b' ' | b'\t' | 0] = text {
        text = rest;
    }
    text
}
