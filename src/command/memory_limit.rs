//! Sizes as people type them: `16GiB`, `24g`, `90 GB`, plain bytes.

use crate::cli::BoundArgs;
use crate::error::UsageError;
use crate::event::{MIB, parse_size};
use crate::input::Bounds;

/// No ComfyUI ever ran in less; most likely the unit is missing.
const LEAST_MIB: f64 = 64.0;

/// The least that a log may be allowed to take.
const LEAST_BOUND: f64 = 1024.0 * 1024.0;

/// What logs may take, as the call says it.
pub(super) fn bounds(args: &BoundArgs) -> Result<Bounds, Box<UsageError>> {
    let bytes = |option: &str, given: &Option<String>, usual: u64| {
        let Some(given) = given else { return Ok(usual) };
        let bytes = bytes(given.trim()).filter(|bytes| *bytes >= LEAST_BOUND);
        let refused = || Box::new(UsageError::Bound { option: option.to_owned(), given: given.clone() });
        bytes.map(|bytes| bytes as u64).ok_or_else(refused)
    };
    let usual = Bounds::default();
    Ok(Bounds {
        memory: bytes("--max-memory", &args.max_memory, usual.memory)?,
        unpacked: bytes("--max-unpacked", &args.max_unpacked, usual.unpacked)?,
    })
}

/// Bytes of a size in any unit.
fn bytes(text: &str) -> Option<f64> {
    let bytes = text.parse().ok().or_else(|| parse_size(&with_known_unit(text)));
    bytes.filter(|bytes: &f64| bytes.is_finite() && *bytes > 0.0)
}

/// Reads a limit.
pub(super) fn memory_limit_mib(given: &str) -> Result<f64, Box<UsageError>> {
    let text = given.trim();
    let plain = text.parse::<f64>().is_ok();
    let bytes = bytes(text).ok_or_else(|| Box::new(UsageError::MemoryLimit { given: given.to_owned() }))?;
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
