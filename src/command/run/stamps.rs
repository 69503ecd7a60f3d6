//! When prompts begin and end, noticed as their lines pass by: readings of memory and prompts then share one clock.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use memchr::memmem;

use crate::catalog::{EventKind, Packs};
use crate::samples::PROMPT_ENDED;

/// What stands in a samples file for the beginning of a prompt.
const BEGAN: &str = "got";
/// A constant beginning shorter than this says too little.
const SHORTEST: usize = 6;

/// One moment: seconds since 1970, and what the prompt did then.
pub(super) type Stamp = (f64, &'static str);

/// Looks for the texts of prompts in what passes by. Cheap to clone; all clones fill one list.
#[derive(Debug, Clone, Default)]
pub(super) struct Stamps {
    /// Constant beginnings of the texts, with what they tell.
    texts: Arc<Vec<(Vec<u8>, &'static str)>>,
    found: Arc<Mutex<Vec<Stamp>>>,
}

/// The end of the last block of one stream: a text may be cut by it.
pub(super) type Carry = Vec<u8>;

impl Stamps {
    /// With the texts of the packs.
    pub(super) fn of(folders: &[PathBuf]) -> Self {
        let told = Packs::definitions(folders).message.into_iter().filter(|rule| !rule.regex).filter_map(|rule| {
            let what = match rule.event {
                EventKind::PromptGot => BEGAN,
                EventKind::PromptExecuted => PROMPT_ENDED,
                _ => return None,
            };
            let text = rule.text.split('{').next().unwrap_or_default().to_owned();
            (text.len() >= SHORTEST).then_some((text.into_bytes(), what))
        });
        let mut texts: Vec<(Vec<u8>, &'static str)> = told.collect();
        texts.sort();
        texts.dedup();
        // One that begins like another would be counted twice.
        let all = texts.clone();
        texts.retain(|(text, _)| !all.iter().any(|(other, _)| other != text && text.starts_with(other)));
        Self { texts: Arc::new(texts), found: Arc::default() }
    }

    /// Looks into the next bytes of a stream.
    pub(super) fn look(&self, carry: &mut Carry, bytes: &[u8]) {
        let before = carry.len();
        carry.extend_from_slice(bytes);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let mut found: Vec<(usize, &'static str)> = Vec::new();
        for (text, what) in self.texts.iter() {
            let places = memmem::find_iter(carry, text).filter(|at| at + text.len() > before);
            found.extend(places.map(|at| (at, *what)));
        }
        found.sort_unstable();
        if !found.is_empty() {
            let mut list = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            list.extend(found.into_iter().map(|(_, what)| (now, what)));
        }
        let longest = self.texts.iter().map(|(text, _)| text.len()).max().unwrap_or(1);
        let keep = carry.len().min(longest.saturating_sub(1));
        carry.drain(..carry.len() - keep);
    }

    /// What came since the last call.
    pub(super) fn take(&self) -> Vec<Stamp> {
        std::mem::take(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_noticed_once_wherever_blocks_end() {
        let stamps = Stamps::of(&[]);
        let text = "\u{1b}[32m[INFO]\u{1b}[0m got prompt\r\nPrompt executed in 0.04 seconds\ngot prom\n".repeat(3);
        for size in [1, 3, 7, 64, 1000] {
            let mut carry = Carry::new();
            for block in text.as_bytes().chunks(size) {
                stamps.look(&mut carry, block);
            }
            let what: Vec<&str> = stamps.take().into_iter().map(|(_, what)| what).collect();
            assert_eq!(what, ["got", "executed", "got", "executed", "got", "executed"], "{size}");
        }
    }
}
