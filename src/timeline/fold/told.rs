//! An end that names nobody, in a text about logs instead of in a log.
//!
//! `Killed` on a line of its own is the shell's word for whatever it ran. It is ComfyUI's end where ComfyUI was seen at
//! work; where nothing of it is seen and most lines are no program's, somebody writes about it.

use super::End;
use crate::event::{Event, What, Whose};

/// What shows whether there is a program at work.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    /// Something ran: a start, a prompt, a load, a step, a frame of a traceback.
    works: bool,
    /// Texts that were known.
    known: u64,
    /// A kill or a crash names what it ended.
    kill_names: bool,
    crash_names: bool,
}

impl Told {
    #[inline]
    pub(super) fn note(&mut self, event: &Event<'_>) {
        self.known += 1;
        match event.what {
            What::Kill { whose: Whose::Unsaid } | What::Crash { whose: Whose::Unsaid } => {}
            What::Kill { .. } | What::Exit { .. } => self.kill_names = true,
            What::Crash { .. } => self.crash_names = true,
            // What people quote, and what any program prints.
            What::LeakPotential { .. }
            | What::LeakWarning { .. }
            | What::Exception { .. }
            | What::ExceptionLine { .. }
            | What::ErrorNotice
            | What::Notice
            | What::Noise
            | What::Stop { .. }
            | What::Pause => {}
            _ => self.works |= !event.nested,
        }
    }

    /// Nothing is at work among `texts` texts, most of which are no program's.
    fn is_prose(&self, texts: u64) -> bool {
        !self.works && self.known * 2 < texts
    }
}

impl End {
    /// What holds of it in a log of so many texts.
    pub(super) fn in_a_log(mut self, texts: u64) -> Self {
        if self.told.is_prose(texts) {
            if !self.told.kill_names {
                self.kills.clear();
            }
            self.crash.take_if(|_| !self.told.crash_names);
        }
        self
    }
}
