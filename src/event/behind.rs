//! Lines that no rule knows, read without what stands around ComfyUI's text in them.

use std::mem;

use super::learn::Look;
use super::quote::quotations;
use super::{EventSink, Recogniser};
use crate::input::{Level, Place, Segment};
use crate::rule::{EventKind, Spans};

/// The shortest beginning of a text that a narrow window broke: windows have 80 columns, a prefix may take many.
const BEGINNING: usize = 78;
const BEHIND_PREFIX: usize = 24;
/// The longest text put together again.
const WHOLE: usize = 1000;

/// The beginning of a text that may go on in the next line: windows of consoles break long lines.
#[derive(Debug, Default)]
pub(super) struct Broken {
    text: Vec<u8>,
    place: Place,
    last_line: u64,
    level: Option<Level>,
    tagged: bool,
}

impl Broken {
    /// No line waits for the next one.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// A text may be the beginning of one that a narrow window broke; `bare` when nothing stood before it, and `kin` when
/// rules are looked up by how it begins.
pub(super) fn may_be_broken(text: &[u8], bare: bool, kin: bool) -> bool {
    let least = if bare { BEGINNING } else { BEHIND_PREFIX };
    kin && (least..WHOLE).contains(&text.len())
}

impl<S: EventSink> Recogniser<'_, S> {
    /// Puts a line to the one before, when only both together are a known text. True when they are.
    pub(super) fn joined(&mut self, segment: &Segment<'_>) -> bool {
        let before = mem::take(&mut self.broken);
        let follows = !before.text.is_empty() && segment.place.line == before.last_line + 1;
        if follows && segment.stamp.is_none() && !segment.tagged && !segment.prompted && !segment.glued {
            let Broken { mut text, place, level, tagged, .. } = before;
            if segment.indent > 0 {
                text.push(b' ');
            }
            text.extend_from_slice(segment.text);
            if text.len() <= WHOLE {
                let whole = Segment { place, level, tagged, indent: 0, text: &text, ..*segment };
                if self.texts(&whole, &text, false) {
                    return true;
                }
                if !self.packs.matcher().may_begin(segment.text) {
                    self.broken = Broken { text, place, last_line: segment.place.line, level, tagged };
                    return false;
                }
            }
        }
        let whole = !segment.cut && !segment.prompted && segment.place.segment == 0;
        if whole && may_be_broken(segment.text, segment.is_bare(), true) && self.packs.matcher().may_begin(segment.text)
        {
            let Segment { place, level, tagged, text, .. } = *segment;
            self.broken = Broken { text: text.to_vec(), place, last_line: place.line, level, tagged };
        }
        false
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
        match self.learner.look(segment, known) {
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
