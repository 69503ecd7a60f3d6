//! Every version range of the packs, at its ends: what does not exist in a version is not spoken of in its logs.
//!
//! Synthetic logs claim the version before a boundary, and the one at it. Known bugs are not found outside of their
//! range, no advice names a flag that the version does not have, and what bounds the version of a log without a number
//! (the date of its git revision, time stamps) is heeded.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use comfy_triage::catalog::{BugDef, Packs, Since, Verdict, Version};
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, Status, answer, read_log};
use rayon::prelude::*;

/// Cases of different verdicts whose logs print a version.
const CASES: [&str; 14] = [
    "012",
    "020",
    "023",
    "029",
    "044",
    "089",
    "091",
    "100",
    "102",
    "105",
    "a02_strong_leak_25",
    "linux-killed-pinned-ninety-percent",
    "a06_oom_three_kinds",
    "lowvram-idle-under-dynamic-vram",
];
/// What a sentence says that speaks of other versions on purpose.
const OF_OTHERS: [&str; 9] =
    ["pdate", "pgrade", "or later", "does not exist", "not have", "removed", "came with", "if your version", "from 0."];

fn report(log: &str, packs: &Packs, asked: &[&str]) -> Report {
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).unwrap();
    let read = read_log(source, packs, &ReadOptions::default()).unwrap();
    let asked = asked.iter().map(|word| (*word).to_owned()).collect();
    answer("log", &read, packs, &Question { asked, ..Question::default() })
}

/// The version before, and the one after; patch numbers go up to two digits.
fn neighbours(version: Version) -> [Option<Version>; 2] {
    let before = match (version.minor, version.patch) {
        (_, patch) if patch > 0 => Some(Version::new(version.major, version.minor, patch - 1)),
        (minor, _) if minor > 0 => Some(Version::new(version.major, minor - 1, 99)),
        _ => None,
    };
    [before, Some(Version::new(version.major, version.minor, version.patch + 1))]
}

/// All versions at which something begins or ends, each with its neighbours.
fn boundaries(packs: &Packs) -> BTreeSet<Version> {
    let at = |since: Since| if let Since::At(version) = since { Some(version) } else { None };
    let mut all: BTreeSet<Version> = BTreeSet::new();
    all.extend(
        packs
            .flags
            .iter()
            .flat_map(|flag| [at(flag.since), flag.until, flag.no_effect_since, flag.overridden_since])
            .flatten(),
    );
    all.extend(packs.remedies.iter().flat_map(|remedy| [remedy.since, remedy.until]).flatten());
    all.extend(packs.avoids.iter().flat_map(|avoid| [avoid.since, avoid.until]).flatten());
    let beside: Vec<Version> = all.iter().flat_map(|version| neighbours(*version)).flatten().collect();
    all.extend(beside);
    all
}

fn sentences(report: &Report) -> Vec<String> {
    let mut all = vec![report.verdict.headline.clone()];
    for finding in &report.findings {
        all.push(finding.summary.clone());
        all.extend(finding.settle.clone());
        all.extend(finding.figures.iter().map(|figure| figure.text.clone()));
    }
    all.extend(report.next_steps.iter().flat_map(|step| [Some(step.text.clone()), step.command.clone()]).flatten());
    all.extend(report.avoid.iter().map(|avoid| format!("{} {}", avoid.text, avoid.why)));
    all.extend(report.cannot_tell.iter().cloned());
    all
}

/// Flags of ComfyUI that a text names.
fn flags_in<'p>(text: &str, packs: &'p Packs) -> Vec<&'p str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
    words.filter(|word| word.starts_with("--")).filter_map(|word| Some(packs.flag(word)?.name.as_str())).collect()
}

#[test]
fn no_sentence_names_a_flag_that_the_version_does_not_have() {
    let packs = Packs::built_in();
    let versions = boundaries(&packs);
    let jobs: Vec<(&str, Version)> =
        CASES.iter().flat_map(|name| versions.iter().map(move |version| (*name, *version))).collect();
    let found: BTreeSet<String> = jobs
        .par_iter()
        .flat_map(|(name, version)| {
            let path = crate::case::root().join(format!("fixtures/case/{name}/console.log"));
            let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
            let line = text.lines().find(|line| line.contains("ComfyUI version: ")).unwrap();
            let number = line.split("ComfyUI version: ").nth(1).unwrap().split_whitespace().next().unwrap();
            let log = text.replace(&format!("ComfyUI version: {number}"), &format!("ComfyUI version: {version}"));
            let log = log.replace(&format!("ComfyUI Version:** {number}"), &format!("ComfyUI Version:** {version}"));
            let own: BTreeSet<&str> = flags_in(&log, &packs).into_iter().collect();
            let report = report(&log, &packs, &[]);
            let mut faults = Vec::new();
            // Texts that are newer than the number are those of a checkout, whatever it prints.
            if report.version.exact.is_none() {
                return faults;
            }
            for sentence in sentences(&report) {
                if OF_OTHERS.iter().any(|words| sentence.contains(words)) {
                    continue;
                }
                for flag in flags_in(&sentence, &packs).into_iter().filter(|flag| !own.contains(flag)) {
                    let def = packs.flag(flag).unwrap();
                    let early = matches!(def.since, Since::At(since) if *version < since);
                    let late = def.until.is_some_and(|until| *version > until);
                    if early || late {
                        faults.push(format!("{name} as {version}: {flag} in \"{sentence}\""));
                    }
                }
            }
            faults
        })
        .collect();
    let list: Vec<&String> = found.iter().collect();
    assert!(
        list.is_empty(),
        "{} sentences:\n{}",
        list.len(),
        found.iter().take(60).cloned().collect::<Vec<_>>().join("\n")
    );
}

/// A log of `version` in which the texts of a bug stand, as an exception of a prompt.
fn with_bug(bug: &BugDef, version: Version) -> String {
    let texts: Vec<&String> = bug.signature.iter().take(1).chain(&bug.signature_all).collect();
    let lines: String = texts.iter().map(|text| format!("!!! Exception during processing !!! {text}\n")).collect();
    format!(
        "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.9.0+cu130\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nComfyUI version: {version}\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\ngot prompt\n{lines}Prompt executed in 3.00 seconds\n"
    )
}

#[test]
fn known_bugs_are_found_in_their_versions_alone() {
    let packs = Packs::built_in();
    let mut found_inside = 0;
    let mut wrong = Vec::new();
    for bug in packs.bugs.iter().filter(|bug| !bug.signature.is_empty() || !bug.signature_all.is_empty()) {
        let told = |version: Version| {
            let report = report(&with_bug(bug, version), &packs, &[]);
            // A text that is newer than the number is that of a checkout.
            let exact = report.version.exact.is_some();
            report.findings.into_iter().filter(|_| exact).find(|finding| {
                finding.id == Verdict::VersionBug
                    && finding.about.as_deref() == Some(bug.id.as_str())
                    && finding.status >= Status::Likely
            })
        };
        let outside = [
            bug.since.and_then(|since| neighbours(since)[0]),
            bug.fixed_in,
            bug.until
                .and_then(|until| neighbours(until)[1])
                .filter(|after| bug.fixed_in.is_none_or(|fixed| *after >= fixed)),
        ];
        for version in outside.into_iter().flatten() {
            if let Some(finding) = told(version) {
                wrong.push(format!("{} is told of {version}: {}", bug.id, finding.summary));
            }
        }
        let inside = bug.since.or(bug.until).or(bug.fixed_in.and_then(|fixed| neighbours(fixed)[0]));
        found_inside += usize::from(inside.is_some_and(|version| told(version).is_some()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found_inside >= 15, "only {found_inside} bugs were found in a version that has them");
}

/// The head of a log of a checkout, as ComfyUI-Manager prints its revision.
fn checkout(day: &str) -> String {
    format!(
        "### ComfyUI Revision: 3050 [a1b2c3d4] | Released on '{day}'\nTotal VRAM 24564 MB, total RAM 65367 MB\ngot prompt\nPrompt executed in 3.00 seconds\n"
    )
}

#[test]
fn the_date_of_a_revision_bounds_the_version() {
    let packs = Packs::built_in();
    let dated: Vec<_> = packs.releases.iter().filter(|release| release.date.len() == 10).collect();
    assert!(dated.len() > 50);
    for pair in dated.windows(2).filter(|pair| pair[0].date < pair[1].date) {
        let report = report(&checkout(&pair[1].date), &packs, &[]);
        let version = &report.version;
        assert_eq!(version.basis, "revision");
        let from = Version::parse(version.from.as_deref().unwrap()).unwrap();
        assert!(from <= pair[0].version.max(from) && from <= pair[1].version, "{}: from {from}", pair[1].date);
        let before = version.before.as_deref().and_then(Version::parse);
        assert!(before.is_none_or(|before| before > pair[1].version), "{}: before {before:?}", pair[1].date);
    }
    let early = report(&checkout("2024-01-01"), &packs, &[]);
    assert_eq!((early.version.from.as_deref(), early.version.before.as_deref()), (None, Some("0.0.1")));
}

#[test]
fn a_log_is_not_of_a_version_that_came_after_its_stamps() {
    let packs = Packs::built_in();
    let log = |day: &str, text: &str| {
        format!(
            "{day} 10:00:00,000 - root - INFO - Total VRAM 24564 MB, total RAM 65367 MB\n{day} 10:00:01,000 - root - INFO - {text}\n{day} 10:00:02,000 - root - INFO - got prompt\n{day} 10:00:03,000 - root - INFO - Prompt executed in 1.00 seconds\n"
        )
    };
    let report_of = |day: &str, text: &str| report(&log(day, text), &packs, &[]).version;
    let version = report_of("2024-09-23", "Set vram state to: NORMAL_VRAM");
    let before = version.before.as_deref().and_then(Version::parse).unwrap();
    let latest = packs.releases.iter().find(|release| release.version == before).unwrap();
    assert!(latest.date.as_str() > "2024-09-23", "{version:?}");
    assert_eq!(version.basis, "stamps");
    // The text came months after the stamps: neither end is told.
    let both =
        report_of("2024-09-23", "Model WAN21 prepared for dynamic VRAM loading. 13500MB Staged. 0 patches attached.");
    assert_eq!((both.from.as_deref(), both.before.as_deref(), both.basis.as_str()), (None, None, "contradictory"));
}
