//! Asks the rules about texts, and of those that no rule knows whether they can mean anything at all.

use super::behind::may_be_broken;
use super::exception::split_exception;
use super::hint::Hint;
use super::memo::{Memo, Memory};
use crate::eight::digits;
use crate::rule::{Found, Matcher, Spans};

/// What is known of a text by itself.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer<'p, 't> {
    /// A rule knows it; the captures stand in the spans that were lent.
    Rule(Found<'p, 't>),
    /// No rule knows it, but it may be an exception's line, a command, several texts, the beginning of one, or a
    /// number that was asked for.
    Maybe,
    /// It says nothing, unless it continues what stood before it.
    Silent,
}

/// Asks; each thread has its own.
pub(super) struct Asker<'p> {
    matcher: &'p Matcher,
    hint: Hint,
    memo: Memo,
}

impl<'p> Asker<'p> {
    pub(super) fn new(matcher: &'p Matcher) -> Self {
        Self { matcher, hint: Hint::new(), memo: Memo::new() }
    }

    /// Asks about a text; `bare` when neither stamp nor level stood before it.
    #[inline]
    pub(super) fn ask<'t>(&mut self, text: &'t [u8], bare: bool, spans: &mut Spans) -> Answer<'p, 't> {
        let place = match self.memo.find(self.matcher, text, spans) {
            Memory::Known(found) => return Answer::Rule(found),
            Memory::Unknown(place) => Some(place),
            Memory::Passed => None,
        };
        let (found, kin) = self.matcher.look_up_or_kin(text, spans);
        match found {
            Some(found) => {
                if let Some(place) = place {
                    self.memo.put(place, text, &found, spans);
                }
                Answer::Rule(found)
            }
            None if may_be_broken(text, bare, kin) && self.matcher.goes_on_behind(text) => Answer::Maybe,
            None if split_exception(text).is_some() || self.hint.launch_or_gap(text) => Answer::Maybe,
            // The answer to what somebody asked in the line before.
            None if text.first().is_some_and(u8::is_ascii_digit) && digits(text) == text.len() => Answer::Maybe,
            None => Answer::Silent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Packs;

    #[test]
    fn a_text_gets_the_same_answer_however_often_it_is_asked_about() {
        let packs = Packs::built_in();
        let mut asker = Asker::new(packs.matcher());
        let texts = [
            "got prompt",
            "Requested to load SDXL",
            "Requested to load SDXLClipModel",
            "Prompt executed in 12.50 seconds",
            "loaded completely; 8.03 MB loaded, full load: True",
            "Requested to load WAN21 loaded partially; 1 MB",
            "ValueError: expected 4 tiles",
            "nothing that anybody knows",
            "4096",
            "",
        ];
        let told = |answer: Answer<'_, '_>, text: &str, spans: &Spans| match answer {
            Answer::Rule(found) => {
                let captures = found.captures(text.as_bytes(), spans).iter();
                let captures: Vec<_> =
                    captures.map(|capture| (capture.name.to_owned(), capture.text.to_vec())).collect();
                format!("{} {captures:?} {:?} {:?}", found.rule.id, found.text, found.tail)
            }
            Answer::Maybe => "maybe".to_owned(),
            Answer::Silent => "silent".to_owned(),
        };
        let mut first = Vec::new();
        for round in 0..2000 {
            for (number, text) in texts.iter().enumerate() {
                let mut spans = Spans::new();
                let answer = told(asker.ask(text.as_bytes(), true, &mut spans), text, &spans);
                let mut fresh = Spans::new();
                let expected = match packs.matcher().look_up(text.as_bytes(), &mut fresh) {
                    Some(found) => told(Answer::Rule(found), text, &fresh),
                    None if number == 6 || number == 8 => "maybe".to_owned(),
                    None => "silent".to_owned(),
                };
                assert_eq!(answer, expected, "round {round}");
                if round == 0 {
                    first.push(answer);
                }
            }
        }
        assert_eq!(first.len(), texts.len());
        assert!(first[0].starts_with("got-prompt"), "{first:?}");
    }
}
