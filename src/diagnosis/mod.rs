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
mod fill;
mod finding;
mod gaps;
mod given_up;
mod growth;
mod host;
mod hypotheses;
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
use crate::timeline::Timeline;

pub use draft::{evidence, place};
pub use finding::{
    Avoid, Basis, Candidate, EvidenceReport, Figure, Finding, Grade, PlaceReport, Reference, RuledOut, Status, Step,
    VersionReport,
};
use hypotheses::Case;
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
    /// Path under which the log was read, for the commands of the steps; none for a pipe.
    pub log: Option<String>,
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
    let samples = |view: &View<'_>| question.samples.as_ref().filter(|_| view.is_last);
    let case = |view| Case { view, views: &views, words, samples: samples(view), found: &[] };
    let mut findings: Vec<Finding> = views.iter().flat_map(|view| hypotheses::examine(case(view))).collect();
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
        chosen.figures.extend(failed_node(view, words, &chosen));
        chosen.figures.extend(host::other_killed(view, words));
        // What makes steps slow is no comfort where they failed.
        if chosen.id != Verdict::GpuOom {
            chosen.figures.extend(starved::note(view, words));
        }
    }
    starts::place(&mut chosen, &mut findings, &Starts::of(timeline, &views), words);
    let (next_steps, avoid) = match view {
        Some(view) => {
            let places = fill::Places::of(view, words, &chosen, question.log.as_deref());
            (remedies::steps(view, words, &chosen, &findings, &places), remedies::avoid(view, words, &chosen, &places))
        }
        None => (Vec::new(), Vec::new()),
    };
    let cannot_tell = view.map(|view| gaps::cannot_tell(view, words, &chosen, &findings)).unwrap_or_default();
    let version = view.map_or_else(
        || VersionReport { exact: None, from: None, before: None, basis: "unknown".to_owned(), evidence: Vec::new() },
        |view| view.version.clone(),
    );
    let answer = chosen.id;
    findings.insert(0, chosen);
    let against = |view| hypotheses::ruled_out(&Case { found: &findings, ..case(view) }, answer);
    let ruled_out = view.map(against).unwrap_or_default();
    Diagnosis { findings, secondary, ruled_out, next_steps, avoid, cannot_tell, version }
}

/// The node in which the prompt failed, where the finding does not name it.
fn failed_node(view: &View<'_>, words: &Words<'_>, chosen: &Finding) -> Option<finding::Figure> {
    let named = chosen.figures.iter().any(|figure| figure.name == "node");
    if named || !chosen.id.is_fault() {
        return None;
    }
    let of_prompt = |prompt: u64| chosen.prompt.is_none_or(|failed| failed == prompt);
    let mut exceptions = view.session.exceptions.iter().rev().filter(|exception| of_prompt(exception.prompt));
    let exception = exceptions.find(|exception| exception.node.is_some())?;
    let text = words.say("figure-node", &[("node", exception.node.as_deref()?)]);
    Some(draft::told("node", text, finding::Basis::Measured, exception.node_line.into_iter().collect()))
}

/// A prompt of the finding's session ended well.
fn ran_well(finding: &Finding, views: &[View<'_>]) -> bool {
    let view = views.iter().find(|view| view.number == finding.session);
    view.is_some_and(|view| view.session.prompts.executed > view.session.prompts.failed)
}
