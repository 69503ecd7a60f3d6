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
    bars: Vec<(Place, Bar)>,
    /// Texts that the block does not hold.
    beside: Vec<u8>,
}

/// A text, or the place of a bar among the bars.
#[derive(Debug, Clone, Copy)]
struct Item {
    place: Place,
    text: Stretch,
    stamp: Stretch,
    indent: u32,
    level: Option<Level>,
    /// Bits of [`flag`].
    flags: u8,
}

mod flag {
    pub(super) const BAR: u8 = 1;
    pub(super) const STAMPED: u8 = 2;
    pub(super) const TAGGED: u8 = 4;
    pub(super) const PROMPTED: u8 = 8;
    pub(super) const GLUED: u8 = 16;
    pub(super) const CUT: u8 = 32;
}

/// A stretch of the block, or of the texts beside it. Neither comes near 2 GiB.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    from: u32,
    length: u32,
}

/// Set in `from` when the text stands beside the block.
const BESIDE: u32 = 1 << 31;

/// One thing that was found.
#[derive(Debug)]
pub(crate) enum Piece<'a> {
    Text(Segment<'a>),
    Bar(Place, Bar),
}

impl Batch {
    /// Forgets what was kept; the next texts come from `block`.
    pub(crate) fn begin(&mut self, block: &[u8]) {
        let from = block.as_ptr() as usize;
        self.block = from..from + block.len();
        self.items.clear();
        self.bars.clear();
        self.beside.clear();
        // One block of a strange log must not make all later ones large.
        self.beside.shrink_to(block.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The text numbered `number`; none when it is a bar.
    pub(crate) fn text<'a>(&'a self, block: &'a [u8], number: usize) -> Option<&'a [u8]> {
        let item = self.items.get(number).filter(|item| item.flags & flag::BAR == 0)?;
        Some(self.stretch(block, item.text))
    }

    /// What is numbered `number`, with its texts in `block`, which must be the one it was found in.
    pub(crate) fn piece<'a>(&'a self, block: &'a [u8], number: usize) -> Option<Piece<'a>> {
        let item = self.items.get(number)?;
        let is = |flag: u8| item.flags & flag != 0;
        if is(flag::BAR) {
            return self.bars.get(item.text.from as usize).map(|(place, bar)| Piece::Bar(*place, *bar));
        }
        Some(Piece::Text(Segment {
            place: item.place,
            text: self.stretch(block, item.text),
            indent: item.indent,
            stamp: is(flag::STAMPED).then(|| self.stretch(block, item.stamp)),
            level: item.level,
            tagged: is(flag::TAGGED),
            prompted: is(flag::PROMPTED),
            glued: is(flag::GLUED),
            cut: is(flag::CUT),
        }))
    }

    #[inline]
    fn stretch<'a>(&'a self, block: &'a [u8], stretch: Stretch) -> &'a [u8] {
        let from = (stretch.from & !BESIDE) as usize;
        let holder = if stretch.from & BESIDE == 0 { block } else { &self.beside };
        holder.get(from..from + stretch.length as usize).unwrap_or_default()
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
        let bit = |holds: bool, flag: u8| if holds { flag } else { 0 };
        let flags = bit(segment.stamp.is_some(), flag::STAMPED)
            | bit(segment.tagged, flag::TAGGED)
            | bit(segment.prompted, flag::PROMPTED)
            | bit(segment.glued, flag::GLUED)
            | bit(segment.cut, flag::CUT);
        let stamp = segment.stamp.map_or(Stretch::default(), |stamp| self.keep(stamp));
        let text = self.keep(segment.text);
        let Segment { place, indent, level, .. } = *segment;
        self.items.push(Item { place, text, stamp, indent, level, flags });
    }

    fn bar(&mut self, place: Place, bar: Bar) {
        let text = Stretch { from: self.bars.len() as u32, length: 0 };
        self.bars.push((place, bar));
        self.items.push(Item { place, text, stamp: Stretch::default(), indent: 0, level: None, flags: flag::BAR });
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
            let Some(Piece::Text(first)) = batch.piece(&block, 0) else { panic!("a text") };
            assert_eq!((first.text, first.stamp), (&b"got prompt"[..], Some(&b"12:00"[..])));
            assert_eq!((first.place.line, first.indent, first.level), (7, 2, Some(Level::Info)));
            assert!(first.tagged && first.glued && !first.prompted && !first.cut);
            assert!(matches!(batch.piece(&block, 1), Some(Piece::Bar(_, found)) if found == bar));
            assert_eq!(batch.text(&block, 1), None);
            assert_eq!(batch.text(&block, 2), Some(&b"decoded"[..]));
            assert!(batch.piece(&block, 3).is_none());
        }
    }
}
