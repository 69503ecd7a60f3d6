//! Readings of a process tree, its cgroup, the machine and the cards become lines of a samples file.
//!
//! What cannot be read is left empty. The columns are those that `--samples` reads.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};

use super::processes::{tree, usage};
use super::stats::Stats;
use crate::probe::{Host, glance};

/// First line of a samples file.
pub const HEADER: &str = "time,epoch,processes,rss_kb,rss_anon_kb,cgroup_current_kb,cgroup_max_kb,cgroup_oom_kills,mem_available_kb,swap_used_kb,vram_used_mib,vram_total_mib,process_vram_mib,allocator_reserved_mib,allocator_free_mib,stats_vram_free_mib,stats_ram_free_mib";

/// Cards by their driver, all together, in MiB.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GpuReading {
    pub used_mib: Option<f64>,
    pub total_mib: Option<f64>,
    /// By the process tree, where the driver tells.
    pub process_mib: Option<f64>,
}

/// Takes samples of one process tree.
#[derive(Debug)]
pub struct Sampler<'h, H> {
    host: &'h H,
    proc: PathBuf,
    pid: u32,
}

impl<'h, H: Host> Sampler<'h, H> {
    /// Of `pid` and what it starts.
    pub fn new(host: &'h H, pid: u32) -> Self {
        Self { host, proc: PathBuf::from("/proc"), pid }
    }

    /// Processes of the tree now.
    pub fn pids(&self) -> Vec<u32> {
        tree(&self.proc, self.pid)
    }

    /// Writes one line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn line(&self, pids: &[u32], gpu: &GpuReading, stats: Option<&Stats>, out: &mut dyn Write) -> io::Result<()> {
        let now = SystemTime::now();
        let epoch = now.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let time = DateTime::<Utc>::from(now).to_rfc3339_opts(SecondsFormat::Millis, true);
        let used = usage(&self.proc, pids);
        let cgroup = glance(self.host, Some(self.pid));
        let memory = crate::probe::memory(self.host);
        let kib = |bytes: Option<u64>| number(bytes.map(|bytes| bytes / 1024));
        let some = |value: u64| if used.processes > 0 { value.to_string() } else { String::new() };
        let swap_used =
            memory.swap_total_bytes.zip(memory.swap_free_bytes).map(|(total, free)| total.saturating_sub(free));
        let mib = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
        let stats = stats.copied().unwrap_or_default();
        let fields = [
            time,
            format!("{epoch:.3}"),
            used.processes.to_string(),
            some(used.rss_kib),
            some(used.anon_kib),
            kib(cgroup.current_bytes),
            kib(cgroup.tightest()),
            number(cgroup.oom_kills()),
            kib(memory.available_bytes),
            kib(swap_used),
            mib(gpu.used_mib),
            mib(gpu.total_mib),
            mib(gpu.process_mib),
            mib(stats.torch_reserved_mib),
            mib(stats.torch_free_mib),
            mib(stats.vram_free_mib),
            mib(stats.ram_free_mib),
        ];
        writeln!(out, "{}", fields.join(","))?;
        out.flush()
    }
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Root;
    use crate::samples::{Column, read_samples};

    #[test]
    fn what_is_written_can_be_read_back() {
        let sampler = Sampler { host: &Root::this(), proc: PathBuf::from("/proc"), pid: std::process::id() };
        let mut file = format!("{HEADER}\n").into_bytes();
        let gpu = GpuReading { used_mib: Some(3012.0), total_mib: Some(24564.0), process_mib: None };
        let stats = Stats { torch_reserved_mib: Some(5.0), ..Stats::default() };
        for _ in 0..2 {
            sampler.line(&sampler.pids(), &gpu, Some(&stats), &mut file).unwrap();
        }
        let read = read_samples("x", file.as_slice()).unwrap();
        assert!(read.has_time && read.points.len() == 2 && read.skipped == 0);
        assert_eq!(read.points[0].vram_mib, Some(3012.0), "the driver's figure, not the allocator's");
        if cfg!(target_os = "linux") {
            assert_eq!(read.ram_column(), Some(Column::Anon));
            assert!(read.points[0].rss_mib >= read.points[0].anon_mib);
        }
    }
}
