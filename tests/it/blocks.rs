//! One log gives one report, whatever the size of the blocks it is read in, and whether it comes as a file, through a
//! pipe, or packed.

#![allow(clippy::unwrap_used)] // a test may fail loudly

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, answer, read_log};

const BLOCKS: [usize; 2] = [37, 4099];

/// The report as JSON.
fn report(packs: &Packs, source: Source<'_>, block_size: usize) -> String {
    let read = read_log(source, packs, &ReadOptions { block_size }).unwrap();
    serde_json::to_string_pretty(&answer("log", &read, packs, &Question::default())).unwrap()
}

/// Logs of all kinds: real runs, encodings, containers.
fn logs() -> Vec<PathBuf> {
    let mut logs = Vec::new();
    for folder in ["fixtures/encoding", "fixtures/clean"] {
        logs.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    let cases = fs::read_dir("fixtures/case").unwrap().map(|entry| entry.unwrap().path().join("console.log"));
    logs.extend(cases.filter(|path| path.exists()));
    logs.sort();
    assert!(logs.len() > 50, "{} logs", logs.len());
    logs
}

/// A pipe hands over what has been written so far, not what was asked for.
struct Pipe<'a> {
    rest: &'a [u8],
    turn: usize,
}

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.turn += 1;
        let n = (self.turn * 31 % 97 + 1).min(self.rest.len()).min(buffer.len());
        let (now, later) = self.rest.split_at(n);
        buffer[..n].copy_from_slice(now);
        self.rest = later;
        Ok(n)
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz" || extension == "zst")
}

#[test]
fn no_block_size_and_no_way_in_changes_a_report() {
    let packs = Packs::built_in();
    for path in logs() {
        let whole = report(&packs, Source::open(&path).unwrap(), 256 * 1024);
        for block in BLOCKS {
            assert!(
                report(&packs, Source::open(&path).unwrap(), block) == whole,
                "{} in blocks of {block}",
                path.display()
            );
        }
        if is_packed(&path) {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let pipe = Source::from_reader("log", Pipe { rest: &bytes, turn: 0 }).unwrap();
        assert!(report(&packs, pipe, 4096) == whole, "{} through a pipe", path.display());
        let packed = packed(&bytes);
        let source = Source::from_reader("log", packed.as_slice()).unwrap();
        assert!(report(&packs, source, 1000) == whole, "{} packed", path.display());
    }
}
