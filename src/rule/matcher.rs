//! Which message rule a line belongs to: a hash of how the line begins, then the few templates that begin so.
//!
//! Measured: an automaton over all bytes pays for every byte of a line; this touches four to eight.
//! Templates that begin with a capture are found by a digit, by their second word, or behind the first `: `.

use std::sync::OnceLock;

use regex::bytes::Regex;

use super::kind::EventKind;
use super::schema::{Constant, Mark, MessageDef};
use super::template::{Capture, CaptureType, Captures, Part, Template, TemplateError, begins_with_number};
use super::version::{Since, Version};

/// Largest compiled size of a pack's regex, in bytes.
const REGEX_SIZE_LIMIT: usize = 256 * 1024;
/// Blanks after which a text is taken for another one, written by a cursor that had wandered off.
const WANDERED: usize = 8;

/// A message rule, ready to match.
#[derive(Debug)]
pub struct Rule {
    pub id: Box<str>,
    pub area: Box<str>,
    pub event: EventKind,
    pub since: Since,
    /// Last version with this wording.
    pub until: Option<Version>,
    /// The wording was gone before versions had numbers.
    pub until_before_numbers: bool,
    pub mark: Option<Mark>,
    pub noise: bool,
    pub set: Vec<(Box<str>, Constant)>,
    open: bool,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Template(Template),
    Regex(Box<Pattern>),
}

#[derive(Debug)]
struct Pattern {
    text: Box<str>,
    anchor: Box<[u8]>,
    types: Vec<(Box<str>, CaptureType)>,
    compiled: OnceLock<Option<Regex>>,
}

/// Why a rule cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RuleError {
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("the regex does not compile: {0}")]
    Regex(String),
    #[error("a regex rule needs an `anchor`: the letters that its line begins with")]
    NoAnchor,
    #[error("`{name}` has no known type: `{kind}`")]
    UnknownType { name: String, kind: String },
    #[error("event `{event}` needs a capture called `{capture}`")]
    MissingCapture { event: String, capture: String },
    #[error("`until` is not a version: `{0}`")]
    Until(String),
}

impl Rule {
    /// Compiles a definition. A regex is only checked here (`check_regex`) when asked to, since compiling
    /// costs more than all templates together.
    pub fn compile(def: &MessageDef) -> Result<Self, RuleError> {
        let form = if def.regex {
            if def.anchor.is_empty() {
                return Err(RuleError::NoAnchor);
            }
            let mut types = Vec::with_capacity(def.types.len());
            for (name, kind) in &def.types {
                let parsed = CaptureType::named(kind)
                    .ok_or_else(|| RuleError::UnknownType { name: name.clone(), kind: kind.clone() })?;
                types.push((name.as_str().into(), parsed));
            }
            Form::Regex(Box::new(Pattern {
                text: def.text.as_str().into(),
                anchor: def.anchor.as_bytes().into(),
                types,
                compiled: OnceLock::new(),
            }))
        } else {
            Form::Template(Template::parse(&def.text)?)
        };
        let (until, until_before_numbers) = match def.until.as_deref() {
            None => (None, false),
            Some("pre-0.0.1") => (None, true),
            Some(text) => (Some(Version::parse(text).ok_or_else(|| RuleError::Until(text.to_owned()))?), false),
        };
        let rule = Self {
            id: def.id.as_str().into(),
            area: def.area.as_str().into(),
            event: def.event,
            since: def.since,
            until,
            until_before_numbers,
            mark: def.mark,
            noise: def.noise || def.event == EventKind::Noise,
            set: def.set.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect(),
            open: def.open,
            form,
        };
        rule.check_captures()?;
        Ok(rule)
    }

    fn check_captures(&self) -> Result<(), RuleError> {
        for needed in self.event.required() {
            let there = match &self.form {
                Form::Template(template) => template.captures().any(|(name, _)| name == *needed),
                Form::Regex(pattern) => pattern.text.contains(&format!("<{needed}>")),
            };
            if !there {
                return Err(RuleError::MissingCapture {
                    event: format!("{:?}", self.event),
                    capture: (*needed).to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Compiles the regex of a regex rule now, to report what is wrong with it.
    pub fn check_regex(&self) -> Result<(), RuleError> {
        match &self.form {
            Form::Regex(pattern) => build_regex(&pattern.text).map(|_| ()).map_err(RuleError::Regex),
            Form::Template(_) => Ok(()),
        }
    }

    /// The constant `name`, if the rule sets it.
    pub fn constant(&self, name: &str) -> Option<&Constant> {
        self.set.iter().find(|(key, _)| **key == *name).map(|(_, value)| value)
    }

    /// The constant `name` is `true`.
    pub fn sets(&self, name: &str) -> bool {
        matches!(self.constant(name), Some(Constant::Bool(true)))
    }

    fn matches<'r, 't>(&'r self, line: &'t [u8]) -> Option<(Captures<'r, 't>, &'t [u8])> {
        match &self.form {
            Form::Template(template) => template.matches(line),
            Form::Regex(pattern) => pattern.matches(line),
        }
    }

    fn weight(&self) -> usize {
        match &self.form {
            Form::Template(template) => template.literal_len(),
            Form::Regex(pattern) => pattern.anchor.len(),
        }
    }
}

fn build_regex(text: &str) -> Result<Regex, String> {
    regex::bytes::RegexBuilder::new(&format!("^(?:{text})"))
        .size_limit(REGEX_SIZE_LIMIT)
        .dfa_size_limit(REGEX_SIZE_LIMIT)
        .build()
        .map_err(|error| error.to_string())
}

impl Pattern {
    fn matches<'r, 't>(&'r self, line: &'t [u8]) -> Option<(Captures<'r, 't>, &'t [u8])> {
        if !line.starts_with(&self.anchor) {
            return None;
        }
        let regex = self.compiled.get_or_init(|| build_regex(&self.text).ok()).as_ref()?;
        let found = regex.captures(line)?;
        let mut captures = Captures::new();
        for (name, kind) in &self.types {
            if let Some(group) = found.name(name) {
                captures.push(Capture { name, kind, text: line.get(group.range())? });
            }
        }
        let end = found.get(0)?.end();
        Some((captures, line.get(end..)?))
    }
}

/// A line recognised.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'r, 't> {
    pub rule: &'r Rule,
    pub captures: Captures<'r, 't>,
    /// The part of the line that the rule explains.
    pub text: &'t [u8],
    /// What is left of the line, to be matched by itself; often empty.
    pub tail: &'t [u8],
}

/// All message rules, ready for lookup.
#[derive(Debug, Default)]
pub struct Matcher {
    rules: Vec<Rule>,
    by_start: Buckets,
    by_second_word: Buckets,
    behind_colon: Buckets,
    by_first_byte: Vec<Vec<u16>>,
}

impl Matcher {
    /// Builds the lookup tables. Rules that no line could be found by are handed back with the reason.
    pub fn new(rules: Vec<Rule>) -> (Self, Vec<(String, RuleError)>) {
        let mut matcher = Self { by_first_byte: vec![Vec::new(); 256], ..Self::default() };
        let mut refused = Vec::new();
        let mut order: Vec<usize> = (0..rules.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&rules[*a], &rules[*b]);
            b.weight().cmp(&a.weight()).then_with(|| a.id.cmp(&b.id))
        });
        let mut slots: Vec<Option<Rule>> = rules.into_iter().map(Some).collect();
        for index in order {
            let Some(rule) = slots.get_mut(index).and_then(Option::take) else { continue };
            let Ok(number) = u16::try_from(matcher.rules.len()) else { break };
            if matcher.enter(&rule, number) {
                matcher.rules.push(rule);
            } else {
                refused.push((rule.id.to_string(), RuleError::Template(TemplateError::NoAnchor)));
            }
        }
        for buckets in [&mut matcher.by_start, &mut matcher.by_second_word, &mut matcher.behind_colon] {
            buckets.seal();
        }
        (matcher, refused)
    }

    /// The rules, most specific first.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn enter(&mut self, rule: &Rule, number: u16) -> bool {
        let parts = match &rule.form {
            Form::Regex(pattern) => return self.enter_literal(&pattern.anchor, number),
            Form::Template(template) => &template.parts,
        };
        match (parts.first(), parts.get(1)) {
            (Some(Part::Literal(literal)), _) => self.enter_literal(literal, number),
            (Some(Part::Capture { .. }), _) if begins_with_number(parts) => {
                self.enter_bytes(b"0123456789-", number);
                true
            }
            (Some(Part::Capture { kind: CaptureType::OneOf(words), .. }), next) => words.iter().all(|word| {
                let mut begin = word.as_bytes().to_vec();
                if let Some(Part::Literal(literal)) = next {
                    begin.extend_from_slice(literal);
                }
                self.enter_literal(&begin, number)
            }),
            (Some(Part::Capture { kind: CaptureType::Version, .. }), _) => {
                self.enter_bytes(b"0123456789v", number);
                true
            }
            (Some(Part::Capture { kind, .. }), Some(Part::Literal(literal))) => {
                if let Some(key) = literal.strip_prefix(b": ").and_then(key_of) {
                    self.behind_colon.add(key, number);
                    true
                } else if let Some(key) = literal.strip_prefix(b" ").and_then(key_of)
                    && matches!(kind, CaptureType::Word | CaptureType::Class)
                {
                    self.by_second_word.add(key, number);
                    true
                } else {
                    false
                }
            }
            _ => false,
        }
    }

    fn enter_literal(&mut self, literal: &[u8], number: u16) -> bool {
        match key_of(literal) {
            Some(key) => self.by_start.add(key, number),
            None => match literal.first() {
                Some(byte) => self.enter_bytes(&[*byte], number),
                None => return false,
            },
        }
        true
    }

    fn enter_bytes(&mut self, bytes: &[u8], number: u16) {
        for byte in bytes {
            if let Some(list) = self.by_first_byte.get_mut(usize::from(*byte)) {
                list.push(number);
            }
        }
    }

    /// The rule for a line, if one knows it.
    pub fn find<'r, 't>(&'r self, line: &'t [u8]) -> Option<Hit<'r, 't>> {
        let mut glued = None;
        for list in self.candidates(line) {
            for number in list {
                let Some(rule) = self.rules.get(usize::from(*number)) else { continue };
                let Some((captures, rest)) = rule.matches(line) else { continue };
                let tail = rest.trim_ascii_start();
                let text = line.get(..line.len() - rest.len()).unwrap_or(line);
                let ends_here = tail.iter().all(|byte| matches!(byte, b'\'' | b'"' | b'`' | b'.'));
                if ends_here {
                    return Some(Hit { rule, captures, text, tail: &[] });
                }
                if rule.open || rest.len() - tail.len() >= WANDERED {
                    return Some(Hit { rule, captures, text, tail });
                }
                if glued.is_none() && self.begins_known(tail) {
                    glued = Some(Hit { rule, captures, text, tail });
                }
            }
        }
        glued
    }

    /// Some rule's template begins `text`; what follows it is not looked at.
    fn begins_known(&self, text: &[u8]) -> bool {
        self.candidates(text).into_iter().flatten().any(|number| {
            self.rules.get(usize::from(*number)).is_some_and(|rule| rule.matches(text).is_some())
        })
    }

    fn candidates(&self, line: &[u8]) -> [&[u16]; 4] {
        let none: &[u16] = &[];
        let start = key_of(line).map_or(none, |key| self.by_start.get(key));
        let first = line.first().and_then(|byte| self.by_first_byte.get(usize::from(*byte))).map_or(none, Vec::as_slice);
        let second = second_word_key(line).map_or(none, |key| self.by_second_word.get(key));
        let colon = colon_key(line).map_or(none, |key| self.behind_colon.get(key));
        [start, first, second, colon]
    }
}

fn key_of(text: &[u8]) -> Option<u32> {
    text.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
}

fn second_word_key(line: &[u8]) -> Option<u32> {
    let blank = memchr::memchr(b' ', line.get(..line.len().min(160))?)?;
    let rest = line.get(blank..)?;
    key_of(rest.trim_ascii_start())
}

fn colon_key(line: &[u8]) -> Option<u32> {
    let head = line.get(..line.len().min(96))?;
    let colon = memchr::memchr_iter(b':', head).find(|at| line.get(at + 1) == Some(&b' '))?;
    key_of(line.get(colon + 2..)?)
}

/// Rule numbers by a four-byte key, open addressing.
#[derive(Debug, Default)]
struct Buckets {
    pending: Vec<(u32, u16)>,
    lists: Vec<Vec<u16>>,
    /// Key and list number plus one; zero is free.
    slots: Vec<(u32, u32)>,
}

impl Buckets {
    fn add(&mut self, key: u32, number: u16) {
        self.pending.push((key, number));
    }

    fn seal(&mut self) {
        let size = (self.pending.len() * 4).next_power_of_two().max(16);
        self.slots = vec![(0, 0); size];
        for (key, number) in std::mem::take(&mut self.pending) {
            let mut at = self.home(key);
            while let Some(slot) = self.slots.get_mut(at) {
                if slot.1 == 0 {
                    self.lists.push(vec![number]);
                    *slot = (key, self.lists.len() as u32);
                    break;
                }
                if slot.0 == key {
                    if let Some(list) = self.lists.get_mut(slot.1 as usize - 1)
                        && list.last() != Some(&number)
                    {
                        list.push(number);
                    }
                    break;
                }
                at = (at + 1) % size;
            }
        }
    }

    fn home(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9E37_79B1) >> 8) as usize & (self.slots.len() - 1)
    }

    fn get(&self, key: u32) -> &[u16] {
        if self.slots.is_empty() {
            return &[];
        }
        let mut at = self.home(key);
        while let Some(slot) = self.slots.get(at) {
            if slot.1 == 0 {
                return &[];
            }
            if slot.0 == key {
                return self.lists.get(slot.1 as usize - 1).map_or(&[], Vec::as_slice);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(id: &str, event: EventKind, text: &str) -> Rule {
        let toml = format!("id = \"{id}\"\narea = \"x\"\nevent = {}\ntext = '''{text}'''\n", serde_json::to_string(&event).unwrap());
        Rule::compile(&toml::from_str(&toml).unwrap()).unwrap()
    }

    fn matcher() -> Matcher {
        let (matcher, refused) = Matcher::new(vec![
            rule("got", EventKind::PromptGot, "got prompt"),
            rule("load", EventKind::LoadRequested, "Requested to load {class:class}"),
            rule("unload", EventKind::Unload, "{count:int} models unloaded."),
            rule("killed", EventKind::Kill, "{shell:word}: line {line:int}: {pid:int} Killed {detail:text}"),
            rule("exited", EventKind::Exit, "{name:word} exited with code {code:int}"),
            rule("node", EventKind::PromptDetail, "* {detail:text}"),
            rule("pin", EventKind::PinError, "Pin error."),
        ]);
        assert!(refused.is_empty());
        matcher
    }

    fn ids(line: &str) -> Vec<String> {
        let matcher = matcher();
        let mut found = Vec::new();
        let mut rest = line.as_bytes();
        while let Some(hit) = matcher.find(rest) {
            found.push(hit.rule.id.to_string());
            rest = hit.tail;
        }
        found
    }

    #[test]
    fn each_way_of_beginning_finds_its_rule() {
        assert_eq!(ids("got prompt"), ["got"]);
        assert_eq!(ids("0 models unloaded."), ["unload"]);
        assert_eq!(ids("run_comfy.sh: line 2:  3146 Killed                  python main.py \"$@\""), ["killed"]);
        assert_eq!(ids("comfyui exited with code 137"), ["exited"]);
        assert_eq!(ids("* KSampler 3:"), ["node"]);
        assert!(ids("got promptly").is_empty());
        assert!(ids("got prompt from nowhere").is_empty());
    }

    #[test]
    fn glued_texts_are_found_one_after_the_other() {
        assert_eq!(ids("got prompt Requested to load WAN21"), ["got", "load"]);
        assert_eq!(ids("Pin error.              Pin error."), ["pin", "pin"]);
    }

    #[test]
    fn a_template_without_anchor_is_refused() {
        let (_, refused) = Matcher::new(vec![rule("bad", EventKind::Notice, "{what:text} happened")]);
        assert_eq!(refused.len(), 1);
    }
}
