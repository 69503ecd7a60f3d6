//! Texts that bug and node packs look for, searched in messages and in the first lines of each rule.
//!
//! Searching every line would cost more than reading it; a text that a rule knows shows itself in the
//! first lines of that rule.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use serde::Serialize;

use super::evidence::Evidence;
use crate::event::At;
use crate::rule::Packs;

/// Lines of one rule that are searched before the rule is taken as known.
const LINES_PER_RULE: u8 = 3;
/// Prompts remembered per text.
const PROMPTS_LIMIT: usize = 64;

/// A text of a pack that was seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Signal {
    pub text: String,
    pub count: u64,
    pub first: Evidence,
    /// Prompts in which it was seen.
    pub prompts: BTreeSet<u64>,
    /// Last line that was counted: a message is matched by itself too, and stands for one.
    last_line: u64,
}

/// All texts that packs look for.
#[derive(Debug)]
pub struct SignalTexts {
    texts: Vec<String>,
    automaton: Option<AhoCorasick>,
}

impl SignalTexts {
    /// Collects the signature and context texts of all bugs and nodes. The automaton is built when the
    /// first text has to be searched.
    pub fn of(packs: &Packs) -> Self {
        let bugs = packs.bugs.iter().flat_map(|bug| {
            bug.signature.iter().chain(&bug.signature_all).chain(&bug.context)
        });
        let nodes = packs.nodes.iter().flat_map(|node| &node.signature);
        let texts: BTreeSet<&String> = bugs.chain(nodes).filter(|text| text.len() >= 4).collect();
        Self { texts: texts.into_iter().cloned().collect(), automaton: None }
    }

    fn automaton(&mut self) -> Option<&AhoCorasick> {
        if self.automaton.is_none() {
            self.automaton =
                AhoCorasick::builder().kind(Some(AhoCorasickKind::NoncontiguousNFA)).build(&self.texts).ok();
        }
        self.automaton.as_ref()
    }

    /// Numbers of the texts that stand in `line`.
    pub(crate) fn find(&mut self, line: &[u8]) -> Vec<usize> {
        let line = line.get(..line.len().min(4096)).unwrap_or(line);
        let Some(automaton) = self.automaton() else { return Vec::new() };
        let mut found: Vec<usize> = automaton.find_overlapping_iter(line).map(|hit| hit.pattern().as_usize()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(crate) fn text(&self, number: usize) -> &str {
        self.texts.get(number).map_or("", String::as_str)
    }
}

/// Signals of one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct SignalTracker {
    seen: BTreeMap<usize, Signal>,
    searched: BTreeMap<Box<str>, (u8, Vec<usize>)>,
}

impl SignalTracker {
    /// Searches a line that is worth it: a message, an error, or one of the first lines of a rule.
    pub(crate) fn line(&mut self, texts: &mut SignalTexts, at: &At<'_>, prompt: u64, always: bool) {
        if !always {
            if let Some((searched, hits)) = self.searched.get_mut(at.rule) {
                if *searched >= LINES_PER_RULE {
                    for number in hits.clone() {
                        self.enter(texts, number, at, prompt);
                    }
                    return;
                }
                *searched += 1;
            } else {
                self.searched.insert(at.rule.into(), (1, Vec::new()));
            }
        }
        for number in texts.find(at.text) {
            if !always
                && let Some((_, hits)) = self.searched.get_mut(at.rule)
                && !hits.contains(&number)
            {
                hits.push(number);
            }
            self.enter(texts, number, at, prompt);
        }
    }

    fn enter(&mut self, texts: &SignalTexts, number: usize, at: &At<'_>, prompt: u64) {
        let signal = self.seen.entry(number).or_insert_with(|| Signal {
            text: texts.text(number).to_owned(),
            count: 0,
            first: Evidence::of(at),
            prompts: BTreeSet::new(),
            last_line: 0,
        });
        if signal.last_line != at.place.line {
            signal.count += 1;
            signal.last_line = at.place.line;
        }
        if signal.prompts.len() < PROMPTS_LIMIT {
            signal.prompts.insert(prompt);
        }
    }

    pub(crate) fn into_list(self) -> Vec<Signal> {
        self.seen.into_values().collect()
    }
}
