//! What a process may use, on made-up machines of every shape, and what ComfyUI would make of it.
//!
//! Long: one subject, case by case.
#![allow(clippy::unwrap_used)] // a test may panic

use crate::probe_world::{GIB, HUGE_V1, Memory, Tree, V1_MOUNT, V2_MOUNT};
use comfy_triage::catalog::{Packs, Version};
use comfy_triage::diagnosis::Messages;
use comfy_triage::probe::{Certainty, Hierarchy, Probe, cgroup};
use comfy_triage::report::{ProbeQuestion, ProbeReport, Sight, probe_report};
use comfy_triage::samples::read_samples;
use proptest::prelude::*;

const CGROUP: &str = "/proc/self/cgroup";
const MOUNTS: &str = "/proc/self/mountinfo";

fn look(files: &[(&str, &str)]) -> Probe {
    Probe::look(&Tree::new(files).root(), None)
}

fn gib(number: u64) -> String {
    format!("{}\n", number * GIB)
}

#[test]
fn no_cgroup_at_all() {
    let probe = look(&[]);
    assert_eq!(
        (probe.cgroup.hierarchy, probe.cgroup.certainty, probe.limit_bytes()),
        (Hierarchy::None, Certainty::Known, None)
    );
    assert_eq!(probe.usable_bytes(), Some(1_050_673_152 * 1024));
}

#[test]
fn a_namespaced_container_root_has_the_limit_and_hides_what_is_above() {
    let probe = look(&[
        (CGROUP, "0::/\n"),
        (MOUNTS, V2_MOUNT),
        ("/sys/fs/cgroup/memory.max", &gib(16)),
        ("/sys/fs/cgroup/memory.high", "max\n"),
        ("/sys/fs/cgroup/memory.swap.max", "0\n"),
        ("/sys/fs/cgroup/memory.current", &gib(3)),
        ("/sys/fs/cgroup/memory.stat", "anon 5\ninactive_file 1073741824\n"),
        ("/sys/fs/cgroup/memory.events", "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n"),
    ]);
    let cgroup = &probe.cgroup;
    assert_eq!(
        (probe.limit_bytes(), cgroup.swap_limit_bytes, cgroup.current_bytes, cgroup.reclaimable_bytes),
        (Some(16 * GIB), Some(0), Some(3 * GIB), Some(GIB))
    );
    assert_eq!((cgroup.oom_kills(), cgroup.ooms()), (Some(2), Some(3)));
    assert_eq!((cgroup.hidden_above, cgroup.certainty), (true, Certainty::Partial));
}

#[test]
fn a_service_has_its_limit_in_its_own_folder_and_the_root_has_none() {
    let probe = look(&[
        (CGROUP, "0::/system.slice/comfy.service\n"),
        (MOUNTS, V2_MOUNT),
        ("/sys/fs/cgroup/cgroup.controllers", "memory\n"),
        ("/sys/fs/cgroup/system.slice/memory.max", "max\n"),
        ("/sys/fs/cgroup/system.slice/comfy.service/memory.max", &gib(24)),
        ("/sys/fs/cgroup/system.slice/other.service/memory.max", &gib(1)),
    ]);
    assert_eq!(probe.limit_bytes(), Some(24 * GIB));
    assert_eq!(probe.cgroup.limit_at.as_deref(), Some("/sys/fs/cgroup/system.slice/comfy.service"));
    assert_eq!(probe.cgroup.certainty, Certainty::Known);
}

#[test]
fn the_limit_stands_only_on_an_ancestor() {
    let probe = look(&[
        (CGROUP, "0::/kubepods.slice/pod1.slice/cri-containerd-a.scope\n"),
        (MOUNTS, V2_MOUNT),
        ("/sys/fs/cgroup/cgroup.controllers", "memory\n"),
        ("/sys/fs/cgroup/kubepods.slice/memory.max", &gib(900)),
        ("/sys/fs/cgroup/kubepods.slice/pod1.slice/memory.max", &gib(32)),
        ("/sys/fs/cgroup/kubepods.slice/pod1.slice/memory.current", &gib(30)),
        ("/sys/fs/cgroup/kubepods.slice/pod1.slice/cri-containerd-a.scope/memory.max", "max\n"),
        ("/sys/fs/cgroup/kubepods.slice/pod1.slice/cri-containerd-a.scope/memory.current", &gib(2)),
    ]);
    assert_eq!(probe.limit_bytes(), Some(32 * GIB));
    assert_eq!(probe.cgroup.current_bytes, Some(30 * GIB), "what its neighbours in the pod use counts too");
    assert_eq!(probe.container[0].kind, "kubernetes");
}

#[test]
fn max_everywhere_is_no_limit() {
    let probe = look(&[
        (CGROUP, "0::/a/b\n"),
        (MOUNTS, V2_MOUNT),
        ("/sys/fs/cgroup/cgroup.controllers", "memory\n"),
        ("/sys/fs/cgroup/a/memory.max", "max\n"),
        ("/sys/fs/cgroup/a/memory.high", "max\n"),
        ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
    ]);
    assert_eq!((probe.limit_bytes(), probe.cgroup.certainty), (None, Certainty::Known));
}

#[test]
fn memory_high_counts_and_is_told_apart() {
    let probe = look(&[
        (CGROUP, "0::/a\n"),
        (MOUNTS, V2_MOUNT),
        ("/sys/fs/cgroup/a/memory.max", &gib(32)),
        ("/sys/fs/cgroup/a/memory.high", &gib(28)),
    ]);
    assert_eq!(
        (probe.cgroup.limit_bytes, probe.cgroup.high_bytes, probe.limit_bytes()),
        (Some(32 * GIB), Some(28 * GIB), Some(28 * GIB))
    );
}

#[test]
fn version_1_with_its_huge_number_and_with_a_limit() {
    let of = |limit: &str| {
        look(&[
            (CGROUP, "9:cpuset:/x\n4:memory:/docker/abc\n1:name=systemd:/docker/abc\n0::/\n"),
            (
                MOUNTS,
                "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
            ),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", limit),
            ("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", &gib(20)),
            ("/sys/fs/cgroup/memory/memory.usage_in_bytes", &gib(2)),
            ("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
            ("/sys/fs/cgroup/memory/memory.failcnt", "5\n"),
            ("/sys/fs/cgroup/memory/memory.max_usage_in_bytes", &gib(16)),
            // The unified tree of a hybrid system does not count memory.
            ("/sys/fs/cgroup/unified/memory.max", "4096\n"),
        ])
    };
    let free = of(HUGE_V1);
    assert_eq!((free.cgroup.hierarchy, free.limit_bytes(), free.cgroup.was_full()), (Hierarchy::V1, None, false));
    let bound = of(&gib(16));
    assert_eq!(
        (bound.limit_bytes(), bound.cgroup.swap_limit_bytes, bound.cgroup.oom_kills(), bound.cgroup.ooms()),
        (Some(16 * GIB), Some(4 * GIB), Some(1), Some(5))
    );
    assert!(bound.cgroup.was_full());
}

#[test]
fn version_1_ancestors_bind_only_where_they_say_so() {
    let of = |hierarchy: &str| {
        look(&[
            (CGROUP, "4:memory:/a/b\n"),
            (MOUNTS, V1_MOUNT),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", HUGE_V1),
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", &gib(8)),
            ("/sys/fs/cgroup/memory/a/memory.use_hierarchy", hierarchy),
            ("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", HUGE_V1),
        ])
        .limit_bytes()
    };
    assert_eq!(of("1\n"), Some(8 * GIB));
    assert_eq!(of("0\n"), None);
}

#[test]
fn the_kernels_own_minimum_of_version_1_shows_what_is_hidden() {
    let probe = look(&[
        (CGROUP, "4:memory:/kubepods/pod1/abc\n"),
        (MOUNTS, "35 31 0:32 /kubepods/pod1/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", HUGE_V1),
        (
            "/sys/fs/cgroup/memory/memory.stat",
            &format!("cache 0\nhierarchical_memory_limit {}\ntotal_inactive_file 0\n", 12 * GIB),
        ),
    ]);
    assert_eq!((probe.limit_bytes(), probe.cgroup.hidden_above), (Some(12 * GIB), false));
}

#[test]
fn what_cannot_be_read_is_unknown_and_never_a_limit() {
    let tree = Tree::new(&[(CGROUP, "0::/a/b\n"), (MOUNTS, V2_MOUNT), ("/sys/fs/cgroup/a/memory.max", "12x\n")]);
    tree.block("/sys/fs/cgroup/a/b/memory.max");
    let probe = Probe::look(&tree.root(), None);
    assert_eq!((probe.limit_bytes(), probe.cgroup.certainty), (None, Certainty::Unknown));
    assert_eq!(probe.cgroup.unreadable, ["/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max"]);

    let tree = Tree::new(&[(MOUNTS, V2_MOUNT)]);
    tree.block(CGROUP);
    assert_eq!(Probe::look(&tree.root(), None).cgroup.certainty, Certainty::Unknown);
    let unmapped = look(&[(CGROUP, "0::/../elsewhere\n"), (MOUNTS, V2_MOUNT), ("/sys/fs/cgroup/memory.max", "1\n")]);
    assert_eq!((unmapped.limit_bytes(), unmapped.cgroup.certainty), (None, Certainty::Unknown));
    let unmounted = look(&[(CGROUP, "0::/a\n"), (MOUNTS, "")]);
    assert_eq!((unmounted.limit_bytes(), unmounted.cgroup.certainty), (None, Certainty::Unknown));
}

#[test]
fn a_cgroup_that_was_removed_still_has_its_ancestors() {
    let probe =
        look(&[(CGROUP, "0::/a/gone (deleted)\n"), (MOUNTS, V2_MOUNT), ("/sys/fs/cgroup/a/memory.max", &gib(4))]);
    assert_eq!(probe.limit_bytes(), Some(4 * GIB));
}

#[test]
fn a_limit_that_changes_between_two_reads_is_read_again() {
    let mut host = Memory::default();
    host.put(CGROUP, "0::/a\n");
    host.put(MOUNTS, V2_MOUNT);
    host.put_changing("/sys/fs/cgroup/a/memory.max", &["1073741824\n", "8589934592\n"]);
    let found = cgroup(&host, None);
    assert_eq!((found.limit_bytes, found.changing), (Some(8 * GIB), false));

    // It never rests: the highest one is taken, and said.
    let texts: Vec<String> = (1..20).map(|number| gib(if number % 2 == 0 { 2 } else { 20 + number })).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    host.put_changing("/sys/fs/cgroup/a/memory.max", &texts);
    let found = cgroup(&host, None);
    assert!(found.changing && found.limit_bytes >= Some(20 * GIB), "{:?}", found.limit_bytes);
    assert_eq!(found.certainty, Certainty::Partial);
}

#[test]
fn each_call_reads_anew() {
    let tree = Tree::new(&[(CGROUP, "0::/a\n"), (MOUNTS, V2_MOUNT), ("/sys/fs/cgroup/a/memory.max", &gib(4))]);
    assert_eq!(Probe::look(&tree.root(), None).limit_bytes(), Some(4 * GIB));
    tree.write("/sys/fs/cgroup/a/memory.max", &gib(6));
    assert_eq!(Probe::look(&tree.root(), None).limit_bytes(), Some(6 * GIB));
}

#[test]
fn another_process_has_its_own_cgroup() {
    let tree = Tree::new(&[
        (CGROUP, "0::/a\n"),
        ("/proc/77/cgroup", "0::/b\n"),
        (MOUNTS, V2_MOUNT),
        ("/sys/fs/cgroup/a/memory.max", &gib(4)),
        ("/sys/fs/cgroup/b/memory.max", &gib(6)),
    ]);
    assert_eq!(Probe::look(&tree.root(), Some(77)).limit_bytes(), Some(6 * GIB));
    tree.write("/proc/77/root/.dockerenv", "");
    tree.write("/proc/77/environ", "PATH=/bin\0container=podman\0xcontainer=no\0");
    tree.write("/run/.containerenv", "that is our own root");
    let signs = Probe::look(&tree.root(), Some(77)).container;
    let signs: Vec<(&str, &str)> = signs.iter().map(|sign| (sign.kind.as_str(), sign.at.as_str())).collect();
    assert_eq!(signs, [("docker", "/proc/77/root/.dockerenv"), ("podman", "$container")]);
    let gone = Probe::look(&tree.root(), Some(78));
    assert_eq!((gone.limit_bytes(), gone.cgroup.certainty), (None, Certainty::Unknown));
}

#[test]
fn another_system_is_unknown() {
    let tree = Tree::new(&[(CGROUP, "0::/a\n"), (MOUNTS, V2_MOUNT), ("/sys/fs/cgroup/a/memory.max", &gib(4))]);
    let probe = Probe::look(&tree.root().of_system("windows"), None);
    assert_eq!(
        (probe.limit_bytes(), probe.usable_bytes(), probe.cgroup.hierarchy, probe.cgroup.certainty),
        (None, None, Hierarchy::Unknown, Certainty::Unknown)
    );
}

#[test]
fn swap_in_compressed_ram_is_told_apart_and_shared_memory_has_a_size() {
    let probe = look(&[
        (
            "/proc/swaps",
            "Filename\tType\tSize\tUsed\tPriority\n/dev/zram0 partition 4194304 0 100\n/swapfile file 8388608 12 -2\n",
        ),
        ("/proc/sys/vm/overcommit_memory", "2\n"),
        (MOUNTS, "25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=65536k\n"),
        ("/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n"),
        ("/.dockerenv", ""),
    ]);
    let memory = &probe.memory;
    assert_eq!((memory.swap_zram_bytes, memory.swap_disk_bytes), (Some(4 * GIB), Some(8 * GIB)));
    assert_eq!((memory.overcommit, memory.shm_bytes), (Some(2), Some(64 * 1024 * 1024)));
    assert!(probe.wsl);
    assert_eq!(probe.container[0].kind, "docker");
}

fn report(probe: &Probe, version: Option<Version>, suggest: bool) -> ProbeReport {
    let packs = Packs::built_in();
    probe_report(
        probe.clone(),
        &Messages { packs: &packs, zh: false },
        &ProbeQuestion { version, suggest, ..ProbeQuestion::default() },
    )
}

fn sixteen_of_1002() -> Probe {
    look(&[
        (CGROUP, "0::/\n"),
        (MOUNTS, V2_MOUNT),
        ("/sys/fs/cgroup/memory.max", &gib(16)),
        ("/proc/swaps", "Filename\n/dev/sda2 partition 8388604 0 -2\n"),
    ])
}

/// Formulas of the pinned budget and of the cache, by hand.
#[test]
fn both_sides_of_the_fix_are_derived_by_the_packs_formulas() {
    let report = report(&sixteen_of_1002(), None, false);
    assert_eq!(report.sight, Sight::Blind);
    let [before, after] = report.derived.as_slice() else { panic!("{:?}", report.derived) };
    let gib = |bytes: Option<f64>| (bytes.unwrap() / GIB as f64 * 100.0).round() / 100.0;
    assert!(Version::parse(&before.version) < Version::parse("0.35.0"));
    assert_eq!(
        (gib(before.total_ram_bytes), gib(before.cache_gives_way_bytes), before.beyond_limit),
        (1002.0, 992.0, true)
    );
    // min(0.9 R, R - 4 GiB, R + S - 16 GiB) with R = 1002 and S = 8
    assert_eq!(gib(before.pinned_ceiling_bytes), 901.8);
    assert_eq!(
        (after.version.as_str(), gib(after.total_ram_bytes), gib(after.cache_gives_way_bytes), after.beyond_limit),
        ("0.35.0", 16.0, 14.0, false)
    );
    // max(0.4 R, min(0.9 R, R - 4 GiB, R + 0 - 16 GiB)) with R = 16
    assert_eq!((gib(after.pinned_ceiling_bytes), after.swap_bytes), (6.4, Some(0.0)));
    assert!(after.card_assumed, "no driver told of a card");
}

#[test]
fn the_version_asked_about_decides_whether_it_is_blind() {
    let probe = sixteen_of_1002();
    assert_eq!(report(&probe, Version::parse("0.28.0"), false).sight, Sight::Blind);
    assert_eq!(report(&probe, Version::parse("0.36.0"), false).sight, Sight::Sees);
    assert_eq!(report(&look(&[]), Version::parse("0.28.0"), false).sight, Sight::Unlimited);
    let classic = report(&probe, Version::parse("0.3.76"), false);
    assert_eq!(
        (classic.derived[0].cache_mode.as_deref(), classic.derived[0].cache_gives_way_bytes),
        (Some("classic"), None)
    );
}

#[test]
fn suggestions_are_of_fixed_size_first_and_the_moving_one_is_labelled() {
    let report = report(&sixteen_of_1002(), Version::parse("0.28.0"), true);
    let suggestion = report.suggestion.unwrap();
    let flags: Vec<(&str, bool)> =
        suggestion.settings.iter().map(|setting| (setting.flags.as_str(), setting.moves_with_neighbours)).collect();
    // 1002 seen minus 14 wanted
    assert_eq!(
        flags,
        [
            ("--disable-pinned-memory --cache-lru 10", false),
            ("--disable-pinned-memory --cache-none", false),
            ("--cache-ram 988", true)
        ]
    );
    assert!(suggestion.launcher.unwrap().contains("psutil.virtual_memory = container"));
    let old = self::report(&sixteen_of_1002(), Version::parse("0.3.20"), true).suggestion.unwrap();
    assert!(
        old.settings
            .iter()
            .all(|setting| !setting.flags.contains("--cache-ram") && !setting.flags.contains("--cache-none")),
        "{:?}",
        old.settings
    );
}

/// A container sees its limit at the root of the mount; a service has it in a folder of its own.
#[test]
fn the_launcher_looks_where_the_limit_is() {
    let launcher = |files: &[(&str, &str)]| {
        let suggestion = report(&look(files), Version::parse("0.28.0"), true).suggestion.unwrap();
        suggestion.launcher.map(|code| code.lines().find(|line| line.starts_with("V2, V1")).unwrap().to_owned())
    };
    let usual = "V2, V1 = \"/sys/fs/cgroup/\", \"/sys/fs/cgroup/memory/\"";
    assert_eq!(
        launcher(&[(CGROUP, "0::/\n"), (MOUNTS, V2_MOUNT), ("/sys/fs/cgroup/memory.max", &gib(16))]).as_deref(),
        Some(usual)
    );
    assert_eq!(
        launcher(&[
            (CGROUP, "0::/system.slice/comfy\\x2dui.service\n"),
            (MOUNTS, V2_MOUNT),
            ("/sys/fs/cgroup/cgroup.controllers", "memory\n"),
            ("/sys/fs/cgroup/system.slice/comfy\\x2dui.service/memory.max", &gib(16)),
        ])
        .as_deref(),
        Some("V2, V1 = \"/sys/fs/cgroup/system.slice/comfy\\\\x2dui.service/\", \"/sys/fs/cgroup/memory/\"")
    );
    assert_eq!(
        launcher(&[
            (CGROUP, "4:memory:/a\n"),
            (MOUNTS, V1_MOUNT),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", HUGE_V1),
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", &gib(16)),
        ])
        .as_deref(),
        Some("V2, V1 = \"/sys/fs/cgroup/\", \"/sys/fs/cgroup/memory/a/\"")
    );
    let throttled = [
        (CGROUP, "0::/a\n"),
        (MOUNTS, V2_MOUNT),
        ("/sys/fs/cgroup/a/memory.max", "max\n"),
        ("/sys/fs/cgroup/a/memory.high", &gib(16)),
    ];
    assert_eq!(launcher(&throttled), None, "it does not know of memory.high");
}

#[test]
fn a_limit_that_leaves_no_headroom_is_not_said_to_leave_some() {
    let files = [(CGROUP, "0::/\n"), (MOUNTS, V2_MOUNT), ("/sys/fs/cgroup/memory.max", &*gib(2))];
    let report = report(&look(&files), Version::parse("0.28.0"), true);
    assert_eq!(report.derived[1].cache_gives_way_bytes, Some(0.0));
    let text = report.suggestion.unwrap().text;
    assert!(text.contains("about 1.80 GiB") && text.contains("gives way at once"), "{text}");
}

#[test]
fn where_nothing_is_wrong_nothing_is_suggested() {
    let suggestion = report(&look(&[]), Version::parse("0.28.0"), true).suggestion.unwrap();
    assert!(suggestion.settings.is_empty() && suggestion.launcher.is_none());
}

#[test]
fn a_threshold_below_the_plateau_is_named() {
    let rows: String =
        (0..60).map(|second| format!("{second},{}\n", if second < 10 { 1000 } else { 12_000 })).collect();
    let samples = read_samples("x", format!("time,rss_anon_mib\n{rows}").as_bytes()).unwrap();
    let packs = Packs::built_in();
    let ask = |threshold| {
        let question = ProbeQuestion {
            version: Version::parse("0.28.0"),
            suggest: true,
            threshold_mib: Some(threshold),
            samples: Some(&samples),
        };
        probe_report(sixteen_of_1002(), &Messages { packs: &packs, zh: false }, &question)
            .suggestion
            .unwrap()
            .thresholds
    };
    let low = ask(8000.0);
    assert_eq!(
        (low[0].kind.as_str(), low[0].below_plateau, low[0].plateau_bytes / 1024.0 / 1024.0),
        ("given", true, 12_000.0)
    );
    assert_eq!((low[1].kind.as_str(), low[1].below_plateau), ("cache", false));
    assert!(!ask(14_000.0)[0].below_plateau);
}

#[test]
fn the_program_writes_a_probe_that_triage_takes() {
    let done = crate::case::program().args(["probe", "--format", "json"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(json["schema_version"], 1);
    // The real machine may have no limit: one is put in.
    let folder = tempfile::tempdir().unwrap();
    json["probe"]["cgroup"]["limit_bytes"] = (16 * GIB).into();
    json["probe"]["memory"]["total_bytes"] = (1002 * GIB).into();
    let env = folder.path().join("env.json");
    std::fs::write(&env, json.to_string()).unwrap();
    let log = "fixtures/case/085/console.log";
    let with = crate::case::report(&[log, "--env", env.to_str().unwrap()]);
    let given = crate::case::report(&[log, "--memory-limit", "16GiB"]);
    assert_eq!(with["verdict"], given["verdict"]);
    assert_eq!(with["given"][0], "memory limit of 16.00 GiB (from the probe)");
    let typed = crate::case::report(&[log, "--env", env.to_str().unwrap(), "--memory-limit", "20GiB"]);
    assert_eq!(typed["given"][0], "memory limit of 20.00 GiB (given by you)");
}

#[test]
fn a_process_that_is_not_there_is_refused() {
    let done = crate::case::program().args(["probe", "--pid", "4194999"]).output().unwrap();
    if cfg!(target_os = "linux") {
        assert_eq!(done.status.code(), Some(2));
    }
}

/// One level of a made-up ancestry: what truly holds, and what its files say of it.
#[derive(Debug, Clone)]
struct Floor {
    max: Option<u64>,
    high: Option<u64>,
    max_shown: Shown,
    high_shown: Shown,
    binds: bool,
    binds_shown: Shown,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    Right,
    Garbled,
    Refused,
    Absent,
}

fn shown() -> impl Strategy<Value = Shown> {
    prop_oneof![6 => Just(Shown::Right), 1 => Just(Shown::Garbled), 1 => Just(Shown::Refused), 1 => Just(Shown::Absent)]
}

fn floor() -> impl Strategy<Value = Floor> {
    let limit = || prop::option::weighted(0.6, 1_u64..2000 * GIB);
    (limit(), limit(), shown(), shown(), any::<bool>(), shown()).prop_map(
        |(max, high, max_shown, high_shown, binds, binds_shown)| Floor {
            max,
            high,
            max_shown,
            high_shown,
            binds,
            binds_shown,
        },
    )
}

fn put(host: &mut Memory, path: &str, shown: Shown, right: String) {
    match shown {
        Shown::Right => host.put(path, right),
        // A cut number would be lower than the truth.
        Shown::Garbled => host.put(path, format!("{}?", right.trim().chars().take(2).collect::<String>())),
        Shown::Refused => host.refuse(path),
        Shown::Absent => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// Whatever can be read and whatever not: the limit found is never below the true one.
    #[test]
    fn never_too_low(
        floors in prop::collection::vec(floor(), 1..6),
        hidden in 0_usize..4,
        v1 in any::<bool>(),
        minimum in shown(),
        mount_shown in prop::bool::weighted(0.9),
        decoy in 1_u64..GIB,
        gone in 0_usize..3,
    ) {
        let hidden = hidden.min(floors.len() - 1);
        let names: Vec<String> = (0..floors.len()).map(|number| format!("/g{number}")).collect();
        let (above, path) = (names[..hidden].concat(), names.concat());
        let point = if v1 { "/sys/fs/cgroup/memory" } else { "/sys/fs/cgroup" };
        let mut host = Memory::default();
        host.put("/proc/self/cgroup", if v1 { format!("4:memory:{path}\n0::/\n") } else { format!("0::{path}\n") });
        let kind = if v1 { "cgroup cgroup rw,memory" } else { "cgroup2 cgroup2 rw" };
        let root = if above.is_empty() { "/" } else { &above };
        // A mount of somebody else's cgroup lies about, and hides nothing of ours.
        let mount = format!("30 1 0:1 {root} {point} rw - {kind}\n");
        let stranger = format!("31 1 0:1 /stranger /mnt/x rw - {kind}\n");
        host.put("/proc/self/mountinfo", if mount_shown { format!("{mount}{stranger}") } else { stranger });
        let file = |v1: bool| if v1 { "memory.limit_in_bytes" } else { "memory.max" };
        host.put(&format!("/mnt/x/{}", file(v1)), decoy.to_string());
        host.put(&format!("{point}/other/{}", file(v1)), decoy.to_string());
        let last = floors.len() - 1;
        let mut truth: Option<u64> = None;
        for (number, floor) in floors.iter().enumerate() {
            let counts = !v1 || number == last || floor.binds;
            let limits = [floor.max, floor.high.filter(|_| !v1)];
            if counts {
                truth = [truth, limits[0], limits[1]].into_iter().flatten().min();
            }
            // The lowest folders may be gone already.
            if number < hidden || number + gone > last + 1 {
                continue;
            }
            let folder = format!("{point}{}", names[hidden..=number].concat());
            let unlimited = if v1 { HUGE_V1.to_owned() } else { "max\n".to_owned() };
            put(&mut host, &format!("{folder}/{}", file(v1)), floor.max_shown, floor.max.map_or(unlimited.clone(), |bytes| bytes.to_string()));
            if v1 {
                put(&mut host, &format!("{folder}/memory.use_hierarchy"), floor.binds_shown, u8::from(floor.binds).to_string());
            } else {
                put(&mut host, &format!("{folder}/memory.high"), floor.high_shown, floor.high.map_or(unlimited, |bytes| bytes.to_string()));
            }
        }
        if v1 && gone == 0 {
            let own = format!("{point}{}", names[hidden..].concat());
            let least = truth.map_or_else(|| HUGE_V1.trim().to_owned(), |bytes| bytes.to_string());
            if minimum == Shown::Right {
                host.put(&format!("{own}/memory.stat"), format!("cache 1\nhierarchical_memory_limit {least}\n"));
            }
        }
        let found = cgroup(&host, None);
        let (low, true_limit) = (found.tightest().unwrap_or(u64::MAX), truth.unwrap_or(u64::MAX));
        prop_assert!(low >= true_limit, "found {low}, true {true_limit}: {found:#?}");
    }
}
