//! Did the machine's RAM, or a limit on it, end or fail the run? And what would ComfyUI have computed had it known.
//!
//! Long: the ways in which RAM ends a process are weighed against each other.

mod allocation;
mod full;
mod uncounted;

pub use full::FULL as FULL_AT_CRASH;
pub(crate) use uncounted::{Spare, lines as uncounted_lines, said as uncounted_values, spare};

use super::Case;
use super::context::{Context, LimitSource, Os};
use super::defaults;
use super::finding::{Basis, EvidenceReport, Figure, Finding, Grade, RuledOut, Status};
use super::finding_builder::{FindingBuilder, evidence, figure, told};
use crate::catalog::messages::Messages;
use crate::catalog::{SignOf, Verdict};
use crate::event::{GIB, MIB};
use crate::text;
use crate::timeline::{Ending, EndingKind, Evidence, HostOom};

/// No machine that runs ComfyUI has this much RAM: the size was computed wrongly.
const ABSURD_BYTES: f64 = 16.0 * 1024.0 * GIB;
/// RAM so many times the weights in play is not what ran out.
const RAM_TO_SPARE: f64 = 4.0;

/// Share of RAM from which on a ceiling for pinned memory leaves too little for the rest.
const GREEDY_SHARE: f64 = 0.85;
/// An end that not only containers tell so, as signs call it.
const MAYBE: &str = "maybe";
/// What a kill is about in a container of which no limit is known.
const IN_CONTAINER: &str = "killed-in-container";

/// Who ended the run, by the lines that prove it.
struct Killed<'t> {
    ending: &'t Ending,
    /// A kernel, container or daemon line names the cause.
    memory_proven: bool,
    /// It is the kernel that names it, with what the process held.
    by_kernel: bool,
    memcg: bool,
    global: bool,
}

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    let mut findings = Vec::new();
    if let Some(ending) = view.ending() {
        if ending.kind == EndingKind::Killed {
            findings.extend(match uncounted::spare(view) {
                Some(spare) => uncounted::finding(view, messages, ending, spare),
                None => Some(kill_finding(view, messages, ending)),
            });
        } else if let Some(finding) = full::at_crash(view, messages, ending) {
            findings.push(finding);
        } else if ending.in_flight.is_some() {
            findings.extend(silent_end(view, messages, ending));
        }
    }
    let failed: Vec<&HostOom> = view.session.host_ooms.iter().filter(|oom| !is_absurd(oom, view)).collect();
    if let Some(oom) = failed.last() {
        findings.push(allocation::finding(view, messages, oom, failed.len()));
    }
    if findings.is_empty()
        && let Some(finding) = unseen_limit(view, messages)
    {
        findings.push(finding);
    }
    findings
}

/// The request cannot have been meant.
pub fn is_absurd(oom: &HostOom, view: &Context<'_>) -> bool {
    let ram = view.ram_mib().map_or(ABSURD_BYTES, |mib| (mib * MIB * 64.0).min(ABSURD_BYTES));
    oom.requested.is_some_and(|requested| requested > ram)
}

fn killed<'t>(ending: &'t Ending, unlimited: bool, messages: &Messages<'_>) -> Killed<'t> {
    let constraint = ending.constraint.as_ref().and_then(|(name, _)| {
        let sign = messages.packs.signs_of(SignOf::KillConstraint).find(|sign| sign.fits(name))?;
        Some(sign.is.as_str())
    });
    let flag = ending.oom_killed_flag.as_ref().is_some_and(|(value, _)| *value);
    let memcg = constraint == Some("container") || flag && !unlimited;
    let global = constraint == Some("machine");
    let by_kernel = memcg || global || ending.killed_anon_mib.is_some();
    Killed { ending, memory_proven: by_kernel || flag || ending.daemon.is_some(), by_kernel, memcg, global }
}

// Long: one finding, from its grounds to its lines; the grade rests on all that was worked out above it.
fn kill_finding(view: &Context<'_>, messages: &Messages<'_>, ending: &Ending) -> Finding {
    let unlimited = view.session.flag_fact("memory_limited") == Some(false) && view.limit_mib.is_none();
    let killed = killed(ending, unlimited, messages);
    let flag = ending.oom_killed_flag.as_ref().map(|(value, _)| *value);
    let container = (killed.memcg || !unlimited) && is_container(view, messages, &killed);
    let limit = view.limit_mib;
    let limit_text = limit.map_or_else(String::new, |(mib, _)| text::mib(mib));
    let seen = view.ram_mib().map_or_else(|| "?".to_owned(), text::mib);
    let version = view.version.exact.clone().unwrap_or_default();
    let code = ending.exit_code.map_or_else(String::new, |code| format!(" ({code})"));
    let blind = limit.is_some_and(|(limit, source)| {
        source != LimitSource::CgroupLine && view.ram_mib().is_some_and(|ram| ram > limit * 1.1)
    });
    let (id, key) = match (container, blind, killed.memcg) {
        (true, true, _) => (Verdict::ContainerLimit, "container-killed-blind"),
        (true, false, true) => (Verdict::ContainerLimit, "container-killed-memcg"),
        (true, false, false) => (Verdict::ContainerLimit, "container-killed-likely"),
        (false, _, _) if ending.daemon.is_some() => (Verdict::HostOom, "host-killed-daemon"),
        (false, _, _) if killed.by_kernel => (Verdict::HostOom, "host-killed-kernel"),
        (false, _, _) if unlimited && flag == Some(true) => (Verdict::HostOom, "host-killed-unlimited"),
        (false, _, _) if !unlimited && container_hint(view, messages, &killed) => {
            (Verdict::HostOom, "host-killed-in-container")
        }
        (false, _, _) => (Verdict::HostOom, "host-killed-text"),
    };
    let summary =
        messages.text(key, &[("limit", &limit_text), ("seen", &seen), ("version", &version), ("code", &code)]);
    let (grade, reason) = if killed.memcg || killed.global || (killed.by_kernel && id == Verdict::HostOom) {
        (Grade::Certain, messages.text("grade-kernel-says", &[]))
    } else if ending.daemon.is_some() {
        (Grade::Strong, messages.text("grade-daemon-says", &[]))
    } else if key == "host-killed-unlimited" {
        (Grade::Strong, messages.text("grade-runtime-says", &[]))
    } else if id == Verdict::ContainerLimit && limit.is_some() && flag == Some(false) {
        (Grade::Moderate, messages.text("grade-limit-but-flag", &[]))
    } else if id == Verdict::ContainerLimit && limit.is_some() {
        let key = if limit.is_some_and(|(_, source)| source == LimitSource::Given) {
            "grade-limit-given"
        } else {
            "grade-limit-log"
        };
        (Grade::Strong, messages.text(key, &[]))
    } else {
        (Grade::Moderate, messages.text("grade-kill-text", &[]))
    };
    if flag == Some(false) && !killed.memory_proven && limit.is_none() {
        return not_for_memory(view, messages, &killed);
    }
    let status = if grade >= Grade::Strong { Status::Confirmed } else { Status::Likely };
    let mut lines = kill_lines(view, messages, &killed);
    if let Some(at) = ending.in_flight.as_ref().and_then(|flight| flight_evidence(view, flight.class.as_deref())) {
        lines.push(evidence(at, Some(messages.text("remark-in-flight", &[]))));
    }
    let mut figures = in_flight_figures(view, messages, ending);
    figures.extend(daemon_figure(messages, ending));
    figures.extend(limit_figures(view, messages));
    figures.extend(greedy_pins(view, messages).filter(|_| id == Verdict::HostOom));
    let settle = match (killed.memory_proven, id) {
        (true, _) => None,
        (false, _) if key == "host-killed-in-container" => Some("settle-container-unknown"),
        (false, Verdict::ContainerLimit) => Some("settle-container"),
        (false, _) => Some("settle-kill"),
    };
    let mut draft = FindingBuilder::new(id, view.number, status, summary)
        .grade(grade, reason)
        .figures(figures)
        .in_prompt(view.session.current_prompt());
    if let Some(settle) = settle {
        draft = draft.settle(messages.text(settle, &[]));
    }
    if key == "host-killed-in-container" {
        draft = draft.about(IN_CONTAINER);
    }
    draft.because(lines)
}

/// RAM that the process held when a daemon ended it, where the line tells it.
fn daemon_figure(messages: &Messages<'_>, ending: &Ending) -> Option<Figure> {
    let at = ending.daemon.as_ref()?;
    let hit = messages.packs.matcher().find(at.text.as_bytes())?;
    let mib: f64 = std::str::from_utf8(hit.captures.get("rss")?.text).ok()?.parse().ok()?;
    let text = messages.text("figure-daemon-rss", &[("size", &text::mib(mib))]);
    Some(figure("daemon-rss", text, Basis::Measured, mib, "MiB", vec![at.place.line]))
}

/// A ceiling on pinned memory that leaves next to nothing for the rest: harmless with swap, fatal without.
fn greedy_pins(view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let fact = view.session.fact("pinned_budget_mib")?;
    let (budget, ram) = (fact.value.as_number()?, view.ram_mib()?);
    if !matches!(view.os, Os::Linux) || budget < ram * GREEDY_SHARE {
        return None;
    }
    let share = text::number(budget / ram * 100.0, 0);
    let values = [("budget", text::mib(budget)), ("ram", text::mib(ram)), ("share", share)];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let text = messages.text("figure-pins-greedy", &values);
    Some(figure("pins-greedy", text, Basis::Measured, budget, "MiB", vec![fact.at.place.line]))
}

/// The runtime says that it was not for memory; it can be wrong, so the thought is kept.
fn not_for_memory(view: &Context<'_>, messages: &Messages<'_>, killed: &Killed<'_>) -> Finding {
    FindingBuilder::new(Verdict::HostOom, view.number, Status::Possible, messages.text("host-killed-not-memory", &[]))
        .about("killed")
        .grade(Grade::Weak, messages.text("grade-flag-false", &[]))
        .figures(in_flight_figures(view, messages, killed.ending))
        .in_prompt(view.session.current_prompt())
        .settle(messages.text("settle-killed", &[]))
        .because(kill_lines(view, messages, killed))
}

/// The kernel had to end another program: the machine had no RAM left while ComfyUI ran.
pub fn other_killed(view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let at = view.ending()?.other_killed.as_ref()?;
    let hit = messages.packs.matcher().find(at.text.as_bytes());
    let name = hit.and_then(|hit| hit.captures.get("name").map(|name| String::from_utf8_lossy(name.text).into_owned()));
    let text = messages.text("figure-other-killed", &[("name", name.as_deref().unwrap_or("?"))]);
    Some(told("other-killed", text, Basis::Measured, vec![at.place.line]))
}

/// The kill came from a limit on the container: proven, or the only way the figures fit.
fn is_container(view: &Context<'_>, messages: &Messages<'_>, killed: &Killed<'_>) -> bool {
    if killed.global {
        return false;
    }
    if killed.memcg {
        return true;
    }
    if view.limit_mib.is_some() && killed.ending.daemon.is_none() {
        return true;
    }
    let told =
        |text: &str| messages.packs.signs_of(SignOf::ContainerEnd).any(|sign| sign.is != MAYBE && sign.fits(text));
    let hint = view.in_container().is_some() || killed.ending.kills.iter().any(|kill| told(&kill.text));
    let loaded = view.loaded_mib();
    hint && loaded > 0.0 && view.ram_mib().is_some_and(|ram| ram > loaded * RAM_TO_SPARE)
}

/// Something shows that ComfyUI ran in a container, or may have.
fn container_hint(view: &Context<'_>, messages: &Messages<'_>, killed: &Killed<'_>) -> bool {
    view.in_container().is_some()
        || killed.ending.kills.iter().any(|kill| messages.packs.shows(SignOf::ContainerEnd, &kill.text))
}

fn kill_lines(view: &Context<'_>, messages: &Messages<'_>, killed: &Killed<'_>) -> Vec<EvidenceReport> {
    let ending = killed.ending;
    let mut lines = Vec::new();
    if let Some((_, at)) = &ending.constraint {
        lines.push(evidence(at, Some(messages.text(if killed.memcg { "remark-memcg" } else { "remark-global" }, &[]))));
    }
    if let Some((value, at)) = &ending.oom_killed_flag {
        let key = if *value { "remark-oom-killed-flag" } else { "remark-oom-killed-flag-false" };
        lines.push(evidence(at, Some(messages.text(key, &[]))));
    }
    if let Some(fact) = view.session.fact("memory_limited") {
        lines.push(evidence(&fact.at, Some(messages.text("remark-no-limit", &[]))));
    }
    if let Some(at) = &ending.daemon {
        lines.push(evidence(at, Some(messages.text("remark-daemon", &[]))));
    }
    for at in ending.kills.iter().take(3) {
        lines.push(evidence(at, None));
    }
    if let Some((_, at)) = &view.session.container_limit_mib {
        lines.push(evidence(at, Some(messages.text("remark-limit", &[]))));
    }
    if let Some(fact) = view.session.fact("total_ram_mib") {
        lines.push(evidence(&fact.at, Some(messages.text("remark-ram-seen", &[]))));
    }
    let mut seen = Vec::new();
    lines.retain(|line| {
        let key = (line.at.line, line.rule.clone());
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    lines
}

fn flight_evidence<'t>(view: &Context<'t>, class: Option<&str>) -> Option<&'t Evidence> {
    let class = class?;
    let session = view.session;
    session
        .dynamic
        .get(class)
        .map(|dynamic| &dynamic.at)
        .or_else(|| session.loads.get(class).and_then(|load| load.last.as_ref()))
}

fn in_flight_figures(view: &Context<'_>, messages: &Messages<'_>, ending: &Ending) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(flight) = &ending.in_flight {
        let prompt = flight.prompt.to_string();
        let text = match (&flight.class, flight.mib) {
            (Some(class), Some(mib)) => messages
                .text("figure-in-flight-size", &[("prompt", &prompt), ("class", class), ("size", &text::mib(mib))]),
            (Some(class), None) => messages.text("figure-in-flight-class", &[("prompt", &prompt), ("class", class)]),
            (None, _) => messages.text("figure-in-flight", &[("prompt", &prompt)]),
        };
        figures.push(told("in-flight", text, Basis::Measured, vec![flight.since_line]));
    }
    if let Some(mib) = ending.killed_anon_mib {
        let lines = ending.killed_anon_line.into_iter().collect();
        figures.push(figure(
            "killed-anon-rss",
            messages.text("figure-anon", &[("size", &text::mib(mib))]),
            Basis::Measured,
            mib,
            "MiB",
            lines,
        ));
    }
    let loaded = view.loaded_mib();
    if let Some((limit, _)) = view.limit_mib
        && loaded > limit
    {
        figures.push(figure(
            "weights-over-limit",
            messages.text("figure-over-limit", &[("loaded", &text::mib(loaded)), ("limit", &text::mib(limit))]),
            Basis::Derived,
            loaded,
            "MiB",
            Vec::new(),
        ));
    }
    figures
}

/// What ComfyUI computed from the RAM it saw, beside what it would have computed with the limit.
fn limit_figures(view: &Context<'_>, messages: &Messages<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let Some((limit, source)) = view.limit_mib else { return figures };
    let Some(ram) = view.ram_mib() else { return figures };
    if source == LimitSource::CgroupLine || ram <= limit * 1.1 {
        return figures;
    }
    let Some(fixed) = defaults::first_true(messages.packs, "sees-cgroup") else { return figures };
    if let Some(fact) = view.session.fact("pinned_budget_mib")
        && let Some(budget) = fact.value.as_number()
        && let Some(row) = defaults::pick_at(messages.packs, "pinned-budget", view, Some(fixed))
        && let Some(worked) = defaults::work_out(row, limit, Some(0.0))
    {
        let values = [("seen", text::mib(budget)), ("would", text::mib(worked.mib)), ("version", fixed.to_string())];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        figures.push(figure(
            "pinned-ceiling",
            messages.text("figure-pinned-two", &values),
            Basis::Formula,
            worked.mib,
            "MiB",
            vec![fact.at.place.line],
        ));
    }
    if let Some(row) = defaults::pick(messages.packs, "cache-active-headroom", view)
        && super::by_design::cache_mode(view, messages.packs).is_some_and(|(mode, _)| mode == "ram-pressure")
        && let (Some(seen), Some(would)) = (defaults::work_out(row, ram, None), defaults::work_out(row, limit, None))
    {
        let values =
            [("seen", text::mib(ram - seen.mib)), ("would", text::mib(limit - would.mib)), ("limit", text::mib(limit))];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        figures.push(figure(
            "cache-trigger",
            messages.text("figure-cache-two", &values),
            Basis::Formula,
            limit - would.mib,
            "MiB",
            Vec::new(),
        ));
    }
    figures.push(told(
        "fixed-in",
        messages.text("figure-cgroup-fixed", &[("version", &fixed.to_string())]),
        Basis::Formula,
        Vec::new(),
    ));
    figures
}

/// The start that ended one without words, and the load that was in flight then.
pub(crate) fn restart_lines(view: &Context<'_>, messages: &Messages<'_>, at: &Evidence) -> Vec<EvidenceReport> {
    let flight = view.ending().and_then(|ending| ending.in_flight.as_ref());
    let load = flight.and_then(|flight| flight_evidence(view, flight.class.as_deref()));
    let mut lines: Vec<EvidenceReport> =
        load.into_iter().map(|at| evidence(at, Some(messages.text("remark-in-flight-then", &[])))).collect();
    lines.extend(view.ending().and_then(|ending| ending.exit_at.as_ref()).map(|at| evidence(at, None)));
    lines.push(evidence(at, Some(messages.text("remark-started-again", &[]))));
    lines
}

/// The log ends in the middle of something and nothing says why.
fn silent_end(view: &Context<'_>, messages: &Messages<'_>, ending: &Ending) -> Option<Finding> {
    if ending.kind == EndingKind::Traceback {
        return None;
    }
    let (key, mut lines) = match &ending.restarted {
        Some(at) => ("host-silent-restart", restart_lines(view, messages, at)),
        None => {
            let at = ending.at.as_ref().or(view.timeline.last_text.as_ref())?;
            ("host-silent", vec![evidence(at, Some(messages.text("remark-last-line", &[])))])
        }
    };
    if let Some(at) = &ending.pause {
        lines.push(evidence(at, Some(messages.text("remark-pause", &[]))));
    }
    let finding = FindingBuilder::new(Verdict::HostOom, view.number, Status::Possible, messages.text(key, &[]))
        .about("silent-end")
        .grade(Grade::Weak, messages.text("grade-silent", &[]))
        .figures(in_flight_figures(view, messages, ending))
        .settle(messages.text(settle_silent(view), &[]))
        .because(lines);
    Some(finding)
}

/// Where to look after an end without words, by the system.
pub(crate) fn settle_silent(view: &Context<'_>) -> &'static str {
    match view.os {
        Os::Windows => "settle-silent-windows",
        Os::MacOs => "settle-silent-mac",
        Os::Linux | Os::Wsl => "settle-silent-linux",
        Os::Unknown => "settle-silent",
    }
}

/// Nothing failed, but a limit is known that this version cannot see.
fn unseen_limit(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let (limit, source) = view.limit_mib?;
    let ram = view.ram_mib()?;
    if source == LimitSource::CgroupLine || ram <= limit * 1.1 {
        return None;
    }
    let fact = view.session.fact("total_ram_mib")?;
    let summary = messages.text("container-unseen", &[("seen", &text::mib(ram)), ("limit", &text::mib(limit))]);
    let mut lines = vec![evidence(&fact.at, Some(messages.text("remark-ram-seen", &[])))];
    if let Some((_, at)) = &view.session.container_limit_mib {
        lines.push(evidence(at, Some(messages.text("remark-limit", &[]))));
    }
    let key = if source == LimitSource::Given { "grade-limit-given" } else { "grade-limit-log" };
    Some(
        FindingBuilder::new(Verdict::ContainerLimit, view.number, Status::Likely, summary)
            .about("unseen")
            .grade(Grade::Moderate, messages.text(key, &[]))
            .figures(limit_figures(view, messages))
            .settle(messages.text("settle-container", &[]))
            .because(lines),
    )
}

/// The process ended by itself, or runs on; ComfyUI says that it knows the container's limit.
pub fn rule_out(case: &Case<'_>) -> Vec<RuledOut> {
    let (view, messages) = (case.view, case.messages);
    let mut list = Vec::new();
    let stopped_well =
        view.ending().is_some_and(|ending| matches!(ending.kind, EndingKind::CleanStop | EndingKind::StillRunning));
    let other = case.views.iter().any(|view| view.ending().is_some_and(|ending| ending.other_killed.is_some()));
    let left_out = &view.timeline.left_out;
    let died = other || left_out.killed.starts > 0 || left_out.host_ooms.starts > 0;
    if !case.has(Verdict::HostOom) && !died && view.session.host_ooms.is_empty() && stopped_well {
        list.push(case.against(Verdict::HostOom, messages.text("not-killed", &[]), Vec::new()));
    }
    list.extend(uncounted::ruled_out(case));
    if let Some((_, LimitSource::CgroupLine)) = view.limit_mib
        && let Some(fact) = view.session.fact("cgroup_limit_mib")
    {
        let told = vec![evidence(&fact.at, None)];
        list.push(case.against(Verdict::ContainerLimit, messages.text("not-container", &[]), told));
    }
    list
}
