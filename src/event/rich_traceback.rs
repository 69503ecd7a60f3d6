//! Tracebacks that Rich printed: in a box, or between two rules.
//!
//! A rule knows the head of such a box; of the rows only those count that name a file. Rows are as wide as the head, so a
//! row without a blank at its end goes on below in the middle of a word.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

use super::{At, Classifier, EventSink, What};
use crate::input::{Place, Segment};

/// The longest file name put together from rows.
const LONGEST: usize = 1000;
/// Lines from one row to the next; copies from web pages have empty ones between.
const APART: u64 = 4;
/// Columns of the two edges, with a blank each.
const EDGES: usize = 4;

/// A box whose end was not met yet.
#[derive(Debug)]
pub(super) struct Boxed {
    width: usize,
    /// What stands at the left of each row; none between two rules.
    side: Option<Side>,
    indent: u32,
    last_line: u64,
    /// The beginning of a file's name, and where it stands.
    begun: Vec<u8>,
    place: Place,
    /// Its last row had no room left.
    full: bool,
}

type Side = &'static [u8];

/// A row of a box.
enum Row<'t> {
    /// It stands where files are named; true when it leaves no room.
    Name(&'t [u8], bool),
    /// Empty, or of the source code.
    Other,
}

impl Boxed {
    /// The box that begins with this head of a traceback; none when it is a plain one.
    pub(super) fn begins(head: &Segment<'_>) -> Option<Self> {
        let text = std::str::from_utf8(head.text).ok()?;
        let side: Option<Side> = match text.chars().next()? {
            '╭' | '┌' => Some("│".as_bytes()),
            '+' => Some(b"|"),
            '─' => None,
            _ => return None,
        };
        let Segment { place, indent, .. } = *head;
        Some(Self { width: text.width(), side, indent, last_line: place.line, begun: Vec::new(), place, full: false })
    }

    /// What a text is as a row; none when the box has ended before.
    fn row<'t>(&self, segment: &Segment<'t>) -> Option<Row<'t>> {
        if segment.place.line > self.last_line + APART {
            return None;
        }
        let (inside, blanks) = match self.side {
            Some(side) => {
                let inside = segment.text.strip_prefix(side)?;
                let inside = inside.strip_suffix(side).unwrap_or(inside);
                let blanks = inside.iter().take_while(|byte| **byte == b' ').count();
                (inside.trim_ascii(), blanks)
            }
            None => {
                let blanks = usize::try_from(segment.indent.checked_sub(self.indent)?).ok()?;
                (segment.text, blanks.checked_sub(1)?)
            }
        };
        // Code is further right, its failing line has a mark, and values stand in a box of their own.
        if inside.is_empty() || blanks != 1 || matches!(inside, [0xe2, 0x94..=0x9d, ..]) {
            return Some(Row::Other);
        }
        let cells = std::str::from_utf8(inside).map_or(inside.len(), UnicodeWidthStr::width);
        Some(Row::Name(inside, cells + EDGES >= self.width))
    }
}

impl<S: EventSink> Classifier<'_, S> {
    /// Reads a row of a traceback's box. True when nothing else is to be looked for in it.
    pub(super) fn in_box(&mut self, segment: &Segment<'_>) -> bool {
        let Some(mut boxed) = self.boxed.take() else { return false };
        let Some(row) = boxed.row(segment) else { return false };
        boxed.last_line = segment.place.line;
        match row {
            Row::Name(name, full) => {
                if boxed.begun.is_empty() {
                    boxed.place = segment.place;
                }
                // A row without room may end with a word, too.
                let ways: &[&[u8]] = match (boxed.begun.is_empty(), boxed.full) {
                    (true, _) => &[b""],
                    (false, true) => &[b"", b" "],
                    (false, false) => &[b" "],
                };
                let mut ways = ways.iter().map(|blank| [boxed.begun.as_slice(), *blank, name].concat());
                let first = ways.next().unwrap_or_default();
                let frame = std::iter::once(&first).chain(&ways.next()).find(|text| frame_of(text).is_some()).cloned();
                if let Some(text) = frame {
                    self.frame(segment, boxed.place, &text);
                    boxed.begun.clear();
                } else {
                    boxed.begun = first;
                    boxed.full = full;
                    self.pass(segment);
                }
            }
            Row::Other => {
                boxed.begun.clear();
                self.pass(segment);
            }
        }
        if boxed.begun.len() > LONGEST {
            boxed.begun.clear();
        }
        self.boxed = Some(boxed);
        true
    }

    fn frame(&mut self, segment: &Segment<'_>, place: Place, text: &[u8]) {
        let Some((file, line, function)) = frame_of(text) else { return };
        self.tally.understood += 1;
        let at = At { place, rule: "traceback", ..self.at(segment, text) };
        let (file, function) = (lossy(file), lossy(function));
        self.send(segment, at, What::TracebackFrame { file, line, function }, None, false);
    }
}

fn lossy(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(text)
}

/// File, line and function of `/opt/ComfyUI/execution.py:496 in execute`.
fn frame_of(text: &[u8]) -> Option<(&[u8], u64, &[u8])> {
    let at = memchr::memmem::rfind(text, b" in ")?;
    let function = text.get(at + 4..)?.trim_ascii();
    let place = text.get(..at)?.trim_ascii_end();
    let colon = memchr::memrchr(b':', place)?;
    let (file, line) = (place.get(..colon)?, place.get(colon + 1..)?);
    let line = std::str::from_utf8(line).ok()?.parse().ok()?;
    let whole = !file.is_empty() && !function.is_empty() && !function.contains(&b' ');
    whole.then_some((file, line, function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_name_a_file() {
        assert_eq!(
            frame_of(b"/opt/Comfy UI/a.py:12 in <module>"),
            Some((&b"/opt/Comfy UI/a.py"[..], 12, &b"<module>"[..]))
        );
        assert_eq!(frame_of(br"C:\ComfyUI\nodes.py:7 in f"), Some((&br"C:\ComfyUI\nodes.py"[..], 7, &b"f"[..])));
        for text in
            ["/opt/a.py:12 in", "/opt/a.py in f", "for x in y", "/opt/a.py:1x in f", "a.py:1 in f and g", ":1 in f"]
        {
            assert_eq!(frame_of(text.as_bytes()), None, "{text}");
        }
    }
}
