//! Shapes of private things: a text is searched once for all their needles, and patterns are tried where one stands.
//!
//! A pattern looks at few letters behind its needle, so that the time is that of reading the text.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

use super::accept::{Context, accepts};
use super::found::Found;
use super::pattern;
use super::rules::{Back, RULES, Row, Unless};
use super::tokens::Category;

/// Bytes behind a needle that a pattern looks at; what is private and longer goes on to the end of the text.
const REACH: usize = 2048;
/// Letters that a pattern takes from before its needle.
const BACK: usize = 200;
/// Signs at the end of a name that belong to the sentence.
const TRIM: &[char] = &['.', ',', ';', ':', ')', ']', '\'', '"', '`', '!', '?'];

#[derive(Debug)]
struct Shape {
    pattern: Regex,
    /// Number of a group, and what it holds.
    groups: Vec<(usize, Category)>,
    edge: bool,
    begins: bool,
    back: Back,
    unless: Unless,
}

/// All shapes, ready to be looked for.
#[derive(Debug)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    needles: AhoCorasick,
    /// The shape of each needle.
    of_needle: Vec<usize>,
}

impl Shapes {
    pub(super) fn new() -> Self {
        let rows = &RULES.shapes;
        let mut of_needle = Vec::new();
        let mut needles = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            for needle in &row.needles {
                needles.push(needle.as_str());
                of_needle.push(index);
            }
        }
        Self {
            shapes: rows.iter().map(compile).collect(),
            needles: AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::DFA))
                .ascii_case_insensitive(true)
                .build(needles)
                .expect("the needles are constants that every test compiles"),
            of_needle,
        }
    }

    /// Adds what is private in `text`, whose prefixes end at `body`.
    pub(super) fn find(&self, text: &str, body: usize, found: &mut Vec<Found>) {
        let mut ends: Vec<usize> = Vec::new();
        for hit in self.needles.find_overlapping_iter(text) {
            let Some(index) = self.of_needle.get(hit.pattern().as_usize()).copied() else { continue };
            let Some(shape) = self.shapes.get(index) else { continue };
            if ends.is_empty() {
                ends.resize(self.shapes.len(), 0);
            }
            let Some(end) = ends.get_mut(index) else { continue };
            if shape.back == Back::Text && body > 0 {
                shape.tried(text, (0, hit.range()), 0, found);
            }
            if let Some(tried) = shape.tried(text, (body, hit.range()), *end, found) {
                *end = tried;
            }
        }
    }
}

impl Shape {
    /// Tries the pattern at a needle; where it need not be tried again before.
    fn tried(
        &self,
        text: &str,
        (body, needle): (usize, Range<usize>),
        after: usize,
        found: &mut Vec<Found>,
    ) -> Option<usize> {
        let before = text.get(..needle.start)?;
        let body = body.min(needle.start);
        if (self.edge && before.ends_with(|letter: char| letter.is_ascii_alphanumeric()))
            || (self.begins && !begins(text.get(body..needle.start)?))
            || (self.back != Back::Text && needle.start < after)
        {
            return None;
        }
        let start = match self.back {
            Back::Nothing => needle.start,
            Back::Word => word_before(before).max(after),
            Back::Text => chars_before(before, BACK).max(body),
        };
        if self.back == Back::Text && after > start {
            return None;
        }
        let mut cut = text.len().min(needle.end + REACH);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        let slice = text.get(start..cut)?;
        let Some(caught) = self.pattern.captures(slice) else {
            // From the beginning of the text it fails for all needles.
            return (self.back == Back::Text).then_some(needle.end);
        };
        let whole = caught.get(0)?;
        let shown_end = if start + whole.end() == cut { text.len() } else { start + whole.end() };
        let mut end = start + 1;
        for (number, category) in &self.groups {
            let Some(group) = caught.get(*number) else { continue };
            let last = if start + group.end() == cut { text.len() } else { start + group.end() };
            let mut at = start + group.start()..last;
            let secret = text.get(at.clone()).unwrap_or_default();
            if matches!(category, Category::User | Category::Host) {
                at.end = at.start + secret.trim_end_matches(TRIM).len();
            }
            let context = Context { text, at: at.clone(), category: *category };
            if accepts(self.unless, &context) {
                found.push(Found { at, category: *category, shown: start..shown_end });
                end = end.max(last);
            }
        }
        Some(end)
    }
}

/// Only blanks stand before, or a program's name and a mark.
fn begins(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t', '"', '\'', '#', '*', '-', '>', '_', '`', '(', '<', '【', '「']);
    before.is_empty()
        || before.ends_with([']', ':', '|', '>', '：', '】', '」', '~', '=', ')', '✨', '├', '└'])
        || before.ends_with(" -")
}

/// Where the word begins that ends with `before`.
fn word_before(before: &str) -> usize {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '+' | '%' | '*' | '•');
    let mut start = before.len();
    for (at, letter) in before.char_indices().rev().take(BACK) {
        if !part(letter) {
            break;
        }
        start = at;
    }
    start
}

/// Where the last `count` letters begin.
fn chars_before(before: &str, count: usize) -> usize {
    before.char_indices().rev().take(count).last().map_or(before.len(), |(at, _)| at)
}

fn compile(row: &Row) -> Shape {
    let mut needles: Vec<&str> = row.needles.iter().map(String::as_str).collect();
    needles.sort_by_key(|needle| std::cmp::Reverse(needle.len()));
    let needles: Vec<String> = needles.into_iter().map(regex::escape).collect();
    let text = row
        .pattern
        .replace("{needles}", &format!("(?:{})", needles.join("|")))
        .replace("{q}", r#"(?:\\*["'`])?"#)
        .replace("{sep}", r"\s*(?:=>|:=|[:=：])\s*")
        .replace("{value}", r#"(?:\\*"(?P<key>[^"\\\n]+)|\\*'(?P<key2>[^'\\\n]+)|(?P<key3>[^\s"',;&)}\]\\]+))"#)
        .replace("{line}", r"[^\r\n]*");
    let pattern = pattern(&format!("^(?i:{text})"));
    let groups =
        pattern.capture_names().enumerate().filter_map(|(number, name)| Some((number, category(name?)?))).collect();
    Shape { pattern, groups, edge: row.edge, begins: row.begins, back: row.back, unless: row.unless }
}

/// What a group is called after.
fn category(name: &str) -> Option<Category> {
    Category::of_word(name.trim_end_matches(|letter: char| letter.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles_and_replaces_something() {
        let shapes = Shapes::new();
        for (row, shape) in RULES.shapes.iter().zip(&shapes.shapes) {
            assert!(!shape.groups.is_empty(), "{}", row._id);
            assert!(row.needles.iter().all(|needle| *needle == needle.to_lowercase()), "{}", row._id);
        }
    }
}
