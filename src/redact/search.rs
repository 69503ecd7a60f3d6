//! The search of one text for shapes: patterns are tried where a needle stands.
//!
//! A pattern looks at few letters behind its needle, and is not tried again where it must fail again, so that the time is
//! that of reading the text, whatever stands in it.

use std::cell::OnceCell;
use std::ops::Range;

use super::accept::{Context, accepts};
use super::found::Found;
use super::rules::Back;
use super::shapes::{Shape, begins};
use super::tokens::Category;

/// Bytes behind a needle that a pattern looks at; what is private and longer goes on to the end of the text.
const REACH: usize = 2048;
/// The same once patterns have looked at much in vain: a text made of needles alone costs no more than others.
const SHORT: usize = 64;
/// Bytes that patterns may look at in vain in any text, and for each byte of a text.
const IN_VAIN: (usize, usize) = (64 * 1024, 8);
/// Letters that a pattern takes from before its needle.
pub(super) const BACK: usize = 200;
/// Signs at the end of a name that belong to the sentence.
const TRIM: &[char] = &['.', ',', ';', ':', ')', ']', '\'', '"', '`', '!', '?'];

/// How far a shape has come in a text.
#[derive(Debug, Clone, Copy)]
struct Come {
    /// Its pattern need not be tried again before.
    to: usize,
    /// Where it failed last.
    failed: usize,
}

const FRESH: Come = Come { to: 0, failed: usize::MAX };

/// A text, and how far all shapes have come in it.
pub(super) struct Search<'t> {
    text: &'t str,
    /// For each shape, from the body on and from the beginning of the line.
    come: Vec<[Come; 2]>,
    /// A place, and where the word begins that goes up to it.
    word: (usize, usize),
    /// Bytes that patterns looked at in vain.
    spent: usize,
    refusal: OnceCell<usize>,
}

impl<'t> Search<'t> {
    pub(super) fn new(text: &'t str, shapes: usize) -> Self {
        Self { text, come: vec![[FRESH; 2]; shapes], word: (0, 0), spent: 0, refusal: OnceCell::new() }
    }

    /// Tries the pattern of a shape at a needle in what begins at `body`.
    pub(super) fn tried(
        &mut self,
        shape: &Shape,
        (index, line): (usize, bool),
        (body, needle): (usize, Range<usize>),
        found: &mut Vec<Found>,
    ) {
        let come = self.come.get(index).and_then(|both| both.get(usize::from(line))).copied().unwrap_or(FRESH);
        let Some(start) = self.start(shape, come, body.min(needle.start), needle.start) else { return };
        let come = self.at(shape, start, needle.end, found);
        if let Some(kept) = self.come.get_mut(index).and_then(|both| both.get_mut(usize::from(line))) {
            *kept = Come { to: come.to.max(kept.to), failed: come.failed };
        }
    }

    /// Where the pattern is to be tried; none where it need not be.
    fn start(&mut self, shape: &Shape, come: Come, body: usize, needle: usize) -> Option<usize> {
        let before = self.text.get(..needle)?;
        if (shape.edge && before.ends_with(|letter: char| letter.is_ascii_alphanumeric()))
            || (shape.begins && !begins(before.get(body..)?))
        {
            return None;
        }
        let start = match shape.back {
            Back::Nothing => needle,
            Back::Word => self.word_before(needle).max(come.to),
            Back::Text => chars_before(before, BACK).max(body),
        };
        let done = match shape.back {
            Back::Text => start < come.to,
            _ => needle < come.to || start == come.failed,
        };
        (!done).then_some(start)
    }

    /// Tries the pattern at `start`.
    fn at(&mut self, shape: &Shape, start: usize, needle_end: usize, found: &mut Vec<Found>) -> Come {
        let text = self.text;
        let in_vain = self.spent > IN_VAIN.0 + IN_VAIN.1 * text.len();
        let mut cut = text.len().min(needle_end + if in_vain { SHORT } else { REACH });
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        let slice = text.get(start..cut).unwrap_or_default();
        let mut places = shape.places.borrow_mut();
        let Some(whole) = shape.pattern.captures_read(&mut places, slice) else {
            self.spent += slice.len();
            // From the beginning of the text it fails for all needles.
            return Come { to: if shape.back == Back::Text { needle_end } else { 0 }, failed: start };
        };
        let shown = start + whole.end();
        let shown = start..if shown == cut { text.len() } else { shown };
        let mut end = start + 1;
        for (number, category) in &shape.groups {
            let Some((from, to)) = places.get(*number) else { continue };
            let mut at = start + from..start + to;
            let secret = text.get(at.clone()).unwrap_or_default();
            let name = matches!(category, Category::User | Category::Host);
            let trimmed = if name { secret.trim_end_matches(TRIM).len() } else { secret.len() };
            let goes_on = at.end == cut;
            at.end = at.start + trimmed;
            let context = Context { text, at: at.clone(), category: *category, refusal: &self.refusal };
            if accepts(shape.unless, &context) {
                let last = if goes_on { text.len() } else { start + to };
                at.end = if goes_on { text.len() } else { at.end };
                found.push(Found { at, category: *category, shown: shown.clone() });
                end = end.max(last);
            }
        }
        if end > start + 1 {
            return Come { to: end, failed: usize::MAX };
        }
        self.spent += slice.len();
        Come { to: if shape.back == Back::Text { end } else { 0 }, failed: start }
    }

    /// Where the word begins that goes up to `end`. Letters between two such places are looked at once.
    fn word_before(&mut self, end: usize) -> usize {
        let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '+' | '%' | '*' | '•');
        let (known, begin) = self.word;
        if (begin..=known).contains(&end) && begin < known {
            return begin;
        }
        let mut start = end;
        for (at, letter) in self.text.get(..end).unwrap_or_default().char_indices().rev() {
            if !part(letter) {
                break;
            }
            start = at;
            if at == known {
                start = begin;
                break;
            }
        }
        self.word = (end, start);
        start
    }
}

/// Where the last `count` letters begin.
fn chars_before(before: &str, count: usize) -> usize {
    before.char_indices().rev().take(count).last().map_or(before.len(), |(at, _)| at)
}
