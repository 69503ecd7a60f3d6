//! The story of a log is weighed: one file per hypothesis, then one verdict by the packs' table of precedence.
//!
//! A finding always carries its lines. What the log cannot show is said as a gap, never guessed.

mod bugs;
mod classes;
pub(crate) mod defaults;
mod design;
mod draft;
mod factor;
mod failure;
mod finding;
mod gaps;
mod given_up;
mod growth;
mod host;
mod launcher;
mod leak;
mod mention;
mod oom;
mod packages;
mod phase;
mod quiet;
mod reload;
mod remedies;
mod starts;
mod starved;
mod verdict;
mod view;
mod words;
mod worry;

use crate::event::Tally;
use crate::rule::Verdict;
use crate::samples::Samples;
use crate::timeline::{EndingKind, Timeline};

pub use draft::{evidence, place};
pub use finding::{
    Avoid, Basis, Candidate, EvidenceReport, Figure, Finding, Grade, PlaceReport, Reference, RuledOut, Status, Step,
    VersionReport,
};
pub use launcher::Launch;
pub use oom::{Part, split};
use starts::Starts;
pub use view::{Gpu, LimitSource, Os, View, same_dir};
pub use words::Words;

/// Side evidence and the user's question.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// Words of `--asked`.
    pub asked: Vec<String>,
    /// Limit of memory that the user told or a probe found, in MiB.
    pub memory_limit_mib: Option<f64>,
    /// Memory readings taken beside the log.
    pub samples: Option<Samples>,
}

/// All findings and the answer among them.
#[derive(Debug, Clone)]
pub struct Diagnosis {
    /// Primary first, then by standing.
    pub findings: Vec<Finding>,
    pub secondary: Vec<Verdict>,
    pub ruled_out: Vec<RuledOut>,
    pub next_steps: Vec<Step>,
    pub avoid: Vec<Avoid>,
    pub cannot_tell: Vec<String>,
    pub version: VersionReport,
}

/// Weighs the story of a log.
pub fn diagnose(timeline: &Timeline, tally: Tally, words: &Words<'_>, question: &Question) -> Diagnosis {
    let views: Vec<View<'_>> = (0..timeline.sessions.len())
        .filter_map(|index| View::of(timeline, index, words, question.memory_limit_mib))
        .collect();
    let mut findings: Vec<Finding> = views.iter().flat_map(|view| examine(view, words, question)).collect();
    findings.push(quiet::examine(timeline, &views, words, tally));
    let choice = verdict::choose(&findings, &views, words.packs, &question.asked);
    let (primary, secondary) =
        choice.map_or((findings.len() - 1, Vec::new()), |choice| (choice.primary, choice.secondary));
    let mut chosen = findings.remove(primary);
    if chosen.id.is_by_design() && (!chosen.mentioned || ran_well(&chosen, &views)) {
        chosen.summary = words.say("nothing-is-wrong", &[("what", &chosen.summary)]);
    }
    // A verdict for the case that nothing holds says nothing once something does.
    findings.retain(|finding| !finding.id.is_empty());
    findings.sort_by(|a, b| {
        b.status
            .cmp(&a.status)
            .then_with(|| b.grade.cmp(&a.grade))
            .then_with(|| b.session.cmp(&a.session))
            .then_with(|| a.fingerprint.cmp(&b.fingerprint))
    });
    let view = views.iter().find(|view| view.number == chosen.session).or(views.last());
    if let Some(view) = view {
        let notes = worry::notes(view, words, &chosen, question);
        chosen.figures.splice(0..0, notes);
        chosen.figures.extend(mention::notes(view, words));
        chosen.figures.extend(host::other_killed(view, words));
        // What makes steps slow is no comfort where they failed.
        if chosen.id != Verdict::GpuOom {
            chosen.figures.extend(starved::note(view, words));
        }
    }
    starts::place(&mut chosen, &mut findings, &Starts::of(timeline, &views), words);
    let (next_steps, avoid) = match view {
        Some(view) => (remedies::steps(view, words, &chosen, &findings), remedies::avoid(view, words, &chosen)),
        None => (Vec::new(), Vec::new()),
    };
    let ruled_out = view.map(|view| gaps::ruled_out(view, &views, words, &chosen, &findings)).unwrap_or_default();
    let cannot_tell = view.map(|view| gaps::cannot_tell(view, words, &chosen, &findings)).unwrap_or_default();
    let version = view.map_or_else(
        || VersionReport { exact: None, from: None, before: None, basis: "unknown".to_owned(), evidence: Vec::new() },
        |view| view.version.clone(),
    );
    findings.insert(0, chosen);
    Diagnosis { findings, secondary, ruled_out, next_steps, avoid, cannot_tell, version }
}

/// A prompt of the finding's session ended well.
fn ran_well(finding: &Finding, views: &[View<'_>]) -> bool {
    let view = views.iter().find(|view| view.number == finding.session);
    view.is_some_and(|view| view.session.prompts.executed > view.session.prompts.failed)
}

fn examine(view: &View<'_>, words: &Words<'_>, question: &Question) -> Vec<Finding> {
    let samples = question.samples.as_ref().filter(|_| view.is_last);
    let mut findings = Vec::new();
    findings.extend(leak::examine(view, words));
    findings.extend(oom::examine(view, words));
    findings.extend(host::examine(view, words));
    findings.extend(given_up::examine(view, words));
    findings.extend(failure::examine(view, words));
    findings.extend(reload::examine(view, words));
    findings.extend(growth::examine(view, words, samples));
    findings.extend(packages::examine(view, words));
    let structures = structures(view, &findings);
    findings.extend(bugs::examine(view, words, &structures));
    findings.extend(design::examine(view, words, samples));
    findings.extend(mention::examine(view, words));
    findings
}

/// What holds in this session, by the names that bug packs use.
fn structures(view: &View<'_>, findings: &[Finding]) -> bugs::Structures {
    let session = view.session;
    let likely = findings.iter().filter(|finding| finding.status >= Status::Likely);
    let mut names: Vec<&'static str> = likely.filter_map(|finding| finding.id.structure()).collect();
    let mut add = |name: &'static str, holds: bool| {
        if holds {
            names.push(name);
        }
    };
    add("oom", !session.ooms.is_empty());
    add("host-oom", !session.host_ooms.is_empty());
    add("tiled-retry", session.counts.tiled_retries.is_some());
    add("pin-errors", session.counts.pin_errors.is_some());
    let ending = view.ending();
    add("killed", ending.is_some_and(|ending| ending.kind == EndingKind::Killed));
    add("crash", ending.is_some_and(|ending| ending.kind == EndingKind::NativeCrash));
    add("container", findings.iter().any(|finding| finding.id == Verdict::ContainerLimit));
    add("load-size-grows", session.loads.values().any(|load| grows(&load.sizes_mib)));
    let seconds: Vec<f64> =
        session.prompt_list.iter().filter(|prompt| !prompt.failed).filter_map(|prompt| prompt.seconds).collect();
    add("seconds-grow", grows(&seconds));
    add("growth", findings.iter().any(growth::is_growth));
    bugs::Structures { names }
}

/// At least four values, each larger than the one before by more than noise.
fn grows(values: &[f64]) -> bool {
    values.len() >= 4 && values.windows(2).all(|pair| matches!(pair, [a, b] if *b > a * 1.02))
}
