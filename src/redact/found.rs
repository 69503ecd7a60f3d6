//! Places of a text that are private.

use std::ops::Range;

use super::tokens::Category;

/// Something private in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) at: Range<usize>,
    pub(super) category: Category,
    /// The text that shows it, what stands before and behind it included.
    pub(super) shown: Range<usize>,
}

impl Found {
    pub(super) fn new(category: Category, at: Range<usize>) -> Self {
        Self { shown: at.clone(), at, category }
    }
}

/// Sorts what was found and makes one of what overlaps: the first keeps its kind, the longest its end.
pub(super) fn settle(mut found: Vec<Found>) -> Vec<Found> {
    found.retain(|one| !one.at.is_empty());
    found.sort_by_key(|one| one.at.start);
    let mut out: Vec<Found> = Vec::new();
    for one in found {
        match out.last_mut() {
            Some(before) if one.at.start < before.at.end => {
                before.at.end = before.at.end.max(one.at.end);
                before.shown = before.shown.start.min(one.shown.start)..before.shown.end.max(one.shown.end);
            }
            _ => out.push(one),
        }
    }
    out
}
