//! Python source becomes the few tokens that texts are made of: strings, names, brackets, operators.
//!
//! Tolerant: what it does not know is passed over. It is no parser, and checks nothing.

/// A piece of a text: what is written, or a place that is filled in when the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Hole,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A string, with its holes when it is an f-string.
    Str {
        pieces: Vec<Piece>,
        formatted: bool,
    },
    Name(String),
    Op(char),
    /// End of a line, outside of brackets or not.
    Line,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) line: usize,
}

/// All tokens of a file.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut scanner = Scanner { rest: source.chars().collect(), at: 0, line: 1 };
    let mut tokens = Vec::new();
    while let Some(token) = scanner.next() {
        tokens.push(token);
    }
    tokens
}

struct Scanner {
    rest: Vec<char>,
    at: usize,
    line: usize,
}

impl Scanner {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest.get(self.at + ahead).copied()
    }

    fn bump(&mut self) -> Option<char> {
        let letter = self.peek(0)?;
        self.at += 1;
        if letter == '\n' {
            self.line += 1;
        }
        Some(letter)
    }

    fn next(&mut self) -> Option<Token> {
        loop {
            let line = self.line;
            let letter = self.peek(0)?;
            let kind = match letter {
                '#' => {
                    while self.peek(0).is_some_and(|letter| letter != '\n') {
                        self.bump();
                    }
                    continue;
                }
                '\n' => {
                    self.bump();
                    Kind::Line
                }
                '\\' if self.peek(1) == Some('\n') => {
                    self.bump();
                    self.bump();
                    continue;
                }
                ' ' | '\t' | '\r' => {
                    self.bump();
                    continue;
                }
                '"' | '\'' => self.string(""),
                _ if letter.is_alphanumeric() || letter == '_' => {
                    let mut name = String::new();
                    while let Some(letter) = self.peek(0).filter(|letter| letter.is_alphanumeric() || *letter == '_') {
                        name.push(letter);
                        self.bump();
                    }
                    match self.peek(0) {
                        Some('"' | '\'') if is_prefix(&name) => self.string(&name),
                        _ => Kind::Name(name),
                    }
                }
                other => {
                    self.bump();
                    Kind::Op(other)
                }
            };
            return Some(Token { kind, line });
        }
    }

    /// A string from its opening quote on.
    fn string(&mut self, prefix: &str) -> Kind {
        let raw = prefix.contains(['r', 'R']);
        let formatted = prefix.contains(['f', 'F', 't', 'T']);
        let quote = self.bump().unwrap_or('"');
        let triple = self.peek(0) == Some(quote) && self.peek(1) == Some(quote);
        if triple {
            self.bump();
            self.bump();
        }
        let mut pieces = Vec::new();
        let mut text = String::new();
        while let Some(letter) = self.peek(0) {
            let ends = letter == quote && (!triple || (self.peek(1) == Some(quote) && self.peek(2) == Some(quote)));
            if ends {
                for _ in 0..if triple { 3 } else { 1 } {
                    self.bump();
                }
                break;
            }
            if letter == '\n' && !triple {
                break;
            }
            self.bump();
            match letter {
                '\\' if raw => {
                    text.push('\\');
                    text.extend(self.bump());
                }
                '\\' => self.escape(&mut text),
                '{' if formatted && self.peek(0) == Some('{') => {
                    self.bump();
                    text.push('{');
                }
                '}' if formatted && self.peek(0) == Some('}') => {
                    self.bump();
                    text.push('}');
                }
                '{' if formatted => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    self.hole(quote, triple);
                    pieces.push(Piece::Hole);
                }
                other => text.push(other),
            }
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Kind::Str { pieces, formatted }
    }

    /// Passes over `{…}` of an f-string; strings inside may hold braces.
    fn hole(&mut self, quote: char, triple: bool) {
        let mut depth = 1;
        while let Some(letter) = self.peek(0) {
            // Before Python 3.12 the outer quote could not stand inside; where it does, the string has ended.
            if letter == quote && !triple {
                return;
            }
            if letter == '\n' && !triple {
                return;
            }
            self.bump();
            match letter {
                '{' => depth += 1,
                '}' => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                '"' | '\'' => {
                    while let Some(inner) = self.peek(0).filter(|inner| *inner != '\n') {
                        self.bump();
                        if inner == letter {
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self, text: &mut String) {
        let Some(letter) = self.bump() else { return };
        match letter {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            '\n' => {}
            'x' => self.code(2, text),
            'u' => self.code(4, text),
            'U' => self.code(8, text),
            '0'..='7' => {}
            'a' | 'b' | 'f' | 'v' => {}
            '\\' | '\'' | '"' => text.push(letter),
            other => {
                text.push('\\');
                text.push(other);
            }
        }
    }

    fn code(&mut self, digits: usize, text: &mut String) {
        let mut value = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek(0).and_then(|letter| letter.to_digit(16)) else { break };
            self.bump();
            value = value * 16 + digit;
        }
        // Colours and other control codes are taken away before a line is matched.
        text.extend(char::from_u32(value).filter(|letter| !letter.is_control()));
    }
}

fn is_prefix(name: &str) -> bool {
    name.len() <= 2 && name.chars().all(|letter| matches!(letter.to_ascii_lowercase(), 'r' | 'b' | 'f' | 'u' | 't'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(source: &str) -> Vec<Vec<Piece>> {
        let strings = tokens(source).into_iter().filter_map(|token| match token.kind {
            Kind::Str { pieces, .. } => Some(pieces),
            _ => None,
        });
        strings.collect()
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[test]
    fn strings_of_every_form() {
        assert_eq!(strings("x = 'a\\n' # 'no'"), [[text("a\n")]]);
        assert_eq!(strings("r'\\d' '''two\nlines'''"), [[text("\\d")], [text("two\nlines")]]);
        assert_eq!(strings("f\"{x['a']:.2f} MB {{y}}\""), [[Piece::Hole, text(" MB {y}")]]);
        assert_eq!(strings("f'{a}' b'c'"), [vec![Piece::Hole], vec![text("c")]]);
    }

    #[test]
    fn a_broken_string_ends_with_its_line() {
        assert_eq!(strings("'open\n'next'"), [[text("open")], [text("next")]]);
    }
}
