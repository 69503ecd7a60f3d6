//! Ray tells which of its processes wrote a line: `(RayWorker pid=1234) `.

use super::super::stamp::digits;
use super::{Dialect, Stripped};
use memchr::memchr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "Ray",
    about: "the process of a cluster that wrote the line",
    begins: &[(b'(', b'(')],
    take,
    examples: &[
        ("(RayWorker pid=1234) got prompt", "got prompt"),
        ("(RayWorker pid=1234, ip=10.0.0.2) [INFO] got prompt", "got prompt"),
    ],
};

/// The longest name of a process, in bytes.
const NAME: usize = 64;

fn take<'a>(s: &'a [u8], _: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let end = memchr(b')', s.get(..NAME).unwrap_or(s))?;
    let rest = s.get(end + 1..)?.strip_prefix(b" ")?;
    is_worker(s.get(1..end)?).then_some(rest)
}

/// `RayWorker pid=1234` and `RayWorker pid=1234, ip=10.0.0.2`.
fn is_worker(name: &[u8]) -> bool {
    let blank = name.iter().position(|byte| *byte == b' ').unwrap_or(0);
    let Some(number) = name.get(blank..).and_then(|rest| rest.strip_prefix(b" pid=")) else { return false };
    let end = digits(number, 0);
    let rest = number.get(end..).unwrap_or_default();
    end > 0 && (rest.is_empty() || rest.starts_with(b", ip="))
}
