//! `triage`: each log is read, answered and shown; a log that cannot be read is told and does not stop the others.

use std::io;
use std::mem::ManuallyDrop;

use super::attend::Attendant;
use super::call::Call;
use super::cleaning::{learn_all, tell};
use super::inputs::Input;
use super::near::hint;
use super::probe::{ask_with_env, samples};
use super::{Console, Ended, Exit};
use crate::answer::{Question, Read, answer, read_clean, read_log};
use crate::cli::TriageArgs;
use crate::error::UsageError;
use crate::input::{InputError, ReadOptions};
use crate::report::{Labels, Printer, View};
use crate::rule::{Packs, Verdict};

/// Runs the command.
pub(super) fn run(args: &TriageArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let Call { inputs, memory_limit_mib } = match Call::of(&args.logs, &args.question.limit, console) {
        Ok(call) => call,
        Err(error) => return Ok(Err(error)),
    };
    let zh = super::chinese(&args.report.language, console);
    let mut question = Question { zh, asked: args.question.worries.words(), memory_limit_mib, ..Question::default() };
    match args.samples.as_deref().map(samples).transpose() {
        Ok(samples) => question.samples = samples,
        Err(error) => {
            console.fault(&error)?;
            return Ok(Ok(Exit::Refused));
        }
    }
    if let Err(error) = ask_with_env(&mut question, args.question.env.as_deref(), console)? {
        return Ok(Err(error));
    }
    // The process ends right after; taking thousands of rules apart before would be a tenth of a short run.
    let mut packs = ManuallyDrop::new(super::packs(&args.report.packs, console)?);
    if let Err(error) = check_verdicts(&args.fail_on) {
        return Ok(Err(error));
    }
    if args.privacy.redact {
        return redacted(args, &inputs, &question, &mut packs, console);
    }
    let attendant = Attendant::new(&Labels::new(&packs, zh))?;
    let mut telling = Telling::new(args, &question, &packs, inputs.len(), console);
    for input in &inputs {
        let read = attendant.open(input).and_then(|source| read_log(source, &packs, &ReadOptions::default()));
        telling.one(&input.name(), read, console)?;
        if telling.ends(&attendant) {
            break;
        }
    }
    telling.end(console).map(Ok)
}

/// The same with logs that are gone through for what is private before anything of them is shown.
fn redacted(
    args: &TriageArgs,
    inputs: &[Input],
    question: &Question,
    packs: &mut Packs,
    console: &mut Console<'_>,
) -> io::Result<Ended> {
    let attendant = Attendant::new(&Labels::new(packs, question.zh))?;
    let (logs, mut redactor, all) = learn_all(inputs, packs, &attendant, console)?;
    if logs.iter().any(|log| log.is_half_known()) {
        // A name that only a late line gives away would stand in the report.
        console.fault(&UsageError::StoppedBeforeKnown)?;
        return Ok(Ok(attendant.status().map_or(Exit::Refused, Exit::Passed)));
    }
    packs.tell_places(|place| redactor.line(place));
    let mut telling = Telling::new(args, question, packs, inputs.len(), console);
    if !all {
        telling.exit = Exit::Refused;
    }
    for log in &logs {
        let read = read_clean(&|| log.open_attended(&attendant), packs, &ReadOptions::default(), &mut redactor);
        let name = redactor.line(&log.name);
        telling.one(&name, read, console)?;
        if telling.ends(&attendant) {
            break;
        }
    }
    let exit = telling.end(console)?;
    // Of a log that was not read nothing can be told.
    if !logs.is_empty() {
        tell(&redactor, &Labels::new(packs, question.zh), console)?;
    }
    Ok(Ok(exit))
}

/// Answers log by log, and what the program then ends with.
struct Telling<'t> {
    args: &'t TriageArgs,
    question: &'t Question,
    packs: &'t Packs,
    printer: Printer<'t>,
    exit: Exit,
}

impl<'t> Telling<'t> {
    fn new(args: &'t TriageArgs, question: &'t Question, packs: &'t Packs, logs: usize, console: &Console<'_>) -> Self {
        let view = View { verbose: args.verbose, quiet: args.quiet, ..console.view() };
        let printer = Printer::new(args.report.format.into(), view, packs, question.zh, logs);
        Self { args, question, packs, printer, exit: Exit::Done }
    }

    /// Shows the answer on a log, or why there is none.
    fn one(&mut self, name: &str, read: Result<Read, InputError>, console: &mut Console<'_>) -> io::Result<()> {
        match read {
            Ok(read) => {
                let report = answer(name, &read, self.packs, self.question);
                if self.args.fail_on.iter().any(|id| report.verdict.primary == id.as_str()) {
                    self.exit = self.exit.max(Exit::Failed);
                }
                self.printer.report(report, console.out)
            }
            Err(error) => {
                self.printer.unreadable(name);
                self.exit = Exit::Refused;
                console.fault(&error)
            }
        }
    }

    /// A signal came: what follows was not asked for any more. A script must not take this for the whole answer.
    fn ends(&mut self, attendant: &Attendant) -> bool {
        if let Some(status) = attendant.status() {
            self.exit = Exit::Passed(status);
        }
        attendant.stopped()
    }

    fn end(self, console: &mut Console<'_>) -> io::Result<Exit> {
        self.printer.end(console.out)?;
        Ok(self.exit)
    }
}

/// Refuses a `--fail-on` that could never be met.
fn check_verdicts(given: &[String]) -> Result<(), Box<UsageError>> {
    let known = Verdict::ALL.map(Verdict::as_str);
    match given.iter().find(|id| !known.contains(&id.as_str())) {
        None => Ok(()),
        Some(id) => {
            let near = hint(id, &known, &format!("the verdicts are {}", known.join(", ")));
            Err(Box::new(UsageError::UnknownVerdict { given: id.clone(), near }))
        }
    }
}
