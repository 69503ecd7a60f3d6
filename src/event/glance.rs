//! One look at a text of usual length, for all the questions that nearly every text is asked and answers with no.
//!
//! No two lines are alike, so that each question asked by itself is a wrong guess of the processor's every few lines.
//! Here 96 bytes are looked at as a whole, without a branch. Where there is no AVX2, no text is looked at this way.

/// Lengths of texts that three looks at 33 bytes cover.
#[cfg(target_arch = "x86_64")]
const LENGTHS: std::ops::RangeInclusive<usize> = 33..=97;

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Glance {
    /// Where the first blank stands; among the first 32 bytes.
    pub(super) blank: u8,
    /// Where the first `: ` begins.
    pub(super) colon: Option<std::num::NonZeroU8>,
    /// Two blanks stand side by side, or `py`: texts far apart or a command line may be there, see [`super::hint`].
    pub(super) hint: bool,
}

/// Looks at texts.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Eyes(pulp::x86::V3);

#[cfg(target_arch = "x86_64")]
impl Eyes {
    /// None where the processor cannot.
    pub(super) fn open() -> Option<Self> {
        pulp::x86::V3::try_new().map(Self)
    }

    /// Does what looks at many texts: within, a look is no call.
    #[inline(always)]
    pub(super) fn within<R>(self, work: impl FnOnce() -> R) -> R {
        self.0.vectorize(work)
    }

    /// None for a text that wants a closer look: a short or long one, one that begins with `: `, whose first word is
    /// long, or whose first 16 bytes hold a run of blanks or a tab. To be called from [`Eyes::within`].
    #[inline(always)]
    pub(super) fn glance(self, text: &[u8]) -> Option<Glance> {
        if LENGTHS.contains(&text.len()) { wide::glance(self.0, text) } else { None }
    }
}

/// There are none.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub(super) enum Eyes {}

#[cfg(not(target_arch = "x86_64"))]
impl Eyes {
    pub(super) fn open() -> Option<Self> {
        None
    }

    pub(super) fn within<R>(self, _: impl FnOnce() -> R) -> R {
        match self {}
    }

    pub(super) fn glance(self, _: &[u8]) -> Option<Glance> {
        match self {}
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::Glance;
    use pulp::x86::V3;
    use std::arch::x86_64::__m256i;
    use std::num::NonZeroU8;

    /// What was found at 32 places, each with the one behind it.
    struct Third {
        blanks: __m256i,
        colons: __m256i,
        hints: __m256i,
    }

    #[inline(always)]
    pub(super) fn glance(simd: V3, text: &[u8]) -> Option<Glance> {
        let (avx, avx2) = (simd.avx, simd.avx2);
        let mask = |bytes| avx2._mm256_movemask_epi8(bytes) as u32;
        let last = text.len().checked_sub(33)?;
        let middle = last.min(32);
        let head: &[u8; 33] = text.first_chunk()?;
        let (one, two) = (third(simd, head), third(simd, text.get(middle..)?.first_chunk()?));
        let three = third(simd, text.last_chunk()?);
        let [begin @ .., _] = *head;
        let tabs = mask(avx2._mm256_cmpeq_epi8(pulp::cast(begin), avx._mm256_set1_epi8(b'\t' as i8)));
        let blanks = mask(one.blanks);
        let runs = ((blanks & blanks >> 1) | tabs) & 0xffff;
        let blank = blanks.trailing_zeros();
        let near = u64::from(mask(one.colons)) | u64::from(mask(two.colons)) << middle;
        let far = mask(three.colons);
        let colon = if near != 0 { near.trailing_zeros() } else { last as u32 + far.trailing_zeros() };
        if (blank == 32) | (runs != 0) | (colon == 0) {
            return None;
        }
        let hints = avx2._mm256_or_si256(one.hints, avx2._mm256_or_si256(two.hints, three.hints));
        let colon = NonZeroU8::new(colon as u8).filter(|_| (near != 0) | (far != 0));
        Some(Glance { blank: blank as u8, colon, hint: mask(hints) != 0 })
    }

    #[inline(always)]
    fn third(simd: V3, window: &[u8; 33]) -> Third {
        let (avx, avx2) = (simd.avx, simd.avx2);
        let ([first @ .., _], [_, second @ ..]) = (window, window);
        let (first, second): (__m256i, __m256i) = (pulp::cast(*first), pulp::cast(*second));
        let is = |bytes, byte: u8| avx2._mm256_cmpeq_epi8(bytes, avx._mm256_set1_epi8(byte as i8));
        let both = |a, b| avx2._mm256_and_si256(a, b);
        let (blanks, behind) = (is(first, b' '), is(second, b' '));
        let command = both(is(first, b'p'), is(second, b'y'));
        Third {
            blanks,
            colons: both(is(first, b':'), behind),
            hints: avx2._mm256_or_si256(both(blanks, behind), command),
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::hint::{GAP, MAIN};
    use super::*;

    fn glance(text: &[u8]) -> Option<Glance> {
        let eyes = Eyes::open()?;
        eyes.within(|| eyes.glance(text))
    }

    #[test]
    fn what_is_seen_is_where_it_stands() {
        if Eyes::open().is_none() {
            return;
        }
        for length in 33..=97 {
            let mut text = vec![b'x'; length];
            assert_eq!(glance(&text), None, "no blank");
            text[9] = b' ';
            let plain = Glance { blank: 9, colon: None, hint: false };
            assert_eq!(glance(&text), Some(plain), "{length}");
            for at in 11..length - 1 {
                let saved = (text[at], text[at + 1]);
                (text[at], text[at + 1]) = (b':', b' ');
                let colon = std::num::NonZeroU8::new(at as u8);
                assert_eq!(glance(&text), Some(Glance { colon, ..plain }), "{at} of {length}");
                (text[at], text[at + 1]) = saved;
            }
            for hint in [MAIN, GAP] {
                for at in 17..=length.saturating_sub(hint.len()).max(17) {
                    let mut text = text.clone();
                    if let Some(place) = text.get_mut(at..at + hint.len()) {
                        place.copy_from_slice(hint);
                        assert_eq!(glance(&text), Some(Glance { hint: true, ..plain }), "{at} of {length}");
                    }
                }
            }
            text[10] = b' ';
            assert_eq!(glance(&text), None, "a run of blanks");
            text[10] = b'\t';
            assert_eq!(glance(&text), None, "a tab");
            text[10] = b'x';
            text[0] = b':';
            text[1] = b' ';
            assert_eq!(glance(&text), None, "begins with a colon");
        }
        for length in [0, 1, 32, 98, 400] {
            assert_eq!(glance(&b"a word, ".repeat(60)[..length]), None, "{length}");
        }
    }
}
