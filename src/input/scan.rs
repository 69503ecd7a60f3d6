//! Which bytes of a block end a line, which are more than plain text, and which close a bar: a bit for each byte.
//!
//! On x86-64 with AVX2 32 bytes are compared at once; elsewhere the same is done eight at a time.

/// Bytes that are looked at in one go: their bits, and they themselves, stay in the fastest cache.
pub(super) const PIECE: usize = 16 * 1024;
const WORDS: usize = PIECE / 64;

/// The bits of a piece, in words of 64.
pub(super) struct Bits {
    /// Line feeds and carriage returns.
    breaks: [u64; WORDS],
    /// See [`is_odd`].
    odd: [u64; WORDS],
    /// Closing brackets: a bar's frame ends in one, and holds no other.
    closing: [u64; WORDS],
}

impl Bits {
    pub(super) fn new() -> Self {
        Self { breaks: [0; WORDS], odd: [0; WORDS], closing: [0; WORDS] }
    }
}

/// The bits of 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Word {
    pub(super) breaks: u64,
    pub(super) odd: u64,
    pub(super) closing: u64,
}

/// Looks at pieces, as well as this processor can.
#[derive(Clone, Copy)]
pub(super) struct Scan {
    #[cfg(target_arch = "x86_64")]
    simd: Option<pulp::x86::V3>,
}

impl Scan {
    pub(super) fn new() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            simd: pulp::x86::V3::try_new(),
        }
    }

    /// Word by word, the bits of `piece`, which has at most [`PIECE`] bytes.
    pub(super) fn words(self, piece: &[u8], bits: &mut Bits) -> impl Iterator<Item = Word> {
        let (chunks, tail) = piece.as_chunks::<64>();
        self.look(chunks, bits, 0);
        if !tail.is_empty() {
            let mut last = [b' '; 64];
            last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
            self.look(&[last], bits, chunks.len());
        }
        let Bits { breaks, odd, closing } = bits;
        let words = breaks.iter().zip(odd.iter()).zip(closing.iter());
        words
            .map(|((breaks, odd), closing)| Word { breaks: *breaks, odd: *odd, closing: *closing })
            .take(piece.len().div_ceil(64))
    }

    /// Writes the bits of `chunks` from word `first` on.
    fn look(self, chunks: &[[u8; 64]], bits: &mut Bits, first: usize) {
        let breaks = bits.breaks.get_mut(first..).unwrap_or_default();
        let odd = bits.odd.get_mut(first..).unwrap_or_default();
        let closing = bits.closing.get_mut(first..).unwrap_or_default();
        let words = breaks.iter_mut().zip(odd).zip(closing).zip(chunks);
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = self.simd {
            return simd.vectorize(
                #[inline(always)]
                || words.for_each(|(((b, o), c), chunk)| [*b, *o, *c] = wide::bits(simd, chunk)),
            );
        }
        words.for_each(|(((b, o), c), chunk)| [*b, *o, *c] = narrow(chunk));
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use pulp::x86::V3;
    use std::arch::x86_64::__m256i;

    /// The bits of 64 bytes.
    #[inline(always)]
    pub(super) fn bits(simd: V3, chunk: &[u8; 64]) -> [u64; 3] {
        let [low, high]: [__m256i; 2] = pulp::cast(*chunk);
        let ([a, b, c], [d, e, f]) = (half(simd, low), half(simd, high));
        [join(a, d), join(b, e), join(c, f)]
    }

    #[inline(always)]
    fn half(simd: V3, bytes: __m256i) -> [i32; 3] {
        let (avx, avx2) = (simd.avx, simd.avx2);
        let is = |byte: u8| avx2._mm256_cmpeq_epi8(bytes, avx._mm256_set1_epi8(byte as i8));
        let either = |a, b| avx2._mm256_or_si256(a, b);
        let breaks = either(is(b'\n'), is(b'\r'));
        let low = avx2._mm256_cmpgt_epi8(avx._mm256_set1_epi8(0x20), bytes);
        let control = avx2._mm256_andnot_si256(either(breaks, is(b'\t')), low);
        let odd = either(control, either(is(b'^'), is(b'%')));
        let mask = |bytes| avx2._mm256_movemask_epi8(bytes);
        [mask(breaks), mask(odd), mask(is(b']'))]
    }

    #[inline(always)]
    fn join(low: i32, high: i32) -> u64 {
        u64::from(low as u32) | (u64::from(high as u32) << 32)
    }
}

/// The bits of 64 bytes, without special instructions.
#[inline]
fn narrow(chunk: &[u8; 64]) -> [u64; 3] {
    let breaks = chunk.map(|byte| u8::from(byte == b'\n') | u8::from(byte == b'\r'));
    let odd = chunk.map(is_odd);
    let closing = chunk.map(|byte| u8::from(byte == b']'));
    [pack(&breaks), pack(&odd), pack(&closing)]
}

/// Bytes that need a closer look: not ASCII, control, and the beginnings of shown escapes and of percentages.
#[inline]
const fn is_odd(byte: u8) -> u8 {
    let control = (byte as i8) < 0x20;
    let usual = (byte == b'\n') | (byte == b'\r') | (byte == b'\t');
    ((control & !usual) | (byte == b'^') | (byte == b'%')) as u8
}

pub(super) fn has_odd(bytes: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let (Some(last), Some(sse2)) = (bytes.last_chunk::<16>(), pulp::core_arch::x86::Sse2::try_new()) {
        return sixteen::has_odd(sse2, bytes.as_chunks::<16>().0, last);
    }
    bytes.iter().fold(0, |any, byte| any | is_odd(*byte)) != 0
}

/// With instructions that each x86-64 has; that they are there is known when compiling.
#[cfg(target_arch = "x86_64")]
mod sixteen {
    use pulp::core_arch::x86::Sse2;
    use std::arch::x86_64::__m128i;

    /// The last sixteen overlap those before: no bytes are left to be looked at one by one.
    #[inline(always)]
    pub(super) fn has_odd(sse2: Sse2, chunks: &[[u8; 16]], last: &[u8; 16]) -> bool {
        let any = chunks.iter().fold(odd(sse2, last), |any, chunk| sse2._mm_or_si128(any, odd(sse2, chunk)));
        sse2._mm_movemask_epi8(any) != 0
    }

    #[inline(always)]
    fn odd(sse2: Sse2, chunk: &[u8; 16]) -> __m128i {
        let bytes: __m128i = pulp::cast(*chunk);
        let is = |byte: u8| sse2._mm_cmpeq_epi8(bytes, sse2._mm_set1_epi8(byte as i8));
        let either = |a, b| sse2._mm_or_si128(a, b);
        let low = sse2._mm_cmpgt_epi8(sse2._mm_set1_epi8(0x20), bytes);
        let usual = either(is(b'\n'), either(is(b'\r'), is(b'\t')));
        either(sse2._mm_andnot_si128(usual, low), either(is(b'^'), is(b'%')))
    }
}

/// Gathers bytes that are 0 or 1 into bits.
#[inline]
fn pack(bytes: &[u8; 64]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    let mut mask = 0;
    for (n, word) in words.iter().enumerate() {
        let bits = u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * n);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_and_odd_bytes_are_told() {
        let (scan, mut all) = (Scan::new(), Bits::new());
        for byte in 0..=255_u8 {
            let is_break = byte == b'\n' || byte == b'\r';
            let plain = (0x20..0x80).contains(&byte) && byte != b'^' && byte != b'%';
            let strange = !plain && !is_break && byte != b'\t';
            for length in [1, 5, 63, 64, 65, 127, 130, 1000, PIECE - 1, PIECE] {
                let mut piece = vec![b'a'; length];
                for at in [0, 7, 8, 31, 63, 64, 129, length - 1].into_iter().filter(|at| *at < length) {
                    piece[at] = byte;
                    let words: Vec<Word> = scan.words(&piece, &mut all).collect();
                    assert_eq!(words.len(), length.div_ceil(64));
                    let bit = u64::from(1_u8) << (at % 64);
                    let told = |is: bool| if is { bit } else { 0 };
                    let expected = Word { breaks: told(is_break), odd: told(strange), closing: told(byte == b']') };
                    assert_eq!(words[at / 64], expected, "{byte} at {at} of {length}");
                    piece[at] = b'a';
                }
            }
            for length in [1, 15, 16, 17, 40] {
                for at in 0..length {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    assert_eq!(has_odd(&text), strange, "{byte} at {at} of {length}");
                }
            }
            let mut chunk = [b'a'; 64];
            chunk[9] = byte;
            let expected = [is_break, strange, byte == b']'].map(|is| u64::from(is) << 9);
            assert_eq!(narrow(&chunk), expected);
            assert_eq!(has_odd(&chunk), strange);
        }
    }
}
