//! The rounds of a bisection: which packs were on, and what was seen.

use maud::{Markup, html};

use super::context::Context;
use crate::render::label::Labels;

/// A round.
#[derive(Debug)]
pub(crate) struct RoundRow {
    pub(crate) on: Vec<String>,
    /// `bad`, `good`, `cannot-run`, `void` or `skip`.
    pub(crate) seen: &'static str,
    pub(crate) seen_text: String,
    pub(crate) reason: String,
}

/// All rounds as a grid; nothing before the first one.
pub(crate) fn grid(packs: &[String], guilty: &[String], rounds: &[RoundRow], labels: &Labels<'_>) -> Option<Markup> {
    if rounds.is_empty() || packs.is_empty() {
        return None;
    }
    let context = Context::new(*labels, &[], 0);
    let (on, off) = (context.say("rounds-on"), context.say("rounds-off"));
    Some(html! {
        figure.picture id="rounds" {
            figcaption { h3 { (context.say("rounds")) } p { (context.say("rounds-note")) } }
            div.scroll tabindex="0" role="region" aria-label=(context.say("rounds")) {
                table.rounds {
                    thead {
                        tr {
                            th scope="col" { (labels.plain("bisect-table-round", &[])) }
                            @for pack in packs { th.pack.guilty[guilty.contains(pack)] scope="col" { (pack) } }
                            th scope="col" { (labels.plain("bisect-table-seen", &[])) }
                        }
                    }
                    tbody {
                        @for (index, round) in rounds.iter().enumerate() {
                            tr {
                                th scope="row" { (index + 1) }
                                @for pack in packs {
                                    @if round.on.contains(pack) { td.on data-pack=(pack) { span aria-label=(on) role="img" { "■" } } }
                                    @else { td data-pack=(pack) { span aria-label=(off) role="img" { "□" } } }
                                }
                                td class=(format!("seen-{}", round.seen)) title=(round.reason) { (round.seen_text) }
                            }
                        }
                    }
                }
            }
        }
    })
}
