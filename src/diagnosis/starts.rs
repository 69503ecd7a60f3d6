//! Faults of a log that holds several starts of ComfyUI: in which of them they stand, and how often.

use super::draft::told;
use super::finding::{Basis, Figure, Finding, Status};
use super::verdict;
use super::view::View;
use super::words::Words;
use crate::timeline::EndingKind;

/// Lines of a repeated fault that are named.
const LINES_NAMED: usize = 8;
/// Prompts that ran well since a fault, from which on the answer begins with them.
const LONG: u64 = 10;

/// Where a fault stands that no later start has shown.
struct Placed {
    figure: Figure,
    /// How to say so in the summary, the line of the start that followed, and how many prompts ran well since.
    summary: Option<(&'static str, u64, u64)>,
}

/// Says where the answer stands among the starts, and tells a fault that several starts share once.
pub fn place(chosen: &mut Finding, others: &mut Vec<Finding>, views: &[View<'_>], words: &Words<'_>) {
    let placed = earlier(chosen, views, words);
    gather(chosen, others, views, words);
    let mut rest = std::mem::take(others).into_iter();
    while let Some(mut finding) = rest.next() {
        let mut behind: Vec<Finding> = rest.collect();
        gather(&mut finding, &mut behind, views, words);
        others.push(finding);
        rest = behind.into_iter();
    }
    if let Some(placed) = placed {
        chosen.figures.insert(0, placed.figure);
        if let Some((key, line, good)) = placed.summary {
            let summary = std::mem::take(&mut chosen.summary);
            let values = [("line", line.to_string()), ("n", good.to_string()), ("summary", summary)];
            let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            chosen.summary = words.say(key, &values);
        }
    }
}

/// A figure on a fault of an earlier start: the last one has not shown it, it may have been repaired in between. Where
/// prompts ran well since, the summary says so too: "still" would be wrong without it.
fn earlier(chosen: &Finding, views: &[View<'_>], words: &Words<'_>) -> Option<Placed> {
    let at = views.iter().position(|view| view.number == chosen.session)?;
    let (at, later) = (views.get(at)?, views.get(at + 1..)?);
    let next = later.first()?;
    if chosen.status < Status::Likely || verdict::is_meant(&chosen.id) {
        return None;
    }
    let good = |view: &View<'_>| view.session.prompts.executed.saturating_sub(view.session.prompts.failed);
    let executed: u64 = later.iter().map(good).sum();
    let (first_line, last_line) = (at.session.first_line, at.session.last_line);
    let line = next.session.first_line;
    let values =
        [("number", at.number.to_string()), ("last", views.last()?.number.to_string()), ("line", line.to_string())];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let (none, one, many) = match later.len() {
        1 => ("figure-session", "figure-session-since-one", "figure-session-since-many"),
        _ => ("figure-sessions-since-none", "figure-sessions-since-one", "figure-sessions-since-many"),
    };
    let text = if executed == 0 { words.say(none, &values) } else { words.count(one, many, executed, &values) };
    let summary = match later.len() {
        _ if executed >= LONG && later.iter().all(is_well) => "summary-well-since",
        1 => "summary-earlier",
        _ => "summary-before",
    };
    let figure = told("session", text, Basis::Measured, vec![first_line, last_line]);
    Some(Placed { figure, summary: (executed > 0).then_some((summary, line, executed)) })
}

/// No prompt failed in this start, and none was in flight when it ended.
fn is_well(view: &View<'_>) -> bool {
    let over = [EndingKind::StillRunning, EndingKind::CleanStop];
    view.session.prompts.failed == 0 && view.ending().is_none_or(|ending| over.contains(&ending.kind))
}

/// Takes the same fault of other starts out of `others`, and says of `finding` how often it was.
fn gather(finding: &mut Finding, others: &mut Vec<Finding>, views: &[View<'_>], words: &Words<'_>) {
    let same = |other: &Finding| {
        other.fingerprint == finding.fingerprint
            && other.session != finding.session
            && other.status == finding.status
            && !other.candidates.iter().any(|candidate| finding.candidates.iter().all(|own| own.dir != candidate.dir))
    };
    let mut sessions = vec![finding.session];
    let mut lines: Vec<u64> = line_of(finding).into_iter().collect();
    for other in others.iter().filter(|other| same(other)) {
        sessions.push(other.session);
        lines.extend(line_of(other));
    }
    others.retain(|other| !same(other));
    sessions.sort_unstable();
    sessions.dedup();
    if sessions.len() < 2 {
        return;
    }
    lines.sort_unstable();
    lines.dedup();
    lines.drain(..lines.len().saturating_sub(LINES_NAMED));
    let (number, all) = (sessions.len().to_string(), views.len().to_string());
    let text = words.say("figure-in-starts", &[("n", &number), ("all", &all)]);
    finding.figures.insert(0, told("starts", text, Basis::Measured, lines));
}

/// The first line that supports it.
fn line_of(finding: &Finding) -> Option<u64> {
    finding.evidence.first().map(|line| line.at.line)
}
