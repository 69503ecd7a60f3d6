//! What is done with an input, and what must hold whatever it is. A target panics when it does not.

use std::io::Cursor;
use std::path::Path;

use clap::Parser as _;
use comfy_triage::catalog::Packs;
use comfy_triage::cli::Cli;
use comfy_triage::command::{Console, Environment, run};
use comfy_triage::input::{self, Bar, DIALECTS, Place, ReadOptions, Segment, Sink, Source};
use comfy_triage::report::{checked, learn, redactor, write_clean};
use comfy_triage::samples::read_samples;

/// A door of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// Bytes become lines: the same ones in blocks of any size.
    Reader,
    /// Lines behind prefixes of all dialects.
    Prefixes,
    /// A log without what is private: clean, checked, and the same when it is redacted again.
    Redactor,
    /// A rule pack of somebody else.
    Packs,
    /// A file of memory samples.
    Samples,
    /// A session of `bisect`.
    State,
    /// A whole triage, as JSON.
    Run,
}

/// What an input did, as far as it can be told from outside: an input that does something new is kept.
pub type Did = Vec<u64>;

impl Target {
    /// Inputs to begin with.
    pub fn seeds(self) -> Vec<Vec<u8>> {
        let files = |folder: &str, name: &str| {
            let mut all = Vec::new();
            for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)).into_iter().flatten() {
                let Ok(entry) = entry else { continue };
                let path = if name.is_empty() { entry.path() } else { entry.path().join(name) };
                all.extend(std::fs::read(path).ok().map(|mut bytes| {
                    bytes.truncate(16 * 1024);
                    bytes
                }));
            }
            all
        };
        match self {
            Self::Reader | Self::Run => [files("fixtures/case", "console.log"), files("fixtures/encoding", "")].concat(),
            Self::Prefixes => DIALECTS
                .iter()
                .flat_map(|dialect| dialect.examples.iter().map(|(line, _)| format!("{line}\n").into_bytes()))
                .collect(),
            Self::Redactor => [files("fixtures/secrets", ""), files("fixtures/checklist", "")].concat(),
            Self::Packs => [files("rules", ""), files("rules/messages", ""), files("rules/nodes", "")].concat(),
            Self::Samples => vec![
                b"time,rss_anon_kb,rss_kb,cgroup_current,mem_available_kb,prompt\n0,1,2,3,4,\n1,2,3,4,5,executed\n".to_vec(),
                b"{\"epoch\":1,\"rss_mb\":5}\n{\"epoch\":2,\"rss_mb\":6.5}\n".to_vec(),
                b"2026-11-30T10:00:00,5 GiB\n".to_vec(),
            ],
            Self::State => state_seed().into_iter().collect(),
        }
    }

    /// Does it.
    pub fn run(self, bytes: &[u8], packs: &Packs, folder: &Path) -> Did {
        match self {
            Self::Reader => reader(bytes),
            Self::Prefixes => {
                let stamped: Vec<u8> = bytes.split(|byte| *byte == b'\n').flat_map(|line| [line, b"\n"].concat()).collect();
                reader(&stamped)
            }
            Self::Redactor => redacted(bytes, packs),
            Self::Packs => pack(bytes, folder),
            Self::Samples => match read_samples("samples.csv", bytes) {
                Ok(samples) => {
                    assert!(samples.points.len() <= 65_536);
                    assert!(samples.points.iter().all(|point| point.seconds.is_finite()));
                    vec![1, log2(samples.points.len()), log2(samples.skipped as usize), u64::from(samples.has_time)]
                }
                Err(_) => vec![0],
            },
            Self::State => {
                let path = folder.join("state.json");
                write(&path, bytes);
                let (status, out) = called(&["bisect", "--state", &text(&path), "status", "--format", "json"]);
                if status == 0 {
                    is_json(&out);
                }
                vec![u64::from(status), log2(out.len())]
            }
            Self::Run => {
                let path = folder.join("run.log");
                write(&path, bytes);
                let (status, out) = called(&[&text(&path), "--format", "json"]);
                if status == 0 {
                    is_json(&out);
                }
                vec![u64::from(status), verdict(&out)]
            }
        }
    }
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("the scratch folder can be written");
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn log2(number: usize) -> u64 {
    u64::from(usize::BITS - number.leading_zeros())
}

/// A call of the program within this process.
fn called(words: &[&str]) -> (u8, Vec<u8>) {
    let Ok(cli) = Cli::try_parse_from(["comfy-triage"].iter().chain(words)) else { return (2, Vec::new()) };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = run(cli, &mut Console { out: &mut out, err: &mut err, around: &Environment::default() });
    shown(&err);
    (exit.map_or(3, |exit| exit.status()), out)
}

/// No control character that steers a terminal is shown.
fn shown(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("what is shown is UTF-8");
    let steers = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t' | '\u{1b}');
    assert!(!text.chars().any(steers), "a control character is shown");
}

fn is_json(out: &[u8]) {
    serde_json::from_slice::<serde_json::Value>(out).expect("the answer is JSON");
    assert!(!out.contains(&0x1b), "an escape stands in JSON");
}

fn verdict(out: &[u8]) -> u64 {
    let report: serde_json::Value = serde_json::from_slice(out).unwrap_or_default();
    let verdict = report["reports"][0]["verdict"]["primary"].as_str().unwrap_or_default();
    let findings = report["reports"][0]["findings"].as_array().map_or(0, Vec::len);
    verdict.bytes().fold(findings as u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

/// All that is told of an input.
#[derive(Default, PartialEq, Debug)]
struct Told(Vec<(Vec<u8>, u64)>, u64);

impl Sink for Told {
    fn segment(&mut self, segment: &Segment<'_>) {
        self.0.push((segment.text.to_vec(), segment.place.line));
    }

    fn bar(&mut self, _: Place, _: Bar) {
        self.1 += 1;
    }
}

fn reader(bytes: &[u8]) -> Did {
    let read = |block_size: usize| {
        let mut told = Told::default();
        let source = Source::from_reader("x", bytes).ok()?;
        let intake = input::read(source, &mut told, &ReadOptions { block_size }).ok()?;
        Some((told, intake.lines, intake.encoding, intake.newline))
    };
    let (whole, pieces) = (read(64 * 1024), read(7));
    assert_eq!(whole, pieces, "the size of the blocks shows");
    whole.map_or_else(Vec::new, |(told, lines, encoding, newline)| {
        vec![log2(told.0.len()), log2(told.1 as usize), log2(lines as usize), encoding.len() as u64, newline.len() as u64]
    })
}

fn redacted(bytes: &[u8], packs: &Packs) -> Did {
    let clean = |bytes: &[u8]| {
        let open = || Source::from_reader("x", Cursor::new(bytes.to_vec()));
        let mut redactor = redactor(packs);
        let survey = learn(&open, &mut redactor).ok()?;
        let mut out = Vec::new();
        write_clean(&open, &survey, &mut redactor, &mut out).ok()?.ok()?;
        let found = Source::from_reader("x", out.as_slice()).ok().and_then(|source| checked(source, &redactor).ok());
        Some((out, found?, redactor.replaced().len()))
    };
    let Some((out, found, count)) = clean(bytes) else { return Vec::new() };
    assert!(found.private.is_empty(), "something private is left");
    let text = std::str::from_utf8(&out).expect("a redacted log is UTF-8");
    assert!(!text.contains('\u{1b}'), "an escape is left");
    vec![log2(count), log2(found.ordinary.len()), log2(found.unknown.len()), log2(out.len())]
}

fn pack(bytes: &[u8], folder: &Path) -> Did {
    let rules = folder.join("pack");
    std::fs::create_dir_all(&rules).expect("the scratch folder can be written");
    write(&rules.join("pack.toml"), b"id = \"x\"\nversion = \"1\"\nformat = 1\n");
    write(&rules.join("a.toml"), bytes);
    let (status, out) = called(&["rules", "check", &text(&rules), "--json"]);
    if !out.is_empty() {
        is_json(&out);
    }
    vec![u64::from(status), log2(out.len())]
}

/// A session as `bisect start` writes it.
fn state_seed() -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().ok()?;
    let state = text(&folder.path().join("state.json"));
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/case/a30_bisect_s0_all/console.log");
    called(&["bisect", "--state", &state, "start", &text(&log)]);
    std::fs::read(state).ok()
}
