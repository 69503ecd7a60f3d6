//! Is a model still held that nothing should use? Reads the leak curve, not the number of lines.

mod summary;

use summary::{clone_summary, held_summary, several_summary};

use super::Case;
use super::classes::{is_core, label, name_tokens};
use super::context::Context;
use super::finding::{Basis, Candidate, EvidenceReport, Figure, Finding, Grade, RuledOut, Status};
use super::finding_builder::{FindingBuilder, evidence, figure, told};
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::text;
use crate::timeline::{CurvePoint, Leak};

/// Points of the curve that one line shows.
const CURVE_SHOWN: usize = 6;
/// Classes that the summary names.
const CLASSES_NAMED: usize = 4;

/// `leak-confirmed` when WARNINGs are there, `cycle-collected` when only the first text is.
pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    let leaks = &view.session.leaks;
    let mut held: Vec<(&String, &Leak)> = leaks.iter().filter(|(_, leak)| leak.warning > 0).collect();
    held.sort_by(|a, b| rank(b.1).cmp(&rank(a.1)).then_with(|| a.0.cmp(b.0)));
    let mut findings = Vec::new();
    if let Some((class, leak)) = held.first().copied() {
        findings.push(leak_finding(view, messages, class, leak, &held));
    }
    let cycles: Vec<(&String, &Leak)> = leaks
        .iter()
        .filter(|(_, leak)| leak.warning == 0 && leak.potential > 0 && !at_the_very_end(view, leak))
        .collect();
    if held.is_empty() && !cycles.is_empty() {
        findings.push(cycle_finding(view, messages, &cycles));
    }
    findings
}

fn rank(leak: &Leak) -> (u64, u64) {
    (leak.held_max.unwrap_or(0), leak.warning)
}

/// The log ends on the Potential line, so whether WARNINGs follow is not known.
fn at_the_very_end(view: &Context<'_>, leak: &Leak) -> bool {
    let last = view.timeline.last_text.as_ref().map(|last| last.place.line);
    leak.potential == 1 && leak.first_potential.as_ref().map(|at| at.place.line) == last
}

// Long: one finding, from its grounds to its lines; the sentence rests on all that was worked out above it.
fn leak_finding(
    view: &Context<'_>,
    messages: &Messages<'_>,
    class: &str,
    leak: &Leak,
    all: &[(&String, &Leak)],
) -> Finding {
    let passes = view.session.leak_passes;
    let released = leak.released_at.as_ref();
    let others_held = all.iter().any(|(_, other)| other.released_at.is_none() && other.held_last.unwrap_or(1) > 0);
    let gone = released.is_some() && !others_held;
    let k = leak.held_last.or(leak.held_max);
    let peak = leak.held_max.unwrap_or(0);
    let models = |n: u64| messages.count("model-one", "model-many", n, &[]);
    let held_classes: Vec<(&str, u64)> =
        all.iter().filter_map(|(class, leak)| leak.held_last.filter(|k| *k > 0).map(|k| (class.as_str(), k))).collect();
    let several = view.session.held_total.filter(|_| held_classes.len() > 1 && !gone);
    let clones = view.session.counts.device_clones.as_ref().filter(|_| !gone && !held_classes.is_empty());
    let summary = match (k, released) {
        _ if let Some(clones) = clones => clone_summary(messages, &held_classes, clones.first.place.line),
        _ if let Some((_, last, _)) = several => several_summary(view, messages, &held_classes, last),
        (_, Some(at)) if gone => messages.text(
            "leak-released",
            &[("models", &models(peak)), ("class", class), ("line", &at.place.line.to_string())],
        ),
        (None, _) => messages.text("leak-unknown-number", &[("class", class)]),
        (Some(k), _) => held_summary(view, messages, class, leak, k),
    };
    let (grade, reason) = match gone {
        true => (Grade::Weak, messages.text("grade-leak-released", &[])),
        false => {
            let sum_grew = several.is_some_and(|(first, last, _)| last > first);
            grade(view, messages, leak, sum_grew)
        }
    };
    let id = if gone { Verdict::LeakSuspected } else { Verdict::LeakConfirmed };
    let status = if gone { Status::Likely } else { Status::Confirmed };

    let mut lines: Vec<EvidenceReport> = Vec::new();
    if let Some(at) = &leak.first_potential {
        lines.push(evidence(
            at,
            Some(messages.count("remark-first-of-passes-one", "remark-first-of-passes", passes, &[])),
        ));
    }
    match &leak.last_pass {
        Some(at) => {
            let held = leak.held_last.filter(|k| *k > 0).unwrap_or(peak);
            let repeated = ("lines", &*leak.warning.to_string());
            let remark = match leak.warning > held {
                true => messages.count("remark-last-pass-one", "remark-last-pass", held, &[repeated]),
                false => messages.count("remark-only-pass-one", "remark-only-pass", held, &[]),
            };
            lines.push(evidence(at, Some(remark)));
        }
        None => {
            if let Some(at) = &leak.first_warning {
                lines.push(evidence(
                    at,
                    Some(messages.text("remark-warning-lines", &[("lines", &leak.warning.to_string())])),
                ));
            }
        }
    }
    if let Some(at) = released {
        lines.push(evidence(at, Some(messages.text("remark-released", &[]))));
    }
    let (candidates, mut against) = who(view, messages, class);
    if view.nodes_off()
        && let Some(at) = &view.session.nodes_disabled
    {
        lines.push(evidence(at, Some(messages.text("remark-nodes-off-core", &[]))));
    }
    if let Some(clone) = &view.session.counts.device_clones {
        against.push(super::finding_builder::counted(clone, Some(messages.text("remark-device-clone", &[]))));
    }
    let settle = match (view.nodes_off(), clones.is_some()) {
        (_, true) => "settle-leak-clone",
        (true, _) => "settle-leak-core",
        (false, _) => "settle-leak",
    };
    FindingBuilder::new(id, view.number, status, summary)
        .about(class)
        .grade(grade, reason)
        .against(against)
        .figures(figures(view, messages, class, leak, all))
        .candidates(candidates)
        .settle(messages.text(settle, &[]))
        .because(lines)
}

/// Ended prompts in which a pass told what is held: a later pass of one that runs may tell of more. From one alone,
/// growth cannot be told.
fn prompts_seen(view: &Context<'_>, leak: &Leak) -> usize {
    leak.curve.iter().filter(|point| point.held > 0 && Some(point.prompt) != running(view)).count()
}

/// The prompt that had not ended.
fn running(view: &Context<'_>) -> Option<u64> {
    view.session.prompt_list.last().filter(|prompt| !prompt.ended).map(|prompt| prompt.number)
}

/// MiB that the held models take, by the size of the class's last load, and the line that gave it.
fn held_mib(view: &Context<'_>, class: &str, leak: &Leak) -> Option<(f64, u64)> {
    let load = view.session.loads.get(class)?;
    let held = leak.held_last.filter(|held| *held > 0)?;
    Some((load.last_mib? * held as f64, load.size_at.as_ref()?.place.line))
}

/// Models more per prompt, by the ends of the curve, and over how many prompts.
fn growth_per_prompt(view: &Context<'_>, leak: &Leak) -> Option<(f64, u64)> {
    let held: Vec<&CurvePoint> = leak.curve.iter().filter(|point| point.held > 0).collect();
    // A prompt that runs may still tell of more.
    let ended = held.iter().filter(|point| Some(point.prompt) != running(view)).count();
    let told = if ended > 1 { held.get(..ended)? } else { &held };
    let (first, last) = (told.first()?, told.last()?);
    let prompts = last.prompt.checked_sub(first.prompt).filter(|prompts| *prompts > 0)?;
    Some(((last.held as f64 - first.held as f64) / prompts as f64, prompts + 1))
}

/// `sum_grew` tells whether more models of all classes together are held than at first.
fn grade(view: &Context<'_>, messages: &Messages<'_>, leak: &Leak, sum_grew: bool) -> (Grade, String) {
    if leak.held_max.is_none() {
        return (Grade::Moderate, messages.text("grade-leak-info-hidden", &[]));
    }
    if view.session.counts.device_clones.is_some() && leak.grew == 0 {
        return (Grade::Moderate, messages.text("grade-leak-device-clone", &[]));
    }
    if leak.grew > 0
        && let Some((_, prompts)) = growth_per_prompt(view, leak)
    {
        let (grew, prompts) = ((leak.grew + 1).to_string(), prompts.to_string());
        return (Grade::Strong, messages.text("grade-leak-grows", &[("grew", &grew), ("prompts", &prompts)]));
    }
    let passes = view.session.leak_passes;
    if passes > 1 {
        let steady = !sum_grew && prompts_seen(view, leak) > 1;
        let key = if steady { "grade-leak-steady" } else { "grade-leak-passes" };
        return (Grade::Strong, messages.text(key, &[("passes", &passes.to_string())]));
    }
    (Grade::Moderate, messages.text("grade-leak-once", &[]))
}

// Long: one entry for each figure, in the order in which they are shown.
fn figures(
    view: &Context<'_>,
    messages: &Messages<'_>,
    class: &str,
    leak: &Leak,
    all: &[(&String, &Leak)],
) -> Vec<Figure> {
    let mut figures = Vec::new();
    // Where several classes are held, the sum over all of them is what grows.
    let all_held = all.iter().filter(|(_, leak)| leak.held_last.is_some_and(|held| held > 0)).count();
    let curve = if all_held > 1 { &view.session.held_by_prompt } else { &leak.curve };
    if curve.len() > 1 {
        let point = |point: &CurvePoint| {
            messages.text("curve-point", &[("held", &point.held.to_string()), ("prompt", &point.prompt.to_string())])
        };
        let shown: Vec<String> = thin(curve).iter().map(point).collect();
        let lines = [curve.first(), curve.last()].into_iter().flatten().map(|point| point.line).collect();
        figures.push(told(
            "held-by-prompt",
            messages.text("figure-held", &[("curve", &shown.join(messages.list_mark()))]),
            Basis::Measured,
            lines,
        ));
    }
    let size = view.session.loads.get(class).and_then(|load| load.last_mib.zip(load.size_at.as_ref()));
    if let (Some((mib, at)), Some(k)) = (size, leak.held_last.filter(|k| *k > 0)) {
        let total = mib * k as f64;
        let line = at.place.line;
        let text = messages.text(
            "figure-held-memory",
            &[
                ("total", &text::mib(total)),
                ("k", &k.to_string()),
                ("size", &text::mib(mib)),
                ("line", &line.to_string()),
            ],
        );
        figures.push(figure("held-memory", text, Basis::Estimate, total, "MiB", vec![line]));
    }
    if let Some(kind) = label(messages, class) {
        let key = if is_core(messages.packs, class) { "figure-class-core" } else { "figure-class" };
        figures.push(told(
            "class-kind",
            messages.text(key, &[("class", class), ("kind", &kind)]),
            Basis::Derived,
            Vec::new(),
        ));
    }
    for (other, other_leak) in all.iter().skip(1).take(4) {
        let held = other_leak.held_last.map_or_else(|| "?".to_owned(), |held| held.to_string());
        let lines = other_leak.first_warning.iter().map(|at| at.place.line).collect();
        figures.push(told(
            "also-held",
            messages.text("figure-also-held", &[("class", other), ("k", &held)]),
            Basis::Measured,
            lines,
        ));
    }
    let clones = view.session.counts.device_clones.is_some();
    if let Some(at) = leak.first_warning.as_ref().filter(|_| !clones) {
        // What a log shows first is the first only where it shows the start.
        let begins = view.session.start.is_some();
        let new = what_was_new(view, leak).filter(|_| begins);
        let prompt = leak.first_prompt.to_string();
        let text = match new {
            Some((what, line)) => {
                messages.text("figure-began-new", &[("prompt", &prompt), ("what", &what), ("line", &line.to_string())])
            }
            None if begins => messages.text("figure-began", &[("prompt", &prompt)]),
            None => messages.text("figure-began-part", &[("prompt", &prompt)]),
        };
        figures.push(told("began", text, Basis::Measured, vec![at.place.line]));
    }
    figures
}

/// Class first requested in the prompt before the first warning: the call that leaked is an earlier one.
fn what_was_new(view: &Context<'_>, leak: &Leak) -> Option<(String, u64)> {
    let before = leak.first_prompt.checked_sub(1).filter(|prompt| *prompt > 1)?;
    let prompt = view.session.prompt_list.iter().find(|prompt| prompt.number == before)?;
    view.session.loads.iter().find_map(|(class, load)| {
        let first = load.first.as_ref()?;
        let line = first.place.line;
        (line >= prompt.first_line && line <= prompt.last_line).then(|| (class.clone(), line))
    })
}

fn thin(points: &[CurvePoint]) -> Vec<CurvePoint> {
    if points.len() <= CURVE_SHOWN {
        return points.to_vec();
    }
    let step = (points.len() - 1) as f64 / (CURVE_SHOWN - 1) as f64;
    (0..CURVE_SHOWN).filter_map(|index| points.get((index as f64 * step).round() as usize).copied()).collect()
}

/// Node packs with a reason to be suspected, and what speaks against custom nodes at all.
fn who(view: &Context<'_>, messages: &Messages<'_>, class: &str) -> (Vec<Candidate>, Vec<EvidenceReport>) {
    let mut candidates: Vec<Candidate> = Vec::new();
    if view.nodes_off() {
        return (candidates, Vec::new());
    }
    for node in view.packs_loaded() {
        let known = messages.packs.nodes.iter().find(|def| {
            def.dirs.iter().any(|dir| super::context::same_dir(dir, &node.dir))
                && matches!(def.verdict.as_str(), "node-fault" | "node-fault-repaired" | "open-report")
                && def.fault.to_lowercase().contains("model")
                && def.fault.to_lowercase().contains("leak")
        });
        let at = Some(super::finding_builder::place(&node.at.place, None));
        if let Some(def) = known {
            let key = match def.verdict.as_str() {
                "node-fault" => "candidate-known-fault",
                "node-fault-repaired" => "candidate-repaired",
                _ => "candidate-open-report",
            };
            candidates.push(Candidate {
                dir: node.dir.clone(),
                why: "known-fault".to_owned(),
                reason: messages.text(key, &[("checked", &def.checked), ("fixed", &def.fixed_in)]),
                at,
            });
        } else if !is_core(messages.packs, class)
            && name_tokens(class).iter().any(|token| node.dir.to_lowercase().contains(token.as_str()))
        {
            candidates.push(Candidate {
                dir: node.dir.clone(),
                why: "name-hint".to_owned(),
                reason: messages.text("candidate-name", &[("class", class)]),
                at,
            });
        }
    }
    (candidates, Vec::new())
}

fn cycle_finding(view: &Context<'_>, messages: &Messages<'_>, cycles: &[(&String, &Leak)]) -> Finding {
    let names: Vec<&str> = cycles.iter().map(|(class, _)| class.as_str()).take(3).collect();
    let names = names.join(", ");
    let passes: u64 = cycles.iter().map(|(_, leak)| leak.potential).sum();
    let mut lines = Vec::new();
    for (_, leak) in cycles.iter().take(3) {
        if let Some(at) = &leak.first_potential {
            let remark = messages.count("remark-first-of-passes-one", "remark-first-of-passes", leak.potential, &[]);
            lines.push(evidence(at, Some(remark)));
        }
    }
    let grade = if passes > 1 { Grade::Strong } else { Grade::Moderate };
    let reason = messages.count("grade-cycle-one", "grade-cycle", passes, &[]);
    FindingBuilder::new(
        Verdict::CycleCollected,
        view.number,
        Status::Confirmed,
        messages.text("cycle-summary", &[("class", &names)]),
    )
    .about(cycles.first().map_or("", |(class, _)| class.as_str()))
    .grade(grade, reason)
    .figures(vec![told(
        "cost",
        messages.text("figure-cycle-cost", &[("passes", &passes.to_string())]),
        Basis::Derived,
        Vec::new(),
    )])
    .because(lines)
}

/// Prompts ran in this start, and no leak text stands in it.
fn is_quiet(view: &Context<'_>) -> bool {
    view.session.leaks.is_empty() && view.session.last_executed.is_some()
}

/// No start prints a leak text although prompts ran.
pub fn rule_out(case: &Case<'_>) -> Vec<RuledOut> {
    let seen = case.views.iter().any(|other| !other.session.leaks.is_empty());
    if !is_quiet(case.view) || case.view.timeline.left_out.leaks.starts > 0 || seen {
        return Vec::new();
    }
    // Other starts that speak for it are counted as well.
    let quiet = case.views.iter().filter(|view| is_quiet(view));
    let prompts =
        case.messages.count("prompt-one", "prompt-many", quiet.map(|view| view.session.prompts.executed).sum(), &[]);
    let last = case.view.session.last_executed.iter().map(|at| evidence(at, None)).collect();
    vec![case.against(Verdict::LeakConfirmed, case.messages.text("not-leak", &[("prompts", &prompts)]), last)]
}
