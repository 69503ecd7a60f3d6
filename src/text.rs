//! Safe shortening and formatting of text and numbers that people will read.

use unicode_width::UnicodeWidthChar;

use crate::shown::Shown;

/// Cuts `text` to at most `limit` characters, as it may be shown; a cut is shown with `…`.
pub fn cut_chars(text: &str, limit: usize) -> String {
    Shown::cut(text, limit).into_string()
}

/// Cuts `text` to `width` terminal columns, as it may be shown; a cut is shown with `…`.
pub fn cut_width(text: &str, width: usize) -> String {
    Shown::in_columns(text, width).into_string()
}

/// Terminal columns that `text` takes.
pub fn width(text: &str) -> usize {
    text.chars().map(|letter| letter.width().unwrap_or(0)).sum()
}

/// A number without trailing zeros, at most `digits` behind the point.
pub fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Bytes as people write them here: the largest unit of which there is one at least.
pub fn bytes(value: f64) -> String {
    const MIB: f64 = 1024.0 * 1024.0;
    let size = value.abs();
    if size >= 1024.0 * 1024.0 * MIB {
        format!("{:.2} TiB", value / (1024.0 * 1024.0 * MIB))
    } else if size >= 1024.0 * MIB {
        format!("{:.2} GiB", value / (1024.0 * MIB))
    } else if size >= MIB {
        format!("{:.1} MiB", value / MIB)
    } else if size >= 1024.0 {
        format!("{:.1} KiB", value / 1024.0)
    } else {
        format!("{value:.0} bytes")
    }
}

/// MiB in the form that suits their size.
pub fn mib(value: f64) -> String {
    bytes(value * 1024.0 * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        assert_eq!(mib(16.0625 * 24.0), "385.5 MiB");
        assert_eq!(bytes(81_542_267_396_096.0), "74.16 TiB");
        assert_eq!(bytes(66.1 * 1024.0 * 1024.0 * 1024.0), "66.10 GiB");
        assert_eq!(number(2.50, 2), "2.5");
        assert_eq!(number(100.0, 0), "100");
    }
}
