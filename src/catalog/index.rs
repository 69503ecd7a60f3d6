//! Which rules a line may belong to, by how it begins: a hash of its first eight bytes, then the eight bytes behind them.
//!
//! Measured: an automaton over all bytes pays for every byte of a line; this touches eight to sixteen. Templates that
//! begin with a capture are found by a digit, by their second word, or behind the first `: `.

use memchr::memchr;

use crate::eight::{eight_of, four_of, places_of, position};

/// Bytes of a line in which its first blank is looked for, and the first `: `.
const WORD: usize = 160;
const COLON: usize = 280;

/// Candidates for a line, by several ways of finding them.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By the first eight bytes: nearly all rules.
    by_eight: Buckets,
    /// By the first four bytes: rules whose first eight are not certain.
    by_four: Buckets,
    /// By the first four bytes, all rules, for lines whose blanks are not those of a rule.
    loose: Buckets,
    by_second_word: Buckets,
    behind_colon: Buckets,
    by_first_byte: Vec<Vec<Candidate>>,
}

impl Index {
    pub(super) fn new() -> Self {
        Self { by_first_byte: vec![Vec::new(); 256], ..Self::default() }
    }

    /// A rule that begins with `literal`; false when no line could be found by it.
    pub(super) fn enter_literal(&mut self, literal: &[u8], number: u16) -> bool {
        let Some(four) = four_of(literal) else {
            let Some(list) = literal.first().and_then(|byte| self.by_first_byte.get_mut(usize::from(*byte))) else {
                return false;
            };
            list.push(Candidate::going_on(number, literal));
            return true;
        };
        // Of two blanks the second one may be missing in the line.
        let firm = literal.windows(2).position(|pair| pair == b"  ").map_or(literal.len(), |at| at + 1);
        let firm = literal.get(..firm).unwrap_or_default();
        match eight_of(firm) {
            Some(eight) => {
                let candidate = Candidate::going_on(number, firm.get(8..).unwrap_or_default());
                self.by_eight.add(eight, Candidate { known: firm.len().min(16) as u8, ..candidate });
            }
            None => self.by_four.add(four, Candidate::any(number)),
        }
        self.loose.add(four, Candidate::any(number));
        true
    }

    /// A rule whose lines begin with a number, or with `also`.
    pub(super) fn enter_number(&mut self, also: Option<u8>, number: u16) -> bool {
        for byte in (b'0'..=b'9').chain(also) {
            if let Some(list) = self.by_first_byte.get_mut(usize::from(byte)) {
                list.push(Candidate::any(number));
            }
        }
        (b'0'..=b'9').all(|digit| self.enter_literal(&[b'-', digit], number))
    }

    /// A rule whose lines have `literal` behind their first word.
    pub(super) fn enter_second_word(&mut self, literal: &[u8], number: u16) -> bool {
        let Some(key) = four_of(literal) else { return false };
        self.by_second_word.add(key, Candidate::any(number));
        true
    }

    /// A rule whose lines have `literal` behind their first `: `.
    pub(super) fn enter_behind_colon(&mut self, literal: &[u8], number: u16) -> bool {
        let Some(key) = four_of(literal) else { return false };
        self.behind_colon.add(key, Candidate::any(number));
        true
    }

    /// Makes everything ready for `candidates`. Rules of one key keep the order in which they were entered.
    pub(super) fn seal(&mut self) {
        for buckets in
            [&mut self.by_eight, &mut self.by_four, &mut self.loose, &mut self.by_second_word, &mut self.behind_colon]
        {
            buckets.seal();
        }
    }

    /// Asks about the rules that `line` may belong to, until an answer is given, and says how many bytes of the line are
    /// known to be those of the rule. Of those found in one way, the first entered come first.
    #[inline]
    pub(super) fn candidates(&self, line: &[u8], mut ask: impl FnMut(u16, usize) -> Option<()>) -> Option<()> {
        if self.by_start(line, &mut ask).is_some() {
            return Some(());
        }
        if self.by_first_byte(line, &mut ask).is_some() {
            return Some(());
        }
        let blank = position(b' ', line.get(..WORD).unwrap_or(line))?;
        let second_word = second_word(line, blank).and_then(|key| self.by_second_word.ask(key, &mut ask));
        second_word.or_else(|| self.behind_colon.ask(four_of(behind_colon(line, blank)?)?, &mut ask))
    }

    #[inline]
    fn by_first_byte(&self, line: &[u8], ask: &mut impl FnMut(u16, usize) -> Option<()>) -> Option<()> {
        let list = self.by_first_byte.get(usize::from(*line.first()?)).filter(|list| !list.is_empty())?;
        let begin = Next::of(line);
        list.iter().filter(|candidate| begin.may_be(candidate)).find_map(|candidate| ask(candidate.number, 0))
    }

    /// The same of the rules that begin with the first eight bytes of a text that ends soon.
    pub(super) fn by_eight(&self, text: &[u8], ask: &mut impl FnMut(u16, usize) -> Option<()>) -> Option<()> {
        let eight = eight_of(text).filter(|eight| !blank_runs(*eight))?;
        self.by_eight.get(eight).iter().find_map(|candidate| ask(candidate.number, 0))
    }

    #[inline]
    pub(super) fn by_start(&self, line: &[u8], ask: &mut impl FnMut(u16, usize) -> Option<()>) -> Option<()> {
        let four = four_of(line)?;
        let Some(eight) = eight_of(line).filter(|eight| !blank_runs(*eight)) else { return self.loose.ask(four, ask) };
        let (long, short) = (self.by_eight.get(eight), self.by_four.get(four));
        if long.is_empty() && short.is_empty() {
            return None;
        }
        let next = Next::behind(eight, line.get(8..).unwrap_or_default());
        let mut likely = long.iter().filter(|candidate| next.may_be(candidate)).peekable();
        for short in short {
            while let Some(earlier) = likely.next_if(|candidate| candidate.number < short.number) {
                if ask(earlier.number, next.known(earlier)).is_some() {
                    return Some(());
                }
            }
            if ask(short.number, 0).is_some() {
                return Some(());
            }
        }
        likely.find_map(|candidate| ask(candidate.number, next.known(candidate)))
    }
}

/// What stands behind the first `: ` of a line, if that is near its beginning; its first blank stands at `blank`.
#[inline]
fn behind_colon(line: &[u8], blank: usize) -> Option<&[u8]> {
    let head = line.get(..COLON).unwrap_or(line);
    let mut at = blank.checked_sub(1)?;
    loop {
        at += memchr(b':', head.get(at..)?)? + 1;
        if line.get(at) == Some(&b' ') {
            return line.get(at + 1..);
        }
    }
}

/// The first four bytes of the second word of a line whose first blank stands at `blank`.
#[inline]
fn second_word(line: &[u8], blank: usize) -> Option<u64> {
    match line.get(blank + 1) {
        Some(b'!'..) => four_of(line.get(blank + 1..)?),
        _ => four_of(line.get(blank..)?.trim_ascii_start()),
    }
}

/// A rule, with the eight bytes of its literal that follow what it was found by.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    next: u64,
    mask: u64,
    number: u16,
    /// How many bytes the eight by which it was found and `next` make up.
    known: u8,
}

impl Candidate {
    /// A rule of which nothing more is known.
    fn any(number: u16) -> Self {
        Self { next: 0, mask: 0, number, known: 0 }
    }

    fn going_on(number: u16, literal: &[u8]) -> Self {
        let mut next = [0; 8];
        let mut mask = [0; 8];
        for ((next, mask), byte) in next.iter_mut().zip(&mut mask).zip(literal) {
            (*next, *mask) = (*byte, 0xff);
        }
        Self { next: u64::from_le_bytes(next), mask: u64::from_le_bytes(mask), number, known: 0 }
    }
}

/// The eight bytes of a line that follow what rules were found by. Dozens of rules share a beginning such as
/// `[ComfyUI`; comparing eight bytes at once rules out most of them.
#[derive(Debug, Clone, Copy)]
struct Next {
    bytes: u64,
    /// All bytes count; none do where a run of blanks may stand for a single one.
    firm: u64,
}

impl Next {
    #[inline]
    fn of(rest: &[u8]) -> Self {
        let bytes = match eight_of(rest) {
            Some(bytes) => bytes,
            None => rest.iter().rev().fold(0, |bytes, byte| (bytes << 8) | u64::from(*byte)),
        };
        Self { bytes, firm: if blank_runs(bytes) { 0 } else { u64::MAX } }
    }

    /// What follows the first eight bytes of a line; it counts for nothing when its blanks may not be those of the rule.
    #[inline]
    fn behind(eight: u64, rest: &[u8]) -> Self {
        let mut next = Self::of(rest);
        // A run may begin with the last of the eight.
        if next.bytes as u8 == b' ' && (eight >> 56) as u8 == b' ' {
            next.firm = 0;
        }
        next
    }

    /// How many bytes of the line are those of a candidate that was found by its first eight and may be it.
    #[inline]
    fn known(self, candidate: &Candidate) -> usize {
        if self.firm == 0 { 0 } else { candidate.known.into() }
    }

    #[inline]
    fn may_be(self, candidate: &Candidate) -> bool {
        (self.bytes ^ candidate.next) & candidate.mask & self.firm == 0
    }
}

/// Two blanks in a row, or a tab.
#[inline]
fn blank_runs(bytes: u64) -> bool {
    let blanks = places_of(bytes, b' ');
    (blanks & (blanks << 8)) | places_of(bytes, b'\t') != 0
}

/// Candidates by a key, open addressing.
#[derive(Debug, Default)]
struct Buckets {
    pending: Vec<(u64, Candidate)>,
    candidates: Vec<Candidate>,
    slots: Vec<Bucket>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    key: u64,
    /// Range of its candidates; an empty one marks a free slot.
    from: u32,
    to: u32,
}

impl Buckets {
    fn add(&mut self, key: u64, candidate: Candidate) {
        self.pending.push((key, candidate));
    }

    /// Builds the table.
    fn seal(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_key(|(key, _)| *key);
        let keys = pending.chunk_by(|(a, _), (b, _)| a == b).count();
        self.slots = vec![Bucket::default(); (keys * 2).next_power_of_two().max(16)];
        for same in pending.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((key, _)) = same.first() else { continue };
            let from = self.candidates.len();
            self.candidates.extend(same.iter().map(|(_, candidate)| *candidate));
            let (Ok(from), Ok(to)) = (u32::try_from(from), u32::try_from(self.candidates.len())) else { break };
            let mut at = self.home(*key);
            while self.slots.get(at).is_some_and(|slot| slot.to != 0) {
                at = (at + 1) & (self.slots.len() - 1);
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = Bucket { key: *key, from, to };
            }
        }
    }

    /// Where a key stands when nothing is in its way.
    #[inline]
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn get(&self, key: u64) -> &[Candidate] {
        let mut at = self.home(key);
        while let Some(slot) = self.slots.get(at) {
            if slot.to == 0 {
                return &[];
            }
            if slot.key == key {
                return self.candidates.get(slot.from as usize..slot.to as usize).unwrap_or_default();
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        &[]
    }

    #[inline]
    fn ask(&self, key: u64, ask: &mut impl FnMut(u16, usize) -> Option<()>) -> Option<()> {
        self.get(key).iter().find_map(|candidate| ask(candidate.number, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITERALS: [&str; 6] = ["loaded completely", "loaded ", "loaded  twice", "load", "* ", "[ComfyUI-Manager]"];

    fn index() -> Index {
        let mut index = Index::new();
        for (number, literal) in LITERALS.into_iter().enumerate() {
            assert!(index.enter_literal(literal.as_bytes(), number as u16));
        }
        assert!(index.enter_second_word(b"exited with", 6));
        assert!(index.enter_behind_colon(b"line ", 7));
        assert!(!index.enter_behind_colon(b"l", 8));
        index.seal();
        index
    }

    fn found(line: &str) -> Vec<u16> {
        let mut found = Vec::new();
        index().candidates(line.as_bytes(), |number, known| {
            let literal = LITERALS.get(usize::from(number)).copied().unwrap_or_default().as_bytes();
            assert!(known == 0 || line.as_bytes().starts_with(&literal[..known]));
            found.push(number);
            None
        });
        found
    }

    #[test]
    fn a_line_meets_the_rules_that_begin_like_it_in_their_order() {
        assert_eq!(found("loaded completely now"), [0, 1, 2, 3]);
        assert_eq!(found("loaded cautiously now"), [1, 2, 3]);
        assert_eq!(found("loader of models"), [1, 2, 3], "their four letters are the same");
        assert_eq!(found("* KSampler"), [4]);
        assert_eq!(found("[ComfyUI-Impact-Pack] x"), [0_u16; 0]);
        assert_eq!(found("comfyui exited with code 1"), [6]);
        assert_eq!(found("run.sh: line 2: 1 Killed"), [7]);
    }

    #[test]
    fn other_blanks_hide_no_rule() {
        assert_eq!(found("loaded   completely now"), [0, 1, 2, 3]);
        assert_eq!(found("loaded\tcompletely now"), [0, 1, 2, 3]);
        assert_eq!(found("loaded"), [0, 1, 2, 3], "too short for eight letters");
    }

    #[test]
    fn blank_runs_are_told() {
        assert!(blank_runs(u64::from_le_bytes(*b"ab  cdef")));
        assert!(blank_runs(u64::from_le_bytes(*b"abcdefg\t")));
        assert!(!blank_runs(u64::from_le_bytes(*b" a b c d")));
    }
}
