//! Reports in the chosen format, one after the other, into whatever the caller gives to write to.
//!
//! Text, Markdown and NDJSON are written as each log is answered; JSON is one value and waits for the end.

use std::io::{self, Write};

use super::html::{self, PageReport};
use super::label::Labels;
use super::layout::clean;
use super::palette::paint;
use super::summary::{self, Row};
use super::{View, json, markdown, text};
use crate::catalog::Packs;
use crate::report::{Output, PageLine, Report, SCHEMA_VERSION, Tool};

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
    Ndjson,
    Markdown,
    /// One file with pictures, for a browser
    Html,
}

impl Format {
    /// Read by people: with colours where a terminal shows them.
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Text | Self::Markdown)
    }

    /// Read by programs.
    pub fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson)
    }
}

/// Writes the reports of one run.
#[derive(Debug)]
pub struct Printer<'p> {
    format: Format,
    view: View,
    packs: &'p Packs,
    zh: bool,
    /// More than one log was asked for.
    several: bool,
    kept: Vec<Report>,
    pages: Vec<PageReport>,
    /// Private words that were replaced in what is shown.
    redacted: Option<u64>,
    rows: Vec<Row>,
}

impl<'p> Printer<'p> {
    /// A printer for `logs` logs, with labels in Chinese or English.
    pub fn new(format: Format, view: View, packs: &'p Packs, zh: bool, logs: usize) -> Self {
        Self {
            format,
            view,
            packs,
            zh,
            several: logs > 1,
            kept: Vec::new(),
            pages: Vec::new(),
            redacted: None,
            rows: Vec::new(),
        }
    }

    /// Writes a report, or keeps it for the end.
    pub fn report(&mut self, report: Report, out: &mut dyn Write) -> io::Result<()> {
        let text = match self.format {
            Format::Json => {
                self.kept.push(report);
                return Ok(());
            }
            Format::Html => {
                self.page(report, Vec::new());
                return Ok(());
            }
            Format::Ndjson => json::ndjson(&report)?,
            Format::Text => self.text(&report),
            Format::Markdown => self.markdown(&report),
        };
        self.rows.push(Row::of(&report, &Labels::new(self.packs, self.zh)));
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Keeps a report for the page, with the lines of its log that the page shows.
    pub fn page(&mut self, report: Report, lines: Vec<PageLine>) {
        self.pages.push(PageReport { report, lines });
    }

    /// The page says that so many private words were replaced.
    pub fn redacted(&mut self, count: u64) {
        self.redacted = Some(count);
    }

    /// Writes a line of its own for a log that could not be read, where every log is a line.
    pub fn unread(&mut self, source: &str, code: &str, message: &str, out: &mut dyn Write) -> io::Result<()> {
        if self.format == Format::Ndjson {
            out.write_all(json::unread(source, code, message)?.as_bytes())?;
        }
        Ok(())
    }

    /// Notes a log that could not be read, for the summary.
    pub fn unreadable(&mut self, source: &str) {
        self.rows.push(Row::unreadable(source));
    }

    /// Writes what stands at the end: the JSON value, or the summary of several logs.
    pub fn end(self, out: &mut dyn Write) -> io::Result<()> {
        let labels = Labels::new(self.packs, self.zh);
        let mut text = String::new();
        match self.format {
            Format::Json => text = json::json(&output(self.packs, self.kept))?,
            Format::Html if !self.pages.is_empty() => {
                text = html::page(&self.pages, self.packs, self.zh, self.redacted);
            }
            Format::Text if self.several && !self.view.quiet => {
                text::blocks(&mut text, &summary::blocks(&self.rows, &labels), &self.view);
            }
            Format::Markdown if self.several && !self.view.quiet => {
                text = markdown::blocks(&summary::blocks(&self.rows, &labels));
            }
            Format::Text | Format::Markdown | Format::Ndjson | Format::Html => {}
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn text(&self, report: &Report) -> String {
        let source = clean(&report.source);
        match (self.view.quiet, self.several) {
            (true, false) => text::quiet(report, self.packs, &self.view),
            (true, true) => format!("{source}: {}", text::quiet(report, self.packs, &self.view)),
            (false, false) => text::text(report, self.packs, &self.view),
            (false, true) => {
                let gap = if self.rows.is_empty() { "" } else { "\n" };
                let source = paint(self.view.palette.label, &source);
                format!("{gap}{source}\n{}", text::text(report, self.packs, &self.view))
            }
        }
    }

    fn markdown(&self, report: &Report) -> String {
        let gap = if self.rows.is_empty() { "" } else { "\n" };
        match self.view.quiet {
            true => markdown::quiet(report, self.packs, self.several),
            false => format!("{gap}{}", markdown::markdown(report, self.packs, &self.view, self.several)),
        }
    }
}

/// The JSON value of a run.
fn output(packs: &Packs, reports: Vec<Report>) -> Output {
    Output { schema_version: SCHEMA_VERSION, tool: tool(), packs: packs.infos().to_vec(), reports }
}

/// This program, as reports name it.
pub(crate) fn tool() -> Tool {
    Tool { name: env!("CARGO_PKG_NAME").to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}
