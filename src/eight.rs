//! Eight bytes at a time: questions asked of every line, answered without looking at its bytes one by one.

const HIGH: u64 = each(0x80);

const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The first eight bytes of `text`.
#[inline]
pub(crate) fn eight_of(text: &[u8]) -> Option<u64> {
    text.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The first four bytes of `text`.
#[inline]
pub(crate) fn four_of(text: &[u8]) -> Option<u64> {
    text.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes).into())
}

/// The highest bit of each byte that equals `byte`.
#[inline]
pub(crate) fn places_of(bytes: u64, byte: u8) -> u64 {
    const LOW: u64 = each(0x7f);
    let differs = bytes ^ each(byte);
    !(((differs & LOW) + LOW) | differs | LOW)
}

/// The highest bit of each byte that is not ASCII.
#[inline]
pub(crate) fn beyond_ascii(bytes: u64) -> u64 {
    bytes & HIGH
}

/// Number of the first byte of which a bit is set.
#[inline]
pub(crate) fn first_place(places: u64) -> Option<usize> {
    (places != 0).then(|| (places.trailing_zeros() / 8) as usize)
}

/// Where `byte` stands first in `text`; mostly among the first eight.
#[inline]
pub(crate) fn position(byte: u8, text: &[u8]) -> Option<usize> {
    let near = eight_of(text).and_then(|bytes| first_place(places_of(bytes, byte)));
    near.or_else(|| memchr::memchr(byte, text))
}

/// Bytes of a text in which its first word is looked for.
const WORD: usize = 32;

/// Where the first byte stands that ends a name for sure: a blank, a tab, `:`, `@`, or one beyond ASCII. None for a text
/// of less than eight bytes; only the first 32 are looked at, whose number is the answer when none of them does.
#[inline]
pub(crate) fn end_of_word(text: &[u8]) -> Option<usize> {
    let ends = |bytes: u64| {
        let blanks = places_of(bytes, b' ') | places_of(bytes, b'\t');
        let signs = places_of(bytes, b':') | places_of(bytes, b'@');
        first_place(blanks | signs | beyond_ascii(bytes))
    };
    if let Some(at) = ends(eight_of(text)?) {
        return Some(at);
    }
    let head = text.get(..WORD).unwrap_or(text);
    let mut at = 8;
    while let Some(bytes) = head.get(at..).and_then(eight_of) {
        if let Some(end) = ends(bytes) {
            return Some(at + end);
        }
        at += 8;
    }
    let rest = head.get(at..).unwrap_or_default();
    let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\t' | b':' | b'@') || !byte.is_ascii());
    Some(end.map_or(head.len(), |end| at + end))
}

/// `text` begins with a bracket, and a name in it that has a `-` or `_`, as node packs call themselves: `[was-node-suite]`.
/// Only the first 32 bytes are looked at.
#[inline]
pub(crate) fn begins_with_pack(text: &[u8]) -> bool {
    let head = text.get(1..WORD).unwrap_or_default();
    let Some(name) = memchr::memchr(b']', head).and_then(|end| head.get(..end)) else { return false };
    // What else may end the name is in a stamp, a prompt, or the name of a stream.
    let plain = |byte: &u8| byte.is_ascii() && !matches!(byte, b' ' | b'/' | b':' | b'@');
    name.iter().all(plain) && name.iter().any(|byte| matches!(byte, b'-' | b'_'))
}

/// The highest bit of each byte from `from` to `to`, both ASCII; other bytes of `bytes` may be anything.
#[inline]
fn places_between(bytes: u64, from: u8, to: u8) -> u64 {
    let low = bytes & !HIGH;
    let at_least = low + each(0x80 - from);
    let beyond = low + each(0x7f - to);
    at_least & !beyond & !bytes & HIGH
}

/// The first eight bytes of `text` are those of `shape`, in which `0` stands for any digit.
#[inline]
pub(crate) fn has_shape(text: &[u8], shape: &[u8; 8]) -> bool {
    let shape = u64::from_le_bytes(*shape);
    let any = places_of(shape, b'0');
    // Seven bits of each place in which the shape leaves open what stands there.
    let free = any - (any >> 7);
    eight_of(text)
        .is_some_and(|bytes| (places_between(bytes, b'0', b'9') & any == any) & ((bytes ^ shape) & !free & !any == 0))
}

/// How many digits `text` begins with.
#[inline]
pub(crate) fn digits(text: &[u8]) -> usize {
    leading(text, |bytes| places_between(bytes, b'0', b'9'), |byte| byte.is_ascii_digit())
}

/// How many letters, digits, `_` and bytes beyond ASCII `text` begins with.
#[inline]
pub(crate) fn name_bytes(text: &[u8]) -> usize {
    let places = |bytes: u64| {
        let letters = places_between(bytes | each(0x20), b'a', b'z');
        letters | places_between(bytes, b'0', b'9') | places_of(bytes, b'_') | beyond_ascii(bytes)
    };
    leading(text, places, |byte| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii())
}

/// How many bytes `text` begins with of which `places` sets the highest bit; `is` says the same of one byte.
#[inline(always)]
fn leading(text: &[u8], places: impl Fn(u64) -> u64, is: impl Fn(u8) -> bool) -> usize {
    let mut at = 0;
    while let Some(bytes) = text.get(at..).and_then(eight_of) {
        match first_place(!places(bytes) & HIGH) {
            Some(length) => return at + length,
            None => at += 8,
        }
    }
    at + text.get(at..).unwrap_or_default().iter().take_while(|byte| is(**byte)).count()
}

/// A hash of all bytes of `text`, eight at a time; good for tables, and not against those who want to fill one place.
#[inline]
pub(crate) fn hash(text: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, bytes: u64| {
        let mixed = (hash ^ bytes).wrapping_mul(ODD);
        mixed ^ (mixed >> 32)
    };
    let begin = text.len() as u64;
    let Some(last) = text.last_chunk::<8>() else {
        return mix(begin, text.iter().fold(0, |bytes, byte| (bytes << 8) | u64::from(*byte)));
    };
    let whole = text.as_chunks::<8>().0.iter().fold(begin, |hash, bytes| mix(hash, u64::from_le_bytes(*bytes)));
    mix(whole, u64::from_le_bytes(*last))
}

/// `text` begins with `literal`. Both are a few words long, for which a call of the library costs more than comparing.
#[inline]
pub(crate) fn begins_with(text: &[u8], literal: &[u8]) -> bool {
    text.get(..literal.len()).is_some_and(|begin| same(begin, literal))
}

/// Two texts of the same length are the same: the longest pieces that fit, the last one overlapping those before.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    if let (Some(a_end), Some(b_end)) = (a.last_chunk::<16>(), b.last_chunk::<16>()) {
        return a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0).all(|(a, b)| a == b) && a_end == b_end;
    }
    if let (Some(a_end), Some(b_end)) = (a.last_chunk::<8>(), b.last_chunk::<8>()) {
        return eight_of(a) == eight_of(b) && a_end == b_end;
    }
    if let (Some(a_end), Some(b_end)) = (a.last_chunk::<4>(), b.last_chunk::<4>()) {
        return four_of(a) == four_of(b) && a_end == b_end;
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_exact_for_every_byte() {
        for byte in 0..=255_u8 {
            for other in 0..=255_u8 {
                let bytes = [other, byte, other, other, byte, other, other, byte];
                let expected = bytes.iter().enumerate().filter(|(_, b)| **b == byte);
                let expected = expected.fold(0, |all, (at, _)| all | (0x80 << (8 * at)));
                assert_eq!(places_of(u64::from_le_bytes(bytes), byte), expected, "{byte} {other}");
            }
        }
    }

    #[test]
    fn words_end_at_the_first_sign() {
        assert_eq!(end_of_word(b"got"), None);
        for length in 8..40 {
            for end in [b' ', b'\t', b':', b'@', 0xc3] {
                assert_eq!(end_of_word(&vec![b'x'; length]), Some(length.min(32)), "{length}");
                for at in 0..length {
                    let mut text = vec![b'x'; length];
                    text[at] = end;
                    assert_eq!(end_of_word(&text), Some(at.min(32)), "{end} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn shapes_hold_for_each_byte() {
        assert!(!has_shape(b"12:34:5", b"00:00:00"));
        for at in 0..8 {
            for byte in 0..=255_u8 {
                let mut text = *b"12:34:56 and more";
                text[at] = byte;
                let expected = if at == 2 || at == 5 { byte == b':' } else { byte.is_ascii_digit() };
                assert_eq!(has_shape(&text, b"00:00:00"), expected, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn packs_name_themselves_in_brackets() {
        for (text, expected) in [
            ("[was-node-suite-comfyui] cached 8 entries of it", true),
            ("[ComfyUI_essentials] cached 8 entries of the table", true),
            ("[ComfyUI-0/STDERR] got prompt and what else there is", false),
            ("[pod/comfy-0/comfyui] got prompt and what else there is", false),
            ("[user-name@host ComfyUI]$ python main.py --lowvram", false),
            ("[Wed Aug  5 12:00:00 2026] Out of memory: Killed-off", false),
            ("[WARNING] a-text that has more than 32 bytes in it", false),
            ("[a-name-of-a-pack-that-is-rather-long-for-one] cached", false),
            ("[2026-08-05 12:00:00.123] got prompt and what else", false),
            ("[no closing-bracket in these many letters, none at all", false),
            ("[a-b] short", false),
        ] {
            assert_eq!(begins_with_pack(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn runs_of_digits_and_names_are_measured_as_byte_by_byte() {
        for length in 0..20 {
            for byte in 0..=255_u8 {
                for (all, measure, is) in [
                    (b'7', digits as fn(&[u8]) -> usize, byte.is_ascii_digit()),
                    (b'x', name_bytes, byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80),
                ] {
                    let mut text = vec![all; length];
                    assert_eq!(measure(&text), length);
                    for at in 0..length {
                        text[at] = byte;
                        assert_eq!(measure(&text), if is { length } else { at }, "{byte} at {at} of {length}");
                        text[at] = all;
                    }
                }
            }
        }
    }

    #[test]
    fn beginnings_are_compared_to_the_last_byte() {
        for length in 0..70 {
            let literal: Vec<u8> = (0..length).collect();
            let text = [&literal[..], b"tail"].concat();
            assert!(begins_with(&text, &literal));
            assert_eq!(begins_with(&literal[..literal.len().saturating_sub(1)], &literal), length == 0);
            for at in 0..literal.len() {
                let mut other = text.clone();
                other[at] ^= 1;
                assert!(!begins_with(&other, &literal), "{at} of {length}");
            }
        }
    }
}
