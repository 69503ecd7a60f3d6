//! Prefixes that begin with a bracket: stamps, level tags, streams, and prompts in brackets.

use super::super::stamp::{clock, date_time, digits, fraction, zone};
use super::plain::is_stream;
use super::{Stripped, keep, leading, level, one_blank, rich, typed};
use crate::eight::{begins_with_pack, position};
use memchr::memchr;

/// The name of a node pack in brackets, and no prefix: levels, streams and prompts are named otherwise. Names behind a
/// stamp are another matter.
#[inline]
pub(super) fn is_bare(s: &[u8]) -> bool {
    s.get(1).is_some_and(u8::is_ascii_alphabetic) && begins_with_pack(s)
}

pub(super) fn bracket<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let inner = s.get(1..)?;
    match inner.first()? {
        b'0'..=b'9' | b' ' => stamp_in_brackets(s, inner, out).or_else(|| bare_colour(s, out)),
        b'A'..=b'Z' | b'a'..=b'z' => {
            let end = position(b']', inner.get(..160).unwrap_or(inner))?;
            let name = inner.get(..end)?;
            let rest = inner.get(end + 1..)?;
            if let Some(level) = level(name) {
                out.level = Some(level);
                out.tagged = true;
                return Some(one_blank(rest));
            }
            if out.stamp.is_some() {
                // Desktop and SwarmUI name the stream here, not the level of the text.
                if matches!(name, b"info" | b"warn" | b"error" | b"debug" | b"verbose" | b"silly") {
                    let pad = 7_usize.saturating_sub(name.len() + 2) + 1;
                    return Some(rest.get(leading(rest).min(pad)..).unwrap_or_default());
                }
                if matches!(name, b"Verbose" | b"Debug" | b"Info" | b"Init" | b"Warning" | b"Error") {
                    return Some(one_blank(rest));
                }
            }
            if is_stream(name) {
                return Some(one_blank(rest));
            }
            // `kubectl logs --prefix`.
            if name.starts_with(b"pod/") && name.iter().filter(|b| **b == b'/').count() == 2 {
                return Some(one_blank(rest));
            }
            weekday_stamp(name, rest, out).or_else(|| bracketed_prompt(name, rest, out))
        }
        _ => None,
    }
}

/// `[2026-08-05 12:00:00.123] `, `[12:00:00] ` and the kernel's `[  962.891902] `.
fn stamp_in_brackets<'a>(s: &'a [u8], inner: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    if let Some(time) = date_time(inner).or_else(|| clock(inner)) {
        let time = time + fraction(inner, time, true);
        let end = time + zone(inner, time);
        if inner.get(end) == Some(&b']') {
            keep(out, inner.get(..end)?);
            return behind_stamp(s, end + 2, out);
        }
    }
    let end = memchr(b']', inner.get(..40).unwrap_or(inner))?;
    let stamp = inner.get(..end)?;
    if rich::is_short_date(stamp) {
        keep(out, stamp);
        return behind_stamp(s, end + 2, out);
    }
    let seconds = stamp.get(leading(stamp)..)?;
    let whole = digits(seconds, 0);
    if whole > 0 && seconds.get(whole) == Some(&b'.') && digits(seconds, whole + 1) == 6 && seconds.len() == whole + 7 {
        keep(out, seconds);
        return Some(one_blank(s.get(end + 2..)?));
    }
    None
}

/// What stands from `at` on, behind a stamp in brackets; Rich prints its level there, in a column.
fn behind_stamp<'a>(s: &'a [u8], at: usize, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let rest = one_blank(s.get(at..)?);
    rich::behind_stamp(rest, s.len() - rest.len(), out).or(Some(rest))
}

/// `[32m[INFO][0m `: colours whose escape byte got lost, only before a level tag.
fn bare_colour<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let mut rest = s;
    while let Some(n) = bare(rest) {
        rest = rest.get(n..)?;
    }
    let inner = rest.strip_prefix(b"[")?;
    let end = memchr(b']', inner.get(..10).unwrap_or(inner))?;
    out.level = Some(level(inner.get(..end)?)?);
    out.tagged = true;
    rest = inner.get(end + 1..)?;
    while let Some(n) = bare(rest) {
        rest = rest.get(n..)?;
    }
    rest = one_blank(rest);
    while let Some(n) = bare(rest) {
        rest = rest.get(n..)?;
    }
    Some(rest.strip_suffix(b"[0m").unwrap_or(rest))
}

/// Length of `[0m` or `[1;33m`.
fn bare(s: &[u8]) -> Option<usize> {
    let inner = s.strip_prefix(b"[")?;
    let n = inner.iter().take(12).take_while(|b| b.is_ascii_digit() || **b == b';').count();
    (n > 0 && inner.get(n) == Some(&b'm')).then_some(n + 2)
}

/// `[Wed Aug  5 12:00:00 2026] ` of `dmesg -T`.
fn weekday_stamp<'a>(name: &'a [u8], rest: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let colon = memchr(b':', name)?;
    let time = name.get(colon.checked_sub(2)?..)?;
    let year = time.get(9..)?;
    if clock(time).is_none() || year.len() != 4 || digits(year, 0) != 4 || rest.first() != Some(&b' ') {
        return None;
    }
    keep(out, name);
    Some(one_blank(rest))
}

/// `[user@host ComfyUI]$ python main.py`.
fn bracketed_prompt<'a>(name: &[u8], rest: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let mark = matches!(rest, [b'$' | b'#', b' ', ..] | [b'$' | b'#']);
    if mark && memchr(b'@', name).is_some() { typed(rest.get(1..)?, out) } else { None }
}
