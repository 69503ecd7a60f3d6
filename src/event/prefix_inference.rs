//! Learns prefixes that `input` does not know, from ComfyUI's texts that stand behind them again and again.
//!
//! A prefix is known by its form: its signs in their order, where any word or number may stand for another one.

use super::constant_prefix::{self, Constants};
use crate::input::{Level, Place, Segment, level_of, stripped};

/// Texts that are looked into.
const TRIED: u32 = 2000;
/// ComfyUI's texts without such a prefix after which no prefix is looked for.
const PLAIN: u64 = 8;
/// Sightings of one form before it counts, and of how many different rules.
const SIGHTINGS: u64 = 3;
const RULES: usize = 2;
/// One of so many texts of a form holds ComfyUI's, at least: in a chat few do, whoever speaks.
const DENSE: u64 = 4;
/// Forms kept.
const FORMS: usize = 16;
/// The longest prefix, in bytes, and places in it where a text may begin.
const LONGEST: usize = 200;
const PLACES: usize = 40;
/// Texts kept to be read again once their prefix is known, and bytes of each.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 4096;

/// A form of prefix, and where it was seen.
#[derive(Debug)]
struct Form {
    signs: Vec<u8>,
    rules: Vec<usize>,
    times: u64,
    /// Texts that begin with it.
    lines: u64,
}

impl Form {
    fn is_known(&self) -> bool {
        self.times >= SIGHTINGS && self.rules.len() >= RULES && self.times * DENSE >= self.lines
    }
}

/// What a look into a text brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Nothing,
    /// ComfyUI's text stands inside.
    Seen,
    /// Its prefix is known by this sighting.
    Learned,
}

/// A text that was not understood when it was met.
#[derive(Debug)]
pub(super) struct Unread {
    text: Vec<u8>,
    place: Place,
    stamp: Option<Vec<u8>>,
}

impl Unread {
    /// The text without its prefix, when that is known by now.
    pub(super) fn segment<'s>(&'s self, learner: &Learner) -> Option<Segment<'s>> {
        let whole = Segment {
            place: self.place,
            text: &self.text,
            indent: 0,
            stamp: self.stamp.as_deref(),
            level: None,
            tagged: false,
            prompted: false,
            glued: false,
            cut: false,
        };
        learner.behind(&whole)
    }
}

/// Looks for prefixes while ComfyUI's texts do not stand by themselves.
#[derive(Debug, Default)]
pub(super) struct Learner {
    forms: Vec<Form>,
    kept: Vec<Unread>,
    tried: u32,
    /// Prefixes that may stand before all lines, and the one that does.
    constants: Constants,
    constant: Option<Vec<u8>>,
    /// Some prefix is known.
    knows: bool,
    /// ComfyUI's texts that were read behind a learned prefix.
    pub(super) read: u64,
}

impl Learner {
    /// Whether to look for a prefix; `comfyui` is the number of ComfyUI's texts that were understood.
    pub(super) fn looks(&self, comfyui: u64) -> bool {
        self.tried < TRIED && comfyui.saturating_sub(self.read) < PLAIN
    }

    /// Whether some prefix is known.
    pub(super) fn knows(&self) -> bool {
        self.knows
    }

    /// What stands behind a learned prefix.
    pub(super) fn behind<'t>(&self, segment: &Segment<'t>) -> Option<Segment<'t>> {
        let text = segment.text;
        let constant = self.constant.as_ref().and_then(|prefix| constant_prefix::length(prefix, text));
        let of_form = || self.forms.iter().filter(|form| form.is_known()).find_map(|form| length(&form.signs, text));
        let end = constant.or_else(of_form)?;
        let (prefix, rest) = text.split_at_checked(end)?;
        // A tool's prefix stands before whatever ComfyUI's loggers print: stamps and levels of their own, or none.
        let inner = stripped(unquoted(prefix, rest));
        let level = level_in(prefix);
        Some(Segment {
            text: inner.text,
            indent: inner.indent,
            stamp: inner.stamp.or(segment.stamp),
            level: inner.level.or(level).or(segment.level),
            tagged: inner.tagged || level.is_some() || segment.tagged,
            ..*segment
        })
    }

    /// Looks into a text: `known` tells the number of the rule of ComfyUI's text that begins a piece of it. `texts` is the
    /// number of all texts up to this one, `comfyui` that of ComfyUI's among them.
    pub(super) fn look(
        &mut self,
        segment: &Segment<'_>,
        texts: u64,
        comfyui: u64,
        known: impl Fn(&[u8]) -> Option<usize>,
    ) -> Look {
        self.tried += 1;
        let text = segment.text;
        let found = places(text).take(PLACES).find_map(|at| {
            let (prefix, rest) = text.split_at(at);
            known(stripped(unquoted(prefix, rest)).text).map(|rule| (prefix, rule))
        });
        for form in &mut self.forms {
            form.lines += u64::from(length(&form.signs, text).is_some());
        }
        let mut learned = false;
        if let Some((prefix, rule)) = found.filter(|(prefix, _)| !is_said(prefix)) {
            learned = self.sighted(prefix, rule);
            self.constants.sighted(prefix, rule, self.kept.iter().map(|unread| unread.text.as_slice()));
        }
        if self.constant.is_none() {
            self.constant = self.constants.line(text, texts, comfyui == 0);
            learned |= self.constant.is_some();
            self.knows |= self.constant.is_some();
        }
        if learned {
            return Look::Learned;
        }
        self.keep(segment);
        if found.is_some() { Look::Seen } else { Look::Nothing }
    }

    /// Takes the texts that may be read now.
    pub(super) fn take_kept(&mut self) -> Vec<Unread> {
        let kept = std::mem::take(&mut self.kept);
        let (ready, others) = kept.into_iter().partition(|unread| unread.segment(self).is_some());
        self.kept = others;
        ready
    }

    fn keep(&mut self, segment: &Segment<'_>) {
        if self.kept.len() < KEPT && segment.text.len() <= KEPT_BYTES {
            self.kept.push(Unread {
                text: segment.text.to_vec(),
                place: segment.place,
                stamp: segment.stamp.map(<[u8]>::to_vec),
            });
        }
    }

    /// True when the form has become known by this.
    fn sighted(&mut self, prefix: &[u8], rule: usize) -> bool {
        let signs = form_of(prefix);
        // A few words before a text are a sentence that somebody wrote.
        let marks = signs.iter().filter(|sign| !matches!(sign, b'a' | b' ')).count();
        if marks < 2 {
            return false;
        }
        let form = match self.forms.iter().position(|form| form.signs == signs) {
            Some(at) => self.forms.get_mut(at),
            None if self.forms.len() < FORMS => {
                // This text, and those before it.
                let before = self.kept.iter().filter(|unread| length(&signs, &unread.text).is_some()).count();
                self.forms.push(Form { signs, rules: Vec::new(), times: 0, lines: 1 + before as u64 });
                self.forms.last_mut()
            }
            None => None,
        };
        let Some(form) = form else { return false };
        form.times = form.times.saturating_add(1);
        if form.rules.len() < RULES && !form.rules.contains(&rule) {
            form.rules.push(rule);
        }
        let known = form.is_known();
        self.knows |= known;
        known
    }
}

/// Places where a text may begin behind a prefix.
fn places(text: &[u8]) -> impl Iterator<Item = usize> {
    let head = text.get(..LONGEST).unwrap_or(text);
    head.windows(2).enumerate().filter_map(|(at, pair)| match pair {
        [b' ' | b'\t' | b']' | b')' | b':' | b'|' | b'>' | b'=' | b'-' | b'"' | b'\'' | b',', next]
            if next.is_ascii_alphanumeric() || matches!(next, b'!' | b'*' | b'#' | b'[') =>
        {
            Some(at + 1)
        }
        _ => None,
    })
}

/// A byte of what may vary in a prefix: a name, a number, `<module>`.
fn varies(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'_' | b'.' | b'<')
}

/// The signs of a prefix: `a` for a run of what varies, one blank for several.
fn form_of(prefix: &[u8]) -> Vec<u8> {
    let mut signs: Vec<u8> = Vec::new();
    let mut before = 0;
    for byte in prefix {
        let inside = before == b'a' && *byte == b'>';
        let sign = match *byte {
            _ if inside => b'a',
            b'\t' => b' ',
            byte if varies(byte) => b'a',
            byte => byte,
        };
        if !(sign == before && matches!(sign, b'a' | b' ')) {
            signs.push(sign);
        }
        before = sign;
    }
    signs
}

/// Length of the prefix of this form that a text begins with. Of the blanks at its end one belongs to it: a traceback
/// is indented.
fn length(signs: &[u8], text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (number, sign) in signs.iter().enumerate() {
        let rest = text.get(at..LONGEST.min(text.len()))?;
        let taken = match sign {
            b'a' => rest.iter().take_while(|byte| varies(**byte) || **byte == b'>').count(),
            b' ' if number + 1 == signs.len() => usize::from(rest.first() == Some(&b' ')),
            b' ' => rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count(),
            sign => usize::from(rest.first() == Some(sign)),
        };
        if taken == 0 {
            return None;
        }
        at += taken;
    }
    Some(at)
}

/// `got prompt"` behind `msg="` loses its quotation mark.
fn unquoted<'t>(prefix: &[u8], text: &'t [u8]) -> &'t [u8] {
    match prefix.last() {
        Some(mark @ (b'"' | b'\'')) => text.strip_suffix(&[*mark]).unwrap_or(text),
        _ => text,
    }
}

/// Two plain words side by side: somebody tells what was said (`message from user#1: `). What tools print in columns
/// (`comfyui stderr | `) is none of that.
fn is_said(prefix: &[u8]) -> bool {
    if matches!(prefix.trim_ascii_end().last(), Some(b'|' | b']' | b'>')) {
        return false;
    }
    let plain = |word: &[u8]| word.len() > 1 && word.iter().all(u8::is_ascii_lowercase);
    let mut before = false;
    prefix.split(|byte| *byte == b' ').any(|word| {
        let now = plain(word);
        std::mem::replace(&mut before, now) && now
    })
}

/// The level that a prefix names.
fn level_in(prefix: &[u8]) -> Option<Level> {
    prefix.split(|byte| !byte.is_ascii_alphabetic()).find_map(|word| level_of(&word.to_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(text: &str) -> Segment<'_> {
        Segment {
            place: Place::default(),
            text: text.as_bytes(),
            indent: 0,
            stamp: None,
            level: None,
            tagged: false,
            prompted: false,
            glued: false,
            cut: false,
        }
    }

    fn known(text: &[u8]) -> Option<usize> {
        [&b"got prompt"[..], b"Requested to load Flux"].iter().position(|known| text == *known)
    }

    fn taught(lines: &[&str]) -> Learner {
        let mut learner = Learner::default();
        for line in lines {
            learner.look(&segment(line), u64::from(learner.tried) + 1, 0, known);
        }
        learner
    }

    #[test]
    fn a_prefix_that_returns_is_learned() {
        let learner = taught(&[
            "| INFO     | main:<module>:12 - got prompt",
            "| INFO     | comfy.model_management:load:7 - Requested to load Flux",
            "| WARNING  | main:<lambda>:12 - got prompt",
        ]);
        let text = "| ERROR    | execution:<module>:9 -   File \"a.py\", line 1, in x";
        let line = segment(text);
        let behind = learner.behind(&line).unwrap();
        assert_eq!((behind.text, behind.indent), (&b"File \"a.py\", line 1, in x"[..], 2));
        assert_eq!((behind.level, behind.tagged), (Some(Level::Error), true));
        assert!(learner.behind(&segment("got prompt")).is_none());
        assert!(learner.behind(&segment("| a | b - c")).is_none());
    }

    #[test]
    fn quotation_marks_belong_to_the_prefix() {
        let learner = taught(&[
            "time=1 level=info msg=\"got prompt\"",
            "time=2 level=info msg=\"Requested to load Flux\"",
            "time=3 level=info msg=\"got prompt\"",
        ]);
        let line = segment("time=4 level=warning msg=\"loaded\"");
        let behind = learner.behind(&line).unwrap();
        assert_eq!((behind.text, behind.level), (&b"loaded"[..], Some(Level::Warning)));
    }

    #[test]
    fn a_tools_prefix_is_the_same_before_stamps_and_without_them() {
        let lines = ["[1] [2026-02-21 22:59:30.216] got prompt", "[1] got prompt", "[1] [INFO] Requested to load Flux"];
        let learner = taught(&[&lines[..], &["[1] x"; 6]].concat());
        for (line, text, stamp, level) in [
            ("[7] [2026-02-21 22:59:31.001] loaded", "loaded", Some(&b"2026-02-21 22:59:31.001"[..]), None),
            ("[1] loaded", "loaded", None, None),
            ("[1] [ERROR] loaded", "loaded", None, Some(Level::Error)),
            ("[1]   File \"a.py\"", "File \"a.py\"", None, None),
        ] {
            let line = segment(line);
            let behind = learner.behind(&line).unwrap();
            assert_eq!((behind.text, behind.stamp, behind.level), (text.as_bytes(), stamp, level));
        }
    }

    #[test]
    fn who_only_tells_of_a_log_teaches_nothing() {
        let bot = ["discord: message from user#1: got prompt", "discord: message from user#2: Requested to load Flux"];
        assert!(!taught(&[bot; 8].concat()).knows());
        let said = ["[14:02] <mira> x", "[14:02] <tom> y"].repeat(7);
        let quoted = ["[14:03] <mira> got prompt", "[14:04] <tom> Requested to load Flux", "[14:05] <mira> got prompt"];
        assert!(!taught(&[&said[..], &quoted, &said].concat()).knows());
    }

    #[test]
    fn sentences_and_single_sightings_teach_nothing() {
        let prose = taught(&["it says got prompt", "it says Requested to load Flux", "it says got prompt"]);
        assert!(!prose.knows());
        let one_rule = taught(&["[a] [b] got prompt", "[a] [b] got prompt", "[a] [b] got prompt"]);
        assert!(!one_rule.knows());
        let twice = taught(&["[a] [b] got prompt", "[a] [b] Requested to load Flux"]);
        assert!(!twice.knows());
    }
}
