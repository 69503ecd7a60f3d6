//! The command line of `issue` as it is typed.

use std::path::PathBuf;

use clap::Args;

use super::{LanguageArgs, LimitArgs, OutputArgs, PackArgs, WorryArgs};

/// Options of `issue`.
#[derive(Debug, Args)]
pub struct IssueArgs {
    /// The text of the issue, with the log in code fences or as it was pasted; `-` reads what is piped in
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub worries: WorryArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    #[command(flatten)]
    pub packs: PackArgs,
    /// Write to this file instead of the terminal
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub language: LanguageArgs,
}

impl IssueArgs {
    /// Where the comment goes.
    pub(super) fn destination(&self) -> OutputArgs {
        OutputArgs { output: self.output.clone(), open: false }
    }
}
