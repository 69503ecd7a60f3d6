//! `issue`: the log inside the text of an issue is read without what is private, and answered as a comment. Nothing is
//! posted.

use std::io::{self, Read as _};

use super::common_arguments::{CommonArguments, question};
use super::inputs::Input;
use super::interruptible_input::InterruptibleInput;
use super::redaction::{Log, broken_off, learn_all, show, stopped};
use super::{Console, Ended, Exit};
use crate::catalog::Packs;
use crate::cli::IssueArgs;
use crate::diagnosis::Messages;
use crate::error::UsageError;
use crate::input::{InputError, log_of_issue};
use crate::pipeline::{Pipeline, PipelineOptions};
use crate::render::{Labels, issue_comment};
use crate::report::{Run, answer, checklist};

/// Longest text that is taken for an issue; GitHub's own limit is 65,536 letters.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Runs the command.
pub(super) fn run(args: &IssueArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let call = CommonArguments::of(std::slice::from_ref(&args.file), &args.limit, console);
    let CommonArguments { inputs, memory_limit_mib } = match call {
        Ok(call) => call,
        Err(error) => return Ok(Err(error)),
    };
    let [input] = inputs.as_slice() else { return Ok(Err(Box::new(UsageError::NoLog))) };
    let mut packs = super::packs(&args.packs, console)?;
    let zh = super::chinese(&args.language, console);
    let attendant = InterruptibleInput::new(&Labels::new(&packs, zh), console.around.bounds)?;
    let text = match text_of(input, &attendant) {
        Ok(text) => text,
        Err(error) => return console.fault(&error).map(|()| Ok(Exit::Refused)),
    };
    let log = log_of_issue(&text, |text| comfyui_lines(text, &packs));
    let within = [Input::Text { name: input.name(), text: log.into() }];
    let (logs, mut redactor, _) = learn_all(&within, &packs, &attendant, console)?;
    if broken_off(&within, &logs, &attendant) {
        return stopped(&attendant, console);
    }
    packs.tell_places(|place| redactor.line(place));
    let Some(log) = logs.first() else { return Ok(Ok(Exit::Refused)) };
    let name = redactor.line(&log.name);
    let read = match log.open().and_then(|source| Pipeline::redacting(&packs, &mut redactor).read(source)) {
        Ok(read) => read,
        Err(error) => return console.fault(&error).map(|()| Ok(Exit::Refused)),
    };
    let question = question(zh, &args.worries, memory_limit_mib, console);
    let report = answer(&name, &read, &packs, &question);
    let messages = Messages { packs: &packs, zh };
    let told = checklist(
        &[Run { name, read: &read, report: &report, samples: None }],
        Vec::new(),
        None,
        console.around.system.kind,
        &messages,
    );
    let Some(told) = told else { return Ok(Err(Box::new(UsageError::NoLog))) };
    let comment = issue_comment(&report, &told, &packs);
    let exit = if show(comment.as_bytes(), &redactor, console)? { Exit::Done } else { Exit::Refused };
    Ok(Ok(exit))
}

/// The whole text of an issue.
fn text_of(input: &Input, attendant: &InterruptibleInput) -> Result<String, InputError> {
    let name = input.name();
    let mut bytes = Vec::new();
    let source = Log::of(input, attendant)?.open_attended(attendant)?;
    source
        .reader
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .map_err(|source| InputError::CannotRead { name: name.clone(), source })?;
    if bytes.is_empty() {
        return Err(InputError::Empty { name });
    }
    let (text, _, _) = encoding_rs::UTF_8.decode(&bytes);
    Ok(text.into_owned())
}

/// Lines that only ComfyUI prints.
fn comfyui_lines(text: &str, packs: &Packs) -> u64 {
    let mut pipeline = Pipeline::new(packs, PipelineOptions::default());
    pipeline.feed(text.as_bytes());
    let tally = pipeline.finish().tally;
    tally.comfyui + tally.kin
}
