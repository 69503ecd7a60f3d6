//! A known fault's text that stands alone: somebody pasted the one line that names the error.

use super::Case;
use super::cause::Causes;
use super::context::Context;
use super::finding::{Basis, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, told};
use crate::catalog::messages::Messages;
use crate::catalog::{SignOf, Verdict};
use crate::timeline::LoneError;

/// The last error without a traceback, where nothing else in this start tells of a failure.
pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    finding(case.view, case.messages).into_iter().collect()
}

fn finding(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let session = view.session;
    let told_otherwise = !session.exceptions.is_empty() || !session.ooms.is_empty() || !session.host_ooms.is_empty();
    let works = session.has_work() || session.server_ready.is_some();
    if told_otherwise || works || session.nodes.iter().any(|node| node.failed) {
        return None;
    }
    let known = |error: &&LoneError| {
        let text = text(error);
        super::logged_error::meaning(&text, "", true, messages).is_some_and(|known| known.about != "network")
            || pack_of(&text, messages).is_some()
    };
    let error = session.lone_errors.iter().rev().find(known).or(session.lone_errors.last())?;
    Some(of(error, view, messages))
}

fn text(error: &LoneError) -> String {
    if error.message.is_empty() { error.kind.clone() } else { format!("{}: {}", error.kind, error.message) }
}

/// The folder of a node pack that the text names.
fn pack_of(text: &str, messages: &Messages<'_>) -> Option<String> {
    let slashes = text.replace('\\', "/");
    let folder = messages
        .packs
        .node_folders()
        .find_map(|folder| slashes.split_once(&format!("/{folder}/")).map(|(_, rest)| rest))?;
    let dir = folder.split(['/', '\'', '"']).next()?;
    (!dir.is_empty() && !messages.packs.is_own_folder(dir)).then(|| dir.to_owned())
}

fn of(error: &LoneError, view: &Context<'_>, messages: &Messages<'_>) -> Finding {
    let text = text(error);
    let what = crate::text::cut_chars(&text, 160);
    let import = messages.packs.shows(SignOf::ImportFault, error.kind.rsplit('.').next().unwrap_or(&error.kind));
    let causes = Causes::of(messages.packs);
    let cause = causes.find(&error.message, None);
    let meaning = |of_prompt| super::logged_error::meaning(&text, &what, of_prompt, messages);
    let alone = told("alone", messages.text("figure-error-alone", &[]), Basis::Measured, vec![error.at.place.line]);
    let lines = vec![evidence(&error.at, None)];
    let grade = messages.text("grade-error-alone", &[]);
    if let Some(dir) = pack_of(&text, messages) {
        let why = cause.as_ref().map_or(what, |cause| cause.says(messages));
        let summary = messages.text("lone-pack", &[("dir", &dir), ("why", &why)]);
        let tags = cause.map_or_else(|| vec!["cause-unknown".to_owned()], |cause| vec![cause.def.tag.clone()]);
        return FindingBuilder::new(Verdict::ImportFailure, view.number, Status::Likely, summary)
            .about(&dir)
            .grade(Grade::Moderate, grade)
            .figures(vec![alone])
            .circumstances(tags)
            .values(vec![("pack".to_owned(), dir.clone())])
            .candidates(vec![super::finding::Candidate {
                dir,
                why: "import".to_owned(),
                reason: messages.text("candidate-named", &[]),
                at: Some(super::finding_builder::place(&error.at.place, None)),
            }])
            .settle(messages.text("settle-error-alone", &[]))
            .because(lines);
    }
    // What an import that failed lacks is known better than what a prompt that fails so may mean.
    let (id, about, summary) = match (meaning(false), cause.filter(|_| import)) {
        (Some(meaning), _) => (Verdict::OtherError, meaning.about, meaning.says),
        (None, Some(cause)) => {
            let summary = messages.text("lone-import", &[("why", &cause.says(messages))]);
            let values = cause.pip(messages.packs).map(|pip| ("packages".to_owned(), pip)).into_iter().collect();
            return FindingBuilder::new(Verdict::ImportFailure, view.number, Status::Likely, summary)
                .about(&cause.def.id)
                .grade(Grade::Moderate, grade)
                .figures(vec![alone])
                .circumstances(vec![cause.def.tag.clone()])
                .values(values)
                .because(lines);
        }
        (None, None) => match meaning(true) {
            Some(meaning) => (Verdict::OtherError, meaning.about, meaning.says),
            None => (Verdict::OtherError, error.kind.clone(), messages.text("lone-error", &[("what", &what)])),
        },
    };
    FindingBuilder::new(id, view.number, Status::Likely, summary)
        .about(&about)
        .grade(Grade::Moderate, grade)
        .figures(vec![alone])
        .settle(messages.text("settle-error-alone", &[]))
        .because(lines)
}
