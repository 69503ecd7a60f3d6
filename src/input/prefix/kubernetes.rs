//! Kubernetes: `kubectl logs --prefix`, and the files that container runtimes write.

use super::{Dialect, Stripped, one_blank};
use memchr::memchr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "Kubernetes",
    about: "`kubectl logs --prefix`, and the container runtime's own files with stamp and stream",
    begins: &[(b'[', b'[')],
    take,
    examples: &[
        ("[pod/comfy-0/comfyui] [INFO] got prompt", "got prompt"),
        ("2026-02-05T05:40:37.137431771Z stderr F got prompt", "got prompt"),
    ],
};

/// The longest name of a pod with its container, in bytes.
const NAME: usize = 160;

fn take<'a>(s: &'a [u8], _: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let inner = s.strip_prefix(b"[pod/")?;
    let end = memchr(b']', inner.get(..NAME).unwrap_or(inner))?;
    let name = inner.get(..end)?;
    (name.iter().filter(|b| **b == b'/').count() == 1).then(|| inner.get(end + 1..).map(one_blank))?
}

/// `stderr F ` behind a stamp; `P` where the runtime parted a long line.
pub(super) fn behind_stamp(s: &[u8]) -> Option<&[u8]> {
    let rest = s.strip_prefix(b"stderr ").or_else(|| s.strip_prefix(b"stdout "))?;
    match rest {
        [b'F' | b'P', b' ', text @ ..] => Some(text),
        [b'F' | b'P'] => Some(&[]),
        _ => None,
    }
}
