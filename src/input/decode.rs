//! Raw bytes become UTF-8 where that is needed: UTF-16 as a whole, lines of legacy code pages one by one.
//!
//! UTF-8 passes unchanged and unchecked. Bytes that no encoding explains pass too; who shows them does so lossily.

use encoding_rs::{BIG5, CoderResult, Decoder, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, UTF_16BE, UTF_16LE};

/// How much of the input may be looked at before its kind is decided.
const HEAD: usize = 4096;
/// Room for what is decoded in one go.
const ROOM: usize = 64 * 1024;
/// How many bytes of odd lines the detector of code pages learns from.
const EVIDENCE: usize = 4096;

/// What the first bytes said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Length of the byte order mark.
    pub(crate) mark: u64,
    /// Two bytes per unit.
    pub(crate) wide: bool,
}

const UTF8: Kind = Kind { name: "utf-8", mark: 0, wide: false };

/// Tells what the first bytes are; none when more of them are needed.
fn sniff(head: &[u8], last: bool) -> Option<Kind> {
    match head {
        [0xef, 0xbb, 0xbf, ..] => return Some(Kind { name: "utf-8-bom", mark: 3, wide: false }),
        [0xff, 0xfe, ..] => return Some(Kind { name: "utf-16le-bom", mark: 2, wide: true }),
        [0xfe, 0xff, ..] => return Some(Kind { name: "utf-16be-bom", mark: 2, wide: true }),
        [] | [0xff] | [0xfe] | [0xef] | [0xef, 0xbb] if !last => return None,
        _ => {}
    }
    let head = head.get(..HEAD).unwrap_or(head);
    // A plain first line decides, whatever follows: wide text would have shown a zero byte by then.
    if let Some(at) = memchr::memchr(b'\n', head) {
        let line = head.get(..=at).unwrap_or_default();
        let more = head.get(..at + 2);
        let plain = at > 1 && line.is_ascii() && !line.contains(&0);
        if plain || more.is_some_and(|m| !m.contains(&0)) {
            return Some(UTF8);
        }
    }
    if !last && head.len() < HEAD {
        return None;
    }
    if !head.contains(&0) {
        return Some(UTF8);
    }
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let enough = (head.len() / 16).max(1);
    if odd >= enough && even * 8 <= odd {
        Some(Kind { name: "utf-16le", mark: 0, wide: true })
    } else if even >= enough && odd * 8 <= even {
        Some(Kind { name: "utf-16be", mark: 0, wide: true })
    } else {
        Some(UTF8)
    }
}

/// Turns the input into blocks of UTF-8 (or of bytes that lines will explain).
#[derive(Default)]
pub(crate) struct Unwide {
    head: Vec<u8>,
    kind: Option<Kind>,
    skip: usize,
    decoder: Option<Decoder>,
    out: Vec<u8>,
}

impl Unwide {
    /// What the input is; UTF-8 while that is not known.
    pub(crate) fn kind(&self) -> Kind {
        self.kind.unwrap_or(UTF8)
    }

    /// Takes raw bytes and hands on blocks of text, together with the kind of the input.
    pub(crate) fn feed(&mut self, bytes: &[u8], last: bool, mut to: impl FnMut(Kind, &[u8])) {
        if let Some(kind) = self.kind {
            self.pass(kind, bytes, last, &mut to);
            return;
        }
        if self.head.is_empty() {
            if let Some(kind) = sniff(bytes, last) {
                self.decide(kind);
                self.pass(kind, bytes, last, &mut to);
            } else {
                self.head.extend_from_slice(bytes);
            }
            return;
        }
        // Few bytes at a time: the decision must not depend on how many came together.
        let mut rest = bytes;
        while self.kind.is_none() {
            if let Some(kind) = sniff(&self.head, false) {
                self.decide(kind);
            } else if let Some((first, more)) = rest.split_first() {
                self.head.push(*first);
                rest = more;
            } else {
                break;
            }
        }
        if self.kind.is_none()
            && last
            && let Some(kind) = sniff(&self.head, true)
        {
            self.decide(kind);
        }
        if let Some(kind) = self.kind {
            let head = std::mem::take(&mut self.head);
            self.pass(kind, &head, last && rest.is_empty(), &mut to);
            if !rest.is_empty() {
                self.pass(kind, rest, last, &mut to);
            }
        }
    }

    fn decide(&mut self, kind: Kind) {
        self.kind = Some(kind);
        self.skip = usize::try_from(kind.mark).unwrap_or(0);
        self.decoder = match kind.name {
            "utf-16le" | "utf-16le-bom" => Some(UTF_16LE.new_decoder_without_bom_handling()),
            "utf-16be" | "utf-16be-bom" => Some(UTF_16BE.new_decoder_without_bom_handling()),
            _ => None,
        };
    }

    fn pass(&mut self, kind: Kind, bytes: &[u8], last: bool, to: &mut impl FnMut(Kind, &[u8])) {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        let mut rest = bytes.get(skipped..).unwrap_or_default();
        let Some(decoder) = &mut self.decoder else {
            to(kind, rest);
            return;
        };
        self.out.resize(ROOM, 0);
        loop {
            let (result, read, written, _) = decoder.decode_to_utf8(rest, &mut self.out, last);
            to(kind, self.out.get(..written).unwrap_or_default());
            rest = rest.get(read..).unwrap_or_default();
            if result == CoderResult::InputEmpty {
                return;
            }
        }
    }
}

/// How many UTF-16 units a text had before it became UTF-8.
pub(crate) fn units(text: &[u8]) -> u64 {
    // Pieces so short that a byte holds their sum, which the compiler adds up sixteen at a time.
    let piece = |piece: &[u8]| piece.iter().map(|b| u8::from((*b & 0xc0) != 0x80) + u8::from(*b >= 0xf0)).sum::<u8>();
    text.chunks(127).map(|bytes| u64::from(piece(bytes))).sum()
}

/// The code page of a log, once a line showed it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CodePage(Option<&'static Encoding>);

/// Learns from lines that are not UTF-8 which code page a log has.
pub(crate) struct Legacy {
    detector: chardetng::EncodingDetector,
    seen: usize,
    guess: Option<&'static Encoding>,
    used: Option<&'static Encoding>,
    out: String,
}

impl Legacy {
    pub(crate) fn new() -> Self {
        Self { detector: chardetng::EncodingDetector::new(), seen: 0, guess: None, used: None, out: String::new() }
    }

    /// Knows the code page from the first line on.
    pub(crate) fn of(page: CodePage) -> Self {
        // What is known needs no evidence.
        let seen = if page.0.is_some() { EVIDENCE } else { 0 };
        Self { guess: page.0, used: page.0, seen, ..Self::new() }
    }

    /// The code page that lines were decoded with.
    pub(crate) fn page(&self) -> CodePage {
        CodePage(self.used)
    }

    /// Its name.
    pub(crate) fn name(&self) -> Option<&'static str> {
        let used = self.used?;
        [
            (GBK, "gbk"),
            (GB18030, "gb18030"),
            (SHIFT_JIS, "shift_jis"),
            (BIG5, "big5"),
            (EUC_KR, "euc-kr"),
            (EUC_JP, "euc-jp"),
        ]
        .into_iter()
        .find(|(encoding, _)| *encoding == used)
        .map(|(_, name)| name)
    }

    /// Decodes a line that is not UTF-8; none when no accepted code page explains it.
    pub(crate) fn decode<'a>(&'a mut self, line: &[u8]) -> Option<&'a [u8]> {
        if damaged_utf8(line) {
            return None;
        }
        if self.seen < EVIDENCE {
            let part = line.get(..EVIDENCE).unwrap_or(line);
            self.seen += part.len();
            self.detector.feed(part, false);
            self.detector.feed(b"\n", false);
            self.guess = Some(self.detector.guess(None, false));
        }
        let guess = self.guess?;
        if ![GBK, GB18030, SHIFT_JIS, BIG5, EUC_KR, EUC_JP].contains(&guess) {
            return None;
        }
        let text = guess.decode_without_bom_handling_and_without_replacement(line)?;
        self.out.clear();
        self.out.push_str(&text);
        self.used = Some(guess);
        Some(self.out.as_bytes())
    }
}

impl Legacy {
    /// Decodes a line that happens to be UTF-8, in a log whose code page is known: short words of two-byte
    /// characters (`系统` in GBK) read as UTF-8 by accident.
    pub(crate) fn decode_lookalike<'a>(&'a mut self, line: &[u8]) -> Option<&'a [u8]> {
        let used = self.used?;
        let mut wide = std::str::from_utf8(line).ok()?.chars().filter(|c| !c.is_ascii()).peekable();
        if wide.peek().is_none() || wide.any(|c| c.len_utf8() != 2) {
            return None;
        }
        let text = used.decode_without_bom_handling_and_without_replacement(line)?;
        self.out.clear();
        self.out.push_str(&text);
        Some(self.out.as_bytes())
    }
}

/// UTF-8 that was cut, or that holds a few foreign bytes: no code page.
fn damaged_utf8(line: &[u8]) -> bool {
    let lead = line.iter().take(3).take_while(|b| (**b & 0xc0) == 0x80).count();
    let rest = line.get(lead..).unwrap_or_default();
    match std::str::from_utf8(rest) {
        Ok(_) => return true,
        Err(error) if error.error_len().is_none() => return true,
        Err(_) => {}
    }
    let (mut wide, mut broken) = (0, 0);
    for chunk in line.utf8_chunks() {
        wide += chunk.valid().chars().filter(|c| c.len_utf8() >= 3).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    wide > 0 && wide >= broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bytes: &[u8], step: usize) -> (Kind, Vec<u8>) {
        let mut unwide = Unwide::default();
        let mut out = Vec::new();
        for block in bytes.chunks(step) {
            unwide.feed(block, false, |_, text| out.extend_from_slice(text));
        }
        unwide.feed(b"", true, |_, text| out.extend_from_slice(text));
        (unwide.kind(), out)
    }

    fn wide(text: &str, little: bool) -> Vec<u8> {
        text.encode_utf16().flat_map(|u| if little { u.to_le_bytes() } else { u.to_be_bytes() }).collect()
    }

    #[test]
    fn recognises_encodings_for_every_block_size() {
        let text = "got prompt\r\n模型 ok 😀\r\n".repeat(300);
        let cases: Vec<(Vec<u8>, &str)> = vec![
            (text.clone().into_bytes(), "utf-8"),
            ([b"\xef\xbb\xbf".to_vec(), text.clone().into_bytes()].concat(), "utf-8-bom"),
            ([b"\xff\xfe".to_vec(), wide(&text, true)].concat(), "utf-16le-bom"),
            ([b"\xfe\xff".to_vec(), wide(&text, false)].concat(), "utf-16be-bom"),
            (wide(&text, true), "utf-16le"),
            (wide(&text, false), "utf-16be"),
        ];
        for (bytes, name) in &cases {
            for step in [1, 2, 3, 37, 4096, 1 << 20] {
                let (kind, out) = run(bytes, step);
                assert_eq!(kind.name, *name, "step {step}");
                assert_eq!(out, text.as_bytes(), "{name} step {step}");
            }
        }
        assert_eq!(run(b"", 1).0.name, "utf-8");
        assert_eq!(run(b"a", 1), (UTF8, b"a".to_vec()));
        assert_eq!(run(b"\xff", 1).1, b"\xff");
    }

    #[test]
    fn units_of_text() {
        for text in ["", "abc", "模型", "a😀b", "é\r\n"] {
            assert_eq!(units(text.as_bytes()), text.encode_utf16().count() as u64);
        }
    }

    #[test]
    fn code_pages() {
        for (encoding, name, text) in [
            (GBK, "gbk", "系统信息：错误，显存不足，请关闭其他程序"),
            (SHIFT_JIS, "shift_jis", "メモリが不足しています。プログラムを終了してください"),
            (EUC_KR, "euc-kr", "메모리가 부족합니다. 다른 프로그램을 종료하십시오"),
            (BIG5, "big5", "記憶體不足，請關閉其他程式後再試一次"),
        ] {
            let (bytes, _, _) = encoding.encode(text);
            let mut legacy = Legacy::new();
            assert_eq!(legacy.decode(&bytes), Some(text.as_bytes()), "{name}");
            assert_eq!(legacy.name(), Some(name));
        }
    }

    #[test]
    fn damaged_utf8_is_no_code_page() {
        for line in [
            &b"100%|\xe2\x96"[..],
            b"\x96\x88\xe2\x96\x88| 1/2",
            "显存\u{4e00} ok \u{4e01}".as_bytes(),
            b"\xe6\x98\xbe\xff\xe5\xad\x98",
        ] {
            let mut legacy = Legacy::new();
            assert_eq!(legacy.decode(line), None, "{line:?}");
        }
        assert_eq!(Legacy::new().decode(b"caf\xe9 is fine"), None);
    }
}
