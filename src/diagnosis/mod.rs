//! The story of a log is weighed: one file per hypothesis, then one verdict by the packs' table of precedence.
//!
//! A finding always carries its lines. What the log cannot show is said as a gap, never guessed.

mod concern;
mod fill;
mod fixes;
mod flag_notes;
mod launcher;
mod no_fault;
mod precedence;
mod starts;
mod tags;
mod unknowns;

use crate::catalog::Verdict;
use crate::event::Tally;
use crate::hypothesis::slow;
use crate::samples::Samples;
use crate::system::Kind;
use crate::timeline::Timeline;

pub use crate::catalog::messages::Messages;
use crate::hypothesis::Case;
pub use crate::hypothesis::by_design::cache_trigger_mib;
pub use crate::hypothesis::classes::is_core;
pub use crate::hypothesis::context::{Context, Gpu, LimitSource, Os, same_dir};
pub use crate::hypothesis::finding::{
    Avoid, Basis, Candidate, EvidenceReport, Figure, Finding, Grade, PlaceReport, Reference, RuledOut, Status, Step,
    VersionReport,
};
use crate::hypothesis::finding_builder::told;
pub use crate::hypothesis::finding_builder::{evidence, place};
pub use crate::hypothesis::growth::judge as judge_growth;
pub use crate::hypothesis::oom::{Part, Split, split};
pub use launcher::Launch;
use starts::Starts;

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
    /// The system on which the answer is read; the log may be of another.
    pub here: Kind,
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
pub fn diagnose(timeline: &Timeline, tally: Tally, messages: &Messages<'_>, question: &Question) -> Diagnosis {
    let views: Vec<Context<'_>> = (0..timeline.sessions.len())
        .filter_map(|index| Context::of(timeline, index, messages, question.memory_limit_mib))
        .collect();
    let samples = |view: &Context<'_>| question.samples.as_ref().filter(|_| view.is_last);
    let case = |view| Case { view, views: &views, messages, samples: samples(view), found: &[] };
    let mut findings: Vec<Finding> = views.iter().flat_map(|view| crate::hypothesis::examine(case(view))).collect();
    let asked_slow = question.asked.iter().any(|word| word == slow::WORD);
    let quiet = no_fault::examine(timeline, &views, messages, tally);
    let of_quiet = views.iter().find(|view| view.number == quiet.session && slow::may_replace(&quiet, asked_slow));
    let slow = of_quiet.and_then(|view| slow::answer(&case(view), asked_slow));
    findings.push(slow.unwrap_or(quiet));
    let choice = precedence::choose(&findings, &views, messages.packs, &question.asked);
    let (primary, secondary) =
        choice.map_or((findings.len() - 1, Vec::new()), |choice| (choice.primary, choice.secondary));
    let mut chosen = findings.remove(primary);
    let is_slow = |view: &Context<'_>| view.number == chosen.session && slow::is_shown(view);
    if chosen.id.is_by_design()
        && !spills(&chosen)
        && !views.iter().any(is_slow)
        && (!chosen.mentioned || ran_well(&chosen, &views))
    {
        chosen.summary = messages.text("nothing-is-wrong", &[("what", &chosen.summary)]);
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
        add_notes(&mut chosen, view, messages, question);
    }
    if let Some(view) = views.iter().find(|view| view.number == chosen.session) {
        let beside = crate::hypothesis::failure::beside(view, messages, &chosen);
        chosen.figures.extend(beside);
    }
    // What maintainers said and what a log cannot show are paragraphs, which stand behind what a line says.
    chosen.figures.sort_by_key(|figure| matches!(figure.name.as_str(), "said" | "needs"));
    starts::place(&mut chosen, &mut findings, &Starts::of(timeline, &views), messages);
    let (next_steps, avoid) = view.map(|view| advice(view, messages, &chosen, &findings, question)).unwrap_or_default();
    let cannot_tell =
        view.map(|view| unknowns::cannot_tell(view, messages, &chosen, &findings, question)).unwrap_or_default();
    let version = view.map_or_else(
        || VersionReport { exact: None, from: None, before: None, basis: "unknown".to_owned(), evidence: Vec::new() },
        |view| view.version.clone(),
    );
    let answer = chosen.id;
    findings.insert(0, chosen);
    let against = |view| crate::hypothesis::ruled_out(&Case { found: &findings, ..case(view) }, answer);
    let ruled_out = view.map(against).unwrap_or_default();
    Diagnosis { findings, secondary, ruled_out, next_steps, avoid, cannot_tell, version }
}

/// Adds what else of the log bears on the answer.
fn add_notes(chosen: &mut Finding, view: &Context<'_>, messages: &Messages<'_>, question: &Question) {
    let notes = concern::notes(view, messages, chosen, question);
    chosen.figures.splice(0..0, notes);
    chosen.figures.extend(crate::hypothesis::notice::notes(view, messages));
    chosen.figures.extend(failed_node(view, messages, chosen));
    let samples = question.samples.as_ref().filter(|_| view.is_last);
    chosen.figures.extend(crate::hypothesis::growth::note(view, messages, samples, chosen));
    chosen.figures.extend(slow::drift(view, messages).filter(|_| !slow::is_about(chosen)));
    chosen.figures.extend(crate::hypothesis::failure::loaded_before(view, messages, chosen));
    chosen.figures.extend(flag_notes::notes(view, messages, chosen));
    chosen.figures.extend(crate::hypothesis::host::other_killed(view, messages));
    // What makes steps slow is no comfort where they failed.
    if chosen.id != Verdict::GpuOom {
        chosen.figures.extend(crate::hypothesis::low_vram_budget::note(view, messages));
    }
}

/// The node in which the prompt failed, where the finding does not name it.
fn failed_node(view: &Context<'_>, messages: &Messages<'_>, chosen: &Finding) -> Option<Figure> {
    let named = chosen.figures.iter().any(|figure| figure.name == "node");
    if named || chosen.id.is_by_design() || chosen.id == Verdict::NoFault {
        return None;
    }
    let of_prompt = |prompt: u64| chosen.prompt.is_none_or(|failed| failed == prompt);
    let mut exceptions = view.session.exceptions.iter().rev().filter(|exception| of_prompt(exception.prompt));
    let exception = exceptions.find(|exception| exception.node.is_some());
    let (node, line) = match (exception, &view.session.title) {
        (Some(exception), _) => (exception.node.as_deref()?, exception.node_line.or(Some(exception.at.place.line))),
        (None, Some(title)) => (title.node.as_str(), Some(title.line)),
        (None, None) => return None,
    };
    let text = crate::hypothesis::failure::node_text(node, messages);
    Some(told("node", text, Basis::Measured, line.into_iter().collect()))
}

/// What to do, and what not.
fn advice(
    view: &Context<'_>,
    messages: &Messages<'_>,
    chosen: &Finding,
    findings: &[Finding],
    question: &Question,
) -> (Vec<Step>, Vec<Avoid>) {
    let places = fill::Places::of(view, messages, chosen, question);
    (fixes::steps(view, messages, chosen, findings, &places), fixes::avoid(view, messages, chosen, &places))
}

/// Steps became several times slower: what is as asked for is still too much for the card.
fn spills(finding: &Finding) -> bool {
    finding.figures.iter().any(|figure| figure.name == crate::hypothesis::by_design::SLOWER_FIGURE)
}

/// A prompt of the finding's session ended well.
fn ran_well(finding: &Finding, views: &[Context<'_>]) -> bool {
    let view = views.iter().find(|view| view.number == finding.session);
    view.is_some_and(|view| view.session.prompts.executed > view.session.prompts.failed)
}
