//! What is worth a word although nothing failed, by the packs' texts.

use super::Case;
use super::context::Context;
use super::finding::{Basis, Figure, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, told};
use crate::catalog::MentionDef;
use crate::catalog::messages::{Messages, fill};
use crate::timeline::SignatureHit;

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    messages.packs.mentions.iter().filter_map(|def| mentioned(def, view, messages)).collect()
}

fn seen<'t>(def: &MentionDef, view: &Context<'t>) -> Vec<&'t SignatureHit> {
    def.texts.iter().filter_map(|text| view.session.signals.iter().find(|signal| signal.text == *text)).collect()
}

/// Lines in the prompt that had most of them: what every prompt tells again is not more of it.
fn count(seen: &[&SignatureHit]) -> u64 {
    seen.iter().map(|signal| signal.most_in_prompt).sum()
}

fn mentioned(def: &MentionDef, view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let seen = seen(def, view);
    let count = count(&seen);
    if def.at_least == 0 || count < def.at_least {
        return None;
    }
    let number = count.to_string();
    let summary = fill(messages.packs.prose_text("mention", &def.id, "summary", messages.zh)?, &[("n", &number)]);
    let remark = |signal: &SignatureHit| messages.text("remark-mention", &[("n", &signal.count.to_string())]);
    let lines = seen.iter().map(|signal| evidence(&signal.first, Some(remark(signal)))).collect();
    let finding = FindingBuilder::new(def.verdict, view.number, Status::Likely, summary)
        .about(&def.id)
        .grade(Grade::Moderate, messages.text("grade-mention", &[]))
        .because(lines);
    Some(Finding { mentioned: true, ..finding })
}

/// What is told beside the verdict: texts of which there are too few to be a finding.
pub fn notes(view: &Context<'_>, messages: &Messages<'_>) -> Vec<Figure> {
    let note = |def: &MentionDef| {
        let seen = seen(def, view);
        let count = count(&seen);
        if count == 0 || def.at_least > 0 && count >= def.at_least {
            return None;
        }
        let template = messages.packs.prose_text("mention", &def.id, "note", messages.zh)?;
        let lines = seen.iter().map(|signal| signal.first.place.line).collect();
        let line = seen.first().map_or("", |signal| signal.first.text.as_str());
        Some(told("mention", fill(template, &[("n", &count.to_string()), ("line", line)]), Basis::Measured, lines))
    };
    messages.packs.mentions.iter().filter_map(note).collect()
}

/// The definition behind a finding of this file.
pub fn of<'p>(finding: &Finding, messages: &Messages<'p>) -> Option<&'p MentionDef> {
    let about = finding.about.as_deref().filter(|_| finding.mentioned)?;
    messages.packs.mentions.iter().find(|def| def.id == about)
}
