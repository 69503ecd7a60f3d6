//! Prefixes that begin with a digit: bare stamps, and the logger, stream or host behind them.

use super::super::stamp::{clock, date_time, fraction, zone};
use super::letter::host_and_process;
use super::plain::behind_dash;
use super::{Stripped, keep, level, run};
use memchr::memchr;

pub(super) fn stamped<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let bare = match date_time(s) {
        Some(n) => n,
        None => clock(s)?,
    };
    let mut at = bare + fraction(s, bare, false);
    let stamp = s.get(..at)?;
    let zone = zone(s, at);
    at += zone;
    let rest = s.get(at..)?;
    let next = match rest {
        [] => rest,
        [b' ', b'-', b' ', tail @ ..] if bare > 8 => logger(tail, out).unwrap_or(tail),
        [b' ', b'-'] if bare > 8 => rest.get(2..)?,
        [b'-', b' ', tail @ ..] if bare > 8 => located_logger(tail, out)?,
        [b' ', tail @ ..] if zone > 0 => stream(tail).or_else(|| host_and_process(tail, true)).unwrap_or(tail),
        [b' ', tail @ ..] => tail,
        _ => return None,
    };
    keep(out, if zone > 0 { s.get(..at)? } else { stamp });
    Some(next)
}

/// `root - INFO - ` behind a stamp, or the level alone.
fn logger<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let name = run(s, 64);
    let behind = behind_dash(s.get(name..)?)?;
    let (level, rest) = match level(s.get(..name)?) {
        Some(level) => (level, behind),
        None => {
            let word = run(behind, 12);
            (level(behind.get(..word)?)?, behind_dash(behind.get(word..)?)?)
        }
    };
    out.level = Some(level);
    out.tagged = true;
    Some(rest)
}

/// `root:2043- INFO- ` behind a stamp and its dash, as launchers with a logger of their own write it.
fn located_logger<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let colon = memchr(b':', s.get(..64).unwrap_or(s))?;
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

/// `stderr F ` of a container runtime's own files.
fn stream(s: &[u8]) -> Option<&[u8]> {
    match s {
        [b's', b't', b'd', b'e', b'r', b'r', b' ', b'F' | b'P', b' ', rest @ ..]
        | [b's', b't', b'd', b'o', b'u', b't', b' ', b'F' | b'P', b' ', rest @ ..] => Some(rest),
        _ => None,
    }
}
