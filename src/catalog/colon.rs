//! Where the first `: ` of a line stands. Asked of every line that no rule begins like, so it is worth an instruction set.

/// Bytes of a line that are looked at.
const HEAD: usize = 96;

/// Looks for `: `, as fast as this processor can.
#[derive(Debug, Clone, Copy)]
pub(super) struct Colon {
    #[cfg(target_arch = "x86_64")]
    simd: Option<pulp::x86::V3>,
}

#[cfg_attr(not(target_arch = "x86_64"), expect(clippy::derivable_impls, reason = "not where there are instructions"))]
impl Default for Colon {
    fn default() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            simd: pulp::x86::V3::try_new(),
        }
    }
}

impl Colon {
    /// Where the first `: ` begins whose colon is among the first bytes of `line`.
    #[inline]
    pub(super) fn find(self, line: &[u8]) -> Option<usize> {
        let head = line.get(..HEAD + 1).unwrap_or(line);
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = self.simd {
            return simd.vectorize(
                #[inline(always)]
                || wide::find(simd, head),
            );
        }
        find(head, 0)
    }
}

/// The same from `from` on, without special instructions.
fn find(head: &[u8], from: usize) -> Option<usize> {
    head.get(from..)?.windows(2).position(|pair| pair == b": ").map(|at| from + at)
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use pulp::x86::V3;
    use std::arch::x86_64::__m256i;

    /// 32 places at a time; the last ones by overlapping those before.
    #[inline(always)]
    pub(super) fn find(simd: V3, head: &[u8]) -> Option<usize> {
        let mut from = 0;
        while let Some(window) = head.get(from..from + 33).and_then(<[u8]>::first_chunk::<33>) {
            let places = places(simd, window);
            if places != 0 {
                return Some(from + places.trailing_zeros() as usize);
            }
            from += 32;
        }
        match head.len().checked_sub(33) {
            Some(last) if from < head.len() => {
                let window = head.get(last..)?.first_chunk::<33>()?;
                let places = places(simd, window);
                (places != 0).then(|| last + places.trailing_zeros() as usize)
            }
            Some(_) => None,
            None => super::find(head, 0),
        }
    }

    #[inline(always)]
    fn places(simd: V3, window: &[u8; 33]) -> u32 {
        let (avx, avx2) = (simd.avx, simd.avx2);
        let [first @ .., _] = window;
        let [_, second @ ..] = window;
        let (first, second): (__m256i, __m256i) = (pulp::cast(*first), pulp::cast(*second));
        let colons = avx2._mm256_cmpeq_epi8(first, avx._mm256_set1_epi8(b':' as i8));
        let blanks = avx2._mm256_cmpeq_epi8(second, avx._mm256_set1_epi8(b' ' as i8));
        avx2._mm256_movemask_epi8(avx2._mm256_and_si256(colons, blanks)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_is_found_wherever_it_stands() {
        let colon = Colon::default();
        for length in 0..130 {
            let mut line = vec![b':'; length];
            assert_eq!(colon.find(&line), None);
            for at in 0..length.saturating_sub(1) {
                line[at + 1] = b' ';
                let expected = (at < HEAD).then_some(at);
                assert_eq!(colon.find(&line), expected, "{at} of {length}");
                assert_eq!(find(line.get(..HEAD + 1).unwrap_or(&line), 0), expected);
                if at + 3 < length {
                    line[at + 3] = b' ';
                    assert_eq!(colon.find(&line), expected, "the first of two");
                    line[at + 3] = b':';
                }
                line[at + 1] = b':';
            }
        }
    }
}
