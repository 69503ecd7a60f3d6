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
    /// Folders by the names that packs use: `home`, `appdata`, `localappdata`, `documents`, `onedrive`,
    /// `config`.
    pub folders: BTreeMap<String, PathBuf>,
    /// Languages the user asked the system for, the most wanted first, as `zh-CN` or `en_US.UTF-8`.
    pub languages: Vec<String>,
    /// The locale that says which characters a terminal shows, where one is set.
    pub characters: Option<String>,
    /// A shell started the program, so that the window stays when the program ends.
    pub from_shell: bool,
}

impl System {
    /// That of this process.
    pub fn of_process() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let typed = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| text(name));
        let settings = if Kind::HERE == Kind::Linux { Vec::new() } else { sys_locale::get_locales().collect() };
        Self {
            kind: Kind::HERE,
            here: std::env::current_dir().unwrap_or_default(),
            folders: folders(),
            languages: languages(Kind::HERE, typed, settings),
            characters: ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| text(name)),
            from_shell: from_shell(text),
        }
    }

    /// The language that counts is Chinese.
    pub fn is_chinese(&self) -> bool {
        self.languages.first().is_some_and(|language| is_chinese(language))
    }

    /// Only ASCII is surely shown. A console of Windows is written to as Unicode, whatever its code page.
    pub fn is_ascii(&self) -> bool {
        self.kind != Kind::Windows && !self.characters.as_deref().is_some_and(is_utf8)
    }

    /// The window closes with the program: a log was dropped on it, or it was clicked.
    pub fn closes_at_end(&self) -> bool {
        self.kind == Kind::Windows && !self.from_shell
    }
}

/// Folders of the user, by the names that packs use.
fn folders() -> BTreeMap<String, PathBuf> {
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
    put("onedrive", std::env::var_os("OneDrive").map(PathBuf::from));
    folders
}

/// Shells leave a variable of their own; a program that Explorer starts has none of them.
fn from_shell(text: impl Fn(&str) -> Option<String>) -> bool {
    // PowerShell puts the user's own modules, below Documents, in front of those of the system.
    let powershell = text("PSModulePath").is_some_and(|path| path.to_lowercase().contains("documents"));
    powershell || ["PROMPT", "TERM", "SHELL", "WT_SESSION"].iter().any(|name| text(name).is_some())
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.ends_with("utf-8") || locale.ends_with("utf8")
}

/// A language tag or locale of Chinese: `zh-CN`, `zh_TW.UTF-8`, `zh-Hans`.
pub fn is_chinese(tag: &str) -> bool {
    tag.split(['-', '_', '.', '@']).next().is_some_and(|language| language.eq_ignore_ascii_case("zh"))
}

/// A variable of the shell counts before the system's own setting: somebody typed it. Programs on Windows inherit such
/// variables from shells that came with other tools; the user never chose them there.
fn languages(kind: Kind, typed: Option<String>, settings: Vec<String>) -> Vec<String> {
    match kind {
        Kind::Windows if !settings.is_empty() => settings,
        _ => typed.into_iter().chain(settings).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, System, from_shell, is_chinese, languages};

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
    #[test]
    fn the_language_of_windows_is_the_systems_and_elsewhere_what_was_typed() {
        let asked = |kind, typed: Option<&str>, settings: &[&str]| {
            let settings = settings.iter().map(|one| (*one).to_owned()).collect();
            System { kind, languages: languages(kind, typed.map(str::to_owned), settings), ..System::default() }
                .is_chinese()
        };
        assert!(asked(Kind::Windows, Some("C.UTF-8"), &["zh-CN", "en-US"]), "LANG of some shell is nobody's choice");
        assert!(!asked(Kind::Windows, Some("zh_CN.UTF-8"), &["en-US", "zh-CN"]));
        assert!(asked(Kind::Windows, Some("zh_CN.UTF-8"), &[]), "a system that tells nothing");
        assert!(asked(Kind::MacOs, Some("zh_CN.UTF-8"), &["en-US"]) && asked(Kind::MacOs, None, &["zh-Hans-CN"]));
        assert!(!asked(Kind::MacOs, Some("en_US.UTF-8"), &["zh-Hans-CN"]));
        assert!(asked(Kind::Linux, Some("zh_TW"), &[]) && !asked(Kind::Linux, None, &[]));
    }

    #[test]
    fn windows_shows_every_character_and_others_what_their_locale_says() {
        let ascii = |kind, characters: Option<&str>| {
            System { kind, characters: characters.map(str::to_owned), ..System::default() }.is_ascii()
        };
        for code_page in [None, Some("C"), Some("Chinese_China.936")] {
            assert!(!ascii(Kind::Windows, code_page), "{code_page:?}");
        }
        for kind in [Kind::Linux, Kind::MacOs] {
            assert!(ascii(kind, None) && ascii(kind, Some("POSIX")) && ascii(kind, Some("zh_CN.GBK")));
            assert!(!ascii(kind, Some("de_DE.UTF-8")) && !ascii(kind, Some("C.utf8")));
        }
    }

    #[test]
    fn a_window_that_closes_at_the_end_is_one_that_no_shell_opened() {
        let closes = |kind, variables: &[(&str, &str)]| {
            let text =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            System { kind, from_shell: from_shell(text), ..System::default() }.closes_at_end()
        };
        let machine = ("PSModulePath", r"C:\Program Files\WindowsPowerShell\Modules;C:\Windows\system32");
        let user = ("PSModulePath", r"C:\Users\me\Documents\PowerShell\Modules;C:\Program Files");
        assert!(closes(Kind::Windows, &[machine]), "dropped on the program in Explorer");
        assert!(!closes(Kind::Windows, &[machine, ("PROMPT", "$P$G")]), "cmd, and the file to drop logs on");
        assert!(!closes(Kind::Windows, &[user]) && !closes(Kind::Windows, &[("TERM", "xterm")]));
        assert!(!closes(Kind::Linux, &[]) && !closes(Kind::MacOs, &[]));
    }
}
