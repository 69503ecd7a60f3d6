//! The command line as it is typed. What is done with it is in `command`.
//!
//! Long: the command line as it is typed: one declaration for each command.

mod bisect;
mod ids;
mod issue;
mod live;
mod order;
mod output;
mod shared;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use bisect::{BisectArgs, BisectCommand, RunArgs, StartArgs, StatusArgs, StepArgs};
pub use issue::IssueArgs;
pub use live::{LaunchArgs, ProbeArgs, WatchArgs, WatchFormat};
pub use order::options_behind_command;
pub(crate) use output::AnswerFile;
pub use shared::{
    BoundArgs, LanguageArgs, LimitArgs, OutputArgs, PackArgs, PrivacyArgs, QuestionArgs, ReportArgs, ViewArgs,
    ViewFormat, WorryArgs,
};

const AFTER_HELP: &str = "\
Examples:
  comfy-triage
  comfy-triage comfyui.log
  docker logs comfy 2>&1 | comfy-triage --memory-limit 16GiB
  comfy-triage comfyui.log --asked vram-high --verbose
  comfy-triage comfyui.log --open

Exit status: 0 the log was answered, whatever the verdict; 1 a verdict of --fail-on; 2 usage, or a log that cannot be read.";

/// Reads what ComfyUI wrote on its console and says, with line numbers, what is wrong, what is not, and what to do next.
#[derive(Debug, Parser)]
#[command(name = "comfy-triage", version, after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub triage: TriageArgs,
    /// Colours: auto asks the terminal, NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    #[command(flatten)]
    pub bounds: BoundArgs,
}

impl Cli {
    /// The language that the call asks for.
    pub(crate) fn language(&self) -> Option<Language> {
        let language = match &self.command {
            None => &self.triage.report.language,
            Some(Command::Triage(args)) => &args.report.language,
            Some(Command::Checklist(args)) => &args.view.language,
            Some(Command::Issue(args)) => &args.language,
            Some(Command::Compare(args)) => &args.view.language,
            Some(Command::Redact(args)) => &args.language,
            Some(Command::Explain(args)) => &args.language,
            Some(Command::Bisect(args)) => return args.lang,
            Some(Command::Watch(args)) => &args.language,
            Some(Command::Run(args)) => &args.show.language,
            Some(Command::Probe(args)) => &args.view.language,
            Some(Command::Rules(RulesCommand::Verify(args))) => &args.language,
            Some(Command::Rules(RulesCommand::Coverage(args))) => &args.language,
            Some(Command::Rules(_) | Command::Schema { .. } | Command::Completions { .. } | Command::Man { .. }) => {
                return None;
            }
        };
        language.lang
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what is wrong in a log (this is also what happens without a command)
    Triage(TriageArgs),
    /// Check whether to report it, to whom, what is missing; write a redacted draft
    Checklist(ChecklistArgs),
    /// Answer the log within the text of an issue with a comment in Markdown; nothing is posted
    Issue(IssueArgs),
    /// Compare a log from before an experiment with one from after it
    Compare(CompareArgs),
    /// Write a log without what is private, to be shared
    Redact(RedactArgs),
    /// Say what a verdict, rule, flag of ComfyUI, known bug or node pack means
    Explain(ExplainArgs),
    /// Look into the rule packs
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Find the guilty node pack by switching half of them off at a time
    Bisect(BisectArgs),
    /// Follow a growing log or a pipe, and say what changes
    Watch(WatchArgs),
    /// Start ComfyUI, sample its memory beside it, and answer when it ends
    Run(LaunchArgs),
    /// Show the real memory limits here and how ComfyUI will size itself
    Probe(ProbeArgs),
    /// Print the JSON Schema of what a command writes as JSON
    Schema {
        /// Whose JSON
        #[arg(value_name = "COMMAND", default_value = "triage")]
        of: SchemaOf,
    },
    /// Print a completion script for a shell
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print a manual page, or write them all
    Man {
        /// Command whose page is printed, as in `man bisect start`; without one, the program's
        #[arg(value_name = "COMMAND", conflicts_with = "out")]
        command: Vec<String>,
        /// Write the page of each command into this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Options of the triage.
#[derive(Debug, Default, Args)]
pub struct TriageArgs {
    /// Logs to read, or a folder with them; `-` reads what is piped in; nothing looks for the newest log here
    #[arg(value_name = "LOG")]
    pub logs: Vec<PathBuf>,
    /// Read every log in the folders, archives (.zip, .tar, .tar.gz) and patterns that are named; one that cannot be read is a row
    #[arg(long, requires = "logs", conflicts_with_all = ["pick", "from_server", "redact", "samples", "open"])]
    pub all: bool,
    /// List the logs that can be found on this machine, newest first
    #[arg(long)]
    pub pick: bool,
    /// Read the log of the ComfyUI that runs on this machine
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = crate::live::USUAL_SERVER, conflicts_with_all = ["logs", "pick"])]
    pub from_server: Option<String>,
    #[command(flatten)]
    pub question: QuestionArgs,
    /// Memory samples taken beside the run (CSV or JSON lines)
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,
    /// Folder of ComfyUI, to look up in its node packs where a leaked class is written; else the one in the log
    #[arg(long, value_name = "DIR")]
    pub comfyui: Option<PathBuf>,
    #[command(flatten)]
    pub privacy: PrivacyArgs,
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Show everything: all findings, the end told backwards, the timeline, facts
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,
    /// One line per log
    #[arg(long, short)]
    pub quiet: bool,
    /// End with status 1 when one of these is the verdict of a log
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = ids::Ids::Verdicts, hide_possible_values = true)]
    pub fail_on: Vec<String>,
}

/// Options of `checklist`.
#[derive(Debug, Args)]
pub struct ChecklistArgs {
    /// The run with the problem first; also a run with --disable-all-custom-nodes, and a repeat
    #[arg(value_name = "LOG")]
    pub logs: Vec<PathBuf>,
    /// Whom the draft is for; without it, whoever the answer names
    #[arg(long = "for", value_name = "WHOM")]
    pub whom: Option<Whom>,
    /// Folder of ComfyUI, to look up in its node packs where a leaked class is written; else the one in the log
    #[arg(long, value_name = "DIR")]
    pub comfyui: Option<PathBuf>,
    #[command(flatten)]
    pub worries: WorryArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    #[command(flatten)]
    pub view: ViewArgs,
}

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The run before, the run after, and further runs
    #[arg(value_name = "LOG", num_args = 2.., required = true)]
    pub logs: Vec<PathBuf>,
    /// Judge although the runs are not comparable
    #[arg(long)]
    pub force: bool,
    /// Memory samples of the first run (CSV or JSON lines)
    #[arg(long, value_name = "FILE")]
    pub samples_a: Option<PathBuf>,
    /// Memory samples of the second run
    #[arg(long, value_name = "FILE")]
    pub samples_b: Option<PathBuf>,
    #[command(flatten)]
    pub limit: LimitArgs,
    #[command(flatten)]
    pub privacy: PrivacyArgs,
    #[command(flatten)]
    pub view: ViewArgs,
}

/// Options of `redact`.
#[derive(Debug, Args)]
pub struct RedactArgs {
    /// The log; `-` or nothing reads what is piped in
    #[arg(value_name = "LOG")]
    pub log: Option<PathBuf>,
    #[command(flatten)]
    pub packs: PackArgs,
    #[command(flatten)]
    pub language: LanguageArgs,
}

/// Whose JSON a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SchemaOf {
    /// triage --format json, and run --format json
    #[default]
    Triage,
    /// A line of triage or run --format ndjson
    Ndjson,
    /// A line of watch --format ndjson: a change, or at the end the report
    Watch,
    /// checklist --format json
    Checklist,
    /// compare --format json
    Compare,
    /// bisect status --format json
    Bisect,
    /// probe --format json
    Probe,
    /// rules check --json
    RulesCheck,
    /// rules coverage --json
    RulesCoverage,
    /// rules verify --json
    RulesVerify,
}

/// Whom a draft is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Whom {
    /// ComfyUI's own repository
    Core,
    /// The author of a node pack
    Node,
    /// A forum or a chat
    Forum,
}

/// Options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// An id, as in leak-confirmed, --cache-none or a rule's id; without one, the ids are listed
    #[arg(value_name = "ID", allow_hyphen_values = true, value_parser = ids::Ids::All, hide_possible_values = true)]
    pub id: Option<String>,
    #[command(flatten)]
    pub packs: PackArgs,
    #[command(flatten)]
    pub language: LanguageArgs,
}

/// What to look up in the packs.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List the message rules
    List {
        /// Only rules of this area
        #[arg(long)]
        area: Option<String>,
        /// Only rules for texts that this version of ComfyUI can print
        #[arg(long, value_name = "VERSION")]
        comfyui: Option<String>,
        #[command(flatten)]
        packs: PackArgs,
    },
    /// Look for mistakes in rule packs; exit status 1 when there are any
    Check(CheckArgs),
    /// Hold the packs against the sources of ComfyUI, or its flags against a saved --help
    Verify(VerifyArgs),
    /// Say how much of logs the packs know, and which unknown lines are the commonest
    Coverage(CoverageArgs),
    /// Write the documentation that is made from the packs
    #[command(hide = true)]
    Docs {
        /// The folder docs/
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Show an item of the packs with all its fields
    Show {
        /// Its id
        #[arg(value_name = "ID", allow_hyphen_values = true)]
        id: String,
        #[command(flatten)]
        packs: PackArgs,
    },
}

/// Options of `rules check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Folders of packs; without any, those of the configuration folder and of COMFY_TRIAGE_RULES
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Logs to measure on which text is found too often; may be repeated
    #[arg(long = "log", value_name = "LOG")]
    pub logs: Vec<PathBuf>,
    /// An older state of the pack: all its ids must still be there
    #[arg(long, value_name = "DIR")]
    pub against: Option<PathBuf>,
    /// Write the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `rules verify`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").args(["comfyui", "help_text"]).required(true).multiple(true))]
pub struct VerifyArgs {
    /// Sources of ComfyUI: a folder, or a git repository
    #[arg(long, value_name = "PATH")]
    pub comfyui: Option<PathBuf>,
    /// Revision of the git repository to read, as in v0.3.64; without it the folder as it is
    #[arg(long, value_name = "REV", requires = "comfyui")]
    pub rev: Option<String>,
    /// Saved output of `python main.py --help`
    #[arg(long, value_name = "FILE")]
    pub help_text: Option<PathBuf>,
    /// Version of the sources, where they do not say it
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// Write everything as JSON
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Write the tables as Markdown
    #[arg(long)]
    pub markdown: bool,
    #[command(flatten)]
    pub packs: PackArgs,
    #[command(flatten)]
    pub language: LanguageArgs,
}

/// Options of `rules coverage`.
#[derive(Debug, Args)]
pub struct CoverageArgs {
    /// Logs to read; `-` or nothing reads what is piped in
    #[arg(value_name = "LOG")]
    pub logs: Vec<PathBuf>,
    /// Unknown lines to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// Write everything as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub packs: PackArgs,
    #[command(flatten)]
    pub language: LanguageArgs,
}

/// What worries the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Asked {
    /// RAM stays high or fills up
    RamHigh,
    /// VRAM stays high
    VramHigh,
    /// It became slow
    Slow,
    /// The process was gone
    Killed,
    /// Out of memory
    Oom,
    /// Is this a leak?
    Leak,
}

impl Asked {
    /// The word, as it is typed and as reports name it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::RamHigh => "ram-high",
            Self::VramHigh => "vram-high",
            Self::Slow => "slow",
            Self::Killed => "killed",
            Self::Oom => "oom",
            Self::Leak => "leak",
        }
    }
}

/// Languages of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    En,
    Zh,
}

impl std::str::FromStr for Language {
    type Err = String;

    /// Takes any way to write a language, `zh-CN`, `zh_CN.UTF-8` or `en-AU`. Of a language without texts the program
    /// speaks English, as it does in a locale of that language.
    fn from_str(given: &str) -> Result<Self, String> {
        if crate::system::is_chinese(given) {
            return Ok(Self::Zh);
        }
        let language = given.split(['-', '_', '.', '@']).next().unwrap_or_default();
        let well_formed = (2..=3).contains(&language.len()) && language.bytes().all(|byte| byte.is_ascii_alphabetic());
        if well_formed { Ok(Self::En) } else { Err("write a language such as en, zh or zh-CN".to_owned()) }
    }
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

impl Cli {
    /// How standard output treats colours. JSON has none, and no control characters either: nothing is to be looked
    /// for in it, which for a large report took as long as reading the log.
    pub fn colours(&self) -> anstream::ColorChoice {
        let format = match &self.command {
            None => self.triage.report.format,
            Some(Command::Triage(args)) => args.report.format,
            Some(_) => return self.color.choice(),
        };
        if format.is_for_people() { self.color.choice() } else { anstream::ColorChoice::AlwaysAnsi }
    }
}

impl ColorWhen {
    /// The choice in the words of the output streams.
    pub fn choice(self) -> anstream::ColorChoice {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
    }
}
