//! An outline laid out for a terminal: rows of the right width, log lines with their numbers, colours.

use super::View;
use super::brief::outline;
use super::document::{Block, Document, Item, Quote};
use super::label::Labels;
use super::layout::{blanks, clean, pad, right, wrap};
use super::palette::paint;
use super::table;
use crate::catalog::Packs;
use crate::report::Report;
use crate::text::{cut_width, width};

/// Narrower than this nothing is readable; rows are then allowed to be longer than the terminal.
const NARROWEST: usize = 40;
/// Widest label that text stands behind; behind a wider one it begins a row of its own.
const WIDEST_LABEL: usize = 24;
/// Columns of a log line that must stay visible for a remark to stand beside it.
const TEXT_BESIDE_REMARK: usize = 48;
/// Columns between a log line and its remark.
const REMARK_GAP: usize = 3;

/// The report as text for a terminal.
pub fn text(report: &Report, packs: &Packs, view: &View) -> String {
    let labels = Labels::new(packs, report.language == "zh");
    let outline = outline(report, &labels, view);
    let mut out = String::new();
    head(&mut out, &outline, view);
    blocks(&mut out, &outline.blocks, view);
    if let Some(more) = &outline.more {
        row(&mut out, &paint(view.palette.dim, more));
    }
    out
}

/// The report in one line: verdict, grade, headline.
pub fn quiet(report: &Report, packs: &Packs, view: &View) -> String {
    let labels = Labels::new(packs, report.language == "zh");
    let outline = outline(report, &labels, &View { verbose: false, ..*view });
    let id = paint(view.palette.tone(outline.tone), &report.verdict.primary.to_string());
    format!("{id} {}: {}\n", outline.grade, clean(&outline.headline))
}

fn head(out: &mut String, outline: &Document, view: &View) {
    let columns = columns(view);
    for line in wrap(&outline.headline, columns) {
        row(out, &paint(view.palette.headline, &line));
    }
    let verdict = outline.graded.as_str();
    for (index, line) in wrap(verdict, columns.saturating_sub(2)).into_iter().enumerate() {
        match line.strip_prefix(outline.verdict.as_str()) {
            Some(rest) if index == 0 => {
                let name = paint(view.palette.tone(outline.tone), &outline.verdict);
                row(out, &format!("{name}{rest}"));
            }
            _ => row(out, &format!("{}{line}", blanks(if index == 0 { 0 } else { 2 }))),
        }
    }
}

/// Lays out blocks one after the other.
pub(crate) fn blocks(out: &mut String, blocks: &[Block], view: &View) {
    for block in blocks {
        match block {
            Block::Quotes(quotes) => lines_of_the_log(out, quotes, 2, view),
            Block::Figures(figures) => figures.iter().for_each(|figure| figure_rows(out, figure, view)),
            Block::Items { label, items, numbered } => items_rows(out, label, items, *numbered, view),
            Block::Code(code) => {
                out.push('\n');
                code.lines().for_each(|line| row(out, &clean(line)));
                out.push('\n');
            }
            Block::Section(title) => {
                out.push('\n');
                row(out, &paint(view.palette.headline, &clean(title)));
            }
            Block::Table { head, rows } => table(out, head, rows, view),
        }
    }
}

fn columns(view: &View) -> usize {
    view.width.max(NARROWEST)
}

fn row(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn lines_of_the_log(out: &mut String, quotes: &[Quote], indent: usize, view: &View) {
    let number_width = quotes.iter().map(|quote| width(&quote.place)).max().unwrap_or(0).max(4);
    let gutter = indent + number_width + 3;
    let room = columns(view).saturating_sub(gutter).max(20);
    let beside = |quote: &Quote| {
        let needs = width(quote.remark.as_deref()?) + REMARK_GAP;
        (room >= needs + width(&quote.text).min(TEXT_BESIDE_REMARK)).then(|| room - needs)
    };
    let shown: Vec<String> = quotes.iter().map(|quote| cut_width(&quote.text, beside(quote).unwrap_or(room))).collect();
    let remarks_at =
        quotes.iter().zip(&shown).filter(|(quote, _)| beside(quote).is_some()).map(|(_, text)| width(text)).max();
    for (quote, text) in quotes.iter().zip(&shown) {
        let place = format!("{}{} | ", blanks(indent), right(&quote.place, number_width));
        let place = paint(view.palette.dim, &place);
        match (&quote.remark, beside(quote)) {
            (Some(remark), Some(most)) => {
                let text = pad(text, remarks_at.unwrap_or(0).min(most));
                row(out, &format!("{place}{text}{}{}", blanks(REMARK_GAP), clean(remark)));
            }
            (Some(remark), None) => {
                row(out, &format!("{place}{text}"));
                for line in wrap(remark, room.saturating_sub(2)) {
                    row(out, &format!("{}{line}", blanks(gutter + 2)));
                }
            }
            (None, _) => row(out, &format!("{place}{text}")),
        }
    }
}

/// Figures keep their own spacing as long as they fit.
fn figure_rows(out: &mut String, figure: &str, view: &View) {
    let room = columns(view).saturating_sub(2);
    let whole = clean(figure);
    if width(&whole) <= room {
        row(out, &format!("  {whole}"));
        return;
    }
    for (index, line) in wrap(&whole, room.saturating_sub(2)).into_iter().enumerate() {
        row(out, &format!("{}{line}", blanks(if index == 0 { 2 } else { 4 })));
    }
}

fn items_rows(out: &mut String, label: &str, items: &[Item], numbered: bool, view: &View) {
    let label = clean(label);
    let gap = if label.is_empty() || label.ends_with('：') { "" } else { " " };
    let painted = paint(view.palette.label, &label);
    let own_row = items.is_empty() || width(&label) > WIDEST_LABEL;
    let hang = if own_row { 2 } else { width(&label) + gap.len() };
    if own_row {
        for (index, line) in wrap(&label, columns(view).saturating_sub(2)).iter().enumerate() {
            row(out, &format!("{}{}", blanks(if index == 0 { 0 } else { 2 }), paint(view.palette.label, line)));
        }
    }
    for (index, item) in items.iter().enumerate() {
        let number = match (numbered, items.len()) {
            (true, _) => format!("{}. ", index + 1),
            // Without a mark, the second item would look like the rest of the first.
            (false, 2..) => "- ".to_owned(),
            (false, _) => String::new(),
        };
        let indent = hang + width(&number);
        let first = match index == 0 && !own_row {
            true => format!("{painted}{gap}{number}"),
            false => format!("{}{number}", blanks(hang)),
        };
        for (index, line) in wrap(&item.text, columns(view).saturating_sub(indent).max(20)).into_iter().enumerate() {
            row(out, &format!("{}{line}", if index == 0 { first.clone() } else { blanks(indent) }));
        }
        if let Some(command) = &item.command {
            row(out, &format!("{}{}", blanks(indent + 2), clean(command)));
        }
        lines_of_the_log(out, &item.quotes, hang.min(6), view);
    }
}

/// The head is dim, however many lines it takes.
fn table(out: &mut String, head: &[String], rows: &[Vec<String>], view: &View) {
    let (head, rows) = table::rows(head, rows, columns(view));
    head.iter().for_each(|line| row(out, &paint(view.palette.dim, line)));
    rows.iter().for_each(|line| row(out, line));
}
