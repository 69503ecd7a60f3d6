//! Whole logs without what is private: read for an answer, or written out to be shared.
//!
//! A log is gone through once before anything is shown, so that a name which only a late line gives away is
//! replaced from the first line on. What is private is decided in `redact`; this knows lines, windows and JSON.

use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Write};

use serde::de::IgnoredAny;

use super::clean_json::rewrite;
use crate::catalog::Packs;
use crate::input::{CodePage, InputError, Raw, RawLine, Source};
use crate::redact::{Checked, Redactor, Window, width};

/// Opens the same log again and again.
pub type Open<'o> = dyn Fn() -> Result<Source<'static>, InputError> + 'o;

/// Broken lines that are put together, and their bytes.
const JOINED: (usize, usize) = (64, 16 * 1024);

/// How a log is written.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// It is one JSON value.
    json: bool,
    window: Window,
    /// The code page of its lines.
    page: CodePage,
    quiet: Quiet,
}

/// Lines, one bit each, in which nothing was found that is private: they need not be searched again.
#[derive(Debug, Clone, Default)]
struct Quiet {
    bits: Vec<u8>,
    lines: usize,
    /// Tells whether the same lines are read again.
    hash: DefaultHasher,
}

/// Bytes of such bits; lines behind them are searched again.
const QUIET: usize = 2 * 1024 * 1024;

impl Quiet {
    /// Takes note of the next line.
    fn put(&mut self, line: &str, quiet: bool) {
        self.hash.write(line.as_bytes());
        if self.lines / 8 < QUIET {
            if self.lines.is_multiple_of(8) {
                self.bits.push(0);
            }
            if let Some(last) = self.bits.last_mut() {
                *last |= u8::from(quiet) << (self.lines % 8);
            }
        }
        self.lines += 1;
    }

    /// What was noted of this line.
    fn is(&self, line: usize) -> bool {
        self.bits.get(line / 8).is_some_and(|bits| bits >> (line % 8) & 1 == 1)
    }
}

/// A redactor that knows the words of ComfyUI's own lines.
#[must_use]
pub fn redactor(packs: &Packs) -> Redactor {
    let lines = packs.matcher().rules().iter().flat_map(|rule| packs.prose_list("message", &rule.id, "match"));
    let classes =
        packs.classes.iter().flat_map(|class| class.name.as_deref().into_iter().chain(class.pattern.as_deref()));
    let vocabulary = lines.chain(classes).chain(packs.nodes.iter().map(|node| node.name.as_str()));
    Redactor::new(vocabulary, &packs.node_folders().collect::<Vec<_>>())
}

/// Takes note of everything private in a log; how the log is written.
///
/// # Errors
/// What the input layer says: missing, unreadable, empty, a folder.
pub fn learn(open: &Open<'_>, redactor: &mut Redactor) -> Result<Survey, InputError> {
    let mut survey = survey(open)?;
    redactor.begin();
    if survey.json {
        // Taking notes writes nothing: only what each text holds counts.
        let _ = rewrite(Raw::new(open()?), &mut io::sink(), &mut |key, text| {
            redactor.in_field(key.unwrap_or_default(), |redactor| {
                text.lines().for_each(|line| {
                    redactor.learn(line);
                });
            });
            if let Some(key) = key.filter(|_| !text.contains('\n')) {
                redactor.in_field("", |redactor| redactor.learn(&serde_json::json!({ key: text }).to_string()));
            }
            text.to_owned()
        });
        return Ok(survey);
    }
    let mut raw = Raw::with(open()?, survey.page);
    let mut group = Group::default();
    while let Some(line) = raw.next() {
        let alone = !group.open && is_alone(&line.text, &survey.window);
        let quiet = alone && redactor.learn(&line.text);
        survey.quiet.put(&line.text, quiet);
        if !alone && group.take(&line, &survey.window) {
            group.each(|lines, redrawn| redactor.learn_lines(lines, redrawn));
        }
    }
    group.each(|lines, redrawn| redactor.learn_lines(lines, redrawn));
    Ok(survey)
}

/// How wide the lines of a log are, and whether it is JSON.
fn survey(open: &Open<'_>) -> Result<Survey, InputError> {
    let mut survey = Survey::default();
    let mut raw = Raw::new(open()?);
    let mut first = true;
    let mut may_be_json = false;
    let mut before = String::new();
    while let Some(RawLine { text, .. }) = raw.next() {
        if first && !text.trim().is_empty() {
            may_be_json = text.trim_start().starts_with(['{', '[', '"']);
            first = false;
        }
        // A console may print each line twice: that makes no window as wide as they are.
        if text != before {
            survey.window.put(width(&text));
            before.clear();
            before.push_str(&text);
        }
    }
    survey.page = raw.code_page();
    raw.conclude()?;
    survey.json = may_be_json && serde_json::from_reader::<_, IgnoredAny>(Raw::new(open()?)).is_ok();
    Ok(survey)
}

/// The line is not redrawn, and does not go on in the next one.
fn is_alone(text: &str, window: &Window) -> bool {
    memchr::memchr(b'\r', text.as_bytes()).is_none() && !is_full(text, window)
}

/// The line is as wide as the window.
fn is_full(text: &str, window: &Window) -> bool {
    Window::may_be_full(text.len()) && window.is_full(width(text))
}

/// Lines that a window broke, as they come.
#[derive(Debug, Default)]
struct Group {
    texts: Vec<String>,
    ends: Vec<String>,
    bytes: usize,
    lines: usize,
    /// The last line goes on in the next one.
    open: bool,
}

impl Group {
    /// Takes a line with its redrawn parts; true when the group is whole.
    fn take(&mut self, line: &RawLine<'_>, window: &Window) -> bool {
        if !self.open {
            self.texts.clear();
            self.ends.clear();
            self.bytes = 0;
            self.lines = 0;
        }
        self.lines += 1;
        // Redrawn bars share a line with what was written behind them.
        for part in line.text.split('\r') {
            self.texts.push(part.to_owned());
            self.ends.push("\r".to_owned());
        }
        if let Some(end) = self.ends.last_mut() {
            *end = line.end.to_owned();
        }
        self.bytes += line.text.len();
        let full = self.texts.last().is_some_and(|last| is_full(last, window));
        self.open = full && self.texts.len() < JOINED.0 && self.bytes < JOINED.1;
        !self.open
    }

    /// Hands on what was taken, in pieces that may be put together.
    fn each(&mut self, mut to: impl FnMut(&[&str], bool)) {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let redrawn = self.lines == 1;
        texts.chunks(JOINED.0).for_each(|lines| to(lines, redrawn));
        self.open = false;
        self.texts.clear();
    }

    /// Writes what was taken.
    fn write(&mut self, redactor: &mut Redactor, out: &mut dyn Write) -> io::Result<()> {
        let mut clean = Vec::with_capacity(self.texts.len());
        let ends = std::mem::take(&mut self.ends);
        self.each(|lines, redrawn| clean.extend(redactor.lines(lines, redrawn)));
        clean.iter().zip(&ends).try_for_each(|(text, end)| {
            out.write_all(text.as_bytes())?;
            out.write_all(end.as_bytes())
        })
    }
}

/// What is not in a log that was written.
#[derive(Debug, Default)]
pub struct Missing {
    /// Bytes behind lines longer than any that is looked at.
    pub bytes: u64,
    /// Why the reading ended before the log's end.
    pub broken: Option<String>,
}

/// Writes the log as UTF-8 without what is private. Lines keep their numbers; colours are dropped. Returns what was
/// left out.
///
/// # Errors
/// The outer error is one of reading (also: the log changed since it was learned), the inner one of writing.
pub fn write_clean(
    open: &Open<'_>,
    survey: &Survey,
    redactor: &mut Redactor,
    out: &mut dyn Write,
) -> Result<io::Result<Missing>, InputError> {
    redactor.begin();
    let source = open()?;
    let name = source.name.clone();
    let mut raw = Raw::with(source, survey.page);
    if survey.json {
        let written = rewrite(raw, out, &mut |key, text| clean_string(redactor, key, text));
        return Ok(written.map(|()| Missing::default()));
    }
    let mut group = Group::default();
    let (mut number, mut lost) = (0, 0);
    let mut hash = DefaultHasher::new();
    while let Some(line) = raw.next() {
        lost += line.lost;
        if number < survey.quiet.lines {
            hash.write(line.text.as_bytes());
        }
        let written = if !group.open && is_alone(&line.text, &survey.window) {
            let quiet = survey.quiet.is(number);
            let clean = if quiet { redactor.quiet_line(&line.text) } else { redactor.line(&line.text).into() };
            out.write_all(clean.as_bytes()).and_then(|()| out.write_all(line.end.as_bytes()))
        } else if group.take(&line, &survey.window) {
            group.write(redactor, out)
        } else {
            Ok(())
        };
        if let Err(error) = written {
            return Ok(Err(error));
        }
        number += 1;
    }
    // What was noted of its lines is true of no others.
    if number < survey.quiet.lines || hash.finish() != survey.quiet.hash.finish() {
        return Err(InputError::Changed { name });
    }
    let missing = Missing { bytes: lost, broken: raw.broken() };
    Ok(if group.open { group.write(redactor, out).map(|()| missing) } else { Ok(missing) })
}

/// A string of a JSON log, line by line, and once more with its key, which may be what makes it private.
fn clean_string(redactor: &mut Redactor, key: Option<&str>, text: &str) -> String {
    let clean: String = redactor.in_field(key.unwrap_or_default(), |redactor| {
        text.split_inclusive('\n')
            .map(|line| {
                let body = line.trim_end_matches(['\r', '\n']);
                format!("{}{}", redactor.line(body), line.get(body.len()..).unwrap_or_default())
            })
            .collect()
    });
    let Some(key) = key.filter(|_| !clean.contains('\n')) else { return clean };
    let field = redactor.in_field("", |redactor| redactor.line(&serde_json::json!({ key: clean }).to_string()));
    let value = serde_json::from_str::<serde_json::Value>(&field).ok();
    value.as_ref().and_then(|value| value.get(key)?.as_str()).map_or(clean, str::to_owned)
}

/// Looks through what is about to be shown, with the same reader.
///
/// # Errors
/// What the input layer says of `source`.
pub fn checked(source: Source<'_>, redactor: &Redactor) -> Result<Checked, InputError> {
    let mut checker = redactor.checker();
    let mut raw = Raw::new(source);
    while let Some(line) = raw.next() {
        checker.line(&line.text);
    }
    raw.conclude()?;
    Ok(checker.end())
}
