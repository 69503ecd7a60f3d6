//! Prefixes that begin with a sign: quotes of a paste, and the marks of shells.

use super::super::stamp::digits;
use super::bracket::bracket;
use super::letter::word;
use super::{STARTS, Start, Stripped, leading, typed};
use memchr::memchr;

/// `> ` of a quoting reply, and a single quote character that came along with a paste.
pub(super) fn quoted(s: &[u8]) -> Option<&[u8]> {
    let first = *s.first()?;
    if first == b'>' {
        return match s {
            [b'>'] => Some(&[]),
            [b'>', b' ', rest @ ..] => Some(rest),
            _ => None,
        };
    }
    let rest = s.get(1..)?;
    match memchr(first, rest) {
        None if rest.first().is_some_and(u8::is_ascii_alphanumeric) || rest.first() == Some(&b'[') => Some(rest),
        Some(end) if end > 0 && end + 1 == rest.len() => rest.get(..end),
        _ => None,
    }
}

pub(super) fn sign<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    match s {
        [b'$', b' ', rest @ ..] => typed(rest, out),
        [b'#', b' ', rest @ ..] => {
            let command = [&b"python"[..], b"docker", b"podman", b"./", b"sudo "].iter().any(|c| rest.starts_with(c));
            if command { typed(rest, out) } else { None }
        }
        // ❯, ➜ and λ
        [0xe2, 0x9d, 0xaf, rest @ ..] | [0xce, 0xbb, rest @ ..] if rest.first() == Some(&b' ') => typed(rest, out),
        [0xe2, 0x9e, 0x9c, rest @ ..] if rest.first() == Some(&b' ') => typed(theme(rest), out),
        [0xce, ..] => word(s, out), // a Greek month
        // Quotation marks of word processors.
        [0xe2, 0x80, 0x98 | 0x9c, rest @ ..] if memchr(0x80, rest).is_none() => Some(rest),
        [b'<', rest @ ..] => {
            let number = digits(rest, 0);
            let tail = rest.get(number..)?.strip_prefix(b">")?;
            ((1..=3).contains(&number) && tail.first() == Some(&b'[')).then_some(tail)
        }
        // `(venv) user@host:~$ `: the name counts only before a prompt.
        [b'(', ..] => {
            let end = memchr(b')', s.get(..64).unwrap_or(s))?;
            let rest = s.get(end + 1..)?.strip_prefix(b" ")?;
            if is_worker(s.get(1..end)?) {
                return Some(rest);
            }
            let mut tried = *out;
            let text = match STARTS.get(usize::from(*rest.first()?))? {
                Start::Word => word(rest, &mut tried),
                Start::Sign if rest.first() != Some(&b'(') => sign(rest, &mut tried),
                Start::Bracket => bracket(rest, &mut tried),
                _ => None,
            }?;
            if tried.prompted {
                out.prompted = true;
                Some(text)
            } else {
                None
            }
        }
        _ => None,
    }
}

/// `RayWorker pid=1234` and `RayWorker pid=1234, ip=10.0.0.2`: Ray tells which of its processes wrote a line.
fn is_worker(name: &[u8]) -> bool {
    let blank = name.iter().position(|byte| *byte == b' ').unwrap_or(0);
    let Some(number) = name.get(blank..).and_then(|rest| rest.strip_prefix(b" pid=")) else { return false };
    let end = digits(number, 0);
    let rest = number.get(end..).unwrap_or_default();
    end > 0 && (rest.is_empty() || rest.starts_with(b", ip="))
}

/// Skips `ComfyUI git:(master) ✗ ` behind the arrow of a shell theme.
fn theme(s: &[u8]) -> &[u8] {
    let s = s.get(leading(s)..).unwrap_or_default();
    let folder = s.iter().take_while(|b| **b != b' ').count();
    let mut rest = s.get(folder..).unwrap_or_default();
    rest = rest.get(leading(rest)..).unwrap_or_default();
    if let Some(branch) = rest.strip_prefix(b"git:(") {
        rest = memchr(b')', branch).and_then(|end| branch.get(end + 1..)).unwrap_or_default();
        rest = rest.get(leading(rest)..).unwrap_or_default();
        rest = rest.strip_prefix("✗".as_bytes()).unwrap_or(rest);
    }
    rest
}
