//! `bisect step`: the log of a round is read and judged, and the next round asked for.

use std::path::Path;

use super::fault::BisectError;
use super::rounds::{change, show_last};
use super::state::{Line, Mark, Reason, Record, State};
use super::{Console, Desk, Did};
use crate::bisect::Next;
use crate::cli::StepArgs;
use crate::diagnosis::{Context, same_dir};
use crate::input::{ReadOptions, Source};
use crate::report::bisection::{Expected, Observation, Observed, observe};
use crate::report::{self, Question, Read, Report, read_log};
use crate::samples::{SamplesError, read_samples};
use crate::system::Kind;

/// A log with its report.
pub(super) struct Judged {
    pub(super) name: String,
    pub(super) read: Read,
    pub(super) report: Report,
}

/// Reads a log and what was taken beside it.
pub(super) fn read(desk: &Desk<'_>, log: &Path, samples: Option<&Path>) -> Result<Judged, BisectError> {
    let name = log.display().to_string();
    let samples = samples.map(|path| {
        let name = path.display().to_string();
        let file = std::fs::File::open(path)
            .map_err(|error| SamplesError::Unreadable { name: name.clone(), reason: error.to_string() });
        file.and_then(|file| read_samples(&name, file))
    });
    let question = Question { zh: desk.zh, samples: samples.transpose()?, here: Kind::HERE, ..Question::default() };
    let source =
        if log.as_os_str() == "-" { Source::stdin(desk.bounds)? } else { Source::open_within(log, desk.bounds)? };
    let read = read_log(source, desk.packs, &ReadOptions::default())?;
    let report = report::answer(&name, &read, desk.packs, &question);
    Ok(Judged { name, read, report })
}

/// Runs the command.
pub(super) fn step(desk: &Desk<'_>, args: &StepArgs, console: &mut Console<'_>) -> Did {
    let told = read(desk, &args.log, args.samples.as_deref()).and_then(|log| {
        change(desk, |state| {
            let record = if args.as_is { as_it_is(desk, state, &log)? } else { as_asked(desk, state, &log)? };
            state.rounds.push(record);
            Ok(())
        })
    });
    match told {
        Ok(state) => show_last(desk, &state, console).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

/// The round that was asked for, by its log.
pub(super) fn as_asked(desk: &Desk<'_>, state: &State, log: &Judged) -> Result<Record, BisectError> {
    let Next::Run { on, why, .. } = state.next() else { return Err(BisectError::Finished) };
    Ok(judge(desk, state, log, &state.names(&on), Reason::of(&why)))
}

/// A round that nobody asked for: whichever packs its log shows.
fn as_it_is(desk: &Desk<'_>, state: &State, log: &Judged) -> Result<Record, BisectError> {
    let session = log.read.timeline.sessions.last().ok_or(BisectError::AsIs)?;
    // Folders that ship with ComfyUI are no packs of the install, so they drop out here.
    let loaded: Vec<&str> = session.nodes.iter().map(|node| node.dir.as_str()).collect();
    let packs = &state.install.packs;
    let on = packs.iter().map(|pack| &pack.dir).filter(|dir| loaded.iter().any(|loaded| same_dir(loaded, dir)));
    let record = judge(desk, state, log, &on.cloned().collect::<Vec<_>>(), Reason::AsIs);
    if matches!(record.seen, Mark::Bad | Mark::Good) { Ok(record) } else { Err(BisectError::AsIs) }
}

fn judge(desk: &Desk<'_>, state: &State, log: &Judged, on: &[String], why: Reason) -> Record {
    let messages = desk.messages();
    let symptom = state.symptom();
    let expected = Expected {
        on,
        packs: &state.install.packs,
        baseline: &state.install.baseline,
        symptom: &symptom,
        prompts: state.prompts,
    };
    let timeline = &log.read.timeline;
    let view = timeline.sessions.len().checked_sub(1).and_then(|last| Context::of(timeline, last, &messages, None));
    let told = match view {
        Some(view) => observe(&view, &log.report, &expected, &messages),
        None => Observation {
            seen: Observed::Void,
            on: Vec::new(),
            broken: Vec::new(),
            steady: None,
            reason: messages.text("bisect-no-table", &[]),
            evidence: Vec::new(),
        },
    };
    let (seen, keep) = match told.seen {
        Observed::Bad => (Mark::Bad, Vec::new()),
        Observed::Good => (Mark::Good, Vec::new()),
        Observed::CannotRun { keep } => (Mark::CannotRun, keep),
        Observed::Void => (Mark::Void, Vec::new()),
    };
    // What did not count was still asked for.
    let on = if seen == Mark::Void { on.to_vec() } else { told.on };
    let lines = told.evidence.iter().map(|line| Line { line: line.at.line, text: line.text.clone() }).collect();
    Record {
        why,
        on,
        seen,
        keep,
        broken: told.broken,
        steady: told.steady,
        script_status: None,
        reason: told.reason,
        log: Some(log.name.clone()),
        lines,
    }
}
