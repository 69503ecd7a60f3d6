//! New and reworded texts as a pack that can be laid over the built-in one, for a person to read and complete.

use std::fmt::Write as _;

use super::shape::Shape;
use super::verified::{Expectation, LookupOutcome, RuleRow, UnknownText, Verified};
use crate::catalog::{MessageDef, Version};

/// A pack file: one rule for each reworded text, and hints about ranges that are wrong. Empty when there is nothing
/// to propose.
pub fn proposal(verified: &Verified, rules: &[MessageDef], before: Option<Version>) -> String {
    let mut out = String::new();
    for candidate in &verified.candidates {
        let old = candidate.replaces.as_ref().and_then(|id| rules.iter().find(|rule| rule.id == *id));
        if let Some(old) = old {
            reworded(&mut out, candidate, old, verified.version, before);
        }
    }
    for row in verified.rows(Expectation::OtherVersion).filter(|row| row.outcome.is_found()) {
        range(&mut out, row, verified.version);
    }
    out
}

fn reworded(out: &mut String, candidate: &UnknownText, old: &MessageDef, version: Version, before: Option<Version>) {
    let template = template(&candidate.shape, old);
    let example = candidate.shape.write(|letter, out| out.push(letter), |hole| sample(old, &candidate.shape, hole));
    let source = match candidate.function.as_str() {
        "" => candidate.path.clone(),
        function => format!("{}:{function}", candidate.path),
    };
    let _ = writeln!(out, "# {}: reworded in {}, line {}.", old.id, candidate.path, candidate.line);
    if let Some(before) = before {
        let _ = writeln!(
            out,
            "# Give the rule {} its end: until = \"{before}\" (or the last version that you know has it).",
            old.id
        );
    }
    out.push_str("[[message]]\n");
    let mut field = |name: &str, value: String| {
        let _ = writeln!(out, "{name:7} = {value}");
    };
    field("id", quoted(&format!("{}-{}", old.id, version.to_string().replace('.', "-"))));
    field("area", quoted(&old.area));
    field("event", serde_json::to_string(&old.event).unwrap_or_default());
    field("text", quoted(&template));
    field("since", quoted(&version.to_string()));
    if let Some(level) = candidate.call.level().or(old.level.as_deref()) {
        field("level", quoted(level));
    }
    field("source", quoted(&source));
    field("means", format!("{{ en = {}, zh = {} }}", quoted(&old.means.en), quoted(&old.means.zh)));
    if !old.set.is_empty() {
        let set: Vec<String> = old
            .set
            .iter()
            .map(|(name, value)| format!("{name} = {}", serde_json::to_string(value).unwrap_or_default()))
            .collect();
        field("set", format!("{{ {} }}", set.join(", ")));
    }
    if old.open {
        field("open", "true".to_owned());
    }
    field("match", format!("[{}]", quoted(example.trim())));
    let near = old.matches.first().cloned().unwrap_or_default();
    field("silent", format!("[{}]", quoted(&near)));
    out.push('\n');
}

fn range(out: &mut String, row: &RuleRow, version: Version) {
    if let LookupOutcome::Found { path, line } | LookupOutcome::Composed { path, line } = &row.outcome {
        let since = serde_json::to_string(&row.since).unwrap_or_default();
        let until = row.until.as_deref().map(|until| format!(", until = \"{until}\"")).unwrap_or_default();
        let _ = writeln!(out, "# {}: since = {since}{until}, yet {version} has it in {path}, line {line}.", row.id);
    }
}

/// The new text with the captures of the old rule, in their order, when there are as many places.
fn template(shape: &Shape, old: &MessageDef) -> String {
    let captures = captures(&old.text);
    let same = captures.len() == shape.holes();
    let escape = |letter: char, out: &mut String| match letter {
        '{' => out.push_str("{{"),
        '}' => out.push_str("}}"),
        other => out.push(other),
    };
    shape.write(escape, |hole| match captures.get(hole).filter(|_| same) {
        Some(capture) => format!("{{{capture}}}"),
        None => format!("{{part{}:text}}", hole + 1),
    })
}

fn captures(template: &str) -> Vec<String> {
    let plain = template.replace("{{", "").replace("}}", "");
    plain.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(inside, _)| inside.to_owned())).collect()
}

/// Something that the capture takes.
fn sample(old: &MessageDef, shape: &Shape, hole: usize) -> String {
    let captures = captures(&old.text);
    let kind =
        captures.get(hole).filter(|_| captures.len() == shape.holes()).and_then(|capture| capture.split_once(':'));
    match kind.map(|(_, kind)| kind) {
        Some("class") => "Flux".to_owned(),
        Some("int" | "bytes" | "kib") => "3".to_owned(),
        Some("float" | "mib" | "gib" | "seconds") => "12.50".to_owned(),
        Some("size") => "1.50 GiB".to_owned(),
        Some("version") => "1.2.3".to_owned(),
        Some("hex") => "0x7f00".to_owned(),
        Some("bool") => "True".to_owned(),
        Some("path") => "/a/b".to_owned(),
        Some(kind) if kind.starts_with("one-of(") => {
            kind.trim_start_matches("one-of(").split(['|', ')']).next().unwrap_or_default().to_owned()
        }
        _ => "x".to_owned(),
    }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
