//! Flags of the command line that do nothing here, exclude each other, hide what is asked about, or do not exist.

use super::tags;
use crate::catalog::messages::Messages;
use crate::catalog::{FlagDef, Since, Verdict};
use crate::hypothesis::context::Context;
use crate::hypothesis::finding::{Basis, Figure, Finding};
use crate::hypothesis::finding_builder::told;
use crate::timeline::{Evidence, Flag};

/// The rule that takes ComfyUI's own word for arguments that it does not know.
const REFUSED: &str = "unrecognized-arguments";
/// Lines of refusals that are named.
const LINES_NAMED: usize = 4;

/// A line for each flag of which there is something to say.
pub fn notes(view: &Context<'_>, messages: &Messages<'_>, chosen: &Finding) -> Vec<Figure> {
    let session = view.session;
    let mut notes: Vec<Figure> = Vec::new();
    let mut add = |flag: &Flag, text: Option<String>| {
        if let Some(text) = text {
            let mut lines = vec![flag.at.place.line];
            lines.dedup();
            notes.push(told("flag", text, Basis::Formula, lines));
        }
    };
    let mut told_of: Vec<&str> = Vec::new();
    for flag in &session.flags {
        let Some(def) = messages.packs.flag(&flag.name) else { continue };
        let other =
            def.conflicts.iter().filter(|_| !told_of.contains(&flag.name.as_str())).find(|name| view.uses(name));
        if let Some(other) = other {
            told_of.extend(session.flag(other).map(|other| other.name.as_str()));
            let values = [("flag", flag.name.as_str()), ("other", other.as_str())];
            add(flag, Some(messages.text("flag-conflict", &values)));
            continue;
        }
        let text = idle(flag, def, view, messages)
            .or_else(|| overridden(flag, def, view, messages))
            .or_else(|| gone(flag, def, view, messages))
            .or_else(|| hides(flag, view, messages, chosen))
            .or_else(|| kept(flag, def, messages, chosen));
        add(flag, text);
    }
    notes.extend(unknown(view, messages));
    notes
}

/// Arguments that ComfyUI refused before a later start went without them.
fn unknown(view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let refused = |at: &&Evidence| at.rule == REFUSED;
    let all: Vec<&Evidence> =
        view.timeline.sessions.iter().flat_map(|session| &session.error_notices).filter(refused).collect();
    let at = all.last()?;
    let hit = messages.packs.matcher().find(at.text.as_bytes())?;
    let arguments = String::from_utf8_lossy(hit.captures.get("arguments")?.text).into_owned();
    let text = messages.text("flags-unknown", &[("flags", &arguments)]);
    let mut lines: Vec<u64> = all.iter().map(|at| at.place.line).collect();
    lines.truncate(LINES_NAMED);
    Some(told("flags-unknown", text, Basis::Measured, lines))
}

/// A fact or a flag holds here; `None` where the log does not tell.
fn holds(name: &str, view: &Context<'_>) -> Option<bool> {
    if name.starts_with("--") {
        // A command line that is shown is shown whole.
        return Some(view.uses(name));
    }
    if name == "dynamic_vram" {
        return view.dynamic_vram;
    }
    view.session.fact(name).map(|_| view.session.flag_fact(name).unwrap_or(true))
}

/// What the packs call a fact that decides over a flag.
fn name_of(name: &str, messages: &Messages<'_>) -> String {
    let id = format!("flag-fact-{}", name.replace('_', "-"));
    if name.starts_with("--") { name.to_owned() } else { messages.text(&id, &[]) }
}

fn idle(flag: &Flag, def: &FlagDef, view: &Context<'_>, messages: &Messages<'_>) -> Option<String> {
    let since = def.no_effect_since.is_none_or(|since| view.span.at_least(since) || view.dynamic_vram == Some(true));
    let with = def.no_effect_with.iter().filter(|_| since).find(|name| holds(name, view) == Some(true));
    if let Some(name) = with {
        let line = view.session.fact(name).map(|fact| fact.at.place.line.to_string());
        let what = name_of(name, messages);
        let values = [("flag", flag.name.as_str()), ("what", &what), ("line", line.as_deref().unwrap_or_default())];
        return Some(messages.text(if line.is_some() { "flag-idle-line" } else { "flag-idle" }, &values));
    }
    let lacks = def.needs.iter().find(|name| holds(name, view) == Some(false))?;
    Some(messages.text("flag-idle-without", &[("flag", &flag.name), ("what", &name_of(lacks, messages))]))
}

/// Where nothing is wrong, memory that stays in use is what the flag asks for.
fn kept(flag: &Flag, def: &FlagDef, messages: &Messages<'_>, chosen: &Finding) -> Option<String> {
    let asks = def.residency.is_some() && chosen.id == Verdict::NoFault;
    let note = messages.packs.prose_text("flag", &def.name, "note", messages.zh)?;
    asks.then(|| messages.text("flag-kept", &[("flag", &flag.name), ("note", note)]))
}

fn overridden(flag: &Flag, def: &FlagDef, view: &Context<'_>, messages: &Messages<'_>) -> Option<String> {
    let since = def.overridden_since.is_none_or(|since| view.span.at_least(since));
    let by = def.overridden_by.iter().filter(|_| since).find(|name| view.uses(name))?;
    Some(messages.text("flag-overridden", &[("flag", &flag.name), ("other", by)]))
}

/// The version that wrote the log does not have it.
fn gone(flag: &Flag, def: &FlagDef, view: &Context<'_>, messages: &Messages<'_>) -> Option<String> {
    let exact = view.span.exact?;
    let version = exact.to_string();
    if let Some(until) = def.until.filter(|until| exact > *until) {
        let until = until.to_string();
        return Some(messages.text("flag-gone", &[("flag", &flag.name), ("version", &version), ("until", &until)]));
    }
    match def.since {
        Since::At(since) if exact < since => {
            let since = since.to_string();
            Some(messages.text("flag-not-yet", &[("flag", &flag.name), ("version", &version), ("since", &since)]))
        }
        _ => None,
    }
}

/// It changes what the log shows of the very thing that the report is about.
fn hides(flag: &Flag, view: &Context<'_>, messages: &Messages<'_>, chosen: &Finding) -> Option<String> {
    let parts = tags::parts(chosen, view, messages);
    let def = messages.packs.avoids.iter().find(|avoid| {
        avoid.flags.contains(&flag.name) && avoid.acts_on.iter().any(|part| parts.contains(&part.as_str()))
    })?;
    let in_range = def.since.is_none_or(|since| view.span.at_least(since));
    let why = messages.packs.prose_text("avoid", &def.id, "why", messages.zh).filter(|_| in_range)?;
    Some(messages.text("flag-hides", &[("flag", &flag.name), ("why", why)]))
}
