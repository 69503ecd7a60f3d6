//! Lines that are private because of a line before them: keys and workflows over several lines, prompts that go on below,
//! and what commands answer.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::rules::{List, RULES};
use super::tokens::Category;
use super::words::Vocabulary;

/// What begins a block of a key, whatever its kind.
static BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("BEGIN "));

/// Commands that answer with the name of an account or of a machine.
const ASKS: [(&str, Category); 17] = [
    ("whoami", Category::User),
    ("logname", Category::User),
    ("id -un", Category::User),
    ("echo $USER", Category::User),
    ("$USER", Category::User),
    ("echo %USERNAME%", Category::User),
    ("$env:USERNAME", Category::User),
    ("env:USERNAME", Category::User),
    ("hostname", Category::Host),
    ("uname -n", Category::Host),
    ("hostname -f", Category::Host),
    ("echo $HOSTNAME", Category::Host),
    ("$HOSTNAME", Category::Host),
    ("echo %COMPUTERNAME%", Category::Host),
    ("hostnamectl hostname", Category::Host),
    ("scutil --get ComputerName", Category::Host),
    ("$env:COMPUTERNAME", Category::Host),
];

/// Lines that a prompt may go on for.
const PROMPT_LINES: u32 = 24;

/// What the lines before have begun.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) enum Region {
    #[default]
    None,
    /// A block of a key.
    Key,
    /// The workflow of an error report.
    Workflow,
    /// Values of widgets in a workflow over several lines.
    Values,
    /// A prompt: more must follow, a stamp or a level stood before its first line, and how many lines it had since.
    Prompt { open: bool, fresh: bool, lines: u32 },
    /// The answer of `whoami` and the like.
    Answer(Category),
}

/// What a line is because of those before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    /// To be looked at like any other.
    Usual,
    /// As it stands.
    Stays,
    /// Private as a whole.
    Whole(Category),
}

impl Region {
    /// What the line is, by its text without prefixes; `fresh` when a stamp or a level stood before the text.
    pub(super) fn line(&mut self, body: &str, fresh: bool, vocabulary: &Vocabulary) -> Ruling {
        let text = body.trim();
        match self {
            Self::None => {
                self.opens(text, fresh);
                Ruling::Usual
            }
            // Also what a container runtime writes before an empty line.
            Self::Key if matches!(text, "" | "stdout F" | "stderr F") => Ruling::Stays,
            Self::Key => {
                let ends = text.contains("-----END") || text.contains("---- END");
                if ends || !is_of_key(text) {
                    *self = Self::None;
                    self.opens(text, fresh);
                    return if ends { Ruling::Stays } else { Ruling::Usual };
                }
                Ruling::Whole(Category::Key)
            }
            Self::Workflow if text.starts_with("## ") => {
                *self = Self::None;
                Ruling::Usual
            }
            Self::Workflow => {
                let frame =
                    text.is_empty() || text.starts_with("```") || text.starts_with("Please make sure that workflow");
                if frame { Ruling::Stays } else { Ruling::Whole(Category::Workflow) }
            }
            Self::Values => {
                if text.starts_with(']') || !is_value(text) {
                    *self = Self::None;
                    return Ruling::Usual;
                }
                let private =
                    text.starts_with(['"', '\'']) && text.chars().filter(|letter| letter.is_alphabetic()).count() > 1;
                if private { Ruling::Whole(Category::Prompt) } else { Ruling::Stays }
            }
            Self::Prompt { open, fresh: first, lines } => {
                if *lines < PROMPT_LINES && goes_on(text, *open, fresh && !*first, vocabulary) {
                    *self = Self::Prompt { open: is_open(text), fresh: *first, lines: *lines + 1 };
                    return Ruling::Whole(Category::Prompt);
                }
                *self = Self::None;
                self.opens(text, fresh);
                Ruling::Usual
            }
            Self::Answer(category) => {
                let category = *category;
                *self = Self::None;
                let word = !text.contains(' ') && !text.is_empty() && !RULES.has(List::Accounts, &text.to_lowercase());
                if word { Ruling::Whole(category) } else { Ruling::Usual }
            }
        }
    }

    /// A prompt stood at the end of the line, and may go on in the next one.
    pub(super) fn prompt_ends(&mut self, text: &str, fresh: bool) {
        *self = Self::Prompt { open: is_open(text), fresh, lines: 0 };
    }

    fn opens(&mut self, text: &str, fresh: bool) {
        if BEGIN.find(text.as_bytes()).is_some()
            && ((text.contains("-----BEGIN ") && !text.contains("-----END"))
                || (text.contains("---- BEGIN ") && !text.contains("---- END")))
        {
            *self = Self::Key;
        } else if text.starts_with("## Attached Workflow") {
            *self = Self::Workflow;
        } else if text.ends_with('[') && (text.contains("\"widgets_values\"") || text.contains("'widgets_values'")) {
            *self = Self::Values;
        } else if is_head(text) {
            *self = Self::Prompt { open: true, fresh, lines: 0 };
        } else if let Some(category) = asks(text) {
            *self = Self::Answer(category);
        }
    }
}

/// A name of prompts and a colon, and nothing else.
fn is_head(text: &str) -> bool {
    let Some(name) = text.strip_suffix([':', '：']) else { return false };
    let name = name.rsplit([']', '|', '>']).next().unwrap_or(name).trim().to_lowercase();
    RULES.has(List::PromptHeads, &name)
}

/// A command that answers with the name of an account or of a machine.
fn asks(text: &str) -> Option<Category> {
    ASKS.iter().find_map(|(command, category)| {
        let before = text.strip_suffix(command)?.trim_end();
        let shell = ['$', '#', '%', '>', '❯', ';', '&', '|'];
        (before.is_empty() || before.ends_with(shell)).then_some(*category)
    })
}

/// Base64, headers, or nothing.
fn is_of_key(text: &str) -> bool {
    let header = text
        .split_once(": ")
        .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    header
        || text.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'"' | b',' | b'-' | b'_')
        })
}

/// A value of a list, alone in its line.
fn is_value(text: &str) -> bool {
    text.starts_with(['"', '\'', '[', '{', '-', '}'])
        || text.starts_with(|letter: char| letter.is_ascii_digit())
        || ["true", "false", "null", "True", "False", "None"].iter().any(|word| text.starts_with(word))
}

/// More must follow: a list or a bracket is open.
fn is_open(text: &str) -> bool {
    text.trim_end().ends_with([',', '，', '、', '(', '-', ';'])
}

/// The line reads like prose, and like nothing that a program says.
fn goes_on(text: &str, open: bool, fresh: bool, vocabulary: &Vocabulary) -> bool {
    if fresh || text.is_empty() || vocabulary.begins(text) {
        return false;
    }
    let code = text.starts_with(['[', '{', '<', '/', '\\', '!', '*', '#', '|', '@', '$', '=', '+'])
        || text.starts_with("File \"")
        || text.starts_with("Traceback")
        || text.starts_with("--")
        || ["%|", "it/s", "s/it", "://", " seconds", "\\\\", "()", " = ", "Error", "/", "\\"]
            .iter()
            .any(|mark| text.contains(mark));
    let named = text.split_once(':').is_some_and(|(name, _)| name.split(' ').count() <= 3 && !name.contains('('));
    let letters = text
        .chars()
        .filter(|letter| letter.is_alphabetic() || matches!(letter, ' ' | ',' | '.' | '，' | '、' | '。'))
        .count();
    let prose = letters * 10 >= text.chars().count() * 8;
    let begins = text.starts_with(|letter: char| letter.is_lowercase() || letter == '(' || u32::from(letter) >= 0x2e80);
    let words = text.split_whitespace().count() >= 2
        || text.ends_with(',')
        || text.chars().any(|letter| u32::from(letter) >= 0x2e80);
    !code && !named && prose && words && (begins || open)
}
