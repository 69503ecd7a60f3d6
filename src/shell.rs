//! Words of a command line: log text never becomes more than the one word it stands for.

/// A word as a shell takes it for one word and nothing else. Names come from a log, and a log is not trusted.
pub fn quoted(word: &str, windows: bool) -> String {
    let plain = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | '@' | '+' | ',' | '=' | ':')
    };
    if !word.is_empty() && word.chars().all(|letter| plain(letter) || (windows && letter == '\\')) {
        return word.to_owned();
    }
    // A quote cannot be in a name on Windows; one in a log was put there by somebody.
    if windows {
        format!("\"{}\"", word.replace(['"', '%'], "?"))
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_name_stays_one_word_whatever_is_in_it() {
        assert_eq!(quoted("ComfyUI-Gloamwatch", false), "ComfyUI-Gloamwatch");
        assert_eq!(quoted("a b; rm -rf ~", false), "'a b; rm -rf ~'");
        assert_eq!(quoted("it's", false), "'it'\\''s'");
        assert_eq!(quoted("a \"&calc", true), "\"a ?&calc\"");
    }
}
