//! A cheap question before dear ones: may a text that no rule knows hold a command line, or texts far apart?

/// The file that starts ComfyUI.
pub(super) const MAIN: &[u8] = b"main.py";
/// Blanks that separate two texts written by a cursor that had wandered off.
pub(super) const GAP: &[u8] = b"        ";

/// Each of both fills one of these, wherever a text is cut into pieces of four bytes.
const PIECES: [u32; 5] = [
    u32::from_le_bytes(*b"main"),
    u32::from_le_bytes(*b"ain."),
    u32::from_le_bytes(*b"in.p"),
    u32::from_le_bytes(*b"n.py"),
    u32::from_le_bytes(*b"    "),
];

/// Asks the question, as fast as this processor can.
#[derive(Clone, Copy)]
pub(super) struct Hint {
    #[cfg(target_arch = "x86_64")]
    simd: Option<pulp::x86::V3>,
}

impl Hint {
    pub(super) fn new() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            simd: pulp::x86::V3::try_new(),
        }
    }

    /// When false, neither [`MAIN`] nor [`GAP`] stands in `text`.
    pub(super) fn launch_or_gap(self, text: &[u8]) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = self.simd {
            return simd.vectorize(
                #[inline(always)]
                || wide::any_piece(simd, text),
            );
        }
        any_piece(text)
    }
}

fn any_piece(text: &[u8]) -> bool {
    text.as_chunks::<4>().0.iter().any(|piece| PIECES.contains(&u32::from_le_bytes(*piece)))
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::PIECES;
    use pulp::x86::V3;
    use std::arch::x86_64::__m256i;

    /// Eight pieces at a time. The last 32 bytes are cut anew from their own beginning: what stands across two cuts
    /// fills a piece of one of them.
    #[inline(always)]
    pub(super) fn any_piece(simd: V3, text: &[u8]) -> bool {
        let Some(last) = text.last_chunk::<32>() else {
            let mut short = [0; 32];
            short.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
            return holds(simd, &short);
        };
        text.as_chunks::<32>().0.iter().any(
            #[inline(always)]
            |chunk| holds(simd, chunk),
        ) || holds(simd, last)
    }

    #[inline(always)]
    fn holds(simd: V3, chunk: &[u8; 32]) -> bool {
        let (avx, avx2) = (simd.avx, simd.avx2);
        let eight: __m256i = pulp::cast(*chunk);
        let is = |piece: u32| avx2._mm256_cmpeq_epi32(eight, avx._mm256_set1_epi32(piece as i32));
        let [a, b, c, d, e] = PIECES;
        let either = |a, b| avx2._mm256_or_si256(a, b);
        let any = either(either(either(is(a), is(b)), either(is(c), is(d))), is(e));
        avx2._mm256_movemask_epi8(any) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Packs, SignOf};

    #[test]
    fn the_main_program_has_the_name_that_the_packs_give() {
        let packs = Packs::built_in();
        let names: Vec<&[u8]> =
            packs.signs_of(SignOf::MainFile).flat_map(|sign| &sign.equals).map(|name| name.as_bytes()).collect();
        assert_eq!(names, [MAIN]);
    }

    #[test]
    fn launches_and_gaps_are_never_overlooked() {
        let hint = Hint::new();
        for before in 0..70 {
            for after in 0..70 {
                for inside in [MAIN, GAP] {
                    let text = [&b"x".repeat(before), inside, &b"y".repeat(after)].concat();
                    assert!(hint.launch_or_gap(&text), "{before} {after}");
                    assert!(any_piece(&text), "{before} {after}");
                }
                let text = b"x".repeat(before + after);
                assert!(!hint.launch_or_gap(&text) && !any_piece(&text));
            }
        }
        assert!(!hint.launch_or_gap(b"Requested size 12 does not fit the latent"));
    }
}
