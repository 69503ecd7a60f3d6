//! Why it is slow: where the time of prompts went, equal work compared, and silences with the lines around them.

mod prompts;

pub use prompts::drift;
use prompts::{comparison, main_bar, slowdown, slower, step};

use super::Case;
use super::context::Context;
use super::finding::{Basis, Figure, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, told};
use crate::catalog::messages::Messages;
use crate::catalog::{EventKind, FlagRole, SignDef, SignOf, Verdict};
use crate::text;
use crate::timeline::{Prompt, Silence, Steps};

/// The figure of a first prompt beside a later one.
pub const FIRST: &str = "first-prompt";
/// The word of `--asked` for it.
pub const WORD: &str = "slow";
/// So many times the seconds per step of equal work are a slowdown.
const STEP_SLOWER: f64 = 2.0;
/// The same of whole prompts, which hold other work too.
const PROMPT_SLOWER: f64 = 3.0;
/// So many times the first prompt's time is a slowdown from prompt to prompt, and so many prompts are told.
const DRIFT: f64 = 1.3;
const DRIFT_SHOWN: usize = 8;
/// Seconds below which a difference is none.
const WORTH: f64 = 5.0;
/// Seconds from which on a wait is told where somebody asked.
const WAIT: f64 = 20.0;
/// The same where nobody asked.
const LONG_WAIT: f64 = 120.0;
/// Part of a prompt's time that one silence must have taken.
const SHARE: f64 = 0.3;

/// What the log shows of slowness; `asked`: somebody wants to know.
pub fn answer(case: &Case<'_>, asked: bool) -> Option<Finding> {
    let (view, messages) = (case.view, case.messages);
    if let Some(slower) = slower(view) {
        return Some(slowdown(&slower, view, messages));
    }
    let least = if asked { WAIT } else { LONG_WAIT };
    let waits = [first_step(view, messages, least), silence(view, messages, least)];
    let wait = waits.into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, finding)) = wait {
        return Some(finding);
    }
    if asked {
        in_part(view, messages).or_else(|| spent(view, messages)).or_else(|| unknown(view, messages))
    } else {
        None
    }
}

/// The finding is about slowness itself.
pub fn is_about(finding: &Finding) -> bool {
    finding.id.is_empty() && finding.about.as_deref().is_some_and(|about| about.starts_with(WORD))
}

/// The numbers of this start show that equal work became slower.
pub fn is_shown(view: &Context<'_>) -> bool {
    slower(view).is_some()
}

/// The answer for the case that nothing is wrong gives way, and that of a log in the middle of a prompt where somebody
/// asked; a log of another program says nothing of slowness.
pub fn may_replace(quiet: &Finding, asked: bool) -> bool {
    let unread = matches!(quiet.about.as_deref(), Some(about) if about.starts_with("insufficient-not") || about == "insufficient-prefix" || about == "insufficient-empty" || about == "insufficient-broken-off");
    quiet.id == Verdict::NoFault || asked && !unread
}

/// A line for a report that answers something else.
pub fn note(view: &Context<'_>, messages: &Messages<'_>) -> Option<String> {
    if let Some(slower) = slower(view) {
        return Some(comparison(&slower, messages));
    }
    let prompt = slowest(view)?;
    budget_text(prompt, view, messages)
}

/// The wait before the first step of a bar.
fn first_step(view: &Context<'_>, messages: &Messages<'_>, least: f64) -> Option<(f64, Finding)> {
    let prompts = &view.session.prompt_list;
    let bars = prompts.iter().flat_map(|prompt| prompt.bars.iter().map(move |bar| (prompt, bar)));
    let waited = bars.filter_map(|(prompt, bar)| Some((prompt, bar, bar.before_first?)));
    let (prompt, bar, seconds) = waited.max_by(|a, b| a.2.total_cmp(&b.2)).filter(|(_, _, wait)| *wait >= least)?;
    let staged = |class: &&String| view.session.dynamic.get(class.as_str()).map_or(0.0, |dynamic| dynamic.staged_mib);
    let classes = prompt.prepared.keys().chain(prompt.requested.keys());
    let class = classes.max_by(|a, b| staged(a).total_cmp(&staged(b)));
    let (time, total) = (span(seconds, messages), bar.total.to_string());
    let mut values = vec![("time", time.as_str()), ("total", total.as_str())];
    let size;
    let key = match class {
        Some(class) => {
            size = staged(&class);
            values.push(("class", class.as_str()));
            if size > 0.0 { "slow-first-step-size" } else { "slow-first-step-class" }
        }
        None => {
            size = 0.0;
            "slow-first-step"
        }
    };
    let size = text::mib(size);
    values.push(("size", size.as_str()));
    let lines = class.and_then(|class| view.session.dynamic.get(class)).map(|dynamic| evidence(&dynamic.at, None));
    let figure =
        told("first-step", messages.text("figure-first-step", &[("time", &time)]), Basis::Measured, vec![bar.line]);
    let finding = FindingBuilder::new(
        Verdict::InsufficientEvidence,
        view.number,
        Status::NotAssessable,
        messages.text(key, &values),
    )
    .about("slow-first-step")
    .grade(Grade::Moderate, messages.text("grade-slow", &[]))
    .figures(vec![figure])
    .settle(messages.text("settle-slow-first-step", &[]))
    .because(lines.into_iter().collect());
    Some((seconds, finding))
}

/// What a silence is known for, by the lines around it.
fn known<'p>(silence: &Silence, messages: &Messages<'p>) -> Option<&'p SignDef> {
    let around = format!("{}\n{}", silence.from.text, silence.to.text);
    messages.packs.signs_of(SignOf::Silence).find(|sign| sign.fits(&around))
}

/// The longest silence between two stamped lines.
fn silence(view: &Context<'_>, messages: &Messages<'_>, least: f64) -> Option<(f64, Finding)> {
    let silence = view.session.silences.first().filter(|silence| silence.seconds >= least)?;
    let prompt = view.session.prompt_list.iter().find(|prompt| prompt.number == silence.prompt);
    let whole = prompt.and_then(|prompt| prompt.seconds);
    if whole.is_some_and(|whole| silence.seconds < whole * SHARE) {
        return None;
    }
    let sign = known(silence, messages);
    let during = sign.map(|sign| messages.text(&sign.says, &[])).unwrap_or_default();
    let vae = model_before(silence, view, messages).is_some_and(|(_, kind)| kind == Some("vae"));
    let about = match sign {
        Some(sign) => sign.is.as_str(),
        None if vae => "slow-vae",
        None => "slow-silence",
    };
    let (from, to) = (silence.from.place.line.to_string(), silence.to.place.line.to_string());
    let time = span(silence.seconds, messages);
    let class = model_before(silence, view, messages).map(|(class, _)| class).unwrap_or_default();
    let values = [("time", time.as_str()), ("from", &from), ("to", &to), ("during", &during), ("class", &class)];
    let key = match (sign, class.is_empty()) {
        (Some(_), _) => "slow-silence-known",
        (None, false) => "slow-silence-class",
        (None, true) => "slow-silence",
    };
    let mut figures: Vec<Figure> = prompt.into_iter().filter_map(|prompt| budget(prompt, view, messages)).collect();
    figures.extend(steps_figure(prompt, messages));
    let lines = [(&silence.from, "remark-silence-from"), (&silence.to, "remark-silence-to")];
    let finding = FindingBuilder::new(
        Verdict::InsufficientEvidence,
        view.number,
        Status::NotAssessable,
        messages.text(key, &values),
    )
    .about(about)
    .grade(Grade::Moderate, messages.text("grade-slow", &[]))
    .figures(figures)
    .settle(messages.text("settle-slow-again", &[]))
    .because(lines.into_iter().map(|(at, remark)| evidence(at, Some(messages.text(remark, &[])))).collect());
    Some((silence.seconds, finding))
}

/// The model that was loaded last before the silence, with its kind.
fn model_before<'p>(
    silence: &Silence,
    view: &Context<'_>,
    messages: &Messages<'p>,
) -> Option<(String, Option<&'p str>)> {
    let session = view.session;
    let before = |at: &crate::timeline::Evidence| at.place.line <= silence.from.place.line;
    let loads =
        session.loads.iter().filter_map(|(class, load)| Some((class, load.last.as_ref().or(load.first.as_ref())?)));
    let dynamic = session.dynamic.iter().map(|(class, dynamic)| (class, &dynamic.at));
    let last = loads.chain(dynamic).filter(|(_, at)| before(at)).max_by_key(|(_, at)| at.place.line)?;
    let near = silence.from.place.line.saturating_sub(last.1.place.line) <= 2;
    near.then(|| (last.0.clone(), super::classes::kind(messages.packs, last.0)))
}

/// Steps that ran in a prompt that the log does not show to its end, or whose time is not told.
fn steps_figure(prompt: Option<&Prompt>, messages: &Messages<'_>) -> Option<Figure> {
    let bar = main_bar(prompt.filter(|prompt| prompt.seconds.is_none())?)?;
    let (steps, each, time) = (bar.done.to_string(), step(bar), span(bar.seconds()?, messages));
    let values = [("steps", steps.as_str()), ("each", &each), ("time", &time)];
    Some(told("steps", messages.text("figure-steps", &values), Basis::Derived, vec![bar.line]))
}

/// A model that is only partly on the card: the rest is copied there in every step.
fn in_part(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let session = view.session;
    let partial = session.loads.iter().filter_map(|(class, load)| {
        let at = load.size_at.as_ref()?;
        let hit = messages.packs.matcher().find(at.text.as_bytes())?;
        let number = |name: &str| std::str::from_utf8(hit.captures.get(name)?.text).ok()?.parse::<f64>().ok();
        let size = number("loaded").or_else(|| number("usable"))?;
        (hit.rule.event == EventKind::LoadPartial).then_some((class, size, number("offloaded"), at))
    });
    let partial: Vec<_> = partial.collect();
    let is_model = |class: &str| super::classes::kind(messages.packs, class) == Some("diffusion");
    let chosen = partial.iter().find(|(class, ..)| is_model(class)).or(partial.first())?;
    let (class, loaded, offloaded, at) = chosen;
    let (size, rest) = (text::mib(*loaded), offloaded.map(text::mib).unwrap_or_default());
    let key = if offloaded.is_some() { "slow-in-part-rest" } else { "slow-in-part" };
    let values = [("class", class.as_str()), ("size", &size), ("rest", &rest)];
    let figures = slowest(view).and_then(|prompt| budget(prompt, view, messages)).into_iter().collect();
    let finding = FindingBuilder::new(Verdict::NoFault, view.number, Status::Confirmed, messages.text(key, &values))
        .about("slow-in-part")
        .grade(Grade::Moderate, messages.text("grade-slow", &[]))
        .figures(figures)
        .because(vec![evidence(at, None)]);
    Some(finding)
}

/// Where the time of the slowest prompt went, where nothing stands out.
fn spent(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let prompts: Vec<&Prompt> = view.session.prompt_list.iter().filter(|prompt| prompt.ended_well()).collect();
    // Where several ran, a later one tells what each costs; the first one reads files besides.
    let (first, prompt) = match prompts.as_slice() {
        [first, .., last] if prompts.len() > 2 => (Some(*first), *last),
        _ => (None, slowest(view)?),
    };
    let summary = budget_text(prompt, view, messages)?;
    let first = first.and_then(|first| budget(first, view, messages));
    let reloading =
        view.asks(FlagRole::Reloading).map(|flag| (flag, messages.text("slow-reloading", &[("flag", &flag.name)])));
    let mut lines: Vec<_> = prompt.executed_at.iter().map(|at| evidence(at, None)).collect();
    let mut figures: Vec<Figure> = Vec::new();
    if let Some((flag, text)) = reloading {
        lines.push(evidence(&flag.at, None));
        figures.push(told("reloading", text, Basis::Formula, vec![flag.at.place.line]));
    }
    figures.extend(first.map(|first| Figure { name: FIRST.to_owned(), ..first }));
    let cut = view.ending().is_some_and(|ending| ending.in_flight.is_some());
    let verdict = if cut { Verdict::InsufficientEvidence } else { Verdict::NoFault };
    let status = if cut { Status::NotAssessable } else { Status::Confirmed };
    let mut draft = FindingBuilder::new(verdict, view.number, status, summary)
        .about("slow-spent")
        .grade(Grade::Moderate, messages.text("grade-slow-spent", &[]))
        .figures(figures);
    if cut {
        draft = draft.settle(messages.text("settle-slow-cut", &[]));
    }
    Some(draft.because(lines))
}

/// Nothing tells any time.
fn unknown(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let asked = view.session.has_work() && view.ending().is_none_or(|ending| ending.in_flight.is_none());
    asked.then(|| {
        FindingBuilder::new(
            Verdict::InsufficientEvidence,
            view.number,
            Status::NotAssessable,
            messages.text("slow-unknown", &[]),
        )
        .about("slow-unknown")
        .grade(Grade::Moderate, messages.text("grade-slow-spent", &[]))
        .settle(messages.text("settle-slow-stamps", &[]))
        .because(view.timeline.last_text.iter().map(|at| evidence(at, None)).collect())
    })
}

fn slowest<'t>(view: &Context<'t>) -> Option<&'t Prompt> {
    let ran = view.session.prompt_list.iter().filter(|prompt| prompt.ended && !prompt.failed);
    ran.max_by(|a, b| a.seconds.unwrap_or(0.0).total_cmp(&b.seconds.unwrap_or(0.0)))
}

/// `Prompt 2 took 20 min 31 s: sampling …, loading …, the other … is …`.
fn budget_text(prompt: &Prompt, view: &Context<'_>, messages: &Messages<'_>) -> Option<String> {
    let whole = prompt.seconds?;
    let steps: f64 = prompt.bars.iter().filter_map(Steps::seconds).sum();
    let loads = prompt.load_seconds.unwrap_or(0.0).min(whole);
    let rest = (whole - steps - loads).max(0.0);
    let number = prompt.number.to_string();
    let (whole_text, steps_text) = (span(whole, messages), span(steps, messages));
    let (loads_text, rest_text) = (span(loads, messages), span(rest, messages));
    let bar = main_bar(prompt);
    let timed = prompt.bars.iter().filter(|bar| bar.seconds().is_some());
    let done: u64 = timed.map(|bar| bar.done).sum();
    let (count, each) = (done.to_string(), text::number(steps / done.max(1) as f64, 2));
    let values = [
        ("number", number.as_str()),
        ("whole", &whole_text),
        ("steps", &steps_text),
        ("loads", &loads_text),
        ("rest", &rest_text),
        ("count", &count),
        ("each", &each),
    ];
    let _ = view;
    let key = match (bar.is_some() && steps <= whole * 1.05, loads > 0.0) {
        (true, true) => "budget-steps-loads",
        (true, false) => "budget-steps",
        (false, true) => "budget-loads",
        (false, false) => "budget-whole",
    };
    Some(messages.text(key, &values))
}

fn budget(prompt: &Prompt, view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let text = budget_text(prompt, view, messages)?;
    Some(told("budget", text, Basis::Derived, vec![prompt.last_line]))
}

/// `52.6 s`, from a minute on `20 min 31 s (1231 s)`.
fn span(seconds: f64, messages: &Messages<'_>) -> String {
    if seconds < 60.0 {
        return messages.text("span-seconds", &[("s", &text::number(seconds, 1))]);
    }
    let whole = seconds.round();
    let (minutes, rest) = ((whole / 60.0).floor(), whole % 60.0);
    let number = |value: f64| text::number(value, 0);
    let all = if seconds < 600.0 { text::number(seconds, 1) } else { number(whole) };
    messages.text("span-minutes", &[("m", &number(minutes)), ("s", &number(rest)), ("all", &all)])
}
