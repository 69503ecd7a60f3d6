//! Rows of the import table that a narrow window broke: a path has no end that shows whether it is whole.

use super::{At, Classifier, EventSink, What};
use crate::catalog::{EventKind, Spans};
use crate::input::{Place, Segment, level_of};

/// Columns of the longest level tag, and of what stands around a stamp.
const TAG: usize = 12;
const BRACKETS: usize = "[] ".len();

/// The row that was read last; a name cut in the middle is no name.
#[derive(Debug, Default)]
pub(super) struct Row {
    text: Vec<u8>,
    place: Place,
    /// Line of its last piece; 0 when nothing may go on with it.
    last_line: u64,
    /// Bytes of the piece that is as wide as the window.
    width: usize,
}

impl Row {
    /// The next line may go on with a row.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.last_line != 0
    }

    /// Something else was read.
    #[inline]
    pub(super) fn close(&mut self) {
        self.last_line = 0;
    }

    pub(super) fn begin(&mut self, segment: &Segment<'_>, place: Place, text: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(text);
        (self.place, self.last_line) = (place, segment.place.line);
        // Stamps and levels stood before it.
        let before = segment.stamp.map_or(0, <[u8]>::len) + if segment.tagged { TAG } else { 0 };
        self.width = before + segment.indent as usize + text.len() + BRACKETS;
    }
}

impl<S: EventSink> Classifier<'_, S> {
    /// A word alone below a row belongs to its path. True when it does.
    pub(super) fn row_goes_on(&mut self, segment: &Segment<'_>) -> bool {
        let text = segment.text;
        let below = segment.place.line == self.row.last_line + 1 && segment.place.segment == 0;
        let alone = segment.is_bare() && segment.indent == 0 && !segment.prompted && !segment.glued;
        let word = !text.iter().any(u8::is_ascii_whitespace) && text.len() <= self.row.width;
        // An empty message of a logger leaves its level.
        let word = word && level_of(text).is_none();
        if !(self.row.is_open() && below && alone && word) {
            self.row.close();
            return false;
        }
        let mut row = std::mem::take(&mut self.row);
        let begun = row.text.clone();
        row.text.extend_from_slice(text);
        let known = self.tell_row(segment, &begun, &row);
        row.last_line = if known { segment.place.line } else { 0 };
        self.row = row;
        known
    }

    fn tell_row(&mut self, segment: &Segment<'_>, begun: &[u8], row: &Row) -> bool {
        let matcher = self.packs.matcher();
        let (mut before, mut spans) = (Spans::new(), Spans::new());
        let Some(old) = matcher.look_up(begun, &mut before) else { return false };
        let Some(new) = matcher.look_up(&row.text, &mut spans) else { return false };
        if old.rule.event != EventKind::ImportRow || new.rule.number() != old.rule.number() {
            return false;
        }
        let (Some(begun), Some(path)) =
            (old.captures(begun, &before).get("path"), new.captures(&row.text, &spans).get("path"))
        else {
            return false;
        };
        let (begun, path) = (String::from_utf8_lossy(begun.text), String::from_utf8_lossy(path.text));
        self.tally.understood += 1;
        let at = At { place: row.place, rule: &new.rule.id, ..self.at(segment, &row.text) };
        self.send(segment, at, What::ImportPath { begun, path }, None, false);
        true
    }
}
