//! The comment on an issue: the answer on its log, what is missing in it, and public records of the same symptom.

use sha2::{Digest, Sha256};

use super::document::{Block, Item, push_items};
use super::label::Labels;
use super::{View, markdown};
use crate::catalog::Packs;
use crate::report::{Checklist, Report};

/// Letters of a fingerprint.
const LETTERS: usize = 12;

/// The comment in Markdown.
pub(crate) fn issue_comment(report: &Report, checklist: &Checklist, packs: &Packs) -> String {
    let labels = Labels::new(packs, report.language == "zh");
    let mut out = markdown::markdown(report, packs, &View::default(), false);
    let mut blocks = Vec::new();
    let missing = checklist.conditions.iter().flat_map(|condition| &condition.items);
    let missing = missing.filter(|piece| piece.state == "missing").map(|piece| Item {
        text: piece.label.clone(),
        command: None,
        quotes: Vec::new(),
    });
    push_items(&mut blocks, &labels, "issue-missing", missing.collect());
    let records = checklist
        .records
        .iter()
        .map(|record| Item::text(format!("{} {} ({}, {})", record.title, record.link, record.state, record.checked)));
    push_items(&mut blocks, &labels, "checklist-records", records.collect());
    blocks.push(Block::line(labels.get("issue-fingerprint"), labels.get("issue-same")));
    out.push_str(&markdown::blocks(&blocks));
    // Alone and unescaped, so that the search of a repository finds it.
    out.push_str(&format!("\n`{}`\n", fingerprint(report)));
    out.push_str(&format!("\n{}\n", markdown::escape(&labels.get("issue-made"))));
    out
}

/// The same for every log that shows the same fault of the same thing, whatever the machine and the version.
fn fingerprint(report: &Report) -> String {
    let about = report.findings.first().and_then(|finding| finding.about.as_deref()).unwrap_or_default();
    let parts = [report.verdict.primary.as_str(), about].join("\n");
    let hash = Sha256::digest(parts);
    let letters: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("ct-{}", letters.get(..LETTERS).unwrap_or(&letters))
}
