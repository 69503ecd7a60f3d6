//! Breaks text into rows by display width: at blanks, and between Chinese characters.
//!
//! A word that is longer than a row stays whole: paths, links and numbers are never cut here.

use unicode_width::UnicodeWidthChar;

use crate::text::{cut_width, width};

/// Rows of at most `columns` columns. Log text in it is made harmless first.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut used = 0;
    for piece in pieces(&clean(text)) {
        let blank = usize::from(piece.blank_before && !row.is_empty());
        let needs = width(&piece.text);
        if used + blank + needs > columns && !row.is_empty() {
            rows.push(std::mem::take(&mut row));
            used = 0;
        } else if blank == 1 {
            row.push(' ');
            used += 1;
        }
        row.push_str(&piece.text);
        used += needs;
    }
    if !row.is_empty() || rows.is_empty() {
        rows.push(row);
    }
    rows
}

/// `text` on one row, without what could steer a terminal.
pub(crate) fn clean(text: &str) -> String {
    cut_width(text, usize::MAX)
}

/// `text` padded with blanks to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", blanks(columns.saturating_sub(width(text))))
}

/// `text` moved to the right edge of `columns`.
pub(crate) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", blanks(columns.saturating_sub(width(text))))
}

pub(crate) fn blanks(count: usize) -> String {
    " ".repeat(count)
}

struct Piece {
    blank_before: bool,
    text: String,
}

/// Pieces between which a row may end.
fn pieces(text: &str) -> Vec<Piece> {
    let mut list = Vec::new();
    let mut piece = Piece { blank_before: false, text: String::new() };
    let mut last = None;
    for letter in text.chars() {
        let blank = letter == ' ';
        let between = last.is_some_and(|last| (wide(last) || wide(letter)) && !opens(last) && !closes(letter));
        if (blank || between) && !piece.text.is_empty() {
            list.push(std::mem::replace(&mut piece, Piece { blank_before: false, text: String::new() }));
        }
        if blank {
            piece.blank_before = true;
            last = None;
        } else {
            piece.text.push(letter);
            last = Some(letter);
        }
    }
    if !piece.text.is_empty() {
        list.push(piece);
    }
    list
}

fn wide(letter: char) -> bool {
    letter.width() == Some(2)
}

/// Must not end a row.
fn opens(letter: char) -> bool {
    matches!(letter, '（' | '「' | '《' | '【' | '“' | '‘' | '(' | '[')
}

/// Must not begin a row.
fn closes(letter: char) -> bool {
    matches!(
        letter,
        '，' | '。'
            | '、'
            | '；'
            | '：'
            | '？'
            | '！'
            | '）'
            | '」'
            | '》'
            | '】'
            | '”'
            | '’'
            | '…'
            | '%'
            | ')'
            | ']'
            | ','
            | '.'
            | ';'
            | ':'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_at_blanks_and_long_words_stay_whole() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("see https://example.org/long now", 10), ["see", "https://example.org/long", "now"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn chinese_breaks_anywhere_but_before_a_full_stop() {
        assert_eq!(wrap("显存不足。请等待", 8), ["显存不", "足。请等", "待"]);
        assert_eq!(wrap("用 --lowvram 无效", 12), ["用 --lowvram", "无效"]);
    }

    #[test]
    fn log_text_stays_inert() {
        assert_eq!(wrap("a\x1b[2Jb\nc", 40), ["a [2Jb c"]);
    }
}
