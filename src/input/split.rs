//! Blocks of text become parts of lines, with the place where each line begins.
//!
//! Results do not depend on where blocks end. An open part is carried over, up to a cap; parts of a line with
//! carriage returns are handed on as they end, so a bar of a million frames needs no memory.
//!
//! Long: one state machine: each letter is looked at once, whatever it turns out to be.

use super::decode::units;
use super::line::{Place, Sink};
use super::odd::has_odd;
use super::part::{End, Parts};
use super::progress_bar;
use memchr::{memchr2, memchr2_iter};

/// The longest part that is looked at; what is longer is cut.
pub(crate) const LONGEST: usize = 1024 * 1024;

/// Splits blocks and feeds `Parts`.
pub(crate) struct Lines {
    pub(crate) parts: Parts,
    /// Beginning of a part whose end was not seen yet.
    carry: Vec<u8>,
    /// Bytes of the open part beyond the cap, whole.
    beyond: u64,
    /// The last byte was a carriage return, and its part waits in `carry`.
    cr: bool,
    /// Place of the open line.
    line: Place,
    /// Bytes of the input before the open part, in the user's file.
    position: u64,
    /// The user's file has two bytes per unit.
    wide: bool,
    /// Places are given by the caller (entries of a JSON log).
    fixed: Option<Place>,
    stamp: Vec<u8>,
    /// Something of the open line was seen.
    open: bool,
    pub(crate) long_lines: u64,
    pub(crate) lf: u64,
    pub(crate) crlf: u64,
    pub(crate) cr_parts: u64,
}

/// Something goes on in the line that ends at `at` with a carriage return.
#[inline]
fn is_redrawn(block: &[u8], at: usize) -> bool {
    matches!(block.get(at..at + 2), Some([b'\r', next]) if *next != b'\n')
}

/// Frames of one bar that follow each other in a block. The first is handed on at once, of the others only the last
/// one: they wait here.
#[derive(Default)]
struct Series {
    /// Percentage of the frame before, as `frame` gives it; zero when none is before.
    percent: u32,
    /// How many wait, where the first of them begins, where the last one begins, and its end.
    waiting: u32,
    from: usize,
    last: usize,
    to: usize,
}

impl Series {
    /// No frame stands before what comes next.
    #[inline]
    fn is_idle(&self) -> bool {
        self.waiting == 0 && self.percent == 0
    }

    /// A frame of `percent` goes on where the frame before was.
    #[inline]
    fn goes_on(&self, percent: u32) -> bool {
        self.percent != 0 && percent >= self.percent
    }

    #[inline]
    fn wait(&mut self, percent: u32, from: usize, to: usize) {
        if self.waiting == 0 {
            self.from = from;
        }
        self.waiting += 1;
        (self.percent, self.last, self.to) = (percent, from, to);
    }
}

/// The percentage of a usual frame that fills its text, to be compared with others.
#[inline]
fn frame(part: &[u8]) -> Option<u32> {
    // The bracket that ends a frame must be the only one.
    let whole = part.len() <= LONGEST && progress_bar::fills(part);
    part.first_chunk::<4>().filter(|_| whole).map(|head| u32::from_be_bytes(*head))
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            parts: Parts::new(),
            carry: Vec::new(),
            beyond: 0,
            cr: false,
            line: Place { line: 1, ..Place::default() },
            position: 0,
            wide: false,
            fixed: None,
            stamp: Vec::new(),
            open: false,
            long_lines: 0,
            lf: 0,
            crlf: 0,
            cr_parts: 0,
        }
    }
}

impl Lines {
    /// Tells what the user's file is, before the first block.
    pub(crate) fn begin(&mut self, mark: u64, wide: bool) {
        self.position = mark;
        self.line.byte = mark;
        self.wide = wide;
    }

    /// From here on, lines that begin stand at this place (entries of a JSON log).
    pub(crate) fn set_place(&mut self, place: Place, stamp: &[u8]) {
        self.fixed = Some(place);
        self.stamp.clear();
        self.stamp.extend_from_slice(stamp);
        if !self.is_open() {
            self.at_fixed(place);
        }
    }

    fn at_fixed(&mut self, place: Place) {
        self.line = place;
        self.parts.entry_stamp.clone_from(&self.stamp);
    }

    /// Ends an open line, and begins a new one.
    pub(crate) fn break_off<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        self.finish(sink);
        self.next_line();
    }

    /// Takes the next block.
    pub(crate) fn feed<S: Sink + ?Sized>(&mut self, block: &[u8], sink: &mut S) {
        let start = self.go_on(block, sink);
        let Some(rest) = block.get(start..) else { return };
        if rest.is_empty() {
            return;
        }
        let consumed = self.whole_parts(rest, sink);
        if let Some(tail) = rest.get(consumed..) {
            self.keep(tail);
        }
    }

    /// Finishes the part that the block before left open; where the next part begins.
    fn go_on<S: Sink + ?Sized>(&mut self, block: &[u8], sink: &mut S) -> usize {
        let mut start = 0;
        if self.cr {
            let Some(first) = block.first() else { return 0 };
            self.cr = false;
            let crlf = *first == b'\n';
            start = usize::from(crlf);
            self.carried(if crlf { End::Line } else { End::Cr }, 1 + u64::from(crlf), crlf, sink);
        }
        if self.carry.is_empty() && self.beyond == 0 {
            return start;
        }
        let rest = block.get(start..).unwrap_or_default();
        let Some(at) = memchr2(b'\n', b'\r', rest) else {
            self.keep(rest);
            return block.len();
        };
        self.keep(rest.get(..at).unwrap_or_default());
        if rest.get(at) == Some(&b'\n') {
            self.carried(End::Line, 1, false, sink);
            return start + at + 1;
        }
        match rest.get(at + 1) {
            Some(b'\n') => {
                self.carried(End::Line, 2, true, sink);
                start + at + 2
            }
            Some(_) => {
                self.carried(End::Cr, 1, false, sink);
                start + at + 1
            }
            None => {
                self.cr = true;
                block.len()
            }
        }
    }

    /// Hands on all parts that end within the block; where the open one begins.
    fn whole_parts<S: Sink + ?Sized>(&mut self, block: &[u8], sink: &mut S) -> usize {
        let mut series = Series::default();
        let mut start = 0;
        for at in memchr2_iter(b'\n', b'\r', block) {
            if at < start {
                continue; // the line feed of a CR LF
            }
            let text = block.get(start..at).unwrap_or_default();
            let percent = frame(text);
            if let Some(percent) = percent
                && series.goes_on(percent)
                && is_redrawn(block, at)
            {
                series.wait(percent, start, at);
                start = at + 1;
                continue;
            }
            if percent.is_some() || !series.is_idle() {
                self.series_ends(block, &mut series, percent, sink);
            }
            match self.part_ends(block, at, text, sink) {
                Some(next) => start = next,
                None => return block.len(),
            }
        }
        self.series_ends(block, &mut series, None, sink);
        start
    }

    /// A part ends at a break; where the next part begins, if the block tells.
    #[inline]
    fn part_ends<S: Sink + ?Sized>(&mut self, block: &[u8], at: usize, text: &[u8], sink: &mut S) -> Option<usize> {
        let (end, length, crlf) = match (block.get(at), block.get(at + 1)) {
            (Some(b'\n'), _) => {
                if self.plain_line(text, sink) {
                    return Some(at + 1);
                }
                (End::Line, 1, false)
            }
            (_, Some(b'\n')) => (End::Line, 2, true),
            (_, Some(_)) => (End::Cr, 1, false),
            (_, None) => {
                self.keep(text);
                self.cr = true;
                return None;
            }
        };
        self.hand_on(text, end, length, crlf, sink);
        Some(at + length as usize)
    }

    /// The next part does not wait with the frames of `series`: it is another text, or a frame of `percent` that begins
    /// a series or ends this one.
    #[inline]
    fn series_ends<S: Sink + ?Sized>(&mut self, block: &[u8], series: &mut Series, percent: Option<u32>, sink: &mut S) {
        if series.waiting > 0 {
            if percent.is_some_and(|percent| series.goes_on(percent)) {
                self.skip_frames(block.get(series.from..=series.to), series.waiting);
            } else {
                self.skip_frames(block.get(series.from..series.last), series.waiting - 1);
                let last = block.get(series.last..series.to).unwrap_or_default();
                self.hand_on(last, End::Cr, 1, false, sink);
            }
            series.waiting = 0;
        }
        series.percent = percent.unwrap_or(0);
    }

    /// Frames that the next one redrew, with their carriage returns, are only counted.
    fn skip_frames(&mut self, frames: Option<&[u8]>, count: u32) {
        let bytes = frames.unwrap_or_default();
        self.parts.skip_frames(count);
        self.cr_parts += u64::from(count);
        self.open = true;
        self.position += if self.wide { 2 * units(bytes) } else { bytes.len() as u64 };
    }

    /// Keeps the beginning of an open part.
    fn keep(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.open = true;
        let room = LONGEST.saturating_sub(self.carry.len());
        let (kept, lost) = bytes.split_at(room.min(bytes.len()));
        self.carry.extend_from_slice(kept);
        if !lost.is_empty() {
            self.beyond += if self.wide { units(lost) } else { lost.len() as u64 };
        }
    }

    /// Hands on the part in `carry`.
    fn carried<S: Sink + ?Sized>(&mut self, end: End, terminator: u64, crlf: bool, sink: &mut S) {
        let carry = std::mem::take(&mut self.carry);
        let beyond = std::mem::take(&mut self.beyond);
        self.long_lines += u64::from(beyond > 0);
        self.position += beyond * if self.wide { 2 } else { 1 };
        self.hand_on(&carry, end, terminator, crlf, sink);
        self.carry = carry;
        self.carry.clear();
    }

    /// Hands on a line of plain text; false when it needs a closer look.
    fn plain_line<S: Sink + ?Sized>(&mut self, text: &[u8], sink: &mut S) -> bool {
        // A stamp in brackets is no rare thing, and no plain line begins with one.
        let usual = self.fixed.is_none() && text.len() <= LONGEST && !matches!(text, [b'[', b'0'..=b'9', ..]);
        if !usual || !self.parts.take_plain(text, self.line, sink) {
            return false;
        }
        // Plain text is ASCII, so that each byte is a unit.
        self.position += (text.len() as u64 + 1) << u32::from(self.wide);
        self.lf += 1;
        self.next_line();
        true
    }

    fn hand_on<S: Sink + ?Sized>(&mut self, part: &[u8], end: End, terminator: u64, crlf: bool, sink: &mut S) {
        let looked_at = if part.len() > LONGEST {
            self.long_lines += 1;
            part.get(..LONGEST).unwrap_or(part)
        } else {
            part
        };
        self.parts.take(looked_at, has_odd(looked_at), end, self.line, sink);
        let length = if self.wide { 2 * (units(part) + terminator) } else { part.len() as u64 + terminator };
        self.position += length;
        match end {
            End::Line => {
                self.lf += u64::from(!crlf);
                self.crlf += u64::from(crlf);
                self.next_line();
            }
            End::Cr => {
                self.cr_parts += 1;
                self.open = true;
            }
            End::Input => {}
        }
    }

    #[inline]
    fn next_line(&mut self) {
        self.open = false;
        match self.fixed {
            None => {
                self.line.line += 1;
                self.line.byte = self.position;
            }
            Some(place) => self.at_fixed(place),
        }
    }

    /// Ends the input: an open line is handed on as cut.
    pub(crate) fn finish<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if self.cr {
            self.cr = false;
            self.carried(End::Cr, 1, false, sink);
        }
        if self.open || !self.carry.is_empty() {
            self.carried(End::Input, 0, false, sink);
        }
        self.parts.end_rows(sink);
    }

    /// Lines so far, an unfinished one included.
    pub(crate) fn lines(&self) -> u64 {
        self.lf + self.crlf + u64::from(self.open || self.cr)
    }

    /// The input ended without a line break.
    pub(crate) fn is_open(&self) -> bool {
        self.open || self.cr
    }

    /// How lines end in this input.
    pub(crate) fn newline(&self) -> &'static str {
        match (self.lf, self.crlf, self.cr_parts) {
            (0, 0, 0) => "none",
            (0, 0, _) => "cr",
            (_, 0, _) => "lf",
            (0, ..) => "crlf",
            _ => "mixed",
        }
    }
}
