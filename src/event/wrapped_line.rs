//! An allocator's sentence that goes on in the lines below: wrapped by hand, or broken by a narrow window.

use super::OomNumbers;
use super::oom::{OomPhrases, Sizes};

/// Lines in which the sentence may go on.
const LINES: u8 = 8;
/// How much of a line is kept, and of how many ways to put lines together.
const LINE_BYTES: usize = 4096;
const WAYS: usize = 16;

/// What is known of the sentence so far.
#[derive(Debug, Default)]
pub(super) struct Wrapped {
    /// The sentence, with blanks between its lines and without them: only its numbers show what is right.
    ways: Vec<Vec<u8>>,
    /// How many numbers were read.
    known: usize,
    lines_left: u8,
}

impl Wrapped {
    /// A sentence begins, which may go on.
    pub(super) fn begin(&mut self, text: &[u8], phrases: OomPhrases<'_>) {
        let text = head(text);
        self.known = phrases.read(text).1.len();
        self.ways = vec![text.to_vec()];
        self.lines_left = LINES;
    }

    /// The next line may go on with it.
    pub(super) fn is_open(&self) -> bool {
        self.lines_left > 0
    }

    /// A line passed.
    pub(super) fn pass(&mut self) {
        self.lines_left = self.lines_left.saturating_sub(1);
    }

    /// Puts the next line to the sentence: all numbers, when it brought new ones.
    pub(super) fn go_on(
        &mut self,
        line: &[u8],
        indented: bool,
        phrases: OomPhrases<'_>,
    ) -> Option<(OomNumbers, Sizes<'static>)> {
        let line = head(line);
        let blanks: &[&[u8]] = if indented { &[b" "] } else { &[b"", b" "] };
        let ways = std::mem::take(&mut self.ways);
        let longer: Vec<Vec<u8>> = ways
            .iter()
            .flat_map(|way| blanks.iter().map(move |blank| [way.as_slice(), *blank, line].concat()))
            .collect();
        let counts: Vec<usize> = longer.iter().map(|way| phrases.read(way).1.len()).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        let best = longer.into_iter().zip(&counts).filter(|(_, count)| **count == most).map(|(way, _)| way);
        self.ways = best.take(WAYS).collect();
        if most <= std::mem::replace(&mut self.known, most) {
            return None;
        }
        let (numbers, sizes) = phrases.read(self.ways.first()?);
        let sizes =
            sizes.into_iter().map(|(name, size)| (name.into_owned().into(), size.into_owned().into())).collect();
        Some((numbers, sizes))
    }
}

fn head(text: &[u8]) -> &[u8] {
    text.get(..LINE_BYTES).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Packs;

    const SENTENCE: &str = "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 23.52 GiB of which \
                            1.02 GiB is free. Of the allocated memory 21.00 GiB is allocated by PyTorch, and 900.10 MiB \
                            is reserved by PyTorch but unallocated.";

    #[test]
    fn all_numbers_are_read_however_the_sentence_was_broken() {
        let packs = Packs::built_in();
        let phrases = OomPhrases(packs.oom_phrases());
        let whole = phrases.read(SENTENCE.as_bytes()).0;
        assert_eq!(whole.free, Some(1.02 * crate::event::GIB));
        for width in 36..140 {
            let mut wrapped = Wrapped::default();
            let mut numbers = OomNumbers::default();
            for (number, piece) in SENTENCE.as_bytes().chunks(width).enumerate() {
                let (piece, indented) = (piece.trim_ascii(), piece.starts_with(b" "));
                if number == 0 {
                    wrapped.begin(piece, phrases);
                    numbers.merge(&phrases.read(piece).0);
                } else if let Some((more, _)) = wrapped.go_on(piece, indented, phrases) {
                    numbers.merge(&more);
                }
            }
            assert_eq!(numbers, whole, "{width}");
        }
    }

    #[test]
    fn other_lines_bring_no_numbers() {
        let packs = Packs::built_in();
        let phrases = OomPhrases(packs.oom_phrases());
        let mut wrapped = Wrapped::default();
        wrapped.begin(b"CUDA out of memory.", phrases);
        assert!(wrapped.go_on(b"results = f(**inputs) # 2.00 GiB", true, phrases).is_none());
        assert!(wrapped.go_on(b"The latent has 2.50 GiB", false, phrases).is_none());
    }
}
