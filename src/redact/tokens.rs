//! Tokens that stand for private things: equal things get equal tokens, in the order in which they were met.

use std::collections::BTreeMap;

/// Different things of one category that are told apart; further ones share a token, so that memory stays flat.
const LIMIT: usize = 20_000;

/// What kind of private thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Names of accounts.
    User,
    /// Names of machines and servers.
    Host,
    /// IP and hardware addresses.
    Address,
    Email,
    /// Keys, tokens, passwords.
    Key,
    /// Texts of prompts.
    Prompt,
    /// Names of pictures, films and sounds.
    File,
    /// Workflows and parts of them.
    Workflow,
    /// Names of organisations in folder names.
    Organisation,
    /// Serial numbers of devices.
    Device,
}

impl Category {
    /// The word inside its tokens; also the end of its label's id.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Host => "host",
            Self::Address => "ip",
            Self::Email => "email",
            Self::Key => "key",
            Self::Prompt => "prompt",
            Self::File => "file",
            Self::Workflow => "workflow",
            Self::Organisation => "organisation",
            Self::Device => "device",
        }
    }

    /// Case does not tell two of them apart.
    fn folds_case(self) -> bool {
        matches!(self, Self::User | Self::Host | Self::Address | Self::Email | Self::Device)
    }
}

/// One token, and how often it was put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    pub category: Category,
    pub token: String,
    pub count: u64,
    /// Enough of the original to recognise it, not enough to use it.
    pub hint: String,
}

#[derive(Debug)]
struct Known {
    number: u64,
    count: u64,
    hint: String,
}

/// All tokens given out.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    known: BTreeMap<Category, BTreeMap<String, Known>>,
    /// Numbers that tokens in the log already have, by category word.
    reserved: BTreeMap<String, u64>,
}

impl Tokens {
    /// A log that was redacted before keeps its tokens; new ones get higher numbers.
    pub(super) fn reserve(&mut self, word: &str, number: u64) {
        let highest = self.reserved.entry(word.to_owned()).or_default();
        *highest = (*highest).max(number.min(u64::from(u32::MAX)));
    }

    /// The token of `secret`.
    pub(super) fn token(&mut self, category: Category, secret: &str, counting: bool) -> String {
        let first = self.reserved.get(category.word()).copied().unwrap_or(0);
        let known = self.known.entry(category).or_default();
        let mut key = if category.folds_case() { secret.to_lowercase() } else { secret.to_owned() };
        if known.len() >= LIMIT && !known.contains_key(&key) {
            key = String::new();
        }
        let number = first + known.len() as u64 + 1;
        let entry = known.entry(key).or_insert_with(|| Known { number, count: 0, hint: hint(category, secret) });
        entry.count += u64::from(counting);
        format!("redacted-{}-{}", category.word(), entry.number)
    }

    /// Everything that was put in, by category and number.
    pub(super) fn replaced(&self) -> Vec<Replaced> {
        let mut list: Vec<(Category, u64, &Known)> = self
            .known
            .iter()
            .flat_map(|(category, known)| known.values().map(|known| (*category, known.number, known)))
            .filter(|(_, _, known)| known.count > 0)
            .collect();
        list.sort_by_key(|(category, number, _)| (*category, *number));
        list.into_iter()
            .map(|(category, number, known)| Replaced {
                category,
                token: format!("redacted-{}-{number}", category.word()),
                count: known.count,
                hint: known.hint.clone(),
            })
            .collect()
    }
}

/// `al… (5)`; of a key only its length.
fn hint(category: Category, secret: &str) -> String {
    let letters = secret.chars().count();
    let shown = if matches!(category, Category::Key | Category::Workflow) || letters < 4 { 0 } else { 2 };
    let start: String = secret.chars().take(shown).filter(|letter| !letter.is_control()).collect();
    format!("{start}… ({letters})")
}
