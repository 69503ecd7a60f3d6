//! A program that was killed while the kernel counted no kill for memory: not the kernel, so who was it?

use super::super::Case;
use super::super::context::Context;
use super::super::finding::{EvidenceReport, Finding, Grade, RuledOut, Status};
use super::super::finding_builder::{FindingBuilder, evidence};
use super::in_flight_figures;
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::text;
use crate::timeline::{Ending, EndingKind};

/// Share of RAM below which daemons such as earlyoom begin to end programs.
const TIGHT_SHARE: f64 = 0.1;

/// What the machine had to spare shortly before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Spare {
    Free,
    /// Next to nothing, and next to no swap either.
    Tight,
    /// Nobody looked.
    Unknown,
}

/// What was to spare, when the run was killed and nothing but its end could say that it was for memory.
pub(crate) fn spare(view: &Context<'_>) -> Option<Spare> {
    let ending = view.ending().filter(|ending| ending.kind == EndingKind::Killed)?;
    ending.not_counted.as_ref()?;
    // A line that names the cause is better than a counter, which may be that of another cgroup.
    let told = ending.constraint.is_some()
        || ending.killed_anon_mib.is_some()
        || ending.daemon.is_some()
        || ending.oom_killed_flag.as_ref().is_some_and(|(value, _)| *value);
    if told {
        return None;
    }
    let number = |name| view.session.fact(name).and_then(|fact| fact.value.as_number());
    let Some((available, ram)) = number("end_available_mib").zip(number("end_ram_mib")) else {
        return Some(Spare::Unknown);
    };
    let swap = number("end_swap_mib").zip(number("end_swap_used_mib")).map_or(0.0, |(swap, used)| swap - used);
    Some(if available + swap < ram * TIGHT_SHARE { Spare::Tight } else { Spare::Free })
}

/// RAM was nearly full: a daemon may have ended it. With RAM to spare there is nothing to suspect.
pub(super) fn finding(view: &Context<'_>, messages: &Messages<'_>, ending: &Ending, spare: Spare) -> Option<Finding> {
    if spare != Spare::Tight {
        return None;
    }
    let values = said(view, messages);
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let summary = messages.text("host-killed-tight", &values);
    Some(
        FindingBuilder::new(Verdict::HostOom, view.number, Status::Likely, summary)
            .about("killed")
            .grade(Grade::Moderate, messages.text("grade-killed-tight", &[]))
            .figures(in_flight_figures(view, messages, ending))
            .in_prompt(view.session.current_prompt())
            .settle(messages.text("settle-killed-daemon", &[]))
            .because(lines(view, messages)),
    )
}

/// What the lines about it are filled with.
pub(crate) fn said(view: &Context<'_>, messages: &Messages<'_>) -> [(&'static str, String); 3] {
    let size = |name| {
        let fact = view.session.fact(name);
        fact.and_then(|fact| fact.value.as_number()).map_or_else(|| "?".to_owned(), text::mib)
    };
    let has_swap =
        view.session.fact("end_swap_mib").and_then(|fact| fact.value.as_number()).is_some_and(|mib| mib > 0.0);
    let swap = if has_swap {
        messages.text("swap-used", &[("used", &size("end_swap_used_mib")), ("swap", &size("end_swap_mib"))])
    } else {
        messages.text("swap-none", &[])
    };
    [("available", size("end_available_mib")), ("ram", size("end_ram_mib")), ("swap", swap)]
}

/// The counter, what was to spare, and the kill.
pub(crate) fn lines(view: &Context<'_>, messages: &Messages<'_>) -> Vec<EvidenceReport> {
    let Some(ending) = view.ending() else { return Vec::new() };
    let mut lines: Vec<EvidenceReport> = ending.kills.iter().take(2).map(|at| evidence(at, None)).collect();
    let counter = ending.not_counted.as_ref();
    lines.extend(counter.map(|at| evidence(at, Some(messages.text("remark-not-counted", &[])))));
    if let Some(fact) = view.session.fact("end_available_mib") {
        lines.push(evidence(&fact.at, None));
    }
    lines
}

/// It was killed, but neither by the kernel for memory nor while memory was short.
pub(super) fn ruled_out(case: &Case<'_>) -> Option<RuledOut> {
    let view = case.view;
    if spare(view)? != Spare::Free || case.has(Verdict::HostOom) {
        return None;
    }
    let values = said(view, case.messages);
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Some(case.against(Verdict::HostOom, case.messages.text("not-counted", &values), Vec::new()))
}
