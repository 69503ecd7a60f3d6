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

/// Where the first byte stands that ends a name for sure: a blank, a tab, `:`, `@`, or one beyond ASCII. Only the first
/// 16 bytes are looked at; 16 when none of them does, and none for a text of less than eight. Nearly without branches,
/// since no two lines are alike.
#[inline(always)]
pub(crate) fn end_of_word(text: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let (Some(chunk), Some(sse2)) = (text.first_chunk::<16>(), pulp::core_arch::x86::Sse2::try_new()) {
        return Some(sixteen::end_of_word(sse2, *chunk));
    }
    let ends = |bytes: u64| {
        let blanks = places_of(bytes, b' ') | places_of(bytes, b'\t');
        let signs = places_of(bytes, b':') | places_of(bytes, b'@');
        (blanks | signs | beyond_ascii(bytes)).trailing_zeros() as usize / 8
    };
    let first = eight_of(text)?;
    let second = match text.get(8..).and_then(eight_of) {
        Some(second) => second,
        // The last eight without those of the first; behind the text are zeros, which end nothing.
        None => u64::from_le_bytes(*text.last_chunk()?).checked_shr(8 * (16 - text.len() as u32)).unwrap_or(0),
    };
    let (one, two) = (ends(first), ends(second));
    Some(if one < 8 { one } else { 8 + two })
}

/// The same of the first 32 bytes, where the processor can look at them at once; 16 or 32 when none of them does.
#[inline(always)]
pub(crate) fn end_of_long_word(text: &[u8]) -> Option<usize> {
    let end = end_of_word(text)?;
    if end == 16
        && let Some(later) = text.get(16..).filter(|later| later.len() >= 16)
    {
        return end_of_word(later).map(|more| 16 + more);
    }
    Some(end)
}

/// `text` begins with a bracket, and a name in it that has a `-` or `_`, as node packs call themselves: `[was-node-suite]`.
/// Only the first 32 bytes are looked at. A no may be wrong: not every processor can look at them at once.
#[inline]
pub(crate) fn begins_with_pack(text: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let (Some(chunk), Some(sse2)) = (text.first_chunk::<32>(), pulp::core_arch::x86::Sse2::try_new()) {
        return sixteen::begins_with_pack(sse2, *chunk);
    }
    let _ = text;
    false
}

/// With instructions that each x86-64 has; that they are there is known when compiling.
#[cfg(target_arch = "x86_64")]
mod sixteen {
    use pulp::core_arch::x86::Sse2;
    use std::arch::x86_64::__m128i;

    #[inline(always)]
    pub(super) fn end_of_word(sse2: Sse2, text: [u8; 16]) -> usize {
        let bytes = pulp::cast(text);
        let is = |byte: u8| sse2._mm_cmpeq_epi8(bytes, sse2._mm_set1_epi8(byte as i8));
        let either = |a, b| sse2._mm_or_si128(a, b);
        // Bytes beyond ASCII have their highest bit by themselves.
        let ends = either(either(is(b' '), is(b'\t')), either(either(is(b':'), is(b'@')), bytes));
        (sse2._mm_movemask_epi8(ends) | 1 << 16).trailing_zeros() as usize
    }

    #[inline(always)]
    pub(super) fn begins_with_pack(sse2: Sse2, text: [u8; 32]) -> bool {
        let [low, high]: [__m128i; 2] = pulp::cast(text);
        let mask =
            |low, high| (sse2._mm_movemask_epi8(low) as u32 & 0xffff) | (sse2._mm_movemask_epi8(high) as u32) << 16;
        let either = |a, b| sse2._mm_or_si128(a, b);
        let is = |bytes, byte: u8| sse2._mm_cmpeq_epi8(bytes, sse2._mm_set1_epi8(byte as i8));
        // What else may end the name is in a stamp, a prompt, or the name of a stream.
        let others = |bytes| {
            either(either(is(bytes, b' '), is(bytes, b'/')), either(is(bytes, b':'), either(is(bytes, b'@'), bytes)))
        };
        let joints = |bytes| either(is(bytes, b'-'), is(bytes, b'_'));
        let closing = mask(is(low, b']'), is(high, b']'));
        let before = (closing & closing.wrapping_neg()).wrapping_sub(1);
        (closing != 0)
            & (mask(others(low), others(high)) & before == 0)
            & (mask(joints(low), joints(high)) & before != 0)
    }
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
        for (text, expected) in [
            ("got prompt", Some(3)),
            ("got", None),
            ("Device: cuda:0 NVIDIA", Some(6)),
            ("transformer_blocks", Some(16)),
            ("01234567", Some(16)),
            ("012345678", Some(16)),
            ("loaded_models\tx..", Some(13)),
            ("user@host:/root/x", Some(4)),
            ("a\u{fc}bcdefgh01234567", Some(1)),
            ("0123456 89abcdef", Some(7)),
            ("01234567 9abcdef", Some(8)),
            ("01234567 9", Some(8)),
            ("0123456789 b", Some(10)),
            ("0123456789abc:", Some(13)),
            ("0123456789abcde:", Some(15)),
        ] {
            assert_eq!(end_of_word(text.as_bytes()), expected, "{text}");
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
    fn long_words_end_as_short_ones() {
        for length in 8..40 {
            for end in [b' ', b'\t', b':', b'@', 0xc3] {
                for at in 0..length {
                    let mut text = vec![b'x'; length];
                    text[at] = end;
                    let found = end_of_long_word(&text);
                    let limit = if length >= 32 { 32 } else { 16 };
                    assert_eq!(found, Some(at.min(limit)), "{end} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
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
