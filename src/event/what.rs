//! What a rule's line says: its captures and constants become the typed parts of an event.

use std::borrow::Cow;

use super::oom::{OomPhrases, Sizes, add_captures};
use super::size::{MIB, capture_bytes, number};
use super::{Array, Dimensions, FactValue, Fields, OomNumbers, What, Whose, split_exception};
use crate::catalog::{CaptureType, Constant, EventKind, Lent, Rule};

/// The value of a capture of a fact; none when it holds nothing that could be one.
pub(super) fn fact_value<'a>(name: &str, kind: &CaptureType, text: &'a [u8]) -> Option<FactValue<'a>> {
    if name.ends_with("_mib") {
        return capture_bytes(kind, text).map(|bytes| FactValue::Number(bytes / MIB));
    }
    let text = unicode(text);
    Some(match kind {
        CaptureType::Int | CaptureType::Float | CaptureType::Seconds | CaptureType::Bytes => {
            FactValue::Number(text.parse().ok().filter(|number: &f64| number.is_finite())?)
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

    fn whose(&self) -> Whose<'t> {
        let said = |name, whose: fn(Cow<'t, str>) -> Whose<'t>| self.text(name).map(whose);
        said("name", Whose::Process)
            .or_else(|| said("command", Whose::Command))
            .or_else(|| said("service", Whose::Service))
            .unwrap_or(Whose::Unsaid)
    }

    /// Seconds; a text of more than ten minutes gives them as hours, minutes and seconds.
    fn duration(&self) -> f64 {
        let part = |name, factor: f64| self.number(name).map_or(0.0, |number| number * factor);
        part("hours", 3600.0) + part("minutes", 60.0) + part("seconds", 1.0)
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.number(name).filter(|number| *number >= 1.0).map(|number| number as u64)
    }

    /// `size` stands for `832x480`.
    fn dimensions(&self) -> Dimensions {
        let size = self.text("size");
        let sides = size.as_deref().and_then(|size| size.split_once('x'));
        let side = |text: &str| text.trim().parse().ok();
        Dimensions {
            frames: self.count("frames"),
            width: self.count("width").or_else(|| side(sides?.0)),
            height: self.count("height").or_else(|| side(sides?.1)),
            channels: self.count("channels"),
        }
    }

    /// numpy's `(2433, 720, 512, 3)` with its `float32`.
    fn array(&self) -> Option<Array> {
        let text = self.text("shape")?;
        let numbers = text.trim().trim_start_matches('(').trim_end_matches(')').split(',');
        let shape: Vec<u64> = numbers.filter_map(|number| number.trim().parse().ok()).collect();
        let bits = self.text("dtype").map(|dtype| {
            let bits: String = dtype.trim().chars().filter(char::is_ascii_digit).take(3).collect();
            bits.parse::<u64>().unwrap_or(0)
        });
        (!shape.is_empty()).then(|| Array { shape, bytes: bits.filter(|bits| *bits >= 8).map(|bits| bits / 8) })
    }

    fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }
}

/// What a line of `rule` says.
// Long: one `match` with an arm for each kind of event.
pub(super) fn what_of<'t>(
    rule: &'t Rule,
    captures: Lent<'_, 't, 't>,
    text: &'t [u8],
    phrases: OomPhrases<'t>,
) -> What<'t> {
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
        EventKind::PromptExecuted => What::PromptExecuted { seconds: read.duration() },
        EventKind::PromptInvalid => What::PromptInvalid { fields: fields(rule, captures) },
        EventKind::PromptDetail => What::PromptDetail { fields: fields(rule, captures) },
        EventKind::OutputIgnored => What::OutputIgnored,
        EventKind::RequestFailed => What::RequestFailed,
        EventKind::ThreadDied => What::ThreadDied { name: read.owned("name"), worker: rule.sets("worker") },
        EventKind::PromptInterrupted => What::PromptInterrupted,
        EventKind::LoadRequested => What::LoadRequested { class: read.owned("class") },
        EventKind::LoadComplete => {
            What::LoadComplete { class: read.text("class"), loaded: read.bytes("loaded"), usable: read.bytes("usable") }
        }
        EventKind::LoadPartial => What::LoadPartial {
            class: read.text("class"),
            loaded: read.bytes("loaded"),
            offloaded: read.bytes("offloaded"),
        },
        EventKind::LoadDynamic => {
            What::LoadDynamic { class: read.owned("class"), staged: read.bytes("staged").unwrap_or(0.0) }
        }
        EventKind::LoadOld => What::LoadOld,
        EventKind::Loader => What::Loader { part: kind(), device: read.owned("load") },
        EventKind::Unload => What::Unload { count: read.number("count").unwrap_or(0.0) as u64 },
        EventKind::UnloadPartial => What::UnloadPartial { freed: read.bytes("freed") },
        EventKind::UnloadDetail => What::UnloadDetail,
        EventKind::LeakPotential => What::LeakPotential { class: read.owned("class") },
        EventKind::LeakWarning => What::LeakWarning { class: read.owned("class") },
        EventKind::Exception => What::Exception { message: read.owned("message"), node: read.text("node") },
        EventKind::TracebackStart => What::TracebackStart { stack: rule.sets("stack") },
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
        EventKind::Dimensions => What::Dimensions(read.dimensions()),
        EventKind::HostOom => What::HostOom { kind: kind(), requested: read.bytes("requested"), array: read.array() },
        EventKind::KernelOom => What::KernelOom { constraint: read.owned("constraint"), whose: read.whose() },
        EventKind::KernelKill => What::KernelKill {
            pid: read.number("pid").unwrap_or(0.0) as u64,
            name: read.owned("name"),
            anon_rss: read.bytes("anon_rss"),
            cgroup: rule.sets("cgroup") || read.flag("cgroup"),
        },
        EventKind::Kill if rule.sets("oom_killed") => What::OomKilledFlag { value: true },
        EventKind::Kill => What::Kill { whose: read.whose() },
        EventKind::OomDaemon => What::OomDaemon { whose: read.whose() },
        EventKind::Exit => {
            let code = read.number("code").or_else(|| constant_number(rule, "code"));
            What::Exit { code: code.unwrap_or(0.0) as i64, whose: read.whose() }
        }
        EventKind::Crash => What::Crash { whose: read.whose() },
        EventKind::Stop => What::Stop { whose: read.whose(), explains: rule.sets("explains") },
        EventKind::GaveUp => What::GaveUp { whose: read.whose(), kind: kind() },
        EventKind::Pause => What::Pause,
        EventKind::ContainerHint => What::ContainerHint,
        EventKind::ContainerLimit => match read.bytes("limit") {
            Some(bytes) => What::ContainerLimit { bytes },
            None => What::ContainerHint,
        },
        EventKind::OomKilledFlag => What::OomKilledFlag { value: read.flag("value") },
        EventKind::OomNotCounted => What::OomNotCounted,
        EventKind::ImportRow => What::ImportRow {
            seconds: read.number("seconds").unwrap_or(0.0),
            path: read.owned("path"),
            failed: rule.sets("failed"),
        },
        EventKind::ImportFailed => What::ImportFailed {
            path: read.owned("path"),
            reason: read.text("reason").or_else(|| constant_text(rule, "reason")).unwrap_or_default(),
        },
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
                // The whole sentence: what a capture holds is only the part of it that differs.
                message: split_exception(text)
                    .map(|(_, message)| String::from_utf8_lossy(message))
                    .or_else(|| read.text("message").or_else(|| read.text("detail")))
                    .unwrap_or_default(),
            },
            None => What::ErrorNotice,
        },
        EventKind::Noise => What::Noise,
    }
}

/// What a refusal's line names, and its kind where the rule tells it.
fn fields<'t>(rule: &'t Rule, captures: Lent<'_, 't, 't>) -> Fields<'t> {
    let told = captures.iter().map(|capture| (capture.name, unicode(capture.text)));
    let kind = constant_text(rule, "kind").map(|kind| ("kind", kind));
    told.chain(kind).collect()
}

fn constant_number(rule: &Rule, name: &str) -> Option<f64> {
    match rule.constant(name) {
        Some(Constant::Number(number)) => Some(*number),
        _ => None,
    }
}

fn constant_text<'t>(rule: &'t Rule, name: &str) -> Option<Cow<'t, str>> {
    match rule.constant(name) {
        Some(Constant::Text(text)) => Some(Cow::Borrowed(text)),
        _ => None,
    }
}
