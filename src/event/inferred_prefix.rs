//! Lines that no rule knows, read without what stands around ComfyUI's text in them.

use std::mem;

use super::prefix_inference::Look;
use super::quote::quotations;
use super::{Classifier, EventSink};
use crate::catalog::{EventKind, SHORTEST, Spans};
use crate::input::{Level, Place, Segment};

/// The shortest beginning of a text that a narrow window broke: of 40 columns words may leave a third blank, and a prefix
/// may take many.
const BEGINNING: usize = 24;
const BEHIND_PREFIX: usize = 16;
const SHORTEST_BEHIND_PREFIX: usize = 12;
const NUMBERED: usize = 60;
/// The longest text put together again.
const WHOLE: usize = 1000;

/// The beginning of a text that may go on in the next line: windows of consoles break long lines.
#[derive(Debug, Default)]
pub(super) struct Broken {
    text: Vec<u8>,
    place: Place,
    last: Place,
    /// Bytes of the last piece, with the blanks before it.
    last_length: u64,
    level: Option<Level>,
    tagged: bool,
    indent: u32,
}

impl Broken {
    /// No line waits for the next one.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Lines that wait.
    pub(super) fn lines(&self) -> u64 {
        if self.is_empty() { 0 } else { self.last.line - self.place.line + 1 }
    }

    fn begin(segment: &Segment<'_>) -> Self {
        let Segment { place, level, tagged, indent, text, .. } = *segment;
        Self { text: text.to_vec(), place, last: place, last_length: length(segment), level, tagged, indent }
    }
}

/// How this log's lines were broken, as far as pieces showed it.
#[derive(Debug, Default)]
pub(super) struct Breaks {
    /// The fewest bytes that stood between two pieces: the line break.
    least: Option<u64>,
    /// Behind words, which a blank must part again.
    at_words: bool,
}

impl Breaks {
    /// Whether a blank stood between two pieces, as far as one can tell before putting them together.
    fn had_blank(&mut self, before: &Broken, next: &Segment<'_>) -> bool {
        let bytes = next.place.byte.saturating_sub(before.last.byte + before.last_length);
        let bare = before.last != before.place || !before.tagged;
        let least = self.least.map_or(bytes, |least| least.min(bytes));
        if bare {
            self.least = Some(least);
        }
        next.indent > 0 || (bare && bytes > least) || self.at_words
    }
}

/// Bytes that a piece takes in its line, what was taken off before it aside.
fn length(segment: &Segment<'_>) -> u64 {
    segment.text.len() as u64 + u64::from(segment.indent)
}

/// A text may be the beginning of one that a narrow window broke; `bare` when nothing stood before it, and `candidates` when
/// rules are looked up by how it begins. Lines that begin with a number are many, and what ComfyUI says of one is short.
pub(super) fn may_be_broken(text: &[u8], bare: bool, candidates: bool) -> bool {
    if text.len() < SHORTEST {
        // A stamp may leave little room; whether a rule begins so is still to be asked.
        return !bare && text.len() >= SHORTEST_BEHIND_PREFIX && text.first().is_some_and(u8::is_ascii_alphabetic);
    }
    let numbered = matches!(text.first(), Some(b'0'..=b'9' | b'-'));
    let least = match (numbered, bare) {
        // What it was about to name stands below: `0.0 seconds (IMPORT FAILED):`.
        (true, _) if text.last() == Some(&b':') => BEGINNING,
        (true, _) => NUMBERED,
        (false, true) => BEGINNING,
        (false, false) => BEHIND_PREFIX,
    };
    candidates && (least..WHOLE).contains(&text.len())
}

impl<S: EventSink> Classifier<'_, S> {
    /// Puts a line to those before it, when only all together are a known text. True when they are.
    pub(super) fn joined(&mut self, segment: &Segment<'_>) -> bool {
        let before = mem::take(&mut self.broken);
        let follows = !before.is_empty() && segment.place.line == before.last.line + 1;
        if follows && segment.is_bare() && !segment.prompted && !segment.glued && segment.place.segment == 0 {
            match self.put_together(before, segment) {
                Put::Known => return true,
                Put::GoesOn(broken) => {
                    self.broken = broken;
                    return false;
                }
                Put::Apart => {}
            }
        }
        let whole = !segment.cut && !segment.prompted && segment.place.segment == 0;
        if whole
            && may_be_broken(segment.text, segment.is_bare(), true)
            && self.packs.matcher().goes_on_behind(segment.text)
        {
            self.broken = Broken::begin(segment);
        }
        false
    }

    /// Both ways are tried, with a blank between the pieces and without one; a known text proves which one is right.
    fn put_together(&mut self, before: Broken, segment: &Segment<'_>) -> Put {
        let had_blank = self.breaks.had_blank(&before, segment);
        let ways = [had_blank, !had_blank].map(|blank| (blank, together(&before.text, blank, segment.text)));
        if ways.iter().any(|(_, text)| text.len() > WHOLE) {
            return Put::Apart;
        }
        let Broken { place, level, tagged, indent, .. } = before;
        for (blank, text) in &ways {
            let whole = Segment { place, level, tagged, indent, text, ..*segment };
            if self.texts(&whole, text, false) {
                self.breaks.at_words = *blank && segment.indent == 0;
                return Put::Known;
            }
        }
        let goes_on = ways.into_iter().find(|(_, text)| self.packs.matcher().goes_on_behind(text));
        match goes_on {
            Some((_, text)) => {
                let (last, last_length) = (segment.place, length(segment));
                Put::GoesOn(Broken { text, last, last_length, ..before })
            }
            None => Put::Apart,
        }
    }

    /// Looks for ComfyUI's text behind a prefix that `input` does not know. True when the line was read.
    pub(super) fn behind_prefix(&mut self, segment: &Segment<'_>) -> bool {
        if self.read_behind(self.learner.behind(segment)) {
            return true;
        }
        if !self.learner.looks(self.tally.comfyui) {
            return false;
        }
        let matcher = self.packs.matcher();
        let known = |text: &[u8]| {
            let found = matcher.look_up(text, &mut Spans::new())?;
            (found.rule.event.is_comfyui() || found.rule.is_kin()).then(|| found.rule.number())
        };
        match self.learner.look(segment, self.tally.texts, self.tally.comfyui, known) {
            Look::Nothing => return self.quoted_memory_failure(segment),
            Look::Seen => self.tally.hidden += 1,
            Look::Learned => {
                for unread in self.learner.take_kept() {
                    self.read_behind(unread.segment(&self.learner));
                }
                return self.read_behind(self.learner.behind(segment));
            }
        }
        false
    }

    /// An allocator's sentence that somebody quotes, where no log is: it says what ran out.
    fn quoted_memory_failure(&mut self, segment: &Segment<'_>) -> bool {
        let matcher = self.packs.matcher();
        let quoted = quotations(segment.text).find(|text| {
            let found = matcher.look_up(text, &mut Spans::new());
            found.is_some_and(|found| matches!(found.rule.event, EventKind::HostOom | EventKind::Oom))
        });
        quoted.is_some_and(|text| self.texts(segment, text, true))
    }

    /// Reads a text whose learned prefix is gone.
    fn read_behind(&mut self, behind: Option<Segment<'_>>) -> bool {
        let Some(segment) = behind else { return false };
        let before = self.tally.comfyui;
        if !self.texts(&segment, segment.text, false) {
            self.unknown_text(&segment);
        }
        self.learner.read += self.tally.comfyui - before;
        true
    }
}

/// What came of putting two pieces together.
enum Put {
    /// They are a known text.
    Known,
    /// They are the beginning of one.
    GoesOn(Broken),
    Apart,
}

fn together(before: &[u8], blank: bool, next: &[u8]) -> Vec<u8> {
    [before, if blank { b" " } else { b"" }, next].concat()
}
