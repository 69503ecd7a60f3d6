//! Which message rule a line belongs to: a hash of how the line begins, then the few templates that begin so.
//!
//! Measured: an automaton over all bytes pays for every byte of a line; this touches four to twelve.
//! Templates that begin with a capture are found by a digit, by their second word, or behind the first `: `.

use std::sync::OnceLock;

use regex::bytes::Regex;

use super::kind::EventKind;
use super::schema::{Constant, Mark, MessageDef};
use super::template::{CaptureType, Captures, Lent, Part, Slot, Spans, Template, TemplateError, begins_with_number};
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
    has_message: bool,
    number: u16,
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
    slots: Vec<Slot>,
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
            let mut slots = Vec::with_capacity(def.types.len());
            for (name, kind) in &def.types {
                let parsed = CaptureType::named(kind)
                    .ok_or_else(|| RuleError::UnknownType { name: name.clone(), kind: kind.clone() })?;
                slots.push(Slot::new(name, parsed));
            }
            Form::Regex(Box::new(Pattern {
                text: def.text.as_str().into(),
                anchor: def.anchor.as_bytes().into(),
                slots,
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
        let mut rule = Self {
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
            has_message: false,
            number: 0,
            form,
        };
        rule.has_message = rule.slots().iter().any(|slot| slot.kind == CaptureType::Message);
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

    /// It captures a message, which may hold further texts.
    pub fn has_message(&self) -> bool {
        self.has_message
    }

    /// The constant `name`, if the rule sets it.
    pub fn constant(&self, name: &str) -> Option<&Constant> {
        self.set.iter().find(|(key, _)| **key == *name).map(|(_, value)| value)
    }

    /// The constant `name` is `true`.
    pub fn sets(&self, name: &str) -> bool {
        matches!(self.constant(name), Some(Constant::Bool(true)))
    }

    /// Number of the rule among all rules in use, for tables that say something of each rule.
    pub fn number(&self) -> usize {
        usize::from(self.number)
    }

    /// Matches at the start of `line`; where the match ends.
    fn matches(&self, line: &[u8], spans: &mut Spans) -> Option<usize> {
        match &self.form {
            Form::Template(template) => template.match_at(line, 0, spans),
            Form::Regex(pattern) => pattern.matches(line, spans),
        }
    }

    /// How many captures it has.
    pub(crate) fn capture_count(&self) -> usize {
        self.slots().len()
    }

    fn slots(&self) -> &[Slot] {
        match &self.form {
            Form::Template(template) => &template.slots,
            Form::Regex(pattern) => &pattern.slots,
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
    fn matches(&self, line: &[u8], spans: &mut Spans) -> Option<usize> {
        if !line.starts_with(&self.anchor) {
            return None;
        }
        let regex = self.compiled.get_or_init(|| build_regex(&self.text).ok()).as_ref()?;
        let found = regex.captures(line)?;
        *spans = Spans::new();
        for (number, slot) in self.slots.iter().enumerate() {
            if let Some(group) = found.name(&slot.name) {
                spans.set(number, group.start(), group.end());
            }
        }
        found.get(0).map(|all| all.end())
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

/// A rule found; its captures stand in the spans that were lent for the search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'r, 't> {
    pub(crate) rule: &'r Rule,
    pub(crate) text: &'t [u8],
    pub(crate) tail: &'t [u8],
}

impl<'r, 't> Found<'r, 't> {
    pub(crate) fn captures<'s>(&self, line: &'t [u8], spans: &'s Spans) -> Lent<'s, 'r, 't> {
        Lent::new(self.rule.slots(), line, spans)
    }
}

/// All message rules, ready for lookup.
#[derive(Debug, Default)]
pub struct Matcher {
    rules: Vec<Rule>,
    by_start: Buckets,
    by_second_word: Buckets,
    behind_colon: Buckets,
    by_first_byte: Vec<Vec<Candidate>>,
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
            let Some(mut rule) = slots.get_mut(index).and_then(Option::take) else { continue };
            // The largest number means "no rule" where look-ups are kept.
            let Some(number) = u16::try_from(matcher.rules.len()).ok().filter(|number| *number < u16::MAX) else {
                break;
            };
            rule.number = number;
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
        let template = match &rule.form {
            Form::Regex(pattern) => return self.enter_literal(&pattern.anchor, number),
            Form::Template(template) => template,
        };
        let literal_at = |at: usize| match template.parts.get(at) {
            Some(Part::Literal(literal)) => Some(literal),
            _ => None,
        };
        if let Some(literal) = literal_at(0) {
            return self.enter_literal(literal, number);
        }
        let Some(first) = template.slots.first() else { return false };
        match (&first.kind, literal_at(1)) {
            _ if begins_with_number(template) => {
                self.enter_bytes(b"0123456789-", number);
                true
            }
            (CaptureType::OneOf(words), next) => words.iter().all(|word| {
                let mut begin = word.as_bytes().to_vec();
                begin.extend_from_slice(next.map(|literal| &**literal).unwrap_or_default());
                self.enter_literal(&begin, number)
            }),
            (CaptureType::Version, _) => {
                self.enter_bytes(b"0123456789v", number);
                true
            }
            (kind, Some(literal)) => {
                if let Some(key) = literal.strip_prefix(b": ").and_then(key_of) {
                    self.behind_colon.add(key, Candidate::any(number));
                    true
                } else if let Some(key) = literal.strip_prefix(b" ").and_then(key_of)
                    && matches!(kind, CaptureType::Word | CaptureType::Class)
                {
                    self.by_second_word.add(key, Candidate::any(number));
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
            Some(key) => self.by_start.add(key, Candidate::of(number, literal)),
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
                list.push(Candidate::any(number));
            }
        }
    }

    /// The rule for a line, if one knows it.
    pub fn find<'r, 't>(&'r self, line: &'t [u8]) -> Option<Hit<'r, 't>> {
        let mut spans = Spans::new();
        let found = self.look_up(line, &mut spans)?;
        let Found { rule, text, tail } = found;
        Some(Hit { rule, captures: Captures::new(rule.slots(), line, spans), text, tail })
    }

    /// The rule for a line; the captures are written to `spans`.
    pub(crate) fn look_up<'r, 't>(&'r self, line: &'t [u8], spans: &mut Spans) -> Option<Found<'r, 't>> {
        let mut glued: Option<(Found<'r, 't>, Spans)> = None;
        for way in WAYS {
            let list = self.list(way, line);
            if list.is_empty() {
                continue;
            }
            let head = Head::of(line);
            for candidate in list.iter().filter(|candidate| head.may_be(candidate)) {
                let Some(rule) = self.rules.get(usize::from(candidate.number)) else { continue };
                let Some(end) = rule.matches(line, spans) else { continue };
                let (text, rest) = line.split_at_checked(end)?;
                let tail = rest.trim_ascii_start();
                if tail.iter().all(|byte| matches!(byte, b'\'' | b'"' | b'`' | b'.')) {
                    return Some(Found { rule, text, tail: &[] });
                }
                if rule.open || rest.len() - tail.len() >= WANDERED {
                    return Some(Found { rule, text, tail });
                }
                if glued.is_none() && self.begins_known(tail) {
                    glued = Some((Found { rule, text, tail }, *spans));
                }
            }
        }
        let (found, taken) = glued?;
        *spans = taken;
        Some(found)
    }

    /// Some rule's template begins `text`; what follows it is not looked at.
    fn begins_known(&self, text: &[u8]) -> bool {
        let head = Head::of(text);
        let mut spans = Spans::new();
        WAYS.iter().flat_map(|way| self.list(*way, text)).filter(|candidate| head.may_be(candidate)).any(|candidate| {
            self.rules.get(usize::from(candidate.number)).is_some_and(|rule| rule.matches(text, &mut spans).is_some())
        })
    }

    /// The rules that a line may belong to by one of the ways to find them; most lines need only the first.
    #[inline]
    fn list(&self, way: Way, line: &[u8]) -> &[Candidate] {
        match way {
            Way::Start => key_of(line).map_or(&[], |key| self.by_start.get(key)),
            Way::FirstByte => match line.first() {
                Some(byte) => self.by_first_byte.get(usize::from(*byte)).map_or(&[], Vec::as_slice),
                None => &[],
            },
            Way::SecondWord => second_word_key(line).map_or(&[], |key| self.by_second_word.get(key)),
            Way::Colon => colon_key(line).map_or(&[], |key| self.behind_colon.get(key)),
        }
    }
}

/// The ways by which rules are found, in the order in which they are tried.
#[derive(Debug, Clone, Copy)]
enum Way {
    Start,
    FirstByte,
    SecondWord,
    Colon,
}

const WAYS: [Way; 4] = [Way::Start, Way::FirstByte, Way::SecondWord, Way::Colon];

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

/// A rule that begins with a key, with the eight bytes that follow the key in its literal.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    next: u64,
    mask: u64,
    number: u16,
}

impl Candidate {
    /// A rule of which nothing more is known.
    fn any(number: u16) -> Self {
        Self { next: 0, mask: 0, number }
    }

    fn of(number: u16, literal: &[u8]) -> Self {
        let mut next = [0; 8];
        let mut mask = [0; 8];
        // Of two blanks the second one may be missing in the line.
        let firm = literal.windows(2).position(|pair| pair == b"  ").map_or(literal.len(), |at| at + 1);
        let rest = literal.get(4..firm).unwrap_or_default();
        for ((next, mask), byte) in next.iter_mut().zip(&mut mask).zip(rest) {
            (*next, *mask) = (*byte, 0xff);
        }
        Self { next: u64::from_le_bytes(next), mask: u64::from_le_bytes(mask), number }
    }
}

/// How a line goes on behind its key. Dozens of rules share a beginning such as `load` or `[Com`; comparing eight
/// bytes at once rules out most of them.
#[derive(Debug, Clone, Copy)]
struct Head {
    next: u64,
    /// All bytes count; none do where a run of blanks may stand for a single one.
    firm: u64,
}

impl Head {
    #[inline]
    fn of(line: &[u8]) -> Self {
        // Read as two numbers and not through a buffer: what was just written byte by byte is slow to read as a whole.
        let bytes = match (line.first_chunk::<8>(), line.get(8..12).and_then(<[u8]>::first_chunk::<4>)) {
            (Some(first), Some(more)) => {
                u128::from(u64::from_le_bytes(*first)) | (u128::from(u32::from_le_bytes(*more)) << 64)
            }
            _ => line.iter().take(12).rev().fold(0, |bytes, byte| (bytes << 8) | u128::from(*byte)),
        };
        let blanks = places_of(bytes, b' ');
        let odd = blanks & (blanks << 8) != 0 || places_of(bytes, b'\t') != 0;
        Self { next: (bytes >> 32) as u64, firm: if odd { 0 } else { u64::MAX } }
    }

    #[inline]
    fn may_be(self, candidate: &Candidate) -> bool {
        (self.next ^ candidate.next) & candidate.mask & self.firm == 0
    }
}

/// The highest bit of each byte that equals `byte`.
#[inline]
fn places_of(bytes: u128, byte: u8) -> u128 {
    const EACH: u128 = u128::from_le_bytes([1; 16]);
    const LOW: u128 = EACH * 0x7f;
    let differs = bytes ^ (EACH * u128::from(byte));
    !(((differs & LOW) + LOW) | differs | LOW)
}

/// Candidates by a four-byte key, open addressing.
#[derive(Debug, Default)]
struct Buckets {
    pending: Vec<(u32, Candidate)>,
    candidates: Vec<Candidate>,
    slots: Vec<Bucket>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    key: u32,
    /// Range of its candidates; an empty one marks a free slot.
    from: u16,
    to: u16,
}

impl Buckets {
    fn add(&mut self, key: u32, candidate: Candidate) {
        self.pending.push((key, candidate));
    }

    /// Builds the table. Candidates of a key keep the order in which they were added.
    fn seal(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_key(|(key, _)| *key);
        self.slots = vec![Bucket::default(); (pending.len() * 2).next_power_of_two().max(16)];
        for same in pending.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((key, _)) = same.first() else { continue };
            let from = self.candidates.len();
            self.candidates.extend(same.iter().map(|(_, candidate)| *candidate));
            let (Ok(from), Ok(to)) = (u16::try_from(from), u16::try_from(self.candidates.len())) else { break };
            let mut at = self.home(*key);
            while self.slots.get(at).is_some_and(|slot| slot.to != 0) {
                at = (at + 1) & (self.slots.len() - 1);
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = Bucket { key: *key, from, to };
            }
        }
    }

    #[inline]
    fn home(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9E37_79B1) >> 8) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn get(&self, key: u32) -> &[Candidate] {
        if self.slots.is_empty() {
            return &[];
        }
        let mut at = self.home(key);
        while let Some(slot) = self.slots.get(at) {
            if slot.to == 0 {
                return &[];
            }
            if slot.key == key {
                return self.candidates.get(usize::from(slot.from)..usize::from(slot.to)).unwrap_or_default();
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
        let toml = format!(
            "id = \"{id}\"\narea = \"x\"\nevent = {}\ntext = '''{text}'''\n",
            serde_json::to_string(&event).unwrap()
        );
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
