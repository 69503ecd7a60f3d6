//! Faults of the GPU and of what drives it, by the texts that tell them: in an exception, in a warning, or alone.
//!
//! The card works behind the program's back, so such a fault comes up later than it happened, in whatever code asks for
//! the result: no node and no pack is accused by it.

use crate::catalog::messages::Messages;
use crate::catalog::{SignDef, SignOf, Verdict};
use crate::hypothesis::context::Context;
use crate::hypothesis::finding::{Finding, Grade, Status};
use crate::hypothesis::finding_builder::{FindingBuilder, evidence};

/// Letters of the message that are shown.
const SHOWN: usize = 160;

/// The fault that `text` tells.
pub fn of<'p>(text: &str, messages: &Messages<'p>) -> Option<&'p SignDef> {
    messages.packs.signs_of(SignOf::Fault).find(|sign| sign.fits(text))
}

/// The last fault that a line told outside an exception.
pub fn examine(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let notices = view.session.error_notices.iter().rev();
    let (sign, at) = notices.filter_map(|at| Some((of(&at.text, messages)?, at))).next()?;
    let same = |text: &str| of(text, messages).is_some_and(|known| known.is == sign.is);
    if view.session.exceptions.iter().any(|exception| same(&exception.message)) {
        return None;
    }
    let session = view.session;
    let starting =
        session.server_ready.is_none() && !session.has_work() && !session.facts.is_empty() && session.nodes.is_empty();
    let later = |prompt: &crate::timeline::Prompt| prompt.first_line > at.place.line && prompt.ended_well();
    let draft = FindingBuilder::new(
        Verdict::OtherError,
        view.number,
        Status::Confirmed,
        summary(sign, &at.text, starting, messages),
    )
    .about(&sign.is)
    .grade(Grade::Strong, messages.text("grade-fault", &[]))
    .recovered(session.prompt_list.iter().any(later))
    .in_prompt(session.current_prompt())
    .figures(super::crash::surroundings(view, messages));
    Some(draft.because(vec![evidence(at, None)]))
}

/// What the fault is, in words, with the message itself.
pub fn summary(sign: &SignDef, message: &str, starting: bool, messages: &Messages<'_>) -> String {
    let message = message.rsplit("Warning: ").next().unwrap_or(message);
    let first = message.lines().next().unwrap_or(message);
    // A sentence says it; what follows is where in PyTorch it was noticed.
    let first = first.split(". ").next().unwrap_or(first);
    let first = first.strip_suffix(')').and_then(|text| text.rsplit_once(" (")).map_or(first, |(text, _)| text);
    let first = first.trim().trim_end_matches('.');
    let what = format!("{}{}", crate::text::cut_chars(first, SHOWN), if messages.zh { "。" } else { "." });
    let summary = messages.text(&sign.says, &[("what", &what)]);
    if starting { messages.text("fault-at-start", &[("summary", &summary)]) } else { summary }
}
