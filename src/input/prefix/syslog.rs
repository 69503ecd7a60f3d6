//! syslog and the journal: `Aug 05 12:00:00 host python[1234]: `, the month in any language, or a stamp of ISO 8601.

use super::super::stamp::{clock, digits, fraction};
use super::{Dialect, Stripped, keep, leading};
use memchr::memchr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "syslog and journald",
    about: "`journalctl`, also `-o short-iso` and `short-precise`, and `/var/log/syslog`; the month in any language",
    begins: &[(b'A', b'Z'), (b'a', b'z'), (b'1', b'9'), (0xc3, 0xe1), (0xe3, 0xef)],
    take,
    examples: &[
        ("Aug 05 12:00:00 host python[1234]: got prompt", "got prompt"),
        ("Aug 05 12:00:00.123456 host python[1234]: got prompt", "got prompt"),
        ("Aug  5 12:00:00 host kernel: [  962.891902] Out of memory: Killed", "Out of memory: Killed"),
        ("9月 08 09:15:40 node1 python[285299]: [INFO] got prompt", "got prompt"),
        ("12月 08 09:15:40 node1 python[285299]: got prompt", "got prompt"),
        ("九月 08 09:15:40 node1 python[285299]: got prompt", "got prompt"),
        ("mai 05 09:15:40 node1 python[285299]: got prompt", "got prompt"),
        ("août 05 09:15:40 node1 python[285299]: got prompt", "got prompt"),
        ("авг 05 09:15:40 node1 python[285299]: got prompt", "got prompt"),
        ("2026-08-05T12:00:00+0200 host python[1]: got prompt", "got prompt"),
        ("2026-08-05T12:00:00.123456+02:00 host python[1]: got prompt", "got prompt"),
    ],
};

/// The longest name of a month, in bytes, and the place where its day must stand by.
const MONTH: usize = 16;
/// The longest names of a host and of a process, in bytes.
const HOST: usize = 128;
const PROCESS: usize = 96;

fn take<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let month = s.iter().take(MONTH).take_while(|byte| **byte != b' ').count();
    // A month that begins with a digit is one in Chinese or Japanese.
    if s.first()?.is_ascii_digit() && s.get(..month)?.is_ascii() {
        return None;
    }
    let day = month + leading(s.get(month..)?);
    let number = digits(s, day);
    if day == month || day > MONTH || !(1..=2).contains(&number) {
        return None;
    }
    let mut time = day + number;
    time += usize::from(s.get(time) == Some(&b'.'));
    let clock_at = s.get(time..)?.strip_prefix(b" ")?;
    time += 1 + clock(clock_at)?;
    let end = time + fraction(s, time, false);
    let rest = host_and_process(s.get(end..)?.strip_prefix(b" ")?, false)?;
    keep(out, s.get(..end)?);
    Some(rest)
}

/// `host python[1234]: `; `numbered` when the process must have its number.
fn host_and_process(s: &[u8], numbered: bool) -> Option<&[u8]> {
    let host = s.iter().take(HOST).position(|b| *b == b' ')?;
    let tail = s.get(host + 1..)?;
    let colon = memchr(b':', tail.get(..PROCESS).unwrap_or(tail))?;
    let process = tail.get(..colon)?;
    if numbered && !process.ends_with(b"]") && process != b"kernel" {
        return None;
    }
    let plain = !process.is_empty() && !process.iter().any(|b| matches!(b, b' ' | b'"' | b'\''));
    match tail.get(colon + 1..)? {
        [] if plain => Some(&[]),
        [b' ', rest @ ..] if plain => Some(rest),
        _ => None,
    }
}

/// `host python[1]: ` behind a stamp of ISO 8601. The process must have its number, since `ComfyUI version: 0.3.64` behind
/// a container's stamp is a message.
pub(super) fn behind_stamp(s: &[u8]) -> Option<&[u8]> {
    host_and_process(s, true)
}
