//! Time stamps as loggers write them: how long one is, and where ComfyUI's log buffer put one inside a line.
//!
//! Only lengths; what a time means is not decided here.

use crate::eight::has_shape;
use memchr::{memmem, memrchr};

/// Number of digits from a position on.
pub(crate) fn digits(s: &[u8], from: usize) -> usize {
    s.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Length of `12:00:00`.
pub(crate) fn clock(s: &[u8]) -> Option<usize> {
    has_shape(s, b"00:00:00").then_some(8)
}

/// Length of `12:00`, where no seconds follow.
fn minutes(s: &[u8]) -> Option<usize> {
    match s {
        [_, _, b':', _, _, b':' | b'0'..=b'9', ..] => None,
        [a, b, b':', c, d, ..] if [a, b, c, d].iter().all(|x| x.is_ascii_digit()) => Some(5),
        _ => None,
    }
}

/// Length of `2026-08-05 12:00:00` or of its form with a `T`; an old Manager leaves the seconds out.
pub(crate) fn date_time(s: &[u8]) -> Option<usize> {
    let [_, _, _, _, first @ (b'-' | b'/'), _, _, second @ (b'-' | b'/'), g, h, b' ' | b'T', time @ ..] = s else {
        return None;
    };
    let date = has_shape(s, &[b'0', b'0', b'0', b'0', *first, b'0', b'0', *second]);
    if !date || !g.is_ascii_digit() || !h.is_ascii_digit() {
        return None;
    }
    clock(time).or_else(|| minutes(time)).map(|n| n + 11)
}

/// Length of `.123456`, `,123`, and within brackets of `:123`.
pub(crate) fn fraction(s: &[u8], at: usize, colon: bool) -> usize {
    let mark = match s.get(at) {
        Some(b'.' | b',') => true,
        Some(b':') => colon,
        _ => false,
    };
    match digits(s, at + 1) {
        n @ 1..=9 if mark => n + 1,
        _ => 0,
    }
}

/// Length of `Z`, `+0200` or `+02:00`.
pub(crate) fn zone(s: &[u8], at: usize) -> usize {
    match s.get(at..) {
        Some([b'Z', ..]) => 1,
        Some([b'+' | b'-', a, b, b':', c, d, ..]) if [a, b, c, d].iter().all(|x| x.is_ascii_digit()) => 6,
        Some([b'+' | b'-', a, b, c, d, ..]) if [a, b, c, d].iter().all(|x| x.is_ascii_digit()) => 5,
        _ => 0,
    }
}

/// Length of the stamp that ComfyUI's log buffer writes before each write (`2025-11-27T00:45:36.443341 - `).
pub(crate) fn of_buffer(s: &[u8]) -> Option<usize> {
    if s.get(10) != Some(&b'T') {
        return None;
    }
    let mut at = date_time(s)?;
    at += fraction(s, at, false);
    match s.get(at..)? {
        [b' ', b'-', b' ', ..] => Some(at + 3),
        [b' ', b'-'] => Some(at + 2),
        _ => None,
    }
}

/// Where the next such stamp stands, looking from `from` on, with its length.
pub(crate) fn next_of_buffer(s: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        at += memmem::find(s.get(at..)?, b" -")?;
        // The stamp ends here: with microseconds, or without.
        for length in [26, 19] {
            let Some(start) = at.checked_sub(length) else { continue };
            if start >= from
                && let Some(n) = of_buffer(s.get(start..)?)
                && n >= length + 2
                && n <= length + 3
            {
                return Some((start, n));
            }
        }
        at += 2;
    }
}

/// A text that ends in the stamp of an empty write loses it.
#[inline]
pub(crate) fn without_tail(s: &[u8]) -> &[u8] {
    if s.last() != Some(&b'-') {
        return s;
    }
    let end = memrchr(b' ', s).unwrap_or(0);
    for length in [26, 19] {
        if let Some(start) = end.checked_sub(length)
            && of_buffer(s.get(start..).unwrap_or_default()).is_some_and(|n| start + n == s.len())
        {
            return s.get(..start).unwrap_or_default();
        }
    }
    s
}

/// Takes the stamps of the log buffer out of a line of several writes, but for the first one; false when there are none.
pub(crate) fn join_writes(text: &[u8], out: &mut Vec<u8>) -> bool {
    let from = of_buffer(text).unwrap_or(0);
    let Some(mut found) = next_of_buffer(text, from) else { return false };
    out.clear();
    let mut at = 0;
    loop {
        let (start, length) = found;
        out.extend_from_slice(text.get(at..start).unwrap_or_default());
        at = start + length;
        match next_of_buffer(text, at) {
            Some(more) => found = more,
            None => break,
        }
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_the_log_buffer() {
        let line = b"[START] Security scan2026-07-14T14:40:29.173991 -";
        assert_eq!(without_tail(line), b"[START] Security scan");
        assert_eq!(without_tail(b"a -"), b"a -");
        let line = b"** Path:2026-09-12T14:12:46.616315 -  2026-09-12T14:12:46.616317 - D:\\x";
        assert_eq!(next_of_buffer(line, 1), Some((8, 29)));
        assert_eq!(next_of_buffer(line, 37), Some((38, 29)));
        assert_eq!(next_of_buffer(line, 39), None);
    }
}
