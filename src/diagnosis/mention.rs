//! What is worth a word although nothing failed, by the packs' texts.

use super::draft::{Draft, evidence, told};
use super::finding::{Basis, Figure, Finding, Grade, Status};
use super::hypotheses::Case;
use super::view::View;
use super::words::{Words, fill};
use crate::rule::MentionDef;
use crate::timeline::Signal;

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, words) = (case.view, case.words);
    words.packs.mentions.iter().filter_map(|def| mentioned(def, view, words)).collect()
}

fn seen<'t>(def: &MentionDef, view: &View<'t>) -> Vec<&'t Signal> {
    def.texts.iter().filter_map(|text| view.session.signals.iter().find(|signal| signal.text == *text)).collect()
}

/// Lines in the prompt that had most of them: what every prompt tells again is not more of it.
fn count(seen: &[&Signal]) -> u64 {
    seen.iter().map(|signal| signal.most_in_prompt).sum()
}

fn mentioned(def: &MentionDef, view: &View<'_>, words: &Words<'_>) -> Option<Finding> {
    let seen = seen(def, view);
    let count = count(&seen);
    if def.at_least == 0 || count < def.at_least {
        return None;
    }
    let number = count.to_string();
    let summary = fill(words.packs.prose_text("mention", &def.id, "summary", words.zh)?, &[("n", &number)]);
    let remark = |signal: &Signal| words.say("remark-mention", &[("n", &signal.count.to_string())]);
    let lines = seen.iter().map(|signal| evidence(&signal.first, Some(remark(signal)))).collect();
    let finding = Draft::new(def.verdict, view.number, Status::Likely, summary)
        .about(&def.id)
        .grade(Grade::Moderate, words.say("grade-mention", &[]))
        .because(lines);
    Some(Finding { mentioned: true, ..finding })
}

/// What is told beside the verdict: texts of which there are too few to be a finding.
pub fn notes(view: &View<'_>, words: &Words<'_>) -> Vec<Figure> {
    let note = |def: &MentionDef| {
        let seen = seen(def, view);
        let count = count(&seen);
        if count == 0 || def.at_least > 0 && count >= def.at_least {
            return None;
        }
        let template = words.packs.prose_text("mention", &def.id, "note", words.zh)?;
        let lines = seen.iter().map(|signal| signal.first.place.line).collect();
        let line = seen.first().map_or("", |signal| signal.first.text.as_str());
        Some(told("mention", fill(template, &[("n", &count.to_string()), ("line", line)]), Basis::Measured, lines))
    };
    words.packs.mentions.iter().filter_map(note).collect()
}

/// The definition behind a finding of this file.
pub fn of<'p>(finding: &Finding, words: &Words<'p>) -> Option<&'p MentionDef> {
    let about = finding.about.as_deref().filter(|_| finding.mentioned)?;
    words.packs.mentions.iter().find(|def| def.id == about)
}
