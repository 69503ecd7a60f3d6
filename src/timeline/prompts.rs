//! The prompts of a session that are kept in detail: the first and the latest ones.

use std::collections::VecDeque;

use super::names::{NameCounts, Names};
use super::session::Prompt;

const FIRST: usize = 64;
const LAST: usize = 64;

/// A prompt that is being told.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptDraft {
    /// What is known of it, without its models.
    pub(crate) told: Prompt,
    pub(crate) requested: NameCounts,
    pub(crate) prepared: NameCounts,
}

impl PromptDraft {
    fn reset(&mut self) {
        self.told = Prompt::default();
        self.requested.clear();
        self.prepared.clear();
    }

    fn into_prompt(self, names: &Names) -> Prompt {
        Prompt { requested: self.requested.to_map(names), prepared: self.prepared.to_map(names), ..self.told }
    }
}

/// The prompts that have ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptLog {
    first: Vec<PromptDraft>,
    last: VecDeque<PromptDraft>,
    left_out: u64,
}

impl PromptLog {
    /// Keeps a prompt, and hands back an empty one for the next. In a long log that is the one that has to go, so
    /// that nothing is allocated.
    pub(crate) fn keep(&mut self, prompt: PromptDraft) -> PromptDraft {
        if self.first.len() < FIRST {
            self.first.push(prompt);
            return PromptDraft::default();
        }
        let oldest = if self.last.len() == LAST { self.last.pop_front() } else { None };
        self.last.push_back(prompt);
        match oldest {
            Some(mut oldest) => {
                self.left_out += 1;
                oldest.reset();
                oldest
            }
            None => PromptDraft::default(),
        }
    }

    /// The prompts kept, and how many between them were not.
    pub(crate) fn into_list(self, names: &Names) -> (Vec<Prompt>, u64) {
        let list = self.first.into_iter().chain(self.last).map(|prompt| prompt.into_prompt(names)).collect();
        (list, self.left_out)
    }
}
