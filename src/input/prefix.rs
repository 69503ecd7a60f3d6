//! Takes off what terminals, containers, loggers and people put in front of a ComfyUI text.
//!
//! Keeps what the prefixes said (time, level, "this was typed"). Never takes a bracket that belongs to the text,
//! such as `[ComfyUI-Manager]` or `[START]`, and allocates nothing.

use super::line::Level;
use super::stamp::{clock, date_time, digits, fraction, zone};
use memchr::{memchr, memmem};

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
        Start::Word => word(s, out),
        Start::Quoted => quoted(s),
        Start::Sign => sign(s, out),
    }
}

// ---- what begins with a bracket ----

fn bracket<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let inner = s.get(1..)?;
    match inner.first()? {
        b'0'..=b'9' | b' ' => stamp_in_brackets(s, inner, out).or_else(|| bare_colour(s, out)),
        b'A'..=b'Z' | b'a'..=b'z' => {
            let end = memchr(b']', inner.get(..160).unwrap_or(inner))?;
            let name = inner.get(..end)?;
            let rest = inner.get(end + 1..)?;
            if let Some(level) = level(name) {
                out.level = Some(level);
                out.tagged = true;
                return Some(one_blank(rest));
            }
            if out.stamp.is_some() {
                // Desktop and SwarmUI name the stream here, not the level of the text.
                if matches!(name, b"info" | b"warn" | b"error" | b"debug" | b"verbose" | b"silly") {
                    let pad = 7_usize.saturating_sub(name.len() + 2) + 1;
                    return Some(rest.get(leading(rest).min(pad)..).unwrap_or_default());
                }
                if matches!(name, b"Verbose" | b"Debug" | b"Info" | b"Init" | b"Warning" | b"Error") {
                    return Some(one_blank(rest));
                }
                if name.starts_with(b"ComfyUI-") && (name.ends_with(b"/STDERR") || name.ends_with(b"/STDOUT")) {
                    return Some(one_blank(rest));
                }
            }
            // `kubectl logs --prefix`.
            if name.starts_with(b"pod/") && name.iter().filter(|b| **b == b'/').count() == 2 {
                return Some(one_blank(rest));
            }
            weekday_stamp(name, rest, out).or_else(|| bracketed_prompt(name, rest, out))
        }
        _ => None,
    }
}

/// `[2026-08-05 12:00:00.123] `, `[12:00:00] ` and the kernel's `[  962.891902] `.
fn stamp_in_brackets<'a>(s: &'a [u8], inner: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let end = memchr(b']', inner.get(..40).unwrap_or(inner))?;
    let stamp = inner.get(..end)?;
    let length = date_time(stamp).or_else(|| clock(stamp)).map(|n| n + fraction(stamp, n, true));
    let length = length.map(|n| n + zone(stamp, n));
    if length == Some(stamp.len()) {
        keep(out, stamp);
        return Some(one_blank(s.get(end + 2..)?));
    }
    let seconds = stamp.get(leading(stamp)..)?;
    let whole = digits(seconds, 0);
    if whole > 0 && seconds.get(whole) == Some(&b'.') && digits(seconds, whole + 1) == 6 && seconds.len() == whole + 7 {
        keep(out, seconds);
        return Some(one_blank(s.get(end + 2..)?));
    }
    None
}

/// `[32m[INFO][0m `: colours whose escape byte got lost, only before a level tag.
fn bare_colour<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let mut rest = s;
    while let Some(n) = bare(rest) {
        rest = rest.get(n..)?;
    }
    let inner = rest.strip_prefix(b"[")?;
    let end = memchr(b']', inner.get(..10).unwrap_or(inner))?;
    out.level = Some(level(inner.get(..end)?)?);
    out.tagged = true;
    rest = inner.get(end + 1..)?;
    while let Some(n) = bare(rest) {
        rest = rest.get(n..)?;
    }
    rest = one_blank(rest);
    while let Some(n) = bare(rest) {
        rest = rest.get(n..)?;
    }
    Some(rest.strip_suffix(b"[0m").unwrap_or(rest))
}

/// Length of `[0m` or `[1;33m`.
fn bare(s: &[u8]) -> Option<usize> {
    let inner = s.strip_prefix(b"[")?;
    let n = inner.iter().take(12).take_while(|b| b.is_ascii_digit() || **b == b';').count();
    (n > 0 && inner.get(n) == Some(&b'm')).then_some(n + 2)
}

/// `[Wed Aug  5 12:00:00 2026] ` of `dmesg -T`.
fn weekday_stamp<'a>(name: &'a [u8], rest: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let colon = memchr(b':', name)?;
    let time = name.get(colon.checked_sub(2)?..)?;
    let year = time.get(9..)?;
    if clock(time).is_none() || year.len() != 4 || digits(year, 0) != 4 || rest.first() != Some(&b' ') {
        return None;
    }
    keep(out, name);
    Some(one_blank(rest))
}

/// `[user@host ComfyUI]$ python main.py`.
fn bracketed_prompt<'a>(name: &[u8], rest: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let mark = matches!(rest, [b'$' | b'#', b' ', ..] | [b'$' | b'#']);
    if mark && memchr(b'@', name).is_some() { typed(rest.get(1..)?, out) } else { None }
}

// ---- what begins with a digit ----

fn stamped<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let bare = match date_time(s) {
        Some(n) => n,
        None => clock(s)?,
    };
    let mut at = bare + fraction(s, bare, false);
    let stamp = s.get(..at)?;
    let zone = zone(s, at);
    at += zone;
    let rest = s.get(at..)?;
    let next = match rest {
        [] => rest,
        [b' ', b'-', b' ', tail @ ..] if bare > 8 => logger(tail, out).unwrap_or(tail),
        [b' ', b'-'] if bare > 8 => rest.get(2..)?,
        [b'-', b' ', tail @ ..] if bare > 8 => located_logger(tail, out)?,
        [b' ', tail @ ..] if zone > 0 => stream(tail).or_else(|| host_and_process(tail, true)).unwrap_or(tail),
        [b' ', tail @ ..] => tail,
        _ => return None,
    };
    keep(out, if zone > 0 { s.get(..at)? } else { stamp });
    Some(next)
}

/// `root - INFO - ` behind a stamp.
fn logger<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let name = run(s, 64);
    let rest = s.get(name..)?.strip_prefix(b" - ")?;
    let word = run(rest, 12);
    let level = level(rest.get(..word)?)?;
    let rest = rest.get(word..)?;
    let rest = match rest {
        [b' ', b'-', b' ', tail @ ..] => tail,
        [b' ', b'-'] => rest.get(2..)?,
        _ => return None,
    };
    out.level = Some(level);
    out.tagged = true;
    Some(rest)
}

/// `root:2043- INFO- ` behind a stamp and its dash, as launchers with a logger of their own write it.
fn located_logger<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let colon = memchr(b':', s.get(..64).unwrap_or(s))?;
    let rest = s.get(colon + 1..)?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = rest.get(digits..)?.strip_prefix(b"- ").filter(|_| digits > 0)?;
    let word = rest.iter().take_while(|b| b.is_ascii_uppercase()).count();
    let level = level(rest.get(..word)?)?;
    let rest = rest.get(word..)?.strip_prefix(b"-")?;
    out.level = Some(level);
    out.tagged = true;
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

/// `stderr F ` of a container runtime's own files.
fn stream(s: &[u8]) -> Option<&[u8]> {
    match s {
        [b's', b't', b'd', b'e', b'r', b'r', b' ', b'F' | b'P', b' ', rest @ ..]
        | [b's', b't', b'd', b'o', b'u', b't', b' ', b'F' | b'P', b' ', rest @ ..] => Some(rest),
        _ => None,
    }
}

// ---- what begins with a letter ----

fn word<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let length = run(s, 64);
    match s.get(length)? {
        b' ' => {
            let at = length + leading(s.get(length..)?);
            match s.get(at)? {
                b'|' => compose(s, length, at),
                b'0'..=b'9' => syslog(s, at, out),
                b'C'..=b'Z' | b'/' if s.starts_with(b"PS ") => prompt_of_windows(s.get(3..)?, out),
                _ => None,
            }
        }
        b':' => match s {
            [_, b':', b'\\', ..] => prompt_of_windows(s, out),
            _ => logging(s, length, out),
        },
        b'@' => prompt_of_shell(s, out),
        0x80.. => {
            // A month in another language: `9月 08`, `août 05`.
            let token = s.iter().take(16).take_while(|b| **b != b' ').count();
            let at = token + leading(s.get(token..)?);
            if s.get(at)?.is_ascii_digit() { syslog(s, at, out) } else { None }
        }
        _ => None,
    }
}

/// `comfyui-1  | `.
fn compose(s: &[u8], name: usize, bar: usize) -> Option<&[u8]> {
    let rest = s.get(bar + 1..)?;
    let service = s.get(..name)?;
    let numbered = matches!(service, [.., b'-' | b'_', b'0'..=b'9']) || service.starts_with(b"comfy");
    let spaced = bar >= name + 2 || numbered;
    match rest {
        [] if spaced => Some(rest),
        [b' ', tail @ ..] if spaced => Some(tail),
        _ => None,
    }
}

/// `Aug 05 12:00:00 host python[1234]: `; the month in any language, `day` is where the day stands.
fn syslog<'a>(s: &'a [u8], day: usize, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let number = digits(s, day);
    if !(1..=2).contains(&number) || day > 16 {
        return None;
    }
    let mut time = day + number;
    if s.get(time) == Some(&b'.') {
        time += 1;
    }
    if s.get(time) != Some(&b' ') {
        return None;
    }
    time += 1;
    let clock = clock(s.get(time..)?)?;
    let end = time + clock + fraction(s, time + clock, false);
    let rest = host_and_process(s.get(end..)?.strip_prefix(b" ")?, false)?;
    keep(out, s.get(..end)?);
    Some(rest)
}

/// `host python[1234]: `. Behind a container's stamp the process must have its number, since `ComfyUI version: 0.3.64`
/// is a message there.
fn host_and_process(s: &[u8], numbered: bool) -> Option<&[u8]> {
    let host = s.iter().take(128).position(|b| *b == b' ')?;
    let tail = s.get(host + 1..)?;
    let colon = memchr(b':', tail.get(..96).unwrap_or(tail))?;
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

/// `ERROR:root:`.
fn logging<'a>(s: &'a [u8], length: usize, out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let level = level(s.get(..length)?)?;
    let rest = s.get(length + 1..)?;
    let name = run(rest, 64);
    if name == 0 || rest.get(name) != Some(&b':') {
        return None;
    }
    out.level = Some(level);
    out.tagged = true;
    rest.get(name + 1..)
}

/// `C:\ComfyUI>python main.py`, without `PS `.
fn prompt_of_windows<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let end = memchr(b'>', s.get(..260).unwrap_or(s))?;
    let path = s.get(..end)?;
    let drive = matches!(path, [b'A'..=b'Z' | b'a'..=b'z', b':', b'\\', ..]);
    let from = if drive { 2 } else { 0 };
    let odd = |b: &u8| matches!(b, b':' | b'"' | b'|' | b'<' | b'*' | b'?');
    let arrow = matches!(path.last(), Some(b'-' | b'='));
    if (drive || path.starts_with(b"/")) && !path.iter().skip(from).any(odd) && !arrow {
        typed(s.get(end + 1..)?, out)
    } else {
        None
    }
}

/// `user@host:~/ComfyUI$ python main.py`, and `user@mac ComfyUI % python main.py`.
fn prompt_of_shell<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let window = s.get(..200).unwrap_or(s);
    let at = memchr(b'@', window)?;
    let after = window.get(at + 1..)?;
    let host = run(after, 64);
    let from = at + 1 + host;
    let rest = s.get(from..)?;
    match (host, rest.first()?) {
        (1.., b':') => {
            let mark = window.get(from..)?.windows(2).position(|w| matches!(w, [b'$' | b'#', b' ']));
            let mark = mark.or_else(|| matches!(s.last(), Some(b'$' | b'#')).then(|| rest.len() - 1))?;
            typed(s.get(from + mark + 1..)?, out)
        }
        (1.., b' ') => {
            let mark = memmem::find(window.get(from..)?, b" % ")?;
            typed(s.get(from + mark + 2..)?, out)
        }
        _ => None,
    }
}

// ---- what begins with a sign ----

/// `> ` of a quoting reply, and a single quote character that came along with a paste.
fn quoted(s: &[u8]) -> Option<&[u8]> {
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

fn sign<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
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

/// The rest of a line behind a prompt.
fn typed<'a>(rest: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    out.prompted = true;
    out.tagged = false;
    Some(rest.get(leading(rest)..).unwrap_or_default())
}

// ---- pieces ----

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

fn level(name: &[u8]) -> Option<Level> {
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
            ("[pod/comfy-0/comfyui] [INFO] got prompt", "got prompt"),
            ("2024-09-05 14:51:43,690- root:2043- INFO- got prompt", "got prompt"),
            ("2026-02-05T05:40:37.137431771Z ComfyUI version: 0.3.64", "ComfyUI version: 0.3.64"),
            ("2025-08-23 11:07:34.687 [Debug] [ComfyUI-6/STDOUT] got prompt", "got prompt"),
            ("2025-08-23 11:07:38.101 [Error] Error while initializing", "Error while initializing"),
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
        }
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
            "[    559]     0   559     9029      427",
            "[  pid  ]   uid  tgid total_vm",
            "[197B blob data]",
            "[Crystools INFO] Crystools version: 1.22.1",
            "[info] a node wrote this",
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
        assert!(stripped("$ python main.py").prompted);
        assert_eq!(stripped(">     PyTorch 2.8.0").indent, 4);
        assert_eq!(stripped("[INFO]   0.1 seconds: x").indent, 2);
    }
}
