//! Errors that ComfyUI or what belongs to it logged in a line of their own, without a traceback.

use super::Case;
use super::context::Context;
use super::failure::{consequence_of, outside_text};
use super::finding::{Basis, Figure, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, told};
use crate::catalog::Verdict;
use crate::catalog::messages::{Messages, fill};
use crate::timeline::{Evidence, Exception};

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

/// What `text` means; `what` is shown of it. `of_prompt` when it ended a prompt, or stands alone.
pub fn meaning(text: &str, what: &str, of_prompt: bool, messages: &Messages<'_>) -> Option<Meaning> {
    if let Some(answer) = messages.packs.answer(text, of_prompt) {
        let template = messages.packs.prose_text("answer", &answer.id, "says", messages.zh).unwrap_or(&answer.id);
        return Some(Meaning {
            about: answer.id.clone(),
            says: fill(template, &[("what", what)]),
            goes_on: answer.goes_on,
        });
    }
    let sign = outside_text(text, messages).filter(|sign| !sign.says.is_empty())?;
    let says = messages.text(&sign.says, &[("what", what)]);
    Some(Meaning { about: sign.is.clone(), says, goes_on: false })
}

/// The text of a notice without what its program puts before it.
fn shown(at: &Evidence) -> String {
    crate::text::cut_chars(at.text.strip_prefix(PARSER).unwrap_or(&at.text), 200)
}

/// The server came up, or something ran, after this line.
fn went_on<'t>(at: &Evidence, view: &Context<'t>) -> Option<&'t Evidence> {
    let session = view.session;
    let started = session.server_ready.as_ref().or(session.first_got.as_ref()).or(session.last_executed.as_ref());
    let by_server = session.start.as_ref().filter(|_| session.counts.starts > 0).map(|start| &start.at);
    started.or(by_server).filter(|later| later.place > at.place)
}

/// What is told of a notice, and how much it matters: the answers stand in the order in which they are asked.
fn rank(at: &Evidence, messages: &Messages<'_>) -> Option<(bool, usize)> {
    let place = messages.packs.answers.iter().position(|answer| !answer.of_prompt && answer.fits(&at.text));
    let known = meaning(&at.text, "", false, messages)?;
    Some((known.goes_on, place.unwrap_or(usize::MAX)))
}

/// The notice that matters most of those whose meaning is known; where nothing else is told, the last of all.
pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let others: Vec<&Finding> = case.found.iter().filter(|other| other.session == case.view.number).collect();
    finding(case.view, case.messages, &others).into_iter().collect()
}

fn finding(view: &Context<'_>, messages: &Messages<'_>, others: &[&Finding]) -> Option<Finding> {
    let notices = &view.session.error_notices;
    let alone = others.is_empty() && !view.session.has_work();
    let known = notices.iter().filter_map(|at| Some((rank(at, messages)?, at))).min_by_key(|(rank, _)| *rank);
    let at = known.map(|(_, at)| at).or_else(|| notices.last().filter(|_| alone))?;
    let what = shown(at);
    let meaning = meaning(&at.text, &what, false, messages);
    let later = went_on(at, view);
    let harmless = meaning.as_ref().is_some_and(|meaning| meaning.goes_on);
    // What an import that failed says already is not said twice.
    let about = meaning.as_ref().map_or(at.rule.as_str(), |meaning| meaning.about.as_str());
    let same_line = |other: &Finding| other.evidence.iter().any(|line| line.at.line == at.place.line);
    if others.iter().any(|other| same_line(other) || other.circumstances.iter().any(|tag| tag == about)) {
        return None;
    }
    // A start that is not through yet is told as such.
    let unfinished = super::start::unfinished(view);
    if harmless && unfinished.is_some() && others.is_empty() && consequences(at, view, messages).is_empty() {
        return None;
    }
    let mut figures: Vec<Figure> = Vec::new();
    let mut lines = vec![evidence(at, None)];
    if let Some(later) = later {
        let line = later.place.line.to_string();
        let text = messages.text("figure-went-on", &[("line", &line), ("text", &later.text)]);
        figures.push(told("went-on", text, Basis::Measured, vec![later.place.line]));
    } else if let Some(start) = unfinished.filter(|_| !super::start::has_ended(view)) {
        let stage = super::start::stage_name(start, messages);
        let line = start.at.place.line.to_string();
        figures.push(told(
            "start-stage",
            messages.text("figure-start-unfinished", &[("stage", &stage), ("line", &line)]),
            Basis::Measured,
            vec![start.at.place.line],
        ));
        lines.push(evidence(&start.at, Some(messages.text("remark-start-last", &[]))));
        lines.dedup_by(|later, first| later.at.line == first.at.line);
    }
    let (about, summary) = match meaning {
        Some(meaning) => (meaning.about, meaning.says),
        None => (at.rule.clone(), messages.text("error-notice", &[("text", &what)])),
    };
    figures.extend(consequences(at, view, messages));
    let below = below(at, view);
    figures.extend(below.filter(|exception| exception.kind.is_some()).map(|exception| {
        let line = exception.last_line_at.as_ref().unwrap_or(&exception.at).place.line;
        let text = messages.text("figure-error-below", &[("what", &super::failure::what_failed(exception))]);
        told("error", text, Basis::Measured, vec![line])
    }));
    let pack = below.and_then(|exception| Some((exception, exception.dirs.last()?)));
    let candidates = pack.map(|(exception, dir)| super::failure::of_traceback(exception, dir, messages));
    figures.extend(figures_beside(Some(at), view, messages));
    let finding = FindingBuilder::new(Verdict::OtherError, view.number, Status::Likely, summary)
        .about(&about)
        .grade(Grade::Moderate, messages.text("grade-error-text", &[]))
        .figures(figures)
        .candidates(candidates.into_iter().collect())
        .because(lines);
    Some(Finding { mentioned: harmless || later.is_some(), ..finding })
}

/// The traceback that was logged right below the line, and the node pack that its code came from.
fn below<'t>(at: &Evidence, view: &Context<'t>) -> Option<&'t Exception> {
    let mut exceptions = view.session.exceptions.iter();
    exceptions.find(|exception| exception.headed && exception.at.place.line == at.place.line + 1)
}

/// Exceptions that follow from it.
fn consequences(at: &Evidence, view: &Context<'_>, messages: &Messages<'_>) -> Vec<Figure> {
    let exceptions = view.session.exceptions.iter();
    let following =
        exceptions.filter(|exception| consequence_of(exception, view, messages).is_some_and(|cause| cause == at));
    following
        .take(1)
        .map(|exception| {
            let line = exception.last_line_at.as_ref().unwrap_or(&exception.at).place.line;
            let kind = exception.kind.clone().unwrap_or_default();
            let values =
                [("kind", kind.as_str()), ("message", &exception.message), ("line", &at.place.line.to_string())];
            told("consequence", messages.text("figure-consequence", &values), Basis::Derived, vec![line])
        })
        .collect()
}

/// The notices besides `at`, each meaning once.
pub fn figures_beside(at: Option<&Evidence>, view: &Context<'_>, messages: &Messages<'_>) -> Vec<Figure> {
    let about =
        |at: &Evidence| meaning(&at.text, "", false, messages).map_or_else(|| at.rule.clone(), |known| known.about);
    let mut seen: Vec<String> = at.map(about).into_iter().collect();
    let mut figures = Vec::new();
    for other in view.session.error_notices.iter().rev() {
        let own = about(other);
        let implied = messages
            .packs
            .answers
            .iter()
            .any(|answer| answer.id == own && answer.part_of.iter().any(|whole| seen.contains(whole)));
        if figures.len() == FURTHER || seen.contains(&own) || implied {
            continue;
        }
        let what = shown(other);
        let text = match meaning(&other.text, &what, false, messages) {
            Some(meaning) => meaning.says,
            None => messages.text("error-notice", &[("text", &what)]),
        };
        seen.push(own);
        figures.push(told("notice", text, Basis::Measured, vec![other.place.line]));
    }
    figures
}
