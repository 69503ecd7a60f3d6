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

/// All signs, in a fixed order.
pub fn signs(host: &dyn Host) -> Vec<Sign> {
    let mut found = Vec::new();
    let mut add = |kind: &str, at: &str| found.push(Sign { kind: kind.to_owned(), at: at.to_owned() });
    for (path, kind) in FILES.iter().filter(|(path, _)| host.exists(path)) {
        add(kind, path);
    }
    for (name, kind) in VARIABLES {
        if let Some(value) = host.env(name) {
            add(if kind.is_empty() { &value } else { kind }, &format!("${name}"));
        }
    }
    if let Ok(text) = host.read("/proc/self/cgroup")
        && let Some((_, kind)) = PATHS.iter().find(|(part, _)| text.contains(part))
    {
        add(kind, "/proc/self/cgroup");
    }
    if let Ok(text) = host.read("/proc/self/mountinfo") {
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
