//! What a capture of a template takes: its type, and how much of a text one that is not free takes.

use crate::eight::{digits, name_bytes};

/// What a capture takes, and in which unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureType {
    Class,
    Word,
    Text,
    /// Rest of the line, to be matched again by itself.
    Message,
    Path,
    Int,
    Float,
    Mib,
    Gib,
    Kib,
    Bytes,
    Seconds,
    /// A number with its unit, e.g. `1.50 GiB`.
    Size,
    Version,
    Hex,
    Bool,
    OneOf(Vec<Box<str>>),
}

impl CaptureType {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "class" => Self::Class,
            "word" => Self::Word,
            "text" => Self::Text,
            "message" => Self::Message,
            "path" => Self::Path,
            "int" => Self::Int,
            "float" => Self::Float,
            "mib" => Self::Mib,
            "gib" => Self::Gib,
            "kib" => Self::Kib,
            "bytes" => Self::Bytes,
            "seconds" => Self::Seconds,
            "size" => Self::Size,
            "version" => Self::Version,
            "hex" => Self::Hex,
            "bool" => Self::Bool,
            other => {
                let words = other.strip_prefix("one-of(")?.strip_suffix(')')?;
                Self::OneOf(words.split('|').map(Into::into).collect())
            }
        })
    }

    /// The type named in a pack's `types` table for regex rules.
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(name)
    }

    /// It takes whatever stands before the next literal.
    pub(super) fn is_free(&self) -> bool {
        matches!(self, Self::Text | Self::Message | Self::Path | Self::Word)
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Int | Self::Float | Self::Mib | Self::Gib | Self::Kib | Self::Bytes | Self::Seconds | Self::Size
        )
    }
}

/// How much of `text` a capture takes that is not free; none when it does not fit.
#[inline]
pub(super) fn token_len(kind: &CaptureType, text: &[u8]) -> Option<usize> {
    let len = match kind {
        CaptureType::Class => class_len(text),
        CaptureType::Int | CaptureType::Bytes => {
            let sign = usize::from(text.first() == Some(&b'-'));
            let digits = digits(text.get(sign..)?);
            if digits == 0 { 0 } else { sign + digits }
        }
        CaptureType::Float | CaptureType::Mib | CaptureType::Gib | CaptureType::Kib | CaptureType::Seconds => {
            float_len(text)
        }
        CaptureType::Size => size_len(text),
        CaptureType::Version => {
            let all = text
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_'))
                .count();
            text.get(..all)?.trim_ascii_end().iter().rposition(|byte| *byte != b'.').map_or(0, |at| at + 1)
        }
        CaptureType::Hex => {
            let digits = text.strip_prefix(b"0x")?.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            if digits == 0 { 0 } else { digits + 2 }
        }
        CaptureType::Bool => [&b"True"[..], b"False", b"true", b"false"]
            .iter()
            .find(|word| text.starts_with(word))
            .map_or(0, |word| word.len()),
        CaptureType::OneOf(words) => {
            words.iter().filter(|word| text.starts_with(word.as_bytes())).map(|word| word.len()).max().unwrap_or(0)
        }
        CaptureType::Word | CaptureType::Text | CaptureType::Message | CaptureType::Path => return None,
    };
    (len > 0).then_some(len)
}

/// A Python name; a dot belongs to it only when a letter follows.
fn class_len(text: &[u8]) -> usize {
    let mut len = 0;
    loop {
        // Letters and digits, and all of other scripts.
        len += text.get(len..).map_or(0, name_bytes);
        let goes_on = matches!(text.get(len..), Some([b'.', b'A'..=b'Z' | b'a'..=b'z' | b'_', ..]));
        if len == 0 || !goes_on {
            return len;
        }
        len += 1;
    }
}

fn float_len(text: &[u8]) -> usize {
    let digits = |from: usize| text.get(from..).map_or(0, digits);
    let sign = usize::from(text.first() == Some(&b'-'));
    let whole = digits(sign);
    if whole == 0 {
        return 0;
    }
    let mut len = sign + whole;
    if text.get(len) == Some(&b'.') {
        let fraction = digits(len + 1);
        if fraction > 0 {
            len += 1 + fraction;
        }
    }
    if matches!(text.get(len), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(text.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits(len + 1 + signed);
        if exponent > 0 {
            len += 1 + signed + exponent;
        }
    }
    len
}

/// A number, optional blanks and a unit. numpy writes `273. GiB`.
fn size_len(text: &[u8]) -> usize {
    let mut len = float_len(text);
    if len == 0 {
        return 0;
    }
    if text.get(len) == Some(&b'.') && text.get(len + 1) == Some(&b' ') {
        len += 1;
    }
    let unit_at = len + text.get(len..).map_or(0, blanks);
    let letters =
        text.get(unit_at..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count());
    match text.get(unit_at..unit_at + letters) {
        Some(
            b"bytes" | b"byte" | b"B" | b"KiB" | b"MiB" | b"GiB" | b"TiB" | b"KB" | b"MB" | b"GB" | b"TB" | b"kB"
            | b"Gi" | b"Mi" | b"Ki" | b"g" | b"m" | b"k" | b"G" | b"M" | b"K",
        ) => unit_at + letters,
        _ => 0,
    }
}

/// Blanks and tabs at the beginning.
pub(super) fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
