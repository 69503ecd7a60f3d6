//! Words of a command line: log text never becomes more than the one word it stands for.

use crate::system::Kind;

/// A word as the usual shell of this kind of system takes it for one word.
pub fn quoted_for(kind: Kind, word: &str) -> String {
    quoted(word, kind == Kind::Windows)
}

/// A word as a shell takes it for one word and nothing else. Names come from a log, and a log is not trusted.
pub fn quoted(word: &str, windows: bool) -> String {
    let plain = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | '@' | '+' | ',' | '=' | ':')
    };
    if !word.is_empty() && word.chars().all(|letter| plain(letter) || (windows && letter == '\\')) {
        return word.to_owned();
    }
    // A quote cannot be in a name on Windows; one in a log was put there by somebody.
    if !windows {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    // Programs there take \" for a quote within the word, so that of the backslashes at its end each needs another.
    let end = word.len() - word.trim_end_matches('\\').len();
    format!("\"{}{}\"", word.replace('"', "?"), "\\".repeat(end))
}

/// A folder's name that may stand in a command: no option, no folder above, and nothing that system forbids in names.
pub fn is_name(name: &str, windows: bool) -> bool {
    let forbidden = |letter: char| {
        letter.is_control()
            || letter == '/'
            || (windows
                && matches!(letter, '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*' | '%' | '$' | '`' | '^' | '!'))
    };
    !matches!(name, "" | "." | "..") && !name.starts_with('-') && !name.contains(forbidden)
}

#[cfg(test)]
mod tests {
    use super::{is_name, quoted, quoted_for};
    use crate::system::Kind;

    #[test]
    fn a_name_stays_one_word_whatever_is_in_it() {
        assert_eq!(quoted("ComfyUI-Gloamwatch", false), "ComfyUI-Gloamwatch");
        assert_eq!(quoted("a b; rm -rf ~", false), "'a b; rm -rf ~'");
        assert_eq!(quoted("it's", false), "'it'\\''s'");
        assert_eq!(quoted("a \"&calc", true), "\"a ?&calc\"");
    }

    #[test]
    fn paths_of_each_system_are_words_there() {
        for (path, word) in [
            (r"C:\ComfyUI\user\comfyui.log", r"C:\ComfyUI\user\comfyui.log"),
            (r"\\nas\share\ComfyUI\comfyui.log", r"\\nas\share\ComfyUI\comfyui.log"),
            (r"\\nas\my logs\comfyui.log", r#""\\nas\my logs\comfyui.log""#),
            (r"\\?\C:\a\comfyui.log", r#""\\?\C:\a\comfyui.log""#),
            (r"D:\it's mine & yours\comfyui.log", r#""D:\it's mine & yours\comfyui.log""#),
            (r"D:\my logs\", r#""D:\my logs\\""#),
            (r"D:\日志\comfyui.log", r"D:\日志\comfyui.log"),
        ] {
            assert_eq!(quoted_for(Kind::Windows, path), word);
        }
        for kind in [Kind::Linux, Kind::MacOs] {
            assert_eq!(quoted_for(kind, "/home/me/my logs/it's.log"), r"'/home/me/my logs/it'\''s.log'");
        }
    }

    #[test]
    fn names_that_a_command_would_take_for_something_else_are_refused() {
        for name in ["", ".", "..", "-rf", "a/b", "a\nb"] {
            assert!(!is_name(name, false) && !is_name(name, true), "{name}");
        }
        for name in ["a%PATH%", "a$env:x", "a`b", "a\"b", "CON:"] {
            assert!(!is_name(name, true), "{name}");
        }
        assert!(is_name("ComfyUI-Gloamwatch", true) && is_name("it's a pack (1)", false) && is_name("a b & c", true));
    }
}
