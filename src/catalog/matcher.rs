//! Which message rule a line belongs to: of the few whose templates begin like the line, the first that fits.
//!
//! Which rules a line may belong to is found by `index`.
//!
//! Long: matching and its table are one algorithm, with its tests.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::bytes::Regex;

use super::candidates::Candidates;
use super::capture::CaptureType;
use super::capture_offsets::{Captures, Lent, Slot, Spans};
use super::index::Index;
use super::kind::EventKind;
use super::schema::{Constant, Mark, MessageDef};
use super::template::{Part, Template, TemplateError, begins_with_number};
use super::version::{Since, Version};

/// Largest compiled size of a pack's regex, in bytes.
const REGEX_SIZE_LIMIT: usize = 256 * 1024;
/// Blanks after which a text is taken for another one, written by a cursor that had wandered off.
const WANDERED: usize = 8;
/// Regex rules that may begin alike: a line that begins so is held against each of them.
const CROWD: usize = 64;
/// Letters of an anchor by which a line finds its rules.
const BEGINNING: usize = 8;
/// Below, the beginning of a text is only looked for by its first letters.
const SHORT: usize = 60;
/// Below, no rule is found by what stands behind its first eight bytes.
pub(crate) const SHORTEST: usize = 16;

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
    /// Only ComfyUI prints such a text.
    pub is_comfyui: bool,
    /// Other programs print texts of this area too, as the packs' signs say.
    pub is_shared: bool,
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
    #[error("more than {limit} regex rules begin like its anchor")]
    Crowded { limit: usize },
    #[error("`until` is not a version: `{0}`")]
    Until(String),
}

impl Rule {
    /// Printed by ComfyUI or by what belongs to it, as the area tells.
    pub fn is_kin(&self) -> bool {
        !self.is_shared && !self.noise
    }

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
            is_comfyui: def.event.is_comfyui(),
            is_shared: false,
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
            if !there && self.constant(needed).is_none() {
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

    /// Matches at the start of `line`, of which the first `known` bytes are those of the rule; where the match ends.
    #[inline]
    fn matches(&self, line: &[u8], known: usize, spans: &mut Spans) -> Option<usize> {
        match &self.form {
            Form::Template(template) => template.match_known(line, known, spans),
            Form::Regex(pattern) => pattern.matches(line, spans),
        }
    }

    /// `text` is the beginning of what it knows; of a regex only the anchor tells.
    fn goes_on_behind(&self, text: &[u8]) -> bool {
        match &self.form {
            Form::Template(template) => template.goes_on_behind(text),
            Form::Regex(pattern) => text.starts_with(&pattern.anchor),
        }
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
    index: Index,
}

impl Matcher {
    /// Builds the lookup tables. Rules that no line could be found by are handed back with the reason.
    pub fn new(rules: Vec<Rule>) -> (Self, Vec<(String, RuleError)>) {
        let mut matcher = Self { rules: Vec::new(), index: Index::new() };
        let mut refused = Vec::new();
        let mut crowds: HashMap<Vec<u8>, usize> = HashMap::new();
        // Weighed once each: comparing is what sorting does most.
        let mut order: Vec<(usize, usize)> = rules.iter().map(Rule::weight).zip(0..).collect();
        let id = |index: usize| rules.get(index).map(|rule| &rule.id);
        order.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| id(*one).cmp(&id(*other))));
        let mut slots: Vec<Option<Rule>> = rules.into_iter().map(Some).collect();
        for (_, index) in order {
            let Some(mut rule) = slots.get_mut(index).and_then(Option::take) else { continue };
            // The largest numbers are signs where answers are kept.
            let Some(number) = u16::try_from(matcher.rules.len()).ok().filter(|number| *number < u16::MAX - 1) else {
                break;
            };
            if let Form::Regex(pattern) = &rule.form {
                let same =
                    crowds.entry(pattern.anchor.get(..BEGINNING).unwrap_or(&pattern.anchor).to_vec()).or_insert(0);
                *same += 1;
                if *same > CROWD {
                    refused.push((rule.id.to_string(), RuleError::Crowded { limit: CROWD }));
                    continue;
                }
            }
            rule.number = number;
            if matcher.enter(&rule, number) {
                matcher.rules.push(rule);
            } else {
                refused.push((rule.id.to_string(), RuleError::Template(TemplateError::NoAnchor)));
            }
        }
        matcher.index.seal();
        (matcher, refused)
    }

    /// The rules, most specific first.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn enter(&mut self, rule: &Rule, number: u16) -> bool {
        let template = match &rule.form {
            Form::Regex(pattern) => return self.index.enter_literal(&pattern.anchor, number),
            Form::Template(template) => template,
        };
        let literal_at = |at: usize| match template.parts.get(at) {
            Some(Part::Literal(literal)) => Some(&**literal),
            _ => None,
        };
        if let Some(literal) = literal_at(0) {
            return self.index.enter_literal(literal, number);
        }
        let Some(first) = template.slots.first() else { return false };
        match (&first.kind, literal_at(1)) {
            _ if begins_with_number(template) => self.index.enter_number(None, number),
            (CaptureType::OneOf(words), next) => words.iter().all(|word| {
                let mut begin = word.as_bytes().to_vec();
                begin.extend_from_slice(next.unwrap_or_default());
                self.index.enter_literal(&begin, number)
            }),
            (CaptureType::Version, _) => self.index.enter_number(Some(b'v'), number),
            (kind, Some(literal)) => match (literal.strip_prefix(b": "), literal.strip_prefix(b" ")) {
                (Some(rest), _) => self.index.enter_behind_colon(rest, number),
                (_, Some(rest)) if matches!(kind, CaptureType::Word | CaptureType::Class) => {
                    self.index.enter_second_word(rest, number)
                }
                _ => false,
            },
            _ => false,
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
        self.look_up_or_candidates(line, spans).0
    }

    /// The same, and which rules are looked up by how the line begins; so that it may be the beginning of one.
    pub(crate) fn look_up_or_candidates<'r, 't>(
        &'r self,
        line: &'t [u8],
        spans: &mut Spans,
    ) -> (Option<Found<'r, 't>>, Candidates) {
        let mut glued: Option<(Found<'r, 't>, Spans)> = None;
        let mut best = None;
        let mut candidates = Candidates::default();
        self.index.candidates(line, |number, known| {
            candidates.enter(number);
            let rule = self.rules.get(usize::from(number))?;
            let end = rule.matches(line, known, spans)?;
            let (text, rest) = line.split_at_checked(end)?;
            let tail = rest.trim_ascii_start();
            if tail.iter().all(|byte| matches!(byte, b'\'' | b'"' | b'`' | b'.')) {
                best = Some(Found { rule, text, tail: &[] });
            } else if (rule.open && glued.is_none()) || rest.len() - tail.len() >= WANDERED {
                // An open rule takes any tail; a more specific one before it knew where the next text begins.
                best = Some(Found { rule, text, tail });
            } else if glued.is_none() && self.begins_known(tail) {
                glued = Some((Found { rule, text, tail }, *spans));
            }
            best.is_some().then_some(())
        });
        if let (None, Some((found, taken))) = (&best, glued) {
            *spans = taken;
            best = Some(found);
        }
        (best, candidates)
    }

    /// [`Matcher::goes_on_behind`] of a text whose candidates are known.
    pub(crate) fn candidate_goes_on_behind(&self, text: &[u8], candidates: Candidates) -> bool {
        let goes_on = |number: &u16| self.rules.get(usize::from(*number)).is_some_and(|rule| rule.goes_on_behind(text));
        candidates.all().map_or_else(|| self.goes_on_behind(text), |numbers| numbers.iter().any(goes_on))
    }

    /// `text` is the beginning of what some rule knows, and not all of it. Of a short one the letters it begins with must be
    /// the rule's: to look for other rules costs more than they are worth.
    pub(crate) fn goes_on_behind(&self, text: &[u8]) -> bool {
        let mut goes_on = |number, _| self.rules.get(usize::from(number))?.goes_on_behind(text).then_some(());
        if text.len() < SHORTEST {
            self.index.by_eight(text, &mut goes_on).is_some()
        } else if text.len() < SHORT && text.last() != Some(&b':') {
            self.index.by_start(text, &mut goes_on).is_some()
        } else {
            self.index.candidates(text, goes_on).is_some()
        }
    }

    /// Some rule's template begins `text`; what follows it is not looked at.
    fn begins_known(&self, text: &[u8]) -> bool {
        let mut spans = Spans::new();
        let begins = |number, known| self.rules.get(usize::from(number))?.matches(text, known, &mut spans).map(|_| ());
        self.index.candidates(text, begins).is_some()
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
