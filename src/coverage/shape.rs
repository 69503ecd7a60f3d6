//! What varies in a line is taken out of it: numbers, paths, addresses, ids. Lines of one kind then are equal.

/// Longest word that is looked at by itself.
const HASH_LETTERS: usize = 8;

/// The line with `#` for numbers, `<path>` for paths, `<url>` for addresses and `<id>` for hashes and uuids.
pub fn shape(line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    let opens = |letter: char| matches!(letter, '(' | '[' | '{' | '"' | '\'' | '`' | '<' | '=');
    let closes =
        |letter: char| matches!(letter, ')' | ']' | '}' | '"' | '\'' | '`' | '>' | ',' | ';' | ':' | '.' | '!');
    let inner = word.trim_start_matches(opens);
    let lead = word.strip_suffix(inner).unwrap_or_default();
    let core = inner.trim_end_matches(closes);
    let tail = inner.strip_prefix(core).unwrap_or_default();
    format!("{lead}{}{tail}", kind(core))
}

fn kind(core: &str) -> String {
    if core.contains("://") {
        return "<url>".to_owned();
    }
    let drive = core.as_bytes().get(1) == Some(&b':') && core.contains('\\');
    let posix = core.starts_with('/') && core.len() > 1 || core.starts_with("./") || core.starts_with("~/");
    if drive || posix || core.matches('/').count() >= 2 || core.matches('\\').count() >= 2 {
        return "<path>".to_owned();
    }
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let mixed = core.bytes().any(|byte| byte.is_ascii_digit()) && core.bytes().any(|byte| byte.is_ascii_alphabetic());
    if core.starts_with("0x") || (core.len() >= HASH_LETTERS && hex(core) && mixed) {
        return "<id>".to_owned();
    }
    numbers(core)
}

/// Each run of digits, with its fraction, becomes one sign.
fn numbers(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_ascii_digit() {
            out.push(letter);
            continue;
        }
        while letters.next_if(|next| next.is_ascii_digit() || matches!(next, '.' | ',')).is_some() {}
        out.push('#');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::shape;

    #[test]
    fn lines_of_one_kind_are_equal() {
        assert_eq!(shape("Freed 12.5 MB in /home/a/b.py"), "Freed # MB in <path>");
        assert_eq!(shape("job 3f2a9c41-aa: see https://a.b/c?d=1, done"), "job <id>: see <url>, done");
        assert_eq!(shape(r#"File "C:\a\b.py", line 12"#), r#"File "<path>", line #"#);
        assert_eq!(shape("step=12/20 at 0x7f00"), "step=#/# at <id>");
        assert_eq!(shape("plain words"), "plain words");
    }
}
