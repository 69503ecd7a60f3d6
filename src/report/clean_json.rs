//! Strings of a JSON text are replaced one by one, without a copy of the whole: its size does not matter.

use std::io::{self, BufReader, Read, Write};

/// Bytes of one string; what follows is left out.
const LONGEST: usize = 1024 * 1024;

/// What becomes of a string, by the key it stands behind.
pub(super) type Each<'e> = dyn FnMut(Option<&str>, &str) -> String + 'e;

/// Copies JSON from `from` to `out`; every string that is no key becomes what `each` makes of it.
///
/// # Errors
/// Those of reading and writing.
pub(super) fn rewrite(from: impl Read, out: &mut dyn Write, each: &mut Each<'_>) -> io::Result<()> {
    let mut bytes = BufReader::with_capacity(64 * 1024, from).bytes();
    let mut copied = Vec::new();
    // A string that may still turn out to be a key.
    let mut last: Option<String> = None;
    let mut key: Option<String> = None;
    while let Some(byte) = bytes.next().transpose()? {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b':' => {
                if let Some(text) = last.take() {
                    out.write_all(&written(&text))?;
                    key = Some(text);
                }
            }
            _ => {
                tell(last.take(), key.as_deref(), &mut copied, out, each)?;
                if matches!(byte, b',' | b'}' | b']' | b'{') {
                    // Elements of a list stand behind the key of the list.
                    key = key.take().filter(|_| byte == b',' || byte == b']');
                }
            }
        }
        if byte == b'"' {
            out.write_all(&copied)?;
            copied.clear();
            last = Some(string(&mut bytes)?);
            continue;
        }
        copied.push(byte);
        if last.is_none() {
            out.write_all(&copied)?;
            copied.clear();
        }
    }
    tell(last, key.as_deref(), &mut copied, out, each)
}

/// Writes a string that is no key, and what stood behind it.
fn tell(
    last: Option<String>,
    key: Option<&str>,
    copied: &mut Vec<u8>,
    out: &mut dyn Write,
    each: &mut Each<'_>,
) -> io::Result<()> {
    if let Some(text) = last {
        out.write_all(&written(&each(key, &text)))?;
    }
    out.write_all(copied)?;
    copied.clear();
    Ok(())
}

/// A text as a string of JSON.
fn written(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

/// The rest of a string whose first quote was read.
fn string(bytes: &mut impl Iterator<Item = io::Result<u8>>) -> io::Result<String> {
    let mut raw = vec![b'"'];
    let mut escaped = false;
    let mut whole = true;
    for byte in bytes {
        let byte = byte?;
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        if ends {
            break;
        }
        if raw.len() < LONGEST {
            raw.push(byte);
        } else {
            whole = false;
        }
    }
    if !whole {
        // Half of an escape or of a letter may stand at the end.
        let cut = raw.iter().rev().take(16).position(|byte| matches!(byte, b'\\' | 0x80..)).map_or(0, |at| at + 1);
        raw.truncate(raw.len() - cut);
    }
    raw.push(b'"');
    let text = String::from_utf8_lossy(&raw);
    Ok(serde_json::from_str(&text).unwrap_or_else(|_| text.trim_matches('"').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strings_change() {
        let text = "{\n  \"m\": \"a\\n\\u00e9\", \"list\": [\"b\", 1, {\"k\": \"c\"}], \"n\": null}\n";
        let mut out = Vec::new();
        let mut seen = Vec::new();
        let mut each = |key: Option<&str>, text: &str| {
            seen.push(format!("{}={text}", key.unwrap_or("-")));
            text.to_uppercase()
        };
        rewrite(text.as_bytes(), &mut out, &mut each).expect("it is written to memory");
        assert_eq!(
            String::from_utf8_lossy(&out),
            "{\n  \"m\": \"A\\nÉ\", \"list\": [\"B\", 1, {\"k\": \"C\"}], \"n\": null}\n"
        );
        assert_eq!(seen, ["m=a\né", "list=b", "k=c"]);
    }
}
