//! `triage`: each log is read, answered and shown; a log that cannot be read is told and does not stop the others.

use std::io;
use std::mem::ManuallyDrop;

use miette::Diagnostic;
use rayon::prelude::*;

use super::common_arguments::{CommonArguments, question};
use super::inputs::Input;
use super::interruptible_input::InterruptibleInput;
use super::near::hint;
use super::newest::Chosen;
use super::parts;
use super::probe::{ask_with_env, samples};
use super::redaction::{Log, learn_all, show, tell};
use super::{Console, Ended, Exit, all, newest};
use crate::catalog::{Packs, Verdict};
use crate::cli::TriageArgs;
use crate::diagnosis::Messages;
use crate::error::UsageError;
use crate::input::{InputError, ReadOptions};
use crate::live::running_log;
use crate::pipeline::Pipeline;
use crate::render::{Format, Labels, Printer, Translated, View};
use crate::report::{PageLine, Question, Read, Report, add_class_source, answer, page_lines, read_log};
use crate::system::Kind;

/// Runs the command.
// Long: the steps of one call, each of which may end it with its own exit status.
pub(super) fn run(args: &TriageArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let zh = super::chinese(&args.report.language, console);
    // The process ends right after; taking thousands of rules apart before would be a tenth of a short run.
    let mut packs = ManuallyDrop::new(super::packs(&args.report.packs, console)?);
    let system = console.around.system.clone();
    let folder = newest::folder(&args.logs).filter(|_| !args.all);
    if args.pick {
        return Ok(newest::pick(&system, &packs, folder, console)?.map(|()| Exit::Done));
    }
    let looked_for =
        folder.is_some() || (args.logs.is_empty() && args.from_server.is_none() && console.around.stdin_is_terminal);
    let chosen = match looked_for.then(|| newest::choose(&system, &packs, folder, zh)).transpose() {
        Ok(chosen) => chosen,
        Err(error) => return Ok(Err(error)),
    };
    let logs = chosen.as_ref().map_or_else(|| args.logs.clone(), |chosen| vec![chosen.log.path.clone()]);
    let CommonArguments { mut inputs, memory_limit_mib } =
        match CommonArguments::of(&logs, &args.question.limit, console) {
            Ok(call) => call,
            Err(error) => return Ok(Err(error)),
        };
    if let Some(url) = &args.from_server {
        inputs = match running(url, console)? {
            Ok(input) => vec![input],
            Err(exit) => return Ok(exit),
        };
    }
    let mut question = question(zh, &args.question.worries, memory_limit_mib, console);
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
    if let Err(error) = check_verdicts(&args.fail_on) {
        return Ok(Err(error));
    }
    inputs = parts::told(inputs, &packs, zh, console)?;
    if args.privacy.redact {
        return redacted(args, &inputs, &question, &mut packs, console);
    }
    let messages = Messages { packs: &packs, zh };
    if let Some(chosen) = &chosen {
        let text = chosen.announcement(&messages);
        let to = if args.report.format == Format::Text { &mut *console.out } else { &mut *console.err };
        to.write_all(text.as_bytes())?;
    } else if console.around.stdin_is_terminal && inputs.contains(&Input::Stdin) {
        let id = if system.kind == Kind::Windows { "paste-here-windows" } else { "paste-here" };
        console.err.write_all(format!("{}\n", messages.text(id, &[])).as_bytes())?;
    }
    if args.all {
        inputs = all::expand(inputs);
    }
    let attendant = InterruptibleInput::new(&Labels::new(&packs, zh), console.around.bounds)?;
    let mut telling = Telling::new(args, &question, &packs, inputs.len(), console);
    telling.chosen = chosen.as_ref();
    let read =
        |input: &Input| attendant.open(input).and_then(|source| read_log(source, &packs, &ReadOptions::default()));
    if args.all {
        return all::run(&inputs, &packs, &attendant, telling, console).map(Ok);
    }
    let page = args.report.format == Format::Html;
    for input in inputs.iter().filter(|_| page) {
        telling.page_of(input, &attendant, console)?;
        if telling.ends(&attendant) {
            break;
        }
    }
    let inputs = if page { Vec::new() } else { inputs };
    'logs: for several in inputs.chunks(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)) {
        // Told in the order in which they were named.
        let logs: Vec<_> = match several {
            [one] => vec![read(one)],
            several => several.par_iter().map(read).collect(),
        };
        for (input, log) in several.iter().zip(logs) {
            telling.one(&input.name(), log, &mut no_lines, console)?;
            if telling.ends(&attendant) {
                break 'logs;
            }
        }
    }
    telling.end(console).map(Ok)
}

/// The log of the ComfyUI that runs at `url`.
fn running(url: &str, console: &mut Console<'_>) -> io::Result<Result<Input, Ended>> {
    Ok(match running_log(url) {
        Ok(Some(text)) => Ok(Input::Text { name: url.to_owned(), text: text.into() }),
        Ok(None) => Err(Err(Box::new(UsageError::Server { url: url.to_owned() }))),
        Err(error) => {
            console.fault(&error)?;
            Err(Ok(Exit::Refused))
        }
    })
}

/// The same with logs that are gone through for what is private before anything of them is shown.
fn redacted(
    args: &TriageArgs,
    inputs: &[Input],
    question: &Question,
    packs: &mut Packs,
    console: &mut Console<'_>,
) -> io::Result<Ended> {
    let attendant = InterruptibleInput::new(&Labels::new(packs, question.zh), console.around.bounds)?;
    let (logs, mut redactor, all) = learn_all(inputs, packs, &attendant, console)?;
    if logs.iter().any(|log| log.is_half_known()) {
        // A name that only a late line gives away would stand in the report.
        console.fault(&UsageError::StoppedBeforeKnown)?;
        return Ok(Ok(attendant.status().map_or(Exit::Refused, Exit::Passed)));
    }
    packs.tell_places(|place| redactor.line(place));
    // Nobody sees it before it was looked through.
    let mut held = Vec::new();
    let mut aside = Console { out: &mut held, err: console.err, around: console.around };
    let mut telling = Telling::new(args, question, packs, inputs.len(), &aside);
    if !all {
        telling.exit = Exit::Refused;
    }
    for log in &logs {
        let read =
            log.open_attended(&attendant).and_then(|source| Pipeline::redacting(packs, &mut redactor).read(source));
        let name = redactor.line(&log.name);
        let mut lines = |report: &Report| {
            page_lines(&|| log.open_attended(&attendant), report, Some(&mut redactor)).unwrap_or_default()
        };
        telling.one(&name, read, &mut lines, &mut aside)?;
        if telling.ends(&attendant) {
            break;
        }
    }
    telling.printer.redacted(redactor.replaced().iter().map(|row| row.count).sum());
    let exit = telling.end(&mut aside)?;
    if !show(&held, &redactor, console)? {
        return Ok(Ok(Exit::Refused));
    }
    // Of a log that was not read nothing can be told.
    if !logs.is_empty() {
        tell(&redactor, &Labels::new(packs, question.zh), console)?;
    }
    Ok(Ok(exit))
}

/// Answers log by log, and what the program then ends with.
pub(super) struct Telling<'t> {
    args: &'t TriageArgs,
    question: &'t Question,
    packs: &'t Packs,
    /// The log was looked for and not named.
    chosen: Option<&'t Chosen>,
    printer: Printer<'t>,
    exit: Exit,
}

impl<'t> Telling<'t> {
    fn new(args: &'t TriageArgs, question: &'t Question, packs: &'t Packs, logs: usize, console: &Console<'_>) -> Self {
        let view = View { verbose: args.verbose, quiet: args.quiet, ..console.view() };
        let printer = Printer::new(args.report.format, view, packs, question.zh, logs);
        Self { args, question, packs, chosen: None, printer, exit: Exit::Done }
    }

    /// Keeps the answer on a log for the page. Its lines are read once more, so what is piped in is kept.
    fn page_of(&mut self, input: &Input, attendant: &InterruptibleInput, console: &mut Console<'_>) -> io::Result<()> {
        let log = match Log::of(input, attendant) {
            Ok(log) => log,
            Err(error) => return self.one(&input.name(), Err(error), &mut no_lines, console),
        };
        let read =
            log.open_attended(attendant).and_then(|source| read_log(source, self.packs, &ReadOptions::default()));
        let mut lines =
            |report: &Report| page_lines(&|| log.open_attended(attendant), report, None).unwrap_or_default();
        self.one(&input.name(), read, &mut lines, console)
    }

    /// Shows the answer on a log, or why there is none. `lines` reads those that a page shows; a log that is gone by
    /// then leaves the page without them.
    pub(super) fn one(
        &mut self,
        name: &str,
        read: Result<Read, InputError>,
        lines: &mut dyn FnMut(&Report) -> Vec<PageLine>,
        console: &mut Console<'_>,
    ) -> io::Result<()> {
        match read {
            Ok(read) => {
                let mut report = answer(name, &read, self.packs, self.question);
                let messages = Messages { packs: self.packs, zh: self.question.zh };
                add_class_source(&mut report, &read.timeline, self.args.comfyui.as_deref(), self.packs, &messages);
                if self.args.fail_on.iter().any(|id| report.verdict.primary == id.as_str()) {
                    self.exit = self.exit.max(Exit::Failed);
                }
                if self.args.report.format == Format::Html {
                    let lines = lines(&report);
                    self.printer.page(report, lines);
                    return Ok(());
                }
                let earlier = self.chosen.and_then(|chosen| {
                    let messages = Messages { packs: self.packs, zh: self.question.zh };
                    chosen.earlier(&report, &messages, console.around.system.kind)
                });
                self.printer.report(report, console.out)?;
                // Beside the answer: JSON holds nothing but the report.
                let to = if self.args.report.format == Format::Text { &mut *console.out } else { &mut *console.err };
                to.write_all(earlier.unwrap_or_default().as_bytes())
            }
            Err(error) => {
                if self.args.all {
                    let told = if self.question.zh { Translated::of(&error) } else { Translated::plain(&error) };
                    let code = error.code().map(|code| code.to_string()).unwrap_or_default();
                    self.printer.unread(name, &code, &told.to_string(), console.out)?;
                }
                self.printer.unreadable(name);
                self.exit = Exit::Refused;
                console.fault(&error)
            }
        }
    }

    /// A signal came: what follows was not asked for any more. A script must not take this for the whole answer.
    pub(super) fn ends(&mut self, attendant: &InterruptibleInput) -> bool {
        if let Some(status) = attendant.status() {
            self.exit = Exit::Passed(status);
        }
        attendant.stopped()
    }

    pub(super) fn end(self, console: &mut Console<'_>) -> io::Result<Exit> {
        self.printer.end(console.out)?;
        Ok(self.exit)
    }
}

pub(super) fn no_lines(_: &Report) -> Vec<PageLine> {
    Vec::new()
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
