//! What the log cannot tell.

use super::Question;
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::hypothesis::context::Context;
use crate::hypothesis::finding::Finding;
use crate::hypothesis::growth;

/// Texts of a log that is an excerpt rather than a log.
const FEW: u64 = 5;

/// What ComfyUI's start would have told, and this log does not.
fn missing_of_start(view: &Context<'_>, messages: &Messages<'_>) -> String {
    let session = view.session;
    let card = session.fact("device").is_some();
    // An allocator's message names the size of the card too.
    let capacity = session.ooms.iter().find_map(|oom| oom.numbers.capacity);
    let missing = [
        ("missing-version", view.span.is_unknown()),
        ("missing-card", !card),
        ("missing-vram", card && view.vram_mib().is_none() && capacity.is_none()),
        ("missing-ram", view.ram_mib().is_none()),
    ];
    let list: Vec<String> =
        missing.iter().filter(|(_, holds)| *holds).map(|(key, _)| messages.text(key, &[])).collect();
    list.join(&messages.text("list-comma", &[]))
}

/// What stays open, most useful first.
pub fn cannot_tell(
    view: &Context<'_>,
    messages: &Messages<'_>,
    chosen: &Finding,
    others: &[Finding],
    question: &Question,
) -> Vec<String> {
    let session = view.session;
    let mut list = Vec::new();
    let prompts = messages.count("prompt-one", "prompt-many", session.prompts.executed, &[]);
    // Of another program's log there is nothing to miss.
    if matches!(
        chosen.about.as_deref(),
        Some("insufficient-not-comfyui" | "insufficient-empty" | "start-unfinished" | "start-ended" | "other-program")
    ) {
        return list;
    }
    let mut add = |key: &str, holds: bool, values: &[(&str, &str)]| {
        if holds {
            list.push(messages.text(key, values));
        }
    };
    let id = chosen.id;
    add("gap-who", id == Verdict::LeakConfirmed && chosen.candidates.is_empty() && !view.nodes_off(), &[]);
    let open = session.prompts.executed > 0
        && matches!(
            id,
            Verdict::NoFault | Verdict::CachingByDesign | Verdict::PinningByDesign | Verdict::CycleCollected
        );
    let samples = question.samples.as_ref().filter(|_| view.is_last);
    let level = growth::judge(session, samples).is_some_and(|told| growth::is_level(&told));
    let measured = others.iter().find(|other| other.session == chosen.session && growth::is_growth(other));
    match measured {
        Some(finding) => add("gap-growth-measured", open, &[("what", &finding.summary)]),
        // The samples answer it.
        None if level => {}
        None => add("gap-growth", open, &[("prompts", &prompts)]),
    }
    let missing = missing_of_start(view, messages);
    let no_start = session.fact("total_vram_mib").is_none() && !missing.is_empty();
    let key = if session.start.is_some() { "gap-start-part" } else { "gap-start" };
    add(key, no_start, &[("missing", &missing)]);
    let raised = session.exceptions.iter().any(|one| one.node.is_some() || !one.frames.is_empty());
    let untold = id.is_wrong() && session.title.is_none() && !raised && !chosen.crash && view.timeline.events <= FEW;
    let failed = !session.ooms.is_empty() || !session.host_ooms.is_empty();
    let named = chosen.figures.iter().any(|figure| figure.name == "node");
    add("gap-node", untold && failed && !named, &[]);
    add("gap-version", view.span.is_unknown() && !no_start, &[]);
    add("gap-last-call", id == Verdict::LeakConfirmed, &[]);
    add("gap-kill-cause", id == Verdict::HostOom && chosen.grade < crate::hypothesis::finding::Grade::Strong, &[]);
    add("gap-info-hidden", !view.timeline.info_visible && session.has_work(), &[]);
    list
}
