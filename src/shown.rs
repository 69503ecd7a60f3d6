//! The one gate through which text of a log or of a pack reaches a terminal, Markdown, HTML, JSON or a redacted log.
//!
//! Behind it no character steers a terminal, turns the direction of a text, ends a line for some readers and not for others,
//! or stands there without being seen.

use std::fmt;
use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter};
use unicode_width::UnicodeWidthChar;

/// Text that may be shown: one line, without anything that acts instead of being read.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown(String);

impl Shown {
    /// All of `text`, as one line.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(if is_clean(text) { text.to_owned() } else { text.chars().map(in_place_of).collect() })
    }

    /// The same, with its line breaks and tabs.
    #[must_use]
    pub fn lines(text: &str) -> Self {
        let kept = |letter| if matches!(letter, '\n' | '\t') { letter } else { in_place_of(letter) };
        Self(text.chars().map(kept).collect())
    }

    /// At most `limit` characters; a cut is shown with `…`.
    #[must_use]
    pub fn cut(text: &str, limit: usize) -> Self {
        // Nearly every line of a log is short and plain.
        if text.len() <= limit {
            return Self::of(text);
        }
        let mut out = String::with_capacity(text.len().min(limit * 2));
        for (count, letter) in text.chars().enumerate() {
            if count == limit {
                out.push('…');
                break;
            }
            out.push(in_place_of(letter));
        }
        Self(out)
    }

    /// At most `width` terminal columns; a cut is shown with `…`.
    #[must_use]
    pub fn in_columns(text: &str, width: usize) -> Self {
        let columns = |letter: char| letter.width().unwrap_or(0);
        let total: usize = text.chars().map(|letter| columns(in_place_of(letter))).sum();
        let room = if total > width { width.saturating_sub(1) } else { width };
        let mut used = 0;
        let mut out = String::new();
        for letter in text.chars().map(in_place_of) {
            if used + columns(letter) > room {
                out.push('…');
                break;
            }
            used += columns(letter);
            out.push(letter);
        }
        Self(out)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Nothing in the text needs another character in its place.
fn is_clean(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        || !text.chars().any(|letter| letter == '\t' || is_unseen(letter))
}

/// What is shown in the place of a letter: breaks and control characters become blanks, so that words stay apart; what turns
/// or hides text becomes a mark that is seen.
fn in_place_of(letter: char) -> char {
    match letter {
        letter if letter.is_control() => ' ',
        '\u{2028}' | '\u{2029}' => ' ',
        // Marks that join or part letters of a script are text there, and show nothing by themselves.
        '\u{200b}'..='\u{200d}' | '\u{ad}' | '\u{2060}' => letter,
        letter if is_unseen(letter) => '\u{fffd}',
        letter => letter,
    }
}

/// A character that steers a terminal, turns the direction of a text, or is not seen at all; a tab is text.
#[must_use]
pub fn is_unseen(letter: char) -> bool {
    match letter {
        '\t' => false,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// `value` as indented JSON.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn json(value: &impl Serialize) -> io::Result<String> {
    written(value, Gate(PrettyFormatter::new()))
}

/// `value` as JSON on one line, whatever a reader takes for the end of a line.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn json_line(value: &impl Serialize) -> io::Result<String> {
    written(value, Gate(CompactFormatter))
}

fn written(value: &impl Serialize, gate: impl Formatter) -> io::Result<String> {
    let mut out = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, gate))?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// Writes strings of JSON as they may be shown; a line break stays, as `\n`.
struct Gate<F>(F);

/// What the gate leaves to the formatter inside.
macro_rules! inside {
    ($($name:ident($($argument:ident: $kind:ty),*)),* $(,)?) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            self.0.$name(writer $(, $argument)*)
        })*
    };
}

impl<F: Formatter> Formatter for Gate<F> {
    inside!(
        begin_array(),
        end_array(),
        begin_array_value(first: bool),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first: bool),
        end_object_key(),
        begin_object_value(),
        end_object_value(),
    );

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if is_clean(fragment) {
            return writer.write_all(fragment.as_bytes());
        }
        writer.write_all(fragment.chars().map(in_place_of).collect::<String>().as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        match escape {
            CharEscape::AsciiControl(_) | CharEscape::Backspace | CharEscape::FormFeed | CharEscape::CarriageReturn => {
                writer.write_all(b" ")
            }
            other => self.0.write_char_escape(writer, other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\x1b[2J\u{9b}b\u{202e}c\u{2028}d\u{2029}e\u{85}f\u{61c}g\u{feff}h\x7f\r\0i";

    fn acts(text: &str) -> bool {
        text.chars().any(|letter| {
            letter.is_control() || matches!(letter, '\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{feff}')
        })
    }

    #[test]
    fn log_text_cannot_steer_a_terminal() {
        assert_eq!(Shown::of(HOSTILE).as_str(), "a [2J b\u{fffd}c d e f\u{fffd}g\u{fffd}h   i");
        assert_eq!(Shown::cut("abcdef", 3).as_str(), "abc…");
        assert_eq!(Shown::in_columns("内存不足", 5).as_str(), "内存…");
        assert_eq!(Shown::lines("a\nb\x1bc").as_str(), "a\nb c");
        assert_eq!(Shown::of("模型 नमस्ते\u{200d} ok").as_str(), "模型 नमस्ते\u{200d} ok");
    }

    #[test]
    fn json_holds_nothing_that_acts_and_one_line_is_one_line() {
        let value = serde_json::json!({ HOSTILE: [HOSTILE, "two\nlines", "quote \" back \\"], "n": 1.5 });
        let line = json_line(&value).expect("it is JSON");
        assert!(!acts(&line), "{line:?}");
        let read: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
        let text = Shown::of(HOSTILE).into_string();
        assert_eq!(read, serde_json::json!({ text.as_str(): [text, "two\nlines", "quote \" back \\"], "n": 1.5 }));
        assert!(json(&value).expect("it is JSON").starts_with("{\n  \"a [2J"));
    }
}
