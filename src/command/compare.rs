//! `compare`: two or more logs are read and answered, and the answers held against each other.

use std::io;

use rayon::prelude::*;

use super::common_arguments::CommonArguments;
use super::interruptible_input::InterruptibleInput;
use super::probe::samples;
use super::redaction::{Log, broken_off, learn_all, show, stopped, tell, tell_cut};
use super::{Console, Ended, Exit};
use crate::cli::{CompareArgs, ViewFormat};
use crate::diagnosis::Messages;
use crate::pipeline::{Pipeline, PipelineOptions};
use crate::render::{Labels, comparison_json, comparison_markdown, comparison_page, comparison_text};
use crate::report::{Question, Read, Run, answer, compare};
use crate::samples::Samples;

/// Runs the command.
// Long: the steps of one call, each of which may end it with its own exit status.
pub(super) fn run(args: &CompareArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let CommonArguments { inputs, memory_limit_mib } = match CommonArguments::of(&args.logs, &args.limit, console) {
        Ok(call) => call,
        Err(error) => return Ok(Err(error)),
    };
    let mut measured = Vec::new();
    for path in [&args.samples_a, &args.samples_b] {
        match path.as_deref().map(samples).transpose() {
            Ok(read) => measured.push(read),
            Err(error) => {
                console.fault(&error)?;
                return Ok(Ok(Exit::Refused));
            }
        }
    }
    let mut packs = super::packs(&args.view.packs, console)?;
    let zh = super::chinese(&args.view.language, console);
    let attendant = InterruptibleInput::new(&Labels::new(&packs, zh), console.around.bounds)?;
    let mut redactor = None;
    let mut logs: Vec<Log> = Vec::new();
    if args.privacy.redact {
        let (kept, mut found, _) = learn_all(&inputs, &packs, &attendant, console)?;
        packs.tell_places(|place| found.line(place));
        logs = kept;
        redactor = Some(found);
    } else {
        for input in &inputs {
            match Log::of(input, &attendant) {
                Ok(log) => logs.push(log),
                Err(error) => console.fault(&error)?,
            }
        }
    }
    if broken_off(&inputs, &logs, &attendant) {
        return stopped(&attendant, console);
    }
    // What ended a pipe has been heard; all that came of it is to be compared.
    let heard = attendant.stopped();
    let open = |log: &Log| if heard { log.open() } else { log.open_attended(&attendant) };
    let told: Vec<_> = match &mut redactor {
        // What was found in one log is replaced in the next.
        Some(redactor) => logs
            .iter()
            .map(|log| open(log).and_then(|source| Pipeline::redacting(&packs, redactor).read(source)))
            .collect(),
        None => logs
            .par_iter()
            .map(|log| open(log).and_then(|source| Pipeline::new(&packs, PipelineOptions::default()).read(source)))
            .collect(),
    };
    let mut read: Vec<(String, Read, Option<Samples>)> = Vec::new();
    for (number, (log, told)) in logs.iter().zip(told).enumerate() {
        let name = redactor.as_mut().map_or_else(|| log.name.clone(), |redactor| redactor.line(&log.name));
        match told {
            Ok(story) => read.push((name, story, measured.get_mut(number).and_then(Option::take))),
            Err(error) => console.fault(&error)?,
        }
    }
    // Of half a log, what it lacks would be taken for what the other one has more.
    if !heard && attendant.stopped() {
        return stopped(&attendant, console);
    }
    // With a log missing, the others would be taken for a comparison that nobody asked for.
    if read.len() < inputs.len() {
        return Ok(Ok(Exit::Refused));
    }
    let reports: Vec<_> = read
        .iter()
        .map(|(name, story, samples)| {
            let question = Question {
                zh,
                memory_limit_mib,
                samples: samples.clone(),
                here: console.around.system.kind,
                ..Question::default()
            };
            answer(name, story, &packs, &question)
        })
        .collect();
    let runs: Vec<Run<'_>> = read
        .iter()
        .zip(&reports)
        .map(|((name, story, samples), report)| Run {
            name: name.clone(),
            read: story,
            report,
            samples: samples.as_ref(),
        })
        .collect();
    let comparison = compare(&runs, &Messages { packs: &packs, zh }, args.force);
    let view = console.view();
    let text = match args.view.format {
        ViewFormat::Text => comparison_text(&comparison, &packs, &view),
        ViewFormat::Markdown => comparison_markdown(&comparison, &packs),
        ViewFormat::Json => comparison_json(&comparison, &packs)?,
        ViewFormat::Html => comparison_page(&comparison, &reports.iter().collect::<Vec<_>>(), &packs),
    };
    if let Some(redactor) = &redactor {
        if !show(text.as_bytes(), redactor, console)? {
            return Ok(Ok(Exit::Refused));
        }
        tell(redactor, &Labels::new(&packs, zh), console)?;
    } else {
        console.out.write_all(text.as_bytes())?;
    }
    tell_cut(&attendant, console)?;
    Ok(Ok(attendant.status().map_or(Exit::Done, Exit::Passed)))
}
