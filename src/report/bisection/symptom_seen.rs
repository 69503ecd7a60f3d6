//! Does the symptom show in a session, in how many prompts, and which lines say so?

use std::collections::BTreeSet;

use super::symptom::Symptom;
use crate::catalog::Verdict;
use crate::diagnosis::{evidence, same_dir};
use crate::report::{EvidenceReport, Report, Status};
use crate::timeline::{Evidence, Session};

/// Lines that are shown for a symptom.
const LINES_SHOWN: usize = 2;
/// Prompts with the symptom from which on it counts as steady.
const STEADY_PROMPTS: u64 = 3;

/// What was seen of a symptom.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SymptomSeen {
    pub seen: bool,
    /// Lines that show it.
    pub evidence: Vec<EvidenceReport>,
    /// First prompt that showed it, from 1.
    pub first_prompt: Option<u64>,
    /// It showed in every prompt from then on, in three at least: it is taken to show in every run.
    pub steady: bool,
    /// It did so in all prompts that there are from then on, but these are fewer than three.
    pub may_be_steady: bool,
}

/// Looks for a symptom in a session. `report` is of the same log: growth is weighed there.
pub fn look(session: &Session, report: &Report, symptom: &Symptom) -> SymptomSeen {
    match symptom {
        Symptom::Leak(class) => leak(session, class.as_deref()),
        Symptom::Oom => ooms(session),
        Symptom::Growth => growth(report),
        Symptom::Error(text) => errors(session, text),
        Symptom::Import(dir) => imports(session, dir.as_deref()),
        Symptom::Manual => SymptomSeen::default(),
    }
}

fn leak(session: &Session, class: Option<&str>) -> SymptomSeen {
    let held = session.leaks.iter().filter(|(name, leak)| leak.warning > 0 && class.is_none_or(|class| class == *name));
    let held: Vec<_> = held.map(|(_, leak)| leak).collect();
    // The text that begins a pass belongs to the WARNING right below it.
    let lines = held.iter().flat_map(|leak| {
        let warning = leak.first_warning.as_ref();
        let above = |at: &&Evidence| warning.is_some_and(|warning| at.place.line + 1 == warning.place.line);
        leak.first_potential.as_ref().filter(above).into_iter().chain(warning)
    });
    let first = held.iter().map(|leak| leak.first_prompt).min();
    let prompts = held.iter().map(|leak| leak.prompts_held).max().unwrap_or(0);
    let shows = showing(session, first, prompts);
    SymptomSeen { seen: !held.is_empty(), evidence: shown(lines), first_prompt: first, ..shows }
}

fn ooms(session: &Session) -> SymptomSeen {
    let card = session.ooms.iter().map(|oom| (&oom.at, oom.prompt));
    let host = session.host_ooms.iter().map(|oom| (&oom.at, oom.prompt));
    in_prompts(session, card.chain(host).collect())
}

fn errors(session: &Session, text: &str) -> SymptomSeen {
    let wanted = text.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&wanted);
    let told = session.exceptions.iter().filter(|exception| {
        has(&exception.message) || exception.kind.as_deref().is_some_and(has) || has(&exception.at.text)
    });
    let mut found: Vec<(&Evidence, u64)> = told.map(|exception| (&exception.at, exception.prompt)).collect();
    found.extend(session.error_notices.iter().filter(|notice| has(&notice.text)).map(|notice| (notice, 0)));
    in_prompts(session, found)
}

fn imports(session: &Session, dir: Option<&str>) -> SymptomSeen {
    let failed = session.nodes.iter().filter(|node| node.failed && dir.is_none_or(|dir| same_dir(dir, &node.dir)));
    let lines: Vec<&Evidence> = failed.map(|node| node.reason_at.as_ref().unwrap_or(&node.at)).collect();
    // An import is the same at every start.
    let seen = !lines.is_empty();
    SymptomSeen { seen, evidence: shown(lines.into_iter()), first_prompt: None, steady: true, may_be_steady: false }
}

fn growth(report: &Report) -> SymptomSeen {
    let found = report
        .findings
        .iter()
        .find(|finding| finding.id == Verdict::LeakSuspected && finding.status >= Status::Possible);
    let lines = found.map(|finding| finding.evidence.iter().take(LINES_SHOWN).cloned().collect());
    // One judgement of a whole run: whether the next run shows it as well, only the next run tells.
    let seen = found.is_some();
    SymptomSeen { seen, evidence: lines.unwrap_or_default(), may_be_steady: seen, ..SymptomSeen::default() }
}

fn in_prompts(session: &Session, found: Vec<(&Evidence, u64)>) -> SymptomSeen {
    let prompts: BTreeSet<u64> = found.iter().map(|(_, prompt)| *prompt).filter(|prompt| *prompt > 0).collect();
    let first = prompts.first().copied();
    let shows = showing(session, first, prompts.len() as u64);
    SymptomSeen {
        seen: !found.is_empty(),
        evidence: shown(found.into_iter().map(|(at, _)| at)),
        first_prompt: first,
        ..shows
    }
}

/// Whether a symptom that showed in so many prompts from the `first` one on showed in each of them.
fn showing(session: &Session, first: Option<u64>, prompts: u64) -> SymptomSeen {
    let ran = session.prompts.executed;
    let each = first.is_none_or(|first| prompts + first > ran);
    let steady = first.is_some() && each && prompts >= STEADY_PROMPTS;
    SymptomSeen { steady, may_be_steady: each && !steady, ..SymptomSeen::default() }
}

fn shown<'e>(lines: impl Iterator<Item = &'e Evidence>) -> Vec<EvidenceReport> {
    lines.take(LINES_SHOWN).map(|line| evidence(line, None)).collect()
}
