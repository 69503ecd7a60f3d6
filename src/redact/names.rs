//! Names that were met in a telling place (a home folder, a password field) are replaced wherever else they stand, in
//! whatever way they are written there.
//!
//! Names of node folders stay, and so do words of ComfyUI's own lines.

use std::collections::HashMap;
use std::ops::Range;

use regex::Regex;

use super::accept::near;
use super::encodings::encodings;
use super::found::Found;
use super::lookup::Lookup;
use super::tokens::Category;
use super::words::Vocabulary;

/// Names looked for, so that a hostile log cannot fill the memory: files and folders, which may be many, leave room for
/// keys, those for machines, and those for accounts.
const LIMITS: [usize; 4] = [3_000, 4_000, 5_000, 6_000];
/// The longest name looked for, in bytes.
const LONGEST: usize = 256;

#[derive(Debug)]
pub(super) struct Names {
    /// What stands behind the folder of node packs; none when the packs name no such folder.
    node_folder: Option<Regex>,
    known: HashMap<String, Category>,
    /// All names in all ways of writing them; none while there are new ones.
    lookup: Option<Lookup<Category>>,
}

impl Names {
    pub(super) fn new(node_folders: &[&str]) -> Self {
        let folders: Vec<String> =
            node_folders.iter().filter(|folder| !folder.is_empty()).map(|folder| regex::escape(folder)).collect();
        let node_folder = format!(r"(?:{})[\\/]+[^\\/\s]+", folders.join("|"));
        Self {
            node_folder: Regex::new(&node_folder).ok().filter(|_| !folders.is_empty()),
            known: HashMap::new(),
            lookup: None,
        }
    }

    /// Takes a name, when it can be told from an ordinary word.
    pub(super) fn add(&mut self, category: Category, name: &str, vocabulary: &Vocabulary) {
        let name = name.trim();
        let limit = LIMITS[category.rank()];
        if name.len() > LONGEST || self.known.len() >= limit || !is_telling(category, name, vocabulary) {
            return;
        }
        if self.known.insert(name.to_lowercase(), category).is_none() {
            self.lookup = None;
        }
        if category == Category::User && name.contains(' ') {
            for part in name.split(' ').filter(|part| part.chars().count() >= 4) {
                self.add(category, part, vocabulary);
            }
        }
    }

    /// Gets ready to look for all names.
    pub(super) fn prepare(&mut self) {
        if self.lookup.is_some() || self.known.is_empty() {
            return;
        }
        let all = self
            .known
            .iter()
            .flat_map(|(name, category)| encodings(*category, name).into_iter().map(|text| (text, *category)));
        self.lookup = Some(Lookup::new(all));
    }

    /// Adds all names in `text`. [`Names::prepare`] comes first.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Found>) {
        let Some(lookup) = &self.lookup else { return };
        let mut kept = None;
        let mut from = 0;
        while let Some(start) = lookup.next(text, from) {
            let Some((length, category)) = lookup.at(text, start).next() else {
                from = start + 1;
                continue;
            };
            let at = start..start + length;
            from = at.end;
            if !stands_alone(text, &at) || in_token(text, at.start) {
                continue;
            }
            let kept: &Vec<Range<usize>> = kept.get_or_insert_with(|| self.node_folders(text));
            if !lies_in(kept, at.start) {
                found.push(Found::new(*category, at));
            }
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
