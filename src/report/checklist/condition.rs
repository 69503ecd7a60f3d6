//! The three conditions before an issue is worth opening, each from lines of the logs or with what is missing.

use super::case::Case;
use super::{Condition, Piece, State};
use crate::catalog::{FlagRole, Verdict};
use crate::diagnosis::{Launch, Messages};
use crate::report::comparison::SeenIn;
use crate::report::report::{Finding, Step};

/// Prompts of one session that must show it, to call it repeated.
const REPEATS: u64 = 3;

fn condition(
    id: &str,
    state: State,
    reason: String,
    evidence: Vec<SeenIn>,
    supply: Vec<Step>,
    messages: &Messages<'_>,
) -> Condition {
    let title = messages.text(&format!("checklist-{id}"), &[]);
    Condition { id: id.to_owned(), state, title, reason, evidence, items: Vec::new(), supply }
}

/// It is the newest version that is known here: the first thing that the form asks for.
pub(super) fn newest(main: &Case<'_>, messages: &Messages<'_>) -> Condition {
    let id = "newest";
    let Some(newest) = messages.packs.releases.last() else {
        return condition(
            id,
            State::CannotTell,
            messages.text("checklist-newest-unknown", &[]),
            Vec::new(),
            Vec::new(),
            messages,
        );
    };
    let latest = newest.version.to_string();
    let Some(own) = main.printed_version().or(main.view.span.from) else {
        let reason = messages.text("checklist-newest-no-version", &[("newest", &latest), ("date", &newest.date)]);
        return condition(id, State::CannotTell, reason, Vec::new(), Vec::new(), messages);
    };
    let shown = main.version();
    let values = [("own", shown.as_str()), ("newest", latest.as_str()), ("date", newest.date.as_str())];
    let lines = main.session().fact("comfyui_version").map(|fact| main.seen(&fact.at, None)).into_iter().collect();
    if own >= newest.version {
        return condition(id, State::Met, messages.text("checklist-newest-met", &values), lines, Vec::new(), messages);
    }
    let text = messages.text("checklist-supply-newest", &values);
    let supply = Step { text, command: None, cost: None, flags: Vec::new(), remedy: None };
    condition(id, State::NotMet, messages.text("checklist-newest-old", &values), lines, vec![supply], messages)
}

/// A start without custom nodes, of the same version, still shows it.
// Long: one decision, read from the top: each branch rests on all those above it.
pub(super) fn clean_start(
    cases: &[Case<'_>],
    main: &Case<'_>,
    launch: Option<&Launch<'_>>,
    messages: &Messages<'_>,
) -> Condition {
    let id = "clean-start";
    let Some(problem) = main.problem() else {
        return condition(
            id,
            State::CannotTell,
            messages.text("checklist-nothing", &[]),
            Vec::new(),
            Vec::new(),
            messages,
        );
    };
    let clean: Vec<&Case<'_>> =
        cases.iter().filter(|case| case.without_packs() && matches!(case.role, "main" | "clean")).collect();
    let off = |case: &Case<'_>| {
        case.without_packs_at().map(|at| case.seen(at, Some(messages.text("checklist-remark-off", &[]))))
    };
    for case in &clean {
        if let Some(line) = case.shows(problem) {
            let lines = off(case).into_iter().chain([SeenIn { run: case.number, line: line.clone() }]).collect();
            return condition(id, State::Met, messages.text("checklist-clean-met", &[]), lines, Vec::new(), messages);
        }
    }
    let mut evidence: Vec<SeenIn> = Vec::new();
    let mut why = None;
    for case in &clean {
        let ran = case.session().prompts.executed;
        let needed = needed(main, problem);
        evidence.extend(off(case));
        evidence.extend(
            case.session()
                .last_executed
                .as_ref()
                .map(|at| case.seen(at, Some(messages.text("checklist-remark-end", &[])))),
        );
        let class = problem.about.as_deref().filter(|_| problem.id.is_leak());
        let missing = class
            .filter(|class| !case.session().loads.contains_key(*class) && !case.session().dynamic.contains_key(*class));
        why = Some(match missing {
            _ if ran < needed => (
                State::CannotTell,
                messages.text("checklist-clean-short", &[("n", &ran.to_string()), ("needed", &needed.to_string())]),
            ),
            Some(class) => (State::CannotTell, messages.text("checklist-clean-not-loaded", &[("class", class)])),
            None => (State::NotMet, messages.text("checklist-clean-gone", &[("n", &ran.to_string())])),
        });
        if why.as_ref().is_some_and(|(state, _)| *state == State::NotMet) {
            break;
        }
    }
    let other = cases.iter().find(|case| case.role == "clean-other-version");
    let (state, reason) = match (why, other) {
        (Some(why), _) => why,
        (None, Some(case)) => {
            evidence.extend(off(case));
            (
                State::CannotTell,
                messages
                    .text("checklist-clean-other-version", &[("version", &case.version()), ("own", &main.version())]),
            )
        }
        (None, None) => (State::CannotTell, messages.text("checklist-clean-none", &[])),
    };
    let supply = if state == State::CannotTell {
        // Of the version at hand where it is told, so that the flag exists there.
        let version = main.view.span.exact;
        let off = version.and_then(|version| messages.packs.flag_in(FlagRole::NodesOff, version));
        let off = off.or_else(|| messages.packs.flag_for(FlagRole::NodesOff));
        let flags: Vec<&str> = off.map(|flag| flag.name.as_str()).into_iter().collect();
        vec![step(launch, &flags, "checklist-supply-clean", messages)]
    } else {
        Vec::new()
    };
    condition(id, state, reason, evidence, supply, messages)
}

/// Prompts after which it can be seen at all.
fn needed(main: &Case<'_>, problem: &Finding) -> u64 {
    let leak = problem.about.as_ref().and_then(|class| main.session().leaks.get(class));
    leak.filter(|_| problem.id.is_leak()).map_or(1, |leak| leak.first_prompt.max(2))
}

/// How to start with `flags` in it, for this way of starting.
pub(super) fn step(launch: Option<&Launch<'_>>, flags: &[&str], sentence: &str, messages: &Messages<'_>) -> Step {
    let how = launch.filter(|launch| !launch.has_line()).map(|launch| launch.how(messages, flags)).unwrap_or_default();
    let text = messages.text(sentence, &[("flags", &flags.join(" ")), ("how", &how)]).trim_end().to_owned();
    let command = launch.and_then(|launch| launch.command(flags));
    Step { text, command, cost: None, flags: flags.iter().map(|flag| (*flag).to_owned()).collect(), remedy: None }
}

/// The same version shows it again.
// Long: one decision, read from the top: each branch rests on all those above it.
pub(super) fn repeats(
    cases: &[Case<'_>],
    main: &Case<'_>,
    launch: Option<&Launch<'_>>,
    messages: &Messages<'_>,
) -> Condition {
    let id = "repeats";
    let again = || vec![step(launch, &[], "checklist-supply-repeat", messages)];
    let Some(problem) = main.problem() else {
        return condition(
            id,
            State::CannotTell,
            messages.text("checklist-nothing", &[]),
            Vec::new(),
            Vec::new(),
            messages,
        );
    };
    if main.view.span.is_unknown() {
        return condition(
            id,
            State::CannotTell,
            messages.text("checklist-repeats-version", &[]),
            Vec::new(),
            again(),
            messages,
        );
    }
    let own = main.shows(problem).map(|line| SeenIn { run: main.number, line: line.clone() });
    let others = cases.iter().filter(|case| matches!(case.role, "repeat" | "clean"));
    if let Some((case, line)) = others.clone().find_map(|case| case.shows(problem).map(|line| (case, line))) {
        let lines = own.into_iter().chain([SeenIn { run: case.number, line: line.clone() }]).collect();
        return condition(
            id,
            State::Met,
            messages.text("checklist-repeats-log", &[("version", &main.version())]),
            lines,
            Vec::new(),
            messages,
        );
    }
    let same_packs = |case: &&Case<'_>| case.packs() == main.packs();
    if let Some(case) = others
        .clone()
        .filter(same_packs)
        .find(|case| case.role == "repeat" && case.session().prompts.executed >= needed(main, problem))
    {
        let lines = case
            .session()
            .last_executed
            .iter()
            .map(|at| case.seen(at, Some(messages.text("checklist-remark-end", &[]))))
            .collect();
        return condition(id, State::NotMet, messages.text("checklist-repeats-not", &[]), lines, Vec::new(), messages);
    }
    let prompts = seen_in_prompts(main, problem);
    if prompts >= REPEATS {
        let reason =
            messages.text("checklist-repeats-prompts", &[("n", &prompts.to_string()), ("version", &main.version())]);
        return condition(id, State::Met, reason, own.into_iter().collect(), Vec::new(), messages);
    }
    // Another set of packs is another experiment: that it did not show there is no failed repeat.
    let elsewhere = others.clone().any(|case| case.role == "repeat" && !same_packs(&case));
    let reason = if elsewhere { "checklist-repeats-other-packs" } else { "checklist-repeats-once" };
    condition(id, State::CannotTell, messages.text(reason, &[]), own.into_iter().collect(), again(), messages)
}

/// Prompts of the main session in which it is seen.
fn seen_in_prompts(main: &Case<'_>, problem: &Finding) -> u64 {
    let session = main.session();
    match problem.id {
        verdict if verdict.is_leak() => {
            problem.about.as_ref().and_then(|class| session.leaks.get(class)).map_or(0, |leak| leak.prompts_held)
        }
        Verdict::ReloadEachPrompt => session.loads.values().map(|load| load.reload_prompts).max().unwrap_or(0),
        _ => session.prompts.failed,
    }
}

/// Everything that people ask back is there.
pub(super) fn complete(main: &Case<'_>, pieces: Vec<Piece>, messages: &Messages<'_>) -> Condition {
    let missing: Vec<&Piece> = pieces.iter().filter(|piece| piece.state == "missing").collect();
    let names: Vec<String> = missing.iter().map(|piece| piece.label.clone()).collect();
    let (state, reason) = match names.is_empty() {
        true => (State::Met, messages.text("checklist-complete-met", &[])),
        false => (
            State::NotMet,
            messages.text("checklist-complete-missing", &[("what", &names.join(&messages.text("label-and", &[])))]),
        ),
    };
    let supply = missing.iter().filter_map(|piece| piece.supply.clone().map(|supply| (piece.label.clone(), supply)));
    let supply = supply
        .map(|(label, text)| Step {
            text: format!("{label}: {text}"),
            command: None,
            cost: None,
            flags: Vec::new(),
            remedy: None,
        })
        .collect();
    let evidence = main.session().fact("total_ram_mib").map(|fact| main.seen(&fact.at, None)).into_iter().collect();
    Condition { items: pieces, ..condition("complete", state, reason, evidence, supply, messages) }
}
