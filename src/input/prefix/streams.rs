//! Programs that start ComfyUI and name the stream before each line: Desktop, SwarmUI, and others.

use super::{Dialect, Stripped, leading, one_blank, run};
use memchr::memchr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "Desktop, SwarmUI",
    about: "programs that start ComfyUI and put its stream, or a level of their own, before each line",
    begins: &[(b'[', b'['), (b'S', b'S'), (b's', b's')],
    take,
    examples: &[
        ("[2025-05-17 10:50:04.212] [info]  got prompt", "got prompt"),
        ("[2025-05-17 10:50:04.212] [error] Traceback (most recent call last):", "Traceback (most recent call last):"),
        ("[2026-06-10 10:00:00.000] [info]  [INFO] got prompt", "got prompt"),
        ("2025-08-23 11:07:34.687 [Debug] [ComfyUI-6/STDOUT] got prompt", "got prompt"),
        ("2025-08-23 11:07:38.101 [Error] Error while initializing", "Error while initializing"),
        ("[ComfyUI-0/STDERR] got prompt", "got prompt"),
        ("[stderr] got prompt", "got prompt"),
        ("[STDOUT] got prompt", "got prompt"),
        ("STDERR: got prompt", "got prompt"),
        ("stdout: got prompt", "got prompt"),
    ],
};

/// The longest name in brackets, in bytes.
const NAME: usize = 64;
/// Desktop pads its level with the brackets to so many letters.
const DESKTOP: usize = 7;

fn take<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let Some(inner) = s.strip_prefix(b"[") else { return named(s) };
    let end = memchr(b']', inner.get(..NAME).unwrap_or(inner))?;
    let (name, rest) = (inner.get(..end)?, inner.get(end + 1..)?);
    // Behind a stamp these name the stream, not the level of the text.
    match name {
        b"info" | b"warn" | b"error" | b"debug" | b"verbose" | b"silly" if out.stamp.is_some() => {
            let pad = DESKTOP.saturating_sub(name.len() + 2) + 1;
            rest.get(leading(rest).min(pad)..)
        }
        b"Verbose" | b"Debug" | b"Info" | b"Init" | b"Warning" | b"Error" if out.stamp.is_some() => {
            Some(one_blank(rest))
        }
        _ if is_stream(name) => Some(one_blank(rest)),
        _ => None,
    }
}

/// `STDERR: got prompt`.
fn named(s: &[u8]) -> Option<&[u8]> {
    let length = run(s, NAME);
    let rest = s.get(length..)?.strip_prefix(b":")?;
    (is_stream(s.get(..length)?) && matches!(rest.first(), None | Some(b' '))).then(|| one_blank(rest))
}

/// A stream's name, alone or behind that of SwarmUI's backend: `stderr`, `ComfyUI-0/STDERR`.
fn is_stream(name: &[u8]) -> bool {
    let stream = match name.strip_prefix(b"ComfyUI-") {
        Some(backend) => backend.rsplit(|byte| *byte == b'/').next().filter(|last| last.len() < backend.len()),
        None => Some(name),
    };
    stream.is_some_and(|stream| stream.eq_ignore_ascii_case(b"stderr") || stream.eq_ignore_ascii_case(b"stdout"))
}
