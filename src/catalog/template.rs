//! A message template: the literal text of one line with typed captures, compiled and matched by hand.
//!
//! No automaton and no backtracking over the whole line: a capture ends where the next literal
//! begins, so a line costs what its own length costs. Which template a line is tried against is
//! decided elsewhere (`matcher`).

use memchr::memmem;

use super::capture::CaptureType;
use super::capture_offsets::{Captures, Lent, Slot, Spans};
use super::match_parts::{literal_prefix, walk};

#[derive(Debug, Clone)]
pub(crate) enum Part {
    Literal(Box<[u8]>),
    /// Number of a slot.
    Capture(usize),
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
        walk(&self.parts, &self.slots, text, at, spans)
    }

    /// Matches the beginning of `text`, of which the first `known` bytes are those of the template.
    pub(crate) fn match_known(&self, text: &[u8], known: usize, spans: &mut Spans) -> Option<usize> {
        spans.tries = 0;
        match self.parts.split_first() {
            Some((Part::Literal(literal), later)) if known > 0 => {
                let at = literal_prefix(literal, text, known, later.is_empty())?;
                walk(later, &self.slots, text, at, spans)
            }
            _ => walk(&self.parts, &self.slots, text, 0, spans),
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
