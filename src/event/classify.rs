//! Segments become events: rule lookup, the texts inside messages, and the few things no rule can say
//! (a traceback's last line, a typed command).
//!
//! Long: one state machine; its arms share its state.

use std::borrow::Cow;
use std::cell::OnceCell;

use memchr::memmem::Finder;
use serde::Serialize;

use super::command_line::looks_like_launch;
use super::exception::{split_any_exception, split_exception};
use super::hint::{GAP, MAIN, launch_or_gap};
use super::import_table::Row;
use super::inferred_prefix::{Breaks, Broken, may_be_broken};
use super::oom::OomPhrases;
use super::paste::Paste;
use super::prefix_inference::Learner;
use super::rich_traceback::Boxed;
use super::what::{fact_value, what_of};
use super::wrapped_line::Wrapped;
use super::{At, Event, EventSink, FactValue, What};
use crate::catalog::{Candidates, CaptureType, Constant, EventKind, Found, Lent, Packs, Rule, SET_KEYS, Spans};
use crate::input::{Bar, Level, Place, Segment, Sink, level_of};

/// Bytes of a line from which on it may hold a whole log.
const LONG: usize = 120;

/// Texts looked for in one line, so that a hostile line cannot cost more than its length.
const TEXTS_PER_LINE: u32 = 64;

/// How much of the input was understood.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Texts looked at: lines, and parts of lines.
    pub texts: u64,
    pub understood: u64,
    /// Known to say nothing; part of `understood`.
    pub noise: u64,
    pub bars: u64,
    /// Texts that only ComfyUI prints.
    pub comfyui: u64,
    /// Other texts that ComfyUI or what belongs to it prints; only counted where none of the former stands before.
    pub kin: u64,
    /// ComfyUI's texts inside lines that were not understood; counted as long as a prefix is looked for.
    pub hidden: u64,
}

/// Turns segments into events with the rules of `packs`, and hands them to `sink`.
pub struct Classifier<'p, S> {
    pub(super) packs: &'p Packs,
    sink: S,
    pub(super) tally: Tally,
    pub(super) learner: Learner,
    pub(super) broken: Broken,
    pub(super) breaks: Breaks,
    pub(super) boxed: Option<Boxed>,
    pub(super) row: Row,
    main_py: Finder<'static>,
    gap: Finder<'static>,
    command_continues: bool,
    wrapped: Wrapped,
    /// Blanks before the last `File "…", line N`, until something else is met: deeper lines quote its source.
    frame: Option<u32>,
    paste: OnceCell<Paste>,
}

impl<'p, S: EventSink> Classifier<'p, S> {
    pub fn new(packs: &'p Packs, sink: S) -> Self {
        Self {
            packs,
            sink,
            tally: Tally::default(),
            learner: Learner::default(),
            broken: Broken::default(),
            breaks: Breaks::default(),
            boxed: None,
            row: Row::default(),
            main_py: Finder::new(MAIN),
            gap: Finder::new(GAP),
            command_continues: false,
            wrapped: Wrapped::default(),
            frame: None,
            paste: OnceCell::new(),
        }
    }

    /// The sink with everything it was told, and how much was understood.
    pub fn into_parts(self) -> (S, Tally) {
        let tally = self.tally();
        (self.sink, tally)
    }

    /// The sink, to look at it while the log still grows.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// How much was understood up to now.
    pub fn tally(&self) -> Tally {
        let understood = self.tally.understood.min(self.tally.texts);
        Tally { understood, noise: self.tally.noise.min(understood), ..self.tally }
    }

    /// Matches `text` and what is left of it. False when its beginning is unknown.
    pub(super) fn texts<'t>(&mut self, segment: &Segment<'t>, text: &'t [u8], nested: bool) -> bool {
        let mut spans = Spans::new();
        let found = self.packs.matcher().look_up(text, &mut spans);
        if let Some(found) = found {
            self.texts_from(segment, text, found, &mut spans, nested);
        }
        found.is_some()
    }

    /// The same, when the first look-up was made.
    fn texts_from<'t>(
        &mut self,
        segment: &Segment<'t>,
        text: &'t [u8],
        mut hit: Found<'p, 't>,
        spans: &mut Spans,
        nested: bool,
    ) where
        'p: 't,
    {
        let mut place = segment.place;
        let mut rest = text;
        let packs = self.packs;
        for part in 0..TEXTS_PER_LINE {
            if part > 0 {
                place.segment = place.segment.max(1) + 1;
            }
            self.count(hit.rule);
            self.emit(segment, place, hit, hit.captures(rest, spans), nested || part > 0);
            rest = hit.tail;
            if rest.is_empty() {
                break;
            }
            match packs.matcher().look_up(rest, spans) {
                Some(next) => hit = next,
                None => break,
            }
        }
    }

    /// No rule knows `text`: it may still be an exception's line, a command, several texts, or the beginning of one.
    fn may_mean(&self, text: &[u8], bare: bool, candidates: Candidates) -> bool {
        let matcher = self.packs.matcher();
        (may_be_broken(text, bare, candidates.is_any()) && matcher.candidate_goes_on_behind(text, candidates))
            || split_exception(text).is_some()
            || launch_or_gap(text)
            || split_level(text).is_some()
    }

    /// `WARNING: ` before a text that is known without it: a node pack has set up the logger in its own way.
    fn behind_level(&mut self, segment: &Segment<'_>) -> bool {
        let Some((level, text)) = split_level(segment.text) else { return false };
        self.texts(&Segment { level: Some(level), text, ..*segment }, text, false)
    }

    /// No line before has a say in what an unknown one means.
    fn is_calm(&self) -> bool {
        let alone =
            !self.command_continues && !self.wrapped.is_open() && self.broken.is_empty() && self.boxed.is_none();
        alone
            && self.frame.is_none()
            && !self.row.is_open()
            && !self.learner.knows()
            && !self.learner.looks(self.tally.comfyui)
    }

    /// Where a text of a segment stands, before its rule is known.
    #[inline]
    pub(super) fn at<'t>(&self, segment: &Segment<'t>, text: &'t [u8]) -> At<'t> {
        let Segment { place, stamp, level, cut, glued, .. } = *segment;
        At { place, text, rule: "", stamp, level, cut, glued }
    }

    fn count(&mut self, rule: &Rule) {
        self.tally.understood += 1;
        if rule.noise {
            self.tally.noise += 1;
        }
        if rule.is_comfyui {
            self.tally.comfyui += 1;
        } else if self.tally.comfyui == 0 && rule.is_kin() {
            self.tally.kin += 1;
        }
    }

    pub(super) fn send<'e>(
        &mut self,
        segment: &Segment<'_>,
        at: At<'e>,
        what: What<'e>,
        rule: Option<&'e Rule>,
        nested: bool,
    ) {
        let (indent, tagged) = (segment.indent, segment.tagged);
        self.sink.event(&Event { at, what: &what, rule, indent, tagged, nested });
    }

    fn emit<'t>(
        &mut self,
        segment: &Segment<'t>,
        place: Place,
        hit: Found<'p, 't>,
        captures: Lent<'_, 'p, 't>,
        nested: bool,
    ) where
        'p: 't,
    {
        let rule = hit.rule;
        let Segment { stamp, level, cut, glued, indent, tagged, .. } = *segment;
        if rule.event == EventKind::TracebackFrame {
            self.frame = Some(indent);
        } else if self.frame.is_some_and(|frame| indent <= frame) {
            self.frame = None;
        }
        if rule.event == EventKind::Fact || !rule.set.is_empty() {
            let at = At { place, text: hit.text, rule: &rule.id, ..self.at(segment, hit.text) };
            if self.facts(segment, at, rule, captures, nested) {
                return;
            }
        }
        self.command_continues = rule.event == EventKind::Launch && continues(segment.text);
        self.row.close();
        if rule.event == EventKind::ImportRow {
            self.row.begin(segment, place, hit.text);
        }
        if rule.event == EventKind::Oom {
            self.wrapped.begin(hit.text, OomPhrases(self.packs.oom_phrases()));
        }
        if rule.event == EventKind::TracebackStart {
            self.boxed = Boxed::begins(segment);
        }
        let what = what_of(rule, captures, hit.text, OomPhrases(self.packs.oom_phrases()));
        // Written in one go where it stays: see `docs/performance.md`, copies.
        let at = At { place, text: hit.text, rule: &rule.id, stamp, level, cut, glued };
        self.sink.event(&Event { at, what: &what, rule: Some(rule), indent, tagged, nested });
        if rule.has_message()
            && let Some(message) = captures.iter().find(|capture| *capture.kind == CaptureType::Message)
            && !message.text.is_empty()
        {
            self.message(segment, message.text);
        }
    }

    /// Tells the facts that a rule captures or sets; true when that is all it has to say.
    fn facts<'t>(
        &mut self,
        segment: &Segment<'t>,
        at: At<'t>,
        rule: &'p Rule,
        captures: Lent<'_, 'p, 't>,
        nested: bool,
    ) -> bool
    where
        'p: 't,
    {
        let weak = rule.sets("weak");
        if rule.event != EventKind::Fact {
            self.send_constants(segment, at, rule, weak, nested);
            return false;
        }
        let mut told = false;
        for capture in captures.iter() {
            let Some(value) = fact_value(capture.name, capture.kind, capture.text) else { continue };
            told = true;
            self.send(segment, at, What::Fact { name: capture.name, value, weak }, Some(rule), nested);
        }
        told |= self.send_constants(segment, at, rule, weak, nested);
        if !told {
            self.send(segment, at, What::Notice, Some(rule), nested);
        }
        true
    }

    fn send_constants<'t>(
        &mut self,
        segment: &Segment<'_>,
        at: At<'t>,
        rule: &'t Rule,
        weak: bool,
        nested: bool,
    ) -> bool {
        let mut told = false;
        for (name, constant) in &rule.set {
            if SET_KEYS.contains(&&**name) {
                continue;
            }
            told = true;
            let value = match constant {
                Constant::Bool(value) => FactValue::Bool(*value),
                Constant::Number(value) => FactValue::Number(*value),
                Constant::Text(value) => FactValue::Text(Cow::Borrowed(value)),
            };
            self.send(segment, at, What::Fact { name, value, weak }, Some(rule), nested);
        }
        told
    }

    /// A text inside another one's message: matched by itself, or an exception's line.
    fn message<'t>(&mut self, segment: &Segment<'t>, message: &'t [u8]) {
        if self.texts(segment, message, true) {
            return;
        }
        if let Some((_, inner)) = split_exception(message)
            && !inner.is_empty()
        {
            self.texts(segment, inner, true);
        }
    }

    fn unknown<'t>(&mut self, segment: &Segment<'t>) {
        if self.row.is_open() && self.row_goes_on(segment) {
            return;
        }
        if self.in_box(segment) || self.joined(segment) || self.behind_level(segment) {
            return;
        }
        if (self.learner.knows() || self.learner.looks(self.tally.comfyui)) && self.behind_prefix(segment) {
            return;
        }
        self.unknown_text(segment);
    }

    /// No rule knows a text. Python's quotation of a source line below its frame is read nevertheless, and what has no
    /// letter says nothing.
    pub(super) fn pass(&mut self, segment: &Segment<'_>) {
        if self.frame.is_some_and(|frame| segment.indent > frame) {
            self.tally.understood += 1;
        } else {
            self.frame = None;
            if is_decoration(segment.text) {
                self.tally.understood += 1;
                self.tally.noise += 1;
            }
        }
        self.sink.unknown(&self.at(segment, segment.text));
    }

    pub(super) fn unknown_text<'t>(&mut self, segment: &Segment<'t>) {
        let text = segment.text;
        let at = self.at(segment, text);
        let below_frames = self.frame.is_some_and(|frame| segment.indent <= frame);
        let exception = split_exception(text).or_else(|| split_any_exception(text).filter(|_| below_frames));
        if let Some((kind, message)) = exception {
            self.frame = None;
            self.tally.understood += 1;
            let at = At { rule: "traceback", ..at };
            let what =
                What::ExceptionLine { kind: String::from_utf8_lossy(kind), message: String::from_utf8_lossy(message) };
            self.send(segment, at, what, None, false);
            if !message.is_empty() {
                self.message(segment, message);
            }
            return;
        }
        let suspicious = launch_or_gap(text);
        if self.command_continues || (suspicious && self.is_launch(segment)) {
            self.command_continues = continues(text);
            self.tally.understood += 1;
            let at = At { rule: "command-line", ..at };
            self.send(segment, at, What::Launch { args: String::from_utf8_lossy(text) }, None, false);
            return;
        }
        if self.wrapped.is_open() {
            self.wrapped.pass();
            if self.wrapped_oom(segment, at) {
                return;
            }
        }
        if suspicious && self.gap.find(text).is_some() && self.split_at_gaps(segment) {
            return;
        }
        self.pass(segment);
    }

    fn is_launch(&self, segment: &Segment<'_>) -> bool {
        let text = segment.text;
        if self.main_py.find(text).is_none() || !looks_like_launch(text) {
            return false;
        }
        segment.prompted || text.starts_with(b"main.py") || {
            let before = text.get(..self.main_py.find(text).unwrap_or(0)).unwrap_or_default();
            memchr::memmem::find(before, b"python").is_some() || memchr::memmem::find(before, b"Python").is_some()
        }
    }

    /// An allocator's sentence that went on in the next line.
    fn wrapped_oom<'t>(&mut self, segment: &Segment<'t>, at: At<'t>) -> bool {
        let phrases = OomPhrases(self.packs.oom_phrases());
        let Some((numbers, sizes)) = self.wrapped.go_on(segment.text, segment.indent > 0, phrases) else {
            return false;
        };
        self.tally.understood += 1;
        let what = What::OomField { numbers: Box::new(numbers), sizes };
        let at = At { rule: "oom-wrapped", ..at };
        self.send(segment, at, what, None, false);
        true
    }

    /// Texts far apart in one line, each matched by itself.
    fn split_at_gaps<'t>(&mut self, segment: &Segment<'t>) -> bool {
        let mut known = false;
        let mut rest = segment.text;
        let mut part = *segment;
        for _ in 0..TEXTS_PER_LINE {
            let piece = match self.gap.find(rest) {
                Some(at) => rest.get(..at).unwrap_or_default(),
                None => rest,
            };
            let next = rest.get(piece.len()..).unwrap_or_default().trim_ascii_start();
            if !piece.trim_ascii().is_empty() {
                part.place.segment = part.place.segment.max(1) + 1;
                known |= self.texts(&part, piece.trim_ascii(), false);
            }
            if next.is_empty() {
                break;
            }
            rest = next;
        }
        known
    }
}

impl<S: EventSink> Classifier<'_, S> {
    /// A segment that is one text, with however many texts inside: it is understood once, and so are the lines before
    /// it that it completes.
    fn one(&mut self, segment: &Segment<'_>) {
        let lines = 1 + self.broken.lines();
        let Tally { understood, noise, .. } = self.tally;
        self.tally.texts += 1;
        self.look_up(segment);
        self.tally.understood = self.tally.understood.min(understood + lines);
        self.tally.noise = self.tally.noise.min(noise + lines);
    }

    fn look_up(&mut self, segment: &Segment<'_>) {
        let text = segment.text;
        let mut spans = Spans::new();
        let (found, candidates) = self.packs.matcher().look_up_or_candidates(text, &mut spans);
        match found {
            Some(found) => {
                self.texts_from(segment, text, found, &mut spans, false);
                if segment.indent == 0 && self.wrapped.is_open() {
                    self.wrapped.pass();
                }
            }
            None if self.is_calm() && !self.may_mean(text, segment.is_bare(), candidates) => self.pass(segment),
            None => self.unknown(segment),
        }
    }
}

impl<S: EventSink> Sink for Classifier<'_, S> {
    fn segment(&mut self, segment: &Segment<'_>) {
        if segment.text.len() >= LONG
            && let Some(pieces) = self.paste.get_or_init(|| Paste::of(self.packs)).split(segment.text)
        {
            let mut place = segment.place;
            for piece in &pieces {
                place.segment = place.segment.max(1) + 1;
                self.one(&Segment { text: piece.as_bytes(), place, ..*segment });
            }
            return;
        }
        self.one(segment);
    }

    fn bar(&mut self, place: Place, bar: Bar) {
        self.tally.bars += 1;
        let at = At { place, text: b"", rule: "progress-bar", stamp: None, level: None, cut: false, glued: false };
        let event = Event { at, what: &What::Bar(bar), rule: None, indent: 0, tagged: false, nested: false };
        self.sink.event(&event);
    }
}

/// A frame, a rule or an arrow: neither a letter nor a digit.
fn is_decoration(text: &[u8]) -> bool {
    !text.iter().any(u8::is_ascii_alphanumeric)
        && (text.is_ascii() || std::str::from_utf8(text).is_ok_and(|text| !text.chars().any(char::is_alphanumeric)))
}

/// A level's name with its colon, and what stands behind it.
fn split_level(text: &[u8]) -> Option<(Level, &[u8])> {
    let (name, rest) = text.split_at_checked(memchr::memchr(b':', text.get(..9).unwrap_or(text))?)?;
    let rest = rest.strip_prefix(b": ").filter(|rest| !rest.is_empty())?;
    Some((level_of(name)?, rest))
}

/// The shell's sign that the command goes on in the next line.
fn continues(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'\\' | b'^'))
}
