//! Walks along a line with the parts of a template: literals are compared, captures take what their type allows.

use memchr::memchr;

use super::capture::{CaptureType, blanks, token_len};
use super::capture_offsets::{MOST_TRIES, Slot, Spans};
use super::template::Part;
use crate::eight::begins_with;

/// Matches `parts` at `at`; where they end.
pub(super) fn walk(parts: &[Part], slots: &[Slot], text: &[u8], at: usize, spans: &mut Spans) -> Option<usize> {
    let mut parts = parts;
    let mut at = at;
    while let Some((part, later)) = parts.split_first() {
        match part {
            Part::Literal(literal) => at += literal_prefix(literal, text.get(at..)?, 0, later.is_empty())?,
            Part::Capture(number) => {
                let kind = &slots.get(*number)?.kind;
                if kind.is_free() {
                    return free_capture(*number, later, slots, text, at, spans);
                }
                let end = at + token_len(kind, text.get(at..)?)?;
                if end > text.len() {
                    return None;
                }
                spans.set(*number, at, end);
                at = end;
            }
        }
        parts = later;
    }
    Some(at)
}

/// Text up to the next literal; several places of it are tried in order.
fn free_capture(
    number: usize,
    later: &[Part],
    slots: &[Slot],
    text: &[u8],
    from: usize,
    spans: &mut Spans,
) -> Option<usize> {
    let is_word = slots.get(number)?.kind == CaptureType::Word;
    let rest = text.get(from..)?;
    let limit = from + if is_word { word_len(rest) } else { rest.len() };
    let Some(Part::Literal(next)) = later.first() else {
        if is_word && limit == from {
            return None;
        }
        spans.set_trimmed(number, text, from, limit);
        return Some(limit);
    };
    let head = next.iter().position(|byte| *byte == b' ').unwrap_or(next.len());
    let needle = next.get(..head.max(1))?;
    let mut search = from;
    while let Some(at) = place_of(needle, text, search) {
        search = at + needle.len();
        spans.tries += 1;
        if at > limit || spans.tries > MOST_TRIES {
            return None;
        }
        if at == from && is_word {
            continue;
        }
        spans.set_trimmed(number, text, from, at);
        if let Some(end) = walk(later, slots, text, at, spans) {
            return Some(end);
        }
    }
    None
}

/// Where `needle` stands next, from `from` on. A needle is a word or less and is mostly found at once, so that
/// preparing a searcher for it (30 ns and more) would cost more than the search.
fn place_of(needle: &[u8], text: &[u8], from: usize) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    loop {
        at += memchr(first, text.get(at..)?)?;
        if text.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

/// How much of `text` the literal takes; one blank in it takes one or more. The first `known` bytes are the same.
pub(super) fn literal_prefix(literal: &[u8], text: &[u8], known: usize, last: bool) -> Option<usize> {
    let known = known.min(literal.len());
    if begins_with(text.get(known..)?, literal.get(known..)?) {
        let mut used = literal.len();
        if literal.last() == Some(&b' ') && !last {
            used += blanks(text.get(used..)?);
        }
        return Some(used);
    }
    let same = common(literal, text);
    // Only blanks may be more or fewer; most lines differ in something else, and walking through them again would
    // double the cost of looking for a rule.
    let behind_blank = same.checked_sub(1).and_then(|before| literal.get(before)) == Some(&b' ');
    let may_differ = match (literal.get(same), text.get(same)) {
        (Some(b' '), Some(b'\t')) => true,
        (Some(b' '), _) | (_, Some(b' ' | b'\t')) => behind_blank,
        _ => false,
    };
    if may_differ { loose_prefix(literal, text) } else { None }
}

/// How many bytes are the same at the beginning.
fn common(a: &[u8], b: &[u8]) -> usize {
    let (a8, b8) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    let mut at = 0;
    for (x, y) in a8.iter().zip(b8) {
        let differs = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differs != 0 {
            return at + (differs.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let (a, b) = (a.get(at..).unwrap_or_default(), b.get(at..).unwrap_or_default());
    at + a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// A literal whose blanks are not those of the text.
#[inline(never)]
fn loose_prefix(literal: &[u8], text: &[u8]) -> Option<usize> {
    let mut used = 0;
    for byte in literal {
        if *byte == b' ' {
            let skipped = blanks(text.get(used..)?);
            if skipped == 0 && literal.get(..used).is_none_or(|done| done.last() != Some(&b' ')) {
                return None;
            }
            used += skipped;
        } else if text.get(used) == Some(byte) {
            used += 1;
        } else {
            return None;
        }
    }
    Some(used)
}

fn word_len(text: &[u8]) -> usize {
    text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len())
}
