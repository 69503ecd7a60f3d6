//! The fixed words of reports in one language, from the packs' `label-…` sentences.

use crate::catalog::{Packs, Verdict};
use crate::diagnosis::Messages;
use crate::report::{Basis, Grade, PlaceReport, Status};

/// Lines that a figure names; the JSON has all of them.
const LINES_NAMED: usize = 4;

/// Labels in the language of one report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Labels<'p> {
    messages: Messages<'p>,
}

impl<'p> Labels<'p> {
    /// Labels in Chinese or English.
    pub(crate) fn new(packs: &'p Packs, zh: bool) -> Self {
        Self { messages: Messages { packs, zh } }
    }

    pub(crate) fn packs(&self) -> &'p Packs {
        self.messages.packs
    }

    pub(crate) fn zh(&self) -> bool {
        self.messages.zh
    }

    /// The label `id`.
    pub(crate) fn get(&self, id: &str) -> String {
        self.with(id, &[])
    }

    /// The label `id` with `{name}` replaced by its value.
    pub(crate) fn with(&self, id: &str, values: &[(&str, &str)]) -> String {
        self.messages.text(&format!("label-{id}"), values)
    }

    /// A sentence that is no label, in the labels' language.
    pub(crate) fn plain(&self, id: &str, values: &[(&str, &str)]) -> String {
        self.messages.text(id, values)
    }

    /// `text` in brackets to be put behind something; nothing when there is no text.
    pub(crate) fn bracket(&self, text: &str) -> String {
        let text = text.trim_end_matches(['.', '。']);
        if text.is_empty() { String::new() } else { self.with("bracket", &[("text", text)]) }
    }

    /// Texts in a row, kept apart as the language does.
    pub(crate) fn join(&self, texts: &[String]) -> String {
        texts.join(&self.get("between"))
    }

    /// Short words in a row.
    pub(crate) fn list(&self, messages: &[String]) -> String {
        messages.join(&self.get("and"))
    }

    /// Two sentences, one after the other.
    pub(crate) fn sentences(&self, first: &str, second: &str) -> String {
        let apart = if second.is_empty() || self.zh() { "" } else { " " };
        format!("{first}{apart}{second}")
    }

    /// Name of a verdict in words; its id when no pack has one.
    pub(crate) fn verdict_name(&self, verdict: Verdict) -> String {
        let id = verdict.to_string();
        self.packs().prose_text("verdict", &id, "name", self.zh()).map_or_else(|| id.clone(), str::to_owned)
    }

    /// Name of a verdict with its id, which programs, the documentation and `explain` know it by.
    pub(crate) fn verdict(&self, verdict: Verdict) -> String {
        let name = self.verdict_name(verdict);
        let mut letters = name.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        format!("{first}{}{}", letters.as_str(), self.bracket(&verdict.to_string()))
    }

    /// A verdict with its grade, as the second line of a report has it.
    pub(crate) fn graded(&self, verdict: Verdict, grade: Grade) -> String {
        self.with("verdict-graded", &[("verdict", &self.verdict(verdict)), ("grade", &self.grade(grade))])
    }

    pub(crate) fn grade(&self, grade: Grade) -> String {
        self.get(match grade {
            Grade::Weak => "grade-weak",
            Grade::Moderate => "grade-moderate",
            Grade::Strong => "grade-strong",
            Grade::Certain => "grade-certain",
        })
    }

    pub(crate) fn status(&self, status: Status) -> String {
        self.get(match status {
            Status::NotAssessable => "status-not-assessable",
            Status::RuledOut => "status-ruled-out",
            Status::Possible => "status-possible",
            Status::Likely => "status-likely",
            Status::Confirmed => "status-confirmed",
        })
    }

    pub(crate) fn basis(&self, basis: Basis) -> String {
        self.get(match basis {
            Basis::Measured => "basis-measured",
            Basis::Derived => "basis-derived",
            Basis::Estimate => "basis-estimate",
            Basis::Extrapolated => "basis-extrapolated",
            Basis::Formula => "basis-formula",
            Basis::Given => "basis-given",
            Basis::Unknown => "basis-unknown",
        })
    }

    /// `line 14`, for a running text.
    pub(crate) fn line(&self, at: &PlaceReport) -> String {
        self.with("line", &[("n", &place(at))])
    }

    /// `line 14` or `lines 13, 16`, a few at most; nothing without lines.
    pub(crate) fn lines(&self, lines: &[u64]) -> Option<String> {
        let mut numbers: Vec<String> = lines.iter().take(LINES_NAMED).map(u64::to_string).collect();
        if lines.len() > LINES_NAMED {
            numbers.push("…".to_owned());
        }
        let id = if numbers.len() == 1 { "line" } else { "lines" };
        (!numbers.is_empty()).then(|| self.with(id, &[("n", &self.list(&numbers))]))
    }
}

/// Where it stands: `35`, `751…774`, and `1#12` for the twelfth entry of a JSON log.
pub(crate) fn place(at: &PlaceReport) -> String {
    match (at.last_line, at.entry) {
        (Some(last), _) if last > at.line => format!("{}…{last}", at.line),
        (_, Some(entry)) => format!("{}#{entry}", at.line),
        _ => at.line.to_string(),
    }
}
