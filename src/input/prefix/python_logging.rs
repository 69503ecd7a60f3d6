//! Python's `logging` with other formats than ComfyUI's, and loggers that pad their levels.

use super::{Dialect, LETTERS, Stripped, is_name, leading, level, run};
use memchr::memchr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "Python's logging",
    about: "the level, with the logger's name or padded, behind a stamp or without one",
    begins: &LETTERS,
    take,
    examples: &[
        ("ERROR:root:!!! Exception during processing !!!", "!!! Exception during processing !!!"),
        ("2024-10-19 01:10:47,703 - root - INFO - got prompt", "got prompt"),
        ("2024-05-31 15:05:22,111 - INFO - got prompt", "got prompt"),
        ("2024-05-31 15:05:22,111 - WARNING -", ""),
        ("2024-05-31 15:05:22,111 - INFO", "INFO"),
        ("2024-05-31 15:05:22,111 INFO - got prompt", "got prompt"),
        ("[2024-05-31 15:05:22] ERROR - got prompt", "got prompt"),
        ("Aug 05 12:00:00 host python[1]: INFO - got prompt", "got prompt"),
        ("2024-09-05 14:51:43,690- root:2043- INFO- got prompt", "got prompt"),
        ("INFO     got prompt", "got prompt"),
        ("WARNING  got prompt", "got prompt"),
        ("CRITICAL  got prompt", "got prompt"),
        ("2024-05-31T15:05:22Z INFO got prompt", "got prompt"),
        ("2024-05-31 15:05:22,111 WARNING got prompt", "got prompt"),
        ("2024-05-31 15:05:22,111 INFO - **Node Type:** KSampler", "- **Node Type:** KSampler"),
    ],
};

/// The longest name of a logger, and of a level, in bytes.
const NAME: usize = 64;
const LEVEL: usize = 12;
/// Blanks behind a level that are more than a sentence has.
const PADDED: usize = 2;

fn take<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let length = s.iter().take(LEVEL).take_while(|byte| byte.is_ascii_uppercase()).count();
    match s.get(length)? {
        b':' => named(s, length, out),
        b' ' | b'\t' | 0 => padded_level(s, length, out),
        _ => None,
    }
}

/// `INFO got prompt` behind a stamp.
pub(super) fn level_behind_stamp<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    if out.stamp.is_none() || out.tagged { None } else { take(s, out) }
}

/// `ERROR:root:`.
fn named<'a>(s: &'a [u8], length: usize, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let level = level(s.get(..length)?)?;
    let rest = s.get(length + 1..)?;
    let name = run(rest, NAME);
    if name == 0 || rest.get(name) != Some(&b':') {
        return None;
    }
    out.level = Some(level);
    out.tagged = true;
    rest.get(name + 1..)
}

/// `INFO     got prompt` of a logger that pads its levels; behind a stamp one blank is enough.
fn padded_level<'a>(s: &'a [u8], length: usize, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let rest = s.get(length..)?;
    let blanks = leading(rest);
    if blanks < PADDED && (out.stamp.is_none() || out.tagged) {
        return None;
    }
    let level = level(s.get(..length)?)?;
    out.level = Some(level);
    out.tagged = true;
    if let Some(rest) = behind_dash(rest).filter(|_| blanks < PADDED) {
        return Some(rest);
    }
    // Levels are padded to the longest one, `CRITICAL`; what stands behind that is indented.
    let pad = if blanks < PADDED { 1 } else { "CRITICAL ".len().saturating_sub(length).max(1) };
    rest.get(pad.min(blanks)..)
}

/// `root - INFO - ` behind a stamp and its dash, or the level alone.
pub(super) fn behind_stamp<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let name = run(s, NAME);
    let behind = behind_dash(s.get(name..)?)?;
    let (level, rest) = match level(s.get(..name)?) {
        Some(level) => (level, behind),
        None => {
            let word = run(behind, LEVEL);
            (level(behind.get(..word)?)?, behind_dash(behind.get(word..)?)?)
        }
    };
    out.level = Some(level);
    out.tagged = true;
    Some(rest)
}

/// `root:2043- INFO- ` behind a stamp and its dash, as launchers with a logger of their own write it.
pub(super) fn located<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let colon = memchr(b':', s.get(..NAME).unwrap_or(s)).filter(|colon| s.iter().take(*colon).all(|b| is_name(*b)))?;
    let rest = s.get(colon + 1..)?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = rest.get(digits..)?.strip_prefix(b"- ").filter(|_| digits > 0)?;
    let word = rest.iter().take_while(|b| b.is_ascii_uppercase()).count();
    let level = level(rest.get(..word)?)?;
    let rest = rest.get(word..)?.strip_prefix(b"-")?;
    out.level = Some(level);
    out.tagged = true;
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

/// What stands behind ` - `, with which Python's logging parts its fields.
fn behind_dash(s: &[u8]) -> Option<&[u8]> {
    match s {
        // A list of an Error Report.
        [b' ', b'-', b' ', b'*', b'*', ..] => None,
        [b' ', b'-', b' ', rest @ ..] => Some(rest),
        [b' ', b'-'] => s.get(2..),
        _ => None,
    }
}
