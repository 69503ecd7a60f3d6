//! Inputs become others: small changes, pieces of other inputs, and words that mean something to a reader.

/// Words that steer readers: prefixes, escapes, keys, ends.
const WORDS: &[&[u8]] = &[
    b"\n", b"\r", b"\r\n", b"\0", b"\x1b[31m", b"\x1b]0;", b"\x1bP", b"\x07", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\x1f\x8b", b"\x28\xb5\x2f\xfd", "\u{202e}".as_bytes(), "\u{200b}".as_bytes(), "\u{2028}".as_bytes(), b"{", b"}",
    b"[", b"]", b"\"", b"'", b"\\", b"\\\\", b"\\u0000", b"redacted-user-1", b"/home/mia/", b"C:\\Users\\mia\\", b"key=",
    b"password: ", b"prompt: ", b"-----BEGIN KEY-----", b"1e400", b"-1", b"99999999999999999999", b"NaN", b"true", b"null",
    b"got prompt\n", b"Traceback (most recent call last):\n", b"torch.OutOfMemoryError: ", b"Killed\n", b"100%|", b"it/s]",
    b"2026-11-30T10:00:00.000Z ", b"comfyui-1  | ", b"Nov 30 11:22:33 box python[1]: ", b" GiB", b"ComfyUI version: 0.3.",
    b"time,rss_anon_kb\n", b"id = \"x\"\n", b"[[message]]\n", b"match = \"", b"regex = '(a+)+$'\n",
];

/// Bytes of an input.
const LONGEST: usize = 64 * 1024;

/// Numbers without a pattern; the same seed gives the same ones.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `sides`.
    pub fn below(&mut self, sides: usize) -> usize {
        (self.roll() % sides.max(1) as u64) as usize
    }
}

/// A changed copy of `input`, with pieces of `other`.
pub fn mutated(input: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut out = input.to_vec();
    for _ in 0..1 + dice.below(6) {
        let at = dice.below(out.len() + 1);
        match dice.below(8) {
            0 if at < out.len() => out[at] ^= 1 << dice.below(8),
            1 if at < out.len() => out[at] = dice.below(256) as u8,
            2 => drop(out.splice(at..at, WORDS[dice.below(WORDS.len())].iter().copied())),
            3 => {
                let end = (at + dice.below(40)).min(out.len());
                out.drain(at..end);
            }
            4 => {
                let from = dice.below(other.len() + 1);
                let to = (from + dice.below(400)).min(other.len());
                out.splice(at..at, other[from..to].iter().copied());
            }
            5 => {
                let end = (at + dice.below(60)).min(out.len());
                let piece = out[at..end].repeat(1 + dice.below(20));
                out.splice(at..at, piece);
            }
            6 => out.truncate(at.max(out.len() / 2)),
            _ => {
                let word = WORDS[dice.below(WORDS.len())];
                let end = (at + word.len()).min(out.len());
                out.splice(at..end, word.iter().copied());
            }
        }
        out.truncate(LONGEST);
    }
    out
}
