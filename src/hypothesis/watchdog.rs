//! Did whoever looks after the process end it, since it did not answer? That is neither a crash nor lack of memory.

use super::Case;
use super::context::Context;
use super::finding::{Basis, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, told};
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::timeline::EndingKind;

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    given_up(case.view, case.messages).into_iter().collect()
}

fn given_up(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let ending = view.ending().filter(|ending| ending.kind == EndingKind::GivenUp)?;
    let (kind, at) = ending.given_up.as_ref()?;
    // The packs name what there is, each with a sentence.
    let summary = messages.packs.sentence(&format!("given-up-{kind}"), messages.zh)?.to_owned();
    let mut lines = vec![evidence(at, None)];
    lines.extend(ending.crash.iter().chain(ending.kills.first()).take(1).map(|at| evidence(at, None)));
    let mut figures = Vec::new();
    if let Some(flight) = &ending.in_flight {
        let text = messages.text("figure-in-flight", &[("prompt", &flight.prompt.to_string())]);
        figures.push(told("in-flight", text, Basis::Measured, vec![flight.since_line]));
    }
    Some(
        FindingBuilder::new(Verdict::OtherError, view.number, Status::Confirmed, summary)
            .about(kind)
            .grade(Grade::Strong, messages.text("grade-given-up", &[]))
            .figures(figures)
            .in_prompt(view.session.current_prompt())
            .because(lines),
    )
}
