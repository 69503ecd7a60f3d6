//! What a report says, in order, before it is laid out: blocks that the terminal and Markdown views share.

use super::label::{Labels, place};
use super::palette::Tone;
use crate::report::EvidenceReport;

/// One report, ready to be laid out.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) headline: String,
    /// Name of the verdict, with its id.
    pub(crate) verdict: String,
    pub(crate) tone: Tone,
    pub(crate) grade: String,
    /// The verdict with its grade.
    pub(crate) graded: String,
    pub(crate) blocks: Vec<Block>,
    /// Hint that there is more; shown small.
    pub(crate) more: Option<String>,
}

/// A part of a report.
#[derive(Debug)]
pub(crate) enum Block {
    /// Lines of the log.
    Quotes(Vec<Quote>),
    /// Lines of arithmetic.
    Figures(Vec<String>),
    /// A label and what belongs to it.
    Items { label: String, items: Vec<Item>, numbered: bool },
    /// Something to copy: printed as it is, from the first column on.
    Code(String),
    /// Heading of a part of the long report.
    Section(String),
    /// Columns; the last one is cut where it does not fit.
    Table { head: Vec<String>, rows: Vec<Vec<String>> },
}

impl Block {
    /// A label with one text behind it.
    pub(crate) fn line(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Items { label: label.into(), items: vec![Item::text(text)], numbered: false }
    }
}

/// A line of the log with what it shows.
#[derive(Debug, Clone)]
pub(crate) struct Quote {
    pub(crate) place: String,
    pub(crate) text: String,
    pub(crate) remark: Option<String>,
}

impl Quote {
    pub(crate) fn of(evidence: &EvidenceReport) -> Self {
        Self { place: place(&evidence.at), text: evidence.text.clone(), remark: evidence.remark.clone() }
    }
}

/// A text, with a command to type and lines of the log beneath it.
#[derive(Debug, Default)]
pub(crate) struct Item {
    pub(crate) text: String,
    pub(crate) command: Option<String>,
    pub(crate) quotes: Vec<Quote>,
}

impl Item {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Blocks that are only there when they hold something.
pub(crate) fn push_items(blocks: &mut Vec<Block>, labels: &Labels<'_>, label: &str, items: Vec<Item>) {
    if !items.is_empty() {
        blocks.push(Block::Items { label: labels.get(label), items, numbered: false });
    }
}
