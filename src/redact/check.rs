//! Looks through what is about to be shown for everything that was replaced, in all ways of writing it.
//!
//! Knows nothing of how it was replaced: a fault there must show here.

use std::collections::BTreeSet;

use super::encodings::encodings;
use super::lookup::Lookup;
use super::names::{Names, in_token, is_telling, lies_in, stands_alone};
use super::plain::plain;
use super::scan::has_unknown;
use super::tokens::{Category, Tokens};
use super::words::Vocabulary;

/// Lines and words that are told.
const TOLD: usize = 20;

/// What was found in a text that is about to be shown.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Lines in which something stands that was replaced elsewhere. Nothing may be shown then.
    pub private: Vec<u64>,
    /// Replaced names that are ordinary words of such logs, and stay where they are words.
    pub ordinary: Vec<String>,
    /// Lines with a long mixed or hexadecimal word that no rule knows.
    pub unknown: Vec<u64>,
    /// How many such lines there are.
    pub unknown_count: u64,
}

/// Looks for all originals.
pub struct Checker<'r> {
    names: &'r Names,
    /// All originals in all ways of writing them, with their numbers in the list.
    lookup: Lookup<usize>,
    /// Whether an original is an ordinary word, and the word.
    list: Vec<(bool, String)>,
    ordinary: BTreeSet<String>,
    line: u64,
    checked: Checked,
}

impl std::fmt::Debug for Checker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checker").field("line", &self.line).field("checked", &self.checked).finish_non_exhaustive()
    }
}

impl<'r> Checker<'r> {
    /// `own` holds the words of whoever writes what is shown, where that is not the log alone.
    pub(super) fn new(tokens: &Tokens, names: &'r Names, vocabulary: &Vocabulary, own: &Vocabulary) -> Self {
        let mut list = Vec::new();
        let mut texts = Vec::new();
        let mut originals: Vec<(Category, &str)> = tokens.originals().collect();
        originals.sort_unstable();
        for (category, original) in originals {
            let word = original.trim();
            if word.chars().filter(|letter| letter.is_alphanumeric()).count() < 3 {
                continue;
            }
            let ordinary = !is_telling(category, word, vocabulary) || own.has(&word.to_lowercase());
            if ordinary && !matches!(category, Category::User | Category::Host | Category::Folder) {
                continue;
            }
            texts.extend(encodings(category, word).into_iter().map(|text| (text, list.len())));
            list.push((ordinary, word.to_owned()));
        }
        // Where an ordinary word is a private one as well, it is private.
        texts.sort_by_key(|(_, number): &(String, usize)| list.get(*number).is_some_and(|(ordinary, _)| *ordinary));
        Self {
            names,
            lookup: Lookup::new(texts),
            list,
            ordinary: BTreeSet::new(),
            line: 0,
            checked: Checked::default(),
        }
    }

    /// Looks through the next line.
    pub fn line(&mut self, line: &str) {
        self.line += 1;
        let text = plain(line);
        if has_unknown(&text) {
            self.checked.unknown_count += 1;
            if self.checked.unknown.len() < TOLD {
                self.checked.unknown.push(self.line);
            }
        }
        let mut kept = None;
        let mut from = 0;
        while let Some(start) = self.lookup.next(&text, from) {
            from = start + 1;
            for (length, number) in self.lookup.at(&text, start) {
                let at = start..start + length;
                if !stands_alone(&text, &at) || in_token(&text, at.start) {
                    continue;
                }
                let kept = kept.get_or_insert_with(|| self.names.node_folders(&text));
                let Some((ordinary, word)) = self.list.get(*number) else { continue };
                if *ordinary || lies_in(kept, at.start) {
                    if self.ordinary.len() < TOLD {
                        self.ordinary.insert(word.clone());
                    }
                } else if self.checked.private.last() != Some(&self.line) && self.checked.private.len() < TOLD {
                    self.checked.private.push(self.line);
                }
            }
        }
    }

    /// Looks through a whole text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Checked {
        text.lines().for_each(|line| self.line(line));
        self.end()
    }

    /// What was found.
    #[must_use]
    pub fn end(self) -> Checked {
        Checked { ordinary: self.ordinary.into_iter().collect(), ..self.checked }
    }
}
