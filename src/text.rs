//! Safe shortening and formatting of text and numbers that people will read.

use unicode_width::UnicodeWidthChar;

/// Cuts `text` to at most `limit` characters; a cut is shown with `…`. Control characters become blanks,
/// so that a log cannot steer a terminal.
pub fn cut_chars(text: &str, limit: usize) -> String {
    // Nearly every line of a log is short and plain.
    if text.len() <= limit && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len().min(limit * 2));
    for (count, letter) in text.chars().enumerate() {
        if count == limit {
            out.push('…');
            break;
        }
        out.push(harmless(letter));
    }
    out
}

/// Cuts `text` to `width` terminal columns; a cut is shown with `…`.
pub fn cut_width(text: &str, width: usize) -> String {
    let total: usize = text.chars().map(|letter| harmless(letter).width().unwrap_or(0)).sum();
    let room = if total > width { width.saturating_sub(1) } else { width };
    let mut used = 0;
    let mut out = String::new();
    for letter in text.chars().map(harmless) {
        let columns = letter.width().unwrap_or(0);
        if used + columns > room {
            out.push('…');
            break;
        }
        used += columns;
        out.push(letter);
    }
    out
}

/// Terminal columns that `text` takes.
pub fn width(text: &str) -> usize {
    text.chars().map(|letter| letter.width().unwrap_or(0)).sum()
}

/// Control characters and marks that turn the direction of text would let a log line pose as our own words.
fn harmless(letter: char) -> char {
    match letter {
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => '\u{fffd}',
        letter if letter.is_control() => ' ',
        letter => letter,
    }
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
    fn log_text_cannot_steer_a_terminal() {
        assert_eq!(cut_chars("a\x1b[2Jb\u{202e}c", 20), "a [2Jb\u{fffd}c");
        assert_eq!(cut_chars("abcdef", 3), "abc…");
        assert_eq!(cut_width("内存不足", 5), "内存…");
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(mib(16.0625 * 24.0), "385.5 MiB");
        assert_eq!(bytes(81_542_267_396_096.0), "74.16 TiB");
        assert_eq!(bytes(66.1 * 1024.0 * 1024.0 * 1024.0), "66.10 GiB");
        assert_eq!(number(2.50, 2), "2.5");
        assert_eq!(number(100.0, 0), "100");
    }
}
