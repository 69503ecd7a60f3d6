//! Reading with two threads: one finds the lines of the blocks, the other one looks rules up and tells the story.
//!
//! The thread that finds lines looks rules up as well while the other one has enough to do, so that both are always
//! busy, whatever the log is like. Results do not depend on who did what: a look-up needs nothing but the text.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{EventSink, Recogniser};
use crate::input::{Batch, InputError, Intake, Piece, ReadOptions, Reader, Sink, Source};
use crate::rule::{Lookups, Matcher, Spans};

/// Blocks on their way: one with each thread, and one between them.
const LOADS: usize = 3;
/// Texts looked up before the thread asks again whether the other one is waiting.
const AT_ONCE: usize = 64;

/// Reads a source to its end. Small inputs are read by one thread, which is done before a second one would have begun.
///
/// # Errors
/// When there was nothing to read.
pub fn read<S: EventSink>(
    mut source: Source<'_>,
    recogniser: &mut Recogniser<'_, S>,
    options: &ReadOptions,
) -> Result<Intake, InputError> {
    let mut reader = Reader::new();
    let mut block = vec![0; options.block_size.max(1)];
    let single = thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
    loop {
        if reader.bytes() >= options.alone && !single {
            return with_two_threads(source, reader, recogniser, block.len());
        }
        let Some(n) = source.next(&mut block) else { break };
        reader.feed(block.get(..n).unwrap_or(&block), recogniser);
    }
    source.conclude(reader, recogniser)
}

/// A block, and what was found in it.
#[derive(Default)]
struct Load {
    block: Vec<u8>,
    length: usize,
    batch: Batch,
    lookups: Lookups,
}

impl Load {
    fn bytes(&self) -> &[u8] {
        self.block.get(..self.length).unwrap_or(&self.block)
    }
}

fn with_two_threads<S: EventSink>(
    mut source: Source<'_>,
    reader: Reader,
    recogniser: &mut Recogniser<'_, S>,
    block_size: usize,
) -> Result<Intake, InputError> {
    let matcher = recogniser.packs().matcher();
    let waiting = AtomicUsize::new(0);
    let reader = thread::scope(|scope| {
        let (to_lines, blocks) = sync_channel::<Load>(LOADS);
        let (to_story, loads) = sync_channel::<Load>(LOADS);
        let waiting = &waiting;
        let lines = scope.spawn(move || find_lines(reader, matcher, &blocks, &to_story, waiting));
        let new = || Load { block: vec![0; block_size], ..Load::default() };
        let mut spare: Vec<Load> = std::iter::repeat_with(new).take(LOADS).collect();
        let mut to_lines = Some(to_lines);
        loop {
            if let Some(sender) = &to_lines
                && let Some(mut load) = spare.pop()
            {
                match source.next(&mut load.block) {
                    Some(n) => {
                        load.length = n;
                        // Fails only when the other thread is gone, which the next receive tells.
                        let _ = sender.send(load);
                    }
                    None => to_lines = None,
                }
                continue;
            }
            let Ok(load) = loads.recv() else { break };
            waiting.fetch_sub(1, Ordering::Relaxed);
            tell(&load, recogniser);
            spare.push(load);
        }
        lines.join()
    });
    match reader {
        Ok(reader) => source.conclude(reader, recogniser),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The thread that finds lines.
fn find_lines(
    mut reader: Reader,
    matcher: &Matcher,
    blocks: &Receiver<Load>,
    to_story: &SyncSender<Load>,
    waiting: &AtomicUsize,
) -> Reader {
    let mut spans = Spans::new();
    for mut load in blocks {
        let Load { block, length, batch, lookups } = &mut load;
        let bytes = block.get(..*length).unwrap_or(block);
        batch.begin(bytes);
        lookups.clear();
        reader.feed(bytes, batch);
        while lookups.len() < batch.len() && waiting.load(Ordering::Relaxed) > 0 {
            for _ in 0..AT_ONCE.min(batch.len() - lookups.len()) {
                match batch.text(bytes, lookups.len()) {
                    Some(text) => lookups.look_up(matcher, text, &mut spans),
                    None => lookups.skip(),
                }
            }
        }
        waiting.fetch_add(1, Ordering::Relaxed);
        if to_story.send(load).is_err() {
            break;
        }
    }
    reader
}

/// Tells what was found in a block.
fn tell<S: EventSink>(load: &Load, recogniser: &mut Recogniser<'_, S>) {
    let matcher = recogniser.packs().matcher();
    let mut spans = Spans::new();
    for number in 0..load.batch.len() {
        match load.batch.piece(load.bytes(), number) {
            Some(Piece::Text(segment)) => {
                let found = match load.lookups.get(number, matcher, segment.text, &mut spans) {
                    Some(found) => found,
                    None => matcher.look_up(segment.text, &mut spans),
                };
                recogniser.segment_known(&segment, found, &mut spans);
            }
            Some(Piece::Bar(place, bar)) => recogniser.bar(place, bar),
            None => {}
        }
    }
}
