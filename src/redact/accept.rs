//! What looks private and is not: accounts and hosts that everybody has, versions with four parts, words of Python.

use std::cell::OnceCell;
use std::ops::Range;

use super::rules::{List, RULES, Unless};
use super::tokens::Category;

/// Where something that looks private stands.
pub(super) struct Context<'t> {
    pub(super) text: &'t str,
    pub(super) at: Range<usize>,
    pub(super) category: Category,
    /// Where the text tells that ComfyUI refused a prompt; looked for once for the whole text.
    pub(super) refusal: &'t OnceCell<usize>,
}

/// Bytes before a place that may tell what it is. More would make the time grow with the square of a line.
const NEAR: usize = 256;

impl<'t> Context<'t> {
    fn secret(&self) -> &'t str {
        self.text.get(self.at.clone()).unwrap_or_default()
    }

    /// What stands right before it.
    fn before(&self) -> &'t str {
        near(self.text, self.at.start)
    }

    /// ComfyUI's words for a refused prompt stand before it.
    fn is_refused(&self) -> bool {
        let first = || {
            let words = b"invalid prompt";
            let found = self.text.as_bytes().windows(words.len()).position(|part| part.eq_ignore_ascii_case(words));
            found.unwrap_or(usize::MAX)
        };
        *self.refusal.get_or_init(first) < self.at.start
    }

    fn after(&self) -> &'t str {
        self.text.get(self.at.end..).unwrap_or_default()
    }
}

/// It is private.
pub(super) fn accepts(unless: Unless, context: &Context<'_>) -> bool {
    let secret = context.secret();
    if is_token(secret) {
        return false;
    }
    match (unless, context.category) {
        (Unless::None, _) => true,
        // A folder with its version: `custom_nodes/ComfyUI-KJNodes@1.0.5`.
        (Unless::Shell, _) if word_before(context).contains(['/', '\\']) => false,
        (Unless::Shell | Unless::User | Unless::Account | Unless::Domain, Category::User) => {
            user(secret) && (unless != Unless::Account || account(context))
        }
        (Unless::Shell | Unless::Machine, Category::Host) => machine(secret),
        (Unless::Host, _) => host(secret),
        (Unless::Unc, _) => unc(context),
        (Unless::Local, _) => local_host(context),
        (Unless::Domain, _) => domain(context),
        (Unless::Token, _) => token_value(secret),
        (Unless::Password, _) => password_value(secret),
        (Unless::Masked, _) => masked(secret),
        (Unless::Mixed, _) => is_mixed(secret),
        (Unless::Said, _) => said(secret),
        (Unless::Bearer, _) => secret.len() >= 16 || secret.bytes().any(|byte| byte.is_ascii_digit()),
        (Unless::Cookie, _) => secret.contains('=') || (secret.len() >= 6 && has_digit(secret)),
        (Unless::Login, _) => secret != "git",
        (Unless::Email, _) => {
            let word = word_before(context);
            let unit =
                [".service", ".scope", ".slice", ".socket", ".mount", ".timer"].iter().any(|end| secret.ends_with(end));
            !unit && !secret.starts_with("git@") && !secret.contains("redacted-") && !word.contains("://")
        }
        (Unless::Prompt, _) => prompt(context),
        (Unless::Prose, _) => prompt(context) && prose(secret),
        (Unless::Phone, _) => phone(context),
        (Unless::Contact, _) => contact(secret),
        (Unless::Device, _) => has_digit(secret) && !secret.bytes().all(|byte| byte == b'0' || byte == b'-'),
        (Unless::User | Unless::Account, _) => token_value(secret) || password_value(secret),
        (Unless::Shell | Unless::Machine, _) => true,
    }
}

/// The end of what stands before `at`.
pub(super) fn near(text: &str, at: usize) -> &str {
    let mut from = at.saturating_sub(NEAR);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..at).unwrap_or_default()
}

/// What stands before it up to a blank.
fn word_before<'t>(context: &Context<'t>) -> &'t str {
    context.before().rsplit(char::is_whitespace).next().unwrap_or_default()
}

/// Tokens that were put in before, and nothing but marks between them.
pub(super) fn is_token(text: &str) -> bool {
    let Some(first) = text.find("redacted-") else { return false };
    let mut rest = text;
    let mut outside = !text.get(..first).unwrap_or_default().chars().any(char::is_alphanumeric);
    while let Some(at) = rest.find("redacted-") {
        outside &= !rest.get(..at).unwrap_or_default().chars().any(char::is_alphanumeric);
        let behind = rest.get(at + "redacted-".len()..).unwrap_or_default();
        let word = behind.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
        let number = word.strip_prefix('-').map(|word| word.trim_start_matches(|letter: char| letter.is_ascii_digit()));
        rest = number.unwrap_or(word);
    }
    outside && !rest.chars().any(char::is_alphanumeric)
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The name of a person's account.
pub(super) fn user(name: &str) -> bool {
    let placeholder = name.starts_with(['$', '%', '<', '~', '*', '.', '{', '[', '-', '_', '(']);
    let name = name.to_lowercase();
    !placeholder
        && !RULES.has(List::Accounts, &name)
        && !name.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
        && !name.starts_with("redacted-")
}

/// Behind a blank only where nothing else can be meant: `user mia`, but no `user interface of this`.
fn account(context: &Context<'_>) -> bool {
    let before = context.before();
    let marked = before.trim_end_matches([' ', '"', '\'', '\\', '`']).ends_with([':', '=', '：']);
    let says = |word: &str| before.trim_end_matches([' ', '"', '\'']).to_lowercase().ends_with(word);
    let quoted = before.ends_with(['"', '\'', '`']);
    let ends = context.after().is_empty() || quoted;
    let telling = [" as", "as user", "login", "logged in user", "current user"].iter().any(|word| says(word));
    let path = context.secret().contains(['/', '\\']) || context.after().starts_with(['(', '/', '\\', '[']);
    !path && (marked || (telling && (ends || !context.after().starts_with(' '))) || (quoted && says("user")))
}

/// A machine of one's own.
pub(super) fn machine(name: &str) -> bool {
    let lower = name.to_lowercase();
    host(name) && !RULES.has(List::Accounts, &lower) && !lower.ends_with(".py")
}

/// Parts of a server's name that are looked at.
const LABELS: usize = 5;

/// No server that everybody talks to.
pub(super) fn host(name: &str) -> bool {
    let name = name.to_lowercase();
    // The end tells whose server it is.
    let mut tail = name.rmatch_indices('.').nth(LABELS).and_then(|(dot, _)| name.get(dot + 1..)).unwrap_or(&name);
    let public = loop {
        if RULES.has(List::Hosts, tail) {
            break true;
        }
        match tail.split_once('.') {
            Some((_, rest)) => tail = rest,
            None => break false,
        }
    };
    let number = name.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    !public && !number && !name.contains("redacted-") && !matches!(name.as_str(), "." | "?")
}

/// A server's folder, and no comment or divided number.
fn unc(context: &Context<'_>) -> bool {
    let open = context.before().trim_end_matches(['/', '\\', '?']);
    let alone = open.is_empty() || open.ends_with([' ', '\t', '"', '\'', '=', '(', '[', ':', '>', '`', ',', '：']);
    let drive = open.ends_with(':')
        && open.trim_end_matches(':').chars().next_back().is_some_and(|letter| letter.is_ascii_alphabetic());
    let address = open.ends_with(':') && !open.ends_with(": ") && context.before().ends_with("//");
    alone && !address && !drive && context.secret().len() > 1 && context.secret() != "UNC" && machine(context.secret())
}

/// A bare name in a private domain, and no member of a Python module.
fn local_host(context: &Context<'_>) -> bool {
    let name = context.secret();
    let first = name.split('.').next().unwrap_or_default();
    let path = context.before().ends_with(['/', '\\', '.', '_', '~']) && !context.before().ends_with("//");
    let goes_on = context.after().starts_with(['(', '_', '=', '[']);
    !path && !goes_on && !RULES.has(List::Modules, first) && host(name)
}

/// `CORP\mia` as it stands alone.
fn domain(context: &Context<'_>) -> bool {
    let before = context.before();
    let text = context.secret();
    let alone = before.is_empty() || before.ends_with([' ', '"', '\'', '(', '[', '=', ':', '\t', ',', '：']);
    let known = matches!(text, "NT" | "BUILTIN" | "AUTHORITY" | "HKEY" | "HKLM" | "HKCU" | "UNC" | "SERVICE");
    // The part before is the domain, the part behind the account: only the first has a place of its own to be looked at.
    (context.category == Category::User || alone) && !known && text.len() > 1
}

/// A number with four parts that is an address.
pub(super) fn ipv4(text: &str, before: &str, after: &str) -> bool {
    let Ok(address) = text.parse::<std::net::Ipv4Addr>() else { return false };
    let telling = ["ip=", "host=", "listen=", "addr=", "address=", "client=", "server=", "remote=", "://", "bind="];
    let joined = before.ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '='))
        && !telling.iter().any(|word| before.ends_with(word));
    let goes_on = after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
        || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    let says_nothing =
        address.is_loopback() || address.is_unspecified() || address.is_broadcast() || text.starts_with("255.");
    let private = address.is_private() || address.is_link_local();
    !joined && !goes_on && !says_nothing && (private || !is_version(before))
}

/// What stands before makes it a version: `opencv-python 4.12.0.88`, `Version: 4.12.0.88`.
fn is_version(before: &str) -> bool {
    let before = before.trim_end_matches([' ', ':', '(', 'v', 'V', '-']);
    let word =
        before.rsplit(|letter: char| letter.is_whitespace() || letter == ',').next().unwrap_or_default().to_lowercase();
    let package = word.contains(['-', '_'])
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
    word.contains("version") || word.contains("driver") || word.contains("release") || package
}

/// A value of a field that is called a token: not a count, a word of Python, or the next flag.
fn token_value(value: &str) -> bool {
    let word = value.trim_matches(['"', '\'', '(', ')', '<', '>', '*', ':', '.']);
    let lower = word.to_lowercase();
    let plain = RULES.has(List::NoPrompts, &lower)
        || RULES.has(List::Said, &lower)
        || matches!(lower.as_str(), "str" | "nan" | "")
        || word.starts_with("--")
        || word.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ','))
        || ["torch.", "os.", "$", "%", "{", "self.", "["].iter().any(|start| word.starts_with(start))
        || word.starts_with('|')
        || word.contains("%|")
        || word.starts_with("tensor(");
    !plain && word.chars().count() >= 6
}

/// A password may be short and may be a number.
fn password_value(value: &str) -> bool {
    let lower = value.to_lowercase();
    !matches!(lower.as_str(), "none" | "null" | "true" | "false" | "str" | "" | "optional" | "required")
        && !value.starts_with("--")
        && !value.starts_with(['$', '%', '{', '['])
}

/// A key of which the middle is hidden.
fn masked(secret: &str) -> bool {
    let lower = secret.to_lowercase();
    let known =
        ["sk-", "hf_", "gh", "api", "key", "r8_", "xai-", "gsk_", "pplx", "nvapi", "glpat", "rpa_", "akia", "aiza"];
    let marked = secret.contains(['*', '•']) || known.iter().any(|start| lower.starts_with(start));
    let tail = secret.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric()).len() + 2 <= secret.len();
    let letters = secret.chars().any(char::is_alphabetic);
    (marked && secret.len() >= 5 && (has_digit(secret) || secret.contains('*') || secret.contains(['_', '-'])))
        || (tail && letters && has_digit(secret) && secret.len() >= 12 && !secret.contains("xxxx"))
}

/// Letters and figures mixed as no word and no version has them.
pub(super) fn is_mixed(text: &str) -> bool {
    let text = text.trim_matches(['"', '\'', '.', ',', '=', ':', '-']);
    if text.contains("redacted-") || text.len() < 16 {
        return false;
    }
    let hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    if hex {
        return digits >= 2 && (letters >= 2 || text.len() >= 32);
    }
    let upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
    let lower = text.bytes().any(|byte| byte.is_ascii_lowercase());
    // Words joined with marks, and names with a version at the end, are no keys.
    let longest = text.split(['_', '-', '.', '/']).map(str::len).max().unwrap_or(0);
    let changes = text
        .as_bytes()
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_digit() != b.is_ascii_digit()))
        .count();
    digits >= 3 && letters >= 4 && longest >= 12 && changes >= 4 && (upper || text.len() >= 20) && (lower || upper)
}

/// What somebody says a password is.
fn said(secret: &str) -> bool {
    let word = secret.trim_matches(['.', ',', '!', '?', ':', ';', '(', ')']).to_lowercase();
    word.chars().count() >= 4 && !RULES.has(List::Said, &word) && !word.starts_with("redacted-")
}

/// A text behind "prompt:", and not the number of a prompt or ComfyUI's own report of a refused one.
fn prompt(context: &Context<'_>) -> bool {
    let text = context.secret();
    let number = text.get(..8).is_some_and(|start| start.bytes().all(|byte| byte.is_ascii_hexdigit()))
        && text.get(8..9) == Some("-");
    let own = text.starts_with("{'type'") || text.starts_with("None") || context.is_refused();
    let count = !text.chars().any(char::is_alphabetic)
        || RULES.has(List::NoPrompts, &text.trim_end_matches('.').to_lowercase());
    let object = text.starts_with(['<', '(']) && text.contains("object at 0x");
    let tensor = text.starts_with("tensor(") || text.starts_with("torch.");
    !number && !own && !count && !object && !tensor && text.trim().chars().count() > 1
}

/// Several words, or a text without blanks between its words.
fn prose(text: &str) -> bool {
    let words = text.split([' ', ',']).filter(|word| word.chars().filter(|letter| letter.is_alphabetic()).count() > 1);
    let wide = text.chars().filter(|letter| u32::from(*letter) >= 0x2e80).count();
    let path = text.starts_with(['/', '\\', '{', '[', '<']) || text.get(1..3) == Some(":\\");
    let number = text.starts_with(|letter: char| letter.is_ascii_digit());
    !path && !number && (words.count() >= 2 || wide >= 3)
}

/// So many figures as telephones have, behind a plus or a word that says so.
fn phone(context: &Context<'_>) -> bool {
    let text = context.secret();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let word =
        context.before().ends_with(|letter: char| letter.is_alphabetic() || matches!(letter, ':' | ' ' | '：' | '='));
    let plus = text.starts_with('+');
    let date = text.contains('/') || text.split('-').next().is_some_and(|year| year.len() == 4 && !plus);
    let named = ["tel", "phone", "mobile", "whatsapp", "handy", "电话", "手机", "call", "sms", "fax", "number"]
        .iter()
        .any(|name| context.before().to_lowercase().trim_end_matches([' ', ':', '.', '=', '：']).ends_with(name));
    let decimal = text.matches('.').count() == 1 && !text.contains([' ', '-']);
    (plus || (word && named)) && (7..=15).contains(&digits) && !date && !decimal
}

fn contact(text: &str) -> bool {
    let lower = text.to_lowercase();
    let word = lower.trim_start_matches('@');
    let decorator = matches!(word, "property" | "staticmethod" | "classmethod" | "torch" | "dataclass" | "github");
    !RULES.has(List::Accounts, word)
        && !RULES.has(List::NoPrompts, word)
        && !RULES.has(List::Said, word)
        && !decorator
        && !lower.contains("redacted-")
}
