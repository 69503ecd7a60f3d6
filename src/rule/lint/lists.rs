//! The closed lists of the pack format, as `docs/rule-format.md` has them.

/// Areas: they group the documentation.
pub const AREAS: [&str; 22] = [
    "startup",
    "memory-baseline",
    "device",
    "attention",
    "import",
    "custom-node",
    "load",
    "unload",
    "leak",
    "oom",
    "pin",
    "cache",
    "dynamic-vram",
    "offload",
    "execution",
    "container",
    "host",
    "shell",
    "kernel",
    "shutdown",
    "report",
    "logger",
];

/// Facts that a line of a start may state.
pub const FACTS: [&str; 34] = [
    "comfyui_version",
    "git_describe",
    "pytorch_version",
    "python_version",
    "os",
    "device",
    "total_vram_mib",
    "total_ram_mib",
    "cgroup_limit_mib",
    "host_ram_mib",
    "vram_state",
    "pinned_budget_mib",
    "async_streams",
    "dynamic_vram",
    "cache_mode",
    "attention",
    "log_level",
    "smart_memory",
    "aimdo_version",
    "kitchen_version",
    "frontend_version",
    "gpu_arch",
    "rocm_version",
    "mac_version",
    "xformers_version",
    "install_path",
    "user_dir",
    "log_path",
    "python_path",
    "swap_mib",
    "embedded_python",
    "launcher",
    "nodes_disabled",
    "memory_limited",
];

/// Keys of `set` that stand for a capture of their own event and are no facts.
pub(super) const SET_KEYS: [&str; 13] = [
    "kind",
    "code",
    "failed",
    "weak",
    "message",
    "func",
    "type",
    "reason",
    "cgroup",
    "section",
    "missing_node",
    "oom_killed",
    "stack",
];

/// What a log must look like for a bug.
pub const STRUCTURES: [&str; 13] = [
    "reload-each-prompt",
    "growth",
    "oom",
    "tiled-retry",
    "load-size-grows",
    "killed",
    "crash",
    "leak",
    "pin-errors",
    "host-oom",
    "import-failure",
    "container",
    "seconds-grow",
];

/// Words that a field may have: table, field, words.
pub(super) const WORDS: [(&str, &str, &[&str]); 8] = [
    ("message", "level", &["DEBUG", "DETAIL", "INFO", "WARNING", "ERROR", "CRITICAL"]),
    ("bug", "confidence", &["established", "reported", "suspected"]),
    ("bug", "state", &["open", "closed", "unknown"]),
    ("node", "confidence", &["established", "reported", "suspected"]),
    ("node", "verdict", &["node-fault", "node-fault-repaired", "open-report", "not-at-fault", "interaction"]),
    ("flag", "takes", &["none", "value", "values", "optional"]),
    ("flag", "residency", &["vram", "ram"]),
    ("default", "os", &["windows", "linux", "any", "mac", "macos"]),
];

/// Flags of other programs that advice may name.
pub(super) const FOREIGN_FLAGS: [&str; 13] = [
    "--memory",
    "--memory-swap",
    "--memory-limit",
    "--asked",
    "--env",
    "--samples",
    "--upgrade",
    "--index-url",
    "--no-cache-dir",
    "--shm-size",
    "--gpus",
    "--requirement",
    "--verbose",
];
