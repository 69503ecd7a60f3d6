//! Faults of a log that holds several starts of ComfyUI: in which of them they stand, and how often.

use crate::catalog::messages::Messages;
use crate::hypothesis::context::Context;
use crate::hypothesis::finding::{Basis, Figure, Finding, Status};
use crate::hypothesis::finding_builder::told;
use crate::timeline::{LeftOut, Seen, Timeline};

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

/// The starts of a log: those kept in detail, and what is counted of the others.
pub struct Starts<'v, 't> {
    pub views: &'v [Context<'t>],
    pub left_out: &'t LeftOut,
}

impl<'v, 't> Starts<'v, 't> {
    pub fn of(timeline: &'t Timeline, views: &'v [Context<'t>]) -> Self {
        Self { views, left_out: &timeline.left_out }
    }

    /// What came after start `number`.
    pub fn later(&self, number: usize) -> Later<'v, 't> {
        let at = self.views.iter().position(|view| view.number > number).unwrap_or(self.views.len());
        let views = self.views.get(at..).unwrap_or_default();
        let gap = |view: &&Context<'_>| view.session.first_line > self.left_out.last_line;
        let counted = Some(self.left_out).filter(|left_out| {
            left_out.starts > 0 && self.views.iter().any(|view| view.number == number && !gap(&view))
        });
        // Among starts that are only counted the same fault may be: what is said of later ones is said of those behind.
        let hidden = counted.is_some_and(|left_out| !left_out.is_well());
        let behind = views.iter().position(|view| gap(&view)).unwrap_or(0);
        Later {
            views: if hidden { views.get(behind..).unwrap_or_default() } else { views },
            counted: counted.filter(|_| !hidden),
            hidden,
        }
    }
}

/// The starts that came after one.
pub struct Later<'v, 't> {
    views: &'v [Context<'t>],
    /// Starts among them that are only counted, all of them without a fault.
    counted: Option<&'t LeftOut>,
    /// Starts that are only counted stand before them, and not all of those were without a fault.
    pub hidden: bool,
}

impl Later<'_, '_> {
    /// Prompts that ran well.
    pub fn good_prompts(&self) -> u64 {
        let good = |view: &Context<'_>| view.session.prompts.executed.saturating_sub(view.session.prompts.failed);
        self.views.iter().map(good).sum::<u64>() + self.counted.map_or(0, |left_out| left_out.good_prompts)
    }

    fn count(&self) -> u64 {
        self.views.len() as u64 + self.counted.map_or(0, |left_out| left_out.starts)
    }

    fn first_line(&self) -> Option<u64> {
        let views = self.views.iter().map(|view| view.session.first_line);
        views.chain(self.counted.map(|left_out| left_out.first_line)).min()
    }

    fn is_well(&self) -> bool {
        self.views.iter().all(|view| view.session.ran_well())
    }
}

/// Says where the answer stands among the starts, and tells a fault that several starts share once.
pub fn place(chosen: &mut Finding, others: &mut Vec<Finding>, starts: &Starts<'_, '_>, messages: &Messages<'_>) {
    let placed = earlier(chosen, starts, messages);
    gather(chosen, others, starts, messages);
    let mut rest = std::mem::take(others).into_iter();
    while let Some(mut finding) = rest.next() {
        let mut behind: Vec<Finding> = rest.collect();
        gather(&mut finding, &mut behind, starts, messages);
        others.push(finding);
        rest = behind.into_iter();
    }
    if let Some(placed) = placed {
        chosen.figures.insert(0, placed.figure);
        if let Some((key, line, good)) = placed.summary {
            let summary = std::mem::take(&mut chosen.summary);
            let values = [("line", line.to_string()), ("n", good.to_string()), ("summary", summary)];
            let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            chosen.summary = messages.text(key, &values);
        }
    }
    chosen.figures.extend(only_counted(starts.left_out, messages));
}

/// What is counted of the starts that are not told one by one.
fn only_counted(left_out: &LeftOut, messages: &Messages<'_>) -> Option<Figure> {
    if left_out.starts == 0 {
        return None;
    }
    let heads: [(&str, &Seen); 7] = [
        ("left-out-killed", &left_out.killed),
        ("left-out-crashed", &left_out.crashed),
        ("left-out-gpu-oom", &left_out.gpu_ooms),
        ("left-out-host-oom", &left_out.host_ooms),
        ("left-out-failed", &left_out.failed),
        ("left-out-leaks", &left_out.leaks),
        ("left-out-cut", &left_out.cut),
    ];
    let seen = heads.into_iter().filter(|(_, seen)| seen.starts > 0);
    let mut told: Vec<String> = seen
        .map(|(key, seen)| {
            messages.text(key, &[("n", &seen.starts.to_string()), ("line", &seen.last_line.to_string())])
        })
        .collect();
    if left_out.well > 0 {
        told.push(messages.text("left-out-well", &[("n", &left_out.well.to_string())]));
    }
    let what = told.join(if messages.zh { "；" } else { "; " });
    let text = messages.count("figure-left-out-one", "figure-left-out-many", left_out.starts, &[("what", &what)]);
    Some(crate::hypothesis::finding_builder::told(
        "left-out",
        text,
        Basis::Measured,
        vec![left_out.first_line, left_out.last_line],
    ))
}

/// A figure on a fault of an earlier start: the last one has not shown it, it may have been repaired in between. Where
/// prompts ran well since, the summary says so too: "still" would be wrong without it.
fn earlier(chosen: &Finding, starts: &Starts<'_, '_>, messages: &Messages<'_>) -> Option<Placed> {
    let at = starts.views.iter().find(|view| view.number == chosen.session)?;
    if chosen.status < Status::Likely || chosen.id.is_by_design() {
        return None;
    }
    let later = starts.later(at.number);
    let line = later.first_line()?;
    let executed = later.good_prompts();
    let (first_line, last_line) = (at.session.first_line, at.session.last_line);
    let last = starts.views.last()?.number;
    let values = [("number", at.number.to_string()), ("last", last.to_string()), ("line", line.to_string())];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let (none, one, many) = match later.count() {
        _ if later.hidden => ("figure-sessions-hidden", "figure-sessions-hidden-one", "figure-sessions-hidden-many"),
        1 => ("figure-session", "figure-session-since-one", "figure-session-since-many"),
        _ => ("figure-sessions-since-none", "figure-sessions-since-one", "figure-sessions-since-many"),
    };
    let text = if executed == 0 { messages.text(none, &values) } else { messages.count(one, many, executed, &values) };
    let summary = match later.count() {
        _ if executed >= LONG && later.is_well() => "summary-well-since",
        1 => "summary-earlier",
        _ => "summary-before",
    };
    let figure = told("session", text, Basis::Measured, vec![first_line, last_line]);
    Some(Placed { figure, summary: (executed > 0).then_some((summary, line, executed)) })
}

/// Takes the same fault of other starts out of `others`, and says of `finding` how often it was.
fn gather(finding: &mut Finding, others: &mut Vec<Finding>, starts: &Starts<'_, '_>, messages: &Messages<'_>) {
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
    let (number, all) = (sessions.len().to_string(), starts.views.len().to_string());
    let key = if starts.left_out.starts > 0 { "figure-in-kept-starts" } else { "figure-in-starts" };
    let text = messages.text(key, &[("n", &number), ("all", &all)]);
    finding.figures.insert(0, told("starts", text, Basis::Measured, lines));
}

/// The first line that supports it.
fn line_of(finding: &Finding) -> Option<u64> {
    finding.evidence.first().map(|line| line.at.line)
}
