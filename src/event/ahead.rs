//! Reading with two threads: one finds the lines of the blocks, the other one looks rules up and tells the story.
//!
//! Each does what the other has no time for: the one that finds lines looks rules up as well while blocks are waiting
//! to be told, and blocks are read by either. So both are always busy, whatever the log is like. Results do not depend
//! on who did what: a look-up needs nothing but the text.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::answers::Cursor;
use super::asker::{Answer, Asker};
use super::desk::{Desk, Load};
use super::{Classifier, EventSink};
use crate::catalog::{Matcher, Spans};
use crate::input::{InputError, Intake, ReadOptions, Reader, Sink, Source, Text};

/// Blocks in use: one with each thread, and one between them.
const LOADS: usize = 3;

/// Reads a source to its end. Small inputs are read by one thread, which is done before a second one would have begun.
///
/// # Errors
/// When there was nothing to read.
pub fn read<S: EventSink>(
    mut source: Source<'_>,
    classifier: &mut Classifier<'_, S>,
    options: &ReadOptions,
) -> Result<Intake, InputError> {
    let mut reader = Reader::new();
    let mut block = vec![0; options.block_size.max(1)];
    let single = thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
    loop {
        if reader.bytes() >= options.alone && !single {
            return with_two_threads(source, reader, classifier, block.len());
        }
        let Some(n) = source.next(&mut block) else { break };
        reader.feed(block.get(..n).unwrap_or(&block), classifier);
    }
    source.conclude(reader, classifier)
}

fn with_two_threads<S: EventSink>(
    source: Source<'_>,
    reader: Reader,
    classifier: &mut Classifier<'_, S>,
    block_size: usize,
) -> Result<Intake, InputError> {
    let matcher = classifier.packs().matcher();
    let (decoder, text) = reader.split();
    let desk = Desk::new(source, decoder, LOADS, block_size);
    let waiting = AtomicUsize::new(0);
    let text = thread::scope(|scope| {
        let _ends = Ends(&desk);
        let (to_story, loads) = sync_channel::<Load>(LOADS);
        let (desk, waiting) = (&desk, &waiting);
        let lines = scope.spawn(move || find_lines(text, matcher, desk, &to_story, waiting));
        loop {
            // With nothing to tell, the other thread is the slower one.
            if waiting.load(Ordering::Relaxed) == 0 && desk.read_one() {
                continue;
            }
            let Ok(mut load) = loads.recv() else { break };
            waiting.fetch_sub(1, Ordering::Relaxed);
            tell(&mut load, classifier);
            desk.give_back(load);
        }
        lines.join()
    });
    match text {
        Ok(text) => {
            let (source, decoder) = desk.into_input();
            source.conclude(Reader::join(decoder, text), classifier)
        }
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Ends the other thread's work when this one ends, be it by a panic.
struct Ends<'d, 's>(&'d Desk<'s>);

impl Drop for Ends<'_, '_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The thread that finds lines.
fn find_lines(
    mut lines: Text,
    matcher: &Matcher,
    desk: &Desk<'_>,
    to_story: &SyncSender<Load>,
    waiting: &AtomicUsize,
) -> Text {
    let (mut asker, mut spans) = (Asker::new(matcher), Spans::new());
    while let Some(mut load) = desk.next() {
        load.find_lines(&mut lines);
        while waiting.load(Ordering::Relaxed) > 0 && load.ask(&mut asker, &mut spans) {}
        waiting.fetch_add(1, Ordering::Relaxed);
        if to_story.send(load).is_err() {
            break;
        }
    }
    lines
}

/// Tells what was found in a block.
fn tell<S: EventSink>(load: &mut Load, classifier: &mut Classifier<'_, S>) {
    let matcher = classifier.packs().matcher();
    let (mut spans, mut cursor) = (Spans::new(), Cursor::default());
    let length = load.batch.len();
    let last = load.batch.last_text().unwrap_or(length);
    let mut number = 0;
    while number < length {
        if number == load.answers.len() {
            load.ask(classifier.asker(), &mut spans);
        }
        let (batch, text) = (&load.batch, load.text());
        if classifier.is_calm() {
            let silent = load.answers.silent_from(number).min(last.saturating_sub(number));
            if silent > 0 {
                let (first, end) = (batch.line(number), batch.line(number + silent - 1));
                classifier.silence(silent as u64, first, end);
                number += silent;
                continue;
            }
        }
        let followed = number < last;
        if let Some(segment) = batch.segment_at(text, number) {
            // Each of them was asked about above, at the latest.
            let answer = load.answers.next(number, &mut cursor, matcher, segment.text, &mut spans);
            classifier.told(&segment, answer.unwrap_or(Answer::Maybe), &mut spans, followed);
        } else if let Some((place, bar)) = batch.bar_at(number) {
            classifier.bar(place, bar);
        }
        number += 1;
    }
}
