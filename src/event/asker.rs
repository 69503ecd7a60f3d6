//! Asks the rules about texts, and of those that no rule knows whether they can mean anything at all.

use super::exception::{may_name_exception, split_exception};
use super::glance::{Eyes, Glance};
use super::hint::Hint;
use super::inferred_prefix::may_be_broken;
use super::match_cache::{Memo, Memory};
use super::worth::Worth;
use crate::catalog::{Found, Matcher, Spans};
use crate::eight::digits;

/// One of so many texts must be seen to be foreign at a glance, for glances to pay.
const FOREIGN: u32 = 3;

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
    eyes: Option<Eyes>,
    foreign: Worth,
    memo: Memo,
}

impl<'p> Asker<'p> {
    pub(super) fn new(matcher: &'p Matcher) -> Self {
        Self { matcher, hint: Hint::new(), eyes: Eyes::open(), foreign: Worth::one_in(FOREIGN), memo: Memo::new() }
    }

    /// Asks about a text; `bare` when neither stamp nor level stood before it.
    pub(super) fn ask<'t>(&mut self, text: &'t [u8], bare: bool, spans: &mut Spans) -> Answer<'p, 't> {
        match self.eyes {
            Some(eyes) => eyes.within(
                #[inline(always)]
                || self.ask_within(eyes, text, bare, spans),
            ),
            None => self.ask_closely(text, bare, spans),
        }
    }

    /// What looks at texts, if there is anything.
    pub(super) fn eyes(&self) -> Option<Eyes> {
        self.eyes
    }

    /// The same for many texts, see [`Eyes::within`].
    #[inline(always)]
    pub(super) fn ask_within<'t>(
        &mut self,
        eyes: Eyes,
        text: &'t [u8],
        bare: bool,
        spans: &mut Spans,
    ) -> Answer<'p, 't> {
        if self.foreign.asks() && self.is_foreign(eyes, text) {
            self.foreign.was_worth_it();
            return Answer::Silent;
        }
        self.ask_closely(text, bare, spans)
    }

    #[inline(never)]
    fn ask_closely<'t>(&mut self, text: &'t [u8], bare: bool, spans: &mut Spans) -> Answer<'p, 't> {
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
            None if may_be_broken(text, bare, kin.is_any()) && self.matcher.kin_goes_on_behind(text, kin) => {
                Answer::Maybe
            }
            None if split_exception(text).is_some() || self.hint.launch_or_gap(text) => Answer::Maybe,
            // The answer to what somebody asked in the line before.
            None if text.first().is_some_and(u8::is_ascii_digit) && digits(text) == text.len() => Answer::Maybe,
            None => Answer::Silent,
        }
    }

    /// Seen at a glance: no rule begins like it, and nothing else makes it worth a question.
    #[inline(always)]
    fn is_foreign(&self, eyes: Eyes, text: &[u8]) -> bool {
        let Some(Glance { blank, colon, hint }) = eyes.glance(text) else { return false };
        let (blank, colon) = (usize::from(blank), colon.map(|at| usize::from(at.get())));
        !hint & !may_name_exception(text, blank) & self.matcher.knows_none(text, blank, colon)
    }
}

#[cfg(test)]
mod tests {
    use super::super::hint::{GAP, MAIN};
    use super::*;
    use crate::catalog::Packs;

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

    /// Every example of the packs, as it is and bent in many ways; also filled up, since only texts of usual length are
    /// glanced at.
    fn bent_examples() -> Vec<String> {
        let mut texts = Vec::new();
        for message in Packs::definitions(&[]).message {
            for example in message.matches.iter().chain(&message.silent) {
                for filler in
                    ["", " and what else somebody had to say of it", ": and what, somebody said, it was for him"]
                {
                    let whole = format!("{example}{filler}");
                    for at in [0, 1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 16, 24, 31, 32, 33, 40] {
                        if !whole.is_char_boundary(at) {
                            continue;
                        }
                        let (head, tail) = whole.split_at(at.min(whole.len()));
                        texts.push(tail.to_owned());
                        texts.extend(
                            ["x", "7", " ", "  ", "\t", ": ", "Error: "].map(|put| format!("{head}{put}{tail}")),
                        );
                    }
                    texts.push(whole);
                }
            }
        }
        texts
    }

    #[test]
    fn what_is_foreign_at_a_glance_says_nothing_at_a_closer_look() {
        let packs = Packs::built_in();
        let mut asker = Asker::new(packs.matcher());
        let Some(eyes) = asker.eyes() else { return };
        let (mut foreign, mut spans) = (0, Spans::new());
        let texts = bent_examples();
        for text in &texts {
            let text = text.trim().as_bytes();
            if eyes.within(|| asker.is_foreign(eyes, text)) {
                foreign += 1;
                let closer = asker.ask_closely(text, false, &mut spans);
                // The closer look takes a piece of a command for one.
                let exact = [MAIN, GAP].iter().any(|sign| memchr::memmem::find(text, sign).is_some());
                let hinted = asker.hint.launch_or_gap(text) && !exact;
                assert!(
                    matches!(closer, Answer::Silent) || hinted && matches!(closer, Answer::Maybe),
                    "{} {closer:?}",
                    String::from_utf8_lossy(text)
                );
            }
        }
        assert!(texts.len() > 50_000 && foreign > 5_000, "{foreign} of {}", texts.len());
        for text in
            ["Loading image 507079 of the batch from the input", "WARNING: rgthree-comfy could not find a preview"]
        {
            let seen = eyes.within(|| asker.is_foreign(eyes, text.as_bytes()));
            assert_eq!(seen, !text.starts_with("Loading "), "{text}");
        }
    }
}
