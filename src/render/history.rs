//! The end told backwards: how the log ends, what was in flight, the last good prompt, and what changed since.
//!
//! Only reads the report's timeline; what an ending means was decided before.

use super::document::{Block, Item, push_items};
use super::label::Labels;
use crate::report::{InFlightReport, PromptReport, Report};
use crate::text::{mib, number};

/// Times as long as the last good prompt from which a difference is worth a line.
const SLOWER: f64 = 2.0;

/// Adds the section.
pub(crate) fn add(report: &Report, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let ending = &report.ending;
    blocks.push(Block::Section(labels.get("backwards")));
    blocks.push(Block::line(labels.get("ending"), &ending.text));
    if let Some(code) = ending.exit_code {
        blocks.push(Block::line(labels.get("exit-code"), code.to_string()));
    }
    push_items(
        blocks,
        labels,
        "in-flight",
        ending.in_flight.iter().map(|one| Item::text(in_flight(one, labels))).collect(),
    );
    let Some(prompts) = report.sessions.last().map(|session| session.timeline.as_slice()) else { return };
    if prompts.is_empty() {
        return;
    }
    let last_good = prompts.iter().rposition(|prompt| prompt.outcome == "ok");
    let text = match last_good.and_then(|index| prompts.get(index)) {
        Some(good) => good_prompt(good, labels),
        None => labels.get("no-good"),
    };
    blocks.push(Block::line(labels.get("last-good"), text));
    if let Some((before, after)) = last_good.and_then(|index| prompts.split_at_checked(index + 1))
        && !after.is_empty()
    {
        let mut items: Vec<Item> = changes(before, after, labels).into_iter().map(Item::text).collect();
        if items.is_empty() {
            items.push(Item::text(labels.get("changed-nothing")));
        }
        push_items(blocks, labels, "changed", items);
    }
}

fn in_flight(flight: &InFlightReport, labels: &Labels<'_>) -> String {
    let mut parts = vec![labels.with("flight-prompt", &[("n", &flight.prompt.to_string())])];
    parts.extend(flight.class.clone());
    parts.extend(flight.mib.map(mib));
    if let Some((step, of)) = flight.step {
        parts.push(labels.with("flight-step", &[("n", &step.to_string()), ("of", &of.to_string())]));
    }
    parts.push(labels.with("flight-since", &[("n", &flight.since_line.to_string())]));
    labels.list(&parts)
}

fn good_prompt(prompt: &PromptReport, labels: &Labels<'_>) -> String {
    let [n, first, last] = [prompt.number, prompt.first_line, prompt.last_line].map(|count| count.to_string());
    let mut parts = vec![labels.with("prompt-lines", &[("n", &n), ("first", &first), ("last", &last)])];
    parts.extend(prompt.seconds.map(|seconds| labels.with("took", &[("n", &number(seconds, 2))])));
    labels.list(&parts)
}

fn changes(before: &[PromptReport], after: &[PromptReport], labels: &Labels<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    let mut new: Vec<String> = Vec::new();
    for class in after.iter().flat_map(|prompt| &prompt.loads) {
        let known = before.iter().any(|prompt| prompt.loads.contains(class));
        if !known && !new.contains(class) {
            new.push(class.clone());
        }
    }
    if !new.is_empty() {
        texts.push(labels.with("changed-class", &[("classes", &labels.list(&new))]));
    }
    let usual = before.last().and_then(|prompt| prompt.seconds).filter(|seconds| *seconds > 0.0);
    for prompt in after {
        let [n, first, last] = [prompt.number, prompt.first_line, prompt.last_line].map(|count| count.to_string());
        let values = [("n", n.as_str()), ("outcome", &outcome(prompt, labels)), ("first", &first), ("last", &last)];
        texts.push(labels.with("changed-outcome", &values));
        if let Some(times) =
            prompt.seconds.zip(usual).map(|(seconds, usual)| seconds / usual).filter(|times| *times >= SLOWER)
        {
            texts.push(labels.with("changed-slower", &[("n", &n), ("times", &number(times, 1))]));
        }
    }
    texts
}

/// The outcome in words.
pub(crate) fn outcome(prompt: &PromptReport, labels: &Labels<'_>) -> String {
    match prompt.outcome.as_str() {
        known @ ("ok" | "failed" | "interrupted" | "unfinished") => labels.get(&format!("outcome-{known}")),
        other => other.to_owned(),
    }
}
