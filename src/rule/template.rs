//! A message template: the literal text of one line with typed captures, compiled and matched by hand.
//!
//! No automaton and no backtracking over the whole line: a capture ends where the next literal
//! begins, so a line costs what its own length costs. Which template a line is tried against is
//! decided elsewhere (`matcher`).

use memchr::memmem;

/// What a capture takes, and in which unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureType {
    Class,
    Word,
    Text,
    /// Rest of the line, to be matched again by itself.
    Message,
    Path,
    Int,
    Float,
    Mib,
    Gib,
    Kib,
    Bytes,
    Seconds,
    /// A number with its unit, e.g. `1.50 GiB`.
    Size,
    Version,
    Hex,
    Bool,
    OneOf(Vec<Box<str>>),
}

impl CaptureType {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "class" => Self::Class,
            "word" => Self::Word,
            "text" => Self::Text,
            "message" => Self::Message,
            "path" => Self::Path,
            "int" => Self::Int,
            "float" => Self::Float,
            "mib" => Self::Mib,
            "gib" => Self::Gib,
            "kib" => Self::Kib,
            "bytes" => Self::Bytes,
            "seconds" => Self::Seconds,
            "size" => Self::Size,
            "version" => Self::Version,
            "hex" => Self::Hex,
            "bool" => Self::Bool,
            other => {
                let words = other.strip_prefix("one-of(")?.strip_suffix(')')?;
                Self::OneOf(words.split('|').map(Into::into).collect())
            }
        })
    }

    /// The type named in a pack's `types` table for regex rules.
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(name)
    }

    fn is_free(&self) -> bool {
        matches!(self, Self::Text | Self::Message | Self::Path | Self::Word)
    }

    fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Int | Self::Float | Self::Mib | Self::Gib | Self::Kib | Self::Bytes | Self::Seconds | Self::Size
        )
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    Literal(Box<[u8]>),
    Capture { name: Box<str>, kind: CaptureType },
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

/// The captures of one match. More than [`Captures::MAX`] are never written in a template.
#[derive(Debug, Clone, Copy)]
pub struct Captures<'r, 't> {
    items: [Option<Capture<'r, 't>>; MOST_CAPTURES],
    len: usize,
    tries: u16,
}

impl<'r, 't> Captures<'r, 't> {
    /// Most captures a template may have.
    pub const MAX: usize = MOST_CAPTURES;

    pub(crate) fn new() -> Self {
        Self { items: [None; MOST_CAPTURES], len: 0, tries: 0 }
    }

    pub(crate) fn push(&mut self, capture: Capture<'r, 't>) {
        if let Some(slot) = self.items.get_mut(self.len) {
            *slot = Some(capture);
            self.len += 1;
        }
    }

    fn truncate(&mut self, len: usize) {
        self.len = len;
    }

    /// All captures, in the order of the template.
    pub fn iter(&self) -> impl Iterator<Item = &Capture<'r, 't>> {
        self.items[..self.len].iter().flatten()
    }

    /// The capture called `name`.
    pub fn get(&self, name: &str) -> Option<&Capture<'r, 't>> {
        self.iter().find(|capture| capture.name == name)
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
    #[error("the template begins in a way that no line can be found by: begin with four literal letters, a number, `one-of(…)`, `{{x:word}} literal` or `{{x:word}}: literal`")]
    NoAnchor,
    #[error("the capture `{0}` stands twice")]
    Repeated(String),
}

/// A compiled template.
#[derive(Debug, Clone)]
pub struct Template {
    pub(crate) parts: Vec<Part>,
    literal_len: usize,
}

impl Template {
    /// Compiles `text`; see `docs/rule-format.md` for the language.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts: Vec<Part> = Vec::new();
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
                push_capture(&mut parts, name, kind)?;
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
        Ok(Self { parts, literal_len })
    }

    /// Bytes of literal text: the longer, the more specific.
    pub fn literal_len(&self) -> usize {
        self.literal_len
    }

    /// Names and types of the captures.
    pub fn captures(&self) -> impl Iterator<Item = (&str, &CaptureType)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Capture { name, kind } => Some((&**name, kind)),
            Part::Literal(_) => None,
        })
    }

    /// Matches at the start of `line`. Returns the captures and what is left over, or `None`.
    pub fn matches<'r, 't>(&'r self, line: &'t [u8]) -> Option<(Captures<'r, 't>, &'t [u8])> {
        let mut captures = Captures::new();
        let rest = step(&self.parts, line, &mut captures)?;
        Some((captures, rest))
    }

    /// Matches the first place inside `text` where the template fits.
    pub fn find<'r, 't>(&'r self, text: &'t [u8]) -> Option<Captures<'r, 't>> {
        match self.parts.first() {
            Some(Part::Literal(first)) => memmem::find_iter(text, first)
                .find_map(|at| self.matches(text.get(at..)?).map(|(captures, _)| captures)),
            Some(Part::Capture { .. }) => {
                (0..text.len()).find_map(|at| self.matches(text.get(at..)?).map(|(captures, _)| captures))
            }
            None => None,
        }
    }
}

fn push_capture(parts: &mut Vec<Part>, name: &str, kind: CaptureType) -> Result<(), TemplateError> {
    if let Some(Part::Capture { kind: before, .. }) = parts.last()
        && (before.is_free() || kind.is_free())
    {
        return Err(TemplateError::Adjacent(name.to_owned()));
    }
    let mut count = 0;
    for part in parts.iter() {
        if let Part::Capture { name: other, .. } = part {
            count += 1;
            if **other == *name {
                return Err(TemplateError::Repeated(name.to_owned()));
            }
        }
    }
    if count >= Captures::MAX {
        return Err(TemplateError::TooMany);
    }
    parts.push(Part::Capture { name: name.into(), kind });
    Ok(())
}

fn step<'r, 't>(parts: &'r [Part], text: &'t [u8], captures: &mut Captures<'r, 't>) -> Option<&'t [u8]> {
    let Some((part, later)) = parts.split_first() else { return Some(text) };
    match part {
        Part::Literal(literal) => {
            let used = literal_prefix(literal, text, later.is_empty())?;
            step(later, text.get(used..)?, captures)
        }
        Part::Capture { name, kind } => {
            if kind.is_free() {
                return free_capture(name, kind, later, text, captures);
            }
            let len = token_len(kind, text)?;
            let (taken, rest) = text.split_at_checked(len)?;
            captures.push(Capture { name, kind, text: taken });
            step(later, rest, captures)
        }
    }
}

/// Text up to the next literal; several places of it are tried in order.
fn free_capture<'r, 't>(
    name: &'r str,
    kind: &'r CaptureType,
    later: &'r [Part],
    text: &'t [u8],
    captures: &mut Captures<'r, 't>,
) -> Option<&'t [u8]> {
    let limit = if *kind == CaptureType::Word { word_len(text) } else { text.len() };
    let Some(Part::Literal(next)) = later.first() else {
        if limit == 0 && *kind == CaptureType::Word {
            return None;
        }
        let (taken, rest) = text.split_at_checked(limit)?;
        captures.push(Capture { name, kind, text: taken.trim_ascii() });
        return Some(rest);
    };
    let mark = captures.len;
    let head = next.iter().position(|byte| *byte == b' ').unwrap_or(next.len());
    let needle = next.get(..head.max(1))?;
    for at in memmem::find_iter(text, needle) {
        captures.tries += 1;
        if at > limit || captures.tries > MOST_TRIES {
            return None;
        }
        if at == 0 && *kind == CaptureType::Word {
            continue;
        }
        captures.push(Capture { name, kind, text: text.get(..at)?.trim_ascii() });
        if let Some(rest) = step(later, text.get(at..)?, captures) {
            return Some(rest);
        }
        captures.truncate(mark);
    }
    None
}

/// How much of `text` the literal takes; one blank in it takes one or more.
fn literal_prefix(literal: &[u8], text: &[u8], last: bool) -> Option<usize> {
    if text.starts_with(literal) {
        let mut used = literal.len();
        if literal.last() == Some(&b' ') && !last {
            used += blanks(text.get(used..)?);
        }
        return Some(used);
    }
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

fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

fn word_len(text: &[u8]) -> usize {
    text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len())
}

fn token_len(kind: &CaptureType, text: &[u8]) -> Option<usize> {
    let len = match kind {
        CaptureType::Class => class_len(text),
        CaptureType::Int | CaptureType::Bytes => {
            let sign = usize::from(text.first() == Some(&b'-'));
            let digits = text.get(sign..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 { 0 } else { sign + digits }
        }
        CaptureType::Float | CaptureType::Mib | CaptureType::Gib | CaptureType::Kib | CaptureType::Seconds => {
            float_len(text)
        }
        CaptureType::Size => size_len(text),
        CaptureType::Version => {
            let all = text
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_'))
                .count();
            text.get(..all)?.trim_ascii_end().iter().rposition(|byte| *byte != b'.').map_or(0, |at| at + 1)
        }
        CaptureType::Hex => {
            let digits = text.strip_prefix(b"0x")?.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            if digits == 0 { 0 } else { digits + 2 }
        }
        CaptureType::Bool => [&b"True"[..], b"False", b"true", b"false"]
            .iter()
            .find(|word| text.starts_with(word))
            .map_or(0, |word| word.len()),
        CaptureType::OneOf(words) => {
            words.iter().filter(|word| text.starts_with(word.as_bytes())).map(|word| word.len()).max().unwrap_or(0)
        }
        CaptureType::Word | CaptureType::Text | CaptureType::Message | CaptureType::Path => return None,
    };
    (len > 0).then_some(len)
}

/// A Python name; a dot belongs to it only when a letter follows.
fn class_len(text: &[u8]) -> usize {
    let mut len = 0;
    while let Some(byte) = text.get(len) {
        let inside = byte.is_ascii_alphanumeric()
            || *byte == b'_'
            || !byte.is_ascii()
            || (*byte == b'.' && len > 0 && text.get(len + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'_'));
        if !inside {
            break;
        }
        len += 1;
    }
    len
}

fn float_len(text: &[u8]) -> usize {
    let digits = |from: usize| text.get(from..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let sign = usize::from(text.first() == Some(&b'-'));
    let whole = digits(sign);
    if whole == 0 {
        return 0;
    }
    let mut len = sign + whole;
    if text.get(len) == Some(&b'.') {
        let fraction = digits(len + 1);
        if fraction > 0 {
            len += 1 + fraction;
        }
    }
    if matches!(text.get(len), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(text.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits(len + 1 + signed);
        if exponent > 0 {
            len += 1 + signed + exponent;
        }
    }
    len
}

/// A number, optional blanks and a unit. numpy writes `273. GiB`.
fn size_len(text: &[u8]) -> usize {
    let mut len = float_len(text);
    if len == 0 {
        return 0;
    }
    if text.get(len) == Some(&b'.') && text.get(len + 1) == Some(&b' ') {
        len += 1;
    }
    let unit_at = len + text.get(len..).map_or(0, blanks);
    let letters = text.get(unit_at..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count());
    match text.get(unit_at..unit_at + letters) {
        Some(b"bytes" | b"byte" | b"B" | b"KiB" | b"MiB" | b"GiB" | b"TiB" | b"KB" | b"MB" | b"GB" | b"TB" | b"kB"
        | b"Gi" | b"Mi" | b"Ki" | b"g" | b"m" | b"k" | b"G" | b"M" | b"K") => unit_at + letters,
        _ => 0,
    }
}

/// A number capture begins the template: found by a digit.
pub(crate) fn begins_with_number(parts: &[Part]) -> bool {
    matches!(parts.first(), Some(Part::Capture { kind, .. }) if kind.is_number())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(template: &str, line: &str) -> Option<(Vec<(String, String)>, String)> {
        let template = Template::parse(template).expect("valid template");
        let (captures, rest) = template.matches(line.as_bytes())?;
        let list = captures
            .iter()
            .map(|capture| (capture.name.to_owned(), String::from_utf8_lossy(capture.text).into_owned()))
            .collect();
        Some((list, String::from_utf8_lossy(rest).into_owned()))
    }

    #[test]
    fn typed_captures_read_comfyui_lines() {
        let (list, rest) = captured("Total VRAM {vram:mib} MB, total RAM {ram:mib} MB", "Total VRAM 24564 MB, total RAM 65367 MB").unwrap();
        assert_eq!(list, [("vram".into(), "24564".into()), ("ram".into(), "65367".into())]);
        assert_eq!(rest, "");
        assert!(captured("Total VRAM {vram:mib} MB, total RAM {ram:mib} MB", "Total VRAM requested").is_none());
        let (list, _) = captured("loaded completely {usable:mib} {loaded:mib} {full:bool}", "loaded completely 9.5367431640625e+25 16.0625 True").unwrap();
        assert_eq!(list[0].1, "9.5367431640625e+25");
        let (list, _) = captured("loaded completely; {loaded:mib} MB loaded, full load: {full:bool}", "loaded completely;  8.03 MB loaded, full load: True").unwrap();
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
        let (list, rest) = captured("Requested to load {class:class}", "Requested to load WAN21 loaded partially; 1 MB").unwrap();
        assert_eq!(list[0].1, "WAN21");
        assert_eq!(rest, " loaded partially; 1 MB");
    }

    #[test]
    fn free_text_ends_at_the_next_literal_that_lets_the_rest_match() {
        let (list, _) = captured("Cannot import {path:path} module for custom nodes: {reason:text}", "Cannot import /a module b module for custom nodes: no module").unwrap();
        assert_eq!(list[0].1, "/a module b");
        assert_eq!(list[1].1, "no module");
    }

    #[test]
    fn padding_does_not_matter() {
        let (list, _) = captured("Currently allocated : {allocated:size}", "Currently allocated     : 12.97 GiB").unwrap();
        assert_eq!(list[0].1, "12.97 GiB");
        let (list, _) = captured("Free (according to CUDA): {free:size}", "Free (according to CUDA): 0 bytes").unwrap();
        assert_eq!(list[0].1, "0 bytes");
    }

    #[test]
    fn a_hostile_template_gives_up_soon() {
        let template: String = (0..13).map(|number| format!("a {{c{number}:text}} ")).chain(["end".into()]).collect();
        let line = "a a ".repeat(4000);
        let start = std::time::Instant::now();
        assert!(Template::parse(&template).unwrap().matches(line.as_bytes()).is_none());
        assert!(start.elapsed().as_secs() < 2);
    }

    #[test]
    fn phrases_are_found_inside_a_sentence() {
        let phrase = Template::parse("Tried to allocate {requested:size}").unwrap();
        let captures = phrase.find(b"CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0").unwrap();
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
