//! Whether a template goes on where a text ends: then the rest may stand in the next line, if a narrow window broke it.

use super::capture::{CaptureType, token_len};
use super::capture_offsets::Slot;
use super::match_parts::literal_prefix;
use super::template::{Part, Template};

/// Ways to read the free captures of one text, so that a hostile line cannot cost more than its length.
const MOST_TRIES: u32 = 64;

impl Template {
    /// `text` is the beginning of what the template describes, and not all of it.
    pub(super) fn goes_on_behind(&self, text: &[u8]) -> bool {
        runs_out(&self.parts, &self.slots, text, &mut 0)
    }
}

fn runs_out(parts: &[Part], slots: &[Slot], text: &[u8], tries: &mut u32) -> bool {
    let mut parts = parts;
    let mut text = text;
    while let Some((part, later)) = parts.split_first() {
        let taken = match part {
            // Blanks at the end of a line are gone, so that a text may end before one.
            Part::Literal(literal) if literal.len() >= text.len() && literal.starts_with(text) => {
                return literal.len() > text.len() || !later.is_empty();
            }
            Part::Literal(literal) => literal_prefix(literal, text, 0, later.is_empty()),
            Part::Capture(number) => {
                let Some(slot) = slots.get(*number) else { return false };
                if slot.kind.is_free() {
                    return runs_out_in_free(&slot.kind, later, slots, text, tries);
                }
                if slot.kind.is_number() && !matches!(text.first(), None | Some(b'0'..=b'9' | b'-')) {
                    return false;
                }
                if is_begun(&slot.kind, text) {
                    // All of the template may stand here already.
                    return !later.is_empty() || token_len(&slot.kind, text).is_none();
                }
                token_len(&slot.kind, text)
            }
        };
        let Some(rest) = taken.and_then(|taken| text.get(taken..)) else { return false };
        text = rest;
        parts = later;
    }
    false
}

/// The text may end within a capture that takes what stands before the next literal, or somewhere behind that.
fn runs_out_in_free(kind: &CaptureType, later: &[Part], slots: &[Slot], text: &[u8], tries: &mut u32) -> bool {
    let Some(Part::Literal(next)) = later.first() else { return false };
    let word = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let limit = if *kind == CaptureType::Word { word } else { text.len() };
    let mut places = memchr::memmem::find_iter(text, &**next).take_while(|at| *at <= limit).peekable();
    if places.peek().is_none() && limit == text.len() {
        return true;
    }
    // The text ends within that literal: `cpu, current` of `{device:word}, current: `.
    let last = text.len().saturating_sub(next.len())..text.len().min(limit + 1);
    if last.into_iter().any(|at| text.get(at..).is_some_and(|end| end.len() < next.len() && next.starts_with(end))) {
        return true;
    }
    let mut reads_on = |at: usize| {
        *tries += 1;
        *tries <= MOST_TRIES && runs_out(later, slots, text.get(at..).unwrap_or_default(), tries)
    };
    places.any(&mut reads_on) || (limit < text.len() && reads_on(limit))
}

/// The whole text may be the beginning of such a capture: `4843.` of a number, `2.00` of a size.
fn is_begun(kind: &CaptureType, text: &[u8]) -> bool {
    match kind {
        CaptureType::OneOf(words) => words.iter().any(|word| word.as_bytes().starts_with(text)),
        CaptureType::Bool => [&b"True"[..], b"False", b"true", b"false"].iter().any(|word| word.starts_with(text)),
        _ => {
            let of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
            let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | 0x80..);
            match kind {
                CaptureType::Size => {
                    let number = text.iter().take_while(|byte| of_number(byte)).count();
                    let unit = text.get(number..).unwrap_or_default().trim_ascii_start();
                    unit.len() <= 5 && unit.iter().all(u8::is_ascii_alphabetic) && (number > 0 || unit.is_empty())
                }
                kind if kind.is_number() => text.iter().all(of_number),
                CaptureType::Version => text.iter().all(|byte| of_name(byte) || of_number(byte)),
                _ => text.iter().all(of_name),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goes_on(template: &str, text: &str) -> bool {
        Template::parse(template).expect("valid template").goes_on_behind(text.as_bytes())
    }

    #[test]
    fn every_beginning_of_a_text_is_one() {
        for (template, text) in [
            ("leak with model {class:class}. Please make sure", "leak with model Flux. Please make sure"),
            (
                "loaded partially; {a:mib} MB usable, {b:mib} MB loaded",
                "loaded partially; 4843.52 MB usable, 12 MB loaded",
            ),
            ("File \"{file:path}\", line {line:int}, in {func:text}", "File \"/opt/a b.py\", line 12, in x"),
            ("Tried to allocate {requested:size}. GPU", "Tried to allocate 2.00 GiB. GPU"),
            ("Set vram state to: {state:one-of(NORMAL_VRAM|HIGH_VRAM)} now", "Set vram state to: NORMAL_VRAM now"),
            ("full load: {full:bool}", "full load: True"),
            ("from {a:word}, to {b:word}, now: {c:word}.", "from cpu, to cuda:0, now: cpu."),
        ] {
            for end in 1..text.len() {
                // At the end the text may be complete: a number, or what is free to be short.
                let short = template.ends_with("}") && end >= text.len() - 1;
                let begun = text.get(..end).unwrap_or_default();
                assert!(goes_on(template, begun.trim_end()) || short, "{begun}");
            }
            assert!(!goes_on(template, text), "{text}");
            assert!(!goes_on(template, &format!("{text} and more")), "{text}");
        }
    }

    #[test]
    fn what_is_told_otherwise_does_not_go_on() {
        let leak = "leak with model {class:class}. Please make sure";
        for text in ["leak with no model at all", "leak with model Flux, please", "leak with model a-b"] {
            assert!(!goes_on(leak, text), "{text}");
        }
        assert!(!goes_on("loaded partially; {a:mib} MB usable", "loaded partially; much MB"));
        assert!(!goes_on("{who:word} was loaded", "all of it was"));
        assert!(goes_on("{who:word} was loaded", "it was"));
        let hostile: String = (0..12).map(|number| format!("a {{c{number}:word}} ")).chain(["end".into()]).collect();
        assert!(!goes_on(&hostile, &format!("{} x", "a a ".repeat(4000))));
    }
}
