//! Tokens that stand for private things: equal things get equal tokens, in the order in which they were met.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Different things that are told apart, by the rank of their category; further ones of a category share a token, so that
/// memory stays flat.
const LIMITS: [usize; 4] = [4_500, 5_500, 6_000, 7_000];
/// Bytes of an original that are kept: enough to look for it in what is to be shown.
const KEPT: usize = 256;

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
    /// Folders that somebody made up.
    Folder,
    /// Telephone numbers, names and numbers of chat services.
    Contact,
    /// Pictures and other data written out as letters.
    Data,
}

/// All categories.
const ALL: [Category; 13] = [
    Category::User,
    Category::Host,
    Category::Address,
    Category::Email,
    Category::Key,
    Category::Prompt,
    Category::File,
    Category::Workflow,
    Category::Organisation,
    Category::Device,
    Category::Folder,
    Category::Contact,
    Category::Data,
];

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
            Self::Folder => "folder",
            Self::Contact => "contact",
            Self::Data => "data",
        }
    }

    /// The category of this word.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        ALL.into_iter().find(|category| category.word() == word)
    }

    /// Which of them go first where there is no room for all: a log may be full of files, and keys, but not of accounts.
    pub(super) fn rank(self) -> usize {
        match self {
            Self::File | Self::Folder | Self::Prompt | Self::Data | Self::Workflow => 0,
            Self::Key | Self::Email | Self::Address | Self::Device | Self::Contact => 1,
            Self::Host | Self::Organisation => 2,
            Self::User => 3,
        }
    }

    /// Case does not tell two of them apart.
    fn folds_case(self) -> bool {
        matches!(self, Self::User | Self::Host | Self::Address | Self::Email | Self::Device | Self::Folder)
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
    token: String,
    count: u64,
    hint: String,
}

/// All tokens given out.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    known: BTreeMap<Category, HashMap<String, Known>>,
    /// How many there are.
    count: usize,
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
    pub(super) fn token(&mut self, category: Category, secret: &str, counting: bool) -> &str {
        let first = self.reserved.get(category.word()).copied().unwrap_or(0);
        let full = self.count >= LIMITS[category.rank()];
        let known = self.known.entry(category).or_default();
        let mut key = kept(category, secret);
        if full && !known.contains_key(&key) {
            key = String::new();
        }
        let number = first + known.len() as u64 + 1;
        let entry = known.entry(key).or_insert_with(|| {
            self.count += 1;
            let token = format!("redacted-{}-{number}", category.word());
            Known { number, token, count: 0, hint: hint(category, secret) }
        });
        entry.count += u64::from(counting);
        &entry.token
    }

    /// Every original, or its beginning when it is long, in no order.
    pub(super) fn originals(&self) -> impl Iterator<Item = (Category, &str)> {
        self.known.iter().flat_map(|(category, known)| {
            known.keys().filter(|key| !key.is_empty()).map(|key| (*category, key.split('\0').next().unwrap_or(key)))
        })
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
            .map(|(category, _, known)| Replaced {
                category,
                token: known.token.clone(),
                count: known.count,
                hint: known.hint.clone(),
            })
            .collect()
    }
}

/// What is kept of an original: all of it, or its beginning and what tells it from others.
fn kept(category: Category, secret: &str) -> String {
    let key = if category.folds_case() { secret.to_lowercase() } else { secret.to_owned() };
    if key.len() <= KEPT {
        return key;
    }
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let mut end = KEPT;
    while !key.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\0{:x}", key.get(..end).unwrap_or_default(), hasher.finish())
}

/// `al… (5)`; of a key only its length.
fn hint(category: Category, secret: &str) -> String {
    let letters = secret.chars().count();
    let shown =
        if matches!(category, Category::Key | Category::Workflow | Category::Contact | Category::Data) || letters < 4 {
            0
        } else {
            2
        };
    let start: String = secret.chars().take(shown).filter(|letter| !letter.is_control()).collect();
    format!("{start}… ({letters})")
}
