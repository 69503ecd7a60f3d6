//! What shows that this is a container, and which kind; and whether it is WSL.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host::Host;
use super::mount::mounts;

/// One sign of a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sign {
    /// `docker`, `podman`, `kubernetes`, `lxc`, `rented`, `overlay`, or what the runtime calls itself.
    pub kind: String,
    /// Where it was seen.
    pub at: String,
}

/// Variables that only certain places set.
const VARIABLES: [(&str, &str); 4] = [
    ("KUBERNETES_SERVICE_HOST", "kubernetes"),
    ("RUNPOD_POD_ID", "rented"),
    ("VAST_CONTAINERLABEL", "rented"),
    ("container", ""),
];
const FILES: [(&str, &str); 3] =
    [("/.dockerenv", "docker"), ("/run/.containerenv", "podman"), ("/var/run/secrets/kubernetes.io", "kubernetes")];
const PATHS: [(&str, &str); 5] = [
    ("kubepods", "kubernetes"),
    ("docker", "docker"),
    ("libpod", "podman"),
    ("/lxc", "lxc"),
    ("containerd", "containerd"),
];

/// All signs that `pid`, or this process, is in a container, in a fixed order.
pub fn signs(host: &dyn Host, pid: Option<u32>) -> Vec<Sign> {
    let mut found = Vec::new();
    let mut add = |kind: &str, at: &str| found.push(Sign { kind: kind.to_owned(), at: at.to_owned() });
    let own = pid.map_or_else(|| "/proc/self".to_owned(), |pid| format!("/proc/{pid}"));
    // Another process may have another root.
    let root = pid.map_or_else(String::new, |pid| format!("/proc/{pid}/root"));
    for (path, kind) in FILES {
        let path = format!("{root}{path}");
        if host.exists(&path) {
            add(kind, &path);
        }
    }
    let theirs = pid.map(|_| host.read(&format!("{own}/environ")).unwrap_or_default());
    for (name, kind) in VARIABLES {
        let value = match &theirs {
            None => host.env(name),
            Some(text) => text
                .split('\0')
                .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
                .filter(|value| !value.is_empty())
                .map(str::to_owned),
        };
        if let Some(value) = value {
            add(if kind.is_empty() { &value } else { kind }, &format!("${name}"));
        }
    }
    let path = format!("{own}/cgroup");
    if let Ok(text) = host.read(&path)
        && let Some((_, kind)) = PATHS.iter().find(|(part, _)| text.contains(part))
    {
        add(kind, &path);
    }
    if let Ok(text) = host.read(&format!("{own}/mountinfo")) {
        let mounts = mounts(&text);
        if mounts.iter().any(|mount| mount.point == "/" && mount.kind.starts_with("overlay")) {
            add("overlay", "/");
        }
        if mounts.iter().any(|mount| mount.point == "/proc/meminfo") {
            add("lxc", "/proc/meminfo");
        }
    }
    found
}

/// The kernel is that of the Windows Subsystem for Linux: its RAM is what `.wslconfig` grants.
pub fn is_wsl(host: &dyn Host) -> bool {
    host.system() == "linux"
        && ["/proc/sys/kernel/osrelease", "/proc/version"]
            .iter()
            .filter_map(|path| host.read(path).ok())
            .any(|text| text.to_lowercase().contains("microsoft"))
}
