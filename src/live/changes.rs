//! What is new in an answer since the last look: findings, higher grades, more models held, memory that ran out,
//! the end of a session. Each is said once.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::Verdict;
use crate::diagnosis::Messages;
use crate::report::{Grade, Report, Status};
use crate::text;
use crate::timeline::{EndingKind, Timeline};

/// Things remembered, so that nothing is said twice; beyond it, new ones are still said.
const REMEMBERED: usize = 4096;

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// A fault that was not there before.
    Finding,
    /// Its grade or standing rose.
    Raised,
    /// More models of a class are held than before.
    Held,
    /// Memory ran out once more.
    Oom,
    /// The process stopped, crashed or was killed, or ComfyUI was started anew.
    SessionEnded,
}

/// Something new, in one sentence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    pub kind: ChangeKind,
    /// Line of the log, from 1.
    pub line: u64,
    /// Start of ComfyUI in the log, from 1.
    pub session: usize,
    /// Verdict id of a finding, or how a session ended.
    pub id: String,
    /// Class, folder or bug that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// Models held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<u64>,
    pub text: String,
}

impl Change {
    /// A change without grade and models.
    fn new(kind: ChangeKind, line: u64, session: usize, id: &str, text: String) -> Self {
        Self { kind, line, session, id: id.to_owned(), about: None, grade: None, held: None, text }
    }
}

/// What was said already.
#[derive(Debug, Default)]
pub struct Changes {
    findings: BTreeMap<(usize, String), (Status, Grade)>,
    held: BTreeMap<(usize, String), u64>,
    /// Line of the last failure per session.
    ooms: BTreeMap<usize, u64>,
    endings: BTreeSet<(usize, &'static str)>,
    sessions: usize,
}

impl Changes {
    /// What is new in `report`, in the order of the log.
    pub fn since_last(&mut self, report: &Report, timeline: &Timeline, messages: &Messages<'_>) -> Vec<Change> {
        let mut changes = self.findings(report);
        self.held(report, messages, &mut changes);
        self.ooms(report, messages, &mut changes);
        self.sessions(timeline, messages, &mut changes);
        changes.sort_by(|a, b| (a.line, a.kind, &a.id).cmp(&(b.line, b.kind, &b.id)));
        changes
    }

    fn findings(&mut self, report: &Report) -> Vec<Change> {
        let mut changes = Vec::new();
        for finding in &report.findings {
            // A running log ends in the middle of things at any time: what is only possible is no news.
            if finding.status < Status::Likely || !finding.id.is_fault() {
                continue;
            }
            let key = (finding.session, finding.fingerprint.clone());
            let now = (finding.status, finding.grade);
            let before = self.findings.get(&key).copied();
            if before.is_some_and(|before| now <= before) {
                continue;
            }
            if self.findings.len() < REMEMBERED || before.is_some() {
                self.findings.insert(key, now);
            }
            let line = finding.evidence.iter().map(|line| line.at.last_line.unwrap_or(line.at.line)).max().unwrap_or(0);
            changes.push(Change {
                kind: if before.is_some() { ChangeKind::Raised } else { ChangeKind::Finding },
                line,
                session: finding.session,
                id: finding.id.to_string(),
                about: finding.about.clone(),
                grade: Some(finding.grade),
                held: None,
                text: finding.summary.clone(),
            });
        }
        changes
    }

    fn held(&mut self, report: &Report, messages: &Messages<'_>, changes: &mut Vec<Change>) {
        for session in &report.sessions {
            for (class, leak) in &session.leaks {
                let Some(held) = leak.held_last.filter(|held| *held > 0) else { continue };
                let key = (session.number, class.clone());
                let before = self.held.get(&key).copied().unwrap_or(0);
                if held <= before || (self.held.len() >= REMEMBERED && before == 0) {
                    continue;
                }
                self.held.insert(key, held);
                // The first one is told by the finding.
                if before == 0 {
                    continue;
                }
                let values = [("k", &*held.to_string()), ("before", &*before.to_string()), ("class", class.as_str())];
                changes.push(Change {
                    kind: ChangeKind::Held,
                    line: leak.curve.last().map_or(session.last_line, |point| point.line),
                    session: session.number,
                    id: "held".to_owned(),
                    about: Some(class.clone()),
                    grade: None,
                    held: Some(held),
                    text: messages.text("live-held", &values),
                });
            }
        }
    }

    fn ooms(&mut self, report: &Report, messages: &Messages<'_>, changes: &mut Vec<Change>) {
        for session in &report.sessions {
            let said = self.ooms.entry(session.number).or_default();
            let gpu = session.ooms.iter().map(|oom| (oom.at.line, oom.requested, Verdict::GpuOom));
            let host = session.host_ooms.iter().map(|oom| (oom.at.line, oom.requested, Verdict::HostOom));
            let mut new: Vec<(u64, Option<f64>, Verdict)> =
                gpu.chain(host).filter(|(line, ..)| *line > *said).collect();
            new.sort_by_key(|(line, ..)| *line);
            for (line, requested, id) in new {
                *said = line;
                // A finding that was just told speaks of the same line.
                let told = report.findings.iter().any(|finding| {
                    finding.evidence.iter().any(|evidence| evidence.at.line == line)
                        && changes.iter().any(|change| {
                            finding.id == change.id.as_str()
                                && change.session == session.number
                                && change.kind == ChangeKind::Finding
                        })
                });
                if told {
                    continue;
                }
                let size = requested.map_or_else(|| "?".to_owned(), text::bytes);
                let text = messages
                    .text(if id == Verdict::GpuOom { "live-oom-gpu" } else { "live-oom-host" }, &[("size", &size)]);
                changes.push(Change::new(ChangeKind::Oom, line, session.number, id.as_str(), text));
            }
        }
    }

    fn sessions(&mut self, timeline: &Timeline, messages: &Messages<'_>, changes: &mut Vec<Change>) {
        let count = timeline.sessions.last().map_or(0, |session| session.number);
        for session in &timeline.sessions {
            let Some(ending) = &session.ending else { continue };
            let last = session.number == count;
            let (id, sentence) = match ending.kind {
                EndingKind::Killed | EndingKind::GivenUp => ("killed", "live-killed"),
                EndingKind::NativeCrash => ("native-crash", "live-crashed"),
                EndingKind::CleanStop => ("clean-stop", "live-stopped"),
                // Whether the log goes on is not known yet.
                _ if last => continue,
                _ => ("restart", "live-cut"),
            };
            if self.endings.len() < REMEMBERED && self.endings.insert((session.number, id)) {
                let line = ending.at.as_ref().map_or(session.last_line, |at| at.place.line);
                changes.push(Change::new(
                    ChangeKind::SessionEnded,
                    line,
                    session.number,
                    id,
                    messages.text(sentence, &[]),
                ));
            }
        }
        if self.sessions > 0 && count > self.sessions {
            let line = timeline.sessions.last().map_or(0, |session| session.first_line);
            let text = messages.text("live-started-anew", &[]);
            changes.push(Change::new(ChangeKind::SessionEnded, line, count, "started-anew", text));
        }
        self.sessions = self.sessions.max(count);
    }
}
