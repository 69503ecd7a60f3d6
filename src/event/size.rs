//! Sizes as logs write them become bytes: `1.50 GiB`, `512.31 MiB`, `0 bytes`, `8.66 GB`.
//!
//! PyTorch, ComfyUI and numpy all count in powers of 1024, whatever letters they print (`MB` is MiB).
//! This is the one place where units are converted.

use nom::{
    IResult, Parser,
    bytes::complete::take_while,
    character::complete::{char, space0},
    combinator::opt,
    number::complete::double,
};

use crate::catalog::CaptureType;
use crate::decimal::short_decimal;

/// Bytes in one MiB.
pub const MIB: f64 = 1024.0 * 1024.0;
/// Bytes in one GiB.
pub const GIB: f64 = 1024.0 * MIB;
/// 2^64 bytes, which PyTorch prints as `17179869184.00 GiB` for "no limit".
const NO_LIMIT: f64 = 17_179_869_184.0 * GIB;

/// Reads a size with its unit. `None` when the text is none, or is PyTorch's "no limit".
pub fn parse_size(text: &str) -> Option<f64> {
    let (rest, bytes) = size(text.trim()).ok()?;
    (rest.trim().is_empty() && bytes.is_finite() && bytes < NO_LIMIT).then_some(bytes)
}

fn size(text: &str) -> IResult<&str, f64> {
    let (rest, (number, _, _, unit)) =
        (double, opt(char('.')), space0, take_while(|letter: char| letter.is_ascii_alphabetic())).parse(text)?;
    match unit_bytes(unit) {
        Some(factor) => Ok((rest, number * factor)),
        None => Err(nom::Err::Error(nom::error::Error::new(text, nom::error::ErrorKind::Alpha))),
    }
}

fn unit_bytes(unit: &str) -> Option<f64> {
    Some(match unit {
        "bytes" | "byte" | "B" | "b" => 1.0,
        "KiB" | "KB" | "kB" | "Ki" | "k" | "K" => 1024.0,
        "MiB" | "MB" | "Mi" | "m" | "M" => MIB,
        "GiB" | "GB" | "Gi" | "g" | "G" => GIB,
        "TiB" | "TB" | "Ti" => 1024.0 * GIB,
        _ => return None,
    })
}

/// The bytes that a capture of `kind` holds.
pub fn capture_bytes(kind: &CaptureType, text: &[u8]) -> Option<f64> {
    let bytes = match kind {
        CaptureType::Size => parse_size(std::str::from_utf8(text).ok()?),
        CaptureType::Bytes => number(text),
        CaptureType::Kib => number(text).map(|number| number * 1024.0),
        CaptureType::Mib | CaptureType::Int | CaptureType::Float => number(text).map(|number| number * MIB),
        CaptureType::Gib => number(text).map(|number| number * GIB),
        _ => None,
    };
    bytes.filter(|bytes| bytes.is_finite())
}

/// Reads a number as Python prints it; what is larger than any number that can be written is none.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    short_decimal(text)
        .or_else(|| std::str::from_utf8(text).ok()?.parse().ok().filter(|number: &f64| number.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024() {
        assert_eq!(parse_size("1.50 GiB"), Some(1.5 * GIB));
        assert_eq!(parse_size("0 bytes"), Some(0.0));
        assert_eq!(parse_size("8.66 GB"), Some(8.66 * GIB));
        assert_eq!(parse_size("273. GiB"), Some(273.0 * GIB));
        assert_eq!(parse_size("24g"), Some(24.0 * GIB));
        assert_eq!(parse_size("17179869184.00 GiB"), None);
        assert_eq!(parse_size("12 apples"), None);
        assert_eq!(parse_size("12"), None);
        for beyond in ["1e400 GiB", "-1e400 GiB", "1e308 GiB", "inf bytes", "nan bytes"] {
            assert_eq!(parse_size(beyond), None, "{beyond}");
        }
        assert_eq!(capture_bytes(&CaptureType::Gib, b"1e308"), None);
    }

    #[test]
    fn short_numbers_are_those_of_the_standard_library() {
        for text in [
            "0",
            "7",
            "24564",
            "3045.6950",
            "0.1",
            "123456789012345",
            "12345678901234.5",
            "9007199254740993",
            "0.00001",
            "1e3",
        ] {
            assert_eq!(number(text.as_bytes()), text.parse().ok(), "{text}");
        }
        for text in ["", ".", "1.2.3", "1,5", "x", "-", "1e400", "-1e400", "inf", "nan"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
        assert_eq!(number(b"-3"), Some(-3.0));
    }
}
