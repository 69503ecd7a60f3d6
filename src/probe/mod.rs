//! What this machine really grants a process: its cgroup's limits, RAM, swap, cards, and signs of a container.
//!
//! Facts only, read anew at each call; what ComfyUI makes of them is worked out elsewhere. What cannot be read is
//! absent: a limit may come out too high, never too low.

mod cgroup;
mod gpu;
mod host;
mod memory;
mod mount;
mod signs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cgroup::{Certainty, Cgroup, Hierarchy, Level, cgroup, glance};
pub use gpu::{Gpu, GpuProcess, NVIDIA_CARDS, nvidia_cards, nvidia_processes, rocm_cards};
pub use host::{Host, Root};
pub use memory::{Memory, memory};
pub use signs::{Sign, is_wsl, signs};

/// Everything that was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Operating system, as `linux`, `windows`, `macos`.
    pub system: String,
    pub wsl: bool,
    /// The process that was asked about; absent for the own one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    pub memory: Memory,
    pub cgroup: Cgroup,
    pub gpus: Vec<Gpu>,
    /// What shows that this is a container.
    pub container: Vec<Sign>,
}

impl Probe {
    /// Looks at process `pid`, or at the own one.
    pub fn look(host: &dyn Host, pid: Option<u32>) -> Self {
        Self {
            system: host.system().to_owned(),
            wsl: is_wsl(host),
            pid,
            memory: memory(host),
            cgroup: cgroup(host, pid),
            gpus: gpu::gpus(host),
            container: signs(host, pid),
        }
    }

    /// The tightest limit on memory in bytes, when it is below the machine's RAM or the RAM is not known.
    pub fn limit_bytes(&self) -> Option<u64> {
        self.cgroup.tightest().filter(|limit| self.memory.total_bytes.is_none_or(|total| *limit < total))
    }

    /// What the process may use at most, in bytes.
    pub fn usable_bytes(&self) -> Option<u64> {
        self.limit_bytes().or(self.memory.total_bytes)
    }
}
