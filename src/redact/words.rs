//! Words of ComfyUI's own lines: a name that is one of them cannot be told from it.

use std::collections::BTreeSet;

/// Words and beginnings of the lines that packs know.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    words: BTreeSet<String>,
    /// The first two words of a line.
    beginnings: BTreeSet<String>,
}

impl Vocabulary {
    pub(super) fn new<'v>(texts: impl IntoIterator<Item = &'v str>) -> Self {
        let mut all = Self::default();
        for text in texts {
            all.beginnings.extend(beginning(text));
            let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
            all.words.extend(words.map(str::to_lowercase));
        }
        all
    }

    /// The word, in small letters, is one of them.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// All words, for the parts of a path.
    pub(super) fn words(&self) -> &BTreeSet<String> {
        &self.words
    }

    /// A known line begins like this one.
    pub(super) fn begins(&self, line: &str) -> bool {
        beginning(line).is_some_and(|words| self.beginnings.contains(&words))
    }
}

fn beginning(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    Some(format!("{first} {}", words.next().unwrap_or_default()).to_lowercase())
}
