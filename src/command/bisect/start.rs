//! `bisect start`: packs, symptom and way of starting come from a log with the symptom in it; then the plan.

use super::fault::BisectError;
use super::state::{FORMAT, State};
use super::step::{Judged, read};
use super::{Console, Desk, Did, write};
use crate::cli::StartArgs;
use crate::command::near::hint;
use crate::diagnosis::{Context, same_dir};
use crate::report::bisection::{Pack, Symptom, SymptomSeen, install, look};

/// Prompts at least per round, and at most: a leak shows in the prompt after it at the earliest.
const FEWEST: u64 = 3;
const MOST: u64 = 50;

/// Runs the command.
pub(super) fn start(desk: &Desk<'_>, args: &StartArgs, console: &mut Console<'_>) -> Did {
    let begun = begin(desk, args);
    match begun {
        Ok(state) => {
            let show = desk.show(&state);
            let mut told = show.plan(&desk.store.path().display().to_string());
            told.extend(show.stand());
            write(&told, console).map(Ok)
        }
        Err(error) => Ok(Err(error)),
    }
}

fn begin(desk: &Desk<'_>, args: &StartArgs) -> Result<State, BisectError> {
    let lock = desk.store.lock()?;
    let replaces = desk.store.exists();
    if replaces && !args.force {
        return Err(BisectError::Exists { path: desk.store.path().display().to_string() });
    }
    let log = read(desk, &args.log, args.samples.as_deref())?;
    let mut state = first_state(desk, args, &log)?;
    // Only now: with a log that does not do, the old session stays.
    if replaces {
        desk.store.replace_session(&mut state, &lock)?;
    } else {
        desk.store.save(&mut state, &lock)?;
    }
    Ok(state)
}

fn first_state(desk: &Desk<'_>, args: &StartArgs, log: &Judged) -> Result<State, BisectError> {
    let messages = desk.messages();
    let timeline = &log.read.timeline;
    let view = timeline.sessions.len().checked_sub(1).and_then(|last| Context::of(timeline, last, &messages, None));
    let Some(view) = view else { return Err(BisectError::NoPacks) };
    if view.nodes_off() {
        return Err(BisectError::NodesOff);
    }
    let symptom = match &args.symptom {
        Some(given) => given.parse().map_err(|()| BisectError::Symptom { given: given.clone() })?,
        None => Symptom::of(&log.report).ok_or(BisectError::NoSymptom)?,
    };
    let sight = look(view.session, &log.report, &symptom);
    if !sight.seen && symptom != Symptom::Manual {
        return Err(BisectError::NotShown { symptom: symptom.to_string() });
    }
    let mut install = install(&view, desk.packs);
    if install.packs.is_empty() {
        return Err(BisectError::NoPacks);
    }
    install.packs.sort_by(|a, b| a.dir.cmp(&b.dir));
    let mut keep = packs_named(&args.keep, &install.packs)?;
    // The pack whose import fails must be there to fail.
    if let Symptom::Import(Some(dir)) = &symptom
        && let Some(pack) = install.packs.iter().find(|pack| same_dir(&pack.dir, dir))
        && !keep.contains(&pack.dir)
    {
        keep.push(pack.dir.clone());
    }
    let steady = args.runs.map_or(sight.steady, |runs| runs == 1);
    let unsettled = args.runs.is_none() && !steady && (sight.may_be_steady || symptom == Symptom::Manual);
    Ok(State {
        format: FORMAT,
        revision: 0,
        log: log.name.clone(),
        symptom: symptom.to_string(),
        // Readings show growth, not a line.
        symptom_line: sight.evidence.first().filter(|_| symptom != Symptom::Growth).map(|line| line.at.line),
        prompts: prompts(&sight, steady, unsettled, view.session.prompts.executed),
        steady,
        unsettled,
        runs: args.runs.unwrap_or(1),
        keep,
        install,
        rounds: Vec::new(),
    })
}

/// The folders that `given` means, each once.
pub(super) fn packs_named(given: &[String], packs: &[Pack]) -> Result<Vec<String>, BisectError> {
    let mut named: Vec<String> = Vec::new();
    for given in given {
        match packs.iter().find(|pack| same_dir(&pack.dir, given)) {
            Some(pack) if named.contains(&pack.dir) => {}
            Some(pack) => named.push(pack.dir.clone()),
            None => {
                let known: Vec<&str> = packs.iter().map(|pack| pack.dir.as_str()).collect();
                let near = hint(given, &known, "the log lists the packs with their import times");
                return Err(BisectError::Keep { given: given.clone(), near });
            }
        }
    }
    Ok(named)
}

/// Prompts in which the symptom had time to show, by the first log.
fn prompts(sight: &SymptomSeen, steady: bool, unsettled: bool, ran: u64) -> u64 {
    match sight.first_prompt {
        // The first prompt that may show it, and enough behind it to see whether each does.
        Some(first) if unsettled => (first + FEWEST - 1).clamp(FEWEST, MOST),
        _ if unsettled => ran.clamp(FEWEST, MOST),
        Some(first) if steady => (first + 1).clamp(FEWEST.min(ran.max(1)), MOST),
        _ => ran.clamp(1, MOST),
    }
}
