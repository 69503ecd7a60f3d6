//! What every command begins with that answers logs: which logs, and what the user said of the machine.

use std::path::PathBuf;

use super::Console;
use super::inputs::{Input, inputs};
use super::memory_limit::memory_limit_mib;
use crate::cli::{LimitArgs, WorryArgs};
use crate::error::UsageError;
use crate::report::Question;

/// Arguments that were understood.
#[derive(Debug)]
pub(super) struct CommonArguments {
    pub(super) inputs: Vec<Input>,
    pub(super) memory_limit_mib: Option<f64>,
}

impl CommonArguments {
    /// Checks the arguments.
    pub(super) fn of(logs: &[PathBuf], limit: &LimitArgs, console: &Console<'_>) -> Result<Self, Box<UsageError>> {
        let memory_limit_mib = limit.memory_limit.as_deref().map(memory_limit_mib).transpose()?;
        Ok(Self { inputs: inputs(logs, console.around.stdin_is_terminal)?, memory_limit_mib })
    }
}

/// What is asked of each log, beside what a command adds.
pub(super) fn question(
    zh: bool,
    worries: &WorryArgs,
    memory_limit_mib: Option<f64>,
    console: &Console<'_>,
) -> Question {
    Question { zh, asked: worries.words(), memory_limit_mib, here: console.around.system.kind, ..Question::default() }
}
