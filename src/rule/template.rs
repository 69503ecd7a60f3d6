//! A message template: the literal text of one line with typed captures, compiled and matched by hand.
//!
//! No automaton and no backtracking over the whole line: a capture ends where the next literal
//! begins, so a line costs what its own length costs. Which template a line is tried against is
//! decided elsewhere (`matcher`).

use memchr::{memchr, memmem};

use crate::eight::begins_with;

use super::capture::{CaptureType, blanks, token_len};

#[derive(Debug, Clone)]
pub(crate) enum Part {
    Literal(Box<[u8]>),
    /// Number of a slot.
    Capture(usize),
}

/// Name and type of a capture.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) name: Box<str>,
    pub(crate) kind: CaptureType,
    key: u64,
}

impl Slot {
    pub(crate) fn new(name: &str, kind: CaptureType) -> Self {
        Self { name: name.into(), kind, key: first_eight(name) }
    }

    /// Its name is `name`. For a name in the program's text the compiler works out the eight bytes.
    #[inline(always)]
    fn is_called(&self, name: &str) -> bool {
        self.key == first_eight(name) && (name.len() < 8 || *self.name == *name)
    }
}

#[inline(always)]
fn first_eight(name: &str) -> u64 {
    let mut key = 0;
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < 8 && at < bytes.len() {
        key |= (bytes[at] as u64) << (8 * at);
        at += 1;
    }
    key
}

/// A captured piece of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capture<'r, 't> {
    pub name: &'r str,
    pub kind: &'r CaptureType,
    pub text: &'t [u8],
}

const MOST_CAPTURES: usize = 14;
/// Places that the free captures of one match may try. Real lines need a few; without an end, a template of
/// many free captures would try every combination of places in a line made for it.
const MOST_TRIES: u16 = 1024;

/// Where each capture begins and ends in the line, by the number of its slot; nothing points into rule or line,
/// so that one record serves all rules tried on a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spans {
    items: [(u32, u32); MOST_CAPTURES],
    tries: u16,
}

impl Spans {
    /// A capture that took no part in the match.
    const ABSENT: (u32, u32) = (u32::MAX, 0);

    pub(crate) fn new() -> Self {
        Self { items: [Self::ABSENT; MOST_CAPTURES], tries: 0 }
    }

    pub(crate) fn set(&mut self, slot: usize, from: usize, to: usize) {
        // Lines are cut far below 4 GiB.
        if let (Some(item), Ok(from), Ok(to)) = (self.items.get_mut(slot), u32::try_from(from), u32::try_from(to)) {
            *item = (from, to);
        }
    }

    /// The capture of `slot` took no part.
    pub(crate) fn unset(&mut self, slot: usize) {
        if let Some(item) = self.items.get_mut(slot) {
            *item = Self::ABSENT;
        }
    }

    /// The spans of the first `count` slots.
    pub(crate) fn first(&self, count: usize) -> &[(u32, u32)] {
        self.items.get(..count).unwrap_or(&self.items)
    }

    /// Takes spans that were kept.
    pub(crate) fn take_over(&mut self, spans: &[(u32, u32)]) {
        for (item, span) in self.items.iter_mut().zip(spans) {
            *item = *span;
        }
    }

    /// A span without the blanks at its ends.
    fn set_trimmed(&mut self, slot: usize, text: &[u8], from: usize, to: usize) {
        let taken = text.get(from..to).unwrap_or_default();
        let from = to - taken.trim_ascii_start().len();
        let kept = text.get(from..to).unwrap_or_default().trim_ascii_end().len();
        self.set(slot, from, from + kept);
    }
}

/// The captures of one match. More than [`Captures::MAX`] are never written in a template.
#[derive(Debug, Clone, Copy)]
pub struct Captures<'r, 't> {
    slots: &'r [Slot],
    text: &'t [u8],
    spans: Spans,
}

impl<'r, 't> Captures<'r, 't> {
    /// Most captures a template may have.
    pub const MAX: usize = MOST_CAPTURES;

    pub(crate) fn new(slots: &'r [Slot], text: &'t [u8], spans: Spans) -> Self {
        Self { slots, text, spans }
    }

    fn lent(&self) -> Lent<'_, 'r, 't> {
        Lent { slots: self.slots, text: self.text, spans: &self.spans }
    }

    /// All captures, in the order of the template.
    pub fn iter(&self) -> impl Iterator<Item = Capture<'r, 't>> {
        self.lent().iter()
    }

    /// The capture called `name`.
    pub fn get(&self, name: &str) -> Option<Capture<'r, 't>> {
        self.lent().get(name)
    }
}

/// Captures whose spans stand elsewhere: copying what was just written cost a tenth of the time on dense logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lent<'s, 'r, 't> {
    slots: &'r [Slot],
    text: &'t [u8],
    spans: &'s Spans,
}

impl<'s, 'r, 't> Lent<'s, 'r, 't> {
    pub(crate) fn new(slots: &'r [Slot], text: &'t [u8], spans: &'s Spans) -> Self {
        Self { slots, text, spans }
    }

    /// All captures, in the order of the template.
    pub(crate) fn iter(self) -> impl Iterator<Item = Capture<'r, 't>> + use<'s, 'r, 't> {
        let text = self.text;
        self.slots.iter().zip(&self.spans.items).filter_map(move |(slot, (from, to))| {
            let text = text.get(*from as usize..*to as usize)?;
            Some(Capture { name: &slot.name, kind: &slot.kind, text })
        })
    }

    /// The capture called `name`.
    #[inline(always)]
    pub(crate) fn get(self, name: &str) -> Option<Capture<'r, 't>> {
        // A loop and no `find`, whose closure would keep the compiler from working the name out.
        for (slot, (from, to)) in self.slots.iter().zip(&self.spans.items) {
            if slot.is_called(name) {
                let text = self.text.get(*from as usize..*to as usize)?;
                return Some(Capture { name: &slot.name, kind: &slot.kind, text });
            }
        }
        None
    }

    /// Where the last capture ends in the text that was matched.
    pub(crate) fn last_end(self) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        self.spans.items.get(last).map(|(_, to)| *to as usize)
    }
}

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("the template is empty")]
    Empty,
    #[error("a `{{` without its `}}` (write `{{{{` for a literal brace)")]
    Unclosed,
    #[error("`{{{0}}}` has no known type (write `{{name:type}}`)")]
    UnknownType(String),
    #[error("two captures follow each other without a text between them: `{0}`")]
    Adjacent(String),
    #[error("more than {max} captures", max = Captures::MAX)]
    TooMany,
    #[error(
        "the template begins in a way that no line can be found by: begin with four literal letters, a number, `one-of(…)`, `{{x:word}} literal` or `{{x:word}}: literal`"
    )]
    NoAnchor,
    #[error("the capture `{0}` stands twice")]
    Repeated(String),
}

/// A compiled template.
#[derive(Debug, Clone)]
pub struct Template {
    pub(crate) parts: Vec<Part>,
    pub(crate) slots: Vec<Slot>,
    literal_len: usize,
}

impl Template {
    /// Compiles `text`; see `docs/rule-format.md` for the language.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts: Vec<Part> = Vec::new();
        let mut slots: Vec<Slot> = Vec::new();
        let mut literal = String::new();
        let mut rest = text.trim_end();
        while !rest.is_empty() {
            let Some(at) = rest.find(['{', '}']) else {
                literal.push_str(rest);
                break;
            };
            let (before, from) = rest.split_at(at);
            literal.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else if let Some(after) = from.strip_prefix('{') {
                let (inside, beyond) = after.split_once('}').ok_or(TemplateError::Unclosed)?;
                let (name, kind) =
                    inside.split_once(':').ok_or_else(|| TemplateError::UnknownType(inside.to_owned()))?;
                let kind = CaptureType::parse(kind).ok_or_else(|| TemplateError::UnknownType(inside.to_owned()))?;
                if !literal.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut literal).into_bytes().into()));
                }
                push_capture(&mut parts, &mut slots, name, kind)?;
                rest = beyond;
            } else {
                literal.push('}');
                rest = from.strip_prefix('}').unwrap_or_default();
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal.into_bytes().into()));
        }
        if parts.is_empty() {
            return Err(TemplateError::Empty);
        }
        let literal_len = parts.iter().map(|part| if let Part::Literal(text) = part { text.len() } else { 0 }).sum();
        Ok(Self { parts, slots, literal_len })
    }

    /// Bytes of literal text: the longer, the more specific.
    pub fn literal_len(&self) -> usize {
        self.literal_len
    }

    /// Names and types of the captures.
    pub fn captures(&self) -> impl Iterator<Item = (&str, &CaptureType)> {
        self.slots.iter().map(|slot| (&*slot.name, &slot.kind))
    }

    /// Matches `text` from `at` on; where the match ends.
    pub(crate) fn match_at(&self, text: &[u8], at: usize, spans: &mut Spans) -> Option<usize> {
        spans.tries = 0;
        run(&self.parts, &self.slots, text, at, spans)
    }

    /// Matches the beginning of `text`, of which the first `known` bytes are those of the template.
    pub(crate) fn match_known(&self, text: &[u8], known: usize, spans: &mut Spans) -> Option<usize> {
        spans.tries = 0;
        match self.parts.split_first() {
            Some((Part::Literal(literal), later)) if known > 0 => {
                let at = literal_prefix(literal, text, known, later.is_empty())?;
                run(later, &self.slots, text, at, spans)
            }
            _ => run(&self.parts, &self.slots, text, 0, spans),
        }
    }

    /// Matches the first place inside `text` where the template fits.
    pub(crate) fn find<'s, 'r, 't>(&'r self, text: &'t [u8], spans: &'s mut Spans) -> Option<Lent<'s, 'r, 't>> {
        let found = match self.parts.first() {
            Some(Part::Literal(first)) => {
                memmem::find_iter(text, first).any(|at| self.match_at(text, at, spans).is_some())
            }
            Some(Part::Capture(_)) => (0..text.len()).any(|at| self.match_at(text, at, spans).is_some()),
            None => false,
        };
        found.then(|| Lent::new(&self.slots, text, spans))
    }
}

fn push_capture(
    parts: &mut Vec<Part>,
    slots: &mut Vec<Slot>,
    name: &str,
    kind: CaptureType,
) -> Result<(), TemplateError> {
    if let Some(Part::Capture(_)) = parts.last()
        && slots.last().is_some_and(|before| before.kind.is_free() || kind.is_free())
    {
        return Err(TemplateError::Adjacent(name.to_owned()));
    }
    if slots.iter().any(|slot| *slot.name == *name) {
        return Err(TemplateError::Repeated(name.to_owned()));
    }
    if slots.len() >= Captures::MAX {
        return Err(TemplateError::TooMany);
    }
    parts.push(Part::Capture(slots.len()));
    slots.push(Slot::new(name, kind));
    Ok(())
}

/// Matches `parts` at `at`; where they end.
fn run(parts: &[Part], slots: &[Slot], text: &[u8], at: usize, spans: &mut Spans) -> Option<usize> {
    let mut parts = parts;
    let mut at = at;
    while let Some((part, later)) = parts.split_first() {
        match part {
            Part::Literal(literal) => at += literal_prefix(literal, text.get(at..)?, 0, later.is_empty())?,
            Part::Capture(number) => {
                let kind = &slots.get(*number)?.kind;
                if kind.is_free() {
                    return free_capture(*number, later, slots, text, at, spans);
                }
                let end = at + token_len(kind, text.get(at..)?)?;
                if end > text.len() {
                    return None;
                }
                spans.set(*number, at, end);
                at = end;
            }
        }
        parts = later;
    }
    Some(at)
}

/// Text up to the next literal; several places of it are tried in order.
fn free_capture(
    number: usize,
    later: &[Part],
    slots: &[Slot],
    text: &[u8],
    from: usize,
    spans: &mut Spans,
) -> Option<usize> {
    let is_word = slots.get(number)?.kind == CaptureType::Word;
    let rest = text.get(from..)?;
    let limit = from + if is_word { word_len(rest) } else { rest.len() };
    let Some(Part::Literal(next)) = later.first() else {
        if is_word && limit == from {
            return None;
        }
        spans.set_trimmed(number, text, from, limit);
        return Some(limit);
    };
    let head = next.iter().position(|byte| *byte == b' ').unwrap_or(next.len());
    let needle = next.get(..head.max(1))?;
    let mut search = from;
    while let Some(at) = place_of(needle, text, search) {
        search = at + needle.len();
        spans.tries += 1;
        if at > limit || spans.tries > MOST_TRIES {
            return None;
        }
        if at == from && is_word {
            continue;
        }
        spans.set_trimmed(number, text, from, at);
        if let Some(end) = run(later, slots, text, at, spans) {
            return Some(end);
        }
    }
    None
}

/// Where `needle` stands next, from `from` on. A needle is a word or less and is mostly found at once, so that
/// preparing a searcher for it (30 ns and more) would cost more than the search.
fn place_of(needle: &[u8], text: &[u8], from: usize) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    loop {
        at += memchr(first, text.get(at..)?)?;
        if text.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

/// How much of `text` the literal takes; one blank in it takes one or more. The first `known` bytes are the same.
fn literal_prefix(literal: &[u8], text: &[u8], known: usize, last: bool) -> Option<usize> {
    let known = known.min(literal.len());
    if begins_with(text.get(known..)?, literal.get(known..)?) {
        let mut used = literal.len();
        if literal.last() == Some(&b' ') && !last {
            used += blanks(text.get(used..)?);
        }
        return Some(used);
    }
    let same = common(literal, text);
    // Only blanks may be more or fewer; most lines differ in something else, and walking through them again would
    // double the cost of looking for a rule.
    let behind_blank = same.checked_sub(1).and_then(|before| literal.get(before)) == Some(&b' ');
    let may_differ = match (literal.get(same), text.get(same)) {
        (Some(b' '), Some(b'\t')) => true,
        (Some(b' '), _) | (_, Some(b' ' | b'\t')) => behind_blank,
        _ => false,
    };
    if may_differ { loose_prefix(literal, text) } else { None }
}

/// How many bytes are the same at the beginning.
fn common(a: &[u8], b: &[u8]) -> usize {
    let (a8, b8) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    let mut at = 0;
    for (x, y) in a8.iter().zip(b8) {
        let differs = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differs != 0 {
            return at + (differs.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let (a, b) = (a.get(at..).unwrap_or_default(), b.get(at..).unwrap_or_default());
    at + a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// A literal whose blanks are not those of the text.
#[inline(never)]
fn loose_prefix(literal: &[u8], text: &[u8]) -> Option<usize> {
    let mut used = 0;
    for byte in literal {
        if *byte == b' ' {
            let skipped = blanks(text.get(used..)?);
            if skipped == 0 && literal.get(..used).is_none_or(|done| done.last() != Some(&b' ')) {
                return None;
            }
            used += skipped;
        } else if text.get(used) == Some(byte) {
            used += 1;
        } else {
            return None;
        }
    }
    Some(used)
}

fn word_len(text: &[u8]) -> usize {
    text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len())
}

/// A number capture begins the template: found by a digit.
pub(crate) fn begins_with_number(template: &Template) -> bool {
    matches!(template.parts.first(), Some(Part::Capture(_)))
        && template.slots.first().is_some_and(|slot| slot.kind.is_number())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(template: &str, line: &str) -> Option<(Vec<(String, String)>, String)> {
        let template = Template::parse(template).expect("valid template");
        let mut spans = Spans::new();
        let end = template.match_at(line.as_bytes(), 0, &mut spans)?;
        let rest = &line.as_bytes()[end..];
        let list = Lent::new(&template.slots, line.as_bytes(), &spans)
            .iter()
            .map(|capture| (capture.name.to_owned(), String::from_utf8_lossy(capture.text).into_owned()))
            .collect();
        Some((list, String::from_utf8_lossy(rest).into_owned()))
    }

    #[test]
    fn typed_captures_read_comfyui_lines() {
        let (list, rest) =
            captured("Total VRAM {vram:mib} MB, total RAM {ram:mib} MB", "Total VRAM 24564 MB, total RAM 65367 MB")
                .unwrap();
        assert_eq!(list, [("vram".into(), "24564".into()), ("ram".into(), "65367".into())]);
        assert_eq!(rest, "");
        assert!(captured("Total VRAM {vram:mib} MB, total RAM {ram:mib} MB", "Total VRAM requested").is_none());
        let (list, _) = captured(
            "loaded completely {usable:mib} {loaded:mib} {full:bool}",
            "loaded completely 9.5367431640625e+25 16.0625 True",
        )
        .unwrap();
        assert_eq!(list[0].1, "9.5367431640625e+25");
        let (list, _) = captured(
            "loaded completely; {loaded:mib} MB loaded, full load: {full:bool}",
            "loaded completely;  8.03 MB loaded, full load: True",
        )
        .unwrap();
        assert_eq!(list[0].1, "8.03");
    }

    #[test]
    fn a_class_does_not_take_the_sentence_s_dot() {
        let text = "WARNING, memory leak with model {class:class}. Please make sure";
        let (list, _) = captured(text, "WARNING, memory leak with model Flux. Please make sure").unwrap();
        assert_eq!(list[0].1, "Flux");
    }

    #[test]
    fn what_is_left_over_is_handed_back() {
        let (list, rest) =
            captured("Requested to load {class:class}", "Requested to load WAN21 loaded partially; 1 MB").unwrap();
        assert_eq!(list[0].1, "WAN21");
        assert_eq!(rest, " loaded partially; 1 MB");
    }

    #[test]
    fn free_text_ends_at_the_next_literal_that_lets_the_rest_match() {
        let (list, _) = captured(
            "Cannot import {path:path} module for custom nodes: {reason:text}",
            "Cannot import /a module b module for custom nodes: no module",
        )
        .unwrap();
        assert_eq!(list[0].1, "/a module b");
        assert_eq!(list[1].1, "no module");
    }

    #[test]
    fn padding_does_not_matter() {
        let (list, _) =
            captured("Currently allocated : {allocated:size}", "Currently allocated     : 12.97 GiB").unwrap();
        assert_eq!(list[0].1, "12.97 GiB");
        let (list, _) = captured("Free (according to CUDA): {free:size}", "Free (according to CUDA): 0 bytes").unwrap();
        assert_eq!(list[0].1, "0 bytes");
    }

    #[test]
    fn a_hostile_template_gives_up_soon() {
        let template: String = (0..13).map(|number| format!("a {{c{number}:text}} ")).chain(["end".into()]).collect();
        let line = "a a ".repeat(4000);
        let start = std::time::Instant::now();
        assert!(Template::parse(&template).unwrap().match_at(line.as_bytes(), 0, &mut Spans::new()).is_none());
        assert!(start.elapsed().as_secs() < 2);
    }

    #[test]
    fn phrases_are_found_inside_a_sentence() {
        let phrase = Template::parse("Tried to allocate {requested:size}").unwrap();
        let mut spans = Spans::new();
        let captures = phrase.find(b"CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0", &mut spans).unwrap();
        assert_eq!(captures.get("requested").unwrap().text, b"9.00 GiB");
    }

    #[test]
    fn bad_templates_are_refused() {
        assert!(matches!(Template::parse("a {b"), Err(TemplateError::Unclosed)));
        assert!(matches!(Template::parse("a {b:nothing}"), Err(TemplateError::UnknownType(_))));
        assert!(matches!(Template::parse("a {b:text}{c:word}"), Err(TemplateError::Adjacent(_))));
        assert!(matches!(Template::parse("a {b:int} {b:int}"), Err(TemplateError::Repeated(_))));
        assert!(matches!(Template::parse("  "), Err(TemplateError::Empty)));
    }
}
