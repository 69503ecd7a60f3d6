//! A prefix that is the same before every line of a log, as tools put it there that run several programs.
//!
//! That every line has it says more than how often a known text stood behind it: one such text is enough.

/// Lines at least, and of how many one may do without the prefix (a line of the tool itself).
const LINES: u64 = 8;
const EXCEPTIONS: u64 = 8;
/// Fewer lines are enough when texts of two rules stood behind it.
const FEW_LINES: u64 = 4;
/// Where other programs' lines have other names: sightings of one and the same prefix, and of how many rules.
const SIGHTINGS: u64 = 5;
const RULES: usize = 3;
/// One of so many lines with the prefix holds a known text, at least: where people talk, few do.
const DENSE: u64 = 8;

/// A prefix that may stand before all lines.
#[derive(Debug)]
struct Candidate {
    prefix: Vec<u8>,
    rules: Vec<usize>,
    sightings: u64,
    /// Lines that begin with it.
    lines: u64,
}

impl Candidate {
    fn is_known(&self, lines: u64, is_alone: bool) -> bool {
        let apart = lines.saturating_sub(self.lines);
        let all = apart * EXCEPTIONS <= lines;
        let marked = self.prefix.iter().any(|byte| byte.is_ascii_punctuation());
        let two = self.rules.len() >= 2;
        let enough = (all && lines >= LINES && (marked || two))
            || (apart == 0 && lines >= FEW_LINES && two)
            || (marked && self.sightings >= SIGHTINGS && self.rules.len() >= RULES);
        is_alone && enough && self.sightings * DENSE >= self.lines
    }
}

/// Looks for such a prefix.
#[derive(Debug, Default)]
pub(super) struct Constants {
    candidates: Vec<Candidate>,
}

/// Prefixes that are looked at, at the same time.
const MOST: usize = 4;

impl Constants {
    /// A text of a rule stood behind `prefix`; `before` are the lines up to now, as far as they were kept.
    pub(super) fn sighted<'l>(&mut self, prefix: &[u8], rule: usize, before: impl Iterator<Item = &'l [u8]>) {
        // Indentation is none, and what a sentence quotes stands in few lines.
        if prefix.trim_ascii().is_empty() || matches!(prefix.trim_ascii(), [b'"' | b'\'' | b'`' | b'-' | b'*']) {
            return;
        }
        let known =
            self.candidates.iter().position(|candidate| length(&candidate.prefix, prefix) == Some(prefix.len()));
        let candidate = match known {
            Some(at) => self.candidates.get_mut(at),
            None if self.candidates.len() < MOST => {
                let lines = before.filter(|line| begins(prefix, line)).count() as u64;
                let prefix = prefix.to_vec();
                self.candidates.push(Candidate { prefix, rules: Vec::new(), sightings: 0, lines });
                self.candidates.last_mut()
            }
            None => None,
        };
        let Some(candidate) = candidate else { return };
        candidate.sightings += 1;
        if !candidate.rules.contains(&rule) && candidate.rules.len() < RULES {
            candidate.rules.push(rule);
        }
    }

    /// A line was read, the last of `lines`; `is_alone` when no text of ComfyUI stood without a prefix. The prefix that
    /// is known by now.
    pub(super) fn line(&mut self, text: &[u8], lines: u64, is_alone: bool) -> Option<Vec<u8>> {
        for candidate in &mut self.candidates {
            candidate.lines += u64::from(begins(&candidate.prefix, text));
        }
        let at = self.candidates.iter().position(|candidate| candidate.is_known(lines, is_alone))?;
        Some(self.candidates.swap_remove(at).prefix)
    }
}

/// A line begins with the prefix; of an empty one the blanks at the end are gone.
fn begins(prefix: &[u8], line: &[u8]) -> bool {
    length(prefix, line).is_some() || length(prefix.trim_ascii_end(), line) == Some(line.len())
}

/// Length of the prefix that a text begins with: any number may stand for another one.
pub(super) fn length(prefix: &[u8], text: &[u8]) -> Option<usize> {
    let (mut at, mut rest) = (0, prefix);
    while let Some(first) = rest.first() {
        if first.is_ascii_digit() {
            let number = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let found = number(text.get(at..)?);
            if found == 0 {
                return None;
            }
            at += found;
            rest = rest.get(number(rest)..)?;
        } else if text.get(at) == Some(first) {
            at += 1;
            rest = rest.get(1..)?;
        } else {
            return None;
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prefix that is known after these lines, of which `true` ones hold a known text behind `prefix`.
    fn known(prefix: &str, lines: &[(&str, Option<usize>)]) -> Option<String> {
        let mut constants = Constants::default();
        let mut before: Vec<&[u8]> = Vec::new();
        for (line, rule) in lines {
            if let Some(rule) = rule {
                let prefix = line.get(..prefix.len()).expect("long enough");
                constants.sighted(prefix.as_bytes(), *rule, before.iter().copied());
            }
            before.push(line.as_bytes());
            if let Some(prefix) = constants.line(line.as_bytes(), before.len() as u64, true) {
                return String::from_utf8(prefix).ok();
            }
        }
        None
    }

    #[test]
    fn a_prefix_of_all_lines_is_known_by_one_text() {
        let mut lines = vec![("comfy: x", None); 7];
        lines[3] = ("comfy: got prompt", Some(1));
        assert_eq!(known("comfy: ", &lines), None, "too few lines");
        lines.push(("comfy:", None));
        assert_eq!(known("comfy: ", &lines).as_deref(), Some("comfy: "));
        lines[0] = ("Attaching to comfy", None);
        assert_eq!(known("comfy: ", &lines).as_deref(), Some("comfy: "), "one line of the tool");
        lines[1] = ("another line", None);
        assert_eq!(known("comfy: ", &lines), None, "too many without it");
    }

    #[test]
    fn numbers_may_change_and_words_may_not() {
        let lines: Vec<String> = (0..8).map(|number| format!("[{number}] x")).collect();
        let mut lines: Vec<(&str, Option<usize>)> = lines.iter().map(|line| (line.as_str(), None)).collect();
        lines[2] = ("[12] got prompt", Some(1));
        let prefix = known("[12]", &lines);
        assert_eq!(prefix.as_deref(), Some("[12]"));
        assert_eq!(length(b"[12] ", b"[7] x"), Some(4));
        assert_eq!(length(b"a1: ", b"b1: x"), None);
        assert_eq!(length(b"a1: ", b"a: x"), None);
    }

    #[test]
    fn words_without_a_mark_need_two_texts() {
        let mut lines = vec![("it says x", None); 9];
        lines[3] = ("it says got prompt", Some(1));
        assert_eq!(known("it says ", &lines), None);
        lines[5] = ("it says Requested to load Flux", Some(2));
        assert_eq!(known("it says ", &lines).as_deref(), Some("it says "));
    }

    #[test]
    fn one_name_among_others_needs_many_texts() {
        let mut lines = vec![("web: GET /", None); 20];
        for (number, at) in [1, 3, 5, 7, 9].into_iter().enumerate() {
            lines[at] = ("comfy: got prompt", Some(number % 2));
        }
        assert_eq!(known("comfy: ", &lines), None);
        lines[11] = ("comfy: got prompt", Some(7));
        assert_eq!(known("comfy: ", &lines).as_deref(), Some("comfy: "));
    }
}
