//! Programs that talk to a ComfyUI server and show its errors behind words of their own.

use super::{Dialect, Stripped};

pub(super) const DIALECT: Dialect = Dialect {
    name: "clients",
    about: "Krita's plugin and other clients of a server, which show its errors behind words of their own",
    begins: &[(b'S', b'S')],
    take,
    examples: &[("Server execution error: Allocation on device", "Allocation on device")],
};

/// What clients put before an error of the server.
const WORDS: [&[u8]; 1] = [b"Server execution error: "];

fn take<'a>(s: &'a [u8], _: &mut Stripped<'a>) -> Option<&'a [u8]> {
    WORDS.iter().find_map(|words| s.strip_prefix(*words)).filter(|rest| !rest.is_empty())
}
