//! What redaction replaced, as a table for the person who is about to share the output.

use super::document::Block;
use super::label::Labels;
use super::{Palette, View, blocks};
use crate::redact::Replaced;

/// Rows shown; the rest is counted.
const ROWS: usize = 30;

/// The table; one sentence when nothing was replaced.
pub(crate) fn replaced(list: &[Replaced], labels: &Labels<'_>, width: usize) -> String {
    if list.is_empty() {
        return format!("{}\n", labels.get("redact-nothing"));
    }
    let times: u64 = list.iter().map(|row| row.count).sum();
    let head = ["redact-token", "redact-kind", "redact-times", "redact-was"].iter().map(|id| labels.get(id)).collect();
    let rows = list
        .iter()
        .take(ROWS)
        .map(|row| {
            vec![
                row.token.clone(),
                labels.get(&format!("redact-{}", row.category.word())),
                row.count.to_string(),
                row.hint.clone(),
            ]
        })
        .collect();
    let title = labels.with("redact-title", &[("n", &list.len().to_string()), ("times", &times.to_string())]);
    let mut told = vec![Block::Section(title), Block::Table { head, rows }];
    if list.len() > ROWS {
        told.push(Block::Figures(vec![labels.with("redact-more", &[("n", &(list.len() - ROWS).to_string())])]));
    }
    told.push(Block::Figures(vec![labels.get("redact-look")]));
    let mut text = String::new();
    blocks(&mut text, &told, &View { width, palette: Palette::COLOUR, ..View::default() });
    text
}
