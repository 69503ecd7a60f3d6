//! The kernel's own lines: `dmesg`, with and without `-T`.

use super::super::stamp::{clock, digits};
use super::{Dialect, Stripped, keep, leading, one_blank};
use memchr::memchr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "dmesg",
    about: "the kernel's lines: seconds since the start, or with `-T` the time of day",
    begins: &[(b'[', b'['), (b'<', b'<')],
    take,
    examples: &[
        ("[  962.891902] python invoked oom-killer: x", "python invoked oom-killer: x"),
        ("<4>[  962.891902] python invoked oom-killer: x", "python invoked oom-killer: x"),
        ("[Wed Aug  5 12:00:00 2026] Out of memory: Killed", "Out of memory: Killed"),
    ],
};

/// Bytes of a stamp in brackets.
const LONGEST: usize = 40;

fn take<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    if let Some(rest) = s.strip_prefix(b"<") {
        let number = digits(rest, 0);
        let tail = rest.get(number..)?.strip_prefix(b">")?;
        return ((1..=3).contains(&number) && tail.first() == Some(&b'[')).then_some(tail);
    }
    let inner = s.get(1..)?;
    let end = memchr(b']', inner.get(..LONGEST).unwrap_or(inner))?;
    let stamp = inner.get(..end)?;
    let rest = inner.get(end + 1..)?;
    let seconds = stamp.get(leading(stamp)..)?;
    if is_seconds(seconds) {
        keep(out, seconds);
    } else if is_day_and_time(stamp) && rest.first() == Some(&b' ') {
        keep(out, stamp);
    } else {
        return None;
    }
    Some(one_blank(rest))
}

/// `962.891902`.
fn is_seconds(s: &[u8]) -> bool {
    let whole = digits(s, 0);
    whole > 0 && s.get(whole) == Some(&b'.') && digits(s, whole + 1) == 6 && s.len() == whole + 7
}

/// `Wed Aug  5 12:00:00 2026`.
fn is_day_and_time(s: &[u8]) -> bool {
    let time = memchr(b':', s).and_then(|colon| s.get(colon.checked_sub(2)?..));
    let year = |time: &[u8]| time.get(9..).is_some_and(|year| year.len() == 4 && digits(year, 0) == 4);
    s.first().is_some_and(u8::is_ascii_alphabetic) && time.is_some_and(|time| clock(time).is_some() && year(time))
}
