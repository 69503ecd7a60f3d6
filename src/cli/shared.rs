//! Groups of arguments that several commands have, and the words they take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Asked, Language};
use crate::render::Format;

/// What the user asks about.
#[derive(Debug, Default, Args)]
pub struct WorryArgs {
    /// What worries you; may be repeated
    #[arg(long, value_name = "WORRY", value_delimiter = ',')]
    pub asked: Vec<Asked>,
}

impl WorryArgs {
    /// As reports name them.
    pub(crate) fn words(&self) -> Vec<String> {
        self.asked.iter().map(|worry| worry.word().to_owned()).collect()
    }
}

/// What the log may not know of the machine.
#[derive(Debug, Default, Args)]
pub struct LimitArgs {
    /// Memory limit of the container or machine, as in 16GiB or 24g
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<String>,
}

/// What the answer is to take into account beside the log.
#[derive(Debug, Default, Args)]
pub struct QuestionArgs {
    #[command(flatten)]
    pub worries: WorryArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Facts about the machine (JSON of `probe`)
    #[arg(long, value_name = "FILE")]
    pub env: Option<PathBuf>,
}

/// What a log may cost.
#[derive(Debug, Default, Args)]
pub struct BoundArgs {
    /// Memory that one log may make this program hold at once, as in 512MiB; 128MiB without it
    #[arg(long, global = true, value_name = "SIZE", hide_short_help = true)]
    pub max_memory: Option<String>,
    /// How much a packed log may unpack to, as in 64GiB; 16GiB without it. What comes behind is not read
    #[arg(long, global = true, value_name = "SIZE", hide_short_help = true)]
    pub max_unpacked: Option<String>,
}

/// Whether what is private is shown.
#[derive(Debug, Default, Args)]
pub struct PrivacyArgs {
    /// Replace names, addresses, keys, prompts and file names by tokens in what is shown; see `redact`
    #[arg(long)]
    pub redact: bool,
}

/// Where an answer goes.
#[derive(Debug, Clone, Default, Args)]
pub struct OutputArgs {
    /// Write to this file instead of the terminal
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Open the answer as a page in the browser; without -o it is written beside the log, or into the temporary folder
    #[arg(long)]
    pub open: bool,
}

/// How an answer that is one value is shown.
#[derive(Debug, Default, Args)]
pub struct ViewArgs {
    #[command(flatten)]
    pub packs: PackArgs,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ViewFormat,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub language: LanguageArgs,
}

/// How the report on a log is shown.
#[derive(Debug, Default, Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub packs: PackArgs,
    /// How to write the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub language: LanguageArgs,
}

/// Rule packs to use.
#[derive(Debug, Default, Args)]
pub struct PackArgs {
    /// A folder with a rule pack to lay over the built-in one; may be repeated, also in COMFY_TRIAGE_RULES
    #[arg(long = "rules", value_name = "DIR")]
    pub folders: Vec<PathBuf>,
}

/// Language of the output.
#[derive(Debug, Default, Args)]
pub struct LanguageArgs {
    /// Language of the report, en or zh (also zh-CN, zh_CN, zh-Hans); that of your system without it
    #[arg(long, value_name = "LANGUAGE")]
    pub lang: Option<Language>,
}

/// Formats of answers that are one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ViewFormat {
    #[default]
    Text,
    Markdown,
    Json,
    /// One file with pictures, for a browser
    Html,
}
