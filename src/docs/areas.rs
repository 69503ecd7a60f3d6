//! One page for each area: its texts, when they are printed, and what they mean.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{code, fenced, plain};
use crate::catalog::lint::AREAS;
use crate::catalog::{MessageDef, PackFile, Packs, Since};

pub(super) fn pages(packs: &Packs, file: &PackFile) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    let mut index = String::from("# Texts that comfy-triage knows\n\n");
    let heads = packs.infos().iter().map(|info| format!("{} {}", info.id, info.version)).collect::<Vec<_>>().join(", ");
    let head = Packs::built_in_head();
    let range = match (head.verified_from, head.verified_to) {
        (Some(from), Some(to)) => format!(", held against ComfyUI {from} to {to}"),
        _ => String::new(),
    };
    let _ = writeln!(index, "Pack {heads}{range}, {}.\n", head.date);
    index.push_str("| area | texts | for example |\n|---|---|---|\n");
    for area in AREAS {
        let mut rules: Vec<&MessageDef> = file.message.iter().filter(|rule| rule.area == area).collect();
        if rules.is_empty() {
            continue;
        }
        rules.sort_by(|a, b| a.id.cmp(&b.id));
        let example = rules.iter().find_map(|rule| rule.matches.first()).map_or("", String::as_str);
        let example: String = example.chars().take(70).collect();
        let _ = writeln!(index, "| [{area}]({area}.md) | {} | {} |", rules.len(), cell(&example));
        pages.insert(format!("rules/{area}.md"), page(area, &rules));
    }
    index.push_str(
        "\nAlso: [known bugs](known-bugs.md), [node packs](node-packs.md), [flags](flags.md). \
         How to write such rules: [rule-format.md](../rule-format.md).\n",
    );
    pages.insert("rules/README.md".to_owned(), index);
    pages
}

fn cell(text: &str) -> String {
    if text.is_empty() { String::new() } else { code(text).replace('|', "\\|") }
}

fn page(area: &str, rules: &[&MessageDef]) -> String {
    let mut out = format!("# {area}\n");
    for rule in rules {
        let _ = write!(out, "\n## {}\n\n{}\n", rule.id, fenced("text", &rule.text));
        let event = serde_json::to_value(rule.event).ok().and_then(|value| value.as_str().map(str::to_owned));
        let mut facts = vec![format!("versions {}", versions(rule)), format!("event `{}`", event.unwrap_or_default())];
        facts.extend(rule.level.as_ref().map(|level| format!("level {level}")));
        facts.extend((!rule.source.is_empty()).then(|| format!("from {}", plain(&rule.source))));
        let _ = writeln!(out, "{}\n", facts.join(" · "));
        for text in [&rule.means.en, &rule.means.zh].into_iter().filter(|text| !text.is_empty()) {
            let _ = writeln!(out, "{}\n", plain(text));
        }
        if let Some(line) = rule.matches.first() {
            out.push_str(&fenced("text", line));
        }
    }
    out
}

/// `0.3.7 to 0.21.1`, in words where an end is open.
pub(super) fn span(since: Since, until: Option<&str>) -> String {
    let first = match since {
        Since::At(version) => Some(version.to_string()),
        Since::BeforeNumbers => Some("before 0.0.1".to_owned()),
        Since::Unknown => None,
    };
    match (first, until) {
        (None, None) => "not established".to_owned(),
        (Some(first), None) => format!("{first} and later"),
        (None, Some("pre-0.0.1")) => "before 0.0.1 only".to_owned(),
        (None, Some(until)) => format!("up to {until}"),
        (Some(_), Some("pre-0.0.1")) => "before 0.0.1 only".to_owned(),
        (Some(first), Some(until)) => format!("{first} to {until}"),
    }
}

fn versions(rule: &MessageDef) -> String {
    span(rule.since, rule.until.as_deref())
}
