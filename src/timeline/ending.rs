//! How a log ends: stopped, still running, killed, crashed, or cut in the middle of something.

use serde::Serialize;

use super::evidence::Evidence;

/// How a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndingKind {
    /// `Stopped server`, or a launcher's "Press any key" after idle work.
    CleanStop,
    /// No sign of an end; nothing was in flight.
    StillRunning,
    /// The program ended with an exception of its own.
    Traceback,
    /// Segmentation fault, access violation, an exit code of such.
    NativeCrash,
    /// The log says that the process was killed.
    Killed,
    /// Whoever looks after the process ended it, since it did not answer.
    GivenUp,
    /// Something was in flight and nothing follows.
    Abrupt,
}

/// What was going on when the log ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InFlight {
    /// Number of the prompt, from 1.
    pub prompt: u64,
    /// Class that was being loaded or used last.
    pub class: Option<String>,
    /// MiB of it, loaded or staged.
    pub mib: Option<f64>,
    /// Step and steps of an unfinished bar.
    pub step: Option<(u64, u64)>,
    /// Steps of the last bar, where that ran to its end.
    pub sampled: Option<u64>,
    pub since_line: u64,
}

/// The end of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ending {
    pub kind: EndingKind,
    pub at: Option<Evidence>,
    pub in_flight: Option<InFlight>,
    pub exit_code: Option<i64>,
    /// The line that tells it is not of ComfyUI's own console: what ran then is not certain.
    pub exit_elsewhere: bool,
    /// The line that tells it.
    pub exit_at: Option<Evidence>,
    /// `CONSTRAINT_MEMCG` and the like, from the kernel.
    pub constraint: Option<(String, Evidence)>,
    /// Lines that prove a kill: shell, kernel, container runtime.
    pub kills: Vec<Evidence>,
    /// Kernel's figure of the killed process, in MiB.
    pub killed_anon_mib: Option<f64>,
    /// The line that tells this figure.
    pub killed_anon_line: Option<u64>,
    pub crash: Option<Evidence>,
    /// A userspace out-of-memory daemon spoke.
    pub daemon: Option<Evidence>,
    /// Docker's OOMKilled.
    pub oom_killed_flag: Option<(bool, Evidence)>,
    /// The kernel counted no kill for memory while it ran.
    pub not_counted: Option<Evidence>,
    /// What it had not answered when whoever looks after it ended it.
    pub given_up: Option<(String, Evidence)>,
    /// The kernel ended another program, since the whole machine had no RAM left.
    pub other_killed: Option<Evidence>,
    pub pause: Option<Evidence>,
    /// The text of the start that followed; of an end without words only its place between two lines is known.
    pub restarted: Option<Evidence>,
    /// The last line has no line break, so it may be cut.
    pub cut: bool,
}
