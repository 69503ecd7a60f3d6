//! `checklist`: logs are cleaned, read and answered; what is missing for an issue is told, and a draft written.

use std::io;

use super::common_arguments::{CommonArguments, question};
use super::interruptible_input::InterruptibleInput;
use super::redaction::{broken_off, learn_all, show, stopped, tell, tell_cut};
use super::{Console, Ended, Exit};
use crate::cli::{ChecklistArgs, ViewFormat, Whom};
use crate::diagnosis::Messages;
use crate::error::UsageError;
use crate::pipeline::Pipeline;
use crate::render::{Labels, checklist_json, checklist_markdown, checklist_page, checklist_text};
use crate::report::{Read, Run, add_class_source, answer, checklist, excerpt, wanted};

/// Runs the command. What is private is always taken out: a draft is there to be posted.
// Long: the steps of one call, each of which may end it with its own exit status.
pub(super) fn run(args: &ChecklistArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let CommonArguments { inputs, memory_limit_mib } = match CommonArguments::of(&args.logs, &args.limit, console) {
        Ok(call) => call,
        Err(error) => return Ok(Err(error)),
    };
    let mut packs = super::packs(&args.view.packs, console)?;
    let zh = super::chinese(&args.view.language, console);
    let question = question(zh, &args.worries, memory_limit_mib, console);
    let attendant = InterruptibleInput::new(&Labels::new(&packs, zh), console.around.bounds)?;
    let (logs, mut redactor, all) = learn_all(&inputs, &packs, &attendant, console)?;
    if broken_off(&inputs, &logs, &attendant) {
        return stopped(&attendant, console);
    }
    // What ended a pipe has been heard; all that came of it is to be answered.
    let heard = attendant.stopped();
    packs.tell_places(|place| redactor.line(place));
    let mut exit = if all { Exit::Done } else { Exit::Refused };
    let mut read: Vec<(String, Read)> = Vec::new();
    let mut kept = Vec::new();
    for log in &logs {
        let name = redactor.line(&log.name);
        let open = || if heard { log.open() } else { log.open_attended(&attendant) };
        match open().and_then(|source| Pipeline::redacting(&packs, &mut redactor).read(source)) {
            Ok(story) => {
                read.push((name, story));
                kept.push(log);
            }
            Err(error) => {
                console.fault(&error)?;
                exit = Exit::Refused;
            }
        }
    }
    if !heard && attendant.stopped() {
        return stopped(&attendant, console);
    }
    let messages = Messages { packs: &packs, zh };
    let reports: Vec<_> = read
        .iter()
        .map(|(name, story)| {
            let mut report = answer(name, story, &packs, &question);
            add_class_source(&mut report, &story.timeline, args.comfyui.as_deref(), &packs, &messages);
            report
        })
        .collect();
    let runs: Vec<Run<'_>> = read
        .iter()
        .zip(&reports)
        .map(|((name, story), report)| Run { name: name.clone(), read: story, report, samples: None })
        .collect();
    let whom = args.whom.map(|whom| match whom {
        Whom::Core => "core",
        Whom::Node => "node",
        Whom::Forum => "forum",
    });
    // Twice: which log the draft is about is only known from the first.
    let main = checklist(&runs, Vec::new(), whom, console.around.system.kind, &messages).map(|first| first.draft_run);
    let lines = match main.and_then(|main| kept.get(main).zip(runs.get(main))) {
        Some((log, run)) => excerpt(&|| log.open(), &wanted(run), &mut redactor).unwrap_or_default(),
        None => Vec::new(),
    };
    let Some(told) = checklist(&runs, lines, whom, console.around.system.kind, &messages) else {
        return Ok(if exit == Exit::Refused { Ok(exit) } else { Err(Box::new(UsageError::NoLog)) });
    };
    let view = console.view();
    let text = match args.view.format {
        ViewFormat::Text => checklist_text(&told, &packs, &view, whom.is_some()),
        ViewFormat::Markdown => checklist_markdown(&told, &packs, whom.is_some()),
        ViewFormat::Json => checklist_json(&told, &packs)?,
        ViewFormat::Html => checklist_page(&told, &packs, whom.is_some()),
    };
    if !show(text.as_bytes(), &redactor, console)? {
        return Ok(Ok(Exit::Refused));
    }
    tell(&redactor, &Labels::new(&packs, zh), console)?;
    tell_cut(&attendant, console)?;
    Ok(Ok(attendant.status().map_or(exit, Exit::Passed)))
}
