//! A set of keys that says of a foreign key, in one look, that it is not in it; of a few foreign ones it does not.

/// Words of a sieve: with a few hundred keys, one of fifty foreign ones passes.
const WORDS: usize = 256;

/// A bit for each key, by a hash.
#[derive(Debug)]
pub(super) struct Sieve {
    words: Box<[u64; WORDS]>,
}

impl Default for Sieve {
    fn default() -> Self {
        Self { words: Box::new([0; WORDS]) }
    }
}

impl Sieve {
    pub(super) fn put(&mut self, key: u64) {
        let (word, bit) = place(key);
        self.words[usize::from(word)] |= bit;
    }

    /// When false, `key` was not put in.
    #[inline]
    pub(super) fn may_hold(&self, key: u64) -> bool {
        let (word, bit) = place(key);
        self.words[usize::from(word)] & bit != 0
    }
}

/// Word and bit of a key.
#[inline]
fn place(key: u64) -> (u8, u64) {
    let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((hash >> 56) as u8, 1 << (hash >> 50 & 63))
}
