//! One answer out of all findings: the table of precedence from the packs, read from the top.

use crate::catalog::{Packs, PrecedenceDef, PrecedenceWhen, Verdict};
use crate::hypothesis::context::Context;
use crate::hypothesis::finding::{Finding, Status};
use crate::timeline::EndingKind;

/// The finding that answers, by its number in `findings`, and the ids of what else holds.
pub struct Choice {
    pub primary: usize,
    pub secondary: Vec<Verdict>,
}

/// Chooses among the findings of all sessions. `views` are in the order of the log.
pub fn choose(findings: &[Finding], views: &[Context<'_>], packs: &Packs, asked: &[String]) -> Option<Choice> {
    let primary = packs.precedence.iter().find_map(|row| row_choice(row, findings, views, asked))?;
    let chosen = findings.get(primary)?;
    let mut secondary: Vec<Verdict> = Vec::new();
    for (number, finding) in findings.iter().enumerate() {
        let holds = finding.status >= Status::Likely && !finding.evidence.is_empty();
        let meant = finding.id.is_by_design() && !is_shown(finding) && !finding.mentioned;
        if number != primary
            && holds
            && !meant
            && !finding.id.is_empty()
            && finding.id != chosen.id
            && !secondary.contains(&finding.id)
        {
            secondary.push(finding.id);
        }
    }
    Some(Choice { primary, secondary })
}

fn row_choice(row: &PrecedenceDef, findings: &[Finding], views: &[Context<'_>], asked: &[String]) -> Option<usize> {
    let fits = |finding: &Finding| -> bool {
        let likely = finding.status >= Status::Likely;
        match row.when {
            PrecedenceWhen::ProvenKill => likely && killed(finding, views) && !failed_since(finding, findings),
            PrecedenceWhen::UnrecoveredFailure => likely && is_failure(finding, findings) && !finding.recovered,
            PrecedenceWhen::RecoveredFailure => likely && is_failure(finding, findings),
            PrecedenceWhen::Fault => likely,
            PrecedenceWhen::ShownOrAsked => {
                let wanted = match row.asked.get(&finding.id) {
                    Some(words) => words.iter().any(|word| asked.contains(word)),
                    None => asked.iter().any(|word| finding.id.asked().contains(&word.as_str())),
                };
                (wanted && ran_on(finding, views)) || is_shown(finding)
            }
            PrecedenceWhen::Mentioned => likely && finding.mentioned && !in_flight(finding, views),
            PrecedenceWhen::Always => true,
        }
    };
    let named: Vec<(usize, usize, &Finding)> = findings
        .iter()
        .enumerate()
        .filter_map(|(number, finding)| {
            let order = row.verdicts.iter().position(|id| *id == finding.id)?;
            fits(finding).then_some((number, order, finding))
        })
        .collect();
    let failures = matches!(row.when, PrecedenceWhen::UnrecoveredFailure | PrecedenceWhen::RecoveredFailure);
    if failures {
        // The last failure decides; what stands in the same prompt says whose it is.
        let last = named.iter().map(|(_, _, finding)| moment(finding)).max()?;
        return named
            .iter()
            .filter(|(_, _, finding)| moment(finding) == last)
            .min_by_key(|(number, order, _)| (*order, *number))
            .map(|(number, _, _)| *number);
    }
    named
        .iter()
        .min_by_key(|(number, order, finding)| {
            (std::cmp::Reverse(finding.session), *order, std::cmp::Reverse(finding.status), *number)
        })
        .map(|(number, _, _)| *number)
}

/// The numbers of this log show it: likely, and graded strong.
fn is_shown(finding: &Finding) -> bool {
    finding.id == Verdict::UserResidency && finding.status >= Status::Likely
}

fn killed(finding: &Finding, views: &[Context<'_>]) -> bool {
    if !finding.id.answers("killed") {
        return false;
    }
    let view = views.iter().find(|view| view.number == finding.session);
    view.and_then(Context::ending).is_some_and(|ending| ending.kind == EndingKind::Killed)
}

/// A later start has a failure of its own, which is what is wrong now.
fn failed_since(finding: &Finding, findings: &[Finding]) -> bool {
    let own = |other: &&Finding| other.session > finding.session && other.status >= Status::Likely;
    findings.iter().filter(own).any(|other| !other.recovered && is_failure(other, findings))
}

/// A failure proper. A limit that ComfyUI cannot see is a risk as long as nothing failed, and a known bug
/// explains a failure only where one stands beside it.
fn is_failure(finding: &Finding, findings: &[Finding]) -> bool {
    if finding.id == Verdict::VersionBug {
        let here = moment(finding);
        return findings.iter().any(|other| {
            other.id != Verdict::VersionBug
                && other.status >= Status::Likely
                && is_failure(other, findings)
                && moment(other) == here
        });
    }
    finding.id.is_failure() && finding.about.as_deref() != Some("unseen") && !finding.mentioned
}

/// Session and prompt in which a finding's failure stands.
fn moment(finding: &Finding) -> (usize, u64) {
    (finding.session, finding.prompt.unwrap_or(0))
}

/// The log stops within a prompt: what matters may be what came next.
fn in_flight(finding: &Finding, views: &[Context<'_>]) -> bool {
    let ending = views.iter().find(|view| view.number == finding.session).and_then(Context::ending);
    ending.is_some_and(|ending| ending.in_flight.is_some())
}

/// Nothing was cut off: a process that died in the middle of its work is not explained by what is meant.
fn ran_on(finding: &Finding, views: &[Context<'_>]) -> bool {
    let ending = views.iter().find(|view| view.number == finding.session).and_then(Context::ending);
    ending.is_none_or(|ending| {
        ending.in_flight.is_none() && matches!(ending.kind, EndingKind::CleanStop | EndingKind::StillRunning)
    })
}
