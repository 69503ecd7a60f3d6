//! Advice fits the log: no flag that the version lacks, that is idle there, or that is in use already; nothing that
//! moves weights against a peak of working memory; no symptom hidden and called a cure.

use std::collections::BTreeSet;

use comfy_triage::catalog::{Packs, Since, Version};
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

fn reports(packs: &Packs) -> Vec<(String, Report)> {
    let root = format!("{}/fixtures/case", env!("CARGO_MANIFEST_DIR"));
    let mut names: Vec<_> =
        std::fs::read_dir(&root).expect("fixtures").map(|entry| entry.expect("entry").path()).collect();
    names.sort();
    let mut reports = Vec::new();
    for folder in names {
        let log = folder.join("console.log");
        let name = folder.file_name().expect("name").to_string_lossy().into_owned();
        let read = read_log(Source::open(&log).expect("opens"), packs, &ReadOptions::default()).expect("reads");
        for asked in [vec![], vec!["ram-high".to_owned()], vec!["vram-high".to_owned()], vec!["slow".to_owned()]] {
            for limit in [None, Some(16.0 * 1024.0)] {
                let question = Question { asked: asked.clone(), memory_limit_mib: limit, ..Question::default() };
                reports.push((format!("{name} {asked:?} {limit:?}"), answer(&name, &read, packs, &question)));
            }
        }
    }
    reports
}

fn used(report: &Report) -> BTreeSet<String> {
    let flags = report.sessions.iter().filter_map(|session| session.facts.get("flags"));
    let words = flags.flat_map(|fact| fact.value.as_array().cloned().unwrap_or_default());
    words.filter_map(|value| value.as_str().and_then(|text| text.split(' ').next()).map(str::to_owned)).collect()
}

fn dynamic(report: &Report) -> bool {
    report.sessions.iter().any(|session| {
        session.facts.get("dynamic_vram").is_some_and(|fact| fact.value == serde_json::Value::Bool(true))
    })
}

#[test]
fn suggested_flags_exist_work_and_are_new() {
    let packs = Packs::built_in();
    for (name, report) in reports(&packs) {
        let version = report.version.exact.as_deref().and_then(Version::parse);
        let used = used(&report);
        for step in &report.next_steps {
            for flag in &step.flags {
                let flag = flag.split(' ').next().unwrap_or(flag);
                let def = packs
                    .flags
                    .iter()
                    .find(|def| def.name == flag)
                    .unwrap_or_else(|| panic!("{name}: {flag} is unknown"));
                assert!(!used.contains(flag), "{name}: {flag} is in use already");
                if let Some(version) = version {
                    if let Since::At(since) = def.since {
                        assert!(version >= since, "{name}: {flag} came with {since}, this is {version}");
                    }
                    assert!(def.until.is_none_or(|until| version <= until), "{name}: {flag} is gone in {version}");
                }
                let idle = dynamic(&report) && def.no_effect_with.iter().any(|cause| cause == "dynamic_vram");
                assert!(!idle, "{name}: {flag} does nothing with dynamic VRAM");
            }
        }
    }
}

#[test]
fn a_peak_of_working_memory_is_not_met_with_offloading() {
    let packs = Packs::built_in();
    let mut peaks = 0;
    for (name, report) in reports(&packs) {
        let peak = report
            .findings
            .first()
            .is_some_and(|finding| finding.id == "gpu-oom" && finding.about.as_deref() == Some("activations"));
        if !peak {
            continue;
        }
        peaks += 1;
        for step in &report.next_steps {
            for flag in ["--lowvram", "--novram", "--disable-smart-memory", "--reserve-vram", "--cpu-vae"] {
                let last_resort = flag == "--cpu-vae";
                assert!(last_resort || !step.text.contains(flag), "{name}: {}", step.text);
            }
        }
        assert!(!report.next_steps.is_empty(), "{name}: something helps");
    }
    assert!(peaks > 20, "the fixtures hold such peaks: {peaks}");
}

#[test]
fn a_leak_is_not_cured_by_hiding_it() {
    let packs = Packs::built_in();
    let mut leaks = 0;
    for (name, report) in reports(&packs) {
        if !report.verdict.primary.is_leak() {
            continue;
        }
        leaks += 1;
        for step in &report.next_steps {
            assert!(
                !step.text.contains("--cache-none") && !step.text.contains("--disable-smart-memory"),
                "{name}: {}",
                step.text
            );
        }
        let warned: String = report.avoid.iter().map(|avoid| avoid.text.as_str()).collect();
        assert!(warned.contains("--cache-none") && warned.contains("--disable-smart-memory"), "{name}: {warned}");
    }
    assert!(leaks > 20, "the fixtures hold leaks: {leaks}");
}

#[test]
fn before_the_repair_no_container_is_told_to_use_cache_ram_alone() {
    let packs = Packs::built_in();
    let mut containers = 0;
    for (name, report) in reports(&packs) {
        if report.verdict.primary != "container-limit" {
            continue;
        }
        containers += 1;
        for step in &report.next_steps {
            assert!(!step.flags.iter().any(|flag| flag.starts_with("--cache-ram")), "{name}: {}", step.text);
        }
    }
    assert!(containers > 0);
}
