//! Frames of tqdm progress bars: where one stands in a text, and what its figures say.
//!
//! Says nothing about series of frames (see `part`), and keeps neither the description nor the drawn bar.
//!
//! Long: one grammar with its tests.

use super::line::Bar;
use crate::decimal::short_decimal;
use memchr::{memchr, memchr2, memmem, memrchr};

/// The longest description before a bar, in bytes.
const DESCRIPTION: usize = 120;
/// The longest drawn bar, in bytes.
const DRAWN: usize = 4096;

/// A frame found in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frame {
    /// Where the frame begins, its description included.
    pub(crate) start: usize,
    /// Where the text behind it begins.
    pub(crate) end: usize,
    /// The percentage, right-aligned.
    pub(crate) percent: [u8; 3],
    /// The figures, when they are readable and the total is known.
    pub(crate) bar: Option<Bar>,
}

/// Cheap test for the usual frame that fills its text: `  5%|#    | 1/20 [00:00<00:15,  1.22it/s]`.
#[inline]
pub(crate) fn fills(text: &[u8]) -> bool {
    let [inner @ .., b']'] = text else { return false };
    begins(text) && memchr(b']', inner).is_none()
}

/// The same when it is known that the text ends with its only closing bracket.
#[inline]
pub(crate) fn begins(text: &[u8]) -> bool {
    text.len() > 14 && matches!(text, [_, _, b'0'..=b'9', b'%', b'|', ..])
}

/// Reads the figures of a frame from its last bytes.
pub(crate) fn figures(tail: &[u8]) -> Option<Bar> {
    let bracket = memrchr(b'[', tail)?;
    let before = tail.get(..bracket)?;
    let from = memrchr(b'|', before).or_else(|| memrchr(b'%', before)).map_or(0, |at| at + 1);
    counts(tail.get(from..)?).and_then(|(bar, ..)| bar)
}

/// Finds the first frame in a text.
pub(crate) fn find(text: &[u8]) -> Option<Frame> {
    let mut from = 0;
    while let Some(found) = memchr(b'%', text.get(from..)?) {
        let at = from + found;
        from = at + 1;
        if let Some(frame) = frame_at(text, at) {
            return Some(frame);
        }
    }
    None
}

/// The end of a frame that a narrow terminal broke: `███| 10/20 [00:19<00:19,  1.04it/s]`, from the drawn bar on.
pub(crate) fn continued(text: &[u8]) -> Option<Frame> {
    let from = memrchr(b'|', text.get(..drawn(text))?)? + 1;
    let (bar, end, closed) = counts(text.get(from..)?)?;
    let Bar { done, total, .. } = bar.filter(|_| closed)?;
    let mut percent = [b' '; 3];
    let number = (done.min(total) * 100 / total).to_string();
    for (to, from) in percent.iter_mut().rev().zip(number.bytes().rev()) {
        *to = from;
    }
    Some(Frame { start: 0, end: from + end, percent, bar })
}

/// A frame without a total (`12it [00:03,  4.10it/s]`) that fills its text.
pub(crate) fn endless(text: &[u8]) -> bool {
    let Some(unit) = memmem::find(text, b"it [") else { return false };
    let (count, rest) = text.split_at(unit);
    let number = count.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let before = count.len() - number;
    let led = before == 0 || count.get(..before).is_some_and(|d| d.ends_with(b": ") || d.iter().all(|b| *b == b' '));
    number > 0 && led && rest.get(4..).is_some_and(|r| bracket(r).is_some_and(|b| b.closed && b.end == r.len()))
}

/// The frame whose percent sign stands at `at`.
fn frame_at(text: &[u8], at: usize) -> Option<Frame> {
    let before = text.get(..at)?;
    let digits = before.iter().rev().take(4).take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 || digits > 3 {
        return None;
    }
    let number = at - digits;
    let mut percent = [b' '; 3];
    for (to, from) in percent.iter_mut().rev().zip(before.iter().rev().take(digits)) {
        *to = *from;
    }
    let after = text.get(at + 1..)?;
    let (drawn, rest) = if after.first() == Some(&b'|') {
        let inner = after.get(1..)?;
        match memchr(b'|', inner.get(..DRAWN).unwrap_or(inner)) {
            Some(end) => (end + 2, inner.get(end + 1..)?),
            None => return broken(text, at, number, percent),
        }
    } else if after.first() == Some(&b' ') {
        (0, after)
    } else {
        return None;
    };
    match counts(rest) {
        Some((bar, end, _)) => Some(Frame { start: start(text, number), end: at + 1 + drawn + end, percent, bar }),
        None if drawn > 0 => broken(text, at, number, percent),
        None => None,
    }
}

/// Where the frame begins, when its number begins at `number`: before its description, if it has one.
fn start(text: &[u8], number: usize) -> usize {
    let before = text.get(..number).unwrap_or_default();
    let blanks = before.iter().rev().take_while(|b| **b == b' ').count();
    let name = before.get(..before.len() - blanks).unwrap_or_default();
    if name.ends_with(b":") && name.len() <= DESCRIPTION { 0 } else { name.len() }
}

/// A frame that was cut inside the drawn bar: it must begin the text, and a drawn piece must follow.
fn broken(text: &[u8], at: usize, number: usize, percent: [u8; 3]) -> Option<Frame> {
    if start(text, number) != 0 {
        return None;
    }
    let rest = text.get(at + 2..)?;
    let length = drawn(rest);
    let blocks = rest.get(..length)?.iter().any(|b| *b == b'#' || *b >= 0x80);
    let open = length == rest.len();
    (blocks || open || length > 8).then_some(Frame { start: 0, end: at + 2 + length, percent, bar: None })
}

/// Length of what is drawn at the beginning of `text`.
fn drawn(text: &[u8]) -> usize {
    let mut length = 0;
    loop {
        length += match text.get(length..) {
            Some([b'#' | b' ' | b'|' | 0x80..=0xbf, ..]) => 1,
            Some([0xe2, 0x96, 0x80..=0x8f, ..]) => 3,
            Some([0xe2] | [0xe2, 0x96]) => 1,
            _ => return length,
        };
    }
}

/// Reads ` 1/20 [00:00<00:15,  1.22it/s]`: the figures, where they end, and whether the bracket was closed.
fn counts(s: &[u8]) -> Option<(Option<Bar>, usize, bool)> {
    let mut at = blanks(s, 0);
    let (done, n) = amount(s.get(at..)?)?;
    at += n;
    if s.get(at) != Some(&b'/') {
        return None;
    }
    at += 1;
    let (total, n) = if s.get(at) == Some(&b'?') { (0, 1) } else { amount(s.get(at..)?)? };
    at += n;
    at += s.get(at..)?.iter().take(8).take_while(|b| b.is_ascii_alphabetic()).count();
    let mut figures = (total > 0).then_some(Bar { done, total, ..Bar::default() });
    let open = blanks(s, at);
    if s.get(open) != Some(&b'[') {
        // Cut before the bracket: a frame only when nothing follows.
        return (open == s.len() && open > at).then_some((figures, open, false));
    }
    let inner = s.get(open + 1..)?;
    let bracket = bracket(inner)?;
    if let Some(bar) = &mut figures {
        bar.seconds_per_step = bracket.rate;
        bar.elapsed = bracket.elapsed;
    }
    Some((figures, open + 1 + bracket.end, bracket.closed))
}

/// What stands between the brackets.
struct Bracket {
    rate: Option<f64>,
    /// Seconds since the bar began.
    elapsed: Option<f64>,
    end: usize,
    closed: bool,
}

/// Reads `00:00<00:15,  1.22it/s, loss=1]`; stops where the form breaks, as in a frame that was cut.
// Long: a small grammar, read from left to right.
fn bracket(s: &[u8]) -> Option<Bracket> {
    let found = inner(s)?;
    Some(Bracket { elapsed: clock(s), ..found })
}

/// Seconds of `05:36` or `1:02:03` at the beginning.
fn clock(s: &[u8]) -> Option<f64> {
    let length = s.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b':').count();
    let text = std::str::from_utf8(s.get(..length)?).ok()?;
    let mut parts = text.split(':').map(|part| part.parse::<u32>().ok());
    parts.try_fold(0.0, |seconds, part| Some(seconds * 60.0 + f64::from(part?)))
}

fn inner(s: &[u8]) -> Option<Bracket> {
    let time = |from: usize| {
        s.get(from..)
            .unwrap_or_default()
            .iter()
            .take_while(|b| b.is_ascii_digit() || matches!(b, b':' | b'?' | b'.'))
            .count()
    };
    let mut at = time(0);
    if at == 0 && !s.is_empty() {
        return None;
    }
    let stop = |end: usize, rate: Option<f64>| Some(Bracket { rate, elapsed: None, end, closed: false });
    if s.get(at) == Some(&b'<') {
        at += 1;
        at += time(at);
    }
    match s.get(at) {
        Some(b']') => return Some(Bracket { rate: None, elapsed: None, end: at + 1, closed: true }),
        Some(b',') => at = blanks(s, at + 1),
        _ => return stop(at, None),
    }
    let number = s
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b'?' | b'e' | b'+'))
        .count();
    let digits = s.get(at..at + number)?;
    let value = short_decimal(digits)
        .or_else(|| std::str::from_utf8(digits).ok()?.parse().ok())
        .filter(|value: &f64| value.is_finite());
    at += number;
    let unit = s.get(at..).unwrap_or_default();
    let length = memchr2(b',', b']', unit.get(..24).unwrap_or(unit));
    let word = length.and_then(|n| unit.get(..n)).filter(|w| number > 0 && w.contains(&b'/') && !w.contains(&b' '));
    let Some(word) = word else {
        if number == 0 {
            return match s.get(at..) {
                Some([]) | None => stop(at, None),
                _ => postfix(s, at, None), // a bar without a rate may still have a postfix
            };
        }
        let piece = |whole: &[u8]| unit.iter().zip(whole).take_while(|(a, b)| a == b).count();
        return stop(at + piece(b"it/s").max(piece(b"s/it")), None);
    };
    at += word.len();
    let rate = value.filter(|value| *value > 0.0).and_then(|value| seconds_per(value, word));
    if s.get(at) == Some(&b']') {
        return Some(Bracket { rate, elapsed: None, end: at + 1, closed: true });
    }
    postfix(s, blanks(s, at + 1), rate)
}

/// Seconds per step, of a number and its unit: `s/it`, `it/s`, `MB/s`.
fn seconds_per(value: f64, unit: &[u8]) -> Option<f64> {
    let scale = match unit {
        [b'k', b'a'..=b'z' | b'A'..=b'Z', ..] => 1e3,
        [b'M', b'a'..=b'z' | b'A'..=b'Z', ..] => 1e6,
        [b'G', b'a'..=b'z' | b'A'..=b'Z', ..] => 1e9,
        _ => 1.0,
    };
    if unit.starts_with(b"s/") { Some(value) } else { unit.ends_with(b"/s").then(|| 1.0 / (value * scale)) }
}

/// Skips a postfix up to the bracket that closes the frame; one that is never closed may be another text.
fn postfix(s: &[u8], from: usize, rate: Option<f64>) -> Option<Bracket> {
    let mut depth = 0_u32;
    for (at, byte) in s.iter().enumerate().skip(from).take(DRAWN) {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 0 => return Some(Bracket { rate, elapsed: None, end: at + 1, closed: true }),
            b']' => depth -= 1,
            _ => {}
        }
    }
    Some(Bracket { rate, elapsed: None, end: from.min(s.len()), closed: false })
}

/// Reads `20` or `1.50k`; numbers with a prefix count in powers of ten.
fn amount(s: &[u8]) -> Option<(u64, usize)> {
    let number = s.iter().take(20).take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let text = std::str::from_utf8(s.get(..number)?).ok()?;
    let scale = match s.get(number) {
        Some(b'k') => 1e3,
        Some(b'M') => 1e6,
        Some(b'G') => 1e9,
        Some(b'T') => 1e12,
        _ if text.contains('.') => 1.0,
        _ => return text.parse().ok().map(|n| (n, number)),
    };
    let value = text.parse::<f64>().ok()? * scale;
    let plain = matches!(s.get(number), Some(b'k' | b'M' | b'G' | b'T'));
    // In range: at most 20 digits times 1e12, and casts saturate.
    Some((value as u64, number + usize::from(plain)))
}

fn blanks(s: &[u8], from: usize) -> usize {
    from + s.get(from..).unwrap_or_default().iter().take_while(|b| **b == b' ').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(done: u64, total: u64, rate: Option<f64>) -> Option<Bar> {
        Some(Bar { done, total, seconds_per_step: rate, ..Bar::default() })
    }

    fn after(elapsed: f64, bar: Option<Bar>) -> Option<Bar> {
        bar.map(|bar| Bar { elapsed: Some(elapsed), ..bar })
    }

    // Long: a small grammar, read from left to right.
    #[test]
    fn frames_and_what_follows() {
        for (text, figures, start, rest) in [
            ("  5%|#    | 1/20 [00:00<00:15,  1.25it/s]", bar(1, 20, Some(0.8)), 0, ""),
            ("  0%|          | 0/20 [00:00<?, ?it/s]", bar(0, 20, None), 0, ""),
            ("100%|██████████| 20/20 [04:10<00:00, 10.02s/it]", bar(20, 20, Some(10.02)), 0, ""),
            ("Loading model: 100%|██| 1304/1304 [00:41<00:00, 31.25it/s]", bar(1304, 1304, Some(0.032)), 0, ""),
            ("chattermark:   0%|   | 0/8 [00:00<?, ?it/s]", bar(0, 8, None), 0, ""),
            ("100% 4/4 [04:31<00:00, 67.90s/it]", bar(4, 4, Some(67.9)), 0, ""),
            (
                "  0%|  | 0/8 [00:00<?, ?it/s,   Model Initializing ...  ]Interrupting prompt 1",
                bar(0, 8, None),
                0,
                "Interrupting prompt 1",
            ),
            (
                " 26%|█| 52/200 [00:03<00:10, 12.50it/s]Global interrupt",
                bar(52, 200, Some(0.08)),
                0,
                "Global interrupt",
            ),
            (
                "  0%|  | 0/20 [00:00<?, ?it/s]  5%|#  | 1/20 [00:01<00:20, 1.00s/it]",
                bar(0, 20, None),
                0,
                "  5%|#  | 1/20 [00:01<00:20, 1.00s/it]",
            ),
            (
                " 45%|████▌     | 36/80 [00:02<00:03, 14.06it/s]run_comfy.sh: line 2: 1 Killed",
                bar(36, 80, Some(1.0 / 14.06)),
                0,
                "run_comfy.sh: line 2: 1 Killed",
            ),
            (
                " 45%|████▌     | 36/80 [00:02<00:03, 14.06irun_comfy.sh: line 2",
                bar(36, 80, None),
                0,
                "run_comfy.sh: line 2",
            ),
            (" 45%|████▌     | 36/80 [00:02<00:03, 14.", bar(36, 80, None), 0, ""),
            (" 45%|████▌     | 36/80 [00:0", bar(36, 80, None), 0, ""),
            (" 45%|████▌     | 36/80 [00:02<00:03Killed", bar(36, 80, None), 0, "Killed"),
            (" 45%|████▌     | 36/80 ", bar(36, 80, None), 0, ""),
            ("  8%|██████▉                    got prompt", None, 0, "got prompt"),
            ("  8%|███", None, 0, ""),
            ("Pin error.  5%|#    | 1/20 [00:00<00:15,  1.25it/s]", bar(1, 20, Some(0.8)), 10, ""),
            (
                "model.safetensors:  50%|█ | 168M/335M [00:05<00:05, 62.5MB/s]",
                bar(168_000_000, 335_000_000, Some(1.6e-8)),
                0,
                "",
            ),
            ("  3%|▎  | 1/30 [00:00<00:05, 8.00it/s, loss=[1, 2]]", bar(1, 30, Some(0.125)), 0, ""),
            ("  3%|▎  | 1/30 [00:00<00:05]", bar(1, 30, None), 0, ""),
            (" 48%|██| 12/25 [04:10<00:013, 10.02s/it]", bar(12, 25, Some(10.02)), 0, ""),
        ] {
            let frame = find(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(frame.start, start, "{text}");
            assert_eq!(text.get(frame.end..), Some(rest), "{text}");
            match (frame.bar, figures) {
                (Some(found), Some(wanted)) => {
                    assert_eq!((found.done, found.total), (wanted.done, wanted.total), "{text}");
                    match (found.seconds_per_step, wanted.seconds_per_step) {
                        (Some(a), Some(b)) => assert!((a - b).abs() < 1e-9, "{text}: {a}"),
                        (a, b) => assert_eq!(a, b, "{text}"),
                    }
                }
                (found, wanted) => assert_eq!(found, wanted, "{text}"),
            }
        }
    }

    #[test]
    fn frames_that_a_narrow_terminal_broke() {
        for (text, figures, rest) in [
            ("█████| 20/20 [00:19<00:00,  1.25it/s]", after(19.0, bar(20, 20, Some(0.8))), ""),
            ("|██| 20/20 [00:19<00:00,  1.25it/s]", after(19.0, bar(20, 20, Some(0.8))), ""),
            ("   | 10/20 [00:19<00:010,  1.25it/s]100%", after(19.0, bar(10, 20, Some(0.8))), "100%"),
            ("| 0/20 [00:00<?, ?it/s] 50%|██", after(0.0, bar(0, 20, None)), " 50%|██"),
        ] {
            let frame = continued(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((frame.bar, text.get(frame.end..)), (figures, Some(rest)), "{text}");
        }
        for text in
            ["|   Allocated memory  | 1/2 |", "██████", "| 1/2 done", "| 1/2 [", "20/20 [00:19<00:00,  1.25it/s]"]
        {
            assert_eq!(continued(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_frames() {
        for text in [
            "GPU 0 is 97% full",
            "| N/A   45C    P8    10W / 80W |   5% | 1/2 done",
            "100% 4/4 done",
            "100%",
            "load 50%|x",
            "using 3/4 [ok]",
            "%|",
        ] {
            assert_eq!(find(text.as_bytes()), None, "{text}");
            assert!(!fills(text.as_bytes()));
        }
    }

    #[test]
    fn cheap_test_and_tail() {
        let text = b" 50%|#####     | 10/20 [00:13<00:10,  1.25it/s]";
        assert!(fills(text));
        assert_eq!(figures(text), after(13.0, bar(10, 20, Some(0.8))));
        assert_eq!(figures(&text[5..]), after(13.0, bar(10, 20, Some(0.8))));
        assert!(!fills(b" 50%|# | 1/2 [00:13<00:10,  1.25it/s]text [x]"));
        assert!(endless(b"12it [00:03,  4.10it/s]"));
        assert!(endless(b"scan: 12it [00:03,  4.10it/s]"));
        assert!(!endless(b"commit [abc]"));
    }
}
