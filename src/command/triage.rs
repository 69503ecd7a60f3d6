//! `triage`: each log is read, answered and shown; a log that cannot be read is told and does not stop the others.

use std::collections::BTreeSet;
use std::io;

use super::attend::{Attendant, INTERRUPTED};
use super::cleaning::{learn_all, tell};
use super::inputs::{Input, inputs};
use super::memory_limit::memory_limit_mib;
use super::near::hint;
use super::{Console, Ended, Exit};
use crate::answer::{Question, answer, read_clean, read_log};
use crate::cli::TriageArgs;
use crate::error::UsageError;
use crate::input::ReadOptions;
use crate::report::{Labels, Palette, Printer, View};
use crate::rule::Packs;
use crate::samples::{SamplesError, read_samples};

/// Runs the command.
pub(super) fn run(args: &TriageArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let (inputs, mut question) = match asked(args, console) {
        Ok(asked) => asked,
        Err(error) => return Ok(Err(error)),
    };
    if let Some(path) = &args.samples {
        let name = path.display().to_string();
        let read = std::fs::File::open(path)
            .map_err(|error| SamplesError::Unreadable { name: name.clone(), reason: error.to_string() });
        match read.and_then(|file| read_samples(&name, file)) {
            Ok(samples) => question.samples = Some(samples),
            Err(error) => {
                console.fault(&error)?;
                return Ok(Ok(Exit::Refused));
            }
        }
    }
    if let Some(path) = &args.env {
        match super::probe::env_limit_mib(path, console)? {
            // What the user typed counts more than what a file says.
            Ok(limit) if question.memory_limit_mib.is_none() => {
                question.limit_from_probe = limit.is_some();
                question.memory_limit_mib = limit;
            }
            Ok(_) => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    let mut packs = super::packs(&args.packs, console)?;
    if let Err(error) = check_verdicts(&args.fail_on, &packs) {
        return Ok(Err(error));
    }
    if args.redact {
        return redacted(args, &inputs, &question, &mut packs, console);
    }
    let view =
        View { width: console.around.width(), verbose: args.verbose, quiet: args.quiet, palette: Palette::COLOUR };
    let mut printer = Printer::new(args.format.into(), view, &packs, question.zh, inputs.len());
    let mut exit = Exit::Done;
    let attendant = Attendant::new(Labels::new(&packs, question.zh).plain("gap-stopped", &[]))?;
    for input in &inputs {
        let name = input.name();
        match attendant.open(input).and_then(|source| read_log(source, &packs, &ReadOptions::default())) {
            Ok(read) => {
                let report = answer(&name, &read, &packs, &question);
                if args.fail_on.contains(&report.verdict.primary) {
                    exit = exit.max(Exit::Failed);
                }
                printer.report(report, console.out)?;
            }
            Err(error) => {
                console.fault(&error)?;
                printer.unreadable(&name);
                exit = Exit::Refused;
            }
        }
        if attendant.stopped() {
            // What follows was not asked for any more; a script must not take this for the whole answer.
            exit = Exit::Passed(INTERRUPTED);
            break;
        }
    }
    printer.end(console.out)?;
    Ok(Ok(exit))
}

/// The same with logs that are gone through for what is private before anything of them is shown.
fn redacted(
    args: &TriageArgs,
    inputs: &[Input],
    question: &Question,
    packs: &mut Packs,
    console: &mut Console<'_>,
) -> io::Result<Ended> {
    let (logs, mut redactor, all) = learn_all(inputs, packs, console)?;
    packs.tell_places(|place| redactor.line(place));
    let view =
        View { width: console.around.width(), verbose: args.verbose, quiet: args.quiet, palette: Palette::COLOUR };
    let mut printer = Printer::new(args.format.into(), view, packs, question.zh, inputs.len());
    let mut exit = if all { Exit::Done } else { Exit::Refused };
    for log in &logs {
        let read = read_clean(&|| log.open(), packs, &ReadOptions::default(), &mut redactor);
        let name = redactor.line(&log.name);
        match read {
            Ok(read) => {
                let report = answer(&name, &read, packs, question);
                if args.fail_on.contains(&report.verdict.primary) {
                    exit = exit.max(Exit::Failed);
                }
                printer.report(report, console.out)?;
            }
            Err(error) => {
                console.fault(&error)?;
                printer.unreadable(&name);
                exit = Exit::Refused;
            }
        }
    }
    printer.end(console.out)?;
    // Of a log that was not read nothing can be told.
    if !logs.is_empty() {
        tell(&redactor, &Labels::new(packs, question.zh), console)?;
    }
    Ok(Ok(exit))
}

/// What to read and what to ask of it.
fn asked(args: &TriageArgs, console: &Console<'_>) -> Result<(Vec<Input>, Question), Box<UsageError>> {
    let question = Question {
        zh: super::chinese(&args.language, console),
        asked: args.asked.iter().map(|worry| worry.word().to_owned()).collect(),
        memory_limit_mib: args.memory_limit.as_deref().map(memory_limit_mib).transpose()?,
        ..Question::default()
    };
    Ok((inputs(&args.logs, console.around.stdin_is_terminal)?, question))
}

/// Refuses a `--fail-on` that could never be met.
fn check_verdicts(given: &[String], packs: &Packs) -> Result<(), Box<UsageError>> {
    let ranked = packs.precedence.iter().flat_map(|row| &row.verdicts).map(String::as_str);
    let known: BTreeSet<&str> = packs.verdicts.iter().map(|verdict| verdict.id.as_str()).chain(ranked).collect();
    let known: Vec<&str> = known.into_iter().collect();
    match given.iter().find(|id| !known.contains(&id.as_str())) {
        None => Ok(()),
        Some(id) => {
            let near = hint(id, &known, &format!("the verdicts are {}", known.join(", ")));
            Err(Box::new(UsageError::UnknownVerdict { given: id.clone(), near }))
        }
    }
}
