//! A report becomes text for a terminal, Markdown, or JSON.
//!
//! All formats are views of the same value and add no facts. Nothing here prints: the caller says where to write.

mod brief;
mod checklist;
mod comparison;
mod document;
mod fault;
mod full;
mod history;
mod html;
mod issue;
mod json;
mod label;
mod layout;
mod markdown;
mod miniature;
mod palette;
mod printer;
mod probe;
mod replaced;
mod session;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use checklist::{ChecklistOutput, checklist_json, checklist_markdown, checklist_page, checklist_text};
pub use comparison::{ComparisonOutput, comparison_json, comparison_markdown, comparison_page, comparison_text};
pub use html::{PageReport, page};
pub use json::{ReportLine, TriageLine, WatchLine, json, ndjson, schema_of};
pub use markdown::markdown;
pub use palette::Palette;
pub(crate) use palette::Tone;
pub use printer::{Format, Printer};
pub use probe::{ProbeOutput, probe_json, probe_markdown, probe_page, probe_text};
pub use text::{quiet, text};

pub(crate) use document::{Block, Item, Quote};
pub(crate) use fault::Translated;
pub(crate) use html::rounds::{RoundRow, grid};
pub(crate) use html::{Head, page_of};
pub(crate) use issue::issue_comment;
pub(crate) use label::Labels;
pub(crate) use markdown::blocks as markdown_blocks;
pub(crate) use replaced::replaced;
pub(crate) use text::blocks;

/// How much to show, how wide, and in which colours.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Columns of the terminal.
    pub width: usize,
    /// Everything, instead of one screen.
    pub verbose: bool,
    /// One line per log.
    pub quiet: bool,
    pub palette: Palette,
    /// The terminal shows ASCII only: pictures are drawn with that.
    pub ascii: bool,
}

impl Default for View {
    fn default() -> Self {
        Self { width: 100, verbose: false, quiet: false, palette: Palette::PLAIN, ascii: false }
    }
}
