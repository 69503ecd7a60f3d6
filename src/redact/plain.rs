//! A line as it would be read: without escape sequences, control characters, and letters that nobody sees.

use std::borrow::Cow;

use crate::shown::is_unseen;

/// The line without what is no text. Nothing is dropped that could be read: behind a sequence without an end the line goes on.
pub(crate) fn plain(line: &str) -> Cow<'_, str> {
    let mut begin = special(line);
    if begin == line.len() {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    loop {
        out.push_str(rest.get(..begin).unwrap_or_default());
        rest = rest.get(begin..).unwrap_or_default();
        let Some(letter) = rest.chars().next() else { return out.into() };
        let length = sequence(rest);
        if length == 0 {
            if !is_unseen(letter) {
                out.push(letter);
            } else if matches!(letter, '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}') {
                out.push(' ');
            }
        }
        rest = rest.get(length.max(letter.len_utf8())..).unwrap_or_default();
        begin = special(rest);
    }
}

/// Letters, digits and marks of ASCII alone, as in most lines.
pub(super) fn is_bare(bytes: &[u8]) -> bool {
    // No byte ends it early, so that many are looked at at once.
    let ascii = bytes.iter().fold(true, |all, byte| all & matches!(byte, 0x20..=0x7e | b'\t'));
    ascii && memchr::memchr(b'^', bytes).is_none()
}

/// Columns of a line, without what is not seen.
pub(crate) fn width(text: &str) -> usize {
    if is_bare(text.as_bytes()) { text.len() } else { plain(text).chars().count() }
}

/// Where the first letter stands that may begin a sequence or is not seen; the length of the text when there is none.
fn special(text: &str) -> usize {
    let bytes = text.as_bytes();
    if is_bare(bytes) {
        return bytes.len();
    }
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'^' if bytes.get(at + 1) == Some(&b'[') => return at,
            0x20..=0x7e | b'\t' => at += 1,
            0x80.. => {
                let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) else { return at };
                if is_unseen(letter) || matches!(letter, '←' | '␛') {
                    return at;
                }
                at += letter.len_utf8();
            }
            _ => return at,
        }
    }
    at
}

/// Length of the escape sequence that `text` begins with; zero when there is none.
fn sequence(text: &str) -> usize {
    let (kind, rest, begun) = match text.as_bytes() {
        [0x1b, kind, ..] => (*kind, text.get(2..), 2),
        [0xc2, 0x9b, ..] => (b'[', text.get(2..), 2),
        [0xc2, 0x9d, ..] => (b']', text.get(2..), 2),
        [0xc2, 0x90, ..] => (b'P', text.get(2..), 2),
        [b'^', b'[', b'[', ..] => return text.get(3..).and_then(csi).map_or(0, |length| 3 + length),
        [0xe2, 0x86, 0x90, b'[', ..] | [0xe2, 0x90, 0x9b, b'[', ..] => {
            return text.get(4..).and_then(csi).map_or(0, |length| 4 + length);
        }
        [0x1b] => return 1,
        _ => return 0,
    };
    // A letter of more than one byte follows the escape byte.
    let Some(rest) = rest else { return 1 };
    match kind {
        b'[' => begun + csi(rest).unwrap_or(0),
        b']' | b'P' | b'X' | b'^' | b'_' => begun + text_sequence(rest),
        b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/' | b'#' | b'%' | b' ' => {
            begun + rest.chars().next().filter(char::is_ascii_graphic).map_or(0, char::len_utf8)
        }
        0x20..=0x7e => begun,
        _ => 1,
    }
}

/// Length of parameters and final byte.
fn csi(text: &str) -> Option<usize> {
    let parameters = text.bytes().take(64).take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
    matches!(text.as_bytes().get(parameters), Some(0x40..=0x7e)).then_some(parameters + 1)
}

/// Length of a command string up to its end; without an end nothing of it is dropped.
fn text_sequence(text: &str) -> usize {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            0x07 => return at + 1,
            0x1b if bytes.get(at + 1) == Some(&b'\\') => return at + 2,
            0xc2 if bytes.get(at + 1) == Some(&0x9c) => return at + 2,
            0x1b => return 0,
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_of_every_kind_go_and_text_stays() {
        for (line, expected) in [
            ("mar\x1b[31mlen\x1b[0mka", "marlenka"),
            ("mar\u{200b}len\u{ad}ka\u{202e}", "marlenka"),
            ("mar\x1b]8;;http://x\x07lenka\x1b]8;;\x1b\\", "marlenka"),
            ("mar\x1bP1$r\x1b\\lenka", "marlenka"),
            ("\x1b]0;never ends marlenka", "0;never ends marlenka"),
            ("\u{9b}31mmarlenka", "marlenka"),
            ("mar\x1b(Blenka\x1b=", "marlenka"),
            ("mar\0len\x08ka", "marlenka"),
            ("a\u{2028}b\u{85}c", "a b c"),
            ("←[32mmarlenka^[[0m", "marlenka"),
            ("mar^[[31mlenka^[[0m ^[ ^x", "marlenka ^[ ^x"),
            ("\x1b", ""),
            ("\x1bé", "é"),
            ("模型\tok", "模型\tok"),
        ] {
            assert_eq!(plain(line), expected, "{line:?}");
        }
    }
}
