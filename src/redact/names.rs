//! Names that were met in a telling place (a home folder, a password field) are replaced wherever else they stand.
//!
//! Names of node folders stay, and so do words of ComfyUI's own lines.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::tokens::{Category, Tokens};

/// Names looked for, so that a hostile log cannot make every line slow.
const LIMIT: usize = 2_000;

#[derive(Debug)]
pub(super) struct Names {
    vocabulary: BTreeSet<String>,
    /// What stands behind the folder of node packs; none when the packs name no such folder.
    node_folder: Option<Regex>,
    known: BTreeMap<String, Category>,
    finder: Option<AhoCorasick>,
    list: Vec<(String, Category)>,
}

impl Names {
    pub(super) fn new(vocabulary: BTreeSet<String>, node_folders: &[&str]) -> Self {
        let folders: Vec<String> =
            node_folders.iter().filter(|folder| !folder.is_empty()).map(|folder| regex::escape(folder)).collect();
        let node_folder = format!(r"(?:{})[\\/]+[^\\/\s]+", folders.join("|"));
        Self {
            vocabulary,
            node_folder: Regex::new(&node_folder).ok().filter(|_| !folders.is_empty()),
            known: BTreeMap::new(),
            finder: None,
            list: Vec::new(),
        }
    }

    /// Takes a name, when it can be told from an ordinary word.
    pub(super) fn add(&mut self, category: Category, name: &str) {
        let least = match category {
            Category::User => 3,
            Category::Host | Category::Organisation => 4,
            Category::Key => 6,
            Category::Prompt => 12,
            Category::Email | Category::Device => 6,
            Category::Address | Category::File | Category::Workflow => return,
        };
        let name = name.trim();
        let number = name.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        let lower = name.to_lowercase();
        if name.chars().count() < least || number || self.vocabulary.contains(&lower) || self.known.len() >= LIMIT {
            return;
        }
        if self.known.insert(lower, category).is_none() {
            self.finder = None;
        }
    }

    /// Replaces all names in `text`.
    pub(super) fn replace(&mut self, text: &str, tokens: &mut Tokens, counting: bool) -> String {
        if self.known.is_empty() {
            return text.to_owned();
        }
        if self.finder.is_none() {
            self.list = self.known.iter().map(|(name, category)| (name.clone(), *category)).collect();
            let names = self.list.iter().map(|(name, _)| name.as_str());
            self.finder = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .ascii_case_insensitive(true)
                .build(names)
                .ok();
        }
        let Some(finder) = &self.finder else { return text.to_owned() };
        let kept: Vec<std::ops::Range<usize>> =
            self.node_folder.iter().flat_map(|folder| folder.find_iter(text)).map(|found| found.range()).collect();
        let mut out = String::new();
        let mut end = 0;
        for found in finder.find_iter(text) {
            let (before, inside) = (text.get(..found.start()), text.get(found.range()));
            let (Some(before), Some(inside), Some(after)) = (before, inside, text.get(found.end()..)) else { continue };
            let in_folder = kept.iter().any(|range| range.contains(&found.start()));
            let in_token = ends_in_token(before);
            if in_folder || in_token || !stands_alone(before, inside, after) {
                continue;
            }
            let Some((name, category)) = self.list.get(found.pattern().as_usize()) else { continue };
            // Tokens of what tells cases apart belong to the spelling at hand.
            let spelling = if matches!(category, Category::Key | Category::Prompt) { inside } else { name.as_str() };
            out.push_str(text.get(end..found.start()).unwrap_or_default());
            out.push_str(&tokens.token(*category, spelling, counting));
            end = found.end();
        }
        out.push_str(text.get(end..).unwrap_or_default());
        out
    }
}

/// No letter or digit stands against it. Names in scripts without blanks have no such edges.
fn stands_alone(before: &str, name: &str, after: &str) -> bool {
    let joins = |outer: Option<char>, inner: Option<char>| {
        outer.is_some_and(|letter| letter.is_ascii_alphanumeric())
            && inner.is_some_and(|letter| letter.is_ascii_alphanumeric())
    };
    !joins(before.chars().next_back(), name.chars().next()) && !joins(after.chars().next(), name.chars().next_back())
}

/// The name is part of a token that was put in before.
fn ends_in_token(before: &str) -> bool {
    let word =
        before.rsplit(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).next().unwrap_or_default();
    word.starts_with("redacted-")
}
