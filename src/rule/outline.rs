//! How lines begin that some rule is looked up by, in bits: enough to say of nearly every other line that there is none.
//!
//! All questions are asked of a line at once, without a branch: the answers are nearly always the same, and where they
//! are not, guessing them would cost the processor more than asking.

use super::sieve::Sieve;
use crate::eight::{eight_of, four_of};

/// The ways in which `index` finds rules, as sieves.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// First bytes of literals of one letter, and of numbers.
    one: [u64; 4],
    /// First two bytes of literals of two or three.
    two: Sieve,
    /// First four bytes of literals of less than eight.
    pub(super) four: Sieve,
    eight: Sieve,
    /// First twelve bytes: dozens of rules share eight with what others print, `Requested` or `[ComfyUI`.
    twelve: Sieve,
    pub(super) second_word: Sieve,
    pub(super) behind_colon: Sieve,
}

impl Outline {
    /// A rule that begins with `literal`, one to three bytes.
    pub(super) fn enter_short(&mut self, literal: &[u8]) {
        match literal {
            [first, second, ..] => self.two.put(u64::from(u16::from_le_bytes([*first, *second]))),
            [first] => self.one[usize::from(first >> 6)] |= 1 << (first & 63),
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
    #[inline]
    pub(super) fn is_foreign(&self, line: &[u8], blank: usize, colon: Option<usize>) -> bool {
        let (Some(eight), Some(next)) = (eight_of(line), line.get(8..).and_then(four_of)) else { return false };
        let Some(second) = line.get(blank + 1..).and_then(four_of) else { return false };
        let Some(behind) = line.get(colon.map_or(0, |at| at + 2)..).and_then(four_of) else { return false };
        let one = self.one[usize::from(eight as u8 >> 6)] >> (eight & 63) & 1 != 0;
        let short = one | self.two.may_hold(eight & 0xffff) | self.four.may_hold(eight & 0xffff_ffff);
        let long = self.eight.may_hold(eight) | self.twelve.may_hold(both(eight, next));
        // What is no letter may be another blank, behind which the word begins.
        let inside = (second as u8 <= b' ') | self.second_word.may_hold(second);
        let behind = colon.is_some() & self.behind_colon.may_hold(behind);
        !(short | long | inside | behind)
    }
}

#[inline]
fn both(eight: u64, next: u64) -> u64 {
    eight.rotate_left(29).wrapping_add(next.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
