//! What to do and what not to do: the packs' remedies that act on the part that decided, and that this version and
//! these flags leave open.

use super::fill::Places;
use super::launcher::Launch;
use super::tags::{parts, tags};
use crate::catalog::messages::Messages;
use crate::catalog::{RemedyDef, Since, Verdict};
use crate::hypothesis::by_design::SLOWER_FIGURE;
use crate::hypothesis::context::Context;
use crate::hypothesis::finding::{Avoid, Finding, Status, Step};

/// Steps against what `finding` names, cheapest first.
pub fn steps(
    view: &Context<'_>,
    messages: &Messages<'_>,
    finding: &Finding,
    others: &[Finding],
    places: &Places,
) -> Vec<Step> {
    let mut steps = own_steps(view, messages, finding, places);
    // A known bug that shows itself as this very thing has the shortest way out.
    let explained = others.iter().find(|other| {
        other.id == Verdict::VersionBug && other.status >= Status::Likely && explains(other, finding, messages)
    });
    if let Some(bug) = explained {
        steps.splice(0..0, bug_steps(view, messages, bug));
    } else if steps.is_empty() && finding.id == Verdict::OtherError {
        steps.extend(possible_bug(view, messages, finding, others));
    }
    // Where nobody knows a way out, the one observation that would settle it is what to do.
    let open = finding.id.is_wrong() || finding.figures.iter().any(|figure| figure.name == SLOWER_FIGURE);
    if steps.is_empty() && open {
        steps.push(last_resort(view, messages, finding, places));
    }
    let launch = Launch::of(view, messages.packs);
    steps.into_iter().map(|step| started(step, launch.as_ref(), messages)).collect()
}

/// What to do where nobody knows a way out: the one observation that would settle it; for an error that this log tells
/// whole, what others wrote of it, and a report.
fn last_resort(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, places: &Places) -> Step {
    let told_whole = finding.id == Verdict::OtherError
        && finding.status == Status::Confirmed
        && (view.session.start.is_some() || view.session.first_got.is_some());
    match &finding.settle {
        Some(settle) => plain(settle.clone()),
        None if told_whole => Step {
            command: places.command("comfy-triage checklist {log}"),
            ..plain(messages.text("step-search-report", &[]))
        },
        None => plain(messages.text("settle-insufficient", &[])),
    }
}

/// A step that adds flags, with the whole command where ComfyUI is started by one, else with where the flags go.
fn started(step: Step, launch: Option<&Launch<'_>>, messages: &Messages<'_>) -> Step {
    let known = launch.filter(|launch| launch.at.is_some() || launch.has_line());
    let Some(launch) = known.filter(|_| step.command.is_none() && !step.flags.is_empty()) else { return step };
    let flags: Vec<&str> = step.flags.iter().map(String::as_str).collect();
    match launch.command(&flags).filter(|_| !launch.def.by_hand) {
        Some(command) => Step { command: Some(command), ..step },
        None => Step {
            text: messages.text("step-with-how", &[("step", &step.text), ("how", &launch.how(messages, &flags))]),
            ..step
        },
    }
}

/// The workaround of a known bug whose text stands in the same prompt, when the log has nothing else to go by.
fn possible_bug(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, others: &[Finding]) -> Option<Step> {
    let beside = |other: &&Finding| {
        other.id == Verdict::VersionBug && other.session == finding.session && other.prompt == finding.prompt
    };
    others.iter().filter(beside).find_map(|other| {
        let id = other.about.as_deref()?;
        let bug = messages.packs.bugs.iter().find(|bug| bug.id == id)?;
        let usable = bug.workaround_flags.iter().all(|flag| may_suggest(flag, view, messages));
        let workaround = messages.packs.prose_text("bug", id, "workaround", messages.zh).filter(|_| usable)?;
        let title = messages.packs.prose_text("bug", id, "title", messages.zh).unwrap_or(id);
        let text = messages.text("step-possible-bug", &[("title", title), ("text", workaround)]);
        Some(Step { flags: bug.workaround_flags.clone(), ..plain(text) })
    })
}

/// The bug's structure is what `finding` found.
fn explains(bug: &Finding, finding: &Finding, messages: &Messages<'_>) -> bool {
    let Some(structure) = finding.id.structure() else { return false };
    let def = messages.packs.bugs.iter().find(|def| Some(def.id.as_str()) == bug.about.as_deref());
    def.is_some_and(|def| def.structure.iter().any(|name| name == structure))
}

fn own_steps(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, places: &Places) -> Vec<Step> {
    if finding.id == Verdict::VersionBug {
        let steps = bug_steps(view, messages, finding);
        if !steps.is_empty() {
            return steps;
        }
        return vec![plain(messages.text("step-go-back", &[]))];
    }
    let about = finding.about.as_deref().unwrap_or_default();
    let named = messages.packs.remedies.iter().any(|remedy| remedy.acts_on.iter().any(|part| part == about));
    if let Some(def) = crate::hypothesis::notice::of(finding, messages).filter(|_| !named) {
        let usable = def.flags.iter().all(|flag| may_suggest(flag, view, messages));
        let text = messages.packs.prose_text("mention", &def.id, "step", messages.zh).filter(|_| usable);
        return text.map(|text| Step { flags: def.flags.clone(), ..plain(text.to_owned()) }).into_iter().collect();
    }
    if finding.id == Verdict::InsufficientEvidence && !named {
        return finding.settle.iter().map(|settle| plain(settle.clone())).collect();
    }
    let parts = parts(finding, view, messages);
    let tags = tags(view, messages, finding);
    let narrow = finding.id.has_only_own_remedies();
    let mut chosen: Vec<&RemedyDef> = messages
        .packs
        .remedies
        .iter()
        .filter(|remedy| {
            let acts = |part: &String| parts.contains(&part.as_str());
            let fits = if narrow { remedy.acts_on.iter().all(acts) } else { remedy.acts_on.iter().any(acts) };
            fits && open(remedy, view, messages, &tags)
        })
        .collect();
    chosen.sort_by_key(|remedy| {
        // A remedy made for this part goes before one that helps it besides.
        let first = |part: &&str| remedy.acts_on.first().is_some_and(|acts| acts == part);
        let main = finding.id == Verdict::ImportFailure || parts.first().is_some_and(first);
        (!main, remedy.order)
    });
    let mut groups: Vec<&str> = Vec::new();
    let filled = chosen.into_iter().filter_map(|remedy| {
        if groups.contains(&remedy.group.as_str()) {
            return None;
        }
        let step = step(remedy, messages, places)?;
        groups.extend((!remedy.group.is_empty()).then_some(remedy.group.as_str()));
        Some(step)
    });
    answer_step(finding, messages, places).into_iter().chain(filled).collect()
}

/// What helps against a known bug: the repaired version, then the workaround of its record.
fn bug_steps(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding) -> Vec<Step> {
    let id = finding.about.as_deref().unwrap_or_default();
    let Some(bug) = messages.packs.bugs.iter().find(|bug| bug.id == id) else { return Vec::new() };
    let mut steps = Vec::new();
    if let Some(fixed) = bug.fixed_in {
        steps.push(plain(messages.text("step-upgrade", &[("version", &fixed.to_string())])));
    }
    if finding.about.as_deref() == Some("comfy-aimdo-outdated") {
        steps.push(plain(messages.text("step-requirements", &[])));
    }
    // The flags exist in the versions that the bug affects; a log that does not tell its version can still be of one.
    let untold = view.span.exact.is_none();
    let free = |flag: &String| untold && !view.uses(flag);
    let usable = bug.workaround_flags.iter().all(|flag| may_suggest(flag, view, messages) || free(flag));
    if let Some(text) = messages.packs.prose_text("bug", id, "workaround", messages.zh)
        && usable
    {
        let text = if steps.is_empty() { text.to_owned() } else { messages.text("step-workaround", &[("text", text)]) };
        steps.push(Step { flags: bug.workaround_flags.clone(), ..plain(text) });
    }
    steps
}

fn plain(text: String) -> Step {
    Step { text, command: None, cost: None, flags: Vec::new(), remedy: None }
}

fn open(remedy: &RemedyDef, view: &Context<'_>, messages: &Messages<'_>, tags: &[String]) -> bool {
    let has = |tag: &String| tags.contains(tag);
    if !remedy.when.iter().all(has) || remedy.not_when.iter().any(has) {
        return false;
    }
    let idle = |name: &String| {
        if name.starts_with("--") {
            view.uses(name)
        } else {
            view.session.flag_fact(name) == Some(true) || (name == "dynamic_vram" && view.dynamic_vram == Some(true))
        }
    };
    if remedy.not_with.iter().any(idle) {
        return false;
    }
    if !remedy.drops.is_empty() && !remedy.drops.iter().any(|flag| view.uses(flag)) {
        return false;
    }
    let in_range = remedy.since.is_none_or(|since| view.span.overlaps(Since::At(since), None))
        && remedy.until.is_none_or(|until| view.span.overlaps(Since::Unknown, Some(until)));
    in_range && remedy.flags.iter().all(|flag| may_suggest(flag, view, messages))
}

/// The flag exists in every version this log can be from, does something there, and is not in use already.
pub fn may_suggest(flag: &str, view: &Context<'_>, messages: &Messages<'_>) -> bool {
    let name = flag.split(' ').next().unwrap_or(flag);
    let Some(def) = messages.packs.flag(name) else { return false };
    let used = view.uses(name);
    let idle = def.no_effect_with.iter().any(|cause| {
        if cause.starts_with("--") {
            view.uses(cause)
        } else {
            cause == "dynamic_vram" && view.dynamic_vram == Some(true) || view.session.flag_fact(cause) == Some(true)
        }
    });
    let clash = def.conflicts.iter().any(|other| view.uses(other));
    view.has_flag(def) && !used && !idle && !clash
}

/// What the answer to the finding's text tells to do.
fn answer_step(finding: &Finding, messages: &Messages<'_>, places: &Places) -> Option<Step> {
    let id = finding.answer.as_deref().or(finding.about.as_deref())?;
    let answer = messages.packs.answers.iter().find(|answer| answer.id == id)?;
    let text = messages.packs.prose_text("answer", &answer.id, "step", messages.zh).filter(|text| !text.is_empty())?;
    let command = Some(answer.command.as_str()).filter(|command| !command.is_empty());
    Some(Step { command: command.and_then(|command| places.command(command)), ..plain(places.sentence(text)?) })
}

/// The remedy for this log; `None` when the log does not tell what one of its places stands for.
fn step(remedy: &RemedyDef, messages: &Messages<'_>, places: &Places) -> Option<Step> {
    let text = |field: &str| messages.packs.prose_text("remedy", &remedy.id, field, messages.zh);
    let command = match remedy.command.as_str() {
        "" => None,
        command => Some(places.command(command)?),
    };
    Some(Step {
        text: places.sentence(text("text").unwrap_or(&remedy.id))?,
        command,
        cost: text("cost").map(str::to_owned),
        flags: remedy.flags.clone(),
        remedy: Some(remedy.id.clone()),
    })
}

/// Common steps that would not help here.
pub fn avoid(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, places: &Places) -> Vec<Avoid> {
    let parts = parts(finding, view, messages);
    let tags = tags(view, messages, finding);
    messages
        .packs
        .avoids
        .iter()
        .filter(|def| {
            let acts = def.acts_on.iter().any(|part| parts.contains(&part.as_str()));
            let in_range = def.since.is_none_or(|since| view.span.overlaps(Since::At(since), None))
                && def.until.is_none_or(|until| view.span.overlaps(Since::Unknown, Some(until)));
            acts && in_range && def.when.iter().all(|tag| tags.contains(tag))
        })
        .filter_map(|def| {
            let text = places.sentence(messages.packs.prose_text("avoid", &def.id, "text", messages.zh)?)?;
            let why = messages.packs.prose_text("avoid", &def.id, "why", messages.zh).unwrap_or_default();
            Some(Avoid { text, why: places.sentence(why)? })
        })
        .collect()
}
