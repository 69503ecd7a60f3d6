//! Look-ups made by one thread for another: which rule each text belongs to, and where its captures stand.

use super::matcher::{Found, Matcher};
use super::template::Spans;

/// Results for the first texts of a list, in its order.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    results: Vec<Kept>,
    spans: Vec<(u32, u32)>,
}

/// A result without anything that points into the text.
#[derive(Debug, Clone, Copy)]
struct Kept {
    /// Number of the rule, or [`NONE`].
    rule: u16,
    /// Where the part ends that the rule explains, and where the rest begins.
    end: u32,
    tail: u32,
    /// Where its captures begin in the list of all.
    spans: u32,
}

const NONE: u16 = u16::MAX;

impl Lookups {
    pub(crate) fn clear(&mut self) {
        self.results.clear();
        self.spans.clear();
    }

    /// How many results there are.
    pub(crate) fn len(&self) -> usize {
        self.results.len()
    }

    /// Skips what is no text.
    pub(crate) fn skip(&mut self) {
        self.results.push(Kept { rule: NONE, end: 0, tail: 0, spans: 0 });
    }

    /// Looks the next text up.
    pub(crate) fn look_up(&mut self, matcher: &Matcher, text: &[u8], spans: &mut Spans) {
        let Some(found) = matcher.look_up(text, spans) else { return self.skip() };
        // Texts are cut far below 4 GiB.
        let tail = (text.len() - found.tail.len()) as u32;
        let kept = Kept {
            rule: found.rule.number() as u16,
            end: found.text.len() as u32,
            tail,
            spans: self.spans.len() as u32,
        };
        self.spans.extend_from_slice(spans.first(found.rule.capture_count()));
        self.results.push(kept);
    }

    /// The result for text `number`, as `Matcher::look_up` would give it; the outer `None` when it was not looked up.
    pub(crate) fn get<'r, 't>(
        &self,
        number: usize,
        matcher: &'r Matcher,
        text: &'t [u8],
        spans: &mut Spans,
    ) -> Option<Option<Found<'r, 't>>> {
        let kept = self.results.get(number)?;
        let Some(rule) = matcher.rules().get(usize::from(kept.rule)) else { return Some(None) };
        let from = kept.spans as usize;
        spans.take_over(self.spans.get(from..from + rule.capture_count())?);
        Some(Some(Found { rule, text: text.get(..kept.end as usize)?, tail: text.get(kept.tail as usize..)? }))
    }
}
