//! Building blocks of findings: evidence in the report's form, figures, and a draft that cannot lack its evidence.

use super::finding::{Basis, Candidate, EvidenceReport, Figure, Finding, Grade, PlaceReport, Reference, Status};
use crate::catalog::Verdict;
use crate::input::Place;
use crate::timeline::{Counted, Evidence};

/// A place in the report's form.
pub fn place(at: &Place, last_line: Option<u64>) -> PlaceReport {
    PlaceReport {
        line: at.line,
        last_line,
        segment: (at.segment > 0).then_some(at.segment),
        entry: (at.entry > 0).then_some(at.entry),
        byte: at.byte,
    }
}

/// Evidence in the report's form, with a remark on what it shows.
pub fn evidence(kept: &Evidence, remark: Option<String>) -> EvidenceReport {
    EvidenceReport { at: place(&kept.place, kept.last_line), text: kept.text.clone(), rule: kept.rule.clone(), remark }
}

/// Counted lines as one piece of evidence reaching from the first to the last.
pub fn counted(kept: &Counted, remark: Option<String>) -> EvidenceReport {
    let mut report = evidence(&kept.first, remark);
    report.at.last_line = (kept.last_line > kept.first.place.line).then_some(kept.last_line);
    report
}

/// A figure that is only text.
pub fn told(name: &str, text: String, basis: Basis, lines: Vec<u64>) -> Figure {
    Figure { name: name.to_owned(), text, basis, value: None, unit: None, lines }
}

/// A figure with its number.
pub fn figure(name: &str, text: String, basis: Basis, value: f64, unit: &str, lines: Vec<u64>) -> Figure {
    Figure { name: name.to_owned(), text, basis, value: Some(value), unit: Some(unit.to_owned()), lines }
}

/// A finding that is being written. Only [`FindingBuilder::because`] makes a [`Finding`] of it, and asks for the evidence.
#[derive(Debug)]
pub struct FindingBuilder {
    finding: Finding,
}

impl FindingBuilder {
    /// A hypothesis with its one-sentence summary.
    pub fn new(id: Verdict, session: usize, status: Status, summary: String) -> Self {
        Self {
            finding: Finding {
                id,
                about: None,
                status,
                grade: Grade::Weak,
                grade_reason: String::new(),
                summary,
                fingerprint: id.to_string(),
                evidence: Vec::new(),
                against: Vec::new(),
                figures: Vec::new(),
                candidates: Vec::new(),
                references: Vec::new(),
                settle: None,
                values: std::collections::BTreeMap::new(),
                session,
                prompt: None,
                circumstances: Vec::new(),
                recovered: false,
                answer: None,
                crash: false,
                mentioned: false,
            },
        }
    }

    /// What it is about; enters the fingerprint.
    pub fn about(mut self, about: &str) -> Self {
        self.finding.about = Some(about.to_owned());
        self.finding.fingerprint = format!("{}:{about}", self.finding.id);
        self
    }

    /// The packs' answer to the error's text.
    pub fn answered(mut self, answer: Option<&str>) -> Self {
        self.finding.answer = answer.map(str::to_owned);
        self
    }

    /// The grade and the named rule that gives it.
    pub fn grade(mut self, grade: Grade, reason: String) -> Self {
        self.finding.grade = grade;
        self.finding.grade_reason = reason;
        self
    }

    pub fn against(mut self, against: Vec<EvidenceReport>) -> Self {
        self.finding.against.extend(against);
        self
    }

    pub fn figures(mut self, figures: Vec<Figure>) -> Self {
        self.finding.figures.extend(figures);
        self
    }

    pub fn candidates(mut self, candidates: Vec<Candidate>) -> Self {
        self.finding.candidates.extend(candidates);
        self
    }

    pub fn references(mut self, references: Vec<Reference>) -> Self {
        self.finding.references.extend(references);
        self
    }

    pub fn settle(mut self, settle: String) -> Self {
        self.finding.settle = Some(settle);
        self
    }

    /// Circumstances that remedies ask for in `when`.
    pub fn circumstances(mut self, circumstances: Vec<String>) -> Self {
        self.finding.circumstances.extend(circumstances);
        self
    }

    /// What the places of steps stand for, by their names.
    pub fn values(mut self, values: Vec<(String, String)>) -> Self {
        self.finding.values.extend(values);
        self
    }

    /// The prompt in which the failure stands.
    pub fn in_prompt(mut self, prompt: u64) -> Self {
        self.finding.prompt = Some(prompt);
        self
    }

    pub fn recovered(mut self, recovered: bool) -> Self {
        self.finding.recovered = recovered;
        self
    }

    /// The finding, with the lines that support it. A finding without evidence may only say what is missing.
    pub fn because(mut self, evidence: Vec<EvidenceReport>) -> Finding {
        self.finding.evidence = evidence;
        if self.finding.evidence.is_empty() && self.finding.status > Status::Possible {
            self.finding.status = Status::Possible;
        }
        self.finding
    }
}
