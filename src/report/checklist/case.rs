//! One log of a checklist: its part in it, and whether it shows the problem.

use super::LogRole;
use crate::catalog::{FlagRole, Version};
use crate::diagnosis::{Context, Messages, evidence};
use crate::report::comparison::{Run, SeenIn};
use crate::report::report::{EvidenceReport, Finding, Status};
use crate::timeline::{Evidence, Session};

/// A log with the session that matters.
pub(super) struct Case<'r> {
    pub(super) run: &'r Run<'r>,
    pub(super) number: usize,
    pub(super) view: Context<'r>,
    pub(super) role: &'static str,
}

/// Finds out what each log is good for. The main one is the first that is no clean run, else the first.
pub(super) fn cases<'r>(runs: &'r [Run<'r>], messages: &Messages<'_>) -> Vec<Case<'r>> {
    let mut cases: Vec<Case<'r>> =
        runs.iter().enumerate().filter_map(|(number, run)| Case::of(run, number, messages)).collect();
    let main = cases.iter().position(|case| !case.view.nodes_off()).unwrap_or(0);
    let version = cases.get(main).map(|case| case.version());
    for (index, case) in cases.iter_mut().enumerate() {
        let same = version.as_deref() == Some(case.version().as_str()) && !case.view.span.is_unknown();
        case.role = match (index == main, case.view.nodes_off(), same) {
            (true, _, _) => "main",
            (_, true, true) => "clean",
            (_, true, false) => "clean-other-version",
            (_, false, true) => "repeat",
            (_, false, false) => "other-version",
        };
    }
    cases
}

impl<'r> Case<'r> {
    fn of(run: &'r Run<'r>, number: usize, messages: &Messages<'_>) -> Option<Self> {
        let view = Context::of(&run.read.timeline, run.telling_session()?, messages, None)?;
        Some(Self { run, number, view, role: "main" })
    }

    pub(super) fn session(&self) -> &'r Session {
        self.view.session
    }

    /// The finding that answers.
    pub(super) fn problem(&self) -> Option<&'r Finding> {
        self.run.report.findings.first()
    }

    /// As the log tells it; with a range when it only shows one.
    pub(super) fn version(&self) -> String {
        // What the log prints is what it is, also where its texts fit a range of versions.
        self.printed_version().map_or_else(|| self.view.version.shown(), |version| version.to_string())
    }

    /// The number that the log prints.
    pub(super) fn printed_version(&self) -> Option<Version> {
        self.view.span.exact.or_else(|| self.session().text("comfyui_version").and_then(Version::parse))
    }

    /// Folders of the node packs that were loaded, in order.
    pub(super) fn packs(&self) -> Vec<&str> {
        let mut dirs: Vec<&str> = self.view.packs_loaded().map(|node| node.dir.as_str()).collect();
        dirs.sort_unstable();
        dirs.dedup();
        dirs
    }

    /// No node pack was loaded, by the flag or because none is there.
    pub(super) fn without_packs(&self) -> bool {
        let table = !self.session().nodes.is_empty()
            && self.view.packs_loaded().next().is_none()
            && self.session().nodes.iter().all(|node| !node.failed);
        self.view.nodes_off() || table
    }

    /// The line that shows that no node pack was loaded.
    pub(super) fn without_packs_at(&self) -> Option<&'r Evidence> {
        let session = self.session();
        session
            .nodes_disabled
            .as_ref()
            .or_else(|| self.view.asks(FlagRole::NodesOff).map(|flag| &flag.at))
            .or_else(|| session.nodes.first().map(|node| &node.at))
    }

    /// This log shows the same problem.
    pub(super) fn shows(&self, problem: &Finding) -> Option<&'r EvidenceReport> {
        let same = |finding: &&Finding| {
            finding.id == problem.id && finding.status >= Status::Likely && finding.about == problem.about
        };
        let finding = self.run.report.findings.iter().find(same)?;
        // Of a leak, the line that names what is held says more than the first one.
        let session = self.run.read.timeline.session(finding.session);
        let warned = |line: &&EvidenceReport| {
            let warnings = session.into_iter().flat_map(|session| session.leaks.values());
            warnings.filter_map(|leak| leak.last_pass.as_ref()).any(|at| at.place.line == line.at.line)
        };
        finding.evidence.iter().find(warned).or_else(|| finding.evidence.first())
    }

    /// A line of this log.
    pub(super) fn seen(&self, at: &Evidence, remark: Option<String>) -> SeenIn {
        SeenIn { run: self.number, line: evidence(at, remark) }
    }

    /// How the log takes part, in words.
    pub(super) fn told(&self, messages: &Messages<'_>) -> LogRole {
        let version = self.version();
        let text = messages.text(&format!("checklist-role-{}", self.role), &[("version", &version)]);
        LogRole {
            source: self.run.name.clone(),
            role: self.role.to_owned(),
            version,
            verdict: self.run.report.verdict.primary,
            text,
        }
    }
}
