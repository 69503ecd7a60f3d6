//! Tokens become texts: neighbouring strings joined, `+`, `%` and `.format` understood, each with the call it is in.

use super::holes::{split_format, split_percent};
use super::token::{Kind, Piece, Token, tokens};

/// What a text is given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// A logger, with its level.
    Log(&'static str),
    Print,
    Raise,
    Warn,
    /// `add_argument`: a flag of the command line.
    Argument,
    /// Anything else: kept in a variable, handed to a function.
    Other,
}

impl Call {
    /// The text goes to the console.
    pub fn speaks(self) -> bool {
        !matches!(self, Self::Other | Self::Argument)
    }

    /// The level as rules write it.
    pub fn level(self) -> Option<&'static str> {
        match self {
            Self::Log(level) => Some(level),
            _ => None,
        }
    }
}

/// A text of a source file.
#[derive(Debug, Clone)]
pub struct Literal {
    pub(super) pieces: Vec<Piece>,
    pub call: Call,
    /// Line of its first string, from 1.
    pub line: usize,
    /// The function it stands in; empty at the top.
    pub function: String,
}

/// All texts of a file, in order.
pub fn literals(source: &str) -> Vec<Literal> {
    let mut reader =
        Reader { frames: vec![Frame::default()], found: Vec::new(), function: String::new(), raised: false };
    let tokens = tokens(source);
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        reader.token(token, before, tokens.get(at + 1));
    }
    reader.end_text(false);
    reader.found
}

/// A text while it is read.
#[derive(Debug, Default)]
struct Text {
    pieces: Vec<Piece>,
    line: usize,
    has_string: bool,
    /// The pieces came out of an f-string only.
    formatted: bool,
    percent: bool,
    format: bool,
    /// Behind a `%`: what follows are its values.
    values: bool,
    /// Something that is no string stood here.
    other: bool,
    /// A `+` stood here and nothing behind it yet.
    plus: bool,
}

/// An open bracket.
#[derive(Debug, Default)]
struct Frame {
    /// The function called, with its dots; empty for other brackets.
    callee: String,
    raised: bool,
    text: Text,
    /// Dotted name that was just read.
    name: String,
    /// A comma was seen: more than one thing in the bracket.
    several: bool,
}

struct Reader {
    frames: Vec<Frame>,
    found: Vec<Literal>,
    function: String,
    /// The statement is a `raise`.
    raised: bool,
}

const KEYWORDS: [&str; 14] =
    ["if", "else", "elif", "and", "or", "not", "in", "is", "for", "return", "lambda", "yield", "await", "assert"];

impl Reader {
    fn token(&mut self, token: &Token, before: Option<&Token>, after: Option<&Token>) {
        match &token.kind {
            Kind::Str { pieces, formatted } => self.string(pieces, *formatted, token.line),
            Kind::Name(name) => self.name(name, before),
            Kind::Line if self.frames.len() == 1 => {
                self.end_text(false);
                self.raised = false;
            }
            Kind::Line => {}
            Kind::Op('(' | '[' | '{') => self.open(token),
            Kind::Op(')' | ']' | '}') => self.close(),
            Kind::Op(',') => {
                self.end_text(true);
                self.frame().several = true;
            }
            Kind::Op('+') => self.plus(),
            Kind::Op('%') => {
                let text = &mut self.frame().text;
                if text.has_string && !text.plus {
                    text.percent = true;
                    text.values = true;
                }
            }
            Kind::Op('.') => {}
            Kind::Op('=' | ':' | ';' | '<' | '>' | '!') => {
                let is_format = matches!(after.map(|after| &after.kind), Some(Kind::Op('=')));
                if !is_format {
                    self.end_text(false);
                }
                self.frame().name.clear();
            }
            Kind::Op(_) => {
                self.frame().text.other = true;
                self.frame().name.clear();
            }
        }
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn string(&mut self, pieces: &[Piece], formatted: bool, line: usize) {
        if self.frame().text.values {
            // A value of `%`; texts among them are no part of the sentence.
            return;
        }
        let frame = self.frame();
        frame.name.clear();
        let text = &mut frame.text;
        if text.other && !text.plus && !text.has_string {
            text.pieces.clear();
        }
        if !text.has_string {
            text.line = line;
            text.formatted = true;
        }
        text.formatted &= formatted;
        text.has_string = true;
        text.plus = false;
        text.other = false;
        text.pieces.extend_from_slice(pieces);
    }

    fn name(&mut self, name: &str, before: Option<&Token>) {
        let after_dot = matches!(before.map(|before| &before.kind), Some(Kind::Op('.')));
        let defines =
            matches!(before.map(|before| &before.kind), Some(Kind::Name(word)) if word == "def" || word == "class");
        if defines {
            self.function = name.to_owned();
        }
        if name == "raise" {
            self.raised = true;
            return;
        }
        if KEYWORDS.contains(&name) && !after_dot {
            self.end_text(false);
            self.frame().name.clear();
            return;
        }
        let frame = self.frame();
        if after_dot && frame.text.has_string && frame.name.is_empty() {
            if name == "format" {
                frame.text.format = true;
            }
            frame.name = format!(".{name}");
            return;
        }
        if after_dot {
            frame.name.push('.');
            frame.name.push_str(name);
        } else {
            frame.name = name.to_owned();
        }
        self.something_else();
    }

    /// A value that is no string stands where a text may be.
    fn something_else(&mut self) {
        let text = &mut self.frame().text;
        if text.values {
            return;
        }
        if text.plus {
            text.pieces.push(Piece::Hole);
            text.plus = false;
        }
        text.other = true;
    }

    fn plus(&mut self) {
        let frame = self.frame();
        frame.name.clear();
        let text = &mut frame.text;
        text.values = false;
        if !text.has_string && text.other {
            text.pieces = vec![Piece::Hole];
        }
        text.other = false;
        text.plus = true;
    }

    fn open(&mut self, token: &Token) {
        let called = token.kind == Kind::Op('(');
        let raised = self.raised;
        let frame = self.frame();
        let callee = if called { std::mem::take(&mut frame.name) } else { String::new() };
        frame.name.clear();
        if frame.text.plus && callee.is_empty() && !called {
            self.something_else();
        }
        self.frames.push(Frame { callee, raised, ..Frame::default() });
    }

    fn close(&mut self) {
        let frame = self.frame();
        // `("a" "b") % x`: the bracket only groups, so its text goes on outside.
        let groups = frame.callee.is_empty() && !frame.several && frame.text.has_string;
        if groups && self.frames.len() > 1 {
            let inner = self.frames.pop().map(|frame| frame.text).unwrap_or_default();
            let frame = self.frame();
            if !frame.text.values {
                let line = inner.line;
                let (percent, format) = (inner.percent, inner.format);
                self.string(&inner.pieces, inner.formatted, line);
                let text = &mut self.frame().text;
                text.percent |= percent;
                text.format |= format;
            }
            return;
        }
        self.end_text(false);
        if self.frames.len() > 1 {
            self.frames.pop();
        }
        let frame = self.frame();
        if !frame.text.has_string || frame.text.plus {
            self.something_else();
        }
        self.frame().name.clear();
    }

    /// The text ends here. Behind a comma in a logger's call its values may follow.
    fn end_text(&mut self, comma: bool) {
        let call = self.call();
        let function = self.function.clone();
        let text = std::mem::take(&mut self.frame().text);
        if !text.has_string {
            return;
        }
        let percent = text.percent || (comma && matches!(call, Call::Log(_)));
        let mut pieces = Vec::new();
        for piece in text.pieces {
            match piece {
                Piece::Text(part) if percent && !text.formatted => split_percent(&part, &mut pieces),
                Piece::Text(part) if text.format => split_format(&part, &mut pieces),
                other => pieces.push(other),
            }
        }
        if text.plus {
            pieces.push(Piece::Hole);
        }
        self.found.push(Literal { pieces, call, line: text.line, function });
    }

    /// The call that the text is for: the nearest that says something, else the nearest.
    fn call(&self) -> Call {
        let calls = self.frames.iter().rev().filter(|frame| !frame.callee.is_empty()).map(|frame| {
            if frame.raised && !frame.callee.starts_with('.') { Call::Raise } else { call_of(&frame.callee) }
        });
        calls.into_iter().find(|call| *call != Call::Other).unwrap_or(Call::Other)
    }
}

fn call_of(callee: &str) -> Call {
    let (base, name) = callee.rsplit_once('.').unwrap_or(("", callee));
    let logs = base.to_ascii_lowercase().contains("log");
    match name {
        "print" if base.is_empty() => Call::Print,
        "write" if base.starts_with("sys.std") => Call::Print,
        "warn" if base == "warnings" => Call::Warn,
        "add_argument" => Call::Argument,
        "debug" if logs => Call::Log("DEBUG"),
        "detail" if logs => Call::Log("DETAIL"),
        "info" | "log" if logs => Call::Log("INFO"),
        "warning" | "warn" | "warning_once" if logs => Call::Log("WARNING"),
        "error" | "exception" | "critical" if logs => Call::Log("ERROR"),
        _ => Call::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with `…` for holes, each with its call.
    fn read(source: &str) -> Vec<(String, Call)> {
        let shown = |literal: &Literal| -> String {
            literal.pieces.iter().map(|piece| if let Piece::Text(text) = piece { text.as_str() } else { "…" }).collect()
        };
        literals(source).iter().map(|literal| (shown(literal), literal.call)).collect()
    }

    fn one(source: &str) -> String {
        read(source).into_iter().map(|(text, _)| text).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn every_way_of_filling_in() {
        assert_eq!(one("logging.info(f\"{a} models\")"), "… models");
        assert_eq!(one("logging.info(\"a %s of %.2f MB %%\" % (x, y))"), "a … of … MB %");
        assert_eq!(one("logging.info(\"a %s\", x)"), "a …");
        assert_eq!(one("logging.info(\"{} of {:.2f} {{}}\".format(x, y))"), "… of … {}");
        assert_eq!(one("logging.warning(\"a \" + str(x) + \" b\")"), "a … b");
        assert_eq!(one("print(x + ' b')"), "… b");
        assert_eq!(one("logging.info('one '\n  'two {}'.format(3))"), "one two …");
        assert_eq!(one("raise E((\"a %s \"\n \"b\") % x)"), "a … b");
        assert_eq!(one("x = 'a' if y else 'b'"), "a | b");
        assert_eq!(one("logging.info('100% sure')"), "100% sure");
    }

    #[test]
    fn the_call_is_known() {
        assert_eq!(read("logging.warning('a')")[0].1, Call::Log("WARNING"));
        assert_eq!(read("raise RuntimeError('a')")[0].1, Call::Raise);
        assert_eq!(read("raise RuntimeError('a'.format(x('b')))")[0].1, Call::Raise);
        assert_eq!(read("print('a')")[0].1, Call::Print);
        assert_eq!(read("warnings.warn('a')")[0].1, Call::Warn);
        assert_eq!(read("parser.add_argument('--x', help='y')")[0].1, Call::Argument);
        assert_eq!(read("x = {'a': 'b'}")[0].1, Call::Other);
        assert_eq!(read("def f():\n  logging.info('a {}'.format(len(b)))")[0].1, Call::Log("INFO"));
    }

    #[test]
    fn functions_are_known() {
        let found = literals("def free_memory(x):\n    logging.info('a')\n");
        assert_eq!((found[0].function.as_str(), found[0].line), ("free_memory", 2));
    }
}
