//! The rest of a report, for `--verbose`: every finding, the end told backwards, sessions, and what it all rests on.

use super::brief::{candidate, figure_rows, reference};
use super::document::{Block, Item, Quote, push_items};
use super::label::Labels;
use super::{history, session};
use crate::report::{EvidenceReport, Finding, Report, VersionReport};

/// Adds everything that the brief part does not show.
pub(crate) fn add(report: &Report, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    if !report.findings.is_empty() {
        blocks.push(Block::Section(labels.get("findings")));
        let primary = report.findings.iter().position(|finding| finding.id == report.verdict.primary);
        for (index, one) in report.findings.iter().enumerate() {
            finding(one, primary == Some(index), labels, blocks);
        }
    }
    let proofs = report.ruled_out.iter().filter(|out| !out.evidence.is_empty());
    for out in proofs {
        let text = format!("{}{}", out.id, labels.bracket(&out.reason));
        let item = Item { text, quotes: quotes(&out.evidence), command: None };
        push_items(blocks, labels, "ruled-out", vec![item]);
    }
    history::add(report, labels, blocks);
    for one in &report.sessions {
        session::add(one, labels, blocks);
    }
    basis(report, labels, blocks);
}

/// A finding with all it rests on; of the one `told` above only how it stands and what speaks against it.
fn finding(finding: &Finding, told: bool, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let about = finding.about.as_deref().map(|about| format!(" [{about}]")).unwrap_or_default();
    let mut notes = vec![finding.grade_reason.clone()];
    if finding.recovered {
        notes.push(labels.get("recovered"));
    }
    notes.retain(|note| !note.is_empty());
    let (status, grade) = (labels.status(finding.status), labels.grade(finding.grade));
    let head = format!("{}{about} · {status} · {grade}{}", finding.id, labels.bracket(&labels.join(&notes)));
    blocks.push(Block::line(head, finding.summary.as_str()));
    if !finding.evidence.is_empty() && !told {
        blocks.push(Block::Quotes(quotes(&finding.evidence)));
    }
    if !finding.against.is_empty() {
        let item = Item { quotes: quotes(&finding.against), ..Item::default() };
        push_items(blocks, labels, "against", vec![item]);
    }
    if told {
        return;
    }
    if !finding.figures.is_empty() {
        blocks.push(Block::Figures(figure_rows(&finding.figures, labels)));
    }
    push_items(
        blocks,
        labels,
        "who",
        finding.candidates.iter().map(|one| Item::text(candidate(one, labels))).collect(),
    );
    push_items(
        blocks,
        labels,
        "see",
        finding.references.iter().map(|one| Item::text(reference(one, labels))).collect(),
    );
    push_items(blocks, labels, "settle", finding.settle.iter().map(Item::text).collect());
}

pub(crate) fn quotes(evidence: &[EvidenceReport]) -> Vec<Quote> {
    evidence.iter().map(Quote::of).collect()
}

fn basis(report: &Report, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    blocks.push(Block::Section(labels.get("basis")));
    // A basis that has no sentence is of a later report.
    let id = format!("label-version-basis-{}", report.version.basis);
    let why = labels.packs().sentence(&id, labels.zh()).unwrap_or(&report.version.basis);
    let text = format!("{}{}", span(&report.version, labels), labels.bracket(why));
    let item = Item { text, quotes: quotes(&report.version.evidence), command: None };
    push_items(blocks, labels, "version", vec![item]);
    push_items(blocks, labels, "given", report.given.iter().map(Item::text).collect());
    let fitness = &report.fitness;
    let counts = [fitness.lines, fitness.understood, fitness.texts].map(|count| count.to_string());
    let [lines, understood, texts] = &counts;
    let values =
        [("lines", lines.as_str()), ("understood", understood), ("texts", texts), ("encoding", &fitness.encoding)];
    let mut notes = vec![labels.with("fitness-text", &values)];
    if fitness.cut_end {
        notes.push(labels.get("cut-end"));
    }
    blocks.push(Block::line(labels.get("fitness"), labels.join(&notes)));
    push_items(blocks, labels, "gaps", fitness.gaps.iter().map(Item::text).collect());
    let packs: Vec<Item> = labels
        .packs()
        .infos()
        .iter()
        .map(|pack| {
            let replaces = match pack.overrides.as_slice() {
                [] => String::new(),
                ids => format!("; {}", labels.with("pack-replaces", &[("ids", &labels.list(ids))])),
            };
            Item::text(format!("{} {}{}", pack.id, pack.version, labels.bracket(&format!("{}{replaces}", pack.from))))
        })
        .collect();
    push_items(blocks, labels, "packs", packs);
}

fn span(version: &VersionReport, labels: &Labels<'_>) -> String {
    match (&version.exact, &version.from, &version.before) {
        (Some(exact), _, _) => exact.clone(),
        (None, Some(from), Some(before)) => labels.with("version-span", &[("from", from), ("before", before)]),
        (None, Some(from), None) => labels.with("version-from", &[("from", from)]),
        (None, None, Some(before)) => labels.with("version-before", &[("before", before)]),
        (None, None, None) => labels.get("version-unknown"),
    }
}
