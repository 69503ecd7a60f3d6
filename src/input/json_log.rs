//! JSON answers of the server become lines: log entries as a terminal would show them, other values as `/key = value`.
//!
//! Decides only whether the whole input is one JSON value; what does not parse is read as plain text.
//!
//! Long: one grammar with its tests.

use super::JsonKind;
use super::bounds::Bounds;
use super::decode::units;
use super::line::{Place, Sink};
use super::record;
use super::split::Lines;
use super::stamp;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// Blanks that may stand before it.
const BLANKS: usize = 4096;
/// How deep values may be nested; deeper ones are left out.
const DEEPEST: usize = 32;

/// Holds the input back while it may be JSON.
pub(crate) struct Gate {
    state: State,
    held: Vec<u8>,
    scan: Scan,
    largest: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Blank,
    Opened(u8),
    Json,
    Text,
}

impl Default for Gate {
    fn default() -> Self {
        Self { state: State::Blank, held: Vec::new(), scan: Scan::default(), largest: Bounds::default().json() }
    }
}

impl Gate {
    /// Takes a text of at most so many bytes for JSON.
    pub(crate) fn allow(&mut self, largest: usize) {
        self.largest = largest;
    }

    /// Takes text, and hands on what is not JSON.
    #[inline]
    pub(crate) fn feed(&mut self, block: &[u8], mut to: impl FnMut(&[u8])) {
        if self.state == State::Text {
            to(block);
            return;
        }
        for (at, byte) in block.iter().enumerate() {
            if self.step(*byte) && self.held.len() + at < self.largest {
                continue;
            }
            self.state = State::Text;
            let held = std::mem::take(&mut self.held);
            to(&held);
            to(block);
            return;
        }
        self.held.extend_from_slice(block);
    }

    /// Goes on by a byte; false when the input is no JSON.
    fn step(&mut self, byte: u8) -> bool {
        match self.state {
            State::Blank => match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    self.scan.blanks += 1;
                    return self.scan.blanks <= BLANKS;
                }
                b'{' | b'[' => self.state = State::Opened(byte),
                b'"' => self.state = State::Json,
                _ => return false,
            },
            State::Opened(first) => match (first, byte) {
                (_, b' ' | b'\t' | b'\r' | b'\n') => return true,
                (b'{', b'"' | b'}') | (_, b'{' | b'[' | b'"') => self.state = State::Json,
                _ => return false,
            },
            State::Json => {}
            State::Text => return false,
        }
        self.scan.step(byte)
    }

    /// The text that may be JSON, at the end of the input.
    pub(crate) fn held(&mut self) -> Option<Vec<u8>> {
        (self.state != State::Text && !self.held.is_empty()).then(|| std::mem::take(&mut self.held))
    }
}

/// Follows strings and nesting, to notice soon that a text is no JSON.
#[derive(Default)]
struct Scan {
    blanks: usize,
    depth: usize,
    string: bool,
    escaped: bool,
    done: bool,
}

impl Scan {
    fn step(&mut self, byte: u8) -> bool {
        if self.string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.string = false;
                    self.done = self.depth == 0;
                }
                0..0x20 => return false, // a line break inside a string
                _ => {}
            }
            return true;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if self.done => return false,
            b'"' => self.string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.done = self.depth == 0;
            }
            _ => {}
        }
        true
    }
}

/// Line count and line ends of the file itself.
pub(crate) struct FileLines {
    pub(crate) lines: u64,
    pub(crate) newline: &'static str,
}

pub(crate) fn lines_of(text: &[u8]) -> FileLines {
    let (mut lf, mut crlf) = (0_u64, 0_u64);
    for at in memchr::memchr_iter(b'\n', text) {
        let cr = at.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'\r');
        lf += u64::from(!cr);
        crlf += u64::from(cr);
    }
    let newline = match (lf, crlf) {
        (0, 0) => "none",
        (_, 0) => "lf",
        (0, _) => "crlf",
        _ => "mixed",
    };
    FileLines { lines: lf + crlf + u64::from(text.last().is_some_and(|b| *b != b'\n')), newline }
}

/// Reads a JSON text to lines; none, and nothing handed on, when it does not parse.
pub(crate) fn deliver<S: Sink + ?Sized>(
    held: &[u8],
    mark: u64,
    wide: bool,
    lines: &mut Lines,
    sink: &mut S,
) -> Option<JsonKind> {
    if record::text_of(held).is_some() {
        return None; // a single line of a collector's log
    }
    let text = std::str::from_utf8(held).ok()?;
    let root: &RawValue = serde_json::from_str(text).ok()?;
    let spot = Spot { text, wide, at: 0, line: 1, byte: mark };
    let mut walk = Walk { spot, lines, sink, path: String::new(), log: false };
    if root.get().starts_with('"') {
        walk.log_text(root);
    } else {
        walk.value(root, 0);
    }
    Some(if walk.log { JsonKind::Log } else { JsonKind::Values })
}

/// Follows where values stand in the user's file.
struct Spot<'t> {
    text: &'t str,
    wide: bool,
    at: usize,
    line: u64,
    byte: u64,
}

impl Spot<'_> {
    /// Place of a value, by where its text lies; values come in the order of the file.
    fn of(&mut self, value: &str) -> Place {
        let offset = (value.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        if let Some(between) = self.text.as_bytes().get(self.at..offset) {
            self.line += memchr::memchr_iter(b'\n', between).count() as u64;
            self.byte += if self.wide { 2 * units(between) } else { between.len() as u64 };
            self.at = offset;
        }
        Place { line: self.line, byte: self.byte, ..Place::default() }
    }
}

/// Members of an object, in order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(InOrder).map(Members)
    }
}

fn members(value: &RawValue) -> Option<Vec<(String, &RawValue)>> {
    serde_json::from_str::<Members<'_>>(value.get()).ok().map(|m| m.0)
}

fn items(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

/// The entry's text and time.
fn entry(value: &RawValue) -> Option<(&RawValue, Option<&RawValue>)> {
    if !value.get().starts_with('{') {
        return None;
    }
    let members = members(value)?;
    let find = |key: &str| members.iter().find(|(k, v)| k == key && v.get().starts_with('"')).map(|(_, v)| *v);
    let extra = members.iter().any(|(k, _)| k != "m" && k != "t");
    if extra { None } else { Some((find("m")?, find("t"))) }
}

struct Walk<'w, 't, S: ?Sized> {
    spot: Spot<'t>,
    lines: &'w mut Lines,
    sink: &'w mut S,
    path: String,
    log: bool,
}

impl<S: Sink + ?Sized> Walk<'_, '_, S> {
    fn value(&mut self, value: &RawValue, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match value.get().as_bytes().first() {
            Some(b'{') => {
                let Some(members) = members(value) else { return };
                let is_log = members.iter().any(|(key, value)| key == "entries" && self.is_log(value));
                for (key, value) in members {
                    if is_log && key == "entries" {
                        self.log_entries(value);
                    } else if !(is_log && key == "size") {
                        self.below(&key, value, depth);
                    }
                }
            }
            Some(b'[') if self.is_log(value) => self.log_entries(value),
            Some(b'[') => {
                let Some(items) = items(value) else { return };
                if items.iter().any(|item| item.get().starts_with(['{', '['])) {
                    for (n, item) in items.into_iter().enumerate() {
                        self.below(&n.to_string(), item, depth);
                    }
                } else {
                    self.list(value, &items);
                }
            }
            Some(b'"') => {
                let text = unescape(value.get());
                let stamped = stamp::of_buffer(&text).is_some() && text.contains(&b'\n');
                if stamped || (self.path.ends_with("internal/logs") && text.contains(&b'\n')) {
                    self.log_text(value);
                } else {
                    self.emit(value, &text, false);
                }
            }
            Some(_) => self.emit(value, value.get().as_bytes(), false),
            None => {}
        }
    }

    fn below(&mut self, key: &str, value: &RawValue, depth: usize) {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(key);
        self.value(value, depth + 1);
        self.path.truncate(length);
    }

    fn is_log(&self, value: &RawValue) -> bool {
        value.get().starts_with('[')
            && items(value).is_some_and(|items| items.first().is_some_and(|first| entry(first).is_some()))
    }

    /// An array of plain values; one whose strings hold line breaks (a traceback) stands below its key.
    fn list(&mut self, value: &RawValue, items: &[&RawValue]) {
        let texts: Vec<Vec<u8>> = items
            .iter()
            .map(|item| if item.get().starts_with('"') { unescape(item.get()) } else { item.get().as_bytes().to_vec() })
            .collect();
        let broken = texts.iter().any(|text| text.contains(&b'\n'));
        let mut joined = Vec::new();
        for (n, text) in texts.iter().enumerate() {
            if n > 0 && !broken {
                joined.push(b' ');
            }
            joined.extend_from_slice(text);
            if broken && !text.ends_with(b"\n") {
                joined.push(b'\n');
            }
        }
        self.emit(value, &joined, broken);
    }

    fn emit(&mut self, value: &RawValue, text: &[u8], below: bool) {
        let place = self.spot.of(value.get());
        self.lines.set_place(place, b"");
        let mut line = self.path.clone().into_bytes();
        line.extend_from_slice(if below { b" =\n" } else { b" = " });
        line.extend_from_slice(text);
        line.push(b'\n');
        self.lines.feed(&line, self.sink);
    }

    fn log_entries(&mut self, value: &RawValue) {
        self.log = true;
        let Some(items) = items(value) else { return };
        for (n, item) in items.into_iter().enumerate() {
            let Some((text, time)) = entry(item) else { continue };
            let place = Place { entry: number(n), ..self.spot.of(item.get()) };
            let stamp = time.map(|t| unescape(t.get())).unwrap_or_default();
            self.lines.set_place(place, &stamp);
            self.lines.feed(&unescape(text.get()), self.sink);
        }
        self.lines.break_off(self.sink);
    }

    fn log_text(&mut self, value: &RawValue) {
        self.log = true;
        let place = self.spot.of(value.get());
        let text = unescape(value.get());
        for (n, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
            self.lines.set_place(Place { entry: number(n), ..place }, b"");
            self.lines.feed(line, self.sink);
        }
        self.lines.break_off(self.sink);
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1)
}

/// Takes quotes and escapes off a JSON string; halves of surrogate pairs, which Python writes, become U+FFFD.
fn unescape(raw: &str) -> Vec<u8> {
    let inner = raw.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or(raw);
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        out.extend_from_slice(plain.as_bytes());
        let mut characters = escaped.chars();
        let mut after = |c: char| {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        };
        match characters.next() {
            Some('n') => after('\n'),
            Some('r') => after('\r'),
            Some('t') => after('\t'),
            Some('b') => after('\u{8}'),
            Some('f') => after('\u{c}'),
            Some('u') => {
                let hex = |s: &str| s.get(..4).and_then(|h| u32::from_str_radix(h, 16).ok());
                let high = hex(characters.as_str()).unwrap_or(0xfffd);
                let mut used = characters.as_str().len().min(4);
                let tail = characters.as_str().get(used..).unwrap_or_default();
                let low = tail.strip_prefix("\\u").and_then(hex).filter(|low| (0xdc00..0xe000).contains(low));
                let code = match low {
                    Some(low) if (0xd800..0xdc00).contains(&high) => {
                        used += 6;
                        0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                    }
                    _ => high,
                };
                after(char::from_u32(code).unwrap_or('\u{fffd}'));
                rest = characters.as_str().get(used..).unwrap_or_default();
                continue;
            }
            Some(other) => after(other),
            None => {}
        }
        rest = characters.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        for (raw, text) in [
            (r#""a\n\"b\"\\ \u0041\u00e9 \ud83d\ude00 \ud83d x\/""#, "a\n\"b\"\\ Aé 😀 \u{fffd} x/"),
            (r#""\u001b[32m""#, "\x1b[32m"),
            (r#""""#, ""),
        ] {
            assert_eq!(String::from_utf8(unescape(raw)).unwrap(), text);
        }
    }

    fn passes(text: &str, step: usize, largest: usize) -> (String, bool) {
        let mut gate = Gate { largest, ..Gate::default() };
        let mut out = Vec::new();
        for block in text.as_bytes().chunks(step) {
            gate.feed(block, |b| out.extend_from_slice(b));
        }
        let held = gate.held();
        let json = held.is_some();
        out.extend(held.unwrap_or_default());
        (String::from_utf8(out).unwrap(), json)
    }

    #[test]
    fn gate_holds_json_only_and_loses_nothing() {
        for (text, json) in [
            ("{\"a\": 1}\n", true),
            (" [\n{\"m\":\"x\"}]", true),
            ("\"a\\nb\"", true),
            ("[INFO] got prompt\n", false),
            ("[2026-01-01 00:00:00.000] x\n", false),
            ("\"got prompt\nRequested", false),
            ("{\"a\": 1}\ngot prompt\n", false),
            ("{'a': 1}\n", false),
            ("got prompt\n", false),
            ("\n\n[START] Security scan\n", false),
        ] {
            for step in [1, 3, 100] {
                assert_eq!(passes(text, step, Bounds::default().json()), (text.to_owned(), json), "{text} {step}");
                assert_eq!(passes(text, step, 4), (text.to_owned(), json && text.len() <= 4), "{text} {step}");
            }
        }
    }
}
