//! Text of a log becomes the same text without what is private: user and host names, addresses, keys, prompts,
//! names of files and folders. Equal things get equal tokens; versions, class names, node folders and numbers stay.
//!
//! Works on lines and knows no formats: `answer::clean` runs it over whole logs, before anything else
//! reads them, so that no later stage can show what it never saw.

mod accept;
mod check;
mod encodings;
mod found;
mod lookup;
mod names;
mod paths;
mod plain;
mod region;
mod rules;
mod scan;
mod search;
mod shapes;
mod tokens;
mod window;
mod words;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use memchr::memmem::Finder;
use regex::Regex;

pub use check::{Checked, Checker};
pub(crate) use plain::width;
pub use tokens::{Category, Replaced};
pub use window::Window;

use found::{Found, settle};
use names::Names;
use paths::Paths;
use plain::plain;
use region::{Region, Ruling};
use shapes::Shapes;
use tokens::Tokens;
use words::Vocabulary;

/// Fields of a JSON log that are told apart.
const FIELDS: usize = 64;
/// Ordinary names that are kept, to be told.
const STAYED: usize = 20;
/// Bytes of broken lines that are put together.
const JOINED: usize = 16 * 1024;

/// What stands in workflows and in nothing else.
static WORKFLOW: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| ["class_type", "widgets_values", "last_node_id", "last_link_id"].map(Finder::new));

/// What tokens begin with.
static TOKEN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("redacted-"));

/// Replaces what is private, line by line.
#[derive(Debug)]
pub struct Redactor {
    shapes: Shapes,
    token: Regex,
    tokens: Tokens,
    names: Names,
    vocabulary: Vocabulary,
    region: Region,
    /// The same for each field of a JSON log, whose texts come in turns.
    regions: BTreeMap<String, Region>,
    /// Accounts in telling places that are ordinary words and stay.
    stayed: BTreeSet<String>,
}

impl Redactor {
    /// A redactor that leaves the words of `vocabulary` alone where they stand by themselves: somebody may be
    /// called Max or Will, and still "max" and "will" are words of ComfyUI's own lines. So are names of what lies in
    /// `node_folders`.
    #[must_use]
    pub fn new<'v>(vocabulary: impl IntoIterator<Item = &'v str>, node_folders: &[&str]) -> Self {
        Self {
            shapes: Shapes::new(),
            token: pattern(r"redacted-(?P<word>[a-z]+)-(?P<number>\d+)"),
            tokens: Tokens::default(),
            names: Names::new(node_folders),
            vocabulary: Vocabulary::new(vocabulary),
            region: Region::None,
            regions: BTreeMap::new(),
            stayed: BTreeSet::new(),
        }
    }

    /// A new log begins: what an earlier one left open is closed.
    pub fn begin(&mut self) {
        self.region = Region::None;
        self.regions.clear();
    }

    /// Works on a text of this field of a JSON log: what its last text left open goes on.
    pub fn in_field<T>(&mut self, field: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let kept = self.regions.remove(field).unwrap_or_default();
        let outer = std::mem::replace(&mut self.region, kept);
        let done = work(self);
        let kept = std::mem::replace(&mut self.region, outer);
        if kept != Region::None && self.regions.len() < FIELDS {
            self.regions.insert(field.to_owned(), kept);
        }
        done
    }

    /// Takes note of what is private in a line, so that it is known before the first line is written. True when nothing
    /// is, and the line says nothing of others: [`Redactor::quiet_line`] will do for it.
    pub fn learn(&mut self, line: &str) -> bool {
        let text = plain(line);
        let quiet = self.region == Region::None && matches!(text, Cow::Borrowed(_));
        self.reserve(&text);
        let found = self.found(&text, false);
        found.iter().for_each(|one| self.note(&text, one));
        quiet && found.is_empty() && self.region == Region::None
    }

    /// The tokens of an earlier redaction are kept.
    fn reserve(&mut self, text: &str) {
        if TOKEN.find(text.as_bytes()).is_none() {
            return;
        }
        for found in self.token.captures_iter(text) {
            if let Some(number) = found.name("number").and_then(|number| number.as_str().parse().ok()) {
                self.tokens.reserve(&found["word"], number);
            }
        }
    }

    /// The same for lines that a window broke: all but the last go on in the next one. Or for the parts of one line that
    /// is `redrawn`.
    pub fn learn_lines(&mut self, lines: &[&str], redrawn: bool) {
        let texts: Vec<_> = lines.iter().map(|line| plain(line)).collect();
        texts.iter().for_each(|text| self.reserve(text));
        for (text, found) in texts.iter().zip(self.found_in(&texts, redrawn, false)) {
            found.iter().for_each(|one| self.note(text, one));
        }
        if texts.len() > 1 {
            let (whole, starts) = join(&texts, &self.vocabulary);
            for one in self.across(&whole, &starts, false) {
                self.note(&whole, &one);
                for piece in pieces(&one.at, &starts) {
                    let piece = whole.get(piece).unwrap_or_default();
                    self.names.add(one.category, piece, &self.vocabulary);
                }
            }
        }
    }

    /// The line without what is private. Colours are dropped: a code inside a word would hide it.
    pub fn line(&mut self, line: &str) -> String {
        self.names.prepare();
        let text = plain(line);
        let found = self.found(&text, true);
        self.written(&text, settle(found))
    }

    /// The same for a line in which [`Redactor::learn`] found nothing: only names that others gave away may stand in it.
    pub fn quiet_line<'l>(&mut self, line: &'l str) -> Cow<'l, str> {
        self.names.prepare();
        let mut found = Vec::new();
        self.names.find(line, &mut found);
        if found.is_empty() && self.region == Region::None { line.into() } else { self.line(line).into() }
    }

    /// The same for lines that a window broke: all but the last go on in the next one. Or for the parts of one line that
    /// is `redrawn`.
    pub fn lines(&mut self, lines: &[&str], redrawn: bool) -> Vec<String> {
        self.names.prepare();
        let texts: Vec<_> = lines.iter().map(|line| plain(line)).collect();
        let mut found = self.found_in(&texts, redrawn, true);
        if texts.len() > 1 {
            let (whole, starts) = join(&texts, &self.vocabulary);
            for one in self.across(&whole, &starts, true) {
                for (index, (start, _)) in starts.iter().enumerate() {
                    let end = starts.get(index + 1).map_or(whole.len(), |(next, _)| *next);
                    let at = one.at.start.max(*start)..one.at.end.min(end);
                    if at.start < at.end
                        && let (Some(list), Some((_, indent))) = (found.get_mut(index), starts.get(index))
                    {
                        list.push(Found::new(one.category, at.start - start + indent..at.end - start + indent));
                    }
                }
            }
        }
        texts.iter().zip(found).map(|(text, found)| self.written(text, settle(found))).collect()
    }

    /// What was replaced, by category and token.
    #[must_use]
    pub fn replaced(&self) -> Vec<Replaced> {
        self.tokens.replaced()
    }

    /// Names that stand where an account is named, and stay because they are ordinary words.
    pub fn stayed(&self) -> impl Iterator<Item = &str> {
        self.stayed.iter().map(String::as_str)
    }

    /// Looks through a log that is about to be shown.
    #[must_use]
    pub fn checker(&self) -> Checker<'_> {
        Checker::new(&self.tokens, &self.names, &self.vocabulary, &Vocabulary::default())
    }

    /// Looks through a report that is about to be shown; `own` are the texts that reports are made of.
    #[must_use]
    pub fn checker_of_report<'v>(&self, own: impl IntoIterator<Item = &'v str>) -> Checker<'_> {
        Checker::new(&self.tokens, &self.names, &self.vocabulary, &Vocabulary::new(own))
    }

    /// What is private in each text, with the names known so far when `names` is set.
    fn found_in(&mut self, texts: &[Cow<'_, str>], redrawn: bool, names: bool) -> Vec<Vec<Found>> {
        if !redrawn || texts.len() < 2 {
            return texts.iter().map(|text| self.found(text, names)).collect();
        }
        // What the lines before say of this one, they say of all its parts.
        let whole = texts.concat();
        match self.region.line(&whole, false, &self.vocabulary) {
            Ruling::Usual => {
                // What it begins may stand in two of them; a bar begins nothing.
                if !whole.contains("%|") {
                    let found = settle(self.shaped(&whole, 0, names).0);
                    self.prompt_may_go_on(&whole, &found, false);
                }
                texts.iter().map(|text| settle(self.shaped(text, 0, names).0)).collect()
            }
            Ruling::Stays => vec![Vec::new(); texts.len()],
            Ruling::Whole(category) => texts.iter().map(|text| vec![Found::new(category, 0..text.len())]).collect(),
        }
    }

    /// What is private in a text, with the names known so far when `names` is set.
    fn found(&mut self, text: &str, names: bool) -> Vec<Found> {
        let stripped = crate::input::stripped(text.trim_end().as_bytes());
        let begin = text.trim_end().len().saturating_sub(stripped.text.len());
        let body = text.get(begin..).unwrap_or(text);
        let fresh = stripped.stamp.is_some() || stripped.tagged;
        match self.region.line(body, fresh, &self.vocabulary) {
            Ruling::Usual => {}
            Ruling::Stays => return Vec::new(),
            Ruling::Whole(category) => {
                let start = begin + (body.len() - body.trim_start().len());
                let at = start..begin + body.trim_end().len();
                let done = accept::is_token(body);
                return if done { Vec::new() } else { vec![Found::new(category, at)] };
            }
        }
        let (found, stayed) = self.shaped(text, begin, names);
        let room = STAYED.saturating_sub(self.stayed.len());
        self.stayed.extend(stayed.into_iter().take(room));
        let found = settle(found);
        self.prompt_may_go_on(text, &found, fresh);
        found
    }

    /// A prompt at the end of a text may go on in the next line.
    fn prompt_may_go_on(&mut self, text: &str, found: &[Found], fresh: bool) {
        let end = text.trim_end().len();
        let last = found.iter().find(|one| one.category == Category::Prompt && one.at.end >= end && one.at.len() > 3);
        let Some(prompt) = last.and_then(|one| text.get(one.at.clone())) else { return };
        if self.region == Region::None && !prompt.contains("redacted-") {
            self.region.prompt_ends(prompt, fresh);
        }
    }

    /// The same without a look at the lines before.
    fn shaped(&self, text: &str, body: usize, names: bool) -> (Vec<Found>, Vec<String>) {
        let mut found = Vec::new();
        workflow(text, &mut found);
        self.shapes.find(text, body, &mut found);
        scan::find(text, &mut found);
        let paths = Paths { vocabulary: self.vocabulary.words(), stayed: RefCell::default() };
        paths.find(text, &mut found);
        if names {
            self.names.find(text, &mut found);
        }
        (found, paths.stayed.into_inner())
    }

    /// What is private in the whole of broken lines, and shows only there.
    fn across(&self, whole: &str, starts: &[(usize, usize)], names: bool) -> Vec<Found> {
        let (mut found, _) = self.shaped(whole, 0, names);
        found.retain(|one| {
            starts.iter().skip(1).any(|(start, _)| one.shown.start < *start && *start < one.shown.end.max(one.at.end))
        });
        found
    }

    /// Takes note of something private.
    fn note(&mut self, text: &str, one: &Found) {
        let secret = text.get(one.at.clone()).unwrap_or_default();
        self.names.add(one.category, secret, &self.vocabulary);
        self.tokens.token(one.category, secret, false);
    }

    fn written(&mut self, text: &str, found: Vec<Found>) -> String {
        let mut out = String::new();
        let mut end = 0;
        for one in found {
            let Some(secret) = text.get(one.at.clone()) else { continue };
            out.push_str(text.get(end..one.at.start).unwrap_or_default());
            out.push_str(self.tokens.token(one.category, secret, true));
            end = one.at.end;
        }
        out.push_str(text.get(end..).unwrap_or_default());
        out
    }
}

/// Broken lines as one text; where each begins in it, and how much of the line was left out before (its prefix).
fn join(texts: &[Cow<'_, str>], vocabulary: &Vocabulary) -> (String, Vec<(usize, usize)>) {
    let mut whole = String::new();
    let mut starts = Vec::new();
    let mut first = None;
    for (index, text) in texts.iter().enumerate() {
        let stripped = crate::input::stripped(text.as_bytes());
        let prefixed = index > 0 && (stripped.stamp.is_some() || stripped.tagged || text.contains(" | "));
        let indent = if prefixed { text.len().saturating_sub(stripped.text.len()) } else { 0 };
        // A stamp or a level where the first line has none, a text of ComfyUI's own or a bar: another record begins, and
        // nothing goes on across it.
        let marks = (stripped.stamp.is_some(), stripped.tagged);
        let (stamped, tagged) = *first.get_or_insert(marks);
        let known = index > 0 && (vocabulary.begins(&String::from_utf8_lossy(stripped.text)) || text.contains("%|"));
        if (marks.0 && !stamped) || (marks.1 && !tagged) || known {
            whole.push('\n');
        }
        starts.push((whole.len(), indent));
        if whole.len() < JOINED {
            whole.push_str(text.get(indent..).unwrap_or_default());
        }
    }
    (whole, starts)
}

/// The parts of `at` between the starts of lines.
fn pieces<'s>(
    at: &'s std::ops::Range<usize>,
    starts: &'s [(usize, usize)],
) -> impl Iterator<Item = std::ops::Range<usize>> + 's {
    let inner = starts.iter().map(|(start, _)| *start).filter(|start| at.start < *start && *start < at.end);
    let from = std::iter::once(at.start).chain(inner.clone());
    from.zip(inner.chain(std::iter::once(at.end))).map(|(from, to)| from..to)
}

/// A workflow in one line, from its first brace on.
fn workflow(text: &str, found: &mut Vec<Found>) {
    let Some(at) = WORKFLOW.iter().filter_map(|mark| mark.find(text.as_bytes())).min() else { return };
    let quoted = text.get(..at).is_some_and(|before| before.ends_with(['"', '\'']));
    let refusal =
        ["node_errors", "extra_info", "invalid prompt", "missing_node_type"].iter().any(|mark| text.contains(mark));
    let (Some(begin), false, true) = (text.find('{'), refusal, quoted) else { return };
    if begin < at {
        let rest = text.get(at..).unwrap_or_default();
        // It ends with its record; in a report on one line, where the line would.
        let one_line = text.get(..begin).is_some_and(|before| before.contains("\\n"));
        let end = rest.find('\n').into_iter().chain(rest.find("\\n").filter(|_| one_line)).min();
        found.push(Found::new(Category::Workflow, begin..end.map_or(text.trim_end().len(), |end| at + end)));
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant that every test compiles")
}

#[cfg(test)]
mod tests;
