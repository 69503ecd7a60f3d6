//! High memory that is meant: the cache, pinned memory, residency that the user asked for. Shows the arithmetic
//! of this version with this machine's numbers.

use super::Case;
use super::context::{Context, LimitSource};
use super::defaults::{self, Worked};
use super::finding::{Basis, EvidenceReport, Figure, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, counted, evidence, figure, told};
use crate::catalog::messages::Messages;
use crate::catalog::{Constant, FlagRole, Packs, Term, Verdict};
use crate::samples::Samples;
use crate::text;

/// A printed budget within this share of the formula's result fits it.
const FITS: f64 = 0.002;
/// The figure of steps that became several times slower.
pub const SLOWER_FIGURE: &str = "slower";
/// Seconds per step so many times those of an earlier prompt are the sign of spilling.
const SLOWER: f64 = 3.0;

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    [residency(view, messages), pinning(view, messages), caching(view, messages, case.samples)]
        .into_iter()
        .flatten()
        .collect()
}

/// The cache's mode: from the log, from the flags, or by the version's default. The second is the line that says so.
pub fn cache_mode(view: &Context<'_>, packs: &Packs) -> Option<(String, Option<EvidenceReport>)> {
    if let Some(fact) = view.session.fact("cache_mode")
        && let Some(mode) = fact.value.as_text()
    {
        return Some((mode.to_owned(), Some(evidence(&fact.at, None))));
    }
    for flag in &view.session.flags {
        let def = packs.flag(&flag.name)?;
        if let Some(crate::catalog::Constant::Text(mode)) = def.facts.get("cache_mode") {
            return Some((mode.clone(), Some(evidence(&flag.at, None))));
        }
    }
    let row = defaults::pick(packs, "cache-mode", view)?;
    defaults::text_value(row).map(|mode| (mode.to_owned(), None))
}

// Long: one piece of arithmetic, shown step by step in the order in which a reader follows it.
fn pinning(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let fact = view.session.fact("pinned_budget_mib")?;
    let budget = fact.value.as_number()?;
    let ram = view.ram_mib();
    let line = fact.at.place.line;
    let mut figures = Vec::new();
    let mut fits = None;
    if let (Some(ram), Some(row)) = (ram, defaults::pick(messages.packs, "pinned-budget", view)) {
        let swap = view.session.number("swap_mib").or_else(|| view.session.fact("cgroup_limit_mib").map(|_| 0.0));
        let worked = defaults::work_out(row, ram, swap);
        let implied = defaults::implied_swap(row, ram, budget);
        match (worked, implied) {
            (Some(worked), _) if (worked.mib - budget).abs() <= budget * FITS + 1.0 => {
                fits = Some(true);
                figures.push(budget_figure(messages, budget, ram, worked, line));
            }
            (_, Some(swap)) => {
                fits = Some(true);
                let values = [("budget", text::number(budget, 0)), ("swap", text::mib(swap)), ("ram", text::mib(ram))];
                let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                figures.push(figure(
                    "implied-swap",
                    messages.text("figure-implied-swap", &values),
                    Basis::Derived,
                    swap,
                    "MiB",
                    vec![line],
                ));
            }
            _ => {
                if let Some(worked) = fit_without_swap(row, ram, budget) {
                    fits = Some(true);
                    figures.push(budget_figure(messages, budget, ram, worked, line));
                } else if let Some(worked) = worked {
                    fits = Some(false);
                    let values = [("budget", text::number(budget, 0)), ("expected", text::number(worked.mib, 0))];
                    let values: Vec<(&str, &str)> =
                        values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                    figures.push(figure(
                        "expected-budget",
                        messages.text("figure-budget-differs", &values),
                        Basis::Formula,
                        worked.mib,
                        "MiB",
                        vec![line],
                    ));
                }
            }
        }
    }
    if let Some(counts) = &view.session.counts.pin_evictions {
        figures.push(told(
            "pin-evictions",
            messages.text("figure-pin-evictions", &[("n", &counts.count.to_string())]),
            Basis::Measured,
            vec![counts.first.place.line],
        ));
    }
    // The limit of a container may be what the line beside it tells as RAM.
    let share =
        ram.filter(|ram| *ram >= budget).map_or_else(|| "?".to_owned(), |ram| text::number(100.0 * budget / ram, 0));
    let summary = messages.text("pinning-summary", &[("budget", &text::mib(budget)), ("share", &share)]);
    let (status, grade, reason) = match fits {
        Some(true) => (Status::Likely, Grade::Moderate, "grade-pinning-fits"),
        Some(false) => (Status::Possible, Grade::Weak, "grade-pinning-differs"),
        None => (Status::Possible, Grade::Weak, "grade-pinning-unknown"),
    };
    let mut lines = vec![evidence(&fact.at, Some(messages.text("remark-ceiling", &[])))];
    if let Some(ram) = view.session.fact("total_ram_mib") {
        lines.push(evidence(&ram.at, None));
    }
    let against = view
        .session
        .counts
        .pin_errors
        .iter()
        .map(|errors| counted(errors, Some(messages.text("remark-pin-errors", &[]))))
        .collect();
    let mut draft = FindingBuilder::new(Verdict::PinningByDesign, view.number, status, summary)
        .grade(grade, messages.text(reason, &[]))
        .figures(figures)
        .against(against);
    if view.asks(FlagRole::PinningOff).is_none() {
        draft = draft.settle(messages.text("settle-pinning", &[]));
    }
    Some(draft.because(lines))
}

/// The budget equals a term that does not need the swap's size.
fn fit_without_swap(row: &crate::catalog::DefaultDef, ram: f64, budget: f64) -> Option<Worked> {
    let plain: Vec<Term> = row.terms.iter().copied().filter(|term| term.ram_plus_swap_minus_gib.is_none()).collect();
    let mut shorter = row.clone();
    shorter.terms = plain;
    let candidates = [
        defaults::work_out(&shorter, ram, None),
        row.at_least.and_then(|term| term.share.map(|share| Worked { mib: ram * share, decided_by: term })),
    ];
    candidates.into_iter().flatten().find(|worked| (worked.mib - budget).abs() <= budget * FITS + 1.0)
}

fn budget_figure(messages: &Messages<'_>, budget: f64, ram: f64, worked: Worked, line: u64) -> Figure {
    let term = worked.decided_by;
    let (key, number) = match (term.share, term.ram_minus_gib) {
        (Some(share), _) => ("figure-budget-share", format!("{share:.2}")),
        (None, Some(gib)) => ("figure-budget-minus", text::number(gib, 0)),
        (None, None) => {
            ("figure-budget-swap", term.ram_plus_swap_minus_gib.map_or_else(String::new, |gib| text::number(gib, 0)))
        }
    };
    let values = [("budget", text::number(budget, 0)), ("number", number), ("ram", text::number(ram, 0))];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    figure("pinned-ceiling", messages.text(key, &values), Basis::Formula, budget, "MiB", vec![line])
}

// Long: one piece of arithmetic, shown step by step in the order in which a reader follows it.
fn caching(view: &Context<'_>, messages: &Messages<'_>, samples: Option<&Samples>) -> Option<Finding> {
    let session = view.session;
    let mode = cache_mode(view, messages.packs);
    let dynamic = view.dynamic_vram == Some(true);
    if mode.is_none() && !dynamic && !session.has_work() {
        return None;
    }
    let mut lines: Vec<EvidenceReport> = Vec::new();
    let mut figures = Vec::new();
    if let Some(fact) = session.fact("dynamic_vram").filter(|_| dynamic) {
        lines.push(evidence(&fact.at, Some(messages.text("remark-dynamic", &[]))));
    } else if let Some((_, first)) = session.dynamic.iter().next() {
        lines.push(evidence(&first.at, Some(messages.text("remark-dynamic", &[]))));
    }
    if let Some((name, at)) = &mode {
        lines.extend(at.clone());
        let key = if at.is_some() { "figure-cache-mode" } else { "figure-cache-mode-default" };
        let name = messages.text(&format!("cache-{name}"), &[]);
        figures.push(told(
            "cache-mode",
            messages.text(key, &[("mode", &name)]),
            if at.is_some() { Basis::Measured } else { Basis::Formula },
            Vec::new(),
        ));
    }
    figures.extend(trigger(view, messages, mode.as_ref().map(|(mode, _)| mode.as_str())));
    figures.extend(exercised(view, messages));
    let lines_needed = lines.is_empty();
    if lines_needed && let Some(at) = session.last_executed.as_ref().or(session.first_got.as_ref()) {
        lines.push(evidence(at, Some(messages.text("remark-ran", &[]))));
    }
    if lines_needed
        && lines.is_empty()
        && let Some(fact) = session.fact("total_ram_mib")
    {
        lines.push(evidence(&fact.at, None));
    }
    let repeats = session.prompts.executed >= 2;
    let measured = super::growth::judge(session, samples).filter(super::growth::is_level);
    if let Some(growth) = &measured {
        figures.insert(0, super::growth::level(messages, growth));
    }
    let (grade, reason) = match (dynamic, mode.as_ref().is_some_and(|(_, at)| at.is_some()), repeats) {
        _ if measured.is_some() && repeats => (Grade::Strong, "grade-caching-measured"),
        (true, _, _) => (Grade::Moderate, "grade-caching-lines"),
        (_, true, _) => (Grade::Moderate, "grade-caching-lines"),
        (_, _, true) => (Grade::Weak, "grade-caching-version"),
        _ => (Grade::Weak, "grade-caching-weak"),
    };
    let key = if dynamic { "caching-dynamic" } else { "caching-summary" };
    let mut against = Vec::new();
    if let Some((slow, _)) = slower(view) {
        against.push(evidence(slow, Some(messages.text("remark-slower", &[]))));
    }
    let settle = if dynamic { "settle-caching-dynamic" } else { "settle-caching" };
    Some(
        FindingBuilder::new(Verdict::CachingByDesign, view.number, Status::Possible, messages.text(key, &[]))
            .grade(grade, messages.text(reason, &[]))
            .figures(figures)
            .against(against)
            .settle(messages.text(settle, &[]))
            .because(lines),
    )
}

/// Where the cache gives way, for this version and machine.
fn trigger(view: &Context<'_>, messages: &Messages<'_>, mode: Option<&str>) -> Option<Figure> {
    if mode != Some("ram-pressure") {
        return None;
    }
    let ram = view.ram_mib()?;
    let headroom = headroom(view, messages.packs, ram)?;
    let line = view.session.fact("total_ram_mib").map(|fact| fact.at.place.line);
    let at = ram - headroom;
    let values = [("at", text::mib(at)), ("ram", text::mib(ram)), ("headroom", text::mib(headroom))];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let unreachable = view.limit_mib.is_some_and(|(limit, source)| source != LimitSource::CgroupLine && at > limit);
    let key = if unreachable { "figure-cache-trigger-unreachable" } else { "figure-cache-trigger" };
    Some(figure("cache-trigger", messages.text(key, &values), Basis::Formula, at, "MiB", line.into_iter().collect()))
}

/// RAM that the cache leaves free, by the flag or by the version's default.
fn headroom(view: &Context<'_>, packs: &Packs, ram: f64) -> Option<f64> {
    let row = defaults::pick(packs, "cache-active-headroom", view)?;
    let given = view
        .asks(FlagRole::CacheHeadroom)
        .and_then(|flag| flag.values.first()?.parse::<f64>().ok().filter(|number| number.is_finite()));
    match given {
        Some(gib) => Some(gib * 1024.0),
        None => Some(defaults::work_out(row, ram, None)?.mib),
    }
}

/// RAM in use at which the cache gives way, in MiB; none where it does not heed RAM.
pub fn cache_trigger_mib(view: &Context<'_>, packs: &Packs) -> Option<f64> {
    let heeds = cache_mode(view, packs).is_some_and(|(mode, _)| mode == "ram-pressure");
    let ram = view.ram_mib().filter(|_| heeds)?;
    Some(ram - headroom(view, packs, ram)?)
}

/// Whether the eviction was ever seen, or could be seen at this log level.
fn exercised(view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let counts = &view.session.counts;
    if let Some(fired) = &counts.cache_evictions_active {
        return Some(told(
            "evicted",
            messages.text("figure-evicted", &[("n", &fired.count.to_string())]),
            Basis::Measured,
            vec![fired.first.place.line],
        ));
    }
    if counts.detail_lines > 0 || counts.debug_lines > 0 {
        return Some(told("evicted", messages.text("figure-never-evicted", &[]), Basis::Measured, Vec::new()));
    }
    let can =
        defaults::pick(messages.packs, "detail-level", view).is_some_and(|row| defaults::truth(row).unwrap_or(true));
    let key = if can { "figure-evict-unseen-detail" } else { "figure-evict-unseen" };
    Some(told("evicted", messages.text(key, &[]), Basis::Unknown, Vec::new()))
}

/// The last prompt's steps take several times as long as an earlier prompt's.
fn slower<'t>(view: &Context<'t>) -> Option<(&'t crate::timeline::Evidence, f64)> {
    let prompts = &view.session.prompt_list;
    let best = prompts.iter().filter_map(|prompt| prompt.seconds_per_step).fold(f64::INFINITY, f64::min);
    let last = prompts.last()?.seconds_per_step?;
    let at = view.session.fact("vram_state").map(|fact| &fact.at)?;
    (best.is_finite() && best > 0.0 && last >= best * SLOWER).then_some((at, last / best))
}

// Long: one finding, from its grounds to its lines.
fn residency(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let session = view.session;
    let mut lines: Vec<EvidenceReport> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for flag in &session.flags {
        let def = messages.packs.flag(&flag.name);
        if def.is_some_and(|def| def.residency.is_some()) {
            names.push(flag.name.clone());
            lines.push(evidence(&flag.at, Some(messages.text("remark-residency-flag", &[("flag", &flag.name)]))));
        }
    }
    // The state that such a flag sets tells of it where the command line is not shown.
    let asked_for = |state: &str| {
        let flags = messages.packs.flags.iter().filter(|def| def.residency.is_some());
        flags.filter_map(|def| def.facts.get("vram_state")).any(|set| *set == Constant::Text(state.to_owned()))
    };
    let state = session.fact("vram_state").filter(|fact| fact.value.as_text().is_some_and(asked_for));
    if let Some(fact) = state {
        lines.push(evidence(&fact.at, Some(messages.text("remark-high-vram", &[]))));
        if names.is_empty() {
            names.extend(fact.value.as_text().map(str::to_owned));
        }
    }
    if names.is_empty() {
        return None;
    }
    let thrash = slower(view);
    let (status, grade, reason) = match thrash {
        Some(_) => (Status::Likely, Grade::Strong, "grade-residency-slow"),
        None => (Status::Possible, Grade::Strong, "grade-residency"),
    };
    let mut figures = Vec::new();
    if let Some((_, factor)) = thrash {
        figures.push(told(
            SLOWER_FIGURE,
            messages.text("figure-slower", &[("factor", &text::number(factor, 0))]),
            Basis::Measured,
            Vec::new(),
        ));
    }
    let loaded = view.loaded_mib();
    if loaded > 0.0 {
        figures.push(figure(
            "resident",
            messages.text("figure-resident", &[("size", &text::mib(loaded))]),
            Basis::Derived,
            loaded,
            "MiB",
            Vec::new(),
        ));
    }
    Some(
        FindingBuilder::new(
            Verdict::UserResidency,
            view.number,
            status,
            messages.text("residency-summary", &[("flags", &names.join(" "))]),
        )
        .about(&names.join(" "))
        .grade(grade, messages.text(reason, &[]))
        .figures(figures)
        .settle(messages.text("settle-residency", &[("flags", &names.join(" "))]))
        .because(lines),
    )
}
