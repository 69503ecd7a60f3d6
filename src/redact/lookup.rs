//! Many texts looked for at once, by their first letters and then as a whole: memory stays small however long they are.

use aho_corasick::{AhoCorasick, Input, MatchKind};

/// Bytes of a text by which it is looked for.
const FIRST: usize = 10;

/// Texts, in any case of ASCII letters, and what is known of each.
#[derive(Debug)]
pub(super) struct Lookup<T> {
    /// Finds the first letters of them all; none when there is no text.
    finder: Option<AhoCorasick>,
    /// In small letters and sorted.
    texts: Vec<(Box<[u8]>, T)>,
    longest: usize,
}

impl<T> Lookup<T> {
    /// Of equal texts the first is kept.
    pub(super) fn new(texts: impl IntoIterator<Item = (String, T)>) -> Self {
        let mut texts: Vec<(Box<[u8]>, T)> = texts
            .into_iter()
            .filter(|(text, _)| !text.is_empty())
            .map(|(text, what)| (text.to_ascii_lowercase().into_bytes().into(), what))
            .collect();
        texts.sort_by(|(a, _), (b, _)| a.cmp(b));
        texts.dedup_by(|(later, _), (first, _)| later == first);
        let mut first: Vec<&[u8]> = texts.iter().map(|(text, _)| text.get(..FIRST).unwrap_or(text)).collect();
        first.dedup();
        let finder =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).ascii_case_insensitive(true).build(&first);
        let longest = texts.iter().map(|(text, _)| text.len()).max().unwrap_or(0);
        Self { finder: finder.ok().filter(|_| longest > 0), texts, longest }
    }

    /// Where the next text may begin, from `from` on.
    pub(super) fn next(&self, text: &str, from: usize) -> Option<usize> {
        let rest = Input::new(text).range(from.min(text.len())..);
        self.finder.as_ref()?.find(rest).map(|hit| hit.start())
    }

    /// The texts that begin at `at`, the longest first: their lengths, and what is known of them.
    pub(super) fn at<'l>(&'l self, text: &str, at: usize) -> impl Iterator<Item = (usize, &'l T)> + use<'l, T> {
        let bytes = text.as_bytes();
        let mut rest = bytes.get(at..bytes.len().min(at + self.longest)).unwrap_or_default().to_ascii_lowercase();
        std::iter::from_fn(move || {
            loop {
                // Among what sorts up to here the last begins with most of it; what is shorter sorts before it.
                let index = self.texts.partition_point(|(text, _)| text.as_ref() <= rest.as_slice()).checked_sub(1)?;
                let (found, what) = self.texts.get(index)?;
                let same = found.iter().zip(&rest).take_while(|(a, b)| a == b).count();
                if same == found.len() {
                    rest.truncate(same.checked_sub(1)?);
                    return Some((same, what));
                }
                rest.truncate(same);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_texts_at_a_place_are_told_longest_first() {
        let texts = ["mia", "mia berg", "mia bergmann", "mib", "m", "a longer text than its first letters", "käthe"];
        let lookup = Lookup::new(texts.iter().map(|text| ((*text).to_owned(), *text)));
        let text = "by MIA Bergfeld, Käthe, a longer text than others";
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = lookup.next(text, from) {
            found.extend(lookup.at(text, at).map(|(length, what)| (at, length, *what)));
            from = at + 1;
        }
        assert_eq!(found, [(3, 8, "mia berg"), (3, 3, "mia"), (3, 1, "m"), (17, 6, "käthe")]);
    }

    #[test]
    fn nothing_is_found_among_no_texts() {
        let lookup = Lookup::new([(String::new(), ())]);
        assert_eq!(lookup.next("a text", 0), None);
        assert_eq!(lookup.at("a text", 0).count(), 0);
    }
}
