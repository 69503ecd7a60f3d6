//! `redact`: a log is written out without what is private, so that it can be shared.

use std::io;

use super::inputs::inputs;
use super::interruptible_input::InterruptibleInput;
use super::redaction::{broken_off, learn_all, stopped, tell};
use super::{Console, Ended, Exit};
use crate::cli::RedactArgs;
use crate::render::Labels;
use crate::report::write_clean;

/// Runs the command.
pub(super) fn run(args: &RedactArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let given: Vec<_> = args.log.iter().cloned().collect();
    let inputs = match inputs(&given, console.around.stdin_is_terminal) {
        Ok(inputs) => inputs,
        Err(error) => return Ok(Err(error)),
    };
    let packs = super::packs(&args.packs, console)?;
    let attendant = InterruptibleInput::new(&Labels::new(&packs, super::chinese(&args.language, console)))?;
    let (logs, mut redactor, all) = learn_all(&inputs, &packs, &attendant, console)?;
    if broken_off(&inputs, &logs, &attendant) {
        // A name that only a late line gives away would be written.
        return stopped(&attendant, console);
    }
    let heard = attendant.stopped();
    let mut exit = if all { Exit::Done } else { Exit::Refused };
    for log in &logs {
        let open = || if heard { log.open() } else { log.open_attended(&attendant) };
        match write_clean(&open, &mut redactor, console.out) {
            Ok(written) => written?,
            Err(_) if !heard && attendant.stopped() => return stopped(&attendant, console),
            Err(error) => {
                console.fault(&error)?;
                exit = Exit::Refused;
            }
        }
    }
    console.out.flush()?;
    // Of a log that was not read nothing can be told.
    if !logs.is_empty() {
        tell(&redactor, &Labels::new(&packs, super::chinese(&args.language, console)), console)?;
    }
    Ok(Ok(attendant.status().map_or(exit, Exit::Passed)))
}
