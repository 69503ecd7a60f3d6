//! Folders and files: names of accounts, folders that somebody made up, and what people make.
//!
//! A path is taken apart; each part stays when it says nothing of a person (see `rules/redaction/words.toml`) or lies where
//! programs do.
//!
//! Long: one walk over the parts of a path, with all that may keep a part.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use super::accept::{is_token, near, user};
use super::found::Found;
use super::rules::{List, RULES};
use super::tokens::Category;

/// Letters of one part of a path.
const LONGEST_PART: usize = 255;
/// Words that the name of a folder may have where no quote tells its end.
const WORDS: usize = 6;

/// A text, its words that are ComfyUI's own, and what was found in it.
pub(super) struct Paths<'w> {
    pub(super) vocabulary: &'w BTreeSet<String>,
    /// Accounts that everybody has, where an account is named.
    pub(super) stayed: RefCell<Vec<String>>,
}

/// A path as it is read.
struct Walk<'t> {
    text: &'t str,
    windows: bool,
    /// The quote that ends it.
    quote: Option<char>,
}

impl Paths<'_> {
    /// Adds what is private in the paths of `text`.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Found>) {
        let mut organisations: Vec<usize> =
            found.iter().filter(|one| one.category == Category::Organisation).map(|one| one.at.start).collect();
        organisations.sort_unstable();
        let mut from = 0;
        while let Some(at) = memchr::memchr2(b'/', b'\\', text.as_bytes().get(from..).unwrap_or_default()) {
            let slash = from + at;
            from = match start(text, slash) {
                Some(walk) => {
                    let first = found.len();
                    let end = self.path(&walk, slash, &organisations, found).max(slash + 1);
                    // All that stands before a part shows what it is.
                    found.iter_mut().skip(first).for_each(|one| one.shown.start = slash);
                    end
                }
                None => slash + 1,
            };
        }
        self.files(text, found);
    }

    /// Takes the path apart whose first mark stands at `slash`; where it ends.
    fn path(&self, walk: &Walk<'_>, slash: usize, organisations: &[usize], found: &mut Vec<Found>) -> usize {
        let parts = walk.parts(slash);
        let Some(last) = parts.last().cloned() else { return slash };
        let name = |index: usize| parts.get(index).and_then(|part| walk.text.get(part.clone())).unwrap_or_default();
        let mut in_programs = false;
        let mut in_comfyui = false;
        let mut own = None;
        for (index, part) in parts.iter().enumerate() {
            let this = name(index);
            let lower = this.to_lowercase();
            let before = index.checked_sub(1).map(|index| name(index).to_lowercase()).unwrap_or_default();
            let account = RULES.has(List::Homes, &before)
                && (index == 1 || before != "users" || walk.windows || index <= 3)
                || (before == "media" && (index == 1 || name(0) == "run"));
            if this.is_empty() || is_token(this) {
                continue;
            }
            if account && !in_programs {
                let this = walk.account(part);
                let name = walk.text.get(this.clone()).unwrap_or_default();
                if user(name) {
                    found.push(Found::new(if before == "volumes" { Category::Folder } else { Category::User }, this));
                } else {
                    self.stayed.borrow_mut().push(name.to_lowercase());
                }
                continue;
            }
            let is_last = index + 1 == parts.len();
            if own.is_none() && is_last && is_file(this) {
                continue;
            }
            if RULES.has(List::UsersOwn, &lower) && (in_comfyui || is_private_root(index)) && !in_programs {
                own.get_or_insert(index + 1);
                continue;
            }
            in_comfyui |= lower.contains("comfy");
            in_programs |= self.is_program(&lower, index, walk);
            if in_programs || own.is_some_and(|own| own <= index) || self.is_usual(&lower) {
                continue;
            }
            let company = organisations.get(organisations.partition_point(|at| *at < part.start));
            let company = company.is_some_and(|at| part.contains(at));
            if let Some(part) = walk.folder(part, is_last).filter(|_| !company) {
                found.push(Found::new(Category::Folder, part));
            }
        }
        // What lies below the folders of output and input is one name, its folders included.
        if let (Some(own), Some(media)) = (own, walk.media_end(slash, last.end))
            && let Some(first) = parts.get(own)
            && !in_programs
        {
            found.push(Found::new(Category::File, first.start..media.max(first.end)));
            return media.max(last.end);
        }
        last.end
    }

    /// What lies below stays.
    fn is_program(&self, lower: &str, index: usize, walk: &Walk<'_>) -> bool {
        let root = index == 0 && !walk.windows;
        let anywhere = RULES.has(List::ProgramsAnywhere, lower)
            || (lower.starts_with("python3") && lower.get(7..8).is_some_and(|next| next == "1" || next == "."));
        anywhere
            || (root && RULES.has(List::Programs, lower) && lower != "users")
            || (walk.windows && index == 1 && lower == "windows")
    }

    /// All its words are usual ones.
    fn is_usual(&self, lower: &str) -> bool {
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).all(|word| {
            let bare = word.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
            let bare = bare.trim_start_matches(|letter: char| letter.is_ascii_digit());
            bare.len() <= 2 && bare.is_ascii()
                || ["comfy", "python", "cuda", "torch", "stable"].iter().any(|known| word.contains(known))
                || RULES.has(List::Folders, word)
                || RULES.has(List::Launchers, bare)
                || RULES.has(List::Folders, bare)
                || self.vocabulary.contains(word)
                || self.vocabulary.contains(bare)
        })
    }

    /// Adds names of files that people make, wherever they stand.
    fn files(&self, text: &str, found: &mut Vec<Found>) {
        let bytes = text.as_bytes();
        let mut from = 0;
        let mut after = 0;
        while let Some(at) = memchr::memchr(b'.', bytes.get(from..).unwrap_or_default()) {
            let dot = from + at;
            from = dot + 1;
            let tail = bytes.get(from..).unwrap_or_default();
            let length = tail.iter().take(8).take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let ending = text.get(from..from + length).unwrap_or_default();
            let joined = matches!(tail.get(length), Some(b'_' | b'(' | b'='))
                || (tail.get(length) == Some(&b'.') && tail.get(length + 1).is_some_and(u8::is_ascii_alphanumeric));
            if length < 2 || joined || !RULES.has(List::Media, &ending.to_ascii_lowercase()) {
                continue;
            }
            let Some(at) = name_of(text, dot, after) else { continue };
            let at = at..dot + 1 + length;
            let name = text.get(at.clone()).unwrap_or_default();
            if !self.is_programs_file(text, &at, name, &ending.to_ascii_lowercase()) && !is_token(name) {
                after = at.end;
                found.push(Found::new(Category::File, at));
            }
        }
    }

    fn is_programs_file(&self, text: &str, at: &Range<usize>, name: &str, ending: &str) -> bool {
        let lower = name.to_lowercase();
        let stem = lower.strip_suffix(ending).unwrap_or(&lower).trim_end_matches('.');
        if RULES.has(List::ProgramFiles, &lower)
            || stem.is_empty()
            || stem.chars().all(|letter| !letter.is_alphanumeric())
        {
            return true;
        }
        if !RULES.has(List::SharedEndings, ending) {
            return false;
        }
        // A member of a module, a web page, or a file of a program.
        let before = near(text, at.start);
        let path = before.rsplit([' ', '"', '\'', '`', '(', '=', '<']).next().unwrap_or_default().to_lowercase();
        let programs = [
            "custom_nodes",
            "site-packages",
            "dist-packages",
            "/comfy/",
            "://",
            "python_embed",
            "/usr/",
            "\\comfy\\",
            "web/",
            "configs",
            "hub",
            "tokenizer",
        ];
        let in_programs = programs.iter().any(|folder| path.contains(folder)) && !path.contains("workflows");
        let bare = path.is_empty() && self.is_usual(stem);
        in_programs
            || bare
            || (matches!(ending, "key" | "obj" | "raw" | "ai" | "ass" | "pages" | "numbers")
                && !before.ends_with(['/', '\\', '"', '\'']))
    }
}

/// The path lies in ComfyUI's own folders of what users make, as far as its beginning tells.
fn is_private_root(index: usize) -> bool {
    index <= 1
}

/// A name with an ending, which `files` looks at.
fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && (1..=12).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// A path begins with the mark at `slash`.
fn start(text: &str, slash: usize) -> Option<Walk<'_>> {
    let before = text.get(..slash)?;
    let mut letters = before.chars().rev();
    let last = letters.next();
    let windows = last == Some(':')
        && letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && !letters.next().is_some_and(char::is_alphanumeric);
    if windows {
        let quote =
            before.get(..before.len() - 2)?.chars().next_back().filter(|letter| matches!(letter, '"' | '\'' | '`'));
        return Some(Walk { text, windows, quote });
    }
    let open = match last {
        None => true,
        Some(letter) => {
            letter.is_whitespace()
                || matches!(
                    letter,
                    '"' | '\'' | '`' | '=' | '(' | '[' | '<' | ',' | '>' | '~' | '|' | '：' | '，' | '@'
                )
                || (letter == ':' && !before.ends_with("http:") && !before.ends_with("https:"))
        }
    };
    let scheme = before.ends_with("://") || before.ends_with("file:/") || before.ends_with("file:");
    // Folders of accounts are told anywhere: in addresses and behind other marks too.
    let rest = text.get(slash + 1..)?;
    let home = ["home/", "Users/", "users/", "Users\\", "users\\", "Volumes/", "home\\"]
        .iter()
        .any(|home| rest.starts_with(home))
        && !before.ends_with(|letter: char| letter.is_alphanumeric() && text.as_bytes().get(slash) == Some(&b'/'));
    let quote = last.filter(|letter| matches!(letter, '"' | '\'' | '`'));
    ((open && !scheme) || home || before.ends_with("file://")).then_some(Walk { text, windows: false, quote })
}

impl<'t> Walk<'t> {
    /// The parts between the marks.
    fn parts(&self, slash: usize) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut at = slash;
        while parts.len() < 64 {
            let rest = self.text.get(at..).unwrap_or_default();
            let marks = rest.len() - rest.trim_start_matches(['/', '\\']).len();
            if marks == 0 {
                break;
            }
            let from = at + marks;
            let length = self.part(from);
            if length == 0 {
                break;
            }
            parts.push(from..from + length);
            at = from + length;
        }
        parts
    }

    /// Length of the part that begins at `from`.
    fn part(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        let mut blank = None;
        for (at, letter) in rest.char_indices() {
            let hard = matches!(letter, '"' | '<' | '>' | '|' | '*' | '?' | '\r' | '\n' | '\t' | '`')
                || Some(letter) == self.quote
                || (self.quote.is_none() && matches!(letter, '\'' | ',' | ';' | ':' | ')' | ']' | '}' | '，' | '。'))
                || (letter == ':' && self.quote.is_some() && self.windows);
            if letter == '/' || letter == '\\' {
                return match blank {
                    Some(blank) if !self.goes_on(rest.get(blank..at).unwrap_or_default()) => blank,
                    _ => at,
                };
            }
            if hard || at > LONGEST_PART {
                return match blank {
                    Some(blank) if self.quote.is_none() => blank,
                    _ => at,
                };
            }
            if letter == ' ' && self.quote.is_none() {
                blank.get_or_insert(at);
            }
        }
        if self.quote.is_none() { blank.unwrap_or(rest.len()) } else { rest.len() }
    }

    /// What stands between a blank and the next mark belongs to the name before it.
    fn goes_on(&self, words: &str) -> bool {
        let list: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
        let capital = |word: &&str| word.starts_with(|letter: char| letter.is_uppercase() || letter.is_ascii_digit());
        let ends = words.ends_with(' ') || list.is_empty() || list.len() > WORDS;
        !ends && ((self.windows && list.iter().all(|word| !word.starts_with('-'))) || list.last().is_some_and(capital))
    }

    /// The name of an account: further words with capital letters belong to it at the end of a text too.
    fn account(&self, part: &Range<usize>) -> Range<usize> {
        let rest = self.text.get(part.end..).unwrap_or_default();
        let mut end = part.end;
        if self.quote.is_none() && rest.starts_with(' ') {
            for word in rest.split_inclusive(' ').skip(1).take(3) {
                let bare = word.trim_end_matches(' ');
                let name = bare.chars().next().is_some_and(char::is_uppercase)
                    && bare.chars().skip(1).all(|letter| letter.is_lowercase() || letter == '-')
                    && bare.chars().count() >= 2;
                if !name {
                    break;
                }
                let at = self.text.get(end..).unwrap_or_default();
                end += at.len() - at.trim_start_matches(' ').len() + bare.len();
            }
            // Only where nothing follows: a sentence may go on with a capital letter.
            let after = self.text.get(end..).unwrap_or_default();
            if !after.trim().is_empty() && !after.starts_with([',', ';', '"', '\'', ')', '/', '\\']) {
                end = part.end;
            }
        }
        let name = self.text.get(part.start..end).unwrap_or_default();
        part.start..part.start + name.trim_end_matches(['.', '!', ' ']).len()
    }

    /// A folder's name without what the sentence put behind it; none when nothing is left.
    fn folder(&self, part: &Range<usize>, last: bool) -> Option<Range<usize>> {
        let name = self.text.get(part.clone())?;
        let letters = name.chars().filter(|letter| letter.is_alphabetic()).count();
        let name = if last { name.trim_end_matches(['.', '!', ' ']) } else { name };
        let placeholder = name.starts_with(['$', '%', '{', '<', '*', '(', '[', '-']) || name.contains("://");
        (letters >= 3 && !placeholder && !is_file_like(name, last)).then(|| part.start..part.start + name.len())
    }

    /// Where the media file ends that the path leads to, whose parts without blanks end at `end`.
    fn media_end(&self, slash: usize, end: usize) -> Option<usize> {
        let mut reach = self.text.len().min(end + LONGEST_PART);
        while !self.text.is_char_boundary(reach) {
            reach -= 1;
        }
        let rest = self.text.get(slash..reach)?;
        let stop = rest
            .char_indices()
            .find(|(_, letter)| {
                matches!(letter, '"' | '<' | '>' | '|' | '*' | '?' | '\r' | '\n') || Some(*letter) == self.quote
            })
            .map_or(rest.len(), |(at, _)| at);
        let inside = rest.get(..stop)?;
        inside.match_indices('.').find_map(|(dot, _)| {
            let tail = inside.get(dot + 1..)?;
            let length = tail.bytes().take(8).take_while(u8::is_ascii_alphanumeric).count();
            let ending = tail.get(..length)?.to_ascii_lowercase();
            (length >= 2 && RULES.has(List::Media, &ending)).then_some(slash + dot + 1 + length)
        })
    }
}

/// A program or a library.
fn is_file_like(name: &str, last: bool) -> bool {
    last && is_file(name)
}

/// Where the name begins that ends with the dot at `dot`; none when none stands there.
fn name_of(text: &str, dot: usize, after: usize) -> Option<usize> {
    let stem = text.get(after..dot)?;
    let mut begin = dot;
    let mut blank = false;
    for (at, letter) in stem.char_indices().rev().take(LONGEST_PART) {
        if matches!(
            letter,
            '/' | '\\'
                | '"'
                | '\''
                | '<'
                | '>'
                | '|'
                | ':'
                | '*'
                | '?'
                | ','
                | ';'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '='
                | '&'
                | '\t'
                | '`'
                | '：'
                | '，'
        ) {
            break;
        }
        blank |= letter == ' ';
        begin = after + at;
    }
    let edge = text.get(..begin)?.chars().next_back();
    let whole = text.get(begin..dot)?;
    let trimmed = begin + (whole.len() - whole.trim_start_matches(' ').len());
    if trimmed == dot {
        return None;
    }
    if !blank || matches!(edge, Some('/' | '\\' | '"' | '\'' | '`')) {
        return Some(trimmed);
    }
    // Words of the sentence stand before it: the name begins behind the last of them.
    let mut start = trimmed;
    let mut at = trimmed;
    for word in text.get(trimmed..dot)?.split_inclusive(' ') {
        at += word.len();
        let bare = word.trim_end_matches(' ').to_lowercase();
        if RULES.has(List::BeforeFiles, &bare) && word.ends_with(' ') && at < dot {
            start = at;
        }
    }
    Some(start)
}
