//! A crash at which next to no memory was left: what a launcher tells of that moment.

use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::hypothesis::context::Context;
use crate::hypothesis::finding::{EvidenceReport, Finding, Grade, Status};
use crate::hypothesis::finding_builder::{FindingBuilder, evidence};
use crate::text;
use crate::timeline::{Ending, EndingKind};

/// What such a finding is about.
pub const FULL: &str = "full-at-crash";
/// Share of memory below which it counts as used up.
const LEFT: f64 = 0.05;
/// Free memory, all of it, and the sentence for both.
const PARTS: [(&str, &str, &str); 2] =
    [("ram_free_mib", "total_ram_mib", "host-full-ram"), ("commit_free_mib", "commit_total_mib", "host-full-commit")];

/// The process crashed in native code with memory used up: a refused allocation is the likeliest cause.
pub(super) fn at_crash(view: &Context<'_>, messages: &Messages<'_>, ending: &Ending) -> Option<Finding> {
    if ending.kind != EndingKind::NativeCrash {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    let mut lines: Vec<EvidenceReport> = ending.exit_at.iter().map(|at| evidence(at, None)).collect();
    for (free, total, key) in PARTS {
        let fact = view.session.fact(free)?;
        let left = fact.value.as_number()?;
        let all = view.session.fact(total).and_then(|fact| fact.value.as_number())?;
        if left > all * LEFT {
            return None;
        }
        parts.push(messages.text(key, &[("free", &text::mib(left)), ("total", &text::mib(all))]));
        lines.push(evidence(&fact.at, None));
    }
    let summary = messages.text("host-full-at-crash", &[("parts", &parts.join(messages.list_mark()))]);
    let finding = FindingBuilder::new(Verdict::HostOom, view.number, Status::Likely, summary)
        .about(FULL)
        .grade(Grade::Moderate, messages.text("grade-full-at-crash", &[]))
        .settle(messages.text("settle-full-at-crash", &[]))
        .in_prompt(view.session.current_prompt());
    Some(finding.because(lines))
}
