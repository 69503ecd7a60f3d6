//! What pastes bring along: `> ` of a quoting reply, and quotation marks.

use super::{Dialect, Stripped};
use memchr::memchr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "quotes",
    about: "`> ` of a reply, and a quotation mark that came along with a paste",
    begins: &[(b'>', b'>'), (b'\'', b'\''), (b'"', b'"'), (b'`', b'`'), (0xe2, 0xe2)],
    take,
    examples: &[
        ("> got prompt", "got prompt"),
        ("> > [INFO] got prompt", "got prompt"),
        (">", ""),
        ("'Requested to load LTXV", "Requested to load LTXV"),
        ("“Requested to load LTXV", "Requested to load LTXV"),
    ],
};

fn take<'a>(s: &'a [u8], _: &mut Stripped<'a>) -> Option<&'a [u8]> {
    match s {
        [b'>'] => Some(&[]),
        [b'>', b' ', rest @ ..] => Some(rest),
        [b'>', ..] => None,
        // Quotation marks of word processors.
        [0xe2, 0x80, 0x98 | 0x9c, rest @ ..] => memchr(0x80, rest).is_none().then_some(rest),
        [0xe2, ..] => None,
        [mark, rest @ ..] => match memchr(*mark, rest) {
            None if matches!(rest.first(), Some(b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'[')) => Some(rest),
            Some(end) if end > 0 && end + 1 == rest.len() => rest.get(..end),
            _ => None,
        },
        [] => None,
    }
}
