//! Logs that were pasted on one line, and perhaps in small letters: split where ComfyUI's own texts begin.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::catalog::{Packs, SignOf};

/// Shorter lines are no log on one line.
const SHORTEST: usize = 120;
/// Texts that begin in a line of a log: one, or two where something stands glued to it.
const USUAL: usize = 2;

/// Finds the texts that begin inside one line.
#[derive(Debug)]
pub(super) struct Paste {
    known: Option<AhoCorasick>,
    /// The texts that are looked for, as ComfyUI writes them.
    written: Vec<String>,
    /// The first so many begin a text of their own.
    heads: usize,
}

impl Paste {
    pub(super) fn of(packs: &Packs) -> Self {
        let texts = |of: SignOf| packs.signs_of(of).flat_map(|sign| sign.has.clone());
        let mut written: Vec<String> = texts(SignOf::PasteHead).collect();
        let heads = written.len();
        written.extend(texts(SignOf::PastePhrase));
        let known = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(&written)
            .ok();
        Self { known, written, heads }
    }

    /// The texts of a line that holds a whole log; none of an ordinary line.
    pub(super) fn split(&self, line: &[u8]) -> Option<Vec<String>> {
        if line.len() < SHORTEST || matches!(line.first(), Some(b'{' | b'[' | b'/')) {
            return None;
        }
        let line = std::str::from_utf8(line).ok()?;
        let known = self.known.as_ref()?;
        let begins = |at: usize| at == 0 || line.as_bytes().get(at - 1).is_some_and(u8::is_ascii_whitespace);
        let heads: Vec<usize> = known
            .find_iter(line)
            .filter(|found| found.pattern().as_usize() < self.heads && begins(found.start()))
            .map(|found| found.start())
            .collect();
        if heads.len() <= USUAL {
            return None;
        }
        // Without a capital letter anywhere, the line was put into small letters.
        let small = !line.bytes().any(|byte| byte.is_ascii_uppercase());
        let starts = std::iter::once(0).chain(heads.iter().copied().filter(|at| *at > 0));
        let ends = heads.iter().copied().filter(|at| *at > 0).chain([line.len()]);
        let pieces = starts.zip(ends).filter_map(|(start, end)| line.get(start..end));
        let pieces = pieces.map(|piece| if small { self.restored(piece.trim()) } else { piece.trim().to_owned() });
        Some(pieces.filter(|piece| !piece.is_empty()).collect())
    }

    /// Known texts with their capital letters.
    fn restored(&self, piece: &str) -> String {
        let Some(known) = &self.known else { return piece.to_owned() };
        let bytes = piece.as_bytes();
        let letter = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        let mut whole = String::with_capacity(piece.len());
        known.replace_all_with(piece, &mut whole, |found, text, whole| {
            // `mb` is a unit, and two letters of `combine`.
            let inside = letter(Some(found.start())) && letter(found.start().checked_sub(1))
                || letter(found.end().checked_sub(1)) && letter(Some(found.end()));
            let written = self.written.get(found.pattern().as_usize()).map_or(text, String::as_str);
            whole.push_str(if inside { text } else { written });
            true
        });
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_on_one_line_is_split_where_its_texts_begin() {
        let paste = Paste::of(&Packs::built_in());
        let line = b"python main.py --fast Checkpoint files will always be loaded safely. Total VRAM 8188 MB, total RAM 16177 MB pytorch version: 2.9.1+cu130 Set vram state to: NORMAL_VRAM";
        let pieces = paste.split(line).expect("a log on one line");
        assert_eq!(
            pieces,
            [
                "python main.py --fast",
                "Checkpoint files will always be loaded safely.",
                "Total VRAM 8188 MB, total RAM 16177 MB",
                "pytorch version: 2.9.1+cu130",
                "Set vram state to: NORMAL_VRAM",
            ]
        );
    }

    #[test]
    fn small_letters_get_their_capitals_back() {
        let paste = Paste::of(&Packs::built_in());
        let line = b"error occurred when executing vae: unable to allocate 6.0 gib for an array with shape (1, 2) and data type float32 file \"c:\\x.py\", line 1, in a b file \"c:\\y.py\", line 2, in c";
        let pieces = paste.split(line).expect("a log on one line");
        assert_eq!(
            pieces.first().map(String::as_str),
            Some(
                "Error occurred when executing vae: Unable to allocate 6.0 GiB for an array with shape (1, 2) and data type float32"
            )
        );
        assert_eq!(pieces.len(), 3);
        assert_eq!(paste.restored("12 mb in combine_video"), "12 MB in combine_video");
    }

    #[test]
    fn an_ordinary_line_is_left_alone() {
        let paste = Paste::of(&Packs::built_in());
        assert_eq!(paste.split(b"Requested to load Flux ".as_ref()), None);
        assert_eq!(paste.split(&[b'x'; 4000]), None);
        let glued = format!("got prompt {} Requested to load Flux", "x".repeat(200));
        assert_eq!(paste.split(glued.as_bytes()), None);
    }
}
