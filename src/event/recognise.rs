//! Segments become events: rule lookup, the texts inside messages, and the few things no rule can say
//! (a traceback's last line, a typed command).

use std::borrow::Cow;

use memchr::memmem::Finder;
use serde::Serialize;

use super::behind::Broken;
use super::command_line::looks_like_launch;
use super::exception::split_exception;
use super::hint::{GAP, Hint, MAIN};
use super::learn::Learner;
use super::oom::{OomPhrases, Sizes, add_captures};
use super::size::{MIB, capture_bytes, number};
use super::{At, Event, EventSink, FactValue, OomNumbers, What};
use crate::input::{Bar, Place, Segment, Sink};
use crate::rule::{CaptureType, Constant, EventKind, Found, Lent, Packs, Rule, Spans};

/// Keys of a rule's `set` that speak to its own event and are no facts.
const RESERVED: [&str; 9] = ["kind", "failed", "weak", "message", "func", "type", "reason", "cgroup", "oom_killed"];
/// Lines after an allocator's message in which its sentence may go on.
const OOM_CONTINUES: u8 = 4;
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
pub struct Recogniser<'p, S> {
    pub(super) packs: &'p Packs,
    sink: S,
    pub(super) tally: Tally,
    hint: Hint,
    pub(super) learner: Learner,
    pub(super) broken: Broken,
    main_py: Finder<'static>,
    gap: Finder<'static>,
    command_continues: bool,
    oom_continues: u8,
    /// Start of an allocator's sentence that was wrapped by hand, kept to join with its next line.
    oom_text: Vec<u8>,
}

impl<'p, S: EventSink> Recogniser<'p, S> {
    pub fn new(packs: &'p Packs, sink: S) -> Self {
        Self {
            packs,
            sink,
            tally: Tally::default(),
            hint: Hint::new(),
            learner: Learner::default(),
            broken: Broken::default(),
            main_py: Finder::new(MAIN),
            gap: Finder::new(GAP),
            command_continues: false,
            oom_continues: 0,
            oom_text: Vec::new(),
        }
    }

    /// The sink with everything it was told, and how much was understood.
    pub fn into_parts(self) -> (S, Tally) {
        (self.sink, self.tally)
    }

    /// The sink, to look at it while the log still grows.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// How much was understood up to now.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Matches `text` and what is left of it. False when its beginning is unknown.
    pub(super) fn texts<'t>(&mut self, segment: &Segment<'t>, text: &'t [u8], nested: bool) -> bool {
        let mut spans = Spans::new();
        let found = self.packs.matcher().look_up(text, &mut spans);
        self.texts_from(segment, text, found, &mut spans, nested)
    }

    /// The same, when the first look-up was made.
    fn texts_from<'t>(
        &mut self,
        segment: &Segment<'t>,
        text: &'t [u8],
        found: Option<Found<'p, 't>>,
        spans: &mut Spans,
        nested: bool,
    ) -> bool
    where
        'p: 't,
    {
        let Some(mut hit) = found else { return false };
        let mut at = at_of(segment, text);
        let mut rest = text;
        let packs = self.packs;
        for part in 0..TEXTS_PER_LINE {
            if part > 0 {
                at.place.segment = at.place.segment.max(1) + 1;
            }
            self.count(hit.rule);
            self.emit(segment, at, hit, hit.captures(rest, spans), nested || part > 0);
            rest = hit.tail;
            if rest.is_empty() {
                break;
            }
            match packs.matcher().look_up(rest, spans) {
                Some(next) => hit = next,
                None => break,
            }
        }
        true
    }

    /// A segment whose rule was looked up before; see `ahead`.
    pub(super) fn segment_known<'t>(&mut self, segment: &Segment<'t>, found: Option<Found<'p, 't>>, spans: &mut Spans)
    where
        'p: 't,
    {
        self.tally.texts += 1;
        if !self.texts_from(segment, segment.text, found, spans, false) {
            self.unknown(segment);
        } else if segment.indent == 0 && self.oom_continues > 0 {
            self.oom_continues -= 1;
        }
    }

    /// The rules that texts are looked up in.
    pub(super) fn packs(&self) -> &'p Packs {
        self.packs
    }

    fn count(&mut self, rule: &Rule) {
        self.tally.understood += 1;
        if rule.noise {
            self.tally.noise += 1;
        }
        if rule.event.is_comfyui() {
            self.tally.comfyui += 1;
        } else if self.tally.comfyui == 0 && rule.is_kin() {
            self.tally.kin += 1;
        }
    }

    fn send<'e>(&mut self, segment: &Segment<'_>, at: At<'e>, what: What<'e>, rule: Option<&'e Rule>, nested: bool) {
        let (indent, tagged) = (segment.indent, segment.tagged);
        self.sink.event(&Event { at, what: &what, rule, indent, tagged, nested });
    }

    fn emit<'t>(
        &mut self,
        segment: &Segment<'t>,
        at: At<'t>,
        hit: Found<'p, 't>,
        captures: Lent<'_, 'p, 't>,
        nested: bool,
    ) where
        'p: 't,
    {
        let rule = hit.rule;
        let at = At { text: hit.text, rule: &rule.id, ..at };
        let weak = rule.sets("weak");
        if rule.event == EventKind::Fact {
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
            return;
        }
        self.send_constants(segment, at, rule, weak, nested);
        self.command_continues = rule.event == EventKind::Launch && continues(segment.text);
        if rule.event == EventKind::Oom {
            self.oom_continues = OOM_CONTINUES;
            self.oom_text.clear();
            self.oom_text.extend_from_slice(hit.text.get(..hit.text.len().min(4096)).unwrap_or_default());
        }
        let phrases = OomPhrases(self.packs.oom_phrases());
        let (indent, tagged) = (segment.indent, segment.tagged);
        let what = what_of(rule, captures, hit.text, phrases);
        self.sink.event(&Event { at, what: &what, rule: Some(rule), indent, tagged, nested });
        if rule.has_message()
            && let Some(message) = captures.iter().find(|capture| *capture.kind == CaptureType::Message)
            && !message.text.is_empty()
        {
            self.message(segment, message.text);
        }
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
            if RESERVED.contains(&&**name) {
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
        if self.joined(segment) {
            return;
        }
        if (self.learner.knows() || self.learner.looks(self.tally.comfyui)) && self.behind_prefix(segment) {
            return;
        }
        self.unknown_text(segment);
    }

    pub(super) fn unknown_text<'t>(&mut self, segment: &Segment<'t>) {
        let text = segment.text;
        let at = at_of(segment, text);
        if let Some((kind, message)) = split_exception(text) {
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
        let suspicious = self.hint.launch_or_gap(text);
        if self.command_continues || (suspicious && self.is_launch(segment)) {
            self.command_continues = continues(text);
            self.tally.understood += 1;
            let at = At { rule: "command-line", ..at };
            self.send(segment, at, What::Launch { args: String::from_utf8_lossy(text) }, None, false);
            return;
        }
        if self.oom_continues > 0 {
            self.oom_continues -= 1;
            if self.wrapped_oom(segment, at) {
                return;
            }
        }
        if suspicious && self.gap.find(text).is_some() && self.split_at_gaps(segment) {
            return;
        }
        self.sink.unknown(&at);
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
        let before = OomPhrases(self.packs.oom_phrases()).read(&self.oom_text).0;
        self.oom_text.push(b' ');
        self.oom_text.extend_from_slice(segment.text.get(..segment.text.len().min(4096)).unwrap_or_default());
        let joined = OomPhrases(self.packs.oom_phrases()).read(&self.oom_text);
        if joined.0 == before {
            return false;
        }
        self.tally.understood += 1;
        let sizes = joined
            .1
            .into_iter()
            .map(|(name, size)| (Cow::Owned(name.into_owned()), Cow::Owned(size.into_owned())))
            .collect();
        let what = What::OomField { numbers: Box::new(joined.0), sizes };
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

impl<S: EventSink> Sink for Recogniser<'_, S> {
    fn segment(&mut self, segment: &Segment<'_>) {
        let mut spans = Spans::new();
        let found = self.packs.matcher().look_up(segment.text, &mut spans);
        self.segment_known(segment, found, &mut spans);
    }

    fn bar(&mut self, place: Place, bar: Bar) {
        self.tally.bars += 1;
        let at = At { place, text: b"", rule: "progress-bar", stamp: None, level: None, cut: false, glued: false };
        let event = Event { at, what: &What::Bar(bar), rule: None, indent: 0, tagged: false, nested: false };
        self.sink.event(&event);
    }
}

/// Where a text of a segment stands, before its rule is known.
#[inline]
fn at_of<'t>(segment: &Segment<'t>, text: &'t [u8]) -> At<'t> {
    let Segment { place, stamp, level, cut, glued, .. } = *segment;
    At { place, text, rule: "", stamp, level, cut, glued }
}

/// The shell's sign that the command goes on in the next line.
fn continues(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'\\' | b'^'))
}

fn fact_value<'a>(name: &str, kind: &CaptureType, text: &'a [u8]) -> Option<FactValue<'a>> {
    if name.ends_with("_mib") {
        return capture_bytes(kind, text).map(|bytes| FactValue::Number(bytes / MIB));
    }
    let text = unicode(text);
    Some(match kind {
        CaptureType::Int | CaptureType::Float | CaptureType::Seconds | CaptureType::Bytes => {
            FactValue::Number(text.parse().ok()?)
        }
        CaptureType::Bool => FactValue::Bool(text.eq_ignore_ascii_case("true")),
        _ if text.trim().is_empty() => return None,
        _ => FactValue::Text(text),
    })
}

/// Text as Unicode. Nearly all of it is, and checking that alone is cheaper than looking for what to replace.
fn unicode(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(text),
    }
}

/// Shorthand access to a match's captures.
struct Read<'s, 'r, 't>(Lent<'s, 'r, 't>);

impl<'t> Read<'_, '_, 't> {
    #[inline(always)]
    fn text(&self, name: &str) -> Option<Cow<'t, str>> {
        self.0.get(name).map(|capture| unicode(capture.text))
    }

    #[inline(always)]
    fn owned(&self, name: &str) -> Cow<'t, str> {
        self.text(name).unwrap_or_default()
    }

    #[inline(always)]
    fn number(&self, name: &str) -> Option<f64> {
        number(self.0.get(name)?.text)
    }

    #[inline(always)]
    fn bytes(&self, name: &str) -> Option<f64> {
        let capture = self.0.get(name)?;
        capture_bytes(capture.kind, capture.text)
    }

    fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }
}

fn what_of<'t>(rule: &'t Rule, captures: Lent<'_, 't, 't>, text: &'t [u8], phrases: OomPhrases<'t>) -> What<'t> {
    let read = Read(captures);
    let kind = || match rule.constant("kind") {
        Some(Constant::Text(kind)) => Cow::Borrowed(kind.as_str()),
        _ => read.owned("kind"),
    };
    match rule.event {
        EventKind::Fact | EventKind::Notice => What::Notice,
        EventKind::Launch => What::Launch { args: read.owned("args") },
        EventKind::ServerStart => What::ServerStart,
        EventKind::ServerReady => What::ServerReady,
        EventKind::PromptGot => What::PromptGot,
        EventKind::PromptExecuted => What::PromptExecuted { seconds: read.number("seconds").unwrap_or(0.0) },
        EventKind::PromptInvalid => What::PromptInvalid,
        EventKind::PromptDetail => What::PromptDetail,
        EventKind::PromptInterrupted => What::PromptInterrupted,
        EventKind::LoadRequested => What::LoadRequested { class: read.owned("class") },
        EventKind::LoadComplete => What::LoadComplete { class: read.text("class"), loaded: read.bytes("loaded") },
        EventKind::LoadPartial => What::LoadPartial {
            class: read.text("class"),
            loaded: read.bytes("loaded"),
            offloaded: read.bytes("offloaded"),
        },
        EventKind::LoadDynamic => {
            What::LoadDynamic { class: read.owned("class"), staged: read.bytes("staged").unwrap_or(0.0) }
        }
        EventKind::LoadOld => What::LoadOld,
        EventKind::Loader => What::Loader,
        EventKind::Unload => What::Unload { count: read.number("count").unwrap_or(0.0) as u64 },
        EventKind::UnloadPartial => What::UnloadPartial { freed: read.bytes("freed") },
        EventKind::UnloadDetail => What::UnloadDetail,
        EventKind::LeakPotential => What::LeakPotential { class: read.owned("class") },
        EventKind::LeakWarning => What::LeakWarning { class: read.owned("class") },
        EventKind::Exception => What::Exception { message: read.owned("message") },
        EventKind::TracebackStart => What::TracebackStart,
        EventKind::TracebackFrame => What::TracebackFrame {
            file: read.owned("file"),
            line: read.number("line").unwrap_or(0.0) as u64,
            function: read.owned("func"),
        },
        EventKind::ExceptionLine => What::ExceptionLine { kind: read.owned("type"), message: read.owned("message") },
        EventKind::Oom => {
            let (mut numbers, mut sizes) = phrases.read(text);
            add_captures(captures, false, &mut numbers, &mut sizes);
            What::Oom { kind: kind(), numbers: Box::new(numbers), sizes }
        }
        EventKind::OomField => {
            let mut numbers = OomNumbers::default();
            let mut sizes: Sizes<'t> = Vec::new();
            add_captures(captures, false, &mut numbers, &mut sizes);
            What::OomField { numbers: Box::new(numbers), sizes }
        }
        EventKind::OomUnload => What::OomUnload,
        EventKind::OomTip => What::OomTip,
        EventKind::OomSummary => What::OomSummary,
        EventKind::TiledRetry => What::TiledRetry,
        EventKind::AttentionRetry => What::AttentionRetry,
        EventKind::HostOom => What::HostOom { kind: kind(), requested: read.bytes("requested") },
        EventKind::KernelOom => What::KernelOom { constraint: read.owned("constraint") },
        EventKind::KernelKill => What::KernelKill {
            pid: read.number("pid").unwrap_or(0.0) as u64,
            name: read.owned("name"),
            anon_rss: read.bytes("anon_rss"),
            cgroup: rule.sets("cgroup") || read.flag("cgroup"),
        },
        EventKind::Kill if rule.sets("oom_killed") => What::OomKilledFlag { value: true },
        EventKind::Kill => What::Kill,
        EventKind::OomDaemon => What::OomDaemon,
        EventKind::Exit => What::Exit { code: read.number("code").unwrap_or(0.0) as i64 },
        EventKind::Crash => What::Crash,
        EventKind::Stop => What::Stop,
        EventKind::Pause => What::Pause,
        EventKind::ContainerHint => What::ContainerHint,
        EventKind::ContainerLimit => match read.bytes("limit") {
            Some(bytes) => What::ContainerLimit { bytes },
            None => What::ContainerHint,
        },
        EventKind::OomKilledFlag => What::OomKilledFlag { value: read.flag("value") },
        EventKind::ImportRow => What::ImportRow {
            seconds: read.number("seconds").unwrap_or(0.0),
            path: read.owned("path"),
            failed: rule.sets("failed"),
        },
        EventKind::ImportFailed => What::ImportFailed { path: read.owned("path"), reason: read.owned("reason") },
        EventKind::NodesDisabled => What::NodesDisabled,
        EventKind::NodeSkipped => What::NodeSkipped { name: read.owned("name") },
        EventKind::PinError => What::PinError,
        EventKind::Aimdo => What::Aimdo { level: read.owned("level"), message: read.owned("message") },
        EventKind::CacheEvict => What::CacheEvict { active: read.flag("active"), full: read.flag("full") },
        EventKind::PinEvict => What::PinEvict { freed: read.bytes("freed") },
        EventKind::DetailLoad => {
            What::DetailLoad { class: read.owned("class"), ram: read.bytes("ram"), vram: read.bytes("vram") }
        }
        EventKind::DeviceClone => What::DeviceClone { class: read.owned("class"), device: read.owned("device") },
        EventKind::ReportField => match captures.iter().next() {
            Some(capture) => What::ReportField { name: capture.name, value: String::from_utf8_lossy(capture.text) },
            None => What::Notice,
        },
        EventKind::ReportStart => What::ReportStart,
        EventKind::ReportSection => What::ReportSection { section: read.owned("section") },
        EventKind::ErrorNotice => match read.text("type").or_else(|| constant_text(rule, "type")) {
            Some(kind) => What::ExceptionLine {
                kind,
                message: read.text("message").or_else(|| read.text("detail")).unwrap_or_default(),
            },
            None => What::ErrorNotice,
        },
        EventKind::Noise => What::Noise,
    }
}

fn constant_text<'t>(rule: &'t Rule, name: &str) -> Option<Cow<'t, str>> {
    match rule.constant(name) {
        Some(Constant::Text(text)) => Some(Cow::Borrowed(text)),
        _ => None,
    }
}
