//! What was found in one block, kept until another thread takes it.
//!
//! Texts are places in the block, not copies; only what is not found there (decoded, without colours, or begun in the
//! block before) is kept beside it.

use super::line::{Bar, Level, Place, Segment, Sink};
use std::ops::Range;

/// Bars and texts of one block, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Where the block lies in memory, to know texts that are part of it.
    block: Range<usize>,
    items: Vec<Item>,
    details: Vec<Detail>,
    bars: Vec<(Place, Bar)>,
    /// Texts that the block does not hold.
    beside: Vec<u8>,
    /// Place of the first plain text, from which those of all are counted.
    origin: Option<Place>,
}

/// A text, or a bar. It is small, since it travels from one processor core to another.
#[derive(Debug, Clone, Copy)]
struct Item {
    text: Stretch,
    /// Line and byte, counted from the origin.
    line: u32,
    byte: u32,
    indent: u32,
    kind: Kind,
}

/// What else is known, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Nothing else.
    Plain,
    /// Number of a detail.
    Detailed(u32),
    /// Number of a bar.
    Bar(u32),
}

/// What most texts do not have.
#[derive(Debug, Clone, Copy)]
struct Detail {
    /// When it is not counted from the origin.
    place: Option<Place>,
    stamp: Option<Stretch>,
    level: Option<Level>,
    tagged: bool,
    prompted: bool,
    glued: bool,
    cut: bool,
}

const NOTHING: Detail =
    Detail { place: None, stamp: None, level: None, tagged: false, prompted: false, glued: false, cut: false };

/// A stretch of the block, or of the texts beside it. Neither comes near 2 GiB.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    from: u32,
    length: u32,
}

/// Set in `from` when the text stands beside the block.
const BESIDE: u32 = 1 << 31;

impl Batch {
    /// Forgets what was kept; the next texts come from `block`.
    pub(crate) fn begin(&mut self, block: &[u8]) {
        let from = block.as_ptr() as usize;
        self.block = from..from + block.len();
        self.items.clear();
        self.details.clear();
        self.bars.clear();
        self.beside.clear();
        self.origin = None;
        // One block of a strange log must not make all later ones large.
        self.beside.shrink_to(block.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Number of the last text.
    pub(crate) fn last_text(&self) -> Option<usize> {
        self.items.iter().rposition(|item| !matches!(item.kind, Kind::Bar(_)))
    }

    /// The line of text `number`.
    pub(crate) fn line(&self, number: usize) -> u64 {
        match self.items.get(number) {
            Some(item) => {
                match item.kind {
                    Kind::Detailed(detail) => self.details.get(detail as usize).and_then(|detail| detail.place),
                    Kind::Plain | Kind::Bar(_) => None,
                }
                .unwrap_or(self.place(item))
                .line
            }
            None => 0,
        }
    }

    /// The text numbered `number`, and whether nothing stood before it (see [`Segment::is_bare`]); none when it is a bar.
    pub(crate) fn text<'a>(&'a self, block: &'a [u8], number: usize) -> Option<(&'a [u8], bool)> {
        let item = self.items.get(number)?;
        let bare = match item.kind {
            Kind::Plain => true,
            Kind::Detailed(detail) => {
                self.details.get(detail as usize).is_some_and(|detail| detail.stamp.is_none() && !detail.tagged)
            }
            Kind::Bar(_) => return None,
        };
        Some((self.stretch(block, item.text), bare))
    }

    /// The bar that is numbered `number`.
    #[inline]
    pub(crate) fn bar_at(&self, number: usize) -> Option<(Place, Bar)> {
        match self.items.get(number)?.kind {
            Kind::Bar(bar) => self.bars.get(bar as usize).copied(),
            Kind::Plain | Kind::Detailed(_) => None,
        }
    }

    /// The text that is numbered `number`; `block` must be the one it was found in. Always inlined, so that it is written
    /// where it stays.
    #[inline(always)]
    pub(crate) fn segment_at<'a>(&'a self, block: &'a [u8], number: usize) -> Option<Segment<'a>> {
        let item = self.items.get(number)?;
        let detail = match item.kind {
            Kind::Plain => &NOTHING,
            Kind::Detailed(detail) => self.details.get(detail as usize)?,
            Kind::Bar(_) => return None,
        };
        Some(Segment {
            place: detail.place.unwrap_or(self.place(item)),
            text: self.stretch(block, item.text),
            indent: item.indent,
            stamp: detail.stamp.map(|stamp| self.stretch(block, stamp)),
            level: detail.level,
            tagged: detail.tagged,
            prompted: detail.prompted,
            glued: detail.glued,
            cut: detail.cut,
        })
    }

    /// Where a plain text stands.
    #[inline]
    fn place(&self, item: &Item) -> Place {
        let Place { line, byte, .. } = self.origin.unwrap_or_default();
        Place { line: line + u64::from(item.line), byte: byte + u64::from(item.byte), ..Place::default() }
    }

    #[inline]
    fn stretch<'a>(&'a self, block: &'a [u8], stretch: Stretch) -> &'a [u8] {
        let from = (stretch.from & !BESIDE) as usize;
        let holder = if stretch.from & BESIDE == 0 { block } else { &self.beside };
        holder.get(from..from + stretch.length as usize).unwrap_or_default()
    }

    /// Lines and bytes from the origin; none when they are too many, as behind a huge line.
    #[inline]
    fn since_origin(&mut self, place: Place) -> Option<(u32, u32)> {
        let origin = self.origin.get_or_insert(place);
        let (line, byte) = (place.line.wrapping_sub(origin.line), place.byte.wrapping_sub(origin.byte));
        // What lies before the origin is far beyond it, so counted.
        (line.max(byte) <= u64::from(u32::MAX)).then_some((line as u32, byte as u32))
    }

    #[inline]
    fn keep(&mut self, text: &[u8]) -> Stretch {
        let address = text.as_ptr() as usize;
        let length = text.len() as u32;
        if address >= self.block.start && address + text.len() <= self.block.end {
            return Stretch { from: (address - self.block.start) as u32, length };
        }
        let from = self.beside.len() as u32 | BESIDE;
        self.beside.extend_from_slice(text);
        Stretch { from, length }
    }
}

impl Sink for Batch {
    #[inline]
    fn segment(&mut self, segment: &Segment<'_>) {
        let Segment { place, indent, stamp, level, tagged, prompted, glued, cut, .. } = *segment;
        let text = self.keep(segment.text);
        let stamp = stamp.map(|stamp| self.keep(stamp));
        let counted = if place.segment == 0 && place.entry == 0 { self.since_origin(place) } else { None };
        let (line, byte) = counted.unwrap_or_default();
        let kind = Kind::Detailed(self.details.len() as u32);
        let place = counted.is_none().then_some(place);
        self.details.push(Detail { place, stamp, level, tagged, prompted, glued, cut });
        self.items.push(Item { text, line, byte, indent, kind });
    }

    #[inline]
    fn plain(&mut self, text: &[u8], place: Place, indent: u32) {
        match self.since_origin(place) {
            Some((line, byte)) => {
                let text = self.keep(text);
                self.items.push(Item { text, line, byte, indent, kind: Kind::Plain });
            }
            None => self.segment(&Segment { place, text, indent, ..Segment::default() }),
        }
    }

    fn bar(&mut self, place: Place, bar: Bar) {
        let kind = Kind::Bar(self.bars.len() as u32);
        self.bars.push((place, bar));
        self.items.push(Item { text: Stretch::default(), line: 0, byte: 0, indent: 0, kind });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_the_block_and_from_beside_it() {
        let block = b"[12:00] got prompt".to_vec();
        let text = |text, stamp| Segment {
            place: Place { line: 7, ..Place::default() },
            text,
            indent: 2,
            stamp,
            level: Some(Level::Info),
            tagged: true,
            prompted: false,
            glued: true,
            cut: false,
        };
        let bar = Bar { done: 1, total: 2, seconds_per_step: None };
        let mut batch = Batch::default();
        for _ in 0..2 {
            batch.begin(&block);
            batch.segment(&text(&block[8..], Some(&block[1..6])));
            batch.bar(Place::default(), bar);
            batch.segment(&text(b"decoded", None));
            assert_eq!(batch.len(), 3);
            let first = batch.segment_at(&block, 0).unwrap();
            assert_eq!((first.text, first.stamp), (&b"got prompt"[..], Some(&b"12:00"[..])));
            assert_eq!((first.place.line, first.indent, first.level), (7, 2, Some(Level::Info)));
            assert!(first.tagged && first.glued && !first.prompted && !first.cut);
            assert!(matches!(batch.bar_at(1), Some((_, found)) if found == bar));
            assert!(batch.segment_at(&block, 1).is_none() && batch.bar_at(0).is_none());
            assert_eq!(batch.text(&block, 1), None);
            assert_eq!(batch.text(&block, 2), Some((&b"decoded"[..], false)));
            assert!(batch.segment_at(&block, 3).is_none());
        }
    }
}
