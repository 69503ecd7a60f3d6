//! Prefixes that begin with a letter: service names of Compose, syslog, Python's logging, shell prompts.

use super::super::stamp::{clock, digits, fraction};
use super::plain::{named_stream, padded_level};
use super::{Stripped, keep, leading, level, rich, run, typed};
use crate::eight::{eight_of, end_of_long_word};
use memchr::{memchr, memmem};

/// A word, and no prefix that begins with one: those have a bar, a figure or a path behind their first word, or a colon
/// without a blank. The question is put to every line and its answer is hardly ever no, so that it is asked without
/// branches.
#[inline(always)]
pub(super) fn is_bare(s: &[u8]) -> bool {
    let Some(at) = end_of_long_word(s) else { return false };
    let (Some(end), Some(next)) = (s.get(at), s.get(at + 1)) else { return false };
    let behind_blank = (*end == b' ') & IN_A_TEXT[usize::from(*next)];
    let behind_colon = (*end == b':') & (*next == b' ');
    (behind_blank | behind_colon) & !begins_prefix(s)
}

/// The few words that begin a prefix all the same: `PS `, of the levels that Rich pads to eight letters the one that is
/// as long, and the names of the streams.
#[inline]
fn begins_prefix(s: &[u8]) -> bool {
    const fn word(text: &[u8; 8]) -> u64 {
        u64::from_le_bytes(*text)
    }
    let eight = eight_of(s).unwrap_or(0);
    let small = (eight | word(b"        ")) & word(b"\xff\xff\xff\xff\xff\xff\0\0");
    let stream = (small == word(b"stderr\0\0")) | (small == word(b"stdout\0\0"));
    stream | (eight == word(b"CRITICAL")) | (eight & 0xff_ffff == word(b"PS \0\0\0\0\0"))
}

/// What may follow a word and a blank in a text, and in no prefix.
const IN_A_TEXT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = !matches!(byte as u8, b' ' | b'\t' | b'|' | b'0'..=b'9');
        byte += 1;
    }
    table
};

pub(super) fn word<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let length = run(s, 64);
    match s.get(length)? {
        b' ' => {
            let at = length + leading(s.get(length..)?);
            match s.get(at)? {
                b'|' => compose(s, length, at),
                b'0'..=b'9' => syslog(s, at, out),
                b'C'..=b'Z' | b'/' if s.starts_with(b"PS ") => prompt_of_windows(s.get(3..)?, out),
                _ => None,
            }
            .or_else(|| rich::without_stamp(s, out))
            .or_else(|| padded_level(s, length, out))
        }
        b':' => match s {
            [_, b':', b'\\', ..] => prompt_of_windows(s, out),
            _ => logging(s, length, out).or_else(|| named_stream(s, length)),
        },
        b'@' => prompt_of_shell(s, out),
        0x80.. => {
            // A month in another language: `9月 08`, `août 05`.
            let token = s.iter().take(16).take_while(|b| **b != b' ').count();
            let at = token + leading(s.get(token..)?);
            if s.get(at)?.is_ascii_digit() { syslog(s, at, out) } else { None }
        }
        _ => None,
    }
}

/// `comfyui-1  | `.
fn compose(s: &[u8], name: usize, bar: usize) -> Option<&[u8]> {
    let rest = s.get(bar + 1..)?;
    let service = s.get(..name)?;
    let numbered = matches!(service, [.., b'-' | b'_', b'0'..=b'9']) || service.starts_with(b"comfy");
    let spaced = bar >= name + 2 || numbered;
    match rest {
        [] if spaced => Some(rest),
        [b' ', tail @ ..] if spaced => Some(tail),
        _ => None,
    }
}

/// `Aug 05 12:00:00 host python[1234]: `; the month in any language, `day` is where the day stands.
fn syslog<'a>(s: &'a [u8], day: usize, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let number = digits(s, day);
    if !(1..=2).contains(&number) || day > 16 {
        return None;
    }
    let mut time = day + number;
    if s.get(time) == Some(&b'.') {
        time += 1;
    }
    if s.get(time) != Some(&b' ') {
        return None;
    }
    time += 1;
    let clock = clock(s.get(time..)?)?;
    let end = time + clock + fraction(s, time + clock, false);
    let rest = host_and_process(s.get(end..)?.strip_prefix(b" ")?, false)?;
    keep(out, s.get(..end)?);
    Some(rest)
}

/// `host python[1234]: `. Behind a container's stamp the process must have its number, since `ComfyUI version: 0.3.64`
/// is a message there.
pub(super) fn host_and_process(s: &[u8], numbered: bool) -> Option<&[u8]> {
    let host = s.iter().take(128).position(|b| *b == b' ')?;
    let tail = s.get(host + 1..)?;
    let colon = memchr(b':', tail.get(..96).unwrap_or(tail))?;
    let process = tail.get(..colon)?;
    if numbered && !process.ends_with(b"]") && process != b"kernel" {
        return None;
    }
    let plain = !process.is_empty() && !process.iter().any(|b| matches!(b, b' ' | b'"' | b'\''));
    match tail.get(colon + 1..)? {
        [] if plain => Some(&[]),
        [b' ', rest @ ..] if plain => Some(rest),
        _ => None,
    }
}

/// `ERROR:root:`.
fn logging<'a>(s: &'a [u8], length: usize, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let level = level(s.get(..length)?)?;
    let rest = s.get(length + 1..)?;
    let name = run(rest, 64);
    if name == 0 || rest.get(name) != Some(&b':') {
        return None;
    }
    out.level = Some(level);
    out.tagged = true;
    rest.get(name + 1..)
}

/// `C:\ComfyUI>python main.py`, without `PS `.
fn prompt_of_windows<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let end = memchr(b'>', s.get(..260).unwrap_or(s))?;
    let path = s.get(..end)?;
    let drive = matches!(path, [b'A'..=b'Z' | b'a'..=b'z', b':', b'\\', ..]);
    let from = if drive { 2 } else { 0 };
    let odd = |b: &u8| matches!(b, b':' | b'"' | b'|' | b'<' | b'*' | b'?');
    let arrow = matches!(path.last(), Some(b'-' | b'='));
    if (drive || path.starts_with(b"/")) && !path.iter().skip(from).any(odd) && !arrow {
        typed(s.get(end + 1..)?, out)
    } else {
        None
    }
}

/// `user@host:~/ComfyUI$ python main.py`, and `user@mac ComfyUI % python main.py`.
fn prompt_of_shell<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let window = s.get(..200).unwrap_or(s);
    let at = memchr(b'@', window)?;
    let after = window.get(at + 1..)?;
    let host = run(after, 64);
    let from = at + 1 + host;
    let rest = s.get(from..)?;
    match (host, rest.first()?) {
        (1.., b':') => {
            let mark = window.get(from..)?.windows(2).position(|w| matches!(w, [b'$' | b'#', b' ']));
            let mark = mark.or_else(|| matches!(s.last(), Some(b'$' | b'#')).then(|| rest.len() - 1))?;
            typed(s.get(from + mark + 1..)?, out)
        }
        (1.., b' ') => {
            let mark = memmem::find(window.get(from..)?, b" % ")?;
            typed(s.get(from + mark + 2..)?, out)
        }
        _ => None,
    }
}
