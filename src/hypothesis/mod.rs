//! The hypotheses, one file each: what speaks for it in one start of ComfyUI (`examine`), and what against it (`rule_out`).

pub(crate) mod by_design;
pub(crate) mod cause;
pub(crate) mod classes;
pub(crate) mod context;
pub(crate) mod crash;
pub(crate) mod defaults;
pub(crate) mod factor;
pub(crate) mod failure;
pub(crate) mod fault;
pub(crate) mod finding;
pub(crate) mod finding_builder;
pub(crate) mod growth;
pub(crate) mod host;
pub(crate) mod import;
pub(crate) mod leak;
pub(crate) mod logged_error;
pub(crate) mod lone;
pub(crate) mod low_vram_budget;
pub(crate) mod notice;
pub(crate) mod oom;
pub(crate) mod packages;
pub(crate) mod phase;
pub(crate) mod refused;
pub(crate) mod reload;
pub(crate) mod slow;
pub(crate) mod span;
pub(crate) mod start;
pub(crate) mod version_bug;
pub(crate) mod watchdog;

use crate::catalog::messages::Messages;
use context::Context;
use finding::{EvidenceReport, Finding, RuledOut};

use crate::catalog::Verdict;
use crate::samples::Samples;

/// What a hypothesis looks at.
#[derive(Debug, Clone, Copy)]
pub struct Case<'c> {
    /// The start of ComfyUI that it is asked about.
    pub view: &'c Context<'c>,
    /// All starts, in the order of the log.
    pub views: &'c [Context<'c>],
    pub messages: &'c Messages<'c>,
    /// Memory readings taken beside this start.
    pub samples: Option<&'c Samples>,
    /// What other hypotheses found: those before it when it is examined, all when it may be ruled out.
    pub found: &'c [Finding],
}

impl Case<'_> {
    /// Something speaks for this verdict.
    pub fn has(&self, verdict: Verdict) -> bool {
        self.found.iter().any(|finding| finding.id == verdict)
    }

    /// The verdict that is ruled out, with its sentence.
    pub fn against(&self, id: Verdict, reason: String, evidence: Vec<EvidenceReport>) -> RuledOut {
        RuledOut { id, reason, evidence }
    }
}

/// A hypothesis.
struct Hypothesis {
    examine: fn(&Case<'_>) -> Vec<Finding>,
    /// Only asked when prompts ran.
    rule_out: fn(&Case<'_>) -> Vec<RuledOut>,
}

/// One that the absence of lines says nothing against.
fn never(_: &Case<'_>) -> Vec<RuledOut> {
    Vec::new()
}

/// All of them. Known bugs ask what those before them found.
const REGISTRY: &[Hypothesis] = &[
    Hypothesis { examine: leak::examine, rule_out: leak::rule_out },
    Hypothesis { examine: oom::examine, rule_out: oom::rule_out },
    Hypothesis { examine: host::examine, rule_out: host::rule_out },
    Hypothesis { examine: watchdog::examine, rule_out: never },
    Hypothesis { examine: import::examine, rule_out: never },
    Hypothesis { examine: failure::examine, rule_out: failure::rule_out },
    Hypothesis { examine: refused::examine, rule_out: never },
    Hypothesis { examine: lone::examine, rule_out: never },
    Hypothesis { examine: logged_error::examine, rule_out: never },
    Hypothesis { examine: reload::examine, rule_out: reload::rule_out },
    Hypothesis { examine: growth::examine, rule_out: never },
    Hypothesis { examine: packages::examine, rule_out: never },
    Hypothesis { examine: version_bug::examine, rule_out: never },
    Hypothesis { examine: by_design::examine, rule_out: never },
    Hypothesis { examine: notice::examine, rule_out: never },
];

/// What holds in one start.
pub fn examine(case: Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hypothesis in REGISTRY {
        let more = (hypothesis.examine)(&Case { found: &found, ..case });
        found.extend(more);
    }
    found
}

/// What this log speaks against, other than its own answer.
pub fn ruled_out(case: &Case<'_>, answer: Verdict) -> Vec<RuledOut> {
    if case.view.session.prompts.executed == 0 {
        return Vec::new();
    }
    let all = REGISTRY.iter().flat_map(|hypothesis| (hypothesis.rule_out)(case));
    all.filter(|item| item.id != answer).collect()
}
