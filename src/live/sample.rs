//! Readings of a process tree, its cgroup, the machine and the cards become lines of a samples file.
//!
//! What cannot be read is left empty. The columns are those that `--samples` reads.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};

use super::processes::{pss_kib, tree, usage};
use super::rate_limit::RateLimit;
use super::stats::Stats;
use crate::probe::{Cgroup, Host, Memory, glance};

/// First line of a samples file.
pub const HEADER: &str = "time,epoch,processes,rss_kb,rss_anon_kb,pss_kb,cgroup_current_kb,cgroup_max_kb,cgroup_oom_kills,mem_available_kb,swap_used_kb,vram_used_mib,vram_total_mib,process_vram_mib,allocator_reserved_mib,allocator_free_mib,stats_vram_free_mib,stats_ram_free_mib,prompt";

/// Between two readings of PSS, at least.
const PSS_PAUSE: Duration = Duration::from_secs(10);

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
    /// The tree as it was found last: on a machine of thousands of processes, to find it is the dearest part.
    known: Vec<u32>,
    search: RateLimit,
    pss: RateLimit,
    last: Option<(SystemTime, Memory)>,
}

impl<'h, H: Host> Sampler<'h, H> {
    /// Of `pid` and what it starts.
    pub fn new(host: &'h H, pid: u32) -> Self {
        Self {
            host,
            proc: PathBuf::from("/proc"),
            pid,
            known: Vec::new(),
            search: RateLimit::default(),
            pss: RateLimit::default(),
            last: None,
        }
    }

    /// Processes of the tree. Those that ended since the last search may be among them.
    pub fn pids(&mut self) -> Vec<u32> {
        if let Some(found) = self.search.take(Duration::ZERO, || tree(&self.proc, self.pid)) {
            self.known = found;
        }
        self.known.clone()
    }

    /// The machine's memory at the last reading for which the process was still there, and when that was.
    pub fn last_memory(self) -> Option<(SystemTime, Memory)> {
        self.last
    }

    /// Writes one line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn line(
        &mut self,
        pids: &[u32],
        gpu: &GpuReading,
        stats: Option<&Stats>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let now = SystemTime::now();
        let epoch = now.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let time = DateTime::<Utc>::from(now).to_rfc3339_opts(SecondsFormat::Millis, true);
        let used = usage(&self.proc, pids);
        let pss = self.pss.take(PSS_PAUSE, || pss_kib(&self.proc, pids)).flatten();
        let cgroup = glance(self.host, Some(self.pid));
        // One that just ended is moved to the root of all cgroups, whose figures are the machine's.
        let cgroup = if usage(&self.proc, &[self.pid]).processes > 0 { cgroup } else { Cgroup::default() };
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
            number(pss),
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
            String::new(),
        ];
        if used.processes > 0 {
            self.last = Some((now, memory));
        }
        writeln!(out, "{}", fields.join(","))?;
        out.flush()
    }
}

/// Writes a row that tells what a prompt did at a time, in seconds since 1970.
///
/// # Errors
/// When it cannot be written.
pub fn prompt_line(epoch: f64, what: &str, out: &mut dyn Write) -> io::Result<()> {
    let time = DateTime::<Utc>::from(UNIX_EPOCH + Duration::from_secs_f64(epoch.max(0.0)));
    let blank = ",".repeat(HEADER.matches(',').count() - 1);
    writeln!(out, "{},{epoch:.3}{blank}{what}", time.to_rfc3339_opts(SecondsFormat::Millis, true))
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
    fn one_that_ended_has_no_cgroup() {
        let host = Root::this();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .arg("--help")
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        let mut sampler = Sampler::new(&host, pid);
        child.wait().unwrap();
        let mut line = Vec::new();
        sampler.line(&[pid], &GpuReading::default(), None, &mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line.split(',').skip(2).take(7).collect::<Vec<_>>(), ["0", "", "", "", "", "", ""], "{line}");
    }

    #[test]
    fn what_is_written_can_be_read_back() {
        let host = Root::this();
        let mut sampler = Sampler::new(&host, std::process::id());
        let mut file = format!("{HEADER}\n").into_bytes();
        let gpu = GpuReading { used_mib: Some(3012.0), total_mib: Some(24564.0), process_mib: None };
        let stats = Stats { torch_reserved_mib: Some(5.0), ..Stats::default() };
        for _ in 0..2 {
            let pids = sampler.pids();
            sampler.line(&pids, &gpu, Some(&stats), &mut file).unwrap();
        }
        let read = read_samples("x", file.as_slice()).unwrap();
        assert!(read.has_time && read.points.len() == 2 && read.skipped == 0);
        let mut stamped = file.clone();
        prompt_line(read.points[0].seconds + 0.25, crate::samples::PROMPT_ENDED, &mut stamped).unwrap();
        let again = read_samples("x", stamped.as_slice()).unwrap();
        assert_eq!((again.points.len(), again.skipped), (2, 0), "no reading, and no fault");
        assert!((again.ended[0] - read.points[0].seconds - 0.25).abs() < 0.002, "{:?}", again.ended);
        assert_eq!(read.points[0].vram_mib, Some(3012.0), "the driver's figure, not the allocator's");
        if cfg!(target_os = "linux") {
            assert_eq!(read.ram_column(), Some(Column::Anon));
            assert!(read.points[0].rss_mib >= read.points[0].anon_mib);
            assert!(read.points[0].pss_mib.is_none_or(|pss| Some(pss) <= read.points[0].rss_mib));
            assert_eq!(read.points[1].pss_mib, None, "too dear for each sample");
        }
    }
}
