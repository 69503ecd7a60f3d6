//! What a web page leaves in a text that was copied from it: blanks that do not break, and marks of line ends; and the
//! zeros of files that were broken.

use memchr::memmem;

/// A blank at which no line is broken, in UTF-8.
const FIXED: &[u8] = "\u{a0}".as_bytes();
/// Ways to write the end of a line.
const BREAKS: [&[u8]; 4] = [b"<br>", b"<br/>", b"<br />", b"</br>"];

/// So many zeros are a hole.
const HOLE: usize = 8;

/// The text holds blanks that do not break.
pub(crate) fn has_fixed_blanks(text: &[u8]) -> bool {
    memmem::find(text, FIXED).is_some()
}

/// The text with blanks instead of those that do not break.
pub(crate) fn with_blanks(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memmem::find(rest, FIXED) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.push(b' ');
        rest = rest.get(at + FIXED.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// The text without the mark of its end.
#[inline]
pub(crate) fn without_break(text: &[u8]) -> &[u8] {
    if text.last() != Some(&b'>') {
        return text;
    }
    BREAKS.iter().find_map(|mark| text.strip_suffix(*mark)).unwrap_or(text)
}

/// The text without zeros inside words; none when there are none. Many zeros are a hole in a file, which parts what
/// stands around it.
pub(super) fn without_zeros(text: &[u8]) -> Option<Vec<u8>> {
    let inside = |run: &[u8]| run.len() < HOLE;
    let mut whole = Vec::with_capacity(text.len());
    for run in text.chunk_by(|a, b| (*a == 0) == (*b == 0)) {
        if run.first() != Some(&0) || !inside(run) {
            whole.extend_from_slice(run);
        }
    }
    (whole.len() < text.len()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_inside_words_vanish_and_holes_stay() {
        assert_eq!(without_zeros(b"Fl\0ux").as_deref(), Some(&b"Flux"[..]));
        let hole = [0; HOLE];
        assert_eq!(without_zeros(&[&hole, &b"x\0y"[..]].concat()), Some([&hole, &b"xy"[..]].concat()));
        assert_eq!(without_zeros(b"Flux"), None);
    }

    #[test]
    fn marks_of_a_page_go() {
        assert!(has_fixed_blanks("got\u{a0}prompt".as_bytes()));
        assert!(!has_fixed_blanks("Gerät: à".as_bytes()));
        assert_eq!(with_blanks("\u{a0}got\u{a0} prompt".as_bytes()), b" got  prompt");
        assert_eq!(without_break(b"got prompt<br>"), b"got prompt");
        assert_eq!(without_break(b"got prompt<br />"), b"got prompt");
        assert_eq!(without_break(b"<module>"), b"<module>");
    }
}
