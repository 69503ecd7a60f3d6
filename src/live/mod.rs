//! A log that is still being written: its bytes as they come, the story up to now, and what changed in the answer.
//!
//! The same fold as for a finished log, so the last word is the same too. Nothing here waits or prints.

mod changes;
mod follow;
mod processes;
mod rate_limit;
mod sample;
mod server;
mod stats;

pub use changes::{Change, ChangeKind, Changes};
pub use follow::{Follower, Poll};
pub use processes::{Usage, pss_kib, tree, usage};
pub use sample::{GpuReading, HEADER, Sampler, prompt_line};
pub use server::{USUAL_SERVER, running_log};
pub use stats::{Stats, StatsError, StatsUrl, parse_stats};
