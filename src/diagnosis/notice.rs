//! Errors that ComfyUI or what belongs to it logged in a line of their own, without a traceback.

use super::draft::{Draft, evidence, told};
use super::failure::{consequence_of, outside_text};
use super::finding::{Basis, Figure, Finding, Grade, Status};
use super::view::View;
use super::words::{Words, fill};
use crate::rule::Verdict;
use crate::timeline::Evidence;

/// Notices told beside the first.
const FURTHER: usize = 3;
/// What the argument parser puts before its words.
const PARSER: &str = "main.py: error: ";

/// What a text of an error means, by the packs' answers and signs: what it is about and the sentence.
pub struct Meaning {
    pub about: String,
    pub says: String,
    pub goes_on: bool,
}

/// What `text` means; `what` is shown of it.
pub fn meaning(text: &str, what: &str, words: &Words<'_>) -> Option<Meaning> {
    if let Some(answer) = words.packs.answer(text) {
        let template = words.packs.prose_text("answer", &answer.id, "says", words.zh).unwrap_or(&answer.id);
        return Some(Meaning {
            about: answer.id.clone(),
            says: fill(template, &[("what", what)]),
            goes_on: answer.goes_on,
        });
    }
    let sign = outside_text(text, words).filter(|sign| !sign.says.is_empty())?;
    let says = words.say(&sign.says, &[("what", what)]);
    Some(Meaning { about: sign.is.clone(), says, goes_on: false })
}

/// The text of a notice without what its program puts before it.
fn shown(at: &Evidence) -> String {
    crate::text::cut_chars(at.text.strip_prefix(PARSER).unwrap_or(&at.text), 200)
}

/// The server came up, or something ran, after this line.
fn went_on(at: &Evidence, view: &View<'_>) -> Option<u64> {
    let session = view.session;
    let started = session.server_ready.as_ref().or(session.first_got.as_ref()).or(session.last_executed.as_ref());
    let by_server = session.start.as_ref().filter(|_| session.counts.starts > 0).map(|start| &start.at);
    started.or(by_server).filter(|later| later.place > at.place).map(|later| later.place.line)
}

/// The last notice whose meaning is known; where nothing else is told, the last of all.
pub fn examine(view: &View<'_>, words: &Words<'_>, others: &[Finding]) -> Option<Finding> {
    let notices = &view.session.error_notices;
    let known = |at: &&Evidence| meaning(&at.text, &shown(at), words).is_some();
    let alone = others.is_empty() && !view.session.has_work();
    let at = notices.iter().rev().find(known).or_else(|| notices.last().filter(|_| alone))?;
    let what = shown(at);
    let meaning = meaning(&at.text, &what, words);
    let later = went_on(at, view);
    let goes_on = meaning.as_ref().is_some_and(|meaning| meaning.goes_on) || later.is_some();
    let (about, summary) = match meaning {
        Some(meaning) => (meaning.about, meaning.says),
        None => (at.rule.clone(), words.say("error-notice", &[("text", &what)])),
    };
    let mut figures: Vec<Figure> = Vec::new();
    if let Some(line) = later {
        figures.push(told(
            "went-on",
            words.say("figure-went-on", &[("line", &line.to_string())]),
            Basis::Measured,
            vec![line],
        ));
    }
    figures.extend(consequences(at, view, words));
    figures.extend(further(at, view, words));
    let finding = Draft::new(Verdict::OtherError, view.number, Status::Likely, summary)
        .about(&about)
        .grade(Grade::Moderate, words.say("grade-error-text", &[]))
        .figures(figures)
        .because(vec![evidence(at, None)]);
    Some(Finding { mentioned: goes_on, ..finding })
}

/// Exceptions that follow from it.
fn consequences(at: &Evidence, view: &View<'_>, words: &Words<'_>) -> Vec<Figure> {
    let exceptions = view.session.exceptions.iter();
    let following =
        exceptions.filter(|exception| consequence_of(exception, view, words).is_some_and(|cause| cause == at));
    following
        .take(1)
        .map(|exception| {
            let line = exception.last_line_at.as_ref().unwrap_or(&exception.at).place.line;
            let kind = exception.kind.clone().unwrap_or_default();
            let values =
                [("kind", kind.as_str()), ("message", &exception.message), ("line", &at.place.line.to_string())];
            told("consequence", words.say("figure-consequence", &values), Basis::Derived, vec![line])
        })
        .collect()
}

/// The other notices, each once.
fn further(at: &Evidence, view: &View<'_>, words: &Words<'_>) -> Vec<Figure> {
    let mut seen: Vec<&str> = vec![&at.rule];
    let mut figures = Vec::new();
    for other in view.session.error_notices.iter().rev() {
        if figures.len() == FURTHER || seen.contains(&other.rule.as_str()) {
            continue;
        }
        seen.push(&other.rule);
        let what = shown(other);
        let text = match meaning(&other.text, &what, words) {
            Some(meaning) => meaning.says,
            None => words.say("error-notice", &[("text", &what)]),
        };
        figures.push(told("notice", text, Basis::Measured, vec![other.place.line]));
    }
    figures
}
