//! Which versions of ComfyUI can have written a log: by the number it prints, by the date of its git revision, by the
//! wording of its lines and by its time stamps.

use chrono::{Days, NaiveDate};

use super::finding::{EvidenceReport, VersionReport};
use super::finding_builder::evidence;
use crate::catalog::messages::Messages;
use crate::catalog::{Packs, Version, VersionSpan};
use crate::timeline::{Evidence, Fact, Session, Timeline};

/// The span, and what the report says of it.
pub(super) fn version_of(
    timeline: &Timeline,
    session: &Session,
    messages: &Messages<'_>,
) -> (VersionSpan, VersionReport) {
    let mut lines: Vec<EvidenceReport> = Vec::new();
    let printed = session.fact("comfyui_version");
    let number = printed.and_then(|fact| fact.value.as_text()).and_then(Version::parse);
    let (span, basis) = match (number, printed) {
        (Some(version), Some(fact)) => {
            lines.push(evidence(&fact.at, None));
            of_number(version, fact, timeline, session, messages.packs, &mut lines)
        }
        _ => of_dates(timeline, session, messages.packs, &mut lines),
    };
    let text = |version: Option<Version>| version.map(|version| version.to_string());
    let report = VersionReport {
        exact: text(span.exact),
        from: text(span.from),
        before: text(span.before),
        basis: basis.to_owned(),
        evidence: lines,
    };
    (span, report)
}

/// A number is printed. A checkout prints that of the release before it.
fn of_number(
    version: Version,
    fact: &Fact,
    timeline: &Timeline,
    session: &Session,
    packs: &Packs,
    lines: &mut Vec<EvidenceReport>,
) -> (VersionSpan, &'static str) {
    let newer_text = timeline.wording.from.filter(|from| *from > version);
    let described = session.fact("git_describe").and_then(|git| git.value.as_text());
    let text = fact.value.as_text().unwrap_or_default();
    let after_commits = text.contains("-g") || described.is_some_and(|git| git.contains("-g"));
    if !after_commits && newer_text.is_none() {
        return (VersionSpan::exactly(version), if fact.weak { "report" } else { "printed" });
    }
    if let (Some(_), Some(at)) = (newer_text, &timeline.wording_from) {
        lines.push(evidence(at, None));
    }
    let reached = newer_text.unwrap_or(version).max(version);
    let next = packs.releases.iter().map(|release| release.version).find(|release| *release > reached);
    (VersionSpan { from: Some(version), before: next, exact: None }, "checkout")
}

/// No number is printed: the date of the revision, else wording and time stamps.
fn of_dates(
    timeline: &Timeline,
    session: &Session,
    packs: &Packs,
    lines: &mut Vec<EvidenceReport>,
) -> (VersionSpan, &'static str) {
    if let Some(fact) = session.fact("revision_date")
        && let Some(day) = fact.value.as_text().and_then(day)
        && let Some(span) = at_revision(day, packs)
    {
        lines.push(evidence(&fact.at, None));
        return (span, "revision");
    }
    let wording = timeline.wording;
    let ends = [(&timeline.wording_from, wording.from), (&timeline.wording_until, wording.before)];
    lines.extend(ends.iter().filter_map(|(at, end)| Some(evidence(at.as_ref().filter(|_| end.is_some())?, None))));
    let stamped = stamp(session).and_then(|(day, at)| Some((unreleased(day, packs)?, at)));
    let (before, by_stamps) = match (wording.before, stamped) {
        (None, Some((before, at))) => {
            lines.push(evidence(at, None));
            (Some(before), true)
        }
        (Some(told), Some((before, at))) if before < told => {
            lines.push(evidence(at, None));
            (Some(before), true)
        }
        (told, _) => (told, false),
    };
    match (wording.from, before) {
        // Texts of two times in one log: a fork, or two logs pasted together. A clock that is wrong is no better.
        (Some(from), Some(before)) if from >= before => (VersionSpan::default(), "contradictory"),
        (None, None) => (VersionSpan::default(), "unknown"),
        (from, before) => (VersionSpan { from, before, exact: None }, if by_stamps { "stamps" } else { "wording" }),
    }
}

fn day(text: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(text.get(..10)?, "%Y-%m-%d").ok()
}

/// Releases with the day of the commit that set their version, oldest first.
fn dated(packs: &Packs) -> impl Iterator<Item = (Version, NaiveDate)> + '_ {
    packs.releases.iter().filter_map(|release| Some((release.version, day(&release.date)?)))
}

/// A checkout of that day holds the releases before it, and none of later days.
fn at_revision(revision: NaiveDate, packs: &Packs) -> Option<VersionSpan> {
    let from = dated(packs).filter(|(_, day)| *day < revision).map(|(version, _)| version).max();
    let before = dated(packs).filter(|(_, day)| *day > revision).map(|(version, _)| version).min();
    (from.is_some() || before.is_some()).then_some(VersionSpan { from, before, exact: None })
}

/// The first version that did not exist yet on a day, wherever its clock stood.
fn unreleased(stamp: NaiveDate, packs: &Packs) -> Option<Version> {
    let latest = stamp.checked_add_days(Days::new(1))?;
    dated(packs).filter(|(_, day)| *day > latest).map(|(version, _)| version).min()
}

/// The latest day that stamps of this start tell.
fn stamp(session: &Session) -> Option<(NaiveDate, &Evidence)> {
    let facts = session.facts.values().map(|fact| &fact.at);
    let exceptions = session.exceptions.iter().map(|exception| &exception.at);
    let others = [&session.first_got, &session.last_executed, &session.server_ready].into_iter().flatten();
    let stamped = facts.chain(exceptions).chain(others).filter_map(|at| Some((day(at.stamp.as_deref()?)?, at)));
    stamped.max_by_key(|(day, at)| (*day, std::cmp::Reverse(at.place.line)))
}
