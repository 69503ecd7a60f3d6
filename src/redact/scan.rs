//! Addresses, long keys and data that no word announces: found by the letters that stand together.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::accept::{ipv4, is_mixed, near};
use super::found::Found;
use super::pattern;
use super::tokens::Category;

/// So many letters without a blank may be a key.
const LONG: usize = 24;
/// So many letters of base64 are data and no name.
const DATA: usize = 64;

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const DOT: u8 = 4;
const COLON: u8 = 8;
const DASH: u8 = 16;
const OTHER: u8 = 32;

/// What a byte of a run is; zero ends the run.
const KINDS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'.' => DOT,
            b':' => COLON,
            b'-' => DASH,
            b'_' | b'+' | b'=' | b'/' | b'~' => OTHER,
            _ => 0,
        };
        byte += 1;
    }
    table
};

static V4: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"));
static V6: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:^|[^0-9a-z:_])(?P<a>(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f])(?::{1,2}[0-9a-f]{0,4}){2,7})",
    )
});
static HARDWARE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:^|[^0-9a-z:.-])(?P<a>(?:[0-9a-f]{2}:){5}[0-9a-f]{2}|(?:[0-9a-f]{2}-){5}[0-9a-f]{2}|(?:[0-9a-f]{2}\.){5}[0-9a-f]{2}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})(?:[^0-9a-z:.-]|[.:-](?:$|\s)|$)",
    )
});
static DISCORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}"));
static TELEGRAM: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d{8,10}:[A-Za-z0-9_-]{33,}"));
static BASE64: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z0-9+/_-]{64,}={0,2}"));

/// Adds what is private in `text`.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    for (run, kinds) in runs(text) {
        let digits = kinds & DIGIT != 0;
        let numeric = digits && run.len() >= 7;
        if numeric && kinds & DOT != 0 {
            addresses(text, &run, found);
        }
        if digits && run.len() >= 10 && kinds & COLON != 0 {
            caught(&V6, text, &run, found, |secret| {
                secret
                    .parse::<std::net::Ipv6Addr>()
                    .is_ok_and(|address| !address.is_loopback() && !address.is_unspecified())
            });
        }
        if digits && run.len() >= 14 && kinds & (COLON | DASH | DOT) != 0 {
            caught(&HARDWARE, text, &run, found, |secret| {
                secret.bytes().any(|byte| byte.is_ascii_alphabetic()) || !secret.contains('.')
            });
        }
        if run.len() >= 40 && digits && kinds & LETTER != 0 {
            long(text, &run, found);
        }
    }
}

/// Runs of at least seven letters, with the kinds of what stands in them.
fn runs(text: &str) -> impl Iterator<Item = (Range<usize>, u8)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let mut kinds = 0;
            while let Some(byte) = bytes.get(at) {
                let kind = KINDS[usize::from(*byte)];
                if kind == 0 {
                    break;
                }
                kinds |= kind;
                at += 1;
            }
            let run = start..at;
            at += 1;
            if run.len() >= 7 {
                return Some((run, kinds));
            }
        }
        None
    })
}

fn addresses(text: &str, run: &Range<usize>, found: &mut Vec<Found>) {
    let Some(slice) = text.get(run.clone()) else { return };
    for one in V4.find_iter(slice) {
        let at = run.start + one.start()..run.start + one.end();
        let before = near(text, at.start);
        let after = text.get(at.end..).unwrap_or_default();
        if ipv4(one.as_str(), before, after) {
            found.push(Found::new(Category::Address, at));
        }
    }
}

/// Adds what the group `a` of the pattern catches in the run and around it.
fn caught(pattern: &Regex, text: &str, run: &Range<usize>, found: &mut Vec<Found>, accept: impl Fn(&str) -> bool) {
    let Some(slice) = text.get(run.clone()) else { return };
    for one in pattern.captures_iter(slice) {
        let Some(secret) = one.name("a").filter(|secret| accept(secret.as_str().trim_end_matches(':'))) else {
            continue;
        };
        let length = secret.as_str().trim_end_matches(':').len();
        let start = run.start + secret.start();
        found.push(Found::new(Category::Address, start..start + length));
    }
}

/// Keys of known form and data without a name.
fn long(text: &str, run: &Range<usize>, found: &mut Vec<Found>) {
    let Some(slice) = text.get(run.clone()) else { return };
    let add = |at: Range<usize>, category, found: &mut Vec<Found>| {
        found.push(Found::new(category, run.start + at.start..run.start + at.end));
    };
    for one in DISCORD.find_iter(slice).chain(TELEGRAM.find_iter(slice)) {
        if is_key(one.as_str()) {
            add(one.range(), Category::Key, found);
        }
    }
    for one in BASE64.find_iter(slice) {
        if is_data(one.as_str()) {
            add(one.range(), Category::Data, found);
        }
    }
}

fn is_key(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase()) && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Base64, and no path or long name.
fn is_data(text: &str) -> bool {
    let count = |is: fn(&u8) -> bool| text.bytes().filter(is).count();
    let marks = count(|byte| matches!(byte, b'/' | b'_' | b'-'));
    let changes = text
        .as_bytes()
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
        .count();
    text.len() >= DATA
        && count(u8::is_ascii_uppercase) * 8 > text.len()
        && count(u8::is_ascii_lowercase) * 8 > text.len()
        && count(u8::is_ascii_digit) > 1
        && marks * 12 < text.len()
        && changes * 16 > text.len()
}

/// Long mixed or hexadecimal words that nothing above knows: what they are only their owner can tell.
pub(super) fn has_unknown(text: &str) -> bool {
    runs(text).any(|(run, kinds)| {
        let slice = text.get(run).unwrap_or_default();
        let mixed = kinds & DIGIT != 0 && kinds & LETTER != 0 && slice.len() >= LONG;
        mixed
            && slice.split(['/', ':', '=', '.', '~']).any(|word| {
                let uuid = word.len() == 36 && word.matches('-').count() == 4;
                word.len() >= LONG && !uuid && !word.contains("redacted-") && is_mixed(word)
            })
    })
}
