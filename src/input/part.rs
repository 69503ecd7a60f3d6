//! One part of a line (between carriage returns) becomes bars and segments for the sink.
//!
//! Folds a series of redrawn bars into its last frame, and calls `decode`, `ansi`, `bar` and `prefix` where the
//! bytes ask for it. Knows nothing of blocks; keeps no part after it was handed on.

use super::bar;
use super::decode::Legacy;
use super::line::{Bar, Level, Place, Segment, Sink};
use super::rows::Rows;
use super::{ansi, page, prefix, record, stamp};

/// How many bytes of a frame are kept until it is known to be the last of its series.
const TAIL: usize = 128;
/// How many pieces (bars, texts) one part may hold; what follows stays one text.
const PIECES: usize = 256;
/// How many lines are kept as a sample of the input, and how much of each.
const SAMPLE: usize = 3;
const SAMPLE_BYTES: usize = 120;

/// How a part ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// A carriage return; the line goes on.
    Cr,
    /// A line break.
    Line,
    /// The end of the input.
    Input,
}

/// What was counted while parts were read.
#[derive(Debug, Default, Clone)]
pub(crate) struct Counts {
    pub(crate) nul_bytes: u64,
    pub(crate) invalid_lines: u64,
    pub(crate) blob_lines: u64,
    pub(crate) blank_lines: u64,
    pub(crate) sample: Vec<String>,
}

/// A frame that may still be redrawn.
struct Held {
    place: Place,
    percent: [u8; 3],
    /// The figures; `None` when they stand unread in `Parts::tail`.
    figures: Option<Option<Bar>>,
}

/// Turns parts into bars and segments.
pub(crate) struct Parts {
    pub(crate) counts: Counts,
    pub(crate) legacy: Legacy,
    /// Number of the part within its line, from 0.
    part: u32,
    held: Option<Held>,
    /// The end of a frame that is held unread, written in place: moving it about cost a tenth of the time on bars.
    tail: [u8; TAIL],
    tail_length: usize,
    /// See [`Parts::is_calm`].
    calm: bool,
    /// The line held a bar.
    barred: bool,
    /// Invalid bytes were seen on this line.
    invalid: bool,
    /// The log buffer's stamps were seen, so they may stand inside lines too.
    buffered: bool,
    /// The next line goes on with a typed command.
    continued: bool,
    /// A level tag stood alone on the line before.
    tag: Option<(u64, Level)>,
    /// A message in a column of its own, which may go on below.
    rows: Rows,
    /// Stamp of the entry that the line began in.
    pub(crate) entry_stamp: Vec<u8>,
    decoded: Vec<u8>,
    stripped: Vec<u8>,
    joined: Vec<u8>,
}

impl Parts {
    pub(crate) fn new() -> Self {
        Self {
            counts: Counts::default(),
            legacy: Legacy::new(),
            part: 0,
            held: None,
            tail: [0; TAIL],
            tail_length: 0,
            calm: false,
            barred: false,
            invalid: false,
            buffered: false,
            continued: false,
            tag: None,
            rows: Rows::default(),
            entry_stamp: Vec::new(),
            decoded: Vec::new(),
            stripped: Vec::new(),
            joined: Vec::new(),
        }
    }

    /// Takes the next part; `odd` tells whether it holds bytes other than plain text (see `split`).
    #[inline]
    pub(crate) fn take<S: Sink + ?Sized>(&mut self, raw: &[u8], odd: bool, end: End, line: Place, sink: &mut S) {
        let text = trim_end(raw);
        if odd && bar::fills(text) {
            self.hold_raw(text, line, sink);
        } else if !text.is_empty() {
            let several = end == End::Cr || self.part > 0;
            let place = Place { segment: if several { self.part + 1 } else { 0 }, ..line };
            if text.starts_with(b"{\"")
                && let Some(record) = record::text_of(text)
            {
                // Bars and colours may stand inside; what a record holds is read as a line of its own.
                for line in record.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty()) {
                    self.odd_text(line, place, end == End::Input, sink);
                }
            } else if odd || self.part > 0 || self.buffered {
                self.odd_text(text, place, end == End::Input, sink);
            } else {
                self.plain_text(text, place, end == End::Input, sink);
            }
        } else if end == End::Line && self.part == 0 {
            self.counts.blank_lines += 1;
        }
        match end {
            End::Cr => self.part = self.part.saturating_add(1),
            End::Line | End::Input => self.line_ends(sink),
        }
        self.calm = self.is_calm();
    }

    /// Takes a whole line in which nothing is odd; false when it needs a closer look. Nearly all lines of a plain log
    /// end here.
    #[inline]
    pub(crate) fn take_plain<S: Sink + ?Sized>(&mut self, raw: &[u8], line: Place, sink: &mut S) -> bool {
        if !self.calm || !self.entry_stamp.is_empty() {
            return false;
        }
        let text = trim_end(raw);
        let indent = prefix::leading(text);
        let text = text.get(indent..).unwrap_or_default();
        // See `take` and `plain_text` for what these may mean.
        let special = matches!(text, [b'{', b'"', ..] | [.., b'-' | b']' | b'>']) || raw.get(10) == Some(&b'T');
        if special || !prefix::is_bare(text) {
            return false;
        }
        sink.plain(text, line, u32::try_from(indent).unwrap_or(u32::MAX));
        true
    }

    /// Nothing that was seen before has a say in what the next line is.
    fn is_calm(&self) -> bool {
        let fresh = self.part == 0 && !self.barred && !self.invalid && self.held.is_none();
        let usual = !self.buffered && !self.continued && self.tag.is_none() && !self.rows.were_seen();
        fresh && usual && self.counts.sample.len() >= SAMPLE
    }

    /// Frames that others redraw: they take part in nothing but the numbers of parts.
    #[inline]
    pub(crate) fn skip_frames(&mut self, count: u32) {
        self.part = self.part.saturating_add(count);
        self.calm = false;
    }

    #[inline]
    fn line_ends<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if self.part > 0 || self.barred || self.invalid {
            self.part = 0;
            self.release(sink);
            self.barred = false;
            self.counts.invalid_lines += u64::from(std::mem::take(&mut self.invalid));
        }
    }

    // ---- series of frames ----

    #[inline]
    fn hold_raw<S: Sink + ?Sized>(&mut self, text: &[u8], line: Place, sink: &mut S) {
        let place = Place { segment: self.part + 1, ..line };
        let percent = text.first_chunk().copied().unwrap_or([b' '; 3]);
        // Before the tail is written: what it held may have to go out first.
        self.hold(Held { place, percent, figures: None }, sink);
        let tail = text.last_chunk::<TAIL>().map_or(text, |tail| tail);
        self.tail_length = tail.len();
        if let Some(kept) = self.tail.get_mut(..tail.len()) {
            kept.copy_from_slice(tail);
        }
    }

    #[inline]
    fn hold<S: Sink + ?Sized>(&mut self, frame: Held, sink: &mut S) {
        self.barred = true;
        self.end_rows(sink);
        if let Some(old) = &self.held {
            let other = match (&old.figures, &frame.figures) {
                (Some(Some(a)), Some(Some(b))) => a.total != b.total || b.done < a.done,
                _ => false,
            };
            if frame.percent < old.percent || other {
                self.release(sink);
            }
        }
        self.held = Some(frame);
    }

    /// Hands on the frame that turned out to be the last of its series.
    fn release<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if let Some(held) = self.held.take() {
            let bar = match held.figures {
                Some(bar) => bar,
                None => figures(self.tail.get(..self.tail_length).unwrap_or_default()),
            };
            if let Some(bar) = bar {
                sink.bar(held.place, bar);
            }
        }
    }

    // ---- texts ----

    #[inline]
    fn plain_text<S: Sink + ?Sized>(&mut self, text: &[u8], place: Place, cut: bool, sink: &mut S) {
        if matches!(text.last(), Some(b'-' | b'>')) || (text.get(10) == Some(&b'T') && stamp::of_buffer(text).is_some())
        {
            self.odd_text(text, place, cut, sink);
        } else if text.last() == Some(&b']') && bar::endless(text) {
            self.barred = true;
        } else if text.last() == Some(&b']') && bar::continued(text).is_some() {
            self.pieces(text, place, cut, sink);
        } else {
            self.deliver(&self.stripped(text), place, false, cut, sink);
        }
    }

    /// Without its prefixes; within a message what looks like one is none.
    #[inline]
    fn stripped<'t>(&self, text: &'t [u8]) -> prefix::Stripped<'t> {
        if self.rows.wait() { self.rows.strip(text) } else { prefix::strip(text) }
    }

    /// A text that may hold anything. The buffers are lent out while the text stands in them.
    #[inline(never)]
    fn odd_text<S: Sink + ?Sized>(&mut self, text: &[u8], place: Place, cut: bool, sink: &mut S) {
        if !self.buffered
            && let Some((tag, text)) = ansi::coloured_tag(text)
            // Endless bars, stamps and marks at the end need a closer look.
            && !matches!(text.last(), Some(b']' | b'-' | b'>'))
            && let Some(out) = prefix::behind_tag(tag, trim_end(text))
        {
            let glued = self.barred;
            return self.deliver(&out, place, glued, cut, sink);
        }
        let mut decoded = std::mem::take(&mut self.decoded);
        let mut stripped = std::mem::take(&mut self.stripped);
        let mut joined = std::mem::take(&mut self.joined);
        let mut text = text;
        if !text.is_ascii() {
            let valid = encoding_rs::Encoding::utf8_valid_up_to(text) == text.len();
            self.invalid |= !valid;
            let line = if valid { self.legacy.decode_lookalike(text) } else { self.legacy.decode(text) };
            if let Some(line) = line {
                decoded.clear();
                decoded.extend_from_slice(line);
                text = trim_end(&decoded);
            }
            if page::has_fixed_blanks(text) {
                decoded = page::with_blanks(text);
                text = trim_end(&decoded);
            }
        }
        // Asked first: counting in a text without any cost a tenth of the time on coloured logs.
        if memchr::memchr(0, text).is_some() {
            self.counts.nul_bytes += memchr::memchr_iter(0, text).count() as u64;
        }
        if ansi::strip(text, &mut stripped) {
            text = trim_end(&stripped);
        }
        if !self.buffered && stamp::of_buffer(text).is_some() {
            self.buffered = true;
        }
        if self.buffered && join_writes(text, &mut joined) {
            text = trim_end(&joined);
        } else {
            text = trim_end(stamp::without_tail(text));
        }
        text = trim_end(page::without_break(text));
        if bar::fills(text) {
            let part = self.part;
            self.hold_raw(text, Place { segment: part + 1, ..place }, sink);
        } else {
            self.pieces(text, place, cut, sink);
        }
        self.decoded = reuse(decoded);
        self.stripped = reuse(stripped);
        self.joined = reuse(joined);
    }

    /// Takes bars out of a text and hands on what stands around them.
    fn pieces<S: Sink + ?Sized>(&mut self, text: &[u8], place: Place, cut: bool, sink: &mut S) {
        let mut out = self.stripped(text);
        let mut place = place;
        for _ in 0..PIECES {
            if out.text.last() == Some(&b']') && bar::endless(out.text) {
                self.barred = true;
                return;
            }
            // Blanks belong to the frame: its number is right-aligned.
            let Some(frame) = bar::continued(out.text).or_else(|| bar::find(out.text)) else { break };
            if place.segment == 0 {
                place.segment = 1;
            }
            let before = trim_end(out.text.get(..frame.start).unwrap_or_default());
            if !before.is_empty() {
                let piece = prefix::Stripped { text: before, ..out };
                let glued = self.barred;
                self.deliver(&piece, place, glued, false, sink);
                self.next_piece(&mut place);
            }
            self.hold(Held { place, percent: frame.percent, figures: Some(frame.bar) }, sink);
            let rest = out.text.get(frame.end..).unwrap_or_default();
            let stamp = out.stamp;
            out = prefix::strip(rest);
            out.stamp = out.stamp.or(stamp);
            if out.text.is_empty() {
                return;
            }
            self.next_piece(&mut place);
        }
        let glued = self.barred;
        self.deliver(&out, place, glued, cut, sink);
    }

    fn next_piece(&mut self, place: &mut Place) {
        self.part = self.part.saturating_add(1);
        place.segment = self.part + 1;
    }

    #[inline]
    fn deliver<S: Sink + ?Sized>(
        &mut self,
        out: &prefix::Stripped<'_>,
        place: Place,
        glued: bool,
        cut: bool,
        sink: &mut S,
    ) {
        if out.cell.is_some() || self.rows.were_seen() {
            self.row(out, place, glued, cut, sink);
        } else {
            self.hand_over(out, place, glued, cut, sink);
        }
    }

    /// A text where some stand in rows: it begins a message, goes on with one, or is none of them.
    #[inline(never)]
    fn row<S: Sink + ?Sized>(
        &mut self,
        out: &prefix::Stripped<'_>,
        place: Place,
        glued: bool,
        cut: bool,
        sink: &mut S,
    ) {
        let blanks = self.rows.blanks_within(out, place);
        if blanks.is_some_and(|blanks| self.rows.goes_on(out, blanks, place, cut)) {
            return;
        }
        self.end_rows(sink);
        let below = self.rows.below(out).unwrap_or(*out);
        if let Some(blanks) = blanks {
            self.rows.begin_line(&prefix::Stripped { indent: blanks, ..*out }, place, glued, cut);
        } else if !self.rows.begin(&below, place, glued, cut) {
            self.hand_over(out, place, glued, cut, sink);
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
        let (out, place, glued, cut) = rows.message();
        self.hand_over(&out, place, glued, cut, sink);
        rows.end();
        self.rows = rows;
    }

    #[inline]
    fn hand_over<S: Sink + ?Sized>(
        &mut self,
        out: &prefix::Stripped<'_>,
        place: Place,
        glued: bool,
        cut: bool,
        sink: &mut S,
    ) {
        if out.text.is_empty() {
            if place.segment <= 1 {
                self.counts.blank_lines += 1;
            }
            if out.tagged {
                self.tag = out.level.map(|level| (place.line, level));
            }
            return;
        }
        self.release_before_text(sink);
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

    #[inline]
    fn release_before_text<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if self.held.is_some() {
            self.release(sink);
        }
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

/// The figures of a held frame; a copy from a web page may have blanks of its own.
fn figures(tail: &[u8]) -> Option<Bar> {
    bar::figures(tail).or_else(|| page::has_fixed_blanks(tail).then(|| bar::figures(&page::with_blanks(tail)))?)
}

/// Takes the stamps of the log buffer out of a line of several writes, but for the first one; false when there are none.
fn join_writes(text: &[u8], out: &mut Vec<u8>) -> bool {
    let from = stamp::of_buffer(text).unwrap_or(0);
    let Some(mut found) = stamp::next_of_buffer(text, from) else { return false };
    out.clear();
    let mut at = 0;
    loop {
        let (start, length) = found;
        out.extend_from_slice(text.get(at..start).unwrap_or_default());
        at = start + length;
        match stamp::next_of_buffer(text, at) {
            Some(more) => found = more,
            None => break,
        }
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    true
}

/// Gives back a buffer, unless one huge line made it huge.
fn reuse(buffer: Vec<u8>) -> Vec<u8> {
    if buffer.capacity() > 256 * 1024 { Vec::new() } else { buffer }
}

#[inline]
pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    let mut text = text;
    while let [rest @ .., b' ' | b'\t' | 0] = text {
        text = rest;
    }
    text
}
