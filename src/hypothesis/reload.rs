//! Are the same models loaded again in every prompt, without need?

use super::Case;
use super::context::Context;
use super::finding::{Basis, EvidenceReport, Finding, Grade, RuledOut, Status};
use super::finding_builder::{FindingBuilder, counted, evidence, told};
use crate::catalog::messages::Messages;
use crate::catalog::{Constant, FlagRole, Verdict};
use crate::timeline::Load;

/// Share of the card that is left for weights.
const ROOM_SHARE: f64 = 0.85;
/// More than any card has.
const NO_LIMIT_MIB: f64 = 1e9;
/// Prompts that must have requested a class before "each prompt" may be said.
const PROMPTS_NEEDED: u64 = 3;

/// Prompts that take less have no time to lose by loading.
const COSTLY_SECONDS: f64 = 0.5;

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    reloads(case.view, case.messages).into_iter().collect()
}

// Long: one finding, from its grounds to its lines.
fn reloads(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let session = view.session;
    let mut again: Vec<(&String, &Load)> = session
        .loads
        .iter()
        .filter(|(class, load)| {
            !session.leaks.contains_key(*class)
                && load.prompts >= PROMPTS_NEEDED
                && load.reload_prompts + 1 >= PROMPTS_NEEDED
                && load.reload_prompts * 2 >= prompts_since(view, load)
        })
        .collect();
    again.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)).then_with(|| a.0.cmp(b.0)));
    let Some((class, load)) = again.first().copied() else { return rebuilt(view, messages) };
    // Where a whole prompt takes no time, nothing is slow: a small model may be built anew each time.
    if median_seconds(view).is_some_and(|seconds| seconds < COSTLY_SECONDS) {
        return None;
    }
    let fit = fit(view);
    let names: Vec<&str> = again.iter().map(|(class, _)| class.as_str()).take(3).collect();
    let prompts = load.prompts.to_string();
    // "In every prompt" only where it was every one since it was first loaded.
    let all = prompts_since(view, load) + 1;
    let every = load.prompts >= all;
    let often = match every {
        true => messages.text("often-every", &[]),
        false => messages.text("often-some", &[("n", &prompts), ("all", &all.to_string())]),
    };
    let again_key = if every { "reload-summary" } else { "reload-summary-some" };
    let (status, grade, reason, key) = match fit {
        _ if kept_on_card(view, messages) || fit.is_none() && wanted_often(load) => {
            (Status::Possible, Grade::Weak, "grade-reload-patched", "reload-patched")
        }
        Some(false) => (Status::Possible, Grade::Moderate, "grade-reload-no-room", "reload-no-room"),
        Some(true) => (Status::Confirmed, Grade::Strong, "grade-reload-room", again_key),
        None => (Status::Likely, Grade::Moderate, "grade-reload", again_key),
    };
    let mut lines: Vec<EvidenceReport> = Vec::new();
    for (class, load) in again.iter().take(3) {
        if let Some(first) = &load.first {
            let last = load.last.as_ref().map_or(first.place.line, |at| at.place.line);
            let remark = messages.text("remark-requested", &[("class", class), ("n", &load.requested.to_string())]);
            lines.push(evidence(&first.clone().through(last), Some(remark)));
        }
    }
    if fit == Some(true)
        && let Some(at) = &load.size_at
    {
        lines.push(evidence(at, Some(messages.text("remark-room", &[("class", class)]))));
    }
    let mut figures = Vec::new();
    for flag in session.flags.iter().filter(|flag| messages.packs.plays(&flag.name, FlagRole::Reloading)) {
        figures.push(told(
            "flag",
            messages.text("figure-reload-flag", &[("flag", &flag.name)]),
            Basis::Measured,
            vec![flag.at.place.line],
        ));
    }
    if let Some(seconds) = median_seconds(view) {
        figures.push(told(
            "seconds",
            messages.text("figure-seconds", &[("seconds", &crate::text::number(seconds, 1))]),
            Basis::Derived,
            Vec::new(),
        ));
    }
    if let Some(old) = &session.counts.old_loads {
        lines.push(counted(old, None));
    }
    Some(
        FindingBuilder::new(
            Verdict::ReloadEachPrompt,
            view.number,
            status,
            messages
                .text(key, &[("class", &names.join(messages.list_mark())), ("prompts", &prompts), ("often", &often)]),
        )
        .about(class)
        .grade(grade, messages.text(reason, &[]))
        .figures(figures)
        .settle(messages.text("settle-reload", &[]))
        .because(lines),
    )
}

/// Models stay on the card because the user asked for it: what is requested again moves nowhere.
fn kept_on_card(view: &Context<'_>, messages: &Messages<'_>) -> bool {
    let state = view.session.text("vram_state");
    messages.packs.flags.iter().filter(|flag| flag.residency.is_some()).any(|flag| {
        let sets = flag.facts.get("vram_state");
        view.uses(&flag.name) || state.zip(sets).is_some_and(|(state, sets)| *sets == Constant::Text(state.to_owned()))
    })
}

/// Samplers in one prompt that want the same model with other patches.
fn wanted_often(load: &Load) -> bool {
    load.requested >= load.prompts * 2
}

fn size(load: &Load) -> f64 {
    load.last_mib.unwrap_or(0.0)
}

/// Prompts that ended since the class was first requested, that one not counted.
fn prompts_since(view: &Context<'_>, load: &Load) -> u64 {
    let first = load.first.as_ref().map_or(0, |at| at.place.line);
    let ended = view.session.prompt_list.iter().filter(|prompt| prompt.last_line >= first).count() as u64;
    (ended + view.session.prompts_left_out).saturating_sub(1)
}

/// All requested models fit on the card together. `None` when the sizes or the card are unknown.
fn fit(view: &Context<'_>) -> Option<bool> {
    let mut total = 0.0;
    let mut usable: Option<f64> = None;
    for load in view.session.loads.values() {
        if load.last_offloaded_mib.is_some_and(|mib| mib > 0.0) {
            return Some(false);
        }
        total += load.last_mib?;
        // What a load line calls usable is the room before that load; "no limit" is printed as a huge number.
        if let Some(room) = load.usable_mib.filter(|room| *room < NO_LIMIT_MIB) {
            usable = Some(usable.map_or(room, |least: f64| least.min(room)));
        }
    }
    let room = view.vram_mib().map(|vram| vram * ROOM_SHARE).or(usable)?;
    Some(total < room)
}

fn median_seconds(view: &Context<'_>) -> Option<f64> {
    let mut seconds: Vec<f64> = view.session.prompt_list.iter().filter_map(|prompt| prompt.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let (low, high) = (seconds.get(seconds.len().checked_sub(1)? / 2)?, seconds.get(seconds.len() / 2)?);
    Some((low + high) / 2.0)
}

/// Requested in each prompt, with its file read anew: another checkpoint, a rebuilt loader output, or a cache that
/// gave it up.
fn rebuilt(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let session = view.session;
    let found = session.loads.iter().filter(|(class, load)| {
        !session.leaks.contains_key(*class)
            && load.rebuilt_prompts + load.reload_prompts + 1 >= PROMPTS_NEEDED
            && (load.rebuilt_prompts + load.reload_prompts) * 2 >= prompts_since(view, load)
    });
    let (class, load) = found.max_by(|a, b| size(a.1).total_cmp(&size(b.1)).then_with(|| b.0.cmp(a.0)))?;
    let first = load.first.as_ref()?;
    let last = load.last.as_ref().map_or(first.place.line, |at| at.place.line);
    let remark = messages.text("remark-requested", &[("class", class), ("n", &load.requested.to_string())]);
    let summary = messages.text("reload-rebuilt", &[("class", class), ("prompts", &load.prompts.to_string())]);
    Some(
        FindingBuilder::new(Verdict::ReloadEachPrompt, view.number, Status::Possible, summary)
            .about(class)
            .grade(Grade::Weak, messages.text("grade-reload-rebuilt", &[]))
            .settle(messages.text("settle-reload", &[]))
            .because(vec![evidence(&first.clone().through(last), Some(remark))]),
    )
}

/// Several prompts ran, and no model was loaded again.
pub fn rule_out(case: &Case<'_>) -> Vec<RuledOut> {
    let session = case.view.session;
    let once = session.loads.values().all(|load| load.reload_prompts == 0 && load.rebuilt_prompts == 0);
    // With dynamic VRAM the same line stands at each use, whether weights are read again or not.
    let once = once && session.dynamic.values().all(|dynamic| dynamic.prepared < PROMPTS_NEEDED);
    let found = case.has(Verdict::ReloadEachPrompt);
    if found || session.prompts.executed < PROMPTS_NEEDED || session.loads.is_empty() || !once {
        return Vec::new();
    }
    vec![case.against(Verdict::ReloadEachPrompt, case.messages.text("not-reload", &[]), Vec::new())]
}
