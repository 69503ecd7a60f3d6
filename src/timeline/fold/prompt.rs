//! Prompts: got, refused, stopped, executed.

use super::Open;
use super::loads::LoadGroup;
use crate::event::{At, What};
use crate::timeline::evidence::Evidence;
use crate::timeline::note::overwrite;

impl Open {
    pub(super) fn prompt_event(&mut self, what: &What<'_>, at: &At<'_>) {
        match what {
            What::PromptGot => {
                self.session.prompts.got += 1;
                self.session.first_got.get_or_insert_with(|| Evidence::of(at));
                self.begin_prompt(at);
                self.only_received = true;
                self.begin_refusing();
            }
            What::PromptInvalid { fields } => self.prompt_refused(fields, at),
            What::PromptInterrupted => {
                self.prompt.told.interrupted = true;
                self.moved = false;
                self.session.first_interrupt.get_or_insert_with(|| Evidence::of(at));
            }
            What::PromptExecuted { seconds } => self.prompt_executed(*seconds, at),
            _ => {}
        }
    }

    pub(super) fn prompt_executed(&mut self, seconds: f64, at: &At<'_>) {
        self.begin_prompt(at);
        self.settle_refusing();
        // Whatever died, prompts run.
        self.session.worker_died = None;
        let number = self.session.current_prompt();
        self.leaks.prompt_ended(at, number);
        if let Some(exception) = self.traceback.take() {
            self.settle_traceback(exception);
        }
        let told = &mut self.prompt.told;
        told.seconds = Some(seconds);
        told.ended = true;
        told.executed_at = Some(Evidence::of(at));
        told.number = number;
        if told.failed {
            self.session.prompts.failed += 1;
        } else if told.interrupted {
            self.session.prompts.interrupted += 1;
        } else {
            for oom in &mut self.session.ooms {
                oom.recovered |= oom.prompt < number;
            }
        }
        self.track.prompt_ended(&mut self.prompt.told, at);
        self.session.prompts.executed += 1;
        overwrite(&mut self.last_executed, at);
        self.prompt = self.prompts.keep(std::mem::take(&mut self.prompt));
        self.prompt_began = self.session.prompts.got > self.session.prompts.executed + self.session.prompts.invalid;
        self.prompt.told.first_line = if self.prompt_began { at.place.line + 1 } else { 0 };
        self.open_oom = None;
        self.open_exception = None;
        self.bar = None;
        self.group = LoadGroup::default();
        self.moved = false;
        self.last_class = None;
        // Until the next one is received, nothing runs: that time is nobody's.
        self.pace.work(self.prompt_began);
    }
}
