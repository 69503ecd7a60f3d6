//! Lints of a rule's own examples: it takes its lines, leaves its near misses, and takes no other rule's lines.

use std::collections::BTreeMap;

use super::range::wording;
use super::{Finding, Lint};
use crate::catalog::Rule;
use crate::catalog::folder::{SourceItem, SourceText};
use crate::text::cut_chars;

/// Letters of a line that a finding quotes.
const QUOTED: usize = 90;

// Long: one pass over the examples of a rule; each complaint needs what was found before it.
pub(super) fn check(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    let own: BTreeMap<String, (&SourceText, &SourceItem)> =
        lint.table("message").map(|(source, item)| (item.id(), (source, item))).collect();
    let mut shadows: BTreeMap<String, Vec<String>> =
        lint.others().map(|def| (def.id.clone(), def.shadows.clone())).collect();
    shadows.extend(lint.messages().map(|(_, _, def)| (def.id, def.shadows)));
    let mut wordings: BTreeMap<String, String> =
        lint.others().map(|def| (def.id.clone(), wording(&def.text))).collect();
    wordings.extend(lint.messages().map(|(_, _, def)| (def.id, wording(&def.text))));
    // Of two rules with one wording only the ranges matter, and those are looked at elsewhere.
    let declared = |taker: &str, other: &str| {
        shadows.get(taker).is_some_and(|ids| ids.iter().any(|id| id == other))
            || wordings.get(taker).is_some_and(|own| wordings.get(other) == Some(own))
    };

    let rules: BTreeMap<&str, &Rule> = lint.packs.matcher().rules().iter().map(|rule| (&*rule.id, rule)).collect();
    for (source, item, def) in lint.messages() {
        let compiled = rules.get(def.id.as_str()).is_some_and(|rule| rule.check_regex().is_ok());
        if def.matches.is_empty() {
            findings.push(
                Finding::at("example-missing", source, item, "match", "there is no example")
                    .help("add a line that ComfyUI really prints to `match`"),
            );
        }
        if def.silent.is_empty() {
            findings.push(
                Finding::at("near-miss-missing", source, item, "silent", "there is no near miss")
                    .help("add a line to `silent` that looks alike and means something else"),
            );
        }
        for (at, line) in def.matches.iter().enumerate().filter(|_| compiled) {
            let found = taker(lint, line);
            let right = found.as_deref() == Some(&*def.id) || found.as_deref().is_some_and(|id| declared(id, &def.id));
            if !right {
                let what = found.as_deref().map_or("no rule takes".to_owned(), |id| format!("{id} takes"));
                let message = format!("{what} the example `{}`", cut_chars(line, QUOTED));
                let code = if found.is_some() { "shadow" } else { "example" };
                findings.push(Finding::at(code, source, item, &format!("match.{at}"), message).help(match code {
                    "shadow" => "make one text more exact, or write shadows = [\"…\"] in the rule that should win",
                    _ => "the whole line must fit the template; `open = true` lets any text follow",
                }));
            }
        }
        for (at, line) in def.silent.iter().enumerate() {
            if taker(lint, line).as_deref() == Some(&*def.id) {
                let message = format!("the rule takes its near miss `{}`", cut_chars(line, QUOTED));
                findings.push(
                    Finding::at("near-miss", source, item, &format!("silent.{at}"), message)
                        .help("make the template more exact"),
                );
            }
        }
        for (at, other) in def.shadows.iter().enumerate() {
            if !shadows.contains_key(other) {
                let message = format!("there is no rule `{other}`");
                findings.push(Finding::at("reference", source, item, &format!("shadows.{at}"), message));
            }
        }
    }
    // Lines of built-in rules that a rule of this pack takes away.
    for def in lint.others() {
        for line in &def.matches {
            let Some(id) = taker(lint, line).filter(|id| *id != def.id && !declared(id, &def.id)) else { continue };
            if let Some((source, item)) = own.get(&id) {
                let message = format!("takes the line of {}: `{}`", def.id, cut_chars(line, QUOTED));
                findings.push(
                    Finding::at("shadow", source, item, "text", message)
                        .help(format!("make the text more exact, or write shadows = [\"{}\"]", def.id)),
                );
            }
        }
    }
}

fn taker(lint: &Lint<'_>, line: &str) -> Option<String> {
    lint.packs.matcher().find(line.trim_start().as_bytes()).map(|hit| hit.rule.id.to_string())
}
