//! Where a text leaves room for values: the two ways of Python, `%` and braces.

use super::token::Piece;

/// `%s`, `%(name)d`, `%.2f` become holes.
pub(super) fn split_percent(text: &str, pieces: &mut Vec<Piece>) {
    let mut plain = String::new();
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            plain.push(letter);
            continue;
        }
        if rest.peek() == Some(&'%') {
            rest.next();
            plain.push('%');
            continue;
        }
        if rest.peek() == Some(&'(') {
            while rest.next().is_some_and(|inner| inner != ')') {}
        }
        while rest
            .next_if(|inner| inner.is_ascii_digit() || matches!(inner, '.' | '-' | '+' | '#' | '*' | ' '))
            .is_some()
        {}
        match rest.next_if(|inner| inner.is_ascii_alphabetic()) {
            Some(_) => {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Hole);
            }
            None => plain.push('%'),
        }
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
}

/// `{}`, `{name}`, `{:.2f}` become holes, `{{` a brace.
pub(super) fn split_format(text: &str, pieces: &mut Vec<Piece>) {
    let mut plain = String::new();
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '{' | '}' if rest.peek() == Some(&letter) => {
                rest.next();
                plain.push(letter);
            }
            '{' => {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                while rest.next().is_some_and(|inner| inner != '}') {}
                pieces.push(Piece::Hole);
            }
            other => plain.push(other),
        }
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
}
