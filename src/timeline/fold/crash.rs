//! Crash reports: threads and frames, Python's and native ones.

use super::{NAME_KEPT, Open, TEXT_KEPT, kept};
use crate::event::{Event, What};
use crate::timeline::crash::{CrashFrame, CrashStack, plain_path};
use crate::timeline::evidence::Evidence;

/// The event belongs to a crash report, and to no traceback of an exception.
pub(super) fn is_of_crash(event: &Event<'_>) -> bool {
    event.rule.is_some_and(|rule| rule.sets("crashed"))
}

impl Open {
    pub(super) fn crash_report(&mut self, event: &Event<'_>) {
        let native = event.rule.is_some_and(|rule| rule.sets("native"));
        let at = &event.at;
        let stack = self.session.crash_stack.get_or_insert_with(|| CrashStack::new(Evidence::of(at)));
        match event.what {
            What::TracebackStart { .. } => {
                let current = event.rule.is_some_and(|rule| rule.sets("current"));
                stack.heading(current, native);
            }
            What::TracebackFrame { file, line, function } => {
                let file = plain_path(&crate::text::cut_chars(file, NAME_KEPT * 2));
                let frame = CrashFrame { file, line: *line, function: kept(function, TEXT_KEPT), at: Evidence::of(at) };
                stack.frame(frame, native);
            }
            _ => {}
        }
    }
}
