//! The command line of `probe`, `watch` and `run` as it is typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{LanguageArgs, PackArgs, QuestionArgs, ReportArgs, ViewArgs, WorryArgs};

const PROBE_HELP: &str = "\
Examples:
  comfy-triage probe                                  inside the container that runs ComfyUI
  comfy-triage probe --comfyui 0.28.0 --suggest       settings for this version, here
  comfy-triage probe --format json > env.json; comfy-triage comfyui.log --env env.json";

const WATCH_HELP: &str = "\
Examples:
  comfy-triage watch comfyui.log
  python main.py 2>&1 | comfy-triage watch -

Ends with the pipe, or with Ctrl-C; then comes the full report.";

const RUN_HELP: &str = "\
Examples:
  comfy-triage run -- python main.py --listen
  comfy-triage run --log night.log --stats-url http://127.0.0.1:8188 -- python main.py

Exit status: that of CMD; 128 + N when signal N ended it; 127 when it is not there, 126 when it cannot be started.";

/// Options of `probe`.
#[derive(Debug, Args)]
#[command(after_help = PROBE_HELP)]
pub struct ProbeArgs {
    /// Read the limits of this process instead of comfy-triage's own
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,
    /// Version of ComfyUI that runs here, as in 0.28.0
    #[arg(long, value_name = "VERSION")]
    pub comfyui: Option<String>,
    /// Work out settings for this machine and version
    #[arg(long)]
    pub suggest: bool,
    /// Where you free memory or restart, in memory used; held against --samples
    #[arg(long, value_name = "SIZE", requires = "suggest")]
    pub threshold: Option<String>,
    /// Memory samples of normal work (CSV or JSON lines)
    #[arg(long, value_name = "FILE", requires = "suggest")]
    pub samples: Option<PathBuf>,
    #[command(flatten)]
    pub view: ViewArgs,
}

/// Options of `watch`.
#[derive(Debug, Args)]
#[command(after_help = WATCH_HELP)]
pub struct WatchArgs {
    /// The log that grows; `-` reads what is piped in
    #[arg(value_name = "FILE")]
    pub log: PathBuf,
    #[command(flatten)]
    pub question: QuestionArgs,
    /// Stop after this many seconds without new lines; without it, only Ctrl-C ends
    #[arg(long, value_name = "SECONDS")]
    pub idle: Option<u64>,
    #[command(flatten)]
    pub packs: PackArgs,
    /// How to write changes and report; ndjson is one JSON value per line
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: WatchFormat,
    #[command(flatten)]
    pub language: LanguageArgs,
    /// Show everything in the report at the end
    #[arg(long, short)]
    pub verbose: bool,
}

/// Formats of `watch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum WatchFormat {
    #[default]
    Text,
    Ndjson,
}

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct LaunchArgs {
    /// Where to write the log; without it, a file named by the time in this folder
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Where to write the memory samples; without it, beside the log
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,
    /// Seconds between two samples
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub every: f64,
    /// Poll /system_stats of this ComfyUI as well; this machine only, as in http://127.0.0.1:8188
    #[arg(long, value_name = "URL")]
    pub stats_url: Option<String>,
    /// Where to write the report; without it, to stderr
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Open the report as a page in the browser when it has ended
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub worries: WorryArgs,
    #[command(flatten)]
    pub show: ReportArgs,
    /// Show everything in the report
    #[arg(long, short)]
    pub verbose: bool,
    /// What to start
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.05..=3600.0).contains(&value) => Ok(value),
        _ => Err("a number of seconds from 0.05 to 3600".to_owned()),
    }
}
