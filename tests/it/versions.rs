//! A log without a fault stays without one whatever version it claims: a version alone is no bug.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, answer, read_log};

/// Fixtures in which nothing is wrong, with the version line they print.
const HEALTHY: [(&str, &str); 6] = [
    ("case/a01_healthy_25/console.log", "0.3.64"),
    ("case/a09_sd15_default_workflow/console.log", "0.3.64"),
    ("case/b01_healthy_25/console.log", "0.33.0"),
    ("case/100/console.log", "0.30.2"),
    ("clean/0.8.0-flux-16gb.log", "0.8.0"),
    ("clean/0.33.0-dynamic-detail.log", "0.33.0"),
];

#[test]
fn no_version_makes_a_bug_of_a_healthy_log() {
    let packs = Packs::built_in();
    for (name, version) in HEALTHY {
        let path = format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = String::from_utf8(std::fs::read(&path).expect("the fixture is there")).expect("UTF-8");
        let line = format!("ComfyUI version: {version}");
        assert!(text.contains(&line), "{name} prints {line}");
        for release in &packs.releases {
            let other = text.replace(&line, &format!("ComfyUI version: {}", release.version));
            let source = Source::from_reader(name, std::io::Cursor::new(other.into_bytes())).expect("opens");
            let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
            for asked in [vec![], vec!["ram-high".to_owned()], vec!["vram-high".to_owned()]] {
                let report = answer(name, &read, &packs, &Question { asked, ..Question::default() });
                let verdict = &report.verdict;
                assert_ne!(verdict.primary, "version-bug", "{name} as {}: {}", release.version, verdict.headline);
                assert!(
                    !verdict.secondary.iter().any(|id| id == "version-bug"),
                    "{name} as {}: {:?}",
                    release.version,
                    verdict.secondary
                );
                let faultless = ["no-fault", "caching-by-design", "pinning-by-design", "user-residency"];
                assert!(
                    faultless.contains(&verdict.primary.as_str()),
                    "{name} as {}: {}",
                    release.version,
                    verdict.primary
                );
            }
        }
    }
}
