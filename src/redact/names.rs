//! Names that were met in a telling place (a home folder, a password field) are replaced wherever else they stand, in
//! whatever way they are written there.
//!
//! Names of node folders stay, and so do words of ComfyUI's own lines.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::accept::near;
use super::encodings::encodings;
use super::found::Found;
use super::tokens::Category;
use super::words::Vocabulary;

/// Names looked for, so that a hostile log cannot make every line slow.
const LIMIT: usize = 3_000;
/// The longest name looked for, in bytes.
const LONGEST: usize = 256;

#[derive(Debug)]
pub(super) struct Names {
    /// What stands behind the folder of node packs; none when the packs name no such folder.
    node_folder: Option<Regex>,
    known: BTreeMap<String, Category>,
    finder: Option<AhoCorasick>,
    list: Vec<(String, Category)>,
}

impl Names {
    pub(super) fn new(node_folders: &[&str]) -> Self {
        let folders: Vec<String> =
            node_folders.iter().filter(|folder| !folder.is_empty()).map(|folder| regex::escape(folder)).collect();
        let node_folder = format!(r"(?:{})[\\/]+[^\\/\s]+", folders.join("|"));
        Self {
            node_folder: Regex::new(&node_folder).ok().filter(|_| !folders.is_empty()),
            known: BTreeMap::new(),
            finder: None,
            list: Vec::new(),
        }
    }

    /// Takes a name, when it can be told from an ordinary word.
    pub(super) fn add(&mut self, category: Category, name: &str, vocabulary: &Vocabulary) {
        let name = name.trim();
        if name.len() > LONGEST || self.known.len() >= LIMIT || !is_telling(category, name, vocabulary) {
            return;
        }
        if self.known.insert(name.to_lowercase(), category).is_none() {
            self.finder = None;
        }
        if category == Category::User && name.contains(' ') {
            for part in name.split(' ').filter(|part| part.chars().count() >= 4) {
                self.add(category, part, vocabulary);
            }
        }
    }

    /// Gets ready to look for all names.
    pub(super) fn prepare(&mut self) {
        if self.finder.is_some() || self.known.is_empty() {
            return;
        }
        self.list = self
            .known
            .iter()
            .flat_map(|(name, category)| encodings(*category, name).into_iter().map(|text| (text, *category)))
            .collect();
        self.finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            .build(self.list.iter().map(|(name, _)| name.as_str()))
            .ok();
    }

    /// Adds all names in `text`. [`Names::prepare`] comes first.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Found>) {
        let Some(finder) = &self.finder else { return };
        let mut kept = None;
        for hit in finder.find_iter(text) {
            let at = hit.range();
            if !stands_alone(text, &at) || in_token(text, at.start) {
                continue;
            }
            let kept: &Vec<Range<usize>> = kept.get_or_insert_with(|| self.node_folders(text));
            let Some((_, category)) = self.list.get(hit.pattern().as_usize()) else { continue };
            if lies_in(kept, at.start) {
                continue;
            }
            found.push(Found::new(*category, at));
        }
    }

    /// Where names of node packs stand, one behind the other.
    pub(super) fn node_folders(&self, text: &str) -> Vec<Range<usize>> {
        self.node_folder.iter().flat_map(|folder| folder.find_iter(text)).map(|found| found.range()).collect()
    }
}

/// One of the ranges, which stand in their order, holds the place.
pub(super) fn lies_in(ranges: &[Range<usize>], at: usize) -> bool {
    let before = ranges.partition_point(|range| range.start <= at);
    before.checked_sub(1).and_then(|last| ranges.get(last)).is_some_and(|range| range.contains(&at))
}

/// Long enough to be told from a part of another word, no number and no word of ComfyUI's lines.
pub(super) fn is_telling(category: Category, name: &str, vocabulary: &Vocabulary) -> bool {
    let least = match category {
        Category::User => 3,
        Category::Host | Category::Organisation => 4,
        Category::Folder => 5,
        Category::Key | Category::Email | Category::Device | Category::Contact => 6,
        Category::Address => 7,
        Category::File => 8,
        Category::Prompt => 12,
        Category::Data | Category::Workflow => 24,
    };
    let least = if name.is_ascii() { least } else { least.min(2) };
    let number = name.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let address = category == Category::Address;
    name.chars().count() >= least && (!number || address) && !vocabulary.has(&name.to_lowercase())
}

/// No letter or digit stands against it. Names in scripts without blanks have no such edges.
pub(super) fn stands_alone(text: &str, at: &Range<usize>) -> bool {
    let joins = |outer: Option<char>, inner: Option<char>| {
        outer.is_some_and(|letter| letter.is_ascii_alphanumeric())
            && inner.is_some_and(|letter| letter.is_ascii_alphanumeric())
    };
    let part = |range: Range<usize>| text.get(range).unwrap_or_default();
    let name = part(at.clone());
    let (before, after) = (part(0..at.start), part(at.end..text.len()));
    // `\n` and `%20` end a word, although they end in a letter or a digit.
    let escaped = before.ends_with("\\n")
        || before.ends_with("\\t")
        || before.ends_with("\\r")
        || before
            .len()
            .checked_sub(3)
            .and_then(|cut| before.get(cut..))
            .is_some_and(|mark| mark.starts_with('%') && mark.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit()));
    (escaped || !joins(before.chars().next_back(), name.chars().next()))
        && !joins(after.chars().next(), name.chars().next_back())
}

/// What begins at `at` is part of a token that was put in before.
pub(super) fn in_token(text: &str, at: usize) -> bool {
    // No token is as long as what is looked at.
    let before = near(text, at);
    let word =
        before.rsplit(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).next().unwrap_or_default();
    let begins = text.get(at..).is_some_and(|rest| rest.starts_with("redacted-"));
    begins || word.starts_with("redacted-")
}
