//! Prefixes without any brackets: a level or a stream in plain letters.

use super::{Stripped, leading, level, one_blank};

/// Blanks behind a level that are more than a sentence has.
const PADDED: usize = 2;

/// `INFO     got prompt` of a logger that pads its levels; behind a stamp one blank is enough.
pub(super) fn padded_level<'a>(s: &'a [u8], length: usize, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
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

/// What stands behind ` - `, with which Python's logging parts its fields.
pub(super) fn behind_dash(s: &[u8]) -> Option<&[u8]> {
    match s {
        [b' ', b'-', b' ', rest @ ..] => Some(rest),
        [b' ', b'-'] => s.get(2..),
        _ => None,
    }
}

/// `STDERR: got prompt` of a program that started ComfyUI.
pub(super) fn named_stream(s: &[u8], length: usize) -> Option<&[u8]> {
    let named = is_stream(s.get(..length)?);
    let rest = s.get(length + 1..)?;
    if named && matches!(rest.first(), None | Some(b' ')) { Some(one_blank(rest)) } else { None }
}

/// A stream's name, alone or behind that of SwarmUI's backend: `stderr`, `ComfyUI-0/STDERR`.
pub(super) fn is_stream(name: &[u8]) -> bool {
    let stream = match name.strip_prefix(b"ComfyUI-") {
        Some(backend) => backend.rsplit(|byte| *byte == b'/').next().filter(|last| last.len() < backend.len()),
        None => Some(name),
    };
    stream.is_some_and(|stream| stream.eq_ignore_ascii_case(b"stderr") || stream.eq_ignore_ascii_case(b"stdout"))
}
