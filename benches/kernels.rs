//! The stages of reading, each by itself, for use while working on one: `cargo bench`.
//!
//! What counts in the end is the whole process (`scripts/bench.sh`) and the number of instructions
//! (`scripts/instructions.sh`); see `docs/performance.md`.

use comfy_triage::catalog::Packs;
use comfy_triage::event::{At, Classifier, Event, EventSink};
use comfy_triage::input::{self, Bar, Place, ReadOptions, Segment, Sink, Source};
use comfy_triage::report::read_log;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

#[allow(dead_code)] // its `main` is for the command line
#[path = "../examples/generate_log.rs"]
mod generate_log;

const KINDS: [&str; 3] = ["bars", "few", "dense"];
const SIZE: u64 = 4 << 20;

fn main() {
    divan::main();
}

fn log(kind: &str) -> Vec<u8> {
    let mut log = Vec::new();
    generate_log::write_log(kind, SIZE, 1, &mut log).expect("a known kind");
    log
}

fn source(log: &[u8]) -> Source<'_> {
    Source::from_reader("log", log).expect("memory can be read")
}

/// Takes everything and does nothing.
struct Nothing;

impl Sink for Nothing {
    fn segment(&mut self, segment: &Segment<'_>) {
        black_box(segment);
    }

    fn bar(&mut self, place: Place, bar: Bar) {
        black_box((place, bar));
    }
}

impl EventSink for Nothing {
    fn event(&mut self, event: &Event<'_>) {
        black_box(event);
    }

    fn unknown(&mut self, at: &At<'_>) {
        black_box(at);
    }
}

/// Splitting, bars, prefixes.
#[divan::bench(args = KINDS)]
fn lines(bencher: Bencher<'_, '_>, kind: &str) {
    let log = log(kind);
    bencher
        .counter(BytesCount::of_slice(&log))
        .bench_local(|| input::read(source(&log), &mut Nothing, &ReadOptions::default()));
}

/// The same, and rules.
#[divan::bench(args = KINDS)]
fn events(bencher: Bencher<'_, '_>, kind: &str) {
    let (log, packs) = (log(kind), Packs::built_in());
    bencher
        .counter(BytesCount::of_slice(&log))
        .bench_local(|| input::read(source(&log), &mut Classifier::new(&packs, Nothing), &ReadOptions::default()));
}

/// The same, and the story.
#[divan::bench(args = KINDS)]
fn story(bencher: Bencher<'_, '_>, kind: &str) {
    let (log, packs) = (log(kind), Packs::built_in());
    bencher.counter(BytesCount::of_slice(&log)).bench_local(|| read_log(source(&log), &packs, &ReadOptions::default()));
}

/// What each start pays before the first line.
#[divan::bench]
fn packs() -> Packs {
    Packs::built_in()
}
