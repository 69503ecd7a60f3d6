//! From the log of a round to what it showed: *bad*, *good*, or why it does not count.
//!
//! Which packs were on is read from the log, never believed. A run in which the work could not be done is not
//! quiet: it says nothing.

use std::collections::BTreeMap;

use super::growth::{GrowthSeen, Measured};
use super::install::{Pack, baseline};
use super::symptom::Symptom;
use super::symptom_seen::{SymptomSeen, look};
use crate::catalog::Packs;
use crate::diagnosis::{Context, Messages, evidence, same_dir};
use crate::report::{EvidenceReport, Report};
use crate::timeline::{Evidence, Session};

/// Facts with this much difference are the same: machines round.
const SAME_WITHIN: f64 = 0.02;
/// Names shown in one sentence.
const NAMES_SHOWN: usize = 4;

/// What a round was asked to be.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// Folders that were to be on.
    pub on: &'a [String],
    /// All folders of the install.
    pub packs: &'a [Pack],
    pub baseline: &'a BTreeMap<String, String>,
    pub symptom: &'a Symptom,
    /// Prompts that had to run.
    pub prompts: u64,
    /// Readings that were taken beside it.
    pub growth: Option<Measured>,
}

/// What it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observed {
    Bad,
    Good,
    /// The workflow could not run with these packs on.
    CannotRun {
        keep: Vec<String>,
    },
    /// It does not count.
    Void,
}

/// The answer for one round.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub seen: Observed,
    /// Folders that were on.
    pub on: Vec<String>,
    /// Folders that were on and could not be imported, although they could in the first log.
    pub broken: Vec<String>,
    /// The symptom showed in every prompt from its first one on. None where that cannot be said.
    pub steady: Option<bool>,
    /// In a sentence.
    pub reason: String,
    pub evidence: Vec<EvidenceReport>,
}

/// Judges the last session of the log that `view` shows.
pub fn observe(view: &Context<'_>, report: &Report, expected: &Expected<'_>, messages: &Messages<'_>) -> Observation {
    Judge { session: view.session, report, expected, messages }.judge()
}

struct Judge<'a> {
    session: &'a Session,
    report: &'a Report,
    expected: &'a Expected<'a>,
    messages: &'a Messages<'a>,
}

impl Judge<'_> {
    fn judge(&self) -> Observation {
        let wrong = self.whitelist().or_else(|| self.changed());
        if let Some(void) = wrong {
            return void;
        }
        let broken = self.broken();
        let on = self.expected.on.to_vec();
        let sight = match self.expected.growth {
            Some(measured) if *self.expected.symptom == Symptom::Growth => SymptomSeen {
                seen: measured.seen() == GrowthSeen::Grows,
                // It grew from prompt to prompt: in each of them.
                steady: true,
                ..SymptomSeen::default()
            },
            _ => look(self.session, self.report, self.expected.symptom),
        };
        if sight.seen {
            let lines: Vec<u64> = sight.evidence.iter().map(|line| line.at.line).collect();
            let reason = match lines.first() {
                Some(line) => self.messages.text("bisect-seen", &[("line", &line.to_string())]),
                None => self.messages.text("bisect-seen-samples", &[]),
            };
            let steady = Some(sight.steady);
            return Observation { seen: Observed::Bad, on, broken, steady, reason, evidence: sight.evidence };
        }
        if !broken.is_empty() {
            return self.cannot_run(Vec::new(), broken, "bisect-broken", self.import_lines());
        }
        if let Some(cannot) = self.did_not_run() {
            return cannot;
        }
        let asks_for_hand = match self.expected.symptom {
            Symptom::Manual => true,
            Symptom::Growth => self.expected.growth.is_none(),
            _ => false,
        };
        if asks_for_hand {
            return self.void("bisect-by-hand", &[], Vec::new());
        }
        let unclear = self.expected.growth.is_some_and(|measured| measured.seen() == GrowthSeen::Unclear);
        if unclear && *self.expected.symptom == Symptom::Growth {
            return self.void("bisect-growth-unclear", &[], Vec::new());
        }
        let reason = self.messages.count("bisect-not-seen-one", "bisect-not-seen", self.ran(), &[]);
        let evidence = self.session.last_executed.iter().map(|at| evidence(at, None)).collect();
        Observation { seen: Observed::Good, on, broken, steady: None, reason, evidence }
    }

    fn void(&self, id: &str, values: &[(&str, &str)], lines: Vec<EvidenceReport>) -> Observation {
        let reason = self.messages.text(id, values);
        let (on, broken) = (Vec::new(), Vec::new());
        Observation { seen: Observed::Void, on, broken, steady: None, reason, evidence: lines }
    }

    fn cannot_run(&self, keep: Vec<String>, broken: Vec<String>, id: &str, lines: Vec<EvidenceReport>) -> Observation {
        let names = names(if broken.is_empty() { &keep } else { &broken });
        let reason = self.messages.text(id, &[("names", &names)]);
        Observation {
            seen: Observed::CannotRun { keep },
            on: self.expected.on.to_vec(),
            broken,
            steady: None,
            reason,
            evidence: lines,
        }
    }

    /// The packs that were on must be the ones that were to be on.
    fn whitelist(&self) -> Option<Observation> {
        let session = self.session;
        let loaded: Vec<&str> = session
            .nodes
            .iter()
            .map(|node| node.dir.as_str())
            .filter(|dir| !self.messages.packs.is_own_folder(dir))
            .collect();
        let table = !session.nodes.is_empty();
        if !table && session.nodes_disabled.is_none() && session.nodes_skipped.is_empty() {
            return Some(self.void("bisect-no-table", &[], Vec::new()));
        }
        let wanted = self.expected.on;
        let in_install = |dir: &str| self.expected.packs.iter().any(|pack| same_dir(&pack.dir, dir));
        let too_many: Vec<String> = loaded
            .iter()
            .filter(|dir| !wanted.iter().any(|wanted| same_dir(wanted, dir)))
            .map(|dir| (*dir).to_owned())
            .collect();
        let missing: Vec<String> =
            wanted.iter().filter(|wanted| !loaded.iter().any(|dir| same_dir(wanted, dir))).cloned().collect();
        let lines = || session.nodes.iter().take(1).map(|node| evidence(&node.at, None)).collect();
        if let Some(new) = too_many.iter().find(|dir| !in_install(dir)) {
            return Some(self.void("bisect-new-pack", &[("name", new)], lines()));
        }
        if !too_many.is_empty() {
            return Some(self.void("bisect-too-many", &[("names", &names(&too_many))], lines()));
        }
        if !missing.is_empty() {
            let at: Option<&Evidence> = session.nodes_disabled.as_ref();
            let lines = at.map(|at| vec![evidence(at, None)]).unwrap_or_default();
            return Some(self.void("bisect-too-few", &[("names", &names(&missing))], lines));
        }
        None
    }

    /// Another version or another machine state would be a second change.
    fn changed(&self) -> Option<Observation> {
        let now = baseline(self.session);
        for (name, before) in self.expected.baseline {
            let Some(after) = now.get(name) else { continue };
            if !same(before, after) {
                let lines = self.session.fact(name).map(|fact| vec![evidence(&fact.at, None)]).unwrap_or_default();
                return Some(self.void(
                    "bisect-changed",
                    &[("fact", name), ("before", before), ("after", after)],
                    lines,
                ));
            }
        }
        None
    }

    /// Packs that could be imported in the first log and cannot now: another one is missing.
    fn broken(&self) -> Vec<String> {
        let looked_for = |dir: &str| match self.expected.symptom {
            Symptom::Import(wanted) => wanted.as_deref().is_none_or(|wanted| same_dir(wanted, dir)),
            _ => false,
        };
        let failed = self.session.nodes.iter().filter(|node| node.failed && !looked_for(&node.dir));
        let whole = |dir: &str| self.expected.packs.iter().any(|pack| !pack.failed && same_dir(&pack.dir, dir));
        failed.filter(|node| whole(&node.dir)).map(|node| node.dir.clone()).collect()
    }

    fn import_lines(&self) -> Vec<EvidenceReport> {
        let failed = self.session.nodes.iter().filter(|node| node.failed);
        failed.take(1).map(|node| evidence(node.reason_at.as_ref().unwrap_or(&node.at), None)).collect()
    }

    /// Prompts that came to their end as they should.
    fn ran(&self) -> u64 {
        let prompts = self.session.prompts;
        prompts.executed.saturating_sub(prompts.failed + prompts.interrupted)
    }

    /// Too little ran for a quiet log to mean anything.
    fn did_not_run(&self) -> Option<Observation> {
        let session = self.session;
        if matches!(self.expected.symptom, Symptom::Import(_)) || self.ran() >= self.expected.prompts {
            return None;
        }
        if let Some(at) = &session.invalid_at {
            let lines = vec![evidence(at, None)];
            return Some(match missing_node(at, self.messages.packs) {
                Some(class) => {
                    let keep = self.likely_owner(&class);
                    let id = if keep.is_empty() { "bisect-missing-node" } else { "bisect-missing-node-of" };
                    let mut told = self.cannot_run(keep.clone(), Vec::new(), id, lines);
                    told.reason = self.messages.text(id, &[("class", &class), ("names", &names(&keep))]);
                    told
                }
                None => self.cannot_run(Vec::new(), Vec::new(), "bisect-refused", lines),
            });
        }
        if session.prompts.failed > 0 {
            let failed = session.exceptions.last().map(|exception| evidence(&exception.at, None));
            return Some(self.void("bisect-other-failure", &[], failed.into_iter().collect()));
        }
        let values = [("n", self.ran().to_string()), ("wanted", self.expected.prompts.to_string())];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let lines = session.last_executed.iter().map(|at| evidence(at, None)).collect();
        Some(self.void("bisect-too-short", &values, lines))
    }

    /// The one pack that is off and whose name holds the class's name. A guess; the search finds out otherwise.
    fn likely_owner(&self, class: &str) -> Vec<String> {
        let class = letters(class);
        let off = self.expected.packs.iter().filter(|pack| !self.expected.on.contains(&pack.dir));
        let like: Vec<String> = off
            .filter(|pack| class.len() > 3 && letters(&pack.dir).contains(&class))
            .map(|pack| pack.dir.clone())
            .collect();
        if like.len() == 1 { like } else { Vec::new() }
    }
}

/// The node type that a refused workflow lacks, when the refusal names one.
fn missing_node(at: &Evidence, packs: &Packs) -> Option<String> {
    let hit = packs.matcher().find(at.text.as_bytes()).filter(|hit| hit.rule.sets("missing_node"))?;
    hit.captures.get("node_type").map(|capture| String::from_utf8_lossy(capture.text).into_owned())
}

fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The first few of many names.
fn names(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SHOWN).map(String::as_str).collect();
    let more = if names.len() > NAMES_SHOWN { format!(" … ({})", names.len()) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn same(before: &str, after: &str) -> bool {
    match (before.parse::<f64>(), after.parse::<f64>()) {
        (Ok(before), Ok(after)) => (before - after).abs() <= before.abs() * SAME_WITHIN,
        _ => before == after,
    }
}
