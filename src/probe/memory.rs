//! RAM, swap, overcommit and shared memory of the machine, as the kernel states them. Sizes in bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host::Host;
use super::mount::mounts;

/// Memory of the machine. What could not be read is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    pub total_bytes: Option<u64>,
    pub available_bytes: Option<u64>,
    pub swap_total_bytes: Option<u64>,
    pub swap_free_bytes: Option<u64>,
    /// Swap on disks, files and partitions.
    pub swap_disk_bytes: Option<u64>,
    /// Swap in compressed RAM: no memory beyond the RAM.
    pub swap_zram_bytes: Option<u64>,
    /// `vm.overcommit_memory`: 2 refuses allocations beyond `commit_limit_bytes`.
    pub overcommit: Option<u8>,
    pub commit_limit_bytes: Option<u64>,
    pub committed_bytes: Option<u64>,
    /// Size of `/dev/shm`; what lies in it is RAM, and counts for the container that wrote it.
    pub shm_bytes: Option<u64>,
    /// A container layer puts the container's figures into `/proc/meminfo`, so that every program sees them.
    pub virtualised: bool,
}

/// Reads it.
pub fn memory(host: &dyn Host) -> Memory {
    let mut memory = Memory::default();
    if host.system() != "linux" {
        return memory;
    }
    if let Ok(text) = host.read("/proc/meminfo") {
        for (name, bytes) in text.lines().filter_map(row) {
            let slot = match name {
                "MemTotal" => &mut memory.total_bytes,
                "MemAvailable" => &mut memory.available_bytes,
                "SwapTotal" => &mut memory.swap_total_bytes,
                "SwapFree" => &mut memory.swap_free_bytes,
                "CommitLimit" => &mut memory.commit_limit_bytes,
                "Committed_AS" => &mut memory.committed_bytes,
                _ => continue,
            };
            *slot = Some(bytes);
        }
    }
    memory.total_bytes = memory.total_bytes.filter(|bytes| *bytes > 0);
    if let Ok(text) = host.read("/proc/swaps") {
        let (zram, disk): (Vec<_>, Vec<_>) = text.lines().skip(1).filter_map(swap).partition(|(zram, _)| *zram);
        let sum = |list: Vec<(bool, u64)>| list.into_iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(bytes));
        memory.swap_disk_bytes = Some(sum(disk));
        memory.swap_zram_bytes = Some(sum(zram));
    }
    memory.overcommit = host.read("/proc/sys/vm/overcommit_memory").ok().and_then(|text| text.trim().parse().ok());
    if let Ok(text) = host.read("/proc/self/mountinfo") {
        let mounts = mounts(&text);
        memory.shm_bytes =
            mounts.iter().rev().find(|mount| mount.point == "/dev/shm").and_then(|mount| tmpfs_bytes(&mount.options));
        memory.virtualised = mounts.iter().any(|mount| mount.point == "/proc/meminfo");
    }
    memory
}

/// `MemTotal:       24684092 kB`
fn row(line: &str) -> Option<(&str, u64)> {
    let (name, rest) = line.split_once(':')?;
    let mut words = rest.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    let factor = if words.next() == Some("kB") { 1024 } else { 1 };
    Some((name, number.checked_mul(factor)?))
}

/// `/dev/zram0   partition   8388604   0   100`: is it zram, and its size.
fn swap(line: &str) -> Option<(bool, u64)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let kib: u64 = words.nth(1)?.parse().ok()?;
    Some((name.contains("/zram"), kib.checked_mul(1024)?))
}

fn tmpfs_bytes(options: &str) -> Option<u64> {
    let size = options.split(',').find_map(|option| option.strip_prefix("size="))?;
    let (number, factor) = match size.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1024),
        None => match size.strip_suffix(['m', 'M']) {
            Some(number) => (number, 1024 * 1024),
            None => (size, 1),
        },
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
