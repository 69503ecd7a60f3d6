//! Known bugs of the version at hand: texts, structures and conditions from the packs held against the log.

use super::Case;
use super::context::{Context, Gpu, Os, same_dir};
use super::finding::{Basis, EvidenceReport, Figure, Finding, Grade, Reference, Status};
use super::finding_builder::{FindingBuilder, evidence, told};
use crate::catalog::messages::Messages;
use crate::catalog::{BugDef, Since, Verdict, Version};
use crate::timeline::{EndingKind, SignatureHit};

/// What else holds in this session, by the names that packs use for it.
pub struct Structures {
    pub names: Vec<&'static str>,
}

impl Structures {
    /// What holds in this session, by the names that bug packs use.
    fn of(view: &Context<'_>, findings: &[Finding]) -> Self {
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
        add("growth", findings.iter().any(super::growth::is_growth));
        Self { names }
    }

    fn holds(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

/// How the conditions of a bug stand.
#[derive(Debug, Default, Clone, Copy)]
struct Conditions {
    met: u32,
    unknown: u32,
    /// A condition speaks against the bug.
    broken: bool,
}

impl Conditions {
    fn add(&mut self, holds: Option<bool>) {
        match holds {
            Some(true) => self.met += 1,
            Some(false) => self.broken = true,
            None => self.unknown += 1,
        }
    }
}

/// Bugs that a text or a structure of this session points at. Version in range alone gives none.
pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    let structures = &Structures::of(view, case.found);
    let mut findings: Vec<Finding> =
        messages.packs.bugs.iter().filter_map(|bug| match_bug(bug, view, messages, structures)).collect();
    findings.sort_by(|a, b| {
        b.status.cmp(&a.status).then_with(|| b.grade.cmp(&a.grade)).then_with(|| a.about.cmp(&b.about))
    });
    findings.truncate(4);
    findings
}

fn signal<'s>(view: &Context<'s>, text: &str) -> Option<&'s SignatureHit> {
    view.session.signals.iter().find(|signal| signal.text == text)
}

/// Texts of a bug that stand in a session.
struct Texts<'t> {
    /// Of those of which one is enough.
    any: Vec<&'t SignatureHit>,
    /// Of those that must stand in one prompt together.
    all: Vec<&'t SignatureHit>,
}

impl<'t> Texts<'t> {
    /// `None` when the bug asks for texts that are not there.
    fn of(bug: &BugDef, view: &Context<'t>) -> Option<Self> {
        let any: Vec<&SignatureHit> = bug.signature.iter().filter_map(|text| signal(view, text)).collect();
        let all: Vec<&SignatureHit> = bug.signature_all.iter().filter_map(|text| signal(view, text)).collect();
        let together = all.first().is_none_or(|first| {
            first.prompts.iter().any(|prompt| all.iter().all(|signal| signal.prompts.contains(prompt)))
        });
        let lacks = (!bug.signature.is_empty() && any.is_empty()) || all.len() < bug.signature_all.len();
        (!lacks && together).then_some(Self { any, all })
    }

    fn iter(&self) -> impl Iterator<Item = &&'t SignatureHit> {
        self.any.iter().chain(&self.all)
    }

    /// Their lines, with one that shows the version.
    fn lines(&self, bug: &BugDef, view: &Context<'_>, messages: &Messages<'_>) -> Vec<EvidenceReport> {
        let mut lines: Vec<EvidenceReport> = Vec::new();
        for signal in self.iter().take(4) {
            let remark = messages.count("remark-signature-one", "remark-signature", signal.count, &[]);
            lines.push(evidence(&signal.first, Some(remark)));
        }
        lines.sort_by_key(|line| line.at.line);
        lines.dedup_by_key(|line| line.at.line);
        lines.extend(view.version.evidence.iter().take(1).cloned().map(|mut line| {
            line.remark = Some(messages.text("remark-version", &[("range", &range_text(bug, messages))]));
            line
        }));
        lines
    }
}

fn match_bug(bug: &BugDef, view: &Context<'_>, messages: &Messages<'_>, structures: &Structures) -> Option<Finding> {
    if bug.signature.is_empty() && bug.signature_all.is_empty() && bug.structure.is_empty() {
        return None;
    }
    let texts = Texts::of(bug, view)?;
    let conditions = conditions(bug, view);
    if conditions.broken || !bug.structure.iter().all(|name| structures.holds(name)) {
        return None;
    }
    let fit = version_fits(bug, view)?;
    let version = if told_by(view, texts.iter()) { Fit::Unknown } else { fit };
    let has_text = texts.iter().next().is_some();
    let decides = bug.decides || !texts.all.is_empty();
    let (status, grade, reason) = match (has_text, decides, version) {
        (true, true, Fit::Inside) => (Status::Confirmed, Grade::Strong, "grade-bug-text-version"),
        (true, true, Fit::Overlaps) => (Status::Likely, Grade::Moderate, "grade-bug-text-span"),
        (true, true, Fit::Unknown) => (Status::Likely, Grade::Moderate, "grade-bug-text"),
        (true, false, Fit::Inside) if !bug.structure.is_empty() || conditions.met > 0 => {
            (Status::Likely, Grade::Moderate, "grade-bug-text-version")
        }
        (true, false, _) => (Status::Possible, Grade::Weak, "grade-bug-text-only"),
        (false, _, Fit::Inside) if conditions.unknown == 0 => (Status::Possible, Grade::Weak, "grade-bug-structure"),
        (false, _, _) => return None,
    };
    let lines = texts.lines(bug, view, messages);
    if lines.is_empty() {
        return None;
    }
    let summary = summary(bug, status, version != Fit::Inside, messages);
    let prompt = texts.iter().filter_map(|signal| signal.prompts.last()).max().copied();
    Some(
        FindingBuilder::new(Verdict::VersionBug, view.number, status, summary)
            .about(&bug.id)
            .in_prompt(prompt.unwrap_or(0))
            .grade(grade, messages.text(reason, &[]))
            .figures(figures(bug, messages))
            .references(references(bug, messages))
            .because(lines),
    )
}

/// What the bug is, and whether it is repaired; `unknown` when the log does not show that its version has the bug.
fn summary(bug: &BugDef, status: Status, unknown: bool, messages: &Messages<'_>) -> String {
    let title = messages.packs.prose_text("bug", &bug.id, "title", messages.zh).unwrap_or(&bug.id);
    let key = match (status, bug.fixed_in) {
        (Status::Confirmed | Status::Likely, Some(_)) if unknown => "bug-fixed-unknown",
        (Status::Confirmed | Status::Likely, None) if unknown => "bug-open-unknown",
        (Status::Confirmed | Status::Likely, Some(_)) => "bug-fixed",
        (Status::Confirmed | Status::Likely, None) => "bug-open",
        _ => "bug-possible",
    };
    let fixed = bug.fixed_in.map_or_else(String::new, |version| version.to_string());
    messages.text(key, &[("title", title), ("fixed", &fixed), ("id", &bug.id)])
}

/// Affected versions, what the maintainers said, and what the log cannot show.
fn figures(bug: &BugDef, messages: &Messages<'_>) -> Vec<Figure> {
    let confidence = messages.text(&format!("confidence-{}", bug.confidence), &[]);
    let range = [("range", &*range_text(bug, messages)), ("confidence", &*confidence)];
    let mut figures = vec![told("range", messages.text("figure-bug-range", &range), Basis::Formula, Vec::new())];
    for field in ["said", "needs"] {
        if let Some(text) = messages.packs.prose_text("bug", &bug.id, field, messages.zh) {
            let text = messages.text(&format!("figure-bug-{field}"), &[("text", text)]);
            figures.push(told(field, text, Basis::Formula, Vec::new()));
        }
    }
    figures
}

fn references(bug: &BugDef, messages: &Messages<'_>) -> Vec<Reference> {
    let links = messages.packs.prose_list("bug", &bug.id, "links").into_iter().take(3);
    links
        .map(|link| Reference {
            link: link.to_owned(),
            state: if bug.state.is_empty() { "unknown".to_owned() } else { bug.state.clone() },
            checked: bug.checked.clone(),
        })
        .collect()
}

/// The affected range in words.
pub fn range_text(bug: &BugDef, messages: &Messages<'_>) -> String {
    let since = bug.since.map(|version| version.to_string());
    let until = bug.until.map(|version| version.to_string());
    match (since, until) {
        (Some(since), Some(until)) if since == until => since,
        (Some(since), Some(until)) => format!("{since} – {until}"),
        (Some(since), None) => messages.text("range-from", &[("since", &since)]),
        (None, Some(until)) => messages.text("range-until", &[("until", &until)]),
        (None, None) => messages.text("range-unknown", &[]),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// Every version that the log can be from is affected.
    Inside,
    /// Some are.
    Overlaps,
    Unknown,
}

/// Nothing tells the version but the bug's own text: that it fits is then no sign of its own.
fn told_by<'s>(view: &Context<'_>, signals: impl Iterator<Item = &'s &'s SignatureHit>) -> bool {
    let own: Vec<u64> = signals.map(|signal| signal.first.place.line).collect();
    let evidence = &view.version.evidence;
    view.version.basis == "wording" && !evidence.is_empty() && evidence.iter().all(|line| own.contains(&line.at.line))
}

fn version_fits(bug: &BugDef, view: &Context<'_>) -> Option<Fit> {
    let since = bug.since.map_or(Since::Unknown, Since::At);
    let until = bug.until.or_else(|| bug.fixed_in.and_then(last_before));
    if view.span.is_unknown() {
        return Some(Fit::Unknown);
    }
    if view.span.overlaps(since, until) {
        let begins_inside = bug.since.is_none_or(|since| view.span.at_least(since));
        let ends_inside =
            until.is_none_or(|until| view.span.exact.is_some() || view.span.older_than(next_after(until)));
        return Some(if begins_inside && ends_inside { Fit::Inside } else { Fit::Overlaps });
    }
    // A wording that begins with the very version that has the repair may stem from a checkout just before it.
    let edge = view.span.exact.is_none() && bug.fixed_in.is_some() && view.span.from == bug.fixed_in;
    edge.then_some(Fit::Unknown)
}

fn next_after(version: Version) -> Version {
    Version::new(version.major, version.minor, version.patch.saturating_add(1))
}

fn last_before(version: Version) -> Option<Version> {
    if version.patch > 0 {
        return Some(Version::new(version.major, version.minor, version.patch - 1));
    }
    version.minor.checked_sub(1).map(|minor| Version::new(version.major, minor, u32::MAX))
}

fn conditions(bug: &BugDef, view: &Context<'_>) -> Conditions {
    let when = &bug.when;
    let mut result = Conditions::default();
    if !when.os.is_empty() {
        let name = match view.os {
            Os::Windows => Some("windows"),
            Os::Linux => Some("linux"),
            Os::Wsl => Some("wsl"),
            Os::MacOs => Some("macos"),
            Os::Unknown => None,
        };
        result.add(name.map(|name| when.os.iter().any(|os| os == name || (name == "wsl" && os == "linux"))));
    }
    if !when.gpu.is_empty() {
        let name = if view.gpu == Gpu::Unknown { None } else { super::defaults::gpu_name(view.gpu) };
        result.add(name.map(|name| when.gpu.iter().any(|gpu| gpu == name)));
    }
    let command_line_seen = view.session.fact("launcher").is_some();
    for flag in &when.flags {
        result.add(if view.uses(flag) { Some(true) } else { command_line_seen.then_some(false) });
    }
    for flag in &when.not_flags {
        result.add(if view.uses(flag) { Some(false) } else { command_line_seen.then_some(true) });
    }
    for (name, constant) in &when.facts {
        let holds = view.fact_is(name, constant);
        result.add(if when.seen.contains(name) { Some(holds.unwrap_or(false)) } else { holds });
    }
    let torch = view.session.text("pytorch_version").and_then(Version::parse);
    if let Some(from) = when.torch_from {
        result.add(torch.map(|torch| torch >= from));
    }
    if let Some(before) = when.torch_before {
        result.add(torch.map(|torch| torch < before));
    }
    if let Some(least) = when.gpus_at_least {
        let seen = view.session.devices.len() as u32;
        result.add(if seen >= least { Some(true) } else { None });
    }
    if when.swap.is_some() {
        result.add(None);
    }
    if !when.nodes.is_empty() {
        let listed = !view.session.nodes.is_empty();
        let in_traceback = view
            .session
            .exceptions
            .iter()
            .any(|exception| exception.dirs.iter().any(|dir| when.nodes.iter().any(|node| same_dir(node, dir))));
        result.add(if view.has_node(&when.nodes) || in_traceback { Some(true) } else { listed.then_some(false) });
    }
    if !when.classes.is_empty() {
        let session = view.session;
        result.add(Some(
            when.classes.iter().any(|class| session.loads.contains_key(class) || session.dynamic.contains_key(class)),
        ));
    }
    result
}

/// At least four values, each larger than the one before by more than noise.
fn grows(values: &[f64]) -> bool {
    values.len() >= 4 && values.windows(2).all(|pair| matches!(pair, [a, b] if *b > a * 1.02))
}
