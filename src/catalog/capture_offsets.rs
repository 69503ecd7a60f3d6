//! Where the captures of a match stand in the line, and how they are read by name.

use super::capture::CaptureType;

/// Name and type of a capture.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) name: Box<str>,
    pub(crate) kind: CaptureType,
    key: u64,
}

impl Slot {
    pub(crate) fn new(name: &str, kind: CaptureType) -> Self {
        Self { name: name.into(), kind, key: first_eight(name) }
    }

    /// Its name is `name`. For a name in the program's text the compiler works out the eight bytes.
    #[inline(always)]
    fn is_called(&self, name: &str) -> bool {
        self.key == first_eight(name) && (name.len() < 8 || *self.name == *name)
    }
}

#[inline(always)]
fn first_eight(name: &str) -> u64 {
    let mut key = 0;
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < 8 && at < bytes.len() {
        key |= (bytes[at] as u64) << (8 * at);
        at += 1;
    }
    key
}

/// A captured piece of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capture<'r, 't> {
    pub name: &'r str,
    pub kind: &'r CaptureType,
    pub text: &'t [u8],
}

const MOST_CAPTURES: usize = 14;
/// Places that the free captures of one match may try. Real lines need a few; without an end, a template of
/// many free captures would try every combination of places in a line made for it.
pub(super) const MOST_TRIES: u16 = 1024;

/// Where each capture begins and ends in the line, by the number of its slot; nothing points into rule or line,
/// so that one record serves all rules tried on a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spans {
    items: [(u32, u32); MOST_CAPTURES],
    pub(super) tries: u16,
}

impl Spans {
    /// A capture that took no part in the match.
    const ABSENT: (u32, u32) = (u32::MAX, 0);

    pub(crate) fn new() -> Self {
        Self { items: [Self::ABSENT; MOST_CAPTURES], tries: 0 }
    }

    pub(crate) fn set(&mut self, slot: usize, from: usize, to: usize) {
        // Lines are cut far below 4 GiB.
        if let (Some(item), Ok(from), Ok(to)) = (self.items.get_mut(slot), u32::try_from(from), u32::try_from(to)) {
            *item = (from, to);
        }
    }

    /// A span without the blanks at its ends.
    pub(super) fn set_trimmed(&mut self, slot: usize, text: &[u8], from: usize, to: usize) {
        let taken = text.get(from..to).unwrap_or_default();
        let from = to - taken.trim_ascii_start().len();
        let kept = text.get(from..to).unwrap_or_default().trim_ascii_end().len();
        self.set(slot, from, from + kept);
    }
}

/// The captures of one match. More than [`Captures::MAX`] are never written in a template.
#[derive(Debug, Clone, Copy)]
pub struct Captures<'r, 't> {
    slots: &'r [Slot],
    text: &'t [u8],
    spans: Spans,
}

impl<'r, 't> Captures<'r, 't> {
    /// Most captures a template may have.
    pub const MAX: usize = MOST_CAPTURES;

    pub(crate) fn new(slots: &'r [Slot], text: &'t [u8], spans: Spans) -> Self {
        Self { slots, text, spans }
    }

    fn lent(&self) -> Lent<'_, 'r, 't> {
        Lent { slots: self.slots, text: self.text, spans: &self.spans }
    }

    /// All captures, in the order of the template.
    pub fn iter(&self) -> impl Iterator<Item = Capture<'r, 't>> {
        self.lent().iter()
    }

    /// The capture called `name`.
    pub fn get(&self, name: &str) -> Option<Capture<'r, 't>> {
        self.lent().get(name)
    }
}

/// Captures whose spans stand elsewhere: copying what was just written cost a tenth of the time on dense logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lent<'s, 'r, 't> {
    slots: &'r [Slot],
    text: &'t [u8],
    spans: &'s Spans,
}

impl<'s, 'r, 't> Lent<'s, 'r, 't> {
    pub(crate) fn new(slots: &'r [Slot], text: &'t [u8], spans: &'s Spans) -> Self {
        Self { slots, text, spans }
    }

    /// All captures, in the order of the template.
    pub(crate) fn iter(self) -> impl Iterator<Item = Capture<'r, 't>> + use<'s, 'r, 't> {
        let text = self.text;
        self.slots.iter().zip(&self.spans.items).filter_map(move |(slot, (from, to))| {
            let text = text.get(*from as usize..*to as usize)?;
            Some(Capture { name: &slot.name, kind: &slot.kind, text })
        })
    }

    /// The capture called `name`.
    #[inline(always)]
    pub(crate) fn get(self, name: &str) -> Option<Capture<'r, 't>> {
        // A loop and no `find`, whose closure would keep the compiler from working the name out.
        for (slot, (from, to)) in self.slots.iter().zip(&self.spans.items) {
            if slot.is_called(name) {
                let text = self.text.get(*from as usize..*to as usize)?;
                return Some(Capture { name: &slot.name, kind: &slot.kind, text });
            }
        }
        None
    }

    /// Where the last capture ends in the text that was matched.
    pub(crate) fn last_end(self) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        self.spans.items.get(last).map(|(_, to)| *to as usize)
    }
}
