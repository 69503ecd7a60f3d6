//! Where the answer of a call goes, whatever the command.

use std::path::{Path, PathBuf};

use super::{BisectCommand, Cli, Command, OutputArgs, RulesCommand, ViewArgs, ViewFormat};
use crate::render::Format;

/// Where an answer goes, and which files it is about.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerFile {
    pub(crate) file: Option<PathBuf>,
    pub(crate) open: bool,
    /// Logs of the call.
    pub(crate) logs: Vec<PathBuf>,
}

impl AnswerFile {
    fn of(args: &OutputArgs, logs: &[PathBuf]) -> Self {
        Self { file: args.output.clone(), open: args.open, logs: logs.to_vec() }
    }

    /// The log that a page lies beside.
    pub(crate) fn log(&self) -> Option<&Path> {
        self.logs.first().map(PathBuf::as_path).filter(|path| path.as_os_str() != "-" && !path.is_dir())
    }
}

impl Cli {
    /// Where the answer goes. What is to be opened in a browser is a page, so that becomes the format.
    pub(crate) fn take_output(&mut self) -> AnswerFile {
        match &mut self.command {
            None => triage(&mut self.triage),
            Some(Command::Triage(args)) => triage(args),
            Some(Command::Checklist(args)) => view(&mut args.view, &args.logs),
            Some(Command::Issue(args)) => AnswerFile::of(&args.destination(), std::slice::from_ref(&args.file)),
            Some(Command::Compare(args)) => view(&mut args.view, &args.logs),
            Some(Command::Probe(args)) => view(&mut args.view, &[]),
            Some(Command::Bisect(args)) => match &mut args.command {
                BisectCommand::Status(args) => {
                    if args.output.open {
                        args.format = ViewFormat::Html;
                    }
                    AnswerFile::of(&args.output, &[])
                }
                _ => AnswerFile::default(),
            },
            // `run` writes its report itself: its output is ComfyUI's own.
            Some(_) => AnswerFile::default(),
        }
    }
}

fn triage(args: &mut super::TriageArgs) -> AnswerFile {
    if args.output.open {
        args.report.format = Format::Html;
    }
    AnswerFile::of(&args.output, &args.logs)
}

fn view(args: &mut ViewArgs, logs: &[PathBuf]) -> AnswerFile {
    if args.output.open {
        args.format = ViewFormat::Html;
    }
    AnswerFile::of(&args.output, logs)
}

impl Cli {
    /// The answer is for programs, so what is wrong with the call is told in the same way.
    pub(crate) fn is_for_programs(&self) -> bool {
        let view = |args: &ViewArgs| args.format == ViewFormat::Json;
        match &self.command {
            None => self.triage.report.format.is_json(),
            Some(Command::Triage(args)) => args.report.format.is_json(),
            Some(Command::Checklist(args)) => view(&args.view),
            Some(Command::Compare(args)) => view(&args.view),
            Some(Command::Probe(args)) => view(&args.view),
            Some(Command::Watch(args)) => args.format == super::WatchFormat::Ndjson,
            Some(Command::Run(args)) => args.show.format.is_json(),
            Some(Command::Bisect(args)) => match &args.command {
                BisectCommand::Status(args) => args.format == ViewFormat::Json,
                _ => false,
            },
            Some(Command::Rules(RulesCommand::Check(args))) => args.json,
            Some(Command::Rules(RulesCommand::Verify(args))) => args.json,
            Some(Command::Rules(RulesCommand::Coverage(args))) => args.json,
            Some(_) => false,
        }
    }
}
