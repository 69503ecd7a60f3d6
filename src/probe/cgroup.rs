//! The limits on a process's memory: its cgroup and every one above, version 1 and 2.
//!
//! Only a limit that certainly holds for this process is taken. What is missing, hidden or unreadable makes the
//! answer less certain, never lower.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;

use super::host::Host;
use super::mount::{Mount, folder, mounts};

/// Version 1 writes "no limit" as the largest number of pages.
const HUGE: u64 = 1 << 62;
/// A cgroup is full when no more than this part of its limit is left: memory is charged in steps.
const FULL_PART: u64 = 64;
/// Looks until two agree.
const LOOKS: usize = 4;

/// Which kind of cgroup counts the memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Hierarchy {
    V2,
    V1,
    /// This system has none.
    None,
    #[default]
    Unknown,
}

/// How far a limit, or that there is none, is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Nothing could be read.
    #[default]
    Unknown,
    /// Something could not be read or seen; a lower limit may hold.
    Partial,
    Known,
}

/// The cgroup of a process. Sizes in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroup {
    pub hierarchy: Hierarchy,
    pub certainty: Certainty,
    /// Its path as the kernel tells it.
    pub path: Option<String>,
    /// Lowest `memory.max` (`memory.limit_in_bytes`): beyond it the kernel kills.
    pub limit_bytes: Option<u64>,
    /// Folder that states it.
    pub limit_at: Option<String>,
    /// Lowest `memory.high`: beyond it the kernel slows the process down.
    pub high_bytes: Option<u64>,
    pub high_at: Option<String>,
    pub swap_limit_bytes: Option<u64>,
    /// In use where the tightest limit holds, or in the own cgroup.
    pub current_bytes: Option<u64>,
    /// Part of it that is file cache and given back first.
    pub reclaimable_bytes: Option<u64>,
    /// The own cgroup first, then those above it.
    pub levels: Vec<Level>,
    /// There is more above that cannot be seen from here.
    pub hidden_above: bool,
    /// Files that could not be read or understood.
    pub unreadable: Vec<String>,
    /// Limits changed while they were read.
    pub changing: bool,
}

/// One cgroup on the way up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    pub folder: String,
    pub max_bytes: Option<u64>,
    pub high_bytes: Option<u64>,
    pub swap_max_bytes: Option<u64>,
    pub current_bytes: Option<u64>,
    pub reclaimable_bytes: Option<u64>,
    /// Most that was ever in use.
    pub peak_bytes: Option<u64>,
    /// Times that the limit could not be kept.
    pub ooms: Option<u64>,
    /// Processes that the kernel killed for it.
    pub oom_kills: Option<u64>,
}

impl Cgroup {
    /// The lower one of both limits.
    pub fn tightest(&self) -> Option<u64> {
        [self.limit_bytes, self.high_bytes].into_iter().flatten().min()
    }

    /// Processes of the own cgroup that the kernel killed for memory.
    pub fn oom_kills(&self) -> Option<u64> {
        self.levels.iter().find_map(|level| level.oom_kills)
    }

    /// How often a limit on the way up could not be kept.
    pub fn ooms(&self) -> Option<u64> {
        let counts: Vec<u64> = self.levels.iter().filter_map(|level| level.ooms).collect();
        (!counts.is_empty()).then(|| counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count)))
    }

    /// The limit was reached at some time, as far as the kernel remembers.
    pub fn was_full(&self) -> bool {
        let Some((limit, at)) = self.limit_bytes.zip(self.limit_at.as_ref()) else { return false };
        let peak = self.levels.iter().find(|level| level.folder == *at).and_then(|level| level.peak_bytes);
        peak.is_some_and(|peak| peak >= limit - limit / FULL_PART)
    }

    fn limits(&self) -> (&Option<String>, Option<u64>, Option<u64>, Option<u64>) {
        (&self.path, self.limit_bytes, self.high_bytes, self.swap_limit_bytes)
    }
}

/// The cgroup of `pid`, or of this process. Limits may change while they are read, and a process may be moved:
/// two looks in a row must agree, else the highest limits seen are taken.
pub fn cgroup(host: &dyn Host, pid: Option<u32>) -> Cgroup {
    let mut seen = vec![glance(host, pid)];
    for _ in 1..LOOKS {
        let next = glance(host, pid);
        let agree = seen.last().is_some_and(|last| last.limits() == next.limits());
        seen.push(next);
        if agree {
            return seen.pop().unwrap_or_default();
        }
    }
    // "No limit" is the highest of all.
    let mut highest = seen.into_iter().max_by_key(|look| look.tightest().unwrap_or(u64::MAX)).unwrap_or_default();
    highest.changing = true;
    highest.certainty = highest.certainty.min(Certainty::Partial);
    highest
}

/// One look, without looking again.
pub fn glance(host: &dyn Host, pid: Option<u32>) -> Cgroup {
    let mut cgroup = Cgroup::default();
    if host.system() != "linux" {
        return cgroup;
    }
    let own = pid.map_or_else(|| "/proc/self/cgroup".to_owned(), |pid| format!("/proc/{pid}/cgroup"));
    let lines = match host.read(&own) {
        Ok(lines) => lines,
        Err(error) => {
            // A kernel without cgroups has no such file for anybody.
            if error.kind() == ErrorKind::NotFound && pid.is_none() && host.exists("/proc/self") {
                cgroup.hierarchy = Hierarchy::None;
                cgroup.certainty = Certainty::Known;
            } else {
                cgroup.unreadable.push(own);
            }
            return cgroup;
        }
    };
    let Some((hierarchy, path)) = own_path(&lines) else {
        if lines.trim().is_empty() {
            cgroup.hierarchy = Hierarchy::None;
            cgroup.certainty = Certainty::Known;
        } else {
            cgroup.unreadable.push(own);
        }
        return cgroup;
    };
    cgroup.hierarchy = hierarchy;
    cgroup.path = Some(path.to_owned());
    let Ok(text) = host.read("/proc/self/mountinfo") else {
        cgroup.unreadable.push("/proc/self/mountinfo".to_owned());
        return cgroup;
    };
    let fits = |mount: &Mount| match hierarchy {
        Hierarchy::V1 => mount.kind == "cgroup" && mount.has("memory"),
        _ => mount.kind == "cgroup2",
    };
    let mounts = mounts(&text);
    // The last mount hides those before it.
    let Some((mount, own_folder)) = mounts
        .iter()
        .rev()
        .filter(|mount| fits(mount))
        .find_map(|mount| folder(mount, path).map(|folder| (mount, folder)))
    else {
        return cgroup;
    };
    Walk { host, hierarchy, mount }.up(&own_folder, &mut cgroup);
    cgroup
}

/// Which hierarchy counts the memory, and the path in it.
fn own_path(lines: &str) -> Option<(Hierarchy, &str)> {
    let rows = || {
        lines.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            Some((fields.next()?, fields.next()?, fields.next()?))
        })
    };
    let v1 = rows().find(|(_, controllers, _)| controllers.split(',').any(|name| name == "memory"));
    if let Some((_, _, path)) = v1 {
        return Some((Hierarchy::V1, path));
    }
    rows()
        .find(|(number, controllers, _)| *number == "0" && controllers.is_empty())
        .map(|(_, _, path)| (Hierarchy::V2, path))
}

/// A way up from a cgroup to the mount's root.
struct Walk<'a> {
    host: &'a dyn Host,
    hierarchy: Hierarchy,
    mount: &'a Mount,
}

/// What a file of a limit says.
enum Bound {
    Absent,
    Unlimited,
    Bytes(u64),
    Unreadable,
}

impl Walk<'_> {
    fn up(&self, own: &str, cgroup: &mut Cgroup) {
        let point = self.mount.point.trim_end_matches('/');
        let mut folder = own.to_owned();
        let mut any = false;
        loop {
            if self.host.exists(if folder.is_empty() { "/" } else { &folder }) {
                let is_own = folder == own;
                any |= self.level(&folder, is_own, cgroup);
            }
            if folder == point {
                break;
            }
            match folder.rsplit_once('/') {
                Some((above, _)) if above.len() >= point.len() => folder = above.to_owned(),
                _ => break,
            }
        }
        self.hidden(point, cgroup);
        let certain = any && cgroup.unreadable.is_empty() && !cgroup.hidden_above;
        // A hierarchy without a single file of a limit: the memory controller is off, or the mount is not what it seems.
        cgroup.certainty = match (certain, any) {
            (true, _) => Certainty::Known,
            (false, true) => Certainty::Partial,
            (false, false)
                if cgroup.unreadable.is_empty() && self.hierarchy == Hierarchy::V2 && self.is_real_root(point) =>
            {
                Certainty::Known
            }
            (false, false) => Certainty::Unknown,
        };
        let at = [(&cgroup.limit_at, cgroup.limit_bytes), (&cgroup.high_at, cgroup.high_bytes)]
            .into_iter()
            .filter_map(|(at, bytes)| Some((bytes?, at.clone()?)))
            .min();
        let holder = match &at {
            Some((_, at)) => cgroup.levels.iter().find(|level| level.folder == *at),
            None => cgroup.levels.iter().find(|level| level.current_bytes.is_some()),
        };
        (cgroup.current_bytes, cgroup.reclaimable_bytes) =
            holder.map_or((None, None), |level| (level.current_bytes, level.reclaimable_bytes));
    }

    /// The files of one cgroup. True when one of its limits could be read.
    fn level(&self, folder: &str, own: bool, cgroup: &mut Cgroup) -> bool {
        let mut level = Level { folder: folder.to_owned(), ..Level::default() };
        let v1 = self.hierarchy == Hierarchy::V1;
        let max = self.bound(folder, if v1 { "memory.limit_in_bytes" } else { "memory.max" }, cgroup);
        let read = matches!(max, Bound::Unlimited | Bound::Bytes(_));
        level.max_bytes = bytes(&max);
        if v1 {
            let both = bytes(&self.bound(folder, "memory.memsw.limit_in_bytes", cgroup));
            level.swap_max_bytes = both.zip(level.max_bytes).map(|(both, memory)| both.saturating_sub(memory));
            level.current_bytes = self.number(folder, "memory.usage_in_bytes");
            level.reclaimable_bytes = self
                .row(folder, "memory.stat", "total_inactive_file")
                .or_else(|| self.row(folder, "memory.stat", "inactive_file"));
            level.peak_bytes = self.number(folder, "memory.max_usage_in_bytes");
            level.ooms = self.number(folder, "memory.failcnt");
            level.oom_kills = self.row(folder, "memory.oom_control", "oom_kill");
        } else {
            level.high_bytes = bytes(&self.bound(folder, "memory.high", cgroup));
            level.swap_max_bytes = bytes(&self.bound(folder, "memory.swap.max", cgroup));
            level.current_bytes = self.number(folder, "memory.current");
            level.reclaimable_bytes = self.row(folder, "memory.stat", "inactive_file");
            level.peak_bytes = self.number(folder, "memory.peak");
            level.ooms = self.row(folder, "memory.events", "oom");
            level.oom_kills = self.row(folder, "memory.events", "oom_kill");
        }
        // A cgroup of version 1 above ours binds us only where it says so.
        let binds = own || !v1 || self.number(folder, "memory.use_hierarchy") == Some(1);
        if binds {
            lower(&mut cgroup.limit_bytes, &mut cgroup.limit_at, level.max_bytes, folder);
            lower(&mut cgroup.high_bytes, &mut cgroup.high_at, level.high_bytes, folder);
            lower(&mut cgroup.swap_limit_bytes, &mut None, level.swap_max_bytes, folder);
        }
        if own && v1 {
            // The kernel's own minimum, which knows those above that cannot be seen.
            let all = self.row(folder, "memory.stat", "hierarchical_memory_limit").filter(|bytes| *bytes < HUGE);
            lower(&mut cgroup.limit_bytes, &mut cgroup.limit_at, all, folder);
        }
        cgroup.levels.push(level);
        read
    }

    fn bound(&self, folder: &str, file: &str, cgroup: &mut Cgroup) -> Bound {
        let path = format!("{folder}/{file}");
        let bound = match self.host.read(&path) {
            Ok(text) => match text.trim() {
                "max" | "-1" => Bound::Unlimited,
                number => match whole(number) {
                    Some(bytes) if bytes >= HUGE => Bound::Unlimited,
                    Some(bytes) => Bound::Bytes(bytes),
                    None => Bound::Unreadable,
                },
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Bound::Absent,
            Err(_) => Bound::Unreadable,
        };
        if matches!(bound, Bound::Unreadable) {
            cgroup.unreadable.push(path);
        }
        bound
    }

    fn number(&self, folder: &str, file: &str) -> Option<u64> {
        whole(self.host.read(&format!("{folder}/{file}")).ok()?.trim())
    }

    /// A row of a file with a name and a number in each line.
    fn row(&self, folder: &str, file: &str, name: &str) -> Option<u64> {
        let text = self.host.read(&format!("{folder}/{file}")).ok()?;
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).and_then(whole)
    }

    /// The mount's root is a cgroup like any other: there is more above it.
    fn hidden(&self, point: &str, cgroup: &mut Cgroup) {
        let v2_below = self.hierarchy == Hierarchy::V2 && self.host.exists(&format!("{point}/memory.max"));
        cgroup.hidden_above = match self.hierarchy {
            // The kernel's own minimum covers them.
            Hierarchy::V1 => {
                self.mount.root != "/" && self.row(point, "memory.stat", "hierarchical_memory_limit").is_none()
            }
            _ => v2_below || self.mount.root != "/",
        };
    }

    /// Only the root of all has controllers and no limit of its own.
    fn is_real_root(&self, point: &str) -> bool {
        self.mount.root == "/"
            && self.host.exists(&format!("{point}/cgroup.controllers"))
            && !self.host.exists(&format!("{point}/memory.max"))
    }
}

/// Digits and nothing else.
fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().unwrap_or(u64::MAX))
}

fn bytes(bound: &Bound) -> Option<u64> {
    match bound {
        Bound::Bytes(bytes) => Some(*bytes),
        _ => None,
    }
}

fn lower(least: &mut Option<u64>, at: &mut Option<String>, next: Option<u64>, folder: &str) {
    if let Some(next) = next
        && least.is_none_or(|least| next < least)
    {
        *least = Some(next);
        *at = Some(folder.to_owned());
    }
}
