//! One command from its arguments to its exit status. Each wires the stages; none decides what a log means.
//!
//! Output goes to the given writers: only the binary knows the console.

mod all;
mod bisect;
mod checklist;
mod common_arguments;
mod compare;
mod destination;
mod environment;
mod explain;
mod generate;
mod inputs;
mod interrupt;
mod interruptible_input;
mod issue;
mod memory_limit;
mod near;
mod newest;
mod parts;
mod piped;
mod probe;
mod redact;
mod redaction;
mod rules;
mod run;
mod triage;
mod usage;
mod watch;

pub use environment::Environment;
pub use usage::usage_told;

use std::io::{self, Write};
use std::path::PathBuf;

use miette::Diagnostic;

use crate::catalog::Packs;
use crate::cli::{Cli, Command, Language, LanguageArgs, PackArgs};
use crate::error::{UsageError, as_json, shown};
use crate::render::{Palette, Translated, View};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// It did what was asked.
    Done,
    /// A verdict of `--fail-on`.
    Failed,
    /// Usage, or a log that cannot be read.
    Refused,
    /// The status of the program that was run.
    Passed(u8),
}

impl Exit {
    /// The exit status of the process.
    pub fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Refused => 2,
            Self::Passed(status) => status,
        }
    }
}

/// Where a command writes, and what it may know of the world.
pub struct Console<'a> {
    pub out: &'a mut dyn Write,
    pub err: &'a mut dyn Write,
    pub around: &'a Environment,
}

impl std::fmt::Debug for Console<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Console").field("around", &self.around).finish_non_exhaustive()
    }
}

impl Console<'_> {
    /// How reports are shown here, one screen of each.
    fn view(&self) -> View {
        View { width: self.around.width(), palette: Palette::COLOUR, ascii: self.around.ascii, ..View::default() }
    }

    /// Shows a fault.
    fn fault(&mut self, fault: &dyn Diagnostic) -> io::Result<()> {
        let width = self.around.width();
        let fault = if self.around.chinese { Translated::of(fault) } else { Translated::plain(fault) };
        let text = if self.around.json_faults { as_json(&fault) } else { shown(&fault, width, self.around.chinese) };
        self.err.write_all(text.as_bytes())?;
        self.err.flush()
    }
}

/// Runs the command. An error is one of writing.
pub fn run(cli: Cli, console: &mut Console<'_>) -> io::Result<Exit> {
    // The option counts more than the locale, for faults as for answers.
    let chinese = cli.language().map_or(console.around.chinese, |language| language == Language::Zh);
    let mut around = Environment { chinese, json_faults: cli.is_for_programs(), ..console.around.clone() };
    let refused = memory_limit::bounds(&cli.bounds).map(|bounds| around.bounds = bounds).err();
    let console = &mut Console { out: console.out, err: console.err, around: &around };
    let mut cli = cli;
    let output = cli.take_output();
    let ended = match refused {
        Some(error) => Ok(Err(error)),
        None if output.file.is_some() || output.open => {
            destination::written(&output, console, |console| dispatch(cli, console))
        }
        None => dispatch(cli, console),
    };
    // Deep in a command a call may turn out to be one that cannot be answered.
    let ended = match ended.map_err(io::Error::downcast::<UsageError>) {
        Ok(ended) => ended,
        Err(Ok(error)) => Err(Box::new(error)),
        Err(Err(error)) => return Err(error),
    };
    console.out.flush()?;
    match ended {
        Ok(exit) => Ok(exit),
        Err(error) => console.fault(error.as_ref()).map(|()| Exit::Refused),
    }
}

fn dispatch(cli: Cli, console: &mut Console<'_>) -> io::Result<Ended> {
    let ended = match cli.command {
        None => triage::run(&cli.triage, console)?,
        Some(Command::Triage(args)) => triage::run(&args, console)?,
        Some(Command::Checklist(args)) => checklist::run(&args, console)?,
        Some(Command::Issue(args)) => issue::run(&args, console)?,
        Some(Command::Compare(args)) => compare::run(&args, console)?,
        Some(Command::Redact(args)) => redact::run(&args, console)?,
        Some(Command::Explain(args)) => explain::run(&args, console)?,
        Some(Command::Rules(command)) => rules::run(&command, console)?,
        Some(Command::Bisect(args)) => bisect::run(&args, console)?,
        Some(Command::Probe(args)) => probe::run(&args, console)?,
        Some(Command::Watch(args)) => watch::run(&args, console)?,
        Some(Command::Run(args)) => run::run(&args, console)?,
        Some(Command::Schema { of }) => generate::schema(of, console)?,
        Some(Command::Completions { shell }) => generate::completions(shell, console)?,
        Some(Command::Man { command, out }) => generate::man(&command, out.as_deref(), console)?,
    };
    console.out.flush()?;
    Ok(ended)
}

/// What a command comes to: an exit status, or a call that cannot be answered. `UsageError` is large and rare.
type Ended = Result<Exit, Box<UsageError>>;

/// The packs in use. What is wrong with them is shown; the rest is used.
///
/// # Errors
/// A folder of the call is not there: an answer without its rules would be taken for one with them.
fn packs(args: &PackArgs, console: &mut Console<'_>) -> io::Result<Packs> {
    if let Some(missing) = args.folders.iter().find(|folder| !folder.exists()) {
        return Err(io::Error::other(UsageError::NoRules { path: missing.display().to_string() }));
    }
    let (packs, problems) = Packs::with_folders(&folders(args, console));
    for problem in &problems {
        console.fault(problem)?;
    }
    Ok(packs)
}

/// Folders of packs to lay over the built-in one, lowest layer first.
fn folders(args: &PackArgs, console: &Console<'_>) -> Vec<PathBuf> {
    console.around.rule_folders.iter().chain(&args.folders).cloned().collect()
}

/// Chinese, by the option or by the locale.
fn chinese(args: &LanguageArgs, console: &Console<'_>) -> bool {
    match args.lang {
        Some(language) => language == Language::Zh,
        None => console.around.chinese,
    }
}
