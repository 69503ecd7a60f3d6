//! One look at a text of usual length, for all the questions that nearly every text is asked and answers with no.
//!
//! No two lines are alike, so that each question asked by itself is a wrong guess of the processor's every few lines.
//! Here 96 bytes are looked at as a whole, without a branch.

use super::hint::PIECES;

/// Lengths of texts that three looks at 33 bytes cover.
const LENGTHS: std::ops::RangeInclusive<usize> = 33..=97;

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Glance {
    /// Where the first blank stands; among the first 32 bytes.
    pub(super) blank: u8,
    /// Where the first `: ` begins.
    pub(super) colon: Option<Place>,
    /// May hold a command line or texts far apart, see [`super::hint`].
    pub(super) hint: bool,
}

/// A place in a text, as one that fits beside the rest in a register.
pub(super) type Place = std::num::NonZeroU8;

/// Looks, where the processor can do it at once.
#[derive(Clone, Copy)]
pub(super) struct Eyes {
    #[cfg(target_arch = "x86_64")]
    simd: Option<pulp::x86::V3>,
}

impl Eyes {
    pub(super) fn new() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            simd: pulp::x86::V3::try_new(),
        }
    }

    /// None for a text that wants a closer look: a short or long one, one that begins with `: `, whose first word is
    /// long, or whose first 16 bytes hold a run of blanks or a tab.
    #[inline]
    pub(super) fn glance(self, text: &[u8]) -> Option<Glance> {
        if !LENGTHS.contains(&text.len()) {
            return None;
        }
        #[cfg(target_arch = "x86_64")]
        return self.simd?.vectorize(
            #[inline(always)]
            || wide::glance(self.simd?, text),
        );
        #[cfg(not(target_arch = "x86_64"))]
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Glance, PIECES, Place};
    use pulp::x86::V3;
    use std::arch::x86_64::__m256i;

    /// What is looked for in 32 bytes.
    struct Third {
        blanks: __m256i,
        pairs: u32,
        pieces: __m256i,
    }

    #[inline(always)]
    pub(super) fn glance(simd: V3, text: &[u8]) -> Option<Glance> {
        let last = text.len().checked_sub(33)?;
        let middle = last.min(32);
        let head = text.first_chunk()?;
        let (one, two) = (third(simd, head), third(simd, text.get(middle..)?.first_chunk()?));
        let three = third(simd, text.last_chunk()?);
        let (avx, avx2) = (simd.avx, simd.avx2);
        let [begin @ .., _] = *head;
        let tabs = avx2._mm256_cmpeq_epi8(pulp::cast(begin), avx._mm256_set1_epi8(b'\t' as i8));
        let (blanks, tabs) = (avx2._mm256_movemask_epi8(one.blanks) as u32, avx2._mm256_movemask_epi8(tabs) as u32);
        let runs = ((blanks & blanks >> 1) | tabs) & 0xffff;
        let blank = blanks.trailing_zeros();
        let places = u128::from(one.pairs) | u128::from(two.pairs) << middle | u128::from(three.pairs) << last;
        let pieces = avx2._mm256_or_si256(one.pieces, avx2._mm256_or_si256(two.pieces, three.pieces));
        if (blank == 32) | (runs != 0) | (places & 1 != 0) {
            return None;
        }
        Some(Glance {
            blank: blank as u8,
            // Of no place at all this is 128.
            colon: Place::new(places.trailing_zeros() as u8 & 0x7f),
            hint: avx2._mm256_movemask_epi8(pieces) != 0,
        })
    }

    /// The 33rd byte only says whether the 32nd is a colon before a blank.
    #[inline(always)]
    fn third(simd: V3, window: &[u8; 33]) -> Third {
        let (avx, avx2) = (simd.avx, simd.avx2);
        let ([first @ .., _], [_, second @ ..]) = (window, window);
        let (first, second): (__m256i, __m256i) = (pulp::cast(*first), pulp::cast(*second));
        let blank = avx._mm256_set1_epi8(b' ' as i8);
        let colons = avx2._mm256_cmpeq_epi8(first, avx._mm256_set1_epi8(b':' as i8));
        let pairs = avx2._mm256_and_si256(colons, avx2._mm256_cmpeq_epi8(second, blank));
        let is = |piece: u32| avx2._mm256_cmpeq_epi32(first, avx._mm256_set1_epi32(piece as i32));
        let [a, b, c, d, e] = PIECES;
        let either = |a, b| avx2._mm256_or_si256(a, b);
        Third {
            blanks: avx2._mm256_cmpeq_epi8(first, blank),
            pairs: avx2._mm256_movemask_epi8(pairs) as u32,
            pieces: either(either(is(a), is(b)), either(either(is(c), is(d)), is(e))),
        }
    }
}
