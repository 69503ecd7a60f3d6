//! Terminal sequences are taken out of a line: real ones, and those that a console showed instead of obeying.
//!
//! Only called on lines that hold such a sequence. Bare `[32m` without its escape byte is left to `prefix`.

use super::odd::has_odd;

/// Where the next sequence begins, and its length.
fn next(line: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    // Most often one stands right here, at the beginning of the line.
    if line.get(at) == Some(&0x1b)
        && let Some(length) = sequence(line.get(at..)?)
    {
        return Some((at, length));
    }
    while let Some(found) = memchr::memchr3(0x1b, b'^', 0xe2, line.get(at..)?) {
        at += found;
        if let Some(length) = sequence(line.get(at..)?) {
            return Some((at, length));
        }
        at += 1;
    }
    None
}

/// A level tag in colours and a text in which nothing else is odd, as loggers write most lines: the name in the tag,
/// and the text behind it without the reset at its end. Told without a copy.
#[inline]
pub(crate) fn coloured_tag(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = skip_colours(line)?.strip_prefix(b"[")?;
    let end = memchr::memchr(b']', inner.get(..12).unwrap_or(inner))?;
    let rest = skip_colours(inner.get(end + 1..)?)?;
    let rest = rest.strip_suffix(b"\x1b[0m").unwrap_or(rest);
    (!has_odd(rest)).then_some((inner.get(..end)?, rest))
}

/// The text behind its first colour codes.
fn skip_colours(s: &[u8]) -> Option<&[u8]> {
    let mut rest = s;
    while let [0x1b, b'[', parameters @ ..] = rest {
        rest = parameters.get(csi(parameters)?..)?;
    }
    Some(rest)
}

/// Length of the sequence that `s` begins with.
fn sequence(s: &[u8]) -> Option<usize> {
    match s {
        [0x1b, b'[', rest @ ..] => Some(2 + csi(rest).unwrap_or(0)),
        [0x1b, b']', rest @ ..] => Some(2 + osc(rest)),
        [0x1b, b'(' | b')' | b'#' | b'%', _, ..] => Some(3),
        [0x1b, 0x20..=0x7e, ..] => Some(2),
        [0x1b, ..] => Some(1),
        [b'^', b'[', b'[', rest @ ..] => csi(rest).map(|n| n + 3),
        [0xe2, 0x86, 0x90, b'[', rest @ ..] => csi(rest).map(|n| n + 4), // the arrow that old consoles draw
        [0xe2, 0x90, 0x9b, b'[', rest @ ..] => csi(rest).map(|n| n + 4), // the picture of the escape byte
        _ => None,
    }
}

/// Length of parameters and final byte.
fn csi(s: &[u8]) -> Option<usize> {
    let parameters = s.iter().take(32).take_while(|b| matches!(b, 0x20..=0x3f)).count();
    matches!(s.get(parameters), Some(0x40..=0x7e)).then_some(parameters + 1)
}

/// Length of a command string with its end, or of the whole rest when it has none.
fn osc(s: &[u8]) -> usize {
    match memchr::memchr2(0x07, 0x1b, s) {
        Some(end) if s.get(end) == Some(&0x07) => end + 1,
        Some(end) if s.get(end + 1) == Some(&b'\\') => end + 2,
        Some(end) => end,
        None => s.len(),
    }
}

/// Writes the line without sequences to `out`; false, and nothing written, when there are none.
pub(crate) fn strip(line: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(mut found) = next(line, 0) else { return false };
    out.clear();
    let mut from = 0;
    loop {
        let (at, length) = found;
        out.extend_from_slice(line.get(from..at).unwrap_or_default());
        from = at + length;
        match next(line, from) {
            Some(more) => found = more,
            None => break,
        }
    }
    out.extend_from_slice(line.get(from..).unwrap_or_default());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_go_and_text_stays() {
        for (line, expected) in [
            ("\x1b[32m[INFO]\x1b[0m got prompt", "[INFO] got prompt"),
            ("\x1b[1m\x1b[33m[WARNING]\x1b[0m WARNING, memory leak", "[WARNING] WARNING, memory leak"),
            ("←[32m[INFO]←[0m got prompt", "[INFO] got prompt"),
            ("^[[32m[INFO]^[[0m got prompt", "[INFO] got prompt"),
            ("\x1b]0;title\x07got prompt", "got prompt"),
            ("\x1b]0;title\x1b\\got prompt", "got prompt"),
            ("\x1b[?2004h$ python main.py\x1b[K", "$ python main.py"),
            ("\x1b(Bgot prompt\x1b", "got prompt"),
            ("cut \x1b[", "cut "),
        ] {
            let mut out = Vec::new();
            assert!(strip(line.as_bytes(), &mut out), "{line}");
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
        for line in ["got prompt", "    ^^^^^^^^^", "a ← b", "[32m[INFO][0m got prompt", "100%|██| 1/1"] {
            assert!(!strip(line.as_bytes(), &mut Vec::new()), "{line}");
        }
    }
}
