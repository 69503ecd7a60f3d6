//! Memory of a process and its descendants, from `/proc`.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Processes looked at in one tree.
const LIMIT: usize = 4096;
/// Linux's "no such process".
const ESRCH: i32 = 3;

/// Memory of some processes together, in KiB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub processes: u64,
    pub rss_kib: u64,
    /// Of it, memory that is no file's: weights, caches, objects.
    pub anon_kib: u64,
}

/// `root` and all processes below it; nothing when it is gone.
pub fn tree(proc: &Path, root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut there = false;
    for entry in std::fs::read_dir(proc).into_iter().flatten().filter_map(Result::ok) {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        there |= pid == root;
        if let Some(parent) = std::fs::read_to_string(entry.path().join("stat")).ok().and_then(|text| parent_of(&text))
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = if there { vec![root] } else { Vec::new() };
    let mut next = 0;
    while let Some(pid) = found.get(next).copied().filter(|_| found.len() < LIMIT) {
        found.extend(children.remove(&pid).unwrap_or_default());
        next += 1;
    }
    found
}

/// `4711 (a name) with) S 12 …`: the number behind the state. A name may hold anything.
fn parent_of(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// What they use together. A process that ended meanwhile uses nothing.
pub fn usage(proc: &Path, pids: &[u32]) -> Usage {
    let mut usage = Usage::default();
    for pid in pids {
        let Ok(status) = std::fs::read_to_string(proc.join(pid.to_string()).join("status")) else { continue };
        // A zombie has no memory rows.
        let Some(rss) = row(&status, "VmRSS:") else { continue };
        usage.processes += 1;
        usage.rss_kib = usage.rss_kib.saturating_add(rss);
        usage.anon_kib = usage.anon_kib.saturating_add(row(&status, "RssAnon:").unwrap_or(0));
    }
    usage
}

/// What they use together, with what several share counted once (PSS). `None` when the kernel does not tell it of
/// one that lives: a sum without it would be too low.
///
/// The kernel walks all pages for it: tens of milliseconds for a process of many gigabytes.
pub fn pss_kib(proc: &Path, pids: &[u32]) -> Option<u64> {
    let mut sum = None;
    for pid in pids {
        match std::fs::read_to_string(proc.join(pid.to_string()).join("smaps_rollup")) {
            Ok(text) => sum = Some(sum.unwrap_or(0_u64).saturating_add(row(&text, "Pss:").unwrap_or(0))),
            Err(error) if has_ended(&error) => {}
            Err(_) => return None,
        }
    }
    sum
}

/// Gone, or a zombie without memory. A kernel without the file says so of each, and then the sum is absent.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH)
}

/// `VmRSS:\t  572416 kB`
fn row(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_found_whatever_the_names() {
        let folder = tempfile::tempdir().unwrap();
        let put = |pid: u32, name: &str, parent: u32, rss: u32| {
            let own = folder.path().join(pid.to_string());
            std::fs::create_dir(&own).unwrap();
            std::fs::write(own.join("stat"), format!("{pid} ({name}) S {parent} 1 1 0\n")).unwrap();
            std::fs::write(own.join("status"), format!("Name:\tx\nVmRSS:\t {rss} kB\nRssAnon:\t {} kB\n", rss / 2))
                .unwrap();
        };
        put(10, "bash", 1, 100);
        put(11, "py) S 99 (thon", 10, 1000);
        put(12, "worker", 11, 10);
        put(20, "other", 1, 5000);
        let found = tree(folder.path(), 10);
        assert_eq!(found, [10, 11, 12]);
        assert_eq!(usage(folder.path(), &found), Usage { processes: 3, rss_kib: 1110, anon_kib: 555 });
        assert!(tree(folder.path(), 77).is_empty());
    }

    #[test]
    fn shared_memory_is_counted_once_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let put = |pid: u32, text: &str| {
            std::fs::create_dir_all(folder.path().join(pid.to_string())).unwrap();
            std::fs::write(folder.path().join(pid.to_string()).join("smaps_rollup"), text).unwrap();
        };
        put(10, "5566-7788 ---p 00000000 00:00 0 [rollup]\nRss: 900 kB\nPss: 500 kB\nPss_Dirty: 7 kB\n");
        put(11, "Rss: 900 kB\nPss: 40 kB\n");
        assert_eq!(pss_kib(folder.path(), &[10, 11, 12]), Some(540), "one that ended meanwhile uses nothing");
        assert_eq!(pss_kib(folder.path(), &[12, 13]), None, "a kernel without the file");
        // It can be seen and not read.
        std::fs::create_dir_all(folder.path().join("14/smaps_rollup")).unwrap();
        assert_eq!(pss_kib(folder.path(), &[10, 14]), None);
    }
}
