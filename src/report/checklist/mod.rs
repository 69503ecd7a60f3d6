//! The answer to "should I open an issue, and with what?": three conditions, advice, and a draft.
//!
//! Plain data; the formats are views of it. What a log cannot know stays a marked blank. Logs come here without
//! what is private (`answer::clean`), so nothing in the draft has to be taken out again.

mod case;
mod condition;
mod decide;
mod draft;
mod excerpt;
mod items;
mod records;

use crate::catalog::Verdict;
use schemars::JsonSchema;
use serde::Serialize;

use super::comparison::{Run, SeenIn};
use super::report::Step;
use crate::diagnosis::{Launch, Messages};
use crate::system::Kind;

pub use excerpt::{ExcerptLine, excerpt, wanted};

/// Version of the JSON contract of checklists.
pub const CHECKLIST_SCHEMA_VERSION: u32 = 1;

/// Everything before an issue.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Checklist {
    /// Language of the texts: `en` or `zh`. The draft for a public tracker is in English.
    pub language: String,
    pub logs: Vec<LogRole>,
    pub advice: Advice,
    pub conditions: Vec<Condition>,
    pub launcher: Option<LauncherReport>,
    /// Public records of the same symptom. They are not causes.
    pub records: Vec<Record>,
    /// Number of the run that the draft is about, from 0: the clean one when that shows it too.
    pub draft_run: usize,
    pub draft: IssueDraft,
}

/// What a log is good for here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogRole {
    pub source: String,
    /// `main`, `clean`, `clean-other-version`, `repeat` or `other-version`.
    pub role: String,
    pub version: String,
    pub verdict: Verdict,
    pub text: String,
}

/// Whether to open an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    Open,
    NotYet,
    NoIssue,
}

impl Decision {
    /// As JSON names it.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::NotYet => "not-yet",
            Self::NoIssue => "no-issue",
        }
    }
}

/// Whether, and where.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    pub decision: Decision,
    /// `core`, `node`, `desktop`, `pytorch`, `nobody` or `unknown`.
    pub whom: String,
    /// Address or folder of the node pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub headline: String,
    pub reason: String,
    pub evidence: Vec<SeenIn>,
    pub next: Vec<Step>,
}

/// How a condition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Met,
    NotMet,
    CannotTell,
}

impl State {
    /// As JSON names it.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not-met",
            Self::CannotTell => "cannot-tell",
        }
    }
}

/// Something that must hold before an issue is worth opening.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Condition {
    /// `newest`, `clean-start`, `repeats` or `complete`.
    pub id: String,
    pub state: State,
    pub title: String,
    pub reason: String,
    pub evidence: Vec<SeenIn>,
    /// Single pieces of information, for `complete`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Piece>,
    /// What would supply the missing evidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supply: Vec<Step>,
}

/// A piece of information that people who help ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Piece {
    pub id: String,
    pub label: String,
    /// `present`, `missing` or `not-in-a-log`.
    pub state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Command or action that supplies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supply: Option<String>,
}

/// How ComfyUI was started.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LauncherReport {
    pub id: String,
    pub name: String,
    /// The line that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<super::report::EvidenceReport>,
}

/// A public record of the same symptom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Record {
    pub title: String,
    pub link: String,
    pub state: String,
    pub checked: String,
}

/// A text to be finished and posted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IssueDraft {
    /// `core`, `node` or `forum`.
    pub whom: String,
    pub place: String,
    pub title: String,
    pub sections: Vec<Section>,
}

/// A heading of the form and what stands under it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Section {
    pub heading: String,
    pub parts: Vec<Part>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Part {
    Text {
        text: String,
    },
    /// To be filled in by the person who posts.
    Blank {
        text: String,
    },
    Check {
        done: bool,
        text: String,
    },
    List {
        items: Vec<String>,
        numbered: bool,
    },
    Code {
        text: String,
    },
    Log {
        lines: Vec<ExcerptLine>,
    },
}

/// Works out the checklist. `excerpts` are lines of the first run's log that belong into the draft.
///
/// `None` when there is no run.
#[must_use]
pub fn checklist(
    runs: &[Run<'_>],
    excerpts: Vec<ExcerptLine>,
    whom: Option<&str>,
    here: Kind,
    messages: &Messages<'_>,
) -> Option<Checklist> {
    let cases = case::cases(runs, messages);
    let main = cases.iter().find(|case| case.role == "main")?;
    let launch = Launch::of(&main.view, messages.packs);
    let newest = condition::newest(main, messages);
    let clean = condition::clean_start(&cases, main, launch.as_ref(), messages);
    let repeats = condition::repeats(&cases, main, launch.as_ref(), messages);
    // What is posted is about the run without node packs, when that shows it as well.
    let shown_clean = clean.evidence.last().filter(|_| clean.state == State::Met).map(|line| line.run);
    let about = cases.iter().find(|case| Some(case.number) == shown_clean).unwrap_or(main);
    let draft_launch = Launch::of(&about.view, messages.packs);
    let pieces = items::pieces(about, draft_launch.as_ref(), messages);
    let complete = condition::complete(about, pieces, messages);
    let conditions = vec![newest, clean, repeats, complete];
    let advice = decide::advice(main, &conditions, messages);
    let records = records::records(main, messages);
    let draft = draft::Writer {
        cases: &cases,
        main: about,
        conditions: &conditions,
        advice: &advice,
        records: &records,
        launch: draft_launch.as_ref(),
        here,
        messages,
    }
    .draft(whom, excerpts);
    Some(Checklist {
        language: if messages.zh { "zh" } else { "en" }.to_owned(),
        logs: cases.iter().map(|case| case.told(messages)).collect(),
        advice,
        launcher: launch.as_ref().map(|launch| LauncherReport {
            id: launch.def.id.clone(),
            name: launch.name(messages),
            at: launch.at.as_ref().map(|at| crate::diagnosis::evidence(at, None)),
        }),
        conditions,
        records,
        draft_run: about.number,
        draft,
    })
}
