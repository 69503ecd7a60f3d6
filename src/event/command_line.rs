//! Command lines that start ComfyUI, and the flags in them.

/// The text starts ComfyUI: a Python that runs `main.py`.
pub fn looks_like_launch(text: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(text, b"main.py") else { return false };
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at + 7..).unwrap_or_default();
    let starts_a_word = before.last().is_none_or(|byte| matches!(byte, b' ' | b'/' | b'\\' | b'"' | b'\''));
    let ends_a_word = after.first().is_none_or(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\'));
    let is_frame = after.starts_with(b"\", line");
    starts_a_word && ends_a_word && !is_frame
}

/// The flags of a command line with their values, in order: `--cache-ram 4` gives `("--cache-ram", ["4"])`.
/// Only what stands behind `main.py` counts, when it is there.
pub fn flags_of(args: &str) -> Vec<(String, Vec<String>)> {
    let args = args.find("main.py").and_then(|at| args.get(at..)).unwrap_or(args);
    let mut flags: Vec<(String, Vec<String>)> = Vec::new();
    for word in args.split_whitespace().take(200) {
        let word = word.trim_matches(['"', '\'', '[', ']', ',']);
        if word.starts_with("--") && word.len() > 2 {
            match word.split_once('=') {
                Some((name, value)) => flags.push((name.to_owned(), vec![value.to_owned()])),
                None => flags.push((word.to_owned(), Vec::new())),
            }
        } else if matches!(word, "&&" | "|" | ";" | "2>&1" | "||" | ">" | ">>" | "pause") {
            break;
        } else if let Some((_, values)) = flags.last_mut()
            && !word.is_empty()
            && word != "\\"
            && word != "^"
        {
            values.push(word.to_owned());
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_told_from_mentions() {
        assert!(looks_like_launch(b"python main.py --listen"));
        assert!(looks_like_launch(b".\\python_embeded\\python.exe -s ComfyUI\\main.py --windows-standalone-build"));
        assert!(!looks_like_launch(b"File \"/opt/ComfyUI/main.py\", line 367, in <module>"));
        assert!(!looks_like_launch(b"domain.pyx"));
    }

    #[test]
    fn flags_keep_their_values() {
        let flags =
            flags_of("python main.py --disable-pinned-memory --async-offload 3 --cache-ram=4 --fast fp16 fp8 2>&1");
        assert_eq!(flags[0], ("--disable-pinned-memory".to_owned(), vec![]));
        assert_eq!(flags[1], ("--async-offload".to_owned(), vec!["3".to_owned()]));
        assert_eq!(flags[2], ("--cache-ram".to_owned(), vec!["4".to_owned()]));
        assert_eq!(flags[3].1, ["fp16", "fp8"]);
    }
}
