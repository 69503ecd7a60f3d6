//! The last line of a Python traceback: `package.TypeName: message`.

use crate::eight::{eight_of, places_of};

/// Endings of Python's exception types, by its naming convention.
const ENDINGS: [&[u8]; 6] = [b"Error", b"Exception", b"Interrupt", b"Exit", b"Warning", b"Panic"];

/// Letters, digits, and what joins them in a type's full name.
const IN_A_TYPE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = matches!(byte as u8, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'.');
        byte += 1;
    }
    table
};

/// Splits `text` into type and message when it looks like an exception's line. The message may be empty.
pub fn split_exception(text: &[u8]) -> Option<(&[u8], &[u8])> {
    // Most lines begin with a short word and a blank, and are none.
    if let Some(eight) = eight_of(text)
        && places_of(eight, b' ').trailing_zeros() < places_of(eight, b':').trailing_zeros()
    {
        return None;
    }
    if !text.first()?.is_ascii_alphabetic() && text.first() != Some(&b'_') {
        return None;
    }
    let head = text.get(..96).unwrap_or(text);
    let len = head.iter().position(|byte| !IN_A_TYPE[usize::from(*byte)]).unwrap_or(head.len());
    let (kind, rest) = text.split_at_checked(len)?;
    // The cheap question first: nearly every line begins with a word, and few of those end in a colon.
    if !matches!(rest.first(), None | Some(b':')) || !ENDINGS.iter().any(|ending| kind.ends_with(ending)) {
        return None;
    }
    if rest.is_empty() {
        return Some((kind, rest));
    }
    let message = rest.strip_prefix(b":")?;
    if message.first().is_some_and(|byte| *byte != b' ') {
        return None;
    }
    Some((kind, message.trim_ascii()))
}

/// The same for a line right below a traceback's frames, where a type may have any name (`socket.gaierror`): it is a
/// dotted name (no file's), or one in capitals and small letters that has a message (`StopTask: no`): a logger's level and
/// a label have one capital letter or no small one, and a dialog's node type stands alone.
pub fn split_any_exception(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = text.iter().position(|byte| !IN_A_TYPE[usize::from(*byte)]).unwrap_or(text.len());
    let (kind, rest) = text.split_at_checked(len)?;
    let dotted = kind.contains(&b'.') && !kind.ends_with(b".") && kind.first()?.is_ascii_alphabetic();
    let capitals = kind.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let camel = kind.first()?.is_ascii_uppercase() && capitals > 1 && kind.iter().any(u8::is_ascii_lowercase);
    let named = (dotted && !kind.ends_with(b".py")) || (camel && rest.starts_with(b": "));
    let ended = matches!(rest, [] | [b':'] | [b':', b' ', ..]) && len < 96;
    (named && ended).then(|| (kind, rest.strip_prefix(b":").unwrap_or(rest).trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_s_exception_lines() {
        assert_eq!(
            split_exception(b"torch.OutOfMemoryError: Allocation on device"),
            Some((&b"torch.OutOfMemoryError"[..], &b"Allocation on device"[..]))
        );
        assert_eq!(split_exception(b"KeyError: 'scale'"), Some((&b"KeyError"[..], &b"'scale'"[..])));
        assert_eq!(split_exception(b"MemoryError"), Some((&b"MemoryError"[..], &b""[..])));
        assert_eq!(split_exception(b"Requested to load Flux"), None);
        assert_eq!(split_exception(b"C:\\x\\y.py"), None);
        assert_eq!(split_exception(b"socket.gaierror: [Errno 11001] failed"), None);
        assert_eq!(
            split_any_exception(b"socket.gaierror: [Errno 11001] failed"),
            Some((&b"socket.gaierror"[..], &b"[Errno 11001] failed"[..]))
        );
        assert_eq!(split_any_exception(b"a.StopTask"), Some((&b"a.StopTask"[..], &b""[..])));
        assert_eq!(split_any_exception(b"StopTask: no"), Some((&b"StopTask"[..], &b"no"[..])));
        for other in ["CLIPTextEncode", "WARNING: it goes on", "Loading: a model", "main.py: error: no"] {
            assert_eq!(split_any_exception(other.as_bytes()), None, "{other}");
        }
        assert_eq!(split_any_exception(b"got prompt"), None);
        assert_eq!(split_any_exception(b"Requested to load Flux"), None);
        assert_eq!(split_any_exception(b"During handling of the above exception"), None);
        assert_eq!(split_exception(b"Error loading: x"), None);
    }
}
