//! Lints of texts that are searched for: none so short or so common that it would be found everywhere.
//!
//! Commonness is measured on the examples of all other rules, and on logs where some are given.

use std::collections::BTreeMap;

use super::{Finding, Lint, texts};
use crate::catalog::{EventKind, Template};

/// Bytes of literal text that a message rule must have.
const LITERAL: usize = 4;
/// Bytes of a signature.
const SIGNATURE: usize = 8;
/// Rules of ordinary lines in whose examples a signature may stand.
const ORDINARY: usize = 2;
/// Below so many lines nothing is called a flood.
const FLOOD_LINES: usize = 20;
/// Lines in a hundred from which on it is one.
const FLOOD_PERCENT: usize = 5;
/// Literal bytes from which on a message rule may be as common as it likes: it is exact.
const EXACT: usize = 10;

/// The texts of a log.
#[derive(Debug, Default)]
pub struct Sample {
    pub name: String,
    pub texts: Vec<String>,
}

pub(super) fn check(lint: &Lint<'_>, samples: &[Sample], findings: &mut Vec<Finding>) {
    let ordinary = ordinary_lines(lint);
    let total: usize = samples.iter().map(|sample| sample.texts.len()).sum();
    let floods = |lines: usize| lines >= FLOOD_LINES && lines * 100 >= total * FLOOD_PERCENT;
    for (source, item) in lint.items().filter(|(_, item)| matches!(item.table.as_str(), "bug" | "node")) {
        let fields = ["signature", "signature_all", "context"];
        for (field, needle) in fields.iter().flat_map(|field| texts(item, field)) {
            let context = field.starts_with("context");
            if needle.trim().len() < if context { LITERAL } else { SIGNATURE } {
                let message = format!("`{needle}` is too short to tell anything");
                findings.push(
                    Finding::at("needle-short", source, item, &field, message)
                        .help(format!("use {SIGNATURE} letters or more")),
                );
                continue;
            }
            // A context is meant to stand in ordinary lines: it only shows that a mechanism is on.
            if context {
                continue;
            }
            let rules: Vec<&str> = ordinary
                .iter()
                .filter(|(_, lines)| lines.iter().any(|line| line.contains(needle)))
                .map(|(id, _)| id.as_str())
                .collect();
            if rules.len() > ORDINARY {
                let message = format!("`{needle}` stands in ordinary lines: {}", rules.join(", "));
                findings.push(
                    Finding::at("needle-common", source, item, &field, message).help("take a longer piece of the text"),
                );
            }
            let lines = samples.iter().flat_map(|sample| &sample.texts).filter(|line| line.contains(needle)).count();
            if floods(lines) {
                let message = format!("`{needle}` stands in {lines} of {total} lines");
                findings.push(
                    Finding::at("needle-flood", source, item, &field, message).help("take a longer piece of the text"),
                );
            }
        }
    }
    messages(lint, samples, &floods, total, findings);
}

fn messages(
    lint: &Lint<'_>,
    samples: &[Sample],
    floods: &dyn Fn(usize) -> bool,
    total: usize,
    findings: &mut Vec<Finding>,
) {
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    for line in samples.iter().flat_map(|sample| &sample.texts) {
        if let Some(hit) = lint.packs.matcher().find(line.trim_start().as_bytes()) {
            *taken.entry(&hit.rule.id).or_default() += 1;
        }
    }
    for (source, item, def) in lint.messages() {
        let Some(template) = Template::parse(&def.text).ok().filter(|_| !def.regex) else { continue };
        let exact = def.text.starts_with("{") && template.captures().next().is_some_and(|(_, kind)| !is_free(kind));
        if template.literal_len() < LITERAL && !exact && !begins_plainly(&def.text) {
            let message = "so little literal text is found in any line";
            findings.push(
                Finding::at("needle-short", source, item, "text", message)
                    .help(format!("use {LITERAL} letters or more")),
            );
        }
        let lines = taken.get(def.id.as_str()).copied().unwrap_or(0);
        if template.literal_len() < EXACT && !def.noise && def.event != EventKind::Noise && floods(lines) {
            let message = format!("the rule takes {lines} of {total} lines");
            findings.push(Finding::at("needle-flood", source, item, "text", message).help("make the text more exact"));
        }
    }
}

/// A bullet or another sign that begins a line, followed by a blank: found at the start of a line only.
fn begins_plainly(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_punctuation() && first != '{') && letters.next() == Some(' ')
}

fn is_free(kind: &crate::catalog::CaptureType) -> bool {
    use crate::catalog::CaptureType::{Message, Path, Text, Word};
    matches!(kind, Text | Message | Path | Word)
}

/// Examples of rules for lines that say nothing bad, by rule.
fn ordinary_lines(lint: &Lint<'_>) -> BTreeMap<String, Vec<String>> {
    let calm = |event: EventKind| {
        use EventKind as E;
        matches!(
            event,
            E::Fact
                | E::Launch
                | E::ServerStart
                | E::ServerReady
                | E::PromptGot
                | E::PromptExecuted
                | E::LoadRequested
                | E::LoadComplete
                | E::LoadPartial
                | E::LoadOld
                | E::Loader
                | E::Unload
                | E::ImportRow
                | E::Stop
                | E::Noise
        )
    };
    let own = lint.messages().map(|(_, _, def)| def).filter(|def| calm(def.event)).map(|def| (def.id, def.matches));
    let others = lint.others().filter(|def| calm(def.event)).map(|def| (def.id.clone(), def.matches.clone()));
    own.chain(others).collect()
}
