//! How lines begin that some rule is looked up by, in bits: enough to say of nearly every other line that there is none.
//!
//! All questions are asked of a line at once, without a branch: the answers are nearly always the same, and where they
//! are not, guessing them would cost the processor more than asking.

use super::bloom_filter::Sieve;
use crate::eight::{eight_of, four_of};

/// The ways in which `index` finds rules, as sieves.
#[derive(Debug)]
pub(super) struct Document {
    /// A bit for each two bytes with which literals of less than four begin, and numbers.
    short: Box<[u64; 1024]>,
    /// First four bytes of literals of less than eight.
    pub(super) four: Sieve,
    eight: Sieve,
    /// First twelve bytes: dozens of rules share eight with what others print, `Requested` or `[ComfyUI`.
    twelve: Sieve,
    pub(super) second_word: Sieve,
    pub(super) behind_colon: Sieve,
}

impl Default for Document {
    fn default() -> Self {
        let new = Sieve::default;
        let (four, eight, twelve, second_word, behind_colon) = (new(), new(), new(), new(), new());
        Self { short: Box::new([0; 1024]), four, eight, twelve, second_word, behind_colon }
    }
}

impl Document {
    /// A rule that begins with `literal`, one to three bytes.
    pub(super) fn enter_short(&mut self, literal: &[u8]) {
        let mut enter = |first: u8, second: u8| {
            let (word, bit) = place_of_two(u64::from(u16::from_le_bytes([first, second])));
            self.short[word] |= bit;
        };
        match literal {
            [first, second, ..] => enter(*first, *second),
            [first] => (0..=u8::MAX).for_each(|second| enter(*first, second)),
            [] => {}
        }
    }

    /// A rule whose first bytes, eight or more, are those of `literal` whatever its blanks are.
    pub(super) fn enter_firm(&mut self, literal: &[u8]) {
        match (eight_of(literal), literal.get(8..).and_then(four_of)) {
            (Some(eight), Some(next)) => self.twelve.put(both(eight, next)),
            (Some(eight), None) => self.eight.put(eight),
            (None, _) => {}
        }
    }

    /// When true, no rule is looked up by how `line` begins; when false, there may be none all the same. `blank` and
    /// `colon` are the places of its first blank and its first `: `. Its first 16 bytes hold no run of blanks and no tab.
    #[inline(always)]
    pub(super) fn is_foreign(&self, line: &[u8], blank: usize, colon: Option<usize>) -> bool {
        let (Some(eight), Some(next)) = (eight_of(line), line.get(8..).and_then(four_of)) else { return false };
        let Some(second) = line.get(blank + 1..).and_then(four_of) else { return false };
        let Some(behind) = line.get(colon.map_or(0, |at| at + 2)..).and_then(four_of) else { return false };
        let (word, bit) = place_of_two(eight);
        let short = (self.short[word] & bit != 0) | self.four.may_hold(eight & 0xffff_ffff);
        let long = self.eight.may_hold(eight) | self.twelve.may_hold(both(eight, next));
        // What is no letter may be another blank, behind which the word begins.
        let inside = (second as u8 <= b' ') | self.second_word.may_hold(second);
        let behind = colon.is_some() & self.behind_colon.may_hold(behind);
        !(short | long | inside | behind)
    }
}

/// Word and bit of the first two bytes.
#[inline]
fn place_of_two(bytes: u64) -> (usize, u64) {
    ((bytes >> 6 & 0x3ff) as usize, 1 << (bytes & 63))
}

#[inline]
fn both(eight: u64, next: u64) -> u64 {
    eight.rotate_left(29).wrapping_add(next.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
