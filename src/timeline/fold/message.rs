//! Lines of an exception's message that tell of an end: that of a program which a node had started.

use super::End;
use crate::event::{Event, What};
use crate::input::Place;

/// Texts remembered.
const QUOTED: usize = 8;

/// How far an announced exception was told.
#[derive(Debug, Clone, Default)]
pub(super) struct Message {
    /// It was announced, and its traceback has not begun: what stands between is its message.
    announced: Option<Place>,
    /// What the message named of an end; the traceback's end repeats it.
    quoted: Vec<String>,
}

impl End {
    /// Follows an exception from its announcement to its last line.
    pub(super) fn follow_message(&mut self, event: &Event<'_>) {
        match event.what {
            What::Exception { .. } => {
                self.message = Message { announced: Some(event.at.place), quoted: Vec::new() };
            }
            What::TracebackStart { stack: false } => {
                let Some(from) = self.message.announced.take() else { return };
                let told = self.kills.iter().chain(&self.crash).chain(&self.daemon);
                let told = told.chain(self.exit.iter().map(|(_, at)| at)).filter(|at| at.place >= from);
                let quoted: Vec<String> = told.map(|at| at.text.clone()).take(QUOTED).collect();
                if !quoted.is_empty() {
                    self.refute(from);
                    self.message.quoted = quoted;
                }
            }
            What::PromptGot | What::PromptExecuted { .. } | What::LoadRequested { .. } => {
                self.message = Message::default();
            }
            _ => {}
        }
    }

    /// The line repeats what a message named. Each is repeated once: the same again would be an end of its own.
    pub(super) fn repeats_message(&mut self, event: &Event<'_>) -> bool {
        let quoted = &mut self.message.quoted;
        let known = quoted.iter().position(|text| text.as_bytes() == event.at.text);
        known.is_some_and(|number| {
            quoted.remove(number);
            true
        })
    }
}
