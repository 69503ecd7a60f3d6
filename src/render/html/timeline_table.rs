//! The timeline as tables: prompts, then everything that happened, with lines.

use maud::{Markup, html};

use super::context::{Context, table};
use super::timeline::said;
use crate::report::{PromptReport, SessionReport};
use crate::text::number;

/// The tables of all sessions.
pub(super) fn tables(sessions: &[SessionReport], context: &Context<'_>) -> Markup {
    let several = sessions.len() > 1;
    html! {
        @for session in sessions {
            @if several { h4 { (context.with("timeline-start", &[("n", &session.number.to_string())])) } }
            @if !session.timeline.is_empty() { (prompts(session, context)) }
            @if !session.prompt_groups.is_empty() { (groups(session, context)) }
            @if !session.marks.is_empty() { (marks(session, context)) }
        }
    }
}

fn prompts(session: &SessionReport, context: &Context<'_>) -> Markup {
    let ids = ["col-prompt", "col-lines", "col-seconds", "col-step", "col-outcome", "col-loads"];
    let head = ids.map(|id| context.labels.get(id));
    let seconds = |value: Option<f64>| value.map(|value| number(value, 2)).unwrap_or_default();
    let row = |prompt: &PromptReport| {
        vec![
            html! { (prompt.number) },
            html! { (context.line(prompt.first_line)) "…" (context.line(prompt.last_line)) },
            html! { (seconds(prompt.seconds)) },
            html! { (seconds(prompt.seconds_per_step)) },
            html! { (context.labels.get(&format!("outcome-{}", prompt.outcome))) },
            html! { (context.labels.list(&prompt.loads)) },
        ]
    };
    table(&head, session.timeline.iter().map(row).collect())
}

fn groups(session: &SessionReport, context: &Context<'_>) -> Markup {
    let mut head = vec![context.labels.get("col-prompt"), context.labels.get("col-lines")];
    head.extend(["ok", "failed", "interrupted"].map(|id| context.labels.get(&format!("outcome-{id}"))));
    head.extend([context.say("col-mean"), context.say("col-longest")]);
    let rows = session.prompt_groups.iter().map(|group| {
        let all = (group.ok + group.failed + group.interrupted + group.unfinished).max(1);
        vec![
            html! { (group.first) "…" (group.last) },
            html! { (group.first_line) "…" (group.last_line) },
            html! { (group.ok) },
            html! { (group.failed) },
            html! { (group.interrupted) },
            html! { (number(group.seconds / all as f64, 2)) },
            html! { (number(group.longest, 2)) },
        ]
    });
    table(&head, rows.collect())
}

fn marks(session: &SessionReport, context: &Context<'_>) -> Markup {
    let head = [context.labels.get("col-line"), context.say("col-what")];
    let rows = session.marks.iter().map(|mark| vec![context.line(mark.line), html! { (said(mark, context)) }]);
    table(&head, rows.collect())
}
