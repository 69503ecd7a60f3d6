//! What the user asked about, when the verdict is about something else: said in a line, with what speaks against it.

use super::Question;
use super::draft::told;
use super::finding::{Basis, Figure, Finding};
use super::view::View;
use super::words::Words;
use crate::timeline::EndingKind;

/// A line for each worry that `chosen` does not answer.
pub fn notes(view: &View<'_>, words: &Words<'_>, chosen: &Finding, question: &Question) -> Vec<Figure> {
    let sampled = question.samples.is_some();
    question
        .asked
        .iter()
        .filter(|word| !chosen.id.answers(word))
        .filter_map(|word| note(view, words, word, sampled))
        .map(|text| told("asked", text, Basis::Measured, Vec::new()))
        .collect()
}

fn note(view: &View<'_>, words: &Words<'_>, word: &str, sampled: bool) -> Option<String> {
    let session = view.session;
    let prompts = words.count("prompt-one", "prompt-many", session.prompts.executed, &[]);
    match word {
        "leak" if session.leaks.is_empty() => {
            let key = if sampled { "asked-leak-sampled" } else { "asked-leak" };
            Some(words.say(key, &[("prompts", &prompts)]))
        }
        "oom" if session.ooms.is_empty() && session.host_ooms.is_empty() => Some(words.say("asked-oom", &[])),
        "killed" if view.ending().is_none_or(|ending| ending.kind != EndingKind::Killed) => {
            Some(words.say("asked-killed", &[]))
        }
        super::slow::WORD => super::slow::note(view, words),
        _ => None,
    }
}
