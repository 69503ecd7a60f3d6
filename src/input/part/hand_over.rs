//! Texts go out to the sink, with what stood before and around them.

use super::super::line::{Segment, Sink};
use super::super::prefix::Stripped;
use super::{Parts, SAMPLE, Spot};

/// How much of a line is kept as a sample of the input.
const SAMPLE_BYTES: usize = 120;

impl Parts {
    /// Hands on a text, unless it is a row of a message that may go on.
    #[inline]
    pub(super) fn deliver<S: Sink + ?Sized>(&mut self, out: &Stripped<'_>, spot: Spot, sink: &mut S) {
        if out.cell.is_some() || self.rows.were_seen() {
            self.row(out, spot, sink);
        } else {
            self.hand_over(out, spot, sink);
        }
    }

    /// A text where some stand in rows: it begins a message, goes on with one, or is none of them.
    #[inline(never)]
    fn row<S: Sink + ?Sized>(&mut self, out: &Stripped<'_>, spot: Spot, sink: &mut S) {
        let blanks = self.rows.blanks_within(out, spot.place);
        if blanks.is_some_and(|blanks| self.rows.goes_on(out, blanks, spot)) {
            return;
        }
        self.end_rows(sink);
        let below = self.rows.below(out).unwrap_or(*out);
        if let Some(blanks) = blanks {
            self.rows.begin_line(&Stripped { indent: blanks, ..*out }, spot);
        } else if !self.rows.begin(&below, spot) {
            self.hand_over(out, spot, sink);
        }
    }

    /// The message that waited is complete.
    #[inline]
    pub(crate) fn end_rows<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if self.rows.wait() {
            self.hand_over_rows(sink);
        }
    }

    #[inline(never)]
    fn hand_over_rows<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        // Lent out while its text is looked at.
        let mut rows = std::mem::take(&mut self.rows);
        let (out, spot) = rows.message();
        self.hand_over(&out, spot, sink);
        rows.end();
        self.rows = rows;
    }

    #[inline]
    fn hand_over<S: Sink + ?Sized>(&mut self, out: &Stripped<'_>, spot: Spot, sink: &mut S) {
        let Spot { place, glued, cut } = spot;
        if out.text.is_empty() {
            if place.segment <= 1 {
                self.counts.blank_lines += 1;
            }
            if out.tagged {
                self.tag = out.level.map(|level| (place.line, level));
            }
            return;
        }
        if self.frames.wait() {
            self.frames.release(sink);
        }
        let mut segment = Segment {
            place,
            text: out.text,
            indent: out.indent,
            stamp: out.stamp,
            level: out.level,
            tagged: out.tagged,
            prompted: out.prompted,
            glued,
            cut,
        };
        if self.tag.is_some() || self.continued || out.prompted {
            self.carry_over(&mut segment);
        }
        if segment.stamp.is_none() && !self.entry_stamp.is_empty() {
            segment.stamp = Some(&self.entry_stamp);
        }
        if out.text.last() == Some(&b']') && out.text.ends_with(b" blob data]") {
            let size = out.text.strip_prefix(b"[").is_some_and(|s| s.first().is_some_and(u8::is_ascii_digit));
            self.counts.blob_lines += u64::from(size);
        }
        if self.counts.sample.len() < SAMPLE {
            let short = out.text.get(..SAMPLE_BYTES).unwrap_or(out.text);
            self.counts.sample.push(String::from_utf8_lossy(short).into_owned());
        }
        sink.segment(&segment);
    }

    /// A level tag alone on its line counts for the next one; a typed command may go on over several lines.
    fn carry_over(&mut self, segment: &mut Segment<'_>) {
        if let Some((line, level)) = self.tag.take()
            && line + 1 == segment.place.line
            && !segment.tagged
        {
            segment.tagged = true;
            segment.level = Some(level);
        }
        if self.continued && segment.stamp.is_none() && !segment.tagged {
            segment.prompted = true;
        }
        self.continued = segment.prompted && matches!(segment.text.last(), Some(b'\\' | b'^' | b'`'));
    }
}
