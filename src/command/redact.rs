//! `redact`: a log is written out without what is private, so that it can be shared.
//!
//! It waits in a private file until it was read again and nothing of what was replaced was found in it.

use std::io::{self, BufWriter, Seek as _, Write as _};

use super::inputs::inputs;
use super::interruptible_input::InterruptibleInput;
use super::redaction::{broken_off, learn_all, numbers, stopped, tell};
use super::{Console, Ended, Exit};
use crate::catalog::in_chinese;
use crate::cli::RedactArgs;
use crate::error::UsageError;
use crate::input::{Exceeded, Source};
use crate::redact::{Checked, Redactor};
use crate::render::Labels;
use crate::report::{Missing, checked, write_clean};

/// Runs the command.
pub(super) fn run(args: &RedactArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let given: Vec<_> = args.log.iter().cloned().collect();
    let inputs = match inputs(&given, console.around.stdin_is_terminal) {
        Ok(inputs) => inputs,
        Err(error) => return Ok(Err(error)),
    };
    let packs = super::packs(&args.packs, console)?;
    let attendant =
        InterruptibleInput::new(&Labels::new(&packs, super::chinese(&args.language, console)), console.around.bounds)?;
    let (logs, mut redactor, all) = learn_all(&inputs, &packs, &attendant, console)?;
    if broken_off(&inputs, &logs, &attendant) {
        // A name that only a late line gives away would be written.
        return stopped(&attendant, console);
    }
    let heard = attendant.stopped();
    let exit = if all { Exit::Done } else { Exit::Refused };
    // Nobody sees it before it was looked through.
    let mut waiting = tempfile::tempfile()?;
    let mut missing = Missing::default();
    for log in &logs {
        let open = || if heard { log.open() } else { log.open_attended(&attendant) };
        let mut out = BufWriter::new(&waiting);
        match write_clean(&open, &log.survey, &mut redactor, &mut out) {
            Ok(written) => missing = written?,
            Err(_) if !heard && attendant.stopped() => return stopped(&attendant, console),
            Err(error) => {
                console.fault(&error)?;
                return Ok(Ok(Exit::Refused));
            }
        }
        out.flush()?;
    }
    // Of a log that was not read nothing can be told.
    let Some(log) = logs.first() else { return Ok(Ok(attendant.status().map_or(exit, Exit::Passed))) };
    waiting.rewind()?;
    let found = match Source::from_reader(&log.name, &waiting).and_then(|text| checked(text, &redactor)) {
        Ok(found) => found,
        Err(error) => {
            console.fault(&error)?;
            return Ok(Ok(Exit::Refused));
        }
    };
    if !found.private.is_empty() {
        console.fault(&UsageError::StillPrivate { lines: numbers(&found.private) })?;
        return Ok(Ok(Exit::Refused));
    }
    waiting.rewind()?;
    io::copy(&mut waiting, console.out)?;
    console.out.flush()?;
    let labels = Labels::new(&packs, super::chinese(&args.language, console));
    tell(&redactor, &labels, console)?;
    tell_found(&found, &redactor, &missing, &labels, console)?;
    Ok(Ok(attendant.status().map_or(exit, Exit::Passed)))
}

/// What the user should look at: words that stay, long words that nothing knows, and what was left out.
fn tell_found(
    found: &Checked,
    redactor: &Redactor,
    missing: &Missing,
    labels: &Labels<'_>,
    console: &mut Console<'_>,
) -> io::Result<()> {
    let mut names: Vec<&str> = found.ordinary.iter().map(String::as_str).chain(redactor.stayed()).collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        writeln!(console.err, "{}", labels.with("redact-ordinary", &[("names", &names.join(", "))]))?;
    }
    if !found.unknown.is_empty() {
        let lines = numbers(&found.unknown);
        let more = found.unknown_count.saturating_sub(found.unknown.len() as u64);
        let id = if more > 0 { "redact-unknown-more" } else { "redact-unknown" };
        writeln!(console.err, "{}", labels.with(id, &[("lines", &lines), ("more", &more.to_string())]))?;
    }
    if missing.bytes > 0 {
        writeln!(console.err, "{}", labels.with("redact-lost", &[("bytes", &missing.bytes.to_string())]))?;
    }
    if let Some(error) = &missing.broken {
        let chinese = console.around.chinese.then(|| Exceeded::SENTENCES.iter().find_map(|id| in_chinese(id, error)));
        let error = chinese.flatten().unwrap_or_else(|| error.clone());
        writeln!(console.err, "{}", labels.with("redact-broken", &[("error", &error)]))?;
    }
    console.err.flush()
}
