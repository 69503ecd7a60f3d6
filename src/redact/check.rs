//! Looks through what is about to be shown for everything that was replaced, in all ways of writing it.
//!
//! Knows nothing of how it was replaced: a fault there must show here.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;

use super::encodings::encodings;
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
    finder: Option<AhoCorasick>,
    /// Whether the original of a pattern is an ordinary word, and the word.
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
        let mut patterns = Vec::new();
        for (category, original) in tokens.originals() {
            let word = original.trim();
            if word.chars().filter(|letter| letter.is_alphanumeric()).count() < 3 {
                continue;
            }
            let ordinary = !is_telling(category, word, vocabulary) || own.has(&word.to_lowercase());
            if ordinary && !matches!(category, Category::User | Category::Host | Category::Folder) {
                continue;
            }
            for text in encodings(category, word) {
                patterns.push(text);
                list.push((ordinary, word.to_owned()));
            }
        }
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&patterns).ok();
        Self {
            names,
            finder: finder.filter(|_| !patterns.is_empty()),
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
        let Some(finder) = &self.finder else { return };
        let mut kept = None;
        for hit in finder.find_overlapping_iter(text.as_ref()) {
            let at = hit.range();
            if !stands_alone(&text, &at) || in_token(&text, at.start) {
                continue;
            }
            let kept = kept.get_or_insert_with(|| self.names.node_folders(&text));
            let Some((ordinary, word)) = self.list.get(hit.pattern().as_usize()) else { continue };
            if *ordinary || lies_in(kept, at.start) {
                if self.ordinary.len() < TOLD {
                    self.ordinary.insert(word.clone());
                }
            } else if self.checked.private.last() != Some(&self.line) && self.checked.private.len() < TOLD {
                self.checked.private.push(self.line);
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
