//! The answer at the head of a page: headline, verdict, what to do first, what not to do.

use maud::{Markup, html};

use super::context::Context;
use crate::render::palette::Tone;
use crate::report::{Report, Step};

/// The head of one report.
pub(super) fn top(report: &Report, tone: Tone, level: u8, context: &Context<'_>) -> Markup {
    let verdict = &report.verdict;
    let id = verdict.primary.to_string();
    let name = context.labels.packs().prose_text("verdict", &id, "name", context.labels.zh());
    let grade = format!("{}{}", context.labels.grade(verdict.grade), context.labels.bracket(&verdict.grade_reason));
    let (first, more) = match report.next_steps.split_first() {
        Some((first, more)) => (Some(first), more),
        None => (None, Default::default()),
    };
    html! {
        header class=(format!("answer {}", tone_class(tone))) {
            p.source { (report.source) }
            @if level == 1 { h1 { (verdict.headline) } } @else { h2 { (verdict.headline) } }
            p.verdict {
                strong { (name.unwrap_or(&id)) } " " code { (id) } " · " (grade)
            }
            @if let Some(first) = first {
                section.first aria-label=(context.say("do-first")) {
                    h3 { (context.say("do-first")) }
                    (step(first, context))
                }
            }
            @if !more.is_empty() {
                details { summary { (context.say("then")) } ol start="2" { @for one in more { li { (step(one, context)) } } } }
            }
            @if !report.avoid.is_empty() {
                section.avoid {
                    h3 { (context.say("avoid")) }
                    ul { @for avoid in &report.avoid { li { (context.labels.sentences(&avoid.text, &avoid.why)) } } }
                }
            }
        }
    }
}

fn step(step: &Step, context: &Context<'_>) -> Markup {
    html! {
        p { (step.text) }
        @if let Some(command) = &step.command { (copyable(command, context)) }
        @if let Some(cost) = &step.cost { p.cost { (context.labels.with("cost", &[("text", cost)])) } }
    }
}

/// A command with a button that copies it; without script there is no button.
pub(super) fn copyable(command: &str, context: &Context<'_>) -> Markup {
    html! {
        div.command {
            pre tabindex="0" { code { (command) } }
            button.copy type="button" hidden data-done=(context.say("copied")) { (context.say("copy")) }
        }
    }
}

pub(super) fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Fault => "fault",
        Tone::Doubt => "doubt",
        Tone::Fine => "fine",
    }
}
