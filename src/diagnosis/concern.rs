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
        .filter(|word| !chosen.id.answers(word))
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
        "slow" => slow(view, messages),
        _ => None,
    }
}

/// How long the first and the last prompts took.
fn slow(view: &Context<'_>, messages: &Messages<'_>) -> Option<String> {
    let seconds: Vec<f64> =
        view.session.prompt_list.iter().filter(|prompt| !prompt.failed).filter_map(|prompt| prompt.seconds).collect();
    let (first, last) = (seconds.first()?, seconds.last()?);
    if seconds.len() < 2 {
        return Some(messages.text("asked-slow-one", &[]));
    }
    let values = [("first", crate::text::number(*first, 1)), ("last", crate::text::number(*last, 1))];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Some(messages.text("asked-slow", &values))
}
