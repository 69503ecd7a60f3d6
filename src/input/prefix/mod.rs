//! Takes off what terminals, containers, loggers and people put in front of a ComfyUI text.
//!
//! Keeps what the prefixes said (time, level, "this was typed"). Never takes a bracket that belongs to the text,
//! such as `[ComfyUI-Manager]` or `[START]`, and allocates nothing.

mod client;
mod comfyui;
mod docker;
mod kernel;
mod kubernetes;
mod python_logging;
mod quote;
mod ray;
mod rich;
mod shell_prompt;
mod streams;
mod syslog;
mod timestamp;

use super::line::Level;
use crate::eight::{begins_with_pack, eight_of, end_of_word};
pub(crate) use rich::{Cell, below, cells};

/// How many prefixes may stand before one text.
const ROUNDS: usize = 8;

/// One way to write something before a text.
pub struct Dialect {
    /// Who writes it.
    pub name: &'static str,
    /// What is written, and when.
    pub about: &'static str,
    /// First bytes of its prefixes: ranges, both ends included.
    begins: &'static [(u8, u8)],
    /// Takes one prefix off a text; none when there is none of this dialect.
    take: Take,
    /// Lines, and the texts behind their prefixes; these are its tests.
    pub examples: &'static [(&'static str, &'static str)],
}

type Take = for<'a> fn(&'a [u8], &mut Stripped<'a>) -> Option<&'a [u8]>;

/// All dialects, in the order in which they are tried.
pub static DIALECTS: [Dialect; COUNT] = ALL;
const COUNT: usize = 13;
const ALL: [Dialect; COUNT] = [
    comfyui::DIALECT,
    timestamp::DIALECT,
    streams::DIALECT,
    kubernetes::DIALECT,
    kernel::DIALECT,
    docker::DIALECT,
    syslog::DIALECT,
    rich::DIALECT,
    python_logging::DIALECT,
    client::DIALECT,
    shell_prompt::DIALECT,
    ray::DIALECT,
    quote::DIALECT,
];

const LETTERS: [(u8, u8); 2] = [(b'A', b'Z'), (b'a', b'z')];

/// A bit for each dialect that may begin with a byte.
static BY_FIRST_BYTE: [u16; 256] = {
    let mut table = [0; 256];
    let mut dialect = 0;
    while dialect < COUNT {
        let begins = ALL[dialect].begins;
        let mut range = 0;
        while range < begins.len() {
            let (mut byte, last) = (begins[range].0 as usize, begins[range].1 as usize);
            while byte <= last {
                table[byte] |= 1 << dialect;
                byte += 1;
            }
            range += 1;
        }
        dialect += 1;
    }
    table
};

/// A text without its prefixes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Stripped<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) indent: u32,
    pub(crate) stamp: Option<&'a [u8]>,
    pub(crate) level: Option<Level>,
    pub(crate) tagged: bool,
    pub(crate) prompted: bool,
    /// The text stands in a column of its own, and may go on below.
    pub(crate) cell: Option<Cell>,
}

/// Takes off all prefixes of a line without trailing blanks.
#[inline]
pub(crate) fn strip(line: &[u8]) -> Stripped<'_> {
    let blanks = leading(line);
    let text = line.get(blanks..).unwrap_or_default();
    let mut out = Stripped { text, indent: u32::try_from(blanks).unwrap_or(u32::MAX), ..Stripped::default() };
    if !is_bare(text) {
        rounds(&mut out);
    }
    out
}

/// For sure no prefix begins `text`, which has no blanks before it: the cheap question that is answered with yes for
/// nearly all lines of a log without prefixes. A no may be wrong, a yes is not.
#[inline]
pub(crate) fn is_bare(text: &[u8]) -> bool {
    match text.first() {
        None => false,
        Some(b'A'..=b'Z' | b'a'..=b'z') => is_bare_word(text),
        // The name of a node pack. Names behind a stamp are another matter.
        Some(b'[') => text.get(1).is_some_and(u8::is_ascii_alphabetic) && begins_with_pack(text),
        Some(first) => BY_FIRST_BYTE[usize::from(*first)] == 0,
    }
}

/// A word, and no prefix that begins with one: those have a bar, a figure or a path behind their first word, or a colon
/// without a blank. The question is put to every line and its answer is hardly ever no, so that it is asked without
/// branches.
#[inline]
fn is_bare_word(s: &[u8]) -> bool {
    let Some(at) = end_of_word(s) else { return false };
    let (Some(end), Some(next)) = (s.get(at), s.get(at + 1)) else { return false };
    let behind_blank = (*end == b' ') & !matches!(next, b' ' | b'\t' | b'|' | b'0'..=b'9');
    let behind_colon = (*end == b':') & (*next == b' ');
    (behind_blank | behind_colon) & !begins_prefix(s)
}

/// The few words that begin a prefix all the same: `PS `, of the levels that loggers pad to eight letters the one that is
/// as long, the names of the streams, and what clients say.
#[inline]
fn begins_prefix(s: &[u8]) -> bool {
    const fn word(text: &[u8; 8]) -> u64 {
        u64::from_le_bytes(*text)
    }
    let eight = eight_of(s).unwrap_or(0);
    let small = (eight | word(b"        ")) & word(b"\xff\xff\xff\xff\xff\xff\0\0");
    let stream = (small == word(b"stderr\0\0")) | (small == word(b"stdout\0\0"));
    let others = (eight == word(b"CRITICAL")) | (eight == word(b"Server e"));
    stream | others | (eight & 0xff_ffff == word(b"PS \0\0\0\0\0"))
}

/// Takes off the prefixes behind a level tag of this name; none when it names no level.
pub(crate) fn behind_tag<'a>(name: &[u8], text: &'a [u8]) -> Option<Stripped<'a>> {
    let level = level(name)?;
    let mut out = strip(one_blank(text));
    out.level = out.level.or(Some(level));
    out.tagged = true;
    Some(out)
}

/// Works where the result stays: copying what was just written in pieces made the processor wait, for a seventh of
/// the time on some logs.
fn rounds(out: &mut Stripped<'_>) {
    for _ in 0..ROUNDS {
        let Some(rest) = once(out.text, out) else { break };
        let blanks = leading(rest);
        out.indent = u32::try_from(blanks).unwrap_or(u32::MAX);
        out.text = rest.get(blanks..).unwrap_or_default();
        if out.prompted || out.text.is_empty() {
            break;
        }
    }
}

/// Takes off one prefix; none when there is none.
fn once<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    // Behind one prefix there is mostly no other, but for a level behind a stamp.
    if is_bare(s) {
        return python_logging::level_behind_stamp(s, out);
    }
    let mut dialects = BY_FIRST_BYTE[usize::from(*s.first()?)];
    while dialects != 0 {
        let dialect = DIALECTS.get(dialects.trailing_zeros() as usize)?;
        if let Some(rest) = (dialect.take)(s, out) {
            return Some(rest);
        }
        dialects &= dialects - 1;
    }
    None
}

fn keep<'a>(out: &mut Stripped<'a>, stamp: &'a [u8]) {
    out.stamp.get_or_insert(stamp);
}

/// Number of blanks that a text begins with.
#[inline]
pub(crate) fn leading(s: &[u8]) -> usize {
    s.iter().take_while(|b| matches!(**b, b' ' | b'\t' | 0)).count()
}

fn one_blank(s: &[u8]) -> &[u8] {
    s.strip_prefix(b" ").unwrap_or(s)
}

/// A byte of the names that Compose, syslog and loggers print.
const fn is_name(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-' | b'.')
}

/// How many bytes of a name `s` begins with, at most `most`.
fn run(s: &[u8], most: usize) -> usize {
    s.iter().take(most).take_while(|byte| is_name(**byte)).count()
}

/// The level of this name.
pub(crate) fn level(name: &[u8]) -> Option<Level> {
    Some(match name {
        b"INFO" => Level::Info,
        b"WARNING" | b"WARN" => Level::Warning,
        b"ERROR" => Level::Error,
        b"DEBUG" => Level::Debug,
        b"DETAIL" => Level::Detail,
        b"CRITICAL" | b"FATAL" => Level::Critical,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(line: &str) -> Stripped<'_> {
        strip(line.trim_end().as_bytes())
    }

    // Long: one loop over what may stand before a text, in the order in which it is tried.
    #[test]
    fn each_dialect_gives_the_texts_of_its_examples() {
        for dialect in &DIALECTS {
            assert!(!dialect.examples.is_empty(), "{}", dialect.name);
            for (line, text) in dialect.examples {
                assert_eq!(String::from_utf8_lossy(stripped(line).text), *text, "{line}");
                assert!(!is_bare(line.trim().as_bytes()), "{line}");
            }
        }
    }

    #[test]
    fn what_is_bare_at_a_glance_has_no_prefix() {
        let names = [
            "comfyui",
            "ComfyUI-Impact-Pack",
            "a_b",
            "host.name",
            "stderr",
            "ComfyUI-0/STDERR",
            "INFO",
            "PS",
            "pod/a-b/c",
        ];
        let joints = ["] ", ": ", "  | ", " ", ":", "@host:~$ ", "] [INFO] ", " 12:00:00 ", "]$ ", " - "];
        let mut bare = 0;
        for (name, more) in names.iter().flat_map(|name| names.iter().map(move |more| (name, more))) {
            for joint in joints {
                for begin in ["", "["] {
                    let line = format!("{begin}{name}{joint}{more} wrote python[12]: this much and more");
                    if is_bare(line.as_bytes()) {
                        bare += 1;
                        let out = stripped(&line);
                        assert_eq!(String::from_utf8_lossy(out.text), line);
                        assert_eq!((out.level, out.stamp, out.tagged), (None, None, false), "{line}");
                    }
                }
            }
        }
        assert!(bare > 100, "{bare}");
    }

    #[test]
    fn texts_stay() {
        for line in [
            "[ComfyUI-Manager] All startup tasks have been completed.",
            "[rgthree] Using rgthree's optimized recursive execution.",
            "[START] Security scan",
            "[DONE] Security scan",
            "[Prompt Server] web root: /x",
            "[enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory",
            "[1]    4242 killed     python main.py",
            "[2024-05-31 15:5] x",
            "[2024-05-31 15:05:] x",
            "[    559]     0   559     9029      427",
            "[  pid  ]   uid  tgid total_vm",
            "[197B blob data]",
            "[Crystools INFO] Crystools version: 1.22.1",
            "[info] a node wrote this",
            "ERROR lora diffusion_model.x y",
            "ERROR - lora diffusion_model.x y",
            "ERROR UNSUPPORTED DIFFUSION MODEL /x",
            "INFO",
            "stderr was closed",
            "[ComfyUI-Manager/stderr",
            "[ComfyUI-stderr] x",
            "[DEPRECATION WARNING] Detected import",
            "ERROR: Could not detect model type of: x",
            "WARNING: Python 3.10 will be EOL",
            "# ComfyUI Error Report",
            "## Devices",
            "'NoneType' object has no attribute 'x'",
            "Loading 1 new model",
            "0.0 seconds: /opt/ComfyUI/custom_nodes/x",
            "12 models unloaded.",
            "Model | Size",
            "|    Allocated memory     | 1 MiB |",
            r"C:\x\y.py:123: FutureWarning: a -> b",
            r"D:\ComfyUI\main.py --listen",
            "zsh: killed     python main.py",
            "run_comfy.sh: line 2:  3146 Killed",
            "(IMPORT FAILED)",
            "(venv) is active",
            "(RayWorker pid=) x",
            "(see pid=1234 above) x",
            "-----------------#105:23 [VAEDecodeAudio]: 3.79s - vram 295990272b",
            "mail me at a@b.c please",
            "[32m without a tag",
        ] {
            let out = stripped(line);
            assert_eq!(String::from_utf8_lossy(out.text), line);
            assert_eq!((out.level, out.stamp, out.tagged, out.prompted), (None, None, false, false), "{line}");
        }
    }

    #[test]
    fn what_prefixes_said() {
        let out = stripped("[2026-08-05 12:00:00,123] [DETAIL] x");
        assert_eq!(
            (out.stamp, out.level, out.tagged),
            (Some(&b"2026-08-05 12:00:00,123"[..]), Some(Level::Detail), true)
        );
        let out = stripped("[2025-05-17 10:50:04.212] [error]   File \"x\"");
        assert_eq!((out.level, out.tagged, out.indent), (None, false, 2));
        let out = stripped("2025-08-23 11:07:36.853 [Warning] [ComfyUI-6/STDERR]   File \"x\"");
        assert_eq!((out.stamp, out.indent), (Some(&b"2025-08-23 11:07:36.853"[..]), 2));
        let out = stripped("9月 08 09:15:40 node1 python[2]: [ERROR] x");
        assert_eq!((out.stamp, out.level), (Some("9月 08 09:15:40".as_bytes()), Some(Level::Error)));
        let out = stripped("2024-05-31 15:05:22,111 - INFO -   File \"x\"");
        assert_eq!((out.level, out.tagged, out.indent), (Some(Level::Info), true, 2));
        assert_eq!(out.stamp, Some(&b"2024-05-31 15:05:22,111"[..]));
        assert!(stripped("$ python main.py").prompted);
        assert_eq!(stripped(">     PyTorch 2.8.0").indent, 4);
        assert_eq!(stripped("[INFO]   0.1 seconds: x").indent, 2);
    }
}
