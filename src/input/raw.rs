//! Lines as they stand in the file, decoded and nothing more: for what is written out again.
//!
//! The same decoding and the same longest line as for an answer, so that a text means the same in both.

use std::borrow::Cow;
use std::io::{self, Read};

use encoding_rs::{UTF_16BE, UTF_16LE};

use super::decode::{CodePage, Legacy, Unwide};
use super::error::InputError;
use super::source::Source;
use super::split::LONGEST;

/// Bytes that are read at once.
const BLOCK: usize = 64 * 1024;

/// A line of the file.
#[derive(Debug)]
pub(crate) struct RawLine<'l> {
    pub(crate) text: Cow<'l, str>,
    /// `\n`, `\r\n`, or nothing at the end of the input.
    pub(crate) end: &'l str,
    /// Bytes behind the longest line that is looked at; they are left out.
    pub(crate) lost: u64,
}

/// A source as a stream of decoded bytes and of lines.
pub(crate) struct Raw<'s> {
    source: Source<'s>,
    unwide: Unwide,
    legacy: Legacy,
    block: Vec<u8>,
    decoded: Vec<u8>,
    /// Where the next byte stands in `decoded`.
    at: usize,
    line: Vec<u8>,
    bytes: u64,
    ended: bool,
    /// Why reading ended before the end.
    failed: Option<io::Error>,
}

impl<'s> Raw<'s> {
    pub(crate) fn new(source: Source<'s>) -> Self {
        Self {
            source,
            unwide: Unwide::default(),
            legacy: Legacy::new(),
            block: vec![0; BLOCK],
            decoded: Vec::new(),
            at: 0,
            line: Vec::new(),
            bytes: 0,
            ended: false,
            failed: None,
        }
    }

    /// The same for a source that was read before, and whose code page is known.
    pub(crate) fn with(source: Source<'s>, page: CodePage) -> Self {
        Self { legacy: Legacy::of(page), ..Self::new(source) }
    }

    /// The code page of the lines so far.
    pub(crate) fn code_page(&self) -> CodePage {
        self.legacy.page()
    }

    /// Reads and decodes further bytes; false at the end. A broken end counts as an end.
    fn fill(&mut self) -> bool {
        self.decoded.clear();
        self.at = 0;
        while self.decoded.is_empty() && !self.ended {
            let decoded = &mut self.decoded;
            let read = self.source.next(&mut self.block).unwrap_or_else(|error| {
                self.failed = Some(error);
                0
            });
            if read > 0 {
                self.bytes += read as u64;
                let bytes = self.block.get(..read).unwrap_or_default();
                self.unwide.feed(bytes, false, |_, text| decoded.extend_from_slice(text));
            } else {
                self.unwide.feed(&[], true, |_, text| decoded.extend_from_slice(text));
                self.ended = true;
            }
        }
        !self.decoded.is_empty()
    }

    /// The next line; none at the end.
    pub(crate) fn next(&mut self) -> Option<RawLine<'_>> {
        self.line.clear();
        let mut lost = 0;
        let mut broken = false;
        let mut any = false;
        while !broken && (self.at < self.decoded.len() || self.fill()) {
            any = true;
            let rest = self.decoded.get(self.at..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest);
            let part = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let kept = part.len().min(LONGEST.saturating_sub(self.line.len()));
            self.line.extend_from_slice(part.get(..kept).unwrap_or_default());
            lost += (part.len() - kept) as u64;
            self.at += part.len() + usize::from(end.is_some());
            broken = end.is_some();
        }
        if !any {
            return None;
        }
        let cr = broken && self.line.last() == Some(&b'\r');
        if cr {
            self.line.pop();
        }
        let end = match (broken, cr) {
            (false, _) => "",
            (true, false) => "\n",
            (true, true) => "\r\n",
        };
        Some(RawLine { text: text_of(&self.line, &mut self.legacy), end, lost })
    }

    /// Why reading ended before the end, if it did.
    pub(crate) fn broken(&self) -> Option<String> {
        self.failed.as_ref().map(ToString::to_string)
    }

    /// Why there was nothing to read, if there was nothing.
    ///
    /// # Errors
    /// The input is empty, or reading failed at its first byte.
    pub(crate) fn conclude(self) -> Result<(), InputError> {
        let Source { name, compression, .. } = self.source;
        match (self.bytes, self.failed, compression) {
            (1.., ..) => Ok(()),
            (0, None, _) => Err(InputError::Empty { name }),
            (0, Some(source), None) => Err(InputError::CannotRead { name, source }),
            (0, Some(source), Some(kind)) => Err(InputError::packed(name, kind.name(), source)),
        }
    }
}

impl Read for Raw<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.decoded.len() && !self.fill() {
            return Ok(0);
        }
        let rest = self.decoded.get(self.at..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..length), rest.get(..length)) {
            to.copy_from_slice(from);
        }
        self.at += length;
        Ok(length)
    }
}

/// A line as text: UTF-8, a part that another program appended as UTF-16, a code page, or with marks for what is unknown.
fn text_of<'l>(line: &'l [u8], legacy: &mut Legacy) -> Cow<'l, str> {
    if memchr::memchr(0, line).is_some()
        && let Some(text) = wide_part(line)
    {
        return text.into();
    }
    match std::str::from_utf8(line) {
        Ok(text) => match legacy.decode_lookalike(line) {
            Some(other) => String::from_utf8_lossy(other).into_owned().into(),
            None => text.into(),
        },
        Err(_) => match legacy.decode(line) {
            Some(text) => String::from_utf8_lossy(text).into_owned().into(),
            None => String::from_utf8_lossy(line),
        },
    }
}

/// Text of a line in which every second byte is zero, as PowerShell appends it.
fn wide_part(line: &[u8]) -> Option<String> {
    // The last line break's second half.
    if line == [0] {
        return Some(String::new());
    }
    let zeros = memchr::memchr_iter(0, line).count();
    // A run of zeros is what a crash leaves.
    if zeros * 4 < line.len() || zeros * 4 > line.len() * 3 {
        return None;
    }
    // The half of the line break before stands here.
    let line = line.strip_prefix(&[0]).unwrap_or(line);
    let line = line.strip_prefix(&[0xff, 0xfe]).unwrap_or(line);
    let line = line.strip_suffix(&[b'\r', 0]).unwrap_or(line);
    let odd = line.iter().skip(1).step_by(2).filter(|byte| **byte == 0).count();
    let even = line.iter().step_by(2).filter(|byte| **byte == 0).count();
    let encoding = if odd >= even { UTF_16LE } else { UTF_16BE };
    let (text, _) = encoding.decode_without_bom_handling(line);
    Some(text.chars().filter(|letter| *letter != '\0' && *letter != '\u{fffd}').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(String, String, u64)> {
        let mut raw = Raw::new(Source::from_reader("x", bytes).expect("bytes can be read"));
        let mut out = Vec::new();
        while let Some(line) = raw.next() {
            out.push((line.text.into_owned(), line.end.to_owned(), line.lost));
        }
        out
    }

    #[test]
    fn lines_keep_their_ends() {
        let owned = |text: &str, end: &str| (text.to_owned(), end.to_owned(), 0);
        assert_eq!(
            lines(b"a\r\n\nb\rc\nd"),
            [owned("a", "\r\n"), owned("", "\n"), owned("b\rc", "\n"), owned("d", "")]
        );
    }

    #[test]
    fn what_another_program_appended_is_read_too() {
        let mut bytes = b"plain\n".to_vec();
        bytes.extend("wide 模型 line\r\nnext one\r\n".encode_utf16().flat_map(u16::to_le_bytes));
        let texts: Vec<String> = lines(&bytes).into_iter().map(|(text, ..)| text).collect();
        assert_eq!(texts, ["plain", "wide 模型 line", "next one", ""].map(str::to_owned));
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let long = [vec![b'x'; LONGEST + 7], b"\nnext".to_vec()].concat();
        let lines = lines(&long);
        assert_eq!((lines[0].0.len(), lines[0].2, lines[1].0.as_str()), (LONGEST, 7, "next"));
    }
}
