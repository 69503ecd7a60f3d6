//! Texts that bug and node packs look for, searched in messages and in the first lines of each rule.
//!
//! Searching every line would cost more than reading it; a text that a rule knows shows itself in the
//! first lines of that rule.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use serde::Serialize;

use super::evidence::Evidence;
use crate::catalog::Packs;
use crate::event::Event;

/// Lines of one rule that are searched before the rule is taken as known.
const LINES_PER_RULE: u8 = 3;
/// Prompts remembered per text.
const PROMPTS_LIMIT: usize = 64;

/// A text of a pack that was seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SignatureHit {
    pub text: String,
    pub count: u64,
    /// Most lines of one prompt: what is told anew in each prompt is no more than that.
    pub most_in_prompt: u64,
    pub first: Evidence,
    /// Prompts in which it was seen.
    pub prompts: BTreeSet<u64>,
    /// Last line that was counted, with the rule: a message is matched by itself too, and stands for one; what one rule
    /// finds several times in a line is as many.
    last_line: u64,
    last_rule: Option<usize>,
    /// The prompt it was seen in last, and the lines there.
    in_prompt: (u64, u64),
}

/// All texts that packs look for.
#[derive(Debug, Clone)]
pub struct SignatureTexts {
    texts: Vec<String>,
    automaton: Option<AhoCorasick>,
}

impl SignatureTexts {
    /// Collects the signature and context texts of all bugs and nodes, and those worth a mention. The automaton is built
    /// when the first text has to be searched.
    pub fn of(packs: &Packs) -> Self {
        let bugs = packs.bugs.iter().flat_map(|bug| bug.signature.iter().chain(&bug.signature_all).chain(&bug.context));
        let nodes = packs.nodes.iter().flat_map(|node| &node.signature);
        let mentions = packs.mentions.iter().flat_map(|mention| &mention.texts);
        let texts: BTreeSet<&String> = bugs.chain(nodes).chain(mentions).filter(|text| text.len() >= 4).collect();
        Self { texts: texts.into_iter().cloned().collect(), automaton: None }
    }

    fn automaton(&mut self) -> Option<&AhoCorasick> {
        if self.automaton.is_none() {
            // What is quick to build: few lines are searched.
            self.automaton = AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::NoncontiguousNFA))
                .prefilter(false)
                .dense_depth(1)
                .build(&self.texts)
                .ok();
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
    /// By the number of the text.
    seen: Vec<Option<Box<SignatureHit>>>,
    /// By the number of the rule.
    of_rules: Vec<Searched>,
    /// Texts that no rule knows, by the name of what knew them.
    of_others: Vec<(Box<str>, Searched)>,
}

/// What the first lines of one rule showed.
#[derive(Debug, Clone, Default)]
struct Searched {
    lines: u8,
    hits: Vec<usize>,
}

impl SignalTracker {
    /// Searches a line that is worth it: a message, an error, or one of the first lines of a rule.
    pub(crate) fn line(&mut self, texts: &mut SignatureTexts, event: &Event<'_>, prompt: u64, always: bool) {
        let at = &event.at;
        if always {
            for number in texts.find(at.text) {
                self.enter(texts, number, event, prompt);
            }
            return;
        }
        let searched = self.searched(event);
        if searched.lines < LINES_PER_RULE {
            searched.lines += 1;
            let found = texts.find(at.text);
            for number in &found {
                if !searched.hits.contains(number) {
                    searched.hits.push(*number);
                }
            }
            for number in found {
                self.enter(texts, number, event, prompt);
            }
        } else if !searched.hits.is_empty() {
            let hits = std::mem::take(&mut searched.hits);
            for number in &hits {
                self.enter(texts, *number, event, prompt);
            }
            self.searched(event).hits = hits;
        }
    }

    fn searched(&mut self, event: &Event<'_>) -> &mut Searched {
        if let Some(rule) = event.rule {
            let number = rule.number();
            if number >= self.of_rules.len() {
                self.of_rules.resize_with(number + 1, Searched::default);
            }
            return &mut self.of_rules[number];
        }
        let index = match self.of_others.iter().position(|(name, _)| **name == *event.at.rule) {
            Some(index) => index,
            None => {
                self.of_others.push((event.at.rule.into(), Searched::default()));
                self.of_others.len() - 1
            }
        };
        &mut self.of_others[index].1
    }

    fn enter(&mut self, texts: &SignatureTexts, number: usize, event: &Event<'_>, prompt: u64) {
        let at = &event.at;
        if number >= self.seen.len() {
            self.seen.resize(number + 1, None);
        }
        let Some(slot) = self.seen.get_mut(number) else { return };
        let signal = slot.get_or_insert_with(|| {
            Box::new(SignatureHit {
                text: texts.text(number).to_owned(),
                count: 0,
                most_in_prompt: 0,
                first: Evidence::of(at),
                prompts: BTreeSet::new(),
                last_line: 0,
                last_rule: None,
                in_prompt: (prompt, 0),
            })
        });
        let rule = event.rule.map(crate::catalog::Rule::number);
        let repeated = rule.is_some() && rule == signal.last_rule;
        if signal.last_line != at.place.line || repeated {
            signal.count += 1;
            signal.last_line = at.place.line;
            signal.last_rule = rule;
            if signal.in_prompt.0 != prompt {
                signal.in_prompt = (prompt, 0);
            }
            signal.in_prompt.1 += 1;
            signal.most_in_prompt = signal.most_in_prompt.max(signal.in_prompt.1);
        }
        if signal.prompts.len() < PROMPTS_LIMIT && signal.prompts.last() != Some(&prompt) {
            signal.prompts.insert(prompt);
        }
    }

    pub(crate) fn into_list(self) -> Vec<SignatureHit> {
        self.seen.into_iter().flatten().map(|signal| *signal).collect()
    }
}
