//! The command line of `bisect` as it is typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Language, OutputArgs, ViewFormat};

const AFTER_HELP: &str = "\
A session:
  comfy-triage bisect start comfyui.log     takes packs and symptom from the log, prints the first command
  comfy-triage bisect step round1.log       judges the round, prints the next command, and so on to the answer
  comfy-triage bisect status                where it stands; undo takes the last round back

With a script that runs your workflow, all by itself:
  comfy-triage bisect run -- ./run-my-workflow.sh";

/// Options of `bisect`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct BisectArgs {
    #[command(subcommand)]
    pub command: BisectCommand,
    /// Name of the session, when you have several
    #[arg(long, global = true, value_name = "NAME", default_value = "default", conflicts_with = "state")]
    pub name: String,
    /// File of the session, instead of one in your data folder
    #[arg(long, global = true, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// A folder with a rule pack to lay over the built-in one; may be repeated
    #[arg(long = "rules", global = true, value_name = "DIR")]
    pub rules: Vec<PathBuf>,
    /// Language of the output; from LC_ALL, LC_MESSAGES or LANG without it
    #[arg(long, global = true, value_name = "LANGUAGE")]
    pub lang: Option<Language>,
}

/// What to do with a session.
#[derive(Debug, Subcommand)]
pub enum BisectCommand {
    /// Begin: packs and symptom come from a log with the symptom in it
    Start(StartArgs),
    /// Judge the log of the round that was asked for
    Step(StepArgs),
    /// The round was quiet: you saw no symptom
    Good,
    /// You saw the symptom in this round
    Bad,
    /// You cannot test this round; another one is chosen where there is one
    Skip,
    /// The round could not run since these packs were off: they stay on from now
    Keep(KeepArgs),
    /// Show where it stands and what to run next
    Status(StatusArgs),
    /// Take the last round back
    Undo,
    /// Show all rounds with their lines
    Log,
    /// Forget the session
    Reset,
    /// Run the rounds by a script of yours that works through the API
    Run(RunArgs),
}

/// Options of `bisect keep`.
#[derive(Debug, Args)]
pub struct KeepArgs {
    /// Folder of a pack that the workflow needs
    #[arg(required = true, value_name = "DIR")]
    pub packs: Vec<String>,
}

/// Options of `bisect start`.
#[derive(Debug, Args)]
pub struct StartArgs {
    /// A log of a run with all packs that shows the symptom
    pub log: PathBuf,
    /// What to look for: leak[:CLASS], oom, growth, error:TEXT, import[:DIR] or manual; from the log's verdict without it
    #[arg(long)]
    pub symptom: Option<String>,
    /// A pack that your workflow needs: it stays on in every round; may be repeated
    #[arg(long, value_name = "DIR")]
    pub keep: Vec<String>,
    /// Quiet runs that a round needs before it counts as quiet; 1 says that the symptom shows every time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub runs: Option<u32>,
    /// Memory samples taken beside the log (for growth)
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,
    /// Begin anew although a session of this name is there
    #[arg(long)]
    pub force: bool,
}

/// Options of `bisect status`.
#[derive(Debug, Default, Args)]
pub struct StatusArgs {
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ViewFormat,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `bisect step`.
#[derive(Debug, Args)]
pub struct StepArgs {
    /// Log of the round, from its first line on; `-` reads what is piped in
    pub log: PathBuf,
    /// Memory samples taken beside the log (for growth)
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,
    /// Count the log for the packs that it shows, although others were asked for
    #[arg(long)]
    pub as_is: bool,
}

/// Options of `bisect run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// How to start ComfyUI, with {flags} where the flags go; from the first log without it
    #[arg(long, value_name = "TEMPLATE")]
    pub start: Option<String>,
    /// Seconds to wait for the server to be ready
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub ready: u64,
    /// Seconds to wait for ComfyUI to end after the interrupt
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub end: u64,
    /// Rounds to run at most in this call
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub rounds: u32,
    /// Your script with its arguments; it queues the prompts, waits for them and ends
    #[arg(last = true, required = true, value_name = "CMD")]
    pub script: Vec<OsString>,
}
