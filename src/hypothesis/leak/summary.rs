//! What is held, in one sentence: one class, several, or copies of one.

use super::{CLASSES_NAMED, growth_per_prompt, held_mib, prompts_seen};
use crate::catalog::messages::Messages;
use crate::hypothesis::context::Context;
use crate::text;
use crate::timeline::Leak;

/// What is held of one class now, and whether it grows from prompt to prompt.
pub(super) fn held_summary(view: &Context<'_>, messages: &Messages<'_>, class: &str, leak: &Leak, held: u64) -> String {
    let models = messages.count("model-one", "model-many", held.max(1), &[]);
    let size = held_mib(view, class, leak)
        .map_or_else(String::new, |(mib, _)| messages.text("leak-about", &[("total", &text::mib(mib))]));
    let first = leak.curve.iter().find(|point| point.held > 0).map_or(0, |point| point.held).to_string();
    let peak = leak.held_max.unwrap_or(0).to_string();
    let prompts = prompts_seen(view, leak).to_string();
    let one_more = growth_per_prompt(view, leak).is_some_and(|(per_prompt, _)| (0.95..=1.05).contains(&per_prompt));
    let key = match (leak.grew > 0, one_more, prompts_seen(view, leak)) {
        (true, true, _) => "leak-one-more-per-prompt",
        (true, false, _) => "leak-growing",
        (false, _, 0..=1) => "leak-once",
        (false, _, _) => "leak-steady",
    };
    let values = [
        ("models", models.as_str()),
        ("n", &held.to_string()),
        ("class", class),
        ("size", &size),
        ("first", &first),
        ("peak", &peak),
        ("prompts", &prompts),
    ];
    messages.text(key, &values)
}

/// What is held where a copy on a second GPU is known to be reported so although it is in use.
pub(super) fn clone_summary(messages: &Messages<'_>, held: &[(&str, u64)], line: u64) -> String {
    let models = messages.count("model-one", "model-many", held.iter().map(|(_, k)| k).sum(), &[]);
    let values = [("models", models.as_str()), ("list", &class_list(messages, held)), ("line", &line.to_string())];
    messages.text("leak-device-clone", &values)
}

pub(super) fn class_list(messages: &Messages<'_>, held: &[(&str, u64)]) -> String {
    let list: Vec<String> = held.iter().take(CLASSES_NAMED).map(|(class, k)| format!("{k} × {class}")).collect();
    list.join(messages.list_mark())
}

/// The same over several classes.
pub(super) fn several_summary(view: &Context<'_>, messages: &Messages<'_>, held: &[(&str, u64)], last: u64) -> String {
    let by_prompt = &view.session.held_by_prompt;
    let first = by_prompt.first().map_or(last, |point| point.held);
    let key = match by_prompt.len() {
        0..=1 => "leak-several-once",
        _ if last > first => "leak-several-growing",
        _ => "leak-several",
    };
    let prompts = by_prompt.len().to_string();
    let values = [
        ("models", messages.count("model-one", "model-many", last, &[])),
        ("list", class_list(messages, held)),
        ("first", first.to_string()),
        ("last", last.to_string()),
        ("prompts", prompts),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    messages.text(key, &values)
}
