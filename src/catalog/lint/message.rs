//! Lints of message rules by themselves: they compile, say what the program can read, and name their source.

use super::captures::misfit;
use super::lists::{AREAS, FACTS};
use super::{Finding, Lint};
use crate::catalog::SET_KEYS;
use crate::catalog::{CaptureType, EventKind, Matcher, Rule, RuleError, Template};

/// Letters of a regex. What is longer can hardly be read.
const REGEX_LETTERS: usize = 2000;
/// Regex rules of one pack: each is tried on every line that begins like it.
const REGEX_RULES: usize = 100;

// Long: a list of independent checks of one item, each two to six lines.
pub(super) fn check(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    let mut regexes = 0;
    for (source, item, def) in lint.messages() {
        let mut add = |code: &str, field: &str, message: String, help: &str| {
            findings.push(Finding::at(code, source, item, field, message).help(help));
        };
        if !AREAS.contains(&def.area.as_str()) {
            add(
                "area",
                "area",
                format!("there is no area `{}`", def.area),
                &format!("use one of: {}", AREAS.join(", ")),
            );
        }
        if def.source.trim().is_empty() {
            add(
                "source",
                "source",
                "nothing says where the text comes from".to_owned(),
                "as in source = \"comfy/sd.py\", or \"PyTorch\"",
            );
        }
        for name in def.set.keys() {
            let known = if def.event == EventKind::Fact {
                FACTS.contains(&name.as_str()) || name == "weak"
            } else {
                FACTS.contains(&name.as_str()) || SET_KEYS.contains(&name.as_str())
            };
            if !known {
                add(
                    "fact",
                    &format!("set.{name}"),
                    format!("there is no fact `{name}`"),
                    "the facts are listed in docs/rule-format.md",
                );
            }
        }
        if def.regex {
            regexes += 1;
            if regexes == REGEX_RULES + 1 {
                add(
                    "regex-count",
                    "regex",
                    format!("more than {REGEX_RULES} regex rules"),
                    "write templates; they are faster and say more",
                );
            }
            if def.text.len() > REGEX_LETTERS {
                add("regex-size", "text", format!("the regex is longer than {REGEX_LETTERS} bytes"), "");
            }
        }
        match Rule::compile(&def).and_then(|rule| rule.check_regex().map(|()| rule)) {
            Err(error) => add(code(&error), field(&error), error.to_string(), "see docs/rule-format.md"),
            Ok(rule) => {
                let (_, refused) = Matcher::new(vec![rule]);
                for (_, error) in refused {
                    add(code(&error), "text", error.to_string(), "see docs/rule-format.md, How a line finds its rule");
                }
            }
        }
        for (name, kind) in captures(&def) {
            if def.event == EventKind::Fact && !FACTS.contains(&name.as_str()) {
                add(
                    "fact",
                    "text",
                    format!("there is no fact `{name}`"),
                    "the facts are listed in docs/rule-format.md",
                );
            }
            if let Some(right) = misfit(def.event, &name, &kind) {
                add(
                    "capture-type",
                    "text",
                    format!("`{name}` has a type that does not fit this event"),
                    &format!("it should be {right}"),
                );
            }
        }
    }
    for (source, item) in lint.table("oom_phrase") {
        if let Err(error) = Template::parse(super::text(item, "text")) {
            findings.push(Finding::at("template", source, item, "text", error.to_string()));
        }
    }
}

/// Names and types of the captures of a rule.
fn captures(def: &crate::catalog::MessageDef) -> Vec<(String, CaptureType)> {
    if def.regex {
        let typed = def.types.iter().filter_map(|(name, kind)| Some((name.clone(), CaptureType::named(kind)?)));
        return typed.collect();
    }
    let template = Template::parse(&def.text).ok();
    template.iter().flat_map(Template::captures).map(|(name, kind)| (name.to_owned(), kind.clone())).collect()
}

fn code(error: &RuleError) -> &'static str {
    match error {
        RuleError::Template(_) => "template",
        RuleError::Regex(text) if text.contains("size limit") => "regex-size",
        RuleError::Regex(_) => "regex",
        RuleError::NoAnchor | RuleError::Crowded { .. } => "anchor",
        RuleError::UnknownType { .. } => "capture-type",
        RuleError::MissingCapture { .. } => "capture-missing",
        RuleError::Until(_) => "range",
    }
}

fn field(error: &RuleError) -> &'static str {
    match error {
        RuleError::NoAnchor | RuleError::Crowded { .. } => "regex",
        RuleError::UnknownType { .. } => "types",
        RuleError::Until(_) => "until",
        RuleError::Template(_) | RuleError::Regex(_) | RuleError::MissingCapture { .. } => "text",
    }
}
