//! Text of a log becomes the same text without what is private: user and host names, addresses, keys, prompts,
//! names of output files. Equal things get equal tokens; versions, class names, node folders and numbers stay.
//!
//! Works on single lines and knows no formats: `answer::clean` runs it over whole logs, before anything else
//! reads them, so that no later stage can show what it never saw.

mod accept;
mod folded;
mod names;
mod shapes;
mod tokens;

use std::collections::BTreeSet;

use regex::{Captures, Regex};

pub use tokens::{Category, Replaced};

use folded::{Folded, Whole};
use names::Names;
use shapes::{Shape, shapes};
use tokens::Tokens;

/// Replaces what is private, line by line.
#[derive(Debug)]
pub struct Redactor {
    shapes: Vec<Shape>,
    token: Regex,
    ansi: Regex,
    tokens: Tokens,
    names: Names,
    region: Region,
    folded: Folded,
    counting: bool,
}

/// A part of a log whose lines are private as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Region {
    None,
    Key,
    Workflow,
}

impl Redactor {
    /// A redactor that leaves the words of `vocabulary` alone where they stand by themselves: somebody may be
    /// called Max or Will, and still "max" and "will" are words of ComfyUI's own lines. So are names of what lies in
    /// `node_folders`.
    #[must_use]
    pub fn new<'v>(vocabulary: impl IntoIterator<Item = &'v str>, node_folders: &[&str]) -> Self {
        let words: BTreeSet<String> = vocabulary
            .into_iter()
            .flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        Self {
            shapes: shapes(),
            token: pattern(r"redacted-(?P<word>[a-z]+)-(?P<number>\d+)"),
            ansi: pattern("\x1b\\[[0-9;?]*[A-Za-z]|\u{9b}[0-9;?]*[A-Za-z]"),
            tokens: Tokens::default(),
            names: Names::new(words, node_folders),
            region: Region::None,
            folded: Folded::default(),
            counting: true,
        }
    }

    /// A new log begins: what an earlier one left open is closed.
    pub fn begin(&mut self) {
        self.region = Region::None;
        self.folded = Folded::default();
    }

    /// Takes note of what is private in a line, so that it is known before the first line is written.
    pub fn learn(&mut self, line: &str) {
        self.counting = false;
        for found in self.token.captures_iter(line) {
            if let Some(number) = found.name("number").and_then(|number| number.as_str().parse().ok()) {
                self.tokens.reserve(&found["word"], number);
            }
        }
        self.line(line);
        let plain = self.ansi.replace_all(line, "").into_owned();
        for whole in self.folded.put(&plain) {
            self.learn_across_breaks(&whole);
        }
        self.counting = true;
    }

    /// Takes note of the pieces of what a window broke: each is private in its own line.
    fn learn_across_breaks(&mut self, (text, breaks): &Whole) {
        let mut pieces = Vec::new();
        for shape in &self.shapes {
            for found in shape.pattern.captures_iter(text) {
                for (name, category) in shape.groups {
                    let Some(secret) = found.name(name) else { continue };
                    // The break may stand in what shows that something private follows.
                    let shown = found.get(0).map_or(secret.range(), |whole| whole.range());
                    if !breaks.iter().any(|at| shown.contains(at)) || !self.is_private(shape, &found, secret, text) {
                        continue;
                    }
                    let mut start = secret.start();
                    let within = breaks.iter().copied().filter(|at| secret.range().contains(at));
                    for end in within.chain([secret.end()]) {
                        let piece = text.get(start..end).unwrap_or_default().trim_end_matches(shape.trim);
                        pieces.push((*category, piece.to_owned()));
                        start = end;
                    }
                }
            }
        }
        for (category, piece) in pieces {
            self.names.add(category, &piece);
        }
    }

    /// The line without what is private. Colours are dropped: a code inside a word would hide it.
    pub fn line(&mut self, line: &str) -> String {
        let plain = self.ansi.replace_all(line, "").into_owned();
        if let Some(whole) = self.region_line(&plain) {
            return whole;
        }
        let mut text = plain;
        for index in 0..self.shapes.len() {
            text = self.apply(index, &text);
        }
        self.names.replace(&text, &mut self.tokens, self.counting)
    }

    /// What was replaced, by category and token.
    #[must_use]
    pub fn replaced(&self) -> Vec<Replaced> {
        self.tokens.replaced()
    }

    /// Lines of a private key or of a workflow are private as a whole.
    fn region_line(&mut self, line: &str) -> Option<String> {
        let trimmed = line.trim();
        match self.region {
            Region::None => {
                if trimmed.contains("PRIVATE KEY-----")
                    && trimmed.contains("-----BEGIN")
                    && !trimmed.contains("-----END")
                {
                    self.region = Region::Key;
                } else if trimmed.starts_with("## Attached Workflow") {
                    self.region = Region::Workflow;
                }
                None
            }
            Region::Key if trimmed.contains("-----END") => {
                self.region = Region::None;
                None
            }
            Region::Key => Some(self.whole(line, Category::Key)),
            Region::Workflow if trimmed.starts_with("## ") => {
                self.region = Region::None;
                None
            }
            Region::Workflow if trimmed.is_empty() || trimmed.starts_with("```") => Some(line.to_owned()),
            Region::Workflow if trimmed.starts_with("Please make sure that workflow") => Some(line.to_owned()),
            Region::Workflow => Some(self.whole(line, Category::Workflow)),
        }
    }

    fn whole(&mut self, line: &str, category: Category) -> String {
        match line.trim() {
            "" => line.to_owned(),
            text if self.token.find(text).is_some_and(|found| found.as_str() == text) => line.to_owned(),
            text => self.tokens.token(category, text, self.counting),
        }
    }

    fn apply(&mut self, index: usize, text: &str) -> String {
        let Some(shape) = self.shapes.get(index) else { return text.to_owned() };
        let mut out = String::new();
        let mut end = 0;
        for found in shape.pattern.captures_iter(text) {
            for (name, category) in shape.groups {
                let Some(secret) = found.name(name) else { continue };
                if secret.start() < end || !self.is_private(shape, &found, secret, text) {
                    continue;
                }
                let (Some(before), Some(whole)) = (text.get(end..secret.start()), text.get(secret.range())) else {
                    continue;
                };
                out.push_str(before);
                let kept = whole.len() - whole.trim_end_matches(shape.trim).len();
                let (whole, tail) = whole.split_at_checked(whole.len() - kept).unwrap_or((whole, ""));
                self.names.add(*category, whole);
                out.push_str(&self.tokens.token(*category, whole, self.counting));
                out.push_str(tail);
                end = secret.end();
            }
        }
        out.push_str(text.get(end..).unwrap_or_default());
        out
    }

    fn is_private(&self, shape: &Shape, found: &Captures<'_>, secret: regex::Match<'_>, text: &str) -> bool {
        let word = secret.as_str().trim_end_matches(shape.trim);
        let clean = self.token.replace_all(word, "");
        // What is a token, or nothing but tokens and marks between them, was cleaned before.
        let done = clean.len() < word.len() && !clean.chars().any(char::is_alphanumeric);
        if word.is_empty() || done {
            return false;
        }
        let before = text.get(..secret.start()).unwrap_or_default();
        let after = text.get(secret.end()..).unwrap_or_default();
        (shape.accept)(word, before, after, found)
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant that every test compiles")
}

#[cfg(test)]
mod tests;
