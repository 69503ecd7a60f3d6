//! Whatever the bytes are: no panic, the same answer however they arrive, evidence that points into the file.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;
use proptest::test_runner::Config;

/// Lines of many kinds, to be mixed, cut and glued.
const LINES: [&str; 22] = [
    "got prompt",
    "Requested to load Flux",
    "loaded completely 9.5367431640625e+25 16.0625 True",
    "loaded partially; 4840.39 MB usable, 4840.39 MB loaded, 2847.16 MB offloaded, lowvram patches: 0",
    "Potential memory leak detected with model Flux, doing a full garbage collect, for maximum performance avoid circular references in the model code.",
    "WARNING, memory leak with model Flux. Please make sure it is not being referenced from somewhere.",
    "Prompt executed in 3.20 seconds",
    "!!! Exception during processing !!! CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0 has a total capacity of 11.99 GiB of which 2.31 GiB is free.",
    "Traceback (most recent call last):",
    "  File \"/opt/ComfyUI/custom_nodes/A/b.py\", line 4, in run",
    "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)",
    "Currently allocated     : 12.97 GiB",
    "Got an OOM, unloading all loaded models.",
    "\r  5%|#    | 1/20 [00:00<00:15,  1.22it/s]\r 10%|##   | 2/20 [00:01<00:14,  1.22it/s]",
    "\u{1b}[32m[INFO]\u{1b}[0m got prompt",
    "2024-12-04T18:29:44.149144 - got prompt",
    "Total VRAM 24564 MB, total RAM 65367 MB",
    "ComfyUI version: 0.3.64",
    "Killed",
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python,pid=4242,uid=1000",
    "   0.0 seconds (IMPORT FAILED): C:\\ComfyUI\\custom_nodes\\was-ns",
    "{\"log\":\"got prompt\\n\",\"stream\":\"stderr\",\"time\":\"t\"}",
];

fn report(packs: &Packs, bytes: &[u8], block_size: usize) -> Option<Report> {
    let source = Source::from_reader("x", std::io::Cursor::new(bytes.to_vec())).ok()?;
    let options = ReadOptions { block_size };
    let read = read_log(source, packs, &options).ok()?;
    Some(answer("x", &read, packs, &Question::default()))
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let line = (select(LINES.to_vec()), 0usize..200, any::<bool>()).prop_map(|(line, cut, ended)| {
        let mut bytes = line.as_bytes().get(..line.len().min(cut.max(3))).unwrap_or_default().to_vec();
        if ended {
            bytes = line.as_bytes().to_vec();
            bytes.push(b'\n');
        }
        bytes
    });
    prop::strategy::Union::new_weighted(vec![(8, line.boxed()), (1, vec(any::<u8>(), 0..80).boxed())])
}

proptest! {
    #![proptest_config(Config { cases: 96, failure_persistence: None, ..Config::default() })]

    #[test]
    fn mixed_and_cut_logs_give_one_answer(pieces in vec(piece(), 0..60), block in 1usize..5000) {
        let packs = Packs::built_in();
        let bytes = pieces.concat();
        let whole = report(&packs, &bytes, 1 << 20);
        prop_assert_eq!(&whole, &report(&packs, &bytes, block), "block size {}", block);
        if let Some(report) = whole {
            let last = report.fitness.lines.max(1);
            for finding in &report.findings {
                for line in finding.evidence.iter().chain(&finding.against) {
                    prop_assert!(line.at.line >= 1 && line.at.line <= last, "line {} of {}", line.at.line, last);
                    prop_assert!(line.at.byte <= bytes.len() as u64);
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..3000)) {
        let packs = Packs::built_in();
        prop_assert_eq!(report(&packs, &bytes, 1 << 20), report(&packs, &bytes, 37));
    }
}
