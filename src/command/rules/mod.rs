//! `rules …`: what the packs hold, whether they are right, and how much of a log they know.

mod check;
mod coverage;
mod docs;
mod list;
mod show;
mod verify;

pub(super) use check::CheckOutput;
pub(super) use coverage::CoverageOutput;
pub(super) use verify::VerifyOutput;

use std::io;

use super::{Console, Ended};
use crate::cli::RulesCommand;

/// Runs the command.
pub(super) fn run(command: &RulesCommand, console: &mut Console<'_>) -> io::Result<Ended> {
    match command {
        RulesCommand::List { area, comfyui, packs } => list::run(area.as_deref(), comfyui.as_deref(), packs, console),
        RulesCommand::Show { id, packs } => show::run(id, packs, console),
        RulesCommand::Check(args) => check::run(args, console),
        RulesCommand::Verify(args) => verify::run(args, console),
        RulesCommand::Docs { folder } => docs::run(folder, console),
        RulesCommand::Coverage(args) => coverage::run(args, console),
    }
}
