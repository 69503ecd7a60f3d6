//! `--memory-limit` becomes MiB: `16GiB`, `24g`, `90 GB`, plain bytes.

use crate::error::UsageError;
use crate::event::{MIB, parse_size};

/// No ComfyUI ever ran in less; most likely the unit is missing.
const LEAST_MIB: f64 = 64.0;

/// Reads a limit.
pub(super) fn memory_limit_mib(given: &str) -> Result<f64, Box<UsageError>> {
    let text = given.trim();
    let plain = text.parse::<f64>().is_ok();
    let bytes = if plain { text.parse().ok() } else { parse_size(&with_known_unit(text)) };
    let bytes = bytes
        .filter(|bytes: &f64| bytes.is_finite() && *bytes > 0.0)
        .ok_or_else(|| Box::new(UsageError::MemoryLimit { given: given.to_owned() }))?;
    if bytes < LEAST_MIB * MIB {
        let (given, bytes) = (text.to_owned(), bytes as u64);
        return Err(Box::new(match plain {
            true => UsageError::MemoryLimitSmall { given, bytes },
            false => UsageError::MemoryLimit { given },
        }));
    }
    Ok(bytes / MIB)
}

/// Units in any case, as people type them, become those that logs print.
fn with_known_unit(text: &str) -> String {
    let unit_at = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let first = unit.chars().next().map(|letter| letter.to_ascii_uppercase());
    let known = match (first, unit.to_ascii_lowercase().as_str()) {
        (Some(first @ ('K' | 'M' | 'G' | 'T')), lower) if matches!(lower.get(1..), Some("" | "b" | "i" | "ib")) => {
            format!("{first}iB")
        }
        _ => unit.to_owned(),
    };
    format!("{} {known}", number.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_type() {
        for (text, mib) in [
            ("16GiB", 16384.0),
            ("16Gi", 16384.0),
            ("24g", 24576.0),
            ("90 GB", 92160.0),
            ("1.5t", 1_572_864.0),
            ("16384MB", 16384.0),
            ("17179869184", 16384.0),
        ] {
            assert_eq!(memory_limit_mib(text).ok(), Some(mib), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_limit() {
        for text in ["", "max", "16 apples", "-3GiB", "inf", "nan", "1GiBB"] {
            assert!(memory_limit_mib(text).is_err(), "{text}");
        }
        assert!(matches!(*memory_limit_mib("16").unwrap_err(), UsageError::MemoryLimitSmall { bytes: 16, .. }));
    }
}
