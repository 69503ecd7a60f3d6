//! Blocks of text become parts of lines, with the place where each line begins.
//!
//! Results do not depend on where blocks end. An open part is carried over, up to a cap; parts of a line with
//! carriage returns are handed on as they end, so a bar of a million frames needs no memory.

use super::bar;
use super::decode::units;
use super::line::{Place, Sink};
use super::part::{End, Parts};
use super::scan::{Bits, PIECE, Scan, has_odd};
use memchr::memchr2;
use std::ops::Range;

/// The longest part that is looked at; what is longer is cut.
pub(crate) const LONGEST: usize = 1024 * 1024;

/// Splits blocks and feeds `Parts`.
pub(crate) struct Lines {
    pub(crate) parts: Parts,
    scan: Scan,
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

/// A part of a block, up to the break that ends it.
#[derive(Clone, Copy)]
struct Part {
    from: usize,
    to: usize,
    /// It holds odd bytes.
    odd: bool,
    /// Its last byte is its only closing bracket.
    closed: bool,
}

/// Ends of bytes of a kind that were passed.
#[derive(Clone, Copy, Default)]
struct Passed {
    /// Of the last odd byte.
    odd: usize,
    /// Of the last closing bracket, and of the one before.
    closing: usize,
    closing_before: usize,
}

impl Passed {
    /// Passes the bytes whose bits are set in the word that begins at `base`.
    #[inline]
    fn and(self, odd: u64, closing: u64, base: usize) -> Self {
        let end = |word: u64| word.checked_ilog2().map(|last| base + last as usize + 1);
        let odd = end(odd).unwrap_or(self.odd);
        let Some(last) = closing.checked_ilog2() else { return Self { odd, ..self } };
        let closing_before = end(closing & !(1 << last)).unwrap_or(self.closing);
        Self { odd, closing: base + last as usize + 1, closing_before }
    }
}

/// Frames of one bar that follow each other in a block. The first is handed on; of the others only the last one is.
#[derive(Default)]
struct Series {
    /// Percentage of the frame before, as `frame` gives it; zero when none is before.
    percent: u32,
    /// The frame before, when it is not the first.
    last: Option<Range<usize>>,
    /// Frames that were redrawn and whose bytes are still to be counted.
    skipped: Range<usize>,
}

impl Series {
    /// A frame of `percent` goes on where the frame before was.
    #[inline]
    fn goes_on(&mut self, percent: u32) -> bool {
        if self.percent == 0 || percent < self.percent {
            return false;
        }
        self.percent = percent;
        true
    }
}

/// The percentage of a usual frame, to be compared with others; the caller knows that nothing follows its bracket.
#[inline]
fn frame(part: &[u8]) -> Option<u32> {
    let head = part.first_chunk::<4>().filter(|_| bar::begins(part) && part.len() <= LONGEST)?;
    Some(u32::from_be_bytes(*head))
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            parts: Parts::new(),
            scan: Scan::new(),
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
        let mut bits = Bits::new();
        let mut series = Series::default();
        let mut start = 0;
        let mut passed = Passed::default();
        for (number, piece) in block.chunks(PIECE).enumerate() {
            for (word, bits) in self.scan.words(piece, &mut bits).enumerate() {
                let base = number * PIECE + word * 64;
                let mut breaks = bits.breaks;
                while breaks != 0 {
                    let at = base + breaks.trailing_zeros() as usize;
                    let below = (breaks & breaks.wrapping_neg()) - 1;
                    breaks &= breaks - 1;
                    if at < start {
                        continue; // the line feed of a CR LF
                    }
                    let before = passed.and(bits.odd & below, bits.closing & below, base);
                    let part = Part {
                        from: start,
                        to: at,
                        odd: before.odd > start,
                        closed: before.closing == at && before.closing_before <= start,
                    };
                    match self.part_ends(block, part, &mut series, sink) {
                        Some(next) => start = next,
                        None => return block.len(),
                    }
                }
                passed = passed.and(bits.odd, bits.closing, base);
            }
        }
        self.last_frame(block, &mut series, sink);
        start
    }

    /// A part ends at a break; where the next part begins, if the block tells.
    #[inline]
    fn part_ends<S: Sink + ?Sized>(
        &mut self,
        block: &[u8],
        part: Part,
        series: &mut Series,
        sink: &mut S,
    ) -> Option<usize> {
        let (at, odd) = (part.to, part.odd);
        let text = block.get(part.from..part.to).unwrap_or_default();
        let feed = block.get(at) == Some(&b'\n');
        let next = block.get(at + 1);
        let ends = feed || matches!(next, None | Some(b'\n'));
        if self.waits(block, part, text, ends, series, sink) {
            return Some(at + 1);
        }
        if feed {
            self.hand_on(text, odd, End::Line, 1, false, sink);
            return Some(at + 1);
        }
        match next {
            Some(b'\n') => {
                self.hand_on(text, odd, End::Line, 2, true, sink);
                Some(at + 2)
            }
            Some(_) => {
                self.hand_on(text, odd, End::Cr, 1, false, sink);
                Some(at + 1)
            }
            None => {
                self.keep(text);
                self.cr = true;
                None
            }
        }
    }

    /// A frame that may be redrawn by the next part waits in `series`; false for every other part.
    #[inline]
    fn waits<S: Sink + ?Sized>(
        &mut self,
        block: &[u8],
        part: Part,
        text: &[u8],
        ends: bool,
        series: &mut Series,
        sink: &mut S,
    ) -> bool {
        let Some(percent) = frame(text).filter(|_| part.closed) else {
            self.last_frame(block, series, sink);
            series.percent = 0;
            return false;
        };
        if series.goes_on(percent) {
            if let Some(redrawn) = series.last.take() {
                self.skip_frame(redrawn, series);
            }
            if !ends {
                series.last = Some(part.from..part.to);
                return true;
            }
            self.count_skipped(block, series);
        } else {
            self.last_frame(block, series, sink);
            series.percent = percent;
        }
        if ends {
            series.percent = 0;
        }
        false
    }

    /// A frame that the next one redraws is only counted.
    #[inline]
    fn skip_frame(&mut self, frame: Range<usize>, series: &mut Series) {
        self.parts.skip_frame();
        self.cr_parts += 1;
        self.open = true;
        if series.skipped.is_empty() {
            series.skipped.start = frame.start;
        }
        series.skipped.end = frame.end + 1;
    }

    /// Counts the bytes of skipped frames in one go, which is dear when they are not those of the file.
    #[inline]
    fn count_skipped(&mut self, block: &[u8], series: &mut Series) {
        let skipped = std::mem::take(&mut series.skipped);
        self.position += match block.get(skipped) {
            Some(bytes) if self.wide => 2 * units(bytes),
            Some(bytes) => bytes.len() as u64,
            None => 0,
        };
    }

    /// Hands on the frame that nothing redrew.
    #[inline]
    fn last_frame<S: Sink + ?Sized>(&mut self, block: &[u8], series: &mut Series, sink: &mut S) {
        self.count_skipped(block, series);
        if let Some(frame) = series.last.take() {
            self.hand_on(block.get(frame).unwrap_or_default(), true, End::Cr, 1, false, sink);
        }
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
        let odd = has_odd(&carry);
        self.long_lines += u64::from(beyond > 0);
        self.position += beyond * if self.wide { 2 } else { 1 };
        self.hand_on(&carry, odd, end, terminator, crlf, sink);
        self.carry = carry;
        self.carry.clear();
    }

    #[inline]
    fn hand_on<S: Sink + ?Sized>(
        &mut self,
        part: &[u8],
        odd: bool,
        end: End,
        terminator: u64,
        crlf: bool,
        sink: &mut S,
    ) {
        let looked_at = if part.len() > LONGEST {
            self.long_lines += 1;
            part.get(..LONGEST).unwrap_or(part)
        } else {
            part
        };
        let odd = if looked_at.len() < part.len() { has_odd(looked_at) } else { odd };
        self.parts.take(looked_at, odd, end, self.line, sink);
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
