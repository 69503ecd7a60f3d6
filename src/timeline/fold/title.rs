//! The title of an error dialog: the type of the node on a line of its own, above the message.

use super::Open;
use crate::event::{At, Event, What};
use crate::timeline::session::Title;

/// Lines from the title to the message: a blank one may stand between.
const GAP: u64 = 2;
/// Letters of a type that is told from any word.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=80;
/// How Python's classes of errors end: such a word above a message is its kind.
const KINDS: [&str; 4] = ["Error", "Exception", "Warning", "Interrupt"];

/// The text is one word as types of nodes are written, and no other word: several capitals, or parts joined by a mark.
fn is_type(text: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-' | '.' | '|');
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && (text.chars().filter(char::is_ascii_uppercase).count() > 1 || text.contains(['_', '|', '+']))
        && !KINDS.iter().any(|kind| text.ends_with(kind))
        && text.chars().any(|c| c.is_ascii_lowercase())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(letters)
}

impl Open {
    /// A line that no rule knows may be a title, or the message below one.
    pub(super) fn note_title(&mut self, at: &At<'_>) {
        // Nearly all lines are neither, and are told by their length or a blank.
        let text = at.text.trim_ascii();
        let is_word = LENGTHS.contains(&text.len()) && memchr::memchr(b' ', text).is_none();
        if !is_word && self.title.is_none() {
            return;
        }
        let text = String::from_utf8_lossy(text);
        if is_word && is_type(&text) {
            self.title = Some(Title { node: text.into_owned(), line: at.place.line });
        } else if self.session.exceptions.last().is_some_and(|last| !text.is_empty() && last.message.trim() == text) {
            self.settle_title(at);
        } else if self.title.as_ref().is_some_and(|title| at.place.line > title.line + GAP) {
            self.title = None;
        }
    }

    /// An error right below a title is the failure of that node.
    pub(super) fn title_event(&mut self, event: &Event<'_>) {
        let fails = matches!(
            event.what,
            What::Oom { .. }
                | What::OomField { .. }
                | What::HostOom { .. }
                | What::Exception { .. }
                | What::ExceptionLine { .. }
                | What::ErrorNotice
        );
        if fails && !event.nested {
            self.settle_title(&event.at);
        }
    }

    fn settle_title(&mut self, at: &At<'_>) {
        let near = |title: &Title| (1..=GAP).contains(&at.place.line.saturating_sub(title.line));
        if let Some(title) = self.title.take().filter(near) {
            self.session.title = Some(title);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_type;

    #[test]
    fn types_are_told_from_words() {
        for node in ["KSampler", "CLIPTextEncode", "NunchakuQwenImageDiTLoader", "ETN_BackgroundRegion"] {
            assert!(is_type(node), "{node}");
        }
        for other in [
            "Killed.",
            "to create public link",
            "ERROR",
            "done",
            "Tue",
            "C:",
            "",
            "Sampling",
            "Loading",
            "RuntimeError",
        ] {
            assert!(!is_type(other), "{other}");
        }
    }
}
