//! What every part of a page needs: words in its language, and links to the lines of the log that the page holds.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::render::label::{Labels, place};
use crate::report::{PageLine, PlaceReport};

/// Words and lines of one report on a page.
#[derive(Debug)]
pub(super) struct Context<'c> {
    pub(super) labels: Labels<'c>,
    /// Lines of the log that stand on the page.
    pub(super) lines: &'c [PageLine],
    shown: BTreeSet<u64>,
    /// Keeps ids of several reports on one page apart.
    prefix: String,
}

impl<'c> Context<'c> {
    /// `number` is the report's place on the page.
    pub(super) fn new(labels: Labels<'c>, lines: &'c [PageLine], number: usize) -> Self {
        let prefix = if number == 0 { String::new() } else { format!("r{number}-") };
        Self { labels, lines, shown: lines.iter().map(|line| line.line).collect(), prefix }
    }

    /// A sentence of pages.
    pub(super) fn say(&self, id: &str) -> String {
        self.with(id, &[])
    }

    /// A sentence of pages, filled in.
    pub(super) fn with(&self, id: &str, values: &[(&str, &str)]) -> String {
        self.labels.plain(&format!("page-{id}"), values)
    }

    /// An id that is the only one of its name on the page.
    pub(super) fn id(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Id of a line of the log.
    pub(super) fn line_id(&self, line: u64) -> String {
        format!("{}L{line}", self.prefix)
    }

    /// Address of a line, when it stands on this page.
    pub(super) fn href(&self, line: u64) -> Option<String> {
        self.shown.contains(&line).then(|| format!("#{}", self.line_id(line)))
    }

    /// A line's number; a link when the line stands on this page.
    pub(super) fn line(&self, line: u64) -> Markup {
        self.linked(line, &line.to_string())
    }

    /// A place as reports name it, linked likewise.
    pub(super) fn place(&self, at: &PlaceReport) -> Markup {
        self.linked(at.line, &place(at))
    }

    fn linked(&self, line: u64, shown: &str) -> Markup {
        html! {
            @if let Some(href) = self.href(line) { a.ln href=(href) { (shown) } } @else { span.ln { (shown) } }
        }
    }

    /// A shape of a picture that leads to the line it stands for; `said` is what it means, in words.
    pub(super) fn mark(&self, line: u64, said: &str, shape: Markup) -> Markup {
        html! {
            @match self.href(line) {
                Some(href) => a href=(href) tabindex="-1" aria-label=(said) data-line=(line) { (shape) },
                None => g role="img" aria-label=(said) data-line=(line) { (shape) },
            }
        }
    }
}

/// A picture with its title, what it shows, and the same as a table.
pub(super) struct Figure {
    /// Id on the page.
    pub(super) id: String,
    pub(super) title: String,
    /// What it shows here, in a sentence.
    pub(super) note: String,
    pub(super) plot: Markup,
    pub(super) legend: Markup,
    pub(super) table: Markup,
}

impl Figure {
    pub(super) fn render(self, context: &Context<'_>) -> Markup {
        html! {
            figure.picture id=(self.id) {
                figcaption { h3 { (self.title) } @if !self.note.is_empty() { p { (self.note) } } }
                (self.plot)
                (self.legend)
                details.table { summary { (context.say("as-table")) } (self.table) }
            }
        }
    }
}

/// A table; numbers stand on the right.
pub(super) fn table(head: &[String], rows: Vec<Vec<Markup>>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(head.join(", ")) {
            table {
                thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}
