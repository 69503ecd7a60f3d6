//! The text to be posted: the headings of the form, filled with what the logs know, blanks for the rest.
//!
//! Public trackers are in English, so drafts for them are; a forum post is in the user's language.

use super::case::Case;
use super::{Advice, Condition, ExcerptLine, IssueDraft, Part, Record, Section, State};
use crate::catalog::{FormDef, Verdict};
use crate::diagnosis::{Launch, Messages};
use crate::system::Kind;
use crate::text::cut_chars;

/// Letters of a title.
const TITLE: usize = 110;
/// Different warning texts that are quoted in full.
const TEXTS: usize = 4;

pub(super) struct Writer<'w, 'r> {
    pub(super) cases: &'w [Case<'r>],
    pub(super) main: &'w Case<'r>,
    pub(super) conditions: &'w [Condition],
    pub(super) advice: &'w Advice,
    pub(super) records: &'w [Record],
    pub(super) launch: Option<&'w Launch<'w>>,
    pub(super) here: Kind,
    pub(super) messages: &'w Messages<'w>,
}

impl Writer<'_, '_> {
    /// The draft for `whom`, or for whoever the advice names.
    pub(super) fn draft(&self, whom: Option<&str>, excerpt: Vec<ExcerptLine>) -> IssueDraft {
        let whom = whom.unwrap_or(if self.advice.whom == "node" { "node" } else { "core" });
        let forms = &self.messages.packs.forms;
        let form = forms.iter().find(|form| form.whom == whom).or(forms.first());
        let english = Messages { zh: self.messages.zh && whom == "forum", ..*self.messages };
        let place = match (&self.advice.place, form) {
            (Some(place), _) if whom == self.advice.whom => place.clone(),
            (_, Some(form)) => form.place.clone(),
            _ => String::new(),
        };
        IssueDraft {
            whom: whom.to_owned(),
            place,
            title: self.title(&english),
            sections: form.map(|form| self.sections(form, &english, &excerpt)).unwrap_or_default(),
        }
    }

    fn title(&self, messages: &Messages<'_>) -> String {
        let version = self.main.version();
        let clean =
            self.conditions.iter().any(|condition| condition.id == "clean-start" && condition.state == State::Met);
        let about = self.main.problem().and_then(|problem| problem.about.clone()).unwrap_or_default();
        let leak = self.main.run.report.verdict.primary.is_leak() && !about.is_empty();
        let sentence = match (leak, clean) {
            (true, true) => "draft-title-leak-clean",
            (true, false) => "draft-title-leak",
            (false, _) => "draft-title",
        };
        let headline = self.headline(messages);
        let headline = headline.trim_end_matches(['.', '。']);
        cut_chars(&messages.text(sentence, &[("class", &about), ("version", &version), ("headline", headline)]), TITLE)
    }

    /// The headline in the draft's language: that of the report, or its first evidence when the report speaks another.
    fn headline(&self, messages: &Messages<'_>) -> String {
        let report = self.main.run.report;
        if messages.zh == self.messages.zh {
            return report.verdict.headline.clone();
        }
        let line = self.main.problem().and_then(|problem| problem.evidence.first()).map(|line| line.text.clone());
        line.unwrap_or_else(|| report.verdict.primary.to_string())
    }

    fn sections(&self, form: &FormDef, messages: &Messages<'_>, excerpt: &[ExcerptLine]) -> Vec<Section> {
        let section = |section: &crate::catalog::FormSection| {
            let parts = match section.holds.as_str() {
                "node-test" => self.node_test(messages),
                "expected" => vec![self.expected(messages)],
                "actual" | "question" => self.actual(messages),
                "steps" => self.steps(messages),
                "logs" => self.logs(messages, excerpt),
                "summary" => self.summary(messages),
                _ => self.other(messages),
            };
            Section { heading: section.heading.clone(), parts }
        };
        form.sections.iter().map(section).collect()
    }

    /// The excerpt, and what to attach beside it.
    fn logs(&self, messages: &Messages<'_>, excerpt: &[ExcerptLine]) -> Vec<Part> {
        let log = crate::shell::quoted_for(self.here, &self.main.run.name);
        let command = format!("comfy-triage redact {log} > comfyui-redacted.log");
        vec![
            Part::Log { lines: excerpt.to_vec() },
            Part::Blank { text: messages.text("draft-attach", &[("command", &command)]) },
        ]
    }

    fn node_test(&self, messages: &Messages<'_>) -> Vec<Part> {
        let clean = self.conditions.iter().find(|condition| condition.id == "clean-start");
        let done = clean.is_some_and(|condition| condition.state == State::Met);
        let mut parts = vec![Part::Check { done, text: messages.text("draft-node-test", &[]) }];
        let line = clean.and_then(|condition| condition.evidence.first()).filter(|_| done);
        match line {
            Some(seen) => {
                let source =
                    self.cases.iter().find(|case| case.number == seen.run).map_or("", |case| case.run.name.as_str());
                parts.push(Part::Text {
                    text: messages
                        .text("draft-node-test-line", &[("line", &seen.line.at.line.to_string()), ("source", source)]),
                });
            }
            None => parts.push(Part::Blank { text: messages.text("draft-node-test-blank", &[]) }),
        }
        parts
    }

    fn expected(&self, messages: &Messages<'_>) -> Part {
        match self.main.run.report.verdict.primary {
            verdict if verdict.is_leak() => Part::Text { text: messages.text("draft-expected-leak", &[]) },
            Verdict::ReloadEachPrompt => Part::Text { text: messages.text("draft-expected-reload", &[]) },
            _ => Part::Blank { text: messages.text("draft-expected-blank", &[]) },
        }
    }

    fn actual(&self, messages: &Messages<'_>) -> Vec<Part> {
        let mut parts = vec![Part::Text { text: self.headline(messages) }];
        let Some(problem) = self.main.problem() else { return parts };
        let mut texts: Vec<&str> = Vec::new();
        // Of a leak the lines that name the class; of anything else whatever shows it.
        let named = |text: &str| {
            problem.about.as_deref().filter(|_| problem.id.is_leak()).is_none_or(|class| text.contains(class))
        };
        for line in problem.evidence.iter().filter(|line| named(&line.text)) {
            if !texts.contains(&line.text.as_str()) && texts.len() < TEXTS {
                texts.push(&line.text);
            }
        }
        parts.push(Part::Code { text: texts.join("\n") });
        let leak = problem.about.as_ref().and_then(|class| self.main.session().leaks.get(class));
        if let Some(leak) = leak.filter(|leak| leak.curve.len() > 1) {
            let step = (leak.curve.len() - 1).div_ceil(5).max(1);
            let last = leak.curve.last();
            let mut points: Vec<String> =
                leak.curve.iter().step_by(step).map(|point| format!("{}:{}", point.prompt, point.held)).collect();
            points.extend(last.map(|point| format!("{}:{}", point.prompt, point.held)));
            points.dedup();
            parts.push(Part::Text { text: messages.text("draft-curve", &[("curve", &points.join("  "))]) });
        }
        parts
    }

    fn steps(&self, messages: &Messages<'_>) -> Vec<Part> {
        let prompts =
            messages.count("draft-step-queue-one", "draft-step-queue", self.main.session().prompts.executed, &[]);
        let command = self.launch.and_then(|launch| launch.command(&[]).filter(|_| launch.has_line()));
        let start = match command {
            Some(command) => messages.text("draft-step-start", &[("command", &command)]),
            None => messages.text("draft-step-start-blank", &[]),
        };
        let items =
            vec![start, messages.text("draft-step-workflow", &[]), prompts, messages.text("draft-step-see", &[])];
        vec![Part::List { items, numbered: true }, Part::Blank { text: messages.text("draft-workflow-blank", &[]) }]
    }

    /// Why the author of this pack is asked.
    fn summary(&self, messages: &Messages<'_>) -> Vec<Part> {
        let candidate = self.main.problem().and_then(|problem| problem.candidates.first());
        match candidate {
            Some(candidate) if messages.zh == self.messages.zh => {
                vec![Part::Text { text: format!("{}: {}", candidate.dir, candidate.reason) }]
            }
            Some(candidate) => vec![Part::Text { text: candidate.dir.clone() }],
            None => vec![Part::Blank { text: messages.text("draft-pack-blank", &[]) }],
        }
    }

    fn other(&self, messages: &Messages<'_>) -> Vec<Part> {
        let complete = self.conditions.iter().find(|condition| condition.id == "complete");
        let mut items = Vec::new();
        for piece in complete
            .into_iter()
            .flat_map(|condition| &condition.items)
            .filter(|piece| piece.id != "error-text" && piece.id != "from-start")
        {
            let label = messages.text(&format!("checklist-item-{}", piece.id), &[]);
            items.push(match &piece.value {
                // In the draft's language.
                Some(_) if piece.id == "node-packs" && self.main.view.packs_loaded().next().is_none() => {
                    format!("{label}: {}", messages.text("checklist-no-packs", &[]))
                }
                Some(value) => format!("{label}: {value}"),
                None => format!(
                    "{label}: {}",
                    messages.text(
                        "draft-blank",
                        &[(
                            "what",
                            piece.supply.as_deref().filter(|_| piece.state == "not-in-a-log").unwrap_or(&label)
                        )]
                    )
                ),
            });
        }
        let mut parts = vec![Part::List { items, numbered: false }];
        let others: Vec<String> = self
            .cases
            .iter()
            .filter(|case| case.number != self.main.number)
            .map(|case| {
                let prompts = case.session().prompts.executed.to_string();
                let role = messages.text(&format!("checklist-role-{}", case.role), &[("version", &case.version())]);
                messages.text(
                    "draft-other-log",
                    &[("role", &role), ("verdict", case.run.report.verdict.primary.as_str()), ("n", &prompts)],
                )
            })
            .collect();
        if !others.is_empty() {
            parts.push(Part::List { items: others, numbered: false });
        }
        if !self.records.is_empty() {
            parts.push(Part::Text { text: messages.text("draft-records", &[]) });
            let items = self
                .records
                .iter()
                .map(|record| format!("{} ({}, {})", record.link, record.state, record.checked))
                .collect();
            parts.push(Part::List { items, numbered: false });
        }
        parts
    }
}
