//! A text as a row of letters and holes, whether it comes from a rule or from a source, and how well two fit.

use std::collections::BTreeSet;

use super::holes::split_format;
use super::literal::Literal;
use super::token::Piece;

/// Letters of a text that are compared; more are never written on one line.
const LONGEST: usize = 600;

/// One line of a text: letters, and holes that anything can stand in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    /// `None` is a hole. Blanks are single and not at the ends.
    letters: Vec<Option<char>>,
}

/// How two texts fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// Share of the first text's letters that stand in the second one as letters, 0 to 1.
    pub(super) first: f64,
    /// The same for the second.
    pub(super) second: f64,
}

impl Shape {
    /// The lines of a literal. Braces in a plain text may be filled in later, so that form is tried as well.
    pub(super) fn of_literal(literal: &Literal) -> Vec<Self> {
        let mut shapes = Self::lines(&literal.pieces);
        let plain_braces =
            |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('{') && text.contains('}'));
        if literal.pieces.iter().any(plain_braces) {
            let mut pieces = Vec::new();
            for piece in &literal.pieces {
                match piece {
                    Piece::Text(text) => split_format(text, &mut pieces),
                    Piece::Hole => pieces.push(Piece::Hole),
                }
            }
            shapes.extend(Self::lines(&pieces));
        }
        shapes
    }

    fn lines(pieces: &[Piece]) -> Vec<Self> {
        let mut lines = vec![Vec::new()];
        for piece in pieces {
            match piece {
                Piece::Hole => push(&mut lines, None),
                Piece::Text(text) => {
                    for letter in text.chars() {
                        if letter == '\n' {
                            lines.push(Vec::new());
                        } else {
                            push(&mut lines, Some(letter));
                        }
                    }
                }
            }
        }
        lines.into_iter().map(Self::of_letters).filter(|shape| shape.weight() > 0).collect()
    }

    /// A template of a rule: its captures are holes.
    pub fn of_template(template: &str, open: bool) -> Self {
        let mut letters = Vec::new();
        let mut rest = template.trim_end().chars().peekable();
        while let Some(letter) = rest.next() {
            match letter {
                '{' | '}' if rest.peek() == Some(&letter) => {
                    rest.next();
                    letters.push(Some(letter));
                }
                '{' => {
                    while rest.next().is_some_and(|inner| inner != '}') {}
                    letters.push(None);
                }
                other => letters.push(Some(other)),
            }
        }
        if open {
            letters.push(None);
        }
        Self::of_letters(letters)
    }

    /// A line without holes.
    pub fn of_line(line: &str) -> Self {
        Self::of_letters(line.chars().map(Some).collect())
    }

    fn of_letters(letters: Vec<Option<char>>) -> Self {
        let mut kept: Vec<Option<char>> = Vec::with_capacity(letters.len().min(LONGEST));
        for letter in without_tag(letters).into_iter().take(LONGEST) {
            let letter = letter.map(|letter| if letter.is_whitespace() { ' ' } else { letter });
            let again = matches!(letter, None | Some(' ')) && kept.last() == Some(&letter);
            if !(again || kept.is_empty() && letter == Some(' ')) {
                kept.push(letter);
            }
        }
        while kept.last() == Some(&Some(' ')) {
            kept.pop();
        }
        Self { letters: kept }
    }

    /// Letters and digits that are written.
    pub(super) fn weight(&self) -> usize {
        self.letters.iter().flatten().filter(|letter| letter.is_alphanumeric()).count()
    }

    /// Number of holes.
    pub(super) fn holes(&self) -> usize {
        self.letters.iter().filter(|letter| letter.is_none()).count()
    }

    /// Words of three letters and more, in small letters.
    pub(super) fn words(&self) -> BTreeSet<String> {
        let text: String = self.letters.iter().map(|letter| letter.unwrap_or('\u{1}')).collect();
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.filter(|word| word.chars().count() >= 3).map(str::to_lowercase).collect()
    }

    /// The text with `fill(n)` in the n-th hole; `plain` writes the letters.
    pub(super) fn write(&self, plain: impl Fn(char, &mut String), mut fill: impl FnMut(usize) -> String) -> String {
        let mut out = String::new();
        let mut hole = 0;
        for letter in &self.letters {
            match letter {
                Some(letter) => plain(*letter, &mut out),
                None => {
                    out.push_str(&fill(hole));
                    hole += 1;
                }
            }
        }
        out
    }

    /// This text stands inside the other and makes up most of it.
    pub(super) fn is_piece_of(&self, other: &Self) -> bool {
        let long = self.weight() * 2 >= other.weight() && self.weight() >= 8;
        if !long {
            return false;
        }
        let mut letters = vec![None];
        letters.extend_from_slice(&self.letters);
        letters.push(None);
        Self { letters }.fit(other).is_some_and(|fit| fit.first >= 0.99)
    }

    /// The best way in which some line is both texts; `None` when there is no such line.
    pub(super) fn fit(&self, other: &Self) -> Option<Fit> {
        let (a, b) = (&self.letters, &other.letters);
        // Letters in common from here to the ends; -1 when the ends cannot meet.
        let mut below = vec![-1_i32; b.len() + 1];
        for i in (0..=a.len()).rev() {
            let mut row = vec![-1_i32; b.len() + 1];
            for j in (0..=b.len()).rev() {
                let mut best = if i == a.len() && j == b.len() { 0 } else { -1 };
                let here = a.get(i);
                let there = b.get(j);
                if let (Some(Some(x)), Some(Some(y))) = (here, there)
                    && x == y
                {
                    let rest = below.get(j + 1).copied().unwrap_or(-1);
                    if rest >= 0 {
                        best = best.max(rest + i32::from(x.is_alphanumeric()));
                    }
                }
                // A blank beside a hole falls away where nothing is put in.
                if here == Some(&Some(' ')) && beside_hole(a, i) {
                    best = best.max(below.get(j).copied().unwrap_or(-1));
                }
                if there == Some(&Some(' ')) && beside_hole(b, j) {
                    best = best.max(row.get(j + 1).copied().unwrap_or(-1));
                }
                if matches!(here, Some(None)) {
                    best = best.max(below.get(j).copied().unwrap_or(-1));
                    if there.is_some() {
                        best = best.max(row.get(j + 1).copied().unwrap_or(-1));
                    }
                }
                if matches!(there, Some(None)) {
                    best = best.max(row.get(j + 1).copied().unwrap_or(-1));
                    if here.is_some() {
                        best = best.max(below.get(j).copied().unwrap_or(-1));
                    }
                }
                if let Some(slot) = row.get_mut(j) {
                    *slot = best;
                }
            }
            below = row;
        }
        let common = below.first().copied().filter(|common| *common >= 0)?;
        let share = |weight: usize| if weight == 0 { 0.0 } else { f64::from(common) / weight as f64 };
        Some(Fit { first: share(self.weight()), second: share(other.weight()) })
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.write(|letter, out| out.push(letter), |_| "…".to_owned()))
    }
}

fn push(lines: &mut [Vec<Option<char>>], letter: Option<char>) {
    if let Some(line) = lines.last_mut() {
        line.push(letter);
    }
}

fn beside_hole(letters: &[Option<char>], at: usize) -> bool {
    let hole = |at: Option<usize>| at.and_then(|at| letters.get(at)) == Some(&None);
    hole(at.checked_sub(1)) || hole(at.checked_add(1))
}

/// The line without a level in brackets: it is no part of the text when the log is read.
fn without_tag(line: Vec<Option<char>>) -> Vec<Option<char>> {
    let tag = |end: usize| {
        line.get(1..end)
            .is_some_and(|name| name.iter().all(|letter| letter.is_some_and(|letter| letter.is_ascii_uppercase())))
    };
    let end =
        line.iter().position(|letter| *letter == Some(']')).filter(|end| line.first() == Some(&Some('[')) && tag(*end));
    match end {
        Some(end) if (4..=9).contains(&end) => line.into_iter().skip(end + 1).collect(),
        _ => line,
    }
}

/// How alike the words of two texts are, 0 to 1.
pub(super) fn likeness(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let both = a.intersection(b).count();
    if a.is_empty() && b.is_empty() { 0.0 } else { 2.0 * both as f64 / (a.len() + b.len()) as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::literal::literals;
    use super::*;

    fn source(text: &str) -> Shape {
        Shape::of_literal(&literals(text)[0])[0].clone()
    }

    #[test]
    fn a_template_fits_the_source_that_prints_it() {
        let rule =
            Shape::of_template("Unloaded partially: {freed:mib} MB freed, {remains:mib} MB remains loaded", false);
        let fit = rule.fit(&source("f'Unloaded partially: {a:.2f} MB freed, {b:.2f} MB remains loaded'")).unwrap();
        assert_eq!((fit.first, fit.second), (1.0, 1.0));
        assert!(rule.fit(&source("f'Unloaded partly: {a} MB freed'")).is_none());
    }

    #[test]
    fn a_hole_may_hold_what_the_rule_writes_out() {
        let rule = Shape::of_template("Set vram state to: {state:word} now", false);
        let fit = rule.fit(&source("'Set {} state to: {}'.format(a, b)")).unwrap();
        assert!(fit.first > 0.5 && fit.first < 1.0 && fit.second == 1.0, "{fit:?}");
    }

    #[test]
    fn lines_stand_alone() {
        let shapes = Shape::of_literal(&literals("print('\\nTo see the GUI\\n')")[0]);
        assert_eq!(shapes.len(), 1);
        assert_eq!(shapes[0].to_string(), "To see the GUI");
    }
}
