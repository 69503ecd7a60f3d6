//! Takes off what terminals, containers, loggers and people put in front of a ComfyUI text.
//!
//! Keeps what the prefixes said (time, level, "this was typed"). Never takes a bracket that belongs to the text,
//! such as `[ComfyUI-Manager]` or `[START]`, and allocates nothing.

mod bracket;
mod digit;
mod letter;
mod plain;
mod rich;
mod sign;

use super::line::Level;
use crate::eight::end_of_word;
use bracket::bracket;
use digit::stamped;
use letter::word;
pub(crate) use rich::{Cell, below, cells};
use sign::{quoted, sign};

/// How many prefixes may stand before one text.
const ROUNDS: usize = 8;

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

/// What may begin with a byte.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    None,
    Bracket,
    Digit,
    Word,
    Quoted,
    Sign,
}

const STARTS: [Start; 256] = {
    let mut table = [Start::None; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            b'[' => Start::Bracket,
            b'0'..=b'9' => Start::Digit,
            b'A'..=b'Z' | b'a'..=b'z' | 0xc3..=0xcd | 0xcf..=0xd1 => Start::Word,
            b'>' | b'\'' | b'"' | b'`' => Start::Quoted,
            b'$' | b'#' | b'(' | b'<' | 0xce | 0xe2 => Start::Sign,
            _ => Start::None,
        };
        b += 1;
    }
    table
};

/// Bytes of the names that Compose, syslog and loggers print.
const NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = matches!(b as u8, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-' | b'.');
        b += 1;
    }
    table
};

/// Takes off all prefixes of a line without trailing blanks.
#[inline]
pub(crate) fn strip(line: &[u8]) -> Stripped<'_> {
    let blanks = leading(line);
    let text = line.get(blanks..).unwrap_or_default();
    let mut out = Stripped { text, indent: u32::try_from(blanks).unwrap_or(u32::MAX), ..Stripped::default() };
    if let Some(first) = text.first()
        && STARTS.get(usize::from(*first)).is_some_and(|s| *s != Start::None)
    {
        rounds(&mut out);
    }
    out
}

/// For sure no prefix begins `text`, which has no blanks before it: the cheap question that is answered with yes for
/// nearly all lines of a log without prefixes. A no may be wrong, a yes is not.
#[inline]
pub(crate) fn is_bare(text: &[u8]) -> bool {
    let Some(first) = text.first() else { return false };
    match STARTS.get(usize::from(*first)) {
        Some(Start::None) => true,
        Some(Start::Word) => letter::is_bare(text),
        Some(Start::Bracket) => bracket::is_bare(text),
        _ => false,
    }
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
    let first = usize::from(*s.first()?);
    match STARTS.get(first)? {
        Start::None => None,
        Start::Bracket => bracket(s, out),
        Start::Digit => stamped(s, out).or_else(|| word(s, out)),
        // Behind one prefix there is mostly no other, but for a level behind a stamp.
        Start::Word if letter::is_bare(s) => level_behind_stamp(s, out),
        Start::Word => word(s, out),
        Start::Quoted => quoted(s),
        Start::Sign => sign(s, out),
    }
}

/// `INFO got prompt` behind a stamp.
fn level_behind_stamp<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    if out.stamp.is_none() || out.tagged {
        return None;
    }
    let length = end_of_word(s).filter(|length| s.get(*length) == Some(&b' '))?;
    plain::padded_level(s, length, out)
}

/// The rest of a line behind a prompt.
fn typed<'a>(rest: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    out.prompted = true;
    out.tagged = false;
    Some(rest.get(leading(rest)..).unwrap_or_default())
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

fn run(s: &[u8], most: usize) -> usize {
    let s = s.get(..most).unwrap_or(s);
    s.iter().position(|b| !NAME[usize::from(*b)]).unwrap_or(s.len())
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
    fn prefixes_go() {
        for (line, text) in [
            ("got prompt", "got prompt"),
            ("[INFO] got prompt", "got prompt"),
            ("> got prompt", "got prompt"),
            ("> > [INFO] got prompt", "got prompt"),
            (">", ""),
            ("'Requested to load LTXV", "Requested to load LTXV"),
            ("comfyui-1  | got prompt", "got prompt"),
            ("comfyui     | Set vram state to: NORMAL_VRAM", "Set vram state to: NORMAL_VRAM"),
            ("comfyui     |", ""),
            ("comfyui-1  | 2026-08-05T12:00:00.1Z [INFO] got prompt", "got prompt"),
            ("2026-02-05T05:40:37.137431771Z CUDA Version 12.6.3", "CUDA Version 12.6.3"),
            ("2026-02-05T05:40:37.137431771Z stderr F got prompt", "got prompt"),
            ("Aug 05 12:00:00 host python[1234]: got prompt", "got prompt"),
            ("Aug  5 12:00:00 host kernel: [  962.891902] Out of memory: Killed", "Out of memory: Killed"),
            ("9月 08 09:15:40 node1 python[285299]: [INFO] got prompt", "got prompt"),
            ("mai 05 09:15:40 node1 python[285299]: got prompt", "got prompt"),
            ("août 05 09:15:40 node1 python[285299]: got prompt", "got prompt"),
            ("2026-08-05T12:00:00+0200 host python[1]: got prompt", "got prompt"),
            ("2026-08-05T12:00:00.123456+02:00 host python[1]: got prompt", "got prompt"),
            ("[  962.891902] python invoked oom-killer: x", "python invoked oom-killer: x"),
            ("<4>[  962.891902] python invoked oom-killer: x", "python invoked oom-killer: x"),
            ("[Wed Aug  5 12:00:00 2026] Out of memory: Killed", "Out of memory: Killed"),
            ("[2026-02-20 08:30:41.002] got prompt", "got prompt"),
            ("[2024-05-31 15:05] got prompt", "got prompt"),
            ("[2024-05-31 15:05]   File \"main.py\", line 1", "File \"main.py\", line 1"),
            ("[2025-02-28 16:34:54:983] got prompt", "got prompt"),
            ("[2026-08-05 12:00:00,123] [DETAIL] Pin eviction: x", "Pin eviction: x"),
            ("[2025-05-17 10:50:04.212] [info]  got prompt", "got prompt"),
            (
                "[2025-05-17 10:50:04.212] [error] Traceback (most recent call last):",
                "Traceback (most recent call last):",
            ),
            ("[2026-06-10 10:00:00.000] [info]  [INFO] got prompt", "got prompt"),
            ("2024-12-04T18:29:44.149144 - got prompt", "got prompt"),
            ("2026-06-30T09:38:17.149144 - [INFO] got prompt", "got prompt"),
            ("2024-10-19 01:10:47,703 - root - INFO - got prompt", "got prompt"),
            ("2024-05-31 15:05:22,111 - INFO - got prompt", "got prompt"),
            ("2024-05-31 15:05:22,111 - WARNING -", ""),
            ("2024-05-31 15:05:22,111 INFO - got prompt", "got prompt"),
            ("[2024-05-31 15:05:22] ERROR - got prompt", "got prompt"),
            ("Aug 05 12:00:00 host python[1]: INFO - got prompt", "got prompt"),
            ("2024-05-31 15:05:22,111 - INFO", "INFO"),
            ("[pod/comfy-0/comfyui] [INFO] got prompt", "got prompt"),
            ("2024-09-05 14:51:43,690- root:2043- INFO- got prompt", "got prompt"),
            ("2026-02-05T05:40:37.137431771Z ComfyUI version: 0.3.64", "ComfyUI version: 0.3.64"),
            ("2025-08-23 11:07:34.687 [Debug] [ComfyUI-6/STDOUT] got prompt", "got prompt"),
            ("2025-08-23 11:07:38.101 [Error] Error while initializing", "Error while initializing"),
            ("[ComfyUI-0/STDERR] got prompt", "got prompt"),
            ("(RayWorker pid=1234) got prompt", "got prompt"),
            ("(RayWorker pid=1234, ip=10.0.0.2) [INFO] got prompt", "got prompt"),
            ("[stderr] got prompt", "got prompt"),
            ("[STDOUT] got prompt", "got prompt"),
            ("STDERR: got prompt", "got prompt"),
            ("stdout: got prompt", "got prompt"),
            ("INFO     got prompt", "got prompt"),
            ("WARNING  got prompt", "got prompt"),
            ("CRITICAL  got prompt", "got prompt"),
            ("2024-05-31T15:05:22Z INFO got prompt", "got prompt"),
            ("2024-05-31 15:05:22,111 WARNING got prompt", "got prompt"),
            ("2024-05-31 15:05 got prompt", "got prompt"),
            ("ERROR:root:!!! Exception during processing !!!", "!!! Exception during processing !!!"),
            ("[32m[INFO][0m got prompt", "got prompt"),
            ("[32m[INFO][0m [32mPrompt executed in 1.00 seconds[0m", "Prompt executed in 1.00 seconds"),
            ("$ python main.py", "python main.py"),
            ("# python main.py", "python main.py"),
            ("❯ taskset -c 0-7 python main.py", "taskset -c 0-7 python main.py"),
            ("➜  ComfyUI git:(master) ✗ python main.py", "python main.py"),
            (r"PS C:\ComfyUI> python main.py", "python main.py"),
            (r"(venv) PS C:\ComfyUI> python main.py", "python main.py"),
            (r"D:\ComfyUI>.\env\python.exe -s main.py", r".\env\python.exe -s main.py"),
            ("user@host:~/ComfyUI$ python main.py", "python main.py"),
            ("root@7a3f:/srv# python main.py", "python main.py"),
            ("(venv) user@host:~/ComfyUI$ python main.py", "python main.py"),
            ("(venv) $ python main.py", "python main.py"),
            ("[user@host ComfyUI]$ python main.py", "python main.py"),
            ("user@mac ComfyUI % python main.py", "python main.py"),
            ("    [INFO] got prompt", "got prompt"),
            ("2024-12-04T18:29:44.149144 -", ""),
            ("[INFO]", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(stripped(line).text), text, "{line}");
            assert!(!is_bare(line.trim().as_bytes()) || line.trim() == text, "{line}");
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
