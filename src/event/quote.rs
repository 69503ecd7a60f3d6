//! Texts of a log that somebody quotes within a sentence.

/// Quotations looked at in one line, and bytes below which none says enough.
const MOST: usize = 8;
const LEAST: usize = 12;

/// What stands between quotation marks or backquotes.
pub(super) fn quotations(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    [b'"', b'`'].into_iter().flat_map(move |mark| {
        // Every other piece stands between two marks; the last one is closed only if another follows.
        let marks = memchr::memchr_iter(mark, text).count();
        let pieces = text.split(move |byte| *byte == mark).enumerate();
        pieces
            .filter(move |(number, piece)| number % 2 == 1 && *number < marks && piece.len() >= LEAST)
            .map(|(_, piece)| piece.trim_ascii())
            .take(MOST)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_of_a_sentence() {
        let said: Vec<&[u8]> =
            quotations(b"It brought \"MemoryError: no memory\" and `CUDA out of memory.`, \"and not").collect();
        assert_eq!(said, [&b"MemoryError: no memory"[..], b"CUDA out of memory."]);
        assert_eq!(quotations(b"File \"a.py\", line 1").count(), 0);
    }
}
