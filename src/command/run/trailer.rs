//! The last lines of a log that `run` wrote: how the program ended, and what the kernel's counters say to it.
//!
//! They are lines like any other, known to `rules/messages/run.toml`: the log alone tells the end from then on.

use std::io;
use std::time::SystemTime;

use super::child::Ending;
use super::pump::Log;
use crate::event::MIB;
use crate::probe::{Cgroup, Hierarchy, Host, Memory, Probe, glance};

/// Signals by which somebody asks a program to end.
const ASKED: [i32; 4] = [1, 2, 3, 15];
const SIGKILL: i32 = 9;

/// The kernel's counters of kills for memory.
#[derive(Debug)]
pub(super) struct Counters {
    cgroup: Cgroup,
    /// Of the whole machine.
    machine: Option<u64>,
}

impl Counters {
    pub(super) fn read(host: &dyn Host) -> Self {
        let machine = host.read("/proc/vmstat").ok().and_then(|text| {
            text.lines().find_map(|line| line.strip_prefix("oom_kill ")).and_then(|number| number.trim().parse().ok())
        });
        Self { cgroup: glance(host, None), machine }
    }
}

/// What was measured beside the program's end.
#[derive(Debug)]
pub(super) struct Beside<'a> {
    pub(super) before: &'a Counters,
    pub(super) after: &'a Counters,
    pub(super) probe: &'a Probe,
    /// The machine's memory at the last reading in its lifetime.
    pub(super) memory: Option<(SystemTime, Memory)>,
    pub(super) ended: SystemTime,
}

/// Writes the lines. Gives the first failure of the log, be it older.
pub(super) fn write(log: &Log, ending: &Ending, beside: &Beside<'_>) -> Option<io::Error> {
    log.end(&lines(ending, beside))
}

fn lines(ending: &Ending, beside: &Beside<'_>) -> Vec<String> {
    let (before, after) = (beside.before, beside.after);
    let mut lines = Vec::new();
    if let Some(limit) = beside.probe.limit_bytes() {
        lines.push(format!("comfy-triage run: memory limit of the cgroup: {limit} bytes"));
    }
    // Our own figures come first, so that the end stays the last line.
    if ending.signal == Some(SIGKILL) || ending.code == Some(128 + SIGKILL) {
        lines.extend(last_reading(beside));
        lines.push(match kill(before, after) {
            Some((count, constraint)) => {
                format!("comfy-triage run: oom_kill counter rose by {count}, constraint={constraint}")
            }
            None if after.cgroup.oom_kills().is_some() || after.machine.is_some() => {
                "comfy-triage run: oom_kill counters did not rise".to_owned()
            }
            None => "comfy-triage run: no oom_kill counter to be read".to_owned(),
        });
    } else if let Some(count) = rise(before.cgroup.oom_kills(), after.cgroup.oom_kills()) {
        lines.push(format!(
            "comfy-triage run: oom_kill counter of the cgroup rose by {count}, the program itself was not killed"
        ));
    }
    lines.push(match (ending.signal, ending.number()) {
        (Some(signal), _) if ASKED.contains(&signal) => format!("comfy-triage run: stopped by signal {signal}"),
        (Some(signal), code) => format!("comfy-triage run: ended by signal {signal}, exit code {code}"),
        (None, code) => format!("comfy-triage run: ended with exit code {code}"),
    });
    lines
}

/// What the machine still had to give. After the end its memory is free again, so only a reading before it tells.
fn last_reading(beside: &Beside<'_>) -> Option<String> {
    let (at, memory) = beside.memory.as_ref()?;
    let mib = |bytes: u64| (bytes as f64 / MIB).round();
    let swap = memory.swap_total_bytes.unwrap_or(0);
    let used = swap.saturating_sub(memory.swap_free_bytes.unwrap_or(swap));
    Some(format!(
        "comfy-triage run: last memory reading, {:.1} s before the end: MemAvailable {} of {} MiB, swap {} of {} MiB used",
        beside.ended.duration_since(*at).unwrap_or_default().as_secs_f64(),
        mib(memory.available_bytes?),
        mib(memory.total_bytes?),
        mib(used),
        mib(swap),
    ))
}

fn rise(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?)).filter(|rise| *rise > 0)
}

/// How many kills there were, and whether a limit or the machine's RAM was the reason.
fn kill(before: &Counters, after: &Counters) -> Option<(u64, &'static str)> {
    let machine = rise(before.machine, after.machine);
    let Some(own) = rise(before.cgroup.oom_kills(), after.cgroup.oom_kills()) else {
        // A cgroup that counts would have counted it.
        return machine.filter(|_| after.cgroup.oom_kills().is_none()).map(|count| (count, "CONSTRAINT_NONE"));
    };
    let limit_met = match after.cgroup.hierarchy {
        // It counts each touch of the limit, but newer kernels not of the one on RAM and swap together, which
        // container engines set to the same size. Without a limit there is none.
        Hierarchy::V1 => {
            after.cgroup.limit_bytes.is_some()
                && (rise(before.cgroup.ooms(), after.cgroup.ooms()).is_some() || after.cgroup.was_full())
        }
        _ => rise(before.cgroup.ooms(), after.cgroup.ooms()).is_some(),
    };
    Some((own, if limit_met { "CONSTRAINT_MEMCG" } else { "CONSTRAINT_NONE" }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::probe::Level;

    fn counters(oom_kills: Option<u64>, ooms: Option<u64>, machine: Option<u64>) -> Counters {
        let level = Level { oom_kills, ooms, ..Level::default() };
        Counters { cgroup: Cgroup { hierarchy: Hierarchy::V2, levels: vec![level], ..Cgroup::default() }, machine }
    }

    fn said(ending: Ending, before: &Counters, after: &Counters) -> Vec<String> {
        let beside = Beside { before, after, probe: &Probe::default(), memory: None, ended: SystemTime::now() };
        lines(&ending, &beside)
    }

    const KILLED: Ending = Ending { code: None, signal: Some(SIGKILL) };

    #[test]
    fn a_kill_is_confirmed_by_the_counters_and_told_apart() {
        let before = counters(Some(1), Some(4), Some(7));
        let limit = said(KILLED, &before, &counters(Some(2), Some(5), Some(8)));
        assert_eq!(
            limit,
            [
                "comfy-triage run: oom_kill counter rose by 1, constraint=CONSTRAINT_MEMCG",
                "comfy-triage run: ended by signal 9, exit code 137"
            ]
        );
        let machine = said(KILLED, &before, &counters(Some(2), Some(4), Some(8)));
        assert_eq!(machine[0], "comfy-triage run: oom_kill counter rose by 1, constraint=CONSTRAINT_NONE");
        let neighbour = said(KILLED, &before, &counters(Some(1), Some(4), Some(8)));
        assert_eq!(neighbour[0], "comfy-triage run: oom_kill counters did not rise", "the kernel killed somebody else");
        // Version 1: the limit on RAM and swap together was met, which nothing counts.
        let version_1 = |oom_kills, peak_bytes| {
            let mut counters = counters(Some(oom_kills), Some(0), None);
            let cgroup = &mut counters.cgroup;
            (cgroup.hierarchy, cgroup.limit_bytes, cgroup.limit_at) =
                (Hierarchy::V1, Some(6400), Some("/a".to_owned()));
            for level in &mut cgroup.levels {
                (level.folder, level.peak_bytes) = ("/a".to_owned(), peak_bytes);
            }
            counters
        };
        let full = |peak| said(KILLED, &version_1(0, Some(5)), &version_1(1, peak)).remove(0);
        assert!(full(Some(6350)).ends_with("CONSTRAINT_MEMCG"));
        assert!(full(Some(3000)).ends_with("CONSTRAINT_NONE"));
        assert!(full(None).ends_with("CONSTRAINT_NONE"));
        let no_cgroup = said(KILLED, &counters(None, None, Some(7)), &counters(None, None, Some(8)));
        assert!(no_cgroup[0].ends_with("CONSTRAINT_NONE"));
        assert!(
            said(KILLED, &counters(None, None, None), &counters(None, None, None))[0].contains("no oom_kill counter")
        );
    }

    #[test]
    fn what_was_free_shortly_before_a_kill_is_told() {
        let same = counters(Some(1), Some(1), Some(1));
        let gib = |number: u64| Some(number << 30);
        let memory = Memory {
            total_bytes: gib(64),
            available_bytes: gib(40),
            swap_total_bytes: gib(8),
            swap_free_bytes: gib(7),
            ..Memory::default()
        };
        let ended = SystemTime::UNIX_EPOCH + Duration::from_secs(100);
        let at = ended - Duration::from_millis(600);
        let probe = Probe::default();
        let beside = Beside { before: &same, after: &same, probe: &probe, memory: Some((at, memory)), ended };
        let told = "comfy-triage run: last memory reading, 0.6 s before the end: MemAvailable 40960 of 65536 MiB, swap 1024 of 8192 MiB used";
        assert_eq!(lines(&KILLED, &beside)[0], told);
        assert_eq!(lines(&Ending { code: Some(0), signal: None }, &beside).len(), 1, "only a kill asks for it");
    }

    #[test]
    fn other_ends() {
        let same = counters(Some(1), Some(1), Some(1));
        let end = |code, signal| said(Ending { code, signal }, &same, &same).pop().unwrap();
        assert_eq!(end(Some(0), None), "comfy-triage run: ended with exit code 0");
        assert_eq!(end(None, Some(11)), "comfy-triage run: ended by signal 11, exit code 139");
        assert_eq!(end(None, Some(15)), "comfy-triage run: stopped by signal 15");
        assert_eq!(
            said(Ending { code: Some(137), signal: None }, &same, &same).len(),
            2,
            "a shell tells of its child's kill"
        );
        let helper = said(Ending { code: Some(1), signal: None }, &same, &counters(Some(3), Some(2), Some(9)));
        assert_eq!(
            helper,
            [
                "comfy-triage run: oom_kill counter of the cgroup rose by 2, the program itself was not killed",
                "comfy-triage run: ended with exit code 1"
            ]
        );
    }
}
