//! Time stamps, bare or in brackets; what tools write behind theirs is read by the dialect of the tool.

use super::super::stamp::{clock, date_time, fraction, zone};
use super::{Dialect, Stripped, keep, kubernetes, one_blank, python_logging, rich, syslog};
use memchr::memchr;

pub(super) const DIALECT: Dialect = Dialect {
    name: "time stamp",
    about: "a stamp before each line, bare or in brackets: `docker logs -t`, ComfyUI's log buffer, ComfyUI-Manager",
    begins: &[(b'0', b'9'), (b'[', b'[')],
    take,
    examples: &[
        ("2026-02-05T05:40:37.137431771Z CUDA Version 12.6.3", "CUDA Version 12.6.3"),
        ("2026-02-05T05:40:37.137431771Z ComfyUI version: 0.3.64", "ComfyUI version: 0.3.64"),
        ("2024-12-04T18:29:44.149144 - got prompt", "got prompt"),
        ("2026-06-30T09:38:17.149144 - [INFO] got prompt", "got prompt"),
        ("2024-12-04T18:29:44.149144 -", ""),
        ("2026-02-05T05:40:37.137431771Z - **Node Type:** KSampler", "- **Node Type:** KSampler"),
        ("2024-12-04T18:29:44.149144 - - **Node Type:** KSampler", "- **Node Type:** KSampler"),
        ("2024-05-31 15:05 got prompt", "got prompt"),
        ("[2026-02-20 08:30:41.002] got prompt", "got prompt"),
        ("[2024-05-31 15:05] got prompt", "got prompt"),
        ("[2024-05-31 15:05]   File \"main.py\", line 1", "File \"main.py\", line 1"),
        ("[2025-02-28 16:34:54:983] got prompt", "got prompt"),
        ("[2026-08-05 12:00:00,123] [DETAIL] Pin eviction: x", "Pin eviction: x"),
    ],
};

/// Bytes of a stamp in brackets.
const LONGEST: usize = 40;
/// Bytes of a clock without a date: behind it a dash is text.
const CLOCK: usize = 8;

fn take<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    if s.first() == Some(&b'[') { in_brackets(s, out) } else { bare(s, out) }
}

/// `[2026-08-05 12:00:00.123] ` and `[12:00:00] `.
fn in_brackets<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let inner = s.get(1..)?;
    let end = match date_time(inner).or_else(|| clock(inner)) {
        Some(time) => {
            let time = time + fraction(inner, time, true);
            let end = time + zone(inner, time);
            (inner.get(end) == Some(&b']')).then_some(end)?
        }
        None => memchr(b']', inner.get(..LONGEST).unwrap_or(inner)).filter(|end| rich::is_short_date(inner, *end))?,
    };
    keep(out, inner.get(..end)?);
    let rest = one_blank(inner.get(end + 1..)?);
    rich::behind_stamp(rest, s.len() - rest.len(), out).or(Some(rest))
}

fn bare<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let time = date_time(s).or_else(|| clock(s))?;
    let end = time + fraction(s, time, false);
    let zone = zone(s, end);
    let rest = s.get(end + zone..)?;
    let dated = time > CLOCK;
    let next = match rest {
        [] => rest,
        // A list of an Error Report behind another stamp than the log buffer's.
        [b' ', text @ ..] if text.starts_with(b"- **") && text.get(4) != Some(&b' ') => text,
        [b' ', b'-', b' ', tail @ ..] if dated => python_logging::behind_stamp(tail, out).unwrap_or(tail),
        [b' ', b'-'] if dated => rest.get(2..)?,
        [b'-', b' ', tail @ ..] if dated => python_logging::located(tail, out)?,
        [b' ', tail @ ..] if zone > 0 => {
            kubernetes::behind_stamp(tail).or_else(|| syslog::behind_stamp(tail)).unwrap_or(tail)
        }
        [b' ', tail @ ..] => tail,
        _ => return None,
    };
    keep(out, s.get(..end + zone)?);
    Some(next)
}
