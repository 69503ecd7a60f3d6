//! Blocks of an input between two threads: read by whichever has time, worked on in the order of the input.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::answers::Answers;
use super::asker::{Answer, Asker};
use crate::catalog::Spans;
use crate::input::{Batch, Decoded, Decoder, Source, Text};

/// Texts that are asked about in one go.
const AT_ONCE: usize = 64;

/// A block, and what was found in it.
#[derive(Default)]
pub(super) struct Load {
    block: Vec<u8>,
    /// The block as text, when it was none by itself; with room behind it.
    text: Vec<u8>,
    decoded: Option<Decoded>,
    pub(super) batch: Batch,
    pub(super) answers: Answers,
}

impl Load {
    /// The text of the block.
    pub(super) fn text(&self) -> &[u8] {
        let Some(Decoded { in_place, length, .. }) = self.decoded else { return &[] };
        let text = if in_place { &self.block } else { &self.text };
        text.get(..length).unwrap_or_default()
    }

    /// Looks for lines in the text.
    pub(super) fn find_lines(&mut self, lines: &mut Text) {
        let mut batch = std::mem::take(&mut self.batch);
        let text = self.text();
        batch.begin(text);
        if let Some(decoded) = self.decoded {
            lines.take(decoded, text, &mut batch);
        }
        self.batch = batch;
        self.answers.clear();
    }

    /// Asks about a few more texts; false when there are none.
    pub(super) fn ask(&mut self, asker: &mut Asker<'_>, spans: &mut Spans) -> bool {
        match asker.eyes() {
            Some(eyes) => eyes.within(
                #[inline(always)]
                || {
                    self.ask_each(
                        spans,
                        #[inline(always)]
                        |text, bare, spans| asker.ask_within(eyes, text, bare, spans),
                    )
                },
            ),
            None => self.ask_each(spans, |text, bare, spans| asker.ask(text, bare, spans)),
        }
        self.answers.len() < self.batch.len()
    }

    #[inline(always)]
    fn ask_each<'p>(
        &mut self,
        spans: &mut Spans,
        mut ask: impl for<'t> FnMut(&'t [u8], bool, &mut Spans) -> Answer<'p, 't>,
    ) {
        let mut answers = std::mem::take(&mut self.answers);
        let block = self.text();
        for _ in 0..AT_ONCE.min(self.batch.len() - answers.len()) {
            match self.batch.text(block, answers.len()) {
                Some((text, bare)) => answers.put(text, ask(text, bare, spans), spans),
                None => answers.skip(),
            }
        }
        self.answers = answers;
    }
}

/// The input, blocks that are free, and blocks that were read.
pub(super) struct Desk<'s> {
    /// Whoever holds it reads, and lays the block down before letting go: so blocks keep their order.
    input: Mutex<(Source<'s>, Decoder)>,
    piles: Mutex<Piles>,
    changed: Condvar,
}

struct Piles {
    spare: Vec<Load>,
    filled: VecDeque<Load>,
    /// Nothing more is read.
    ended: bool,
}

impl<'s> Desk<'s> {
    pub(super) fn new(source: Source<'s>, decoder: Decoder, loads: usize, block_size: usize) -> Self {
        let new = || Load { block: vec![0; block_size], ..Load::default() };
        let spare = std::iter::repeat_with(new).take(loads).collect();
        let piles = Piles { spare, filled: VecDeque::new(), ended: false };
        Self { input: Mutex::new((source, decoder)), piles: Mutex::new(piles), changed: Condvar::new() }
    }

    /// The input, when both threads are done with it.
    pub(super) fn into_input(self) -> (Source<'s>, Decoder) {
        self.input.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn piles(&self) -> MutexGuard<'_, Piles> {
        lock(&self.piles)
    }

    /// A block is not needed any more.
    pub(super) fn give_back(&self, load: Load) {
        self.piles().spare.push(load);
        self.changed.notify_one();
    }

    /// Reads and decodes a block for the other thread, when one is free; false when nothing was done.
    pub(super) fn read_one(&self) -> bool {
        let mut input = lock(&self.input);
        let (source, decoder) = &mut *input;
        let load = {
            let mut piles = self.piles();
            if piles.ended { None } else { piles.spare.pop() }
        };
        let Some(mut load) = load else { return false };
        match source.next(&mut load.block) {
            Some(n) => {
                let bytes = load.block.get(..n).unwrap_or(&load.block);
                load.decoded = Some(decoder.decode_into(bytes, &mut load.text));
                self.piles().filled.push_back(load);
            }
            None => self.piles().ended = true,
        }
        self.changed.notify_one();
        true
    }

    /// The next block, read here if nobody did; waits while all are in use. None at the end.
    pub(super) fn next(&self) -> Option<Load> {
        loop {
            let mut piles = self.piles();
            while piles.filled.is_empty() && piles.spare.is_empty() && !piles.ended {
                piles = self.changed.wait(piles).unwrap_or_else(PoisonError::into_inner);
            }
            if let Some(load) = piles.filled.pop_front() {
                return Some(load);
            }
            if piles.ended {
                return None;
            }
            drop(piles);
            self.read_one();
        }
    }

    /// Nothing more is read or handed out.
    pub(super) fn close(&self) {
        let mut piles = self.piles();
        piles.ended = true;
        piles.filled.clear();
        drop(piles);
        self.changed.notify_one();
    }
}

/// No lock is held while anything is done that could leave a mess behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk(text: &'static [u8]) -> Desk<'static> {
        Desk::new(Source::from_reader("x", text).unwrap(), Decoder::default(), 2, 4)
    }

    #[test]
    fn blocks_come_in_the_order_of_the_input_whoever_reads_them() {
        let desk = desk(b"ab\ndefghij");
        assert!(desk.read_one());
        let first = desk.next().unwrap();
        let second = desk.next().unwrap();
        assert_eq!((first.text(), second.text()), (&b"ab\nd"[..], &b"efgh"[..]));
        assert!(!desk.read_one(), "no block is free");
        desk.give_back(first);
        assert!(desk.read_one());
        assert_eq!(desk.next().unwrap().text(), b"ij");
        desk.give_back(second);
        assert!(desk.next().is_none());
        assert!(desk.next().is_none() && !desk.read_one());
    }

    #[test]
    fn a_closed_desk_hands_out_nothing() {
        let desk = desk(b"ab\ndefghij");
        assert!(desk.read_one());
        desk.close();
        assert!(desk.next().is_none() && !desk.read_one());
    }
}
