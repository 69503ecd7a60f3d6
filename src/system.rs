//! What a system is like, as a value: every decision that depends on it can be tested on any other.

use std::collections::BTreeMap;
use std::path::PathBuf;

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

/// The kinds of systems that differ for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    Windows,
    MacOs,
    #[default]
    Linux,
}

impl Kind {
    /// The one this program was built for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };

    /// As the packs call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Windows => "windows",
            Self::MacOs => "macos",
            Self::Linux => "linux",
        }
    }
}

/// A system with its user's folders and languages.
#[derive(Debug, Clone, Default)]
pub struct System {
    pub kind: Kind,
    /// Working folder.
    pub here: PathBuf,
    /// Folders by the names that packs use: `home`, `appdata`, `localappdata`, `documents`, `config`.
    pub folders: BTreeMap<String, PathBuf>,
    /// Languages the user asked the system for, the most wanted first, as `zh-CN` or `en_US.UTF-8`.
    pub languages: Vec<String>,
}

impl System {
    /// That of this process.
    pub fn of_process() -> Self {
        let mut folders = BTreeMap::new();
        let mut put = |name: &str, path: Option<PathBuf>| {
            if let Some(path) = path.filter(|path| path.is_absolute()) {
                folders.insert(name.to_owned(), path);
            }
        };
        let home = etcetera::home_dir().ok();
        put("documents", home.as_ref().map(|home| home.join("Documents")));
        put("config", choose_base_strategy().ok().map(|strategy| strategy.config_dir()));
        put("home", home);
        put("appdata", std::env::var_os("APPDATA").map(PathBuf::from));
        put("localappdata", std::env::var_os("LOCALAPPDATA").map(PathBuf::from));
        Self { kind: Kind::HERE, here: std::env::current_dir().unwrap_or_default(), folders, languages: languages() }
    }

    /// The language that counts is Chinese.
    pub fn is_chinese(&self) -> bool {
        self.languages.first().is_some_and(|language| is_chinese(language))
    }
}

/// A language tag or locale of Chinese: `zh-CN`, `zh_TW.UTF-8`, `zh-Hans`.
pub fn is_chinese(tag: &str) -> bool {
    tag.split(['-', '_', '.', '@']).next().is_some_and(|language| language.eq_ignore_ascii_case("zh"))
}

/// A variable of the shell counts before the system's own setting: somebody typed it.
fn languages() -> Vec<String> {
    let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let typed = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| text(name));
    let settings =
        if cfg!(any(windows, target_os = "macos")) { sys_locale::get_locales().collect() } else { Vec::new() };
    // Programs on Windows inherit LANG from shells that came with other tools; the user never chose it there.
    if cfg!(windows) && !settings.is_empty() { settings } else { typed.into_iter().chain(settings).collect() }
}

#[cfg(test)]
mod tests {
    use super::{System, is_chinese};

    #[test]
    fn every_way_to_write_chinese_is_one() {
        for tag in ["zh", "zh-CN", "zh_CN.UTF-8", "zh-Hans", "zh-Hant-TW", "ZH-xx"] {
            assert!(is_chinese(tag), "{tag}");
        }
        for tag in ["en", "C", "POSIX", "zha", "de_DE.UTF-8", ""] {
            assert!(!is_chinese(tag), "{tag}");
        }
        let system = System { languages: vec!["en-US".into(), "zh-CN".into()], ..System::default() };
        assert!(!system.is_chinese(), "the most wanted language counts");
    }
}
