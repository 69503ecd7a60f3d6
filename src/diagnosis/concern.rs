//! What the user asked about, when the verdict is about something else: said in a line, with what speaks against it.

use super::Question;
use crate::catalog::messages::Messages;
use crate::hypothesis::context::Context;
use crate::hypothesis::finding::{Basis, Figure, Finding};
use crate::hypothesis::finding_builder::told;
use crate::timeline::EndingKind;

/// A line for each worry that `chosen` does not answer.
pub fn notes(view: &Context<'_>, messages: &Messages<'_>, chosen: &Finding, question: &Question) -> Vec<Figure> {
    let sampled = question.samples.is_some();
    question
        .asked
        .iter()
        .filter(|word| {
            let slow = **word == crate::hypothesis::slow::WORD && crate::hypothesis::slow::is_about(chosen);
            !(slow || chosen.id.answers(word))
        })
        .filter_map(|word| note(view, messages, word, sampled))
        .map(|text| told("asked", text, Basis::Measured, Vec::new()))
        .collect()
}

fn note(view: &Context<'_>, messages: &Messages<'_>, word: &str, sampled: bool) -> Option<String> {
    let session = view.session;
    let prompts = messages.count("prompt-one", "prompt-many", session.prompts.executed, &[]);
    match word {
        "leak" if session.leaks.is_empty() => {
            let key = if sampled { "asked-leak-sampled" } else { "asked-leak" };
            Some(messages.text(key, &[("prompts", &prompts)]))
        }
        "oom" if let Some(tiled) = session.counts.tiled_retries.as_ref().filter(|_| session.ooms.is_empty()) => {
            let line = tiled.first.place.line.to_string();
            let ended = session.prompt_list.iter().any(|prompt| prompt.tiled_retry && prompt.ended && !prompt.failed);
            let key = if ended { "asked-oom-tiled" } else { "asked-oom-tiled-open" };
            Some(messages.text(key, &[("line", &line)]))
        }
        "oom" if session.ooms.is_empty() && session.host_ooms.is_empty() => Some(messages.text("asked-oom", &[])),
        "killed" if view.ending().is_none_or(|ending| ending.kind != EndingKind::Killed) => {
            Some(messages.text("asked-killed", &[]))
        }
        crate::hypothesis::slow::WORD => crate::hypothesis::slow::note(view, messages),
        _ => None,
    }
}
