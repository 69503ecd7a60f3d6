//! Several logs: one row for each, at the end.

use super::document::Block;
use super::label::Labels;
use crate::report::Report;

/// What the table says of one log.
#[derive(Debug)]
pub(crate) struct Row {
    source: String,
    /// Nothing when the log could not be read.
    answer: Option<[String; 3]>,
}

impl Row {
    pub(crate) fn of(report: &Report, labels: &Labels<'_>) -> Self {
        let verdict = &report.verdict;
        let answer = [verdict.primary.to_string(), labels.grade(verdict.grade), verdict.headline.clone()];
        Self { source: report.source.clone(), answer: Some(answer) }
    }

    pub(crate) fn unreadable(source: &str) -> Self {
        Self { source: source.to_owned(), answer: None }
    }
}

/// Title and table.
pub(crate) fn blocks(rows: &[Row], labels: &Labels<'_>) -> Vec<Block> {
    let head = ["col-log", "col-verdict", "col-grade", "col-headline"].iter().map(|id| labels.get(id)).collect();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| match &row.answer {
            Some([verdict, grade, headline]) => {
                vec![row.source.clone(), verdict.clone(), grade.clone(), headline.clone()]
            }
            None => vec![row.source.clone(), String::new(), String::new(), labels.get("unreadable")],
        })
        .collect();
    vec![Block::Section(labels.with("summary", &[("n", &rows.len().to_string())])), Block::Table { head, rows }]
}
