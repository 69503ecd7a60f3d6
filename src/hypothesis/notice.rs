//! What is worth a word although nothing failed, by the packs' texts.

use super::Case;
use super::context::Context;
use super::finding::{Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence};
use crate::catalog::MentionDef;
use crate::catalog::messages::{Messages, fill};
use crate::timeline::SignatureHit;

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    messages.packs.mentions.iter().filter_map(|def| mentioned(def, view, messages)).collect()
}

fn mentioned(def: &MentionDef, view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let seen: Vec<&SignatureHit> =
        def.texts.iter().filter_map(|text| view.session.signals.iter().find(|signal| signal.text == *text)).collect();
    let count: u64 = seen.iter().map(|signal| signal.count).sum();
    if count < def.at_least {
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

/// The definition behind a finding of this file.
pub fn of<'p>(finding: &Finding, messages: &Messages<'p>) -> Option<&'p MentionDef> {
    let about = finding.about.as_deref().filter(|_| finding.mentioned)?;
    messages.packs.mentions.iter().find(|def| def.id == about)
}
