//! Rows of Rich's `RichHandler`: `[08/05/26 12:00:00] INFO     got prompt            server.py:748`.
//!
//! The time stands only where it changed; else its column is blank. The level is padded to its column, the place in the
//! source stands at the right edge. Nothing else about a row is fixed, so all of that must fit before it counts as one.

use super::super::part::trim_end;
use super::super::stamp::clock;
use super::{Dialect, LETTERS, Stripped, leading, level, run};
use unicode_width::UnicodeWidthStr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "Rich",
    about: "rows of Rich's handler with time, level, message and place in columns; long messages go on below",
    begins: &LETTERS,
    take,
    examples: &[
        ("[08/05/26 12:00:00] INFO     got prompt            server.py:748", "got prompt"),
        ("[12:00:00] WARNING  Pin error.     model_management.py:703", "Pin error."),
        ("           INFO     got prompt            server.py:748", "got prompt"),
        ("comfyui-1  | [12:00:00] ERROR    x    __init__.py:7", "x"),
    ],
};

/// Width of the level's column, and of it with the blank behind it.
const LEVEL: usize = 8;
const BEHIND_LEVEL: usize = LEVEL + 1;

/// Where the message of a row stands. A long one goes on in the rows below, in the same column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Blanks before it where the columns on its left are blank.
    pub(crate) column: u32,
    /// Characters that a row has room for; none when no place in the source shows where the column ends.
    pub(crate) width: Option<u32>,
    /// Characters that the message takes in this row, with what a logger put before it.
    pub(crate) used: u32,
}

/// The message behind a stamp in brackets of this length, which may do without a place in the source.
pub(super) fn behind_stamp<'a>(s: &'a [u8], stamp: usize, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let column = usize::try_from(out.indent).ok()? + stamp + BEHIND_LEVEL;
    message(s, column, false, out)
}

/// The message of a row whose time is that of the row above, or that has none.
fn take<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let column = usize::try_from(out.indent).ok()? + BEHIND_LEVEL;
    message(s, column, true, out)
}

/// The same below a row whose message began at `column`, where the handler tells no place in the source.
pub(crate) fn below<'a>(out: &Stripped<'a>, column: u32) -> Option<Stripped<'a>> {
    if out.tagged || usize::try_from(out.indent).ok()? + BEHIND_LEVEL != usize::try_from(column).ok()? {
        return None;
    }
    let mut row = *out;
    let text = message(out.text, usize::try_from(column).ok()?, false, &mut row)?;
    let blanks = leading(text);
    row.indent = u32::try_from(blanks).unwrap_or(u32::MAX);
    row.text = text.get(blanks..).unwrap_or_default();
    Some(row)
}

/// The first `length` bytes are `08/05/26 12:00:00`, the handler's own way to write a time.
pub(super) fn is_short_date(s: &[u8], length: usize) -> bool {
    match s.get(..length).unwrap_or_default() {
        [a, b, b'/', c, d, b'/', e, f, b' ', time @ ..] => {
            [a, b, c, d, e, f].iter().all(|x| x.is_ascii_digit()) && clock(time) == Some(time.len())
        }
        _ => false,
    }
}

fn message<'a>(s: &'a [u8], column: usize, placed: bool, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    // Most often no level stands here.
    if !s.first()?.is_ascii_uppercase() {
        return None;
    }
    let name = s.iter().take(BEHIND_LEVEL).take_while(|b| b.is_ascii_uppercase()).count();
    let level = level(s.get(..name)?)?;
    let padding = s.get(name..s.len().min(BEHIND_LEVEL))?;
    if leading(padding) != padding.len() || (placed && padding.is_empty()) {
        return None;
    }
    let rest = s.get(BEHIND_LEVEL..).unwrap_or_default();
    let place = place(rest);
    if placed && place.is_none() {
        return None;
    }
    out.level = Some(level);
    out.tagged = true;
    let width = place.and_then(|at| u32::try_from(cells(rest.get(..at)?).checked_sub(1)?).ok());
    let text = trim_end(place.map_or(rest, |at| rest.get(..at).unwrap_or_default()));
    let used = u32::try_from(cells(text)).ok()?;
    out.cell = Some(Cell { column: u32::try_from(column).ok()?, width, used });
    Some(text)
}

/// Where ` model_management.py:748` begins at the end of a row.
fn place(s: &[u8]) -> Option<usize> {
    let number = s.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let file = s.get(..s.len() - number)?.strip_suffix(b".py:").filter(|_| number > 0)?;
    let name = file.iter().rev().take_while(|b| run(&[**b], 1) == 1).count();
    let at = file.len().checked_sub(name)?;
    (name > 0 && at > 0 && file.get(at - 1) == Some(&b' ')).then_some(at)
}

/// How many columns of a terminal a text takes.
pub(crate) fn cells(s: &[u8]) -> usize {
    std::str::from_utf8(s).map_or(s.len(), UnicodeWidthStr::width)
}

#[cfg(test)]
mod tests {
    use super::super::{super::line::Level, strip};

    /// The column of a message and its width.
    type Stands = (u32, Option<u32>);

    /// What a row says: its text, its level, and where the text stands.
    fn row(line: &str) -> (&str, Option<Level>, Option<Stands>) {
        let out = strip(line.trim_end().as_bytes());
        let text = std::str::from_utf8(out.text).unwrap();
        (text, out.level, out.cell.map(|cell| (cell.column, cell.width)))
    }

    #[test]
    fn rows_give_their_message() {
        for (line, text, level, cell) in [
            (
                "[19:23:55] INFO     Requested to load SDXL       model_management.py:748",
                "Requested to load SDXL",
                Level::Info,
                (20, Some(28)),
            ),
            ("[08/05/26 19:23:55] WARNING  WARNING, x   a.py:1", "WARNING, x", Level::Warning, (29, Some(12))),
            ("           INFO     got prompt      server.py:7", "got prompt", Level::Info, (20, Some(15))),
            ("           DETAIL   Pin x           server.py:7", "Pin x", Level::Detail, (20, Some(15))),
            ("           CRITICAL x               server.py:7", "x", Level::Critical, (20, Some(15))),
            ("INFO     12 models unloaded.   model_management.py:7", "12 models unloaded.", Level::Info, (9, Some(21))),
            ("comfyui-1  | [19:23:55] ERROR    x    __init__.py:7", "x", Level::Error, (20, Some(4))),
            ("comfyui-1  |            INFO     x    __init__.py:7", "x", Level::Info, (20, Some(4))),
            ("[19:23:55] INFO     模型  server.py:7", "模型", Level::Info, (20, Some(5))),
            ("[19:23:55] INFO              server.py:7", "", Level::Info, (20, Some(8))),
            ("[19:23:55] INFO     got prompt", "got prompt", Level::Info, (20, None)),
            ("[2026-08-05 19:23:55] INFO     got prompt", "got prompt", Level::Info, (31, None)),
            ("[19:23:55] INFO", "", Level::Info, (20, None)),
        ] {
            assert_eq!(row(line), (text, Some(level), Some(cell)), "{line}");
        }
        assert_eq!(strip(b"[19:23:55] INFO        0.0 seconds: /x   nodes.py:7").indent, 3);
        assert_eq!(strip(b"[08/05/26 19:23:55] INFO     x").stamp, Some(&b"08/05/26 19:23:55"[..]));
    }

    #[test]
    fn what_only_begins_like_a_row_stays() {
        for line in [
            "INFO got prompt server.py:7",
            "INFO      ",
            "INFORMATION  x   server.py:7",
            "WARNING: x   server.py:7",
            "NOTE     x   server.py:7",
        ] {
            assert_eq!(row(line), (line.trim_end(), None, None), "{line}");
        }
        // A padded level is one of its own, and the rest is text.
        for (line, text) in [
            ("INFO     a table of a node, without a place", "a table of a node, without a place"),
            ("INFO   got prompt   server.py:7", "got prompt   server.py:7"),
            ("INFO     x   server.py:", "x   server.py:"),
            ("INFO     x   server.pyc:7", "x   server.pyc:7"),
            ("INFO     x   /opt/server.py:7", "x   /opt/server.py:7"),
        ] {
            assert_eq!(row(line), (text, Some(Level::Info), None), "{line}");
        }
        assert_eq!(row("[19:23:55] INFO got prompt"), ("got prompt", Some(Level::Info), None));
        assert_eq!(row("[19:23:55] INFO: got prompt").0, "INFO: got prompt");
    }
}
