//! Other ways in which a name is written: in addresses, in JSON, as Windows' short name, as base64.

use super::tokens::Category;

/// The name in small letters, and all ways of writing it that differ.
pub(super) fn encodings(category: Category, name: &str) -> Vec<String> {
    let mut all = vec![name.to_owned(), in_address(name, "%20"), in_address(name, "+"), in_json(name)];
    if name.contains('\\') {
        all.push(name.replace('\\', "\\\\"));
    }
    if name.contains('/') {
        all.push(name.replace('/', "\\/"));
    }
    if matches!(category, Category::Key | Category::User | Category::Email) && name.len() >= 6 {
        all.push(base64(name.as_bytes()));
    }
    if matches!(category, Category::User | Category::Folder) {
        all.extend(short_name(name));
    }
    all.sort();
    all.dedup();
    all.retain(|text| !text.is_empty());
    all
}

/// As a part of an address; a blank is written in two ways.
fn in_address(name: &str, blank: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push_str(blank),
            _ => out.push_str(&format!("%{byte:02x}")),
        }
    }
    out
}

/// As a string of JSON that holds ASCII alone.
fn in_json(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii() {
            out.push(letter);
        } else {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// `OTTOBR~1`: the name that old programs see.
fn short_name(name: &str) -> Option<String> {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).take(6).collect();
    let long = name.chars().count() > 8 || name.contains(' ');
    (long && letters.len() == 6).then(|| format!("{letters}~1"))
}

/// The usual base64, without the signs at its end.
pub(super) fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let value = chunk.iter().fold(0_u32, |value, byte| value << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            let sign = (value >> (18 - 6 * at)) & 63;
            out.push(char::from(SIGNS.get(sign as usize).copied().unwrap_or(b'A')));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_in_many_ways() {
        assert_eq!(
            encodings(Category::User, "otto brandauer"),
            ["b3R0byBicmFuZGF1ZXI", "otto brandauer", "otto%20brandauer", "otto+brandauer", "ottobr~1"]
        );
        assert_eq!(encodings(Category::Folder, "käthe"), ["k%c3%a4the", "k\\u00e4the", "käthe"]);
        assert_eq!(encodings(Category::Prompt, "a/b"), ["a%2fb", "a/b", "a\\/b"]);
    }
}
