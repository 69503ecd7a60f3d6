//! Shapes of private things: a text is searched once for all their needles, and patterns are tried where one stands.
//!
//! How far a pattern looks is told in `search`.

use std::cell::RefCell;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{CaptureLocations, Regex};

use super::found::Found;
use super::pattern;
use super::rules::{Back, RULES, Row, Unless};
use super::search::{BACK, Search};
use super::tokens::Category;

#[derive(Debug)]
pub(super) struct Shape {
    pub(super) pattern: Regex,
    /// Where the groups of the last match stand.
    pub(super) places: RefCell<CaptureLocations>,
    /// Number of a group, and what it holds.
    pub(super) groups: Vec<(usize, Category)>,
    pub(super) edge: bool,
    pub(super) begins: bool,
    pub(super) back: Back,
    pub(super) unless: Unless,
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
        let mut hits = self.needles.find_overlapping_iter(text).peekable();
        if hits.peek().is_none() {
            return;
        }
        let mut search = Search::new(text, self.shapes.len());
        for hit in hits {
            let Some(index) = self.of_needle.get(hit.pattern().as_usize()).copied() else { continue };
            let Some(shape) = self.shapes.get(index) else { continue };
            // What stands before the body may be the beginning that such a pattern looks for.
            if shape.back == Back::Text && body > 0 && hit.start() < body + BACK {
                search.tried(shape, (index, true), (0, hit.range()), found);
            }
            search.tried(shape, (index, false), (body, hit.range()), found);
        }
    }
}

/// Only blanks stand before, or a program's name and a mark.
pub(super) fn begins(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t', '"', '\'', '#', '*', '-', '>', '_', '`', '(', '<', '【', '「']);
    before.is_empty()
        || before.ends_with([']', ':', '|', '>', '：', '】', '」', '~', '=', ')', '✨', '├', '└'])
        || before.ends_with(" -")
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
    let places = RefCell::new(pattern.capture_locations());
    Shape { pattern, places, groups, edge: row.edge, begins: row.begins, back: row.back, unless: row.unless }
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
