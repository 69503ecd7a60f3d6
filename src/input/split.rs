//! Blocks of text become parts of lines, with the place where each line begins.
//!
//! Results do not depend on where blocks end. An open part is carried over, up to a cap; parts of a line with
//! carriage returns are handed on as they end, so a bar of a million frames needs no memory.

use super::decode::units;
use super::line::{Place, Sink};
use super::part::{End, Parts};
use memchr::memchr2;

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

/// The line breaks and carriage returns of a 64-byte block as bits; whether it holds bytes that are not plain text.
/// Which bytes those are is asked line by line and only then: most blocks hold none.
#[inline]
fn breaks_and_odd(block: &[u8; 64]) -> (u64, bool) {
    let mut breaks = [0_u8; 64];
    let mut odd = 0;
    for (b, byte) in breaks.iter_mut().zip(block) {
        *b = u8::from(*byte == b'\n') | u8::from(*byte == b'\r');
        odd |= is_odd(*byte);
    }
    (pack(&breaks), odd != 0)
}

/// Bytes that need a closer look: not ASCII, control, and the beginnings of shown escapes and of percentages.
#[inline]
const fn is_odd(byte: u8) -> u8 {
    let control = (byte as i8) < 0x20;
    let usual = (byte == b'\n') | (byte == b'\r') | (byte == b'\t');
    ((control & !usual) | (byte == b'^') | (byte == b'%')) as u8
}

fn has_odd(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |any, byte| any | is_odd(*byte)) != 0
}

/// Gathers bytes that are 0 or 1 into bits.
#[inline]
fn pack(bytes: &[u8; 64]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    let mut mask = 0;
    for (n, word) in words.iter().enumerate() {
        let bits = u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * n);
    }
    mask
}

impl Lines {
    pub(crate) fn new() -> Self {
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
        let mut start = 0;
        // End of the last block of 64 that holds odd bytes.
        let mut odd_until = 0;
        let (chunks, tail) = block.as_chunks::<64>();
        let mut padded = [b' '; 64];
        padded.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
        for (n, chunk) in chunks.iter().chain(std::iter::once(&padded)).enumerate() {
            let base = n * 64;
            let (mut breaks, odd) = breaks_and_odd(chunk);
            if odd {
                odd_until = base + 64;
            }
            while breaks != 0 {
                let bit = breaks.trailing_zeros();
                breaks &= breaks - 1;
                let at = base + bit as usize;
                if at < start {
                    continue; // the line feed of a CR LF
                }
                let part = block.get(start..at).unwrap_or_default();
                // First the bytes that tell a bar and a coloured line.
                let told = matches!(part, [_, _, _, b'%', ..] | [0x1b, ..]);
                let is_odd = odd_until > start && (told || has_odd(part));
                if block.get(at) == Some(&b'\n') {
                    self.hand_on(part, is_odd, End::Line, 1, false, sink);
                    start = at + 1;
                } else {
                    match block.get(at + 1) {
                        Some(b'\n') => {
                            self.hand_on(part, is_odd, End::Line, 2, true, sink);
                            start = at + 2;
                        }
                        Some(_) => {
                            self.hand_on(part, is_odd, End::Cr, 1, false, sink);
                            start = at + 1;
                        }
                        None => {
                            self.keep(part);
                            self.cr = true;
                            return block.len();
                        }
                    }
                }
            }
        }
        start
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_and_odd_bytes_are_told() {
        for byte in 0..=255_u8 {
            let mut block = [b'a'; 64];
            for at in [0, 7, 8, 31, 63] {
                block[at] = byte;
                let (breaks, odd) = breaks_and_odd(&block);
                let bit = (breaks >> at) & 1 == 1;
                assert_eq!(bit, byte == b'\n' || byte == b'\r');
                let plain = (0x20..0x80).contains(&byte) && byte != b'^' && byte != b'%';
                let strange = !plain && !matches!(byte, b'\n' | b'\r' | b'\t');
                assert_eq!(odd, strange, "{byte}");
                assert_eq!(has_odd(&block), strange, "{byte}");
                block[at] = b'a';
            }
        }
    }
}
