//! Whole logs without what is private: read for an answer, or written out to be shared.
//!
//! A log is gone through once before anything is shown, so that a name which only a late line gives away is
//! replaced from the first line on. What is private is decided in `redact`; this knows encodings and line ends.

use std::io::{self, BufRead, BufReader, Read as _, Write};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use serde_json::Value;

use super::triage::Read;
use crate::catalog::Packs;
use crate::event::Classifier;
use crate::input::{self, Bar, InputError, Intake, Place, ReadOptions, Segment, Sink, Source};
use crate::redact::Redactor;
use crate::timeline::Fold;

/// Opens the same log again and again.
pub type Open<'o> = dyn Fn() -> Result<Source<'static>, InputError> + 'o;

/// A redactor that knows the words of ComfyUI's own lines.
#[must_use]
pub fn redactor(packs: &Packs) -> Redactor {
    let lines = packs.matcher().rules().iter().flat_map(|rule| packs.prose_list("message", &rule.id, "match"));
    let classes =
        packs.classes.iter().flat_map(|class| class.name.as_deref().into_iter().chain(class.pattern.as_deref()));
    let vocabulary = lines.chain(classes).chain(packs.nodes.iter().map(|node| node.name.as_str()));
    Redactor::new(vocabulary, &packs.node_folders().collect::<Vec<_>>())
}

/// Takes note of everything private in a log.
///
/// # Errors
/// What the input layer says: missing, unreadable, empty, a folder.
pub fn learn(open: &Open<'_>, redactor: &mut Redactor) -> Result<(), InputError> {
    redactor.begin();
    let mut each = |line: &str, _: &str| {
        redactor.learn(line);
        Ok(())
    };
    // Taking notes writes nothing, so only opening and reading can fail.
    let _ = lines(open, &mut each)?;
    Ok(())
}

/// Reads a log to its end; nothing private reaches the story.
///
/// # Errors
/// What the input layer says: missing, unreadable, empty, a folder.
pub fn read_clean(
    open: &Open<'_>,
    packs: &Packs,
    options: &ReadOptions,
    redactor: &mut Redactor,
) -> Result<Read, InputError> {
    redactor.begin();
    let mut sink = Clean { inner: Classifier::new(packs, Fold::new(packs)), redactor };
    let mut intake = input::read(open()?, &mut sink, options)?;
    let Clean { inner, redactor } = sink;
    let (fold, tally) = inner.into_parts();
    intake.sample = intake.sample.iter().map(|line| redactor.line(line)).collect();
    intake.truncated_by_error = intake.truncated_by_error.map(|error| redactor.line(&error));
    Ok(Read::new(fold.finish(), tally, intake))
}

/// Writes the log as UTF-8 without what is private. Lines keep their numbers; colours are dropped.
///
/// # Errors
/// The outer error is one of reading, the inner one of writing.
pub fn write_clean(
    open: &Open<'_>,
    redactor: &mut Redactor,
    out: &mut dyn Write,
) -> Result<io::Result<()>, InputError> {
    redactor.begin();
    let intake = input::read(open()?, &mut Nothing, &ReadOptions::default())?;
    if intake.json.is_some()
        && let Ok(mut value) = serde_json::from_str::<Value>(&text_of(open()?, &intake))
    {
        strings(&mut value, None, &mut |key, text| *text = clean_string(redactor, key, text));
        return Ok(serde_json::to_writer(&mut *out, &value)
            .map_err(io::Error::from)
            .and_then(|()| out.write_all(b"\n")));
    }
    let mut each = |line: &str, end: &str| {
        // Redrawn bars share a line with what was written behind them.
        let parts: Vec<String> = line.split('\r').map(|part| redactor.line(part)).collect();
        out.write_all(parts.join("\r").as_bytes())?;
        out.write_all(end.as_bytes())
    };
    lines(open, &mut each)
}

/// A string of a JSON log, line by line, and once more with its key, which may be what makes it private.
fn clean_string(redactor: &mut Redactor, key: Option<&str>, text: &str) -> String {
    let clean: String = text
        .split_inclusive('\n')
        .map(|line| {
            let body = line.trim_end_matches(['\r', '\n']);
            format!("{}{}", redactor.line(body), line.get(body.len()..).unwrap_or_default())
        })
        .collect();
    let Some(key) = key.filter(|_| !clean.contains('\n')) else { return clean };
    let field = redactor.line(&serde_json::json!({ key: clean }).to_string());
    let value = serde_json::from_str::<Value>(&field).ok();
    value.as_ref().and_then(|value| value.get(key)?.as_str()).map_or(clean, str::to_owned)
}

/// Hands on texts without what is private.
struct Clean<'r, S> {
    inner: S,
    redactor: &'r mut Redactor,
}

impl<S: Sink> Sink for Clean<'_, S> {
    fn segment(&mut self, segment: &Segment<'_>) {
        let text = String::from_utf8_lossy(segment.text);
        let clean = self.redactor.line(&text);
        self.inner.segment(&Segment { text: clean.as_bytes(), ..*segment });
    }

    fn bar(&mut self, place: Place, bar: Bar) {
        self.inner.bar(place, bar);
    }
}

/// Counts nothing: only how the log is written is asked.
struct Nothing;

impl Sink for Nothing {
    fn segment(&mut self, _: &Segment<'_>) {}
    fn bar(&mut self, _: Place, _: Bar) {}
}

type Each<'e> = dyn FnMut(&str, &str) -> io::Result<()> + 'e;

/// Every line of the file, decoded, with the line end that follows it. Strings of a JSON log count as lines.
fn lines(open: &Open<'_>, each: &mut Each<'_>) -> Result<io::Result<()>, InputError> {
    let intake = input::read(open()?, &mut Nothing, &ReadOptions::default())?;
    if intake.json.is_none() && !intake.encoding.starts_with("utf-16") {
        return Ok(streamed(open()?, &intake, each));
    }
    let text = text_of(open()?, &intake);
    let value = intake.json.and_then(|_| serde_json::from_str::<Value>(&text).ok());
    let Some(mut value) = value else { return Ok(text.split_inclusive('\n').try_for_each(|line| told(line, each))) };
    let mut fault = Ok(());
    strings(&mut value, None, &mut |key, text| {
        let context =
            key.filter(|_| !text.contains('\n')).map(|key| serde_json::json!({ key: text.as_str() }).to_string());
        for line in text.split_inclusive('\n').chain(context.as_deref()) {
            if fault.is_ok() {
                fault = told(line, each);
            }
        }
    });
    Ok(fault)
}

/// Line by line, so that the size does not matter. What is not UTF-8 is read in the code page that the log has.
fn streamed(source: Source<'_>, intake: &Intake, each: &mut Each<'_>) -> io::Result<()> {
    let legacy = Encoding::for_label(intake.encoding.as_bytes());
    let mut reader = BufReader::with_capacity(256 * 1024, source.reader);
    let mut bytes = Vec::new();
    let mut first = true;
    loop {
        bytes.clear();
        let ended = reader.read_until(b'\n', &mut bytes);
        // What stands before a broken end counts, as it does for an answer.
        if bytes.is_empty() {
            return Ok(());
        }
        let text = match (std::str::from_utf8(&bytes), legacy) {
            (Err(_), Some(legacy)) => legacy.decode_without_bom_handling(&bytes).0,
            _ => String::from_utf8_lossy(&bytes),
        };
        let text = if std::mem::take(&mut first) { text.trim_start_matches('\u{feff}') } else { &text };
        told(text, each)?;
        if ended.is_err() {
            return Ok(());
        }
    }
}

fn told(text: &str, each: &mut Each<'_>) -> io::Result<()> {
    let line = text.trim_end_matches(['\r', '\n']);
    each(line, text.get(line.len()..).unwrap_or_default())
}

/// All at once: wide encodings and JSON, which are small or rare.
fn text_of(mut source: Source<'_>, intake: &Intake) -> String {
    let mut bytes = Vec::new();
    // As above: a broken end is no reason to keep the rest back.
    let _ = source.reader.read_to_end(&mut bytes);
    let encoding = match intake.encoding {
        name if name.starts_with("utf-16be") => UTF_16BE,
        name if name.starts_with("utf-16le") => UTF_16LE,
        _ => UTF_8,
    };
    encoding.decode(&bytes).0.into_owned()
}

/// Every string of a value, with the key it stands behind.
fn strings(value: &mut Value, key: Option<&str>, each: &mut dyn FnMut(Option<&str>, &mut String)) {
    match value {
        Value::String(text) => each(key, text),
        Value::Array(items) => items.iter_mut().for_each(|item| strings(item, key, each)),
        Value::Object(fields) => fields.iter_mut().for_each(|(key, item)| strings(item, Some(key), each)),
        _ => {}
    }
}
