//! ComfyUI's own level tags: `[INFO] got prompt`, in colours or not.

use super::{Dialect, Stripped, level, one_blank};
use memchr::memchr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "ComfyUI",
    about: "the level tag of ComfyUI 0.9 and newer, also where the escape byte of its colours got lost",
    begins: &[(b'[', b'[')],
    take,
    examples: &[
        ("[INFO] got prompt", "got prompt"),
        ("    [INFO] got prompt", "got prompt"),
        ("[DETAIL] Pin eviction: x", "Pin eviction: x"),
        ("[INFO]", ""),
        ("[32m[INFO][0m got prompt", "got prompt"),
        ("[32m[INFO][0m [32mPrompt executed in 1.00 seconds[0m", "Prompt executed in 1.00 seconds"),
    ],
};

/// The longest name of a level with its bracket.
const TAG: usize = 12;

fn take<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let inner = s.get(1..)?;
    match inner.first()? {
        b'A'..=b'Z' => {
            let end = memchr(b']', inner.get(..TAG).unwrap_or(inner))?;
            out.level = Some(level(inner.get(..end)?)?);
            out.tagged = true;
            inner.get(end + 1..).map(one_blank)
        }
        b'0'..=b'9' => without_escape(s, out),
        _ => None,
    }
}

/// `[32m[INFO][0m `: colours whose escape byte got lost, only before a level tag.
fn without_escape<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let rest = behind_colours(s);
    let inner = rest.strip_prefix(b"[")?;
    let end = memchr(b']', inner.get(..TAG).unwrap_or(inner))?;
    out.level = Some(level(inner.get(..end)?)?);
    out.tagged = true;
    let rest = behind_colours(one_blank(behind_colours(inner.get(end + 1..)?)));
    Some(rest.strip_suffix(b"[0m").unwrap_or(rest))
}

/// What stands behind all colours without their escape byte, such as `[0m` and `[1;33m`.
fn behind_colours(s: &[u8]) -> &[u8] {
    let mut rest = s;
    while let Some(inner) = rest.strip_prefix(b"[") {
        let length = inner.iter().take(12).take_while(|b| b.is_ascii_digit() || **b == b';').count();
        match inner.get(length..) {
            Some([b'm', behind @ ..]) if length > 0 => rest = behind,
            _ => break,
        }
    }
    rest
}
