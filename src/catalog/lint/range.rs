//! Lints of version ranges: each is the right way round, and those of one text or one default do not overlap.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Finding, Lint, text};
use crate::catalog::folder::{SourceItem, SourceText};
use crate::catalog::{Since, Version};

/// Rules of the same wording that are told of one rule: where there are many, each would be told of each.
const OVERLAPS_TOLD: usize = 3;

/// First and last version; open ends are absent.
type Span = (Option<Version>, Option<Version>);

/// Fields of a default that say where it holds; two of the same what and where must not overlap.
const CONDITIONS: [&str; 14] = [
    "what",
    "os",
    "gpu",
    "wsl",
    "opt_in",
    "off_with",
    "off_with_facts",
    "torch_from",
    "rocm_from",
    "cuda_from",
    "vram_above_mib",
    "vram_at_most_mib",
    "swap",
    "since_after",
];

pub(super) fn check(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    for (source, item) in lint.items() {
        order(source, item, findings);
    }
    texts_of_one_wording(lint, findings);
    defaults(lint, findings);
}

fn order(source: &SourceText, item: &SourceItem, findings: &mut Vec<Finding>) {
    let version = |field: &str| Version::parse(text(item, field));
    let pairs = [("since", "until"), ("torch_from", "torch_before"), ("since", "fixed_in")];
    for (low, high) in pairs {
        if let (Some(first), Some(last)) = (version(low), version(high))
            && first > last
        {
            let message = format!("{low} {first} is after {high} {last}");
            findings.push(Finding::at("range", source, item, high, message).help("is it the other way round?"));
        }
    }
    if let (Some(until), Some(fixed)) = (version("until"), version("fixed_in"))
        && fixed <= until
    {
        let message = format!("repaired in {fixed}, yet affected until {until}");
        findings
            .push(Finding::at("range", source, item, "fixed_in", message).help("`until` is the last affected version"));
    }
    if let Some(Value::String(given)) = item.fields.get("until")
        && given != "pre-0.0.1"
        && Version::parse(given).is_none()
    {
        findings.push(Finding::at("range", source, item, "until", format!("`{given}` is no version")));
    }
}

fn span(item: &SourceItem) -> Span {
    let since = item.fields.get("since").and_then(|value| serde_json::from_value::<Since>(value.clone()).ok());
    let low = match since {
        Some(Since::At(version)) => Some(version),
        _ => None,
    };
    let high = match text(item, "until") {
        "pre-0.0.1" => Some(Version::new(0, 0, 0)),
        until => Version::parse(until),
    };
    (low, high)
}

fn overlap(a: Span, b: Span) -> bool {
    let before =
        |high: Option<Version>, low: Option<Version>| matches!((high, low), (Some(high), Some(low)) if high < low);
    !before(a.1, b.0) && !before(b.1, a.0)
}

/// The wording alone: captures are all the same, and so are blanks.
pub(super) fn wording(template: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for letter in template.chars() {
        match letter {
            '{' => {
                depth += 1;
                out.push('{');
            }
            '}' => depth = 0,
            _ if depth == 1 => {}
            _ => out.push(letter),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn texts_of_one_wording(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    let mut shadows: BTreeMap<String, Vec<String>> =
        lint.base.message.iter().map(|def| (def.id.clone(), def.shadows.clone())).collect();
    shadows.extend(lint.messages().map(|(_, _, def)| (def.id, def.shadows)));
    let mut seen: BTreeMap<String, Vec<(String, Span)>> = BTreeMap::new();
    for def in lint.others().filter(|def| !def.regex) {
        let low = if let Since::At(version) = def.since { Some(version) } else { None };
        let high = match def.until.as_deref() {
            Some("pre-0.0.1") => Some(Version::new(0, 0, 0)),
            until => until.and_then(Version::parse),
        };
        seen.entry(wording(&def.text)).or_default().push((def.id.clone(), (low, high)));
    }
    for (source, item, def) in lint.messages() {
        if def.regex {
            continue;
        }
        let own = span(item);
        let wording = wording(&def.text);
        if !wording.chars().any(char::is_alphanumeric) {
            continue;
        }
        let others = seen.entry(wording).or_default();
        let mut told = 0;
        for (other, theirs) in others.iter() {
            if told == OVERLAPS_TOLD {
                break;
            }
            // Captures may differ on purpose (one-of beside text): then one shadows the other by declaration.
            let declared =
                || def.shadows.contains(other) || shadows.get(other).is_some_and(|shadowed| shadowed.contains(&def.id));
            if *other != def.id && overlap(own, *theirs) && !declared() {
                told += 1;
                let message = format!("{other} has the same wording in some of the same versions");
                findings.push(
                    Finding::at("range-overlap", source, item, "text", message)
                        .help("give both a `since` and an `until` that do not meet"),
                );
            }
        }
        others.push((def.id.clone(), own));
    }
}

fn defaults(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    let mut seen: BTreeMap<String, Vec<(String, Span)>> = BTreeMap::new();
    for (source, item) in lint.table("default") {
        let key =
            CONDITIONS.map(|field| item.fields.get(field).map(Value::to_string).unwrap_or_default()).join("\u{1}");
        let own = span(item);
        let others = seen.entry(key).or_default();
        for (other, theirs) in others.iter() {
            if overlap(own, *theirs) {
                let message = format!("{other} says the same thing for some of the same versions");
                findings.push(Finding::at("range-overlap", source, item, "since", message));
            }
        }
        others.push((item.id(), own));
    }
}
