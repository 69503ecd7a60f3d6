//! Lines that no rule knows, read without what stands around ComfyUI's text in them.

use super::learn::Look;
use super::quote::quotations;
use super::{EventSink, Recogniser};
use crate::input::Segment;
use crate::rule::{EventKind, Spans};

impl<S: EventSink> Recogniser<'_, S> {
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
