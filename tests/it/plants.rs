//! Private things of every kind in every dress that logs come in: none of them may be left in what `redact` writes.

use std::path::Path;

use clap::Parser;
use comfy_triage::cli::Cli;
use comfy_triage::command::{Console, Environment, run};

/// One plant a line; what is private stands in ⟦ ⟧, and ⏎ is a line break.
const PLANTS: [&str; 2] =
    [include_str!("../../fixtures/secrets/plants.txt"), include_str!("../../fixtures/secrets/plants-2.txt")];

/// What ComfyUI writes between them.
const USUAL: [&str; 6] = [
    "got prompt",
    "Requested to load Flux",
    "loaded completely; 21437.55 MB usable, 11350.07 MB loaded, full load: True",
    "  5%|5         | 1/20 [00:01<00:19,  1.00s/it]",
    "Prompt executed in 0.48 seconds",
    "[INFO] model weight dtype torch.bfloat16, manual cast: None",
];

struct Plant {
    lines: Vec<String>,
    secrets: Vec<String>,
}

fn plants() -> Vec<Plant> {
    let rows = PLANTS.iter().flat_map(|file| file.lines()).filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| Plant {
        lines: row.replace(['⟦', '⟧'], "").split('⏎').map(str::to_owned).collect(),
        secrets: row.split('⟦').skip(1).map(|part| part.split('⟧').next().unwrap().to_owned()).collect(),
    })
    .collect()
}

fn lines(plants: &[Plant]) -> Vec<String> {
    let with_usual = |(index, plant): (usize, &Plant)| {
        let usual = USUAL[index % USUAL.len()].to_owned();
        plant.lines.iter().cloned().chain([usual]).collect::<Vec<_>>()
    };
    plants.iter().enumerate().flat_map(with_usual).collect()
}

type Dress = (&'static str, Box<dyn Fn(&[String]) -> Vec<u8>>);

/// Every line behind a prefix.
fn prefixed(name: &'static str, prefix: &'static str) -> Dress {
    (name, Box::new(move |lines| joined(lines.iter().map(|line| format!("{prefix}{line}")), "\n")))
}

/// Something between the letters of every line.
fn between(name: &'static str, each: usize, what: &'static str) -> Dress {
    let put = move |line: &String| -> String {
        let letters = line.chars().enumerate();
        letters
            .flat_map(|(at, letter)| [if at % each == each - 1 { what } else { "" }.to_owned(), letter.to_string()])
            .collect()
    };
    (name, Box::new(move |lines| joined(lines.iter().map(put), "\n")))
}

/// Broken where a window of this width ends.
fn wrapped(name: &'static str, width: usize, prefix: &'static str) -> Dress {
    let broken = move |line: &String| -> Vec<String> {
        let letters: Vec<char> = line.chars().collect();
        let empty = letters.is_empty().then(|| prefix.to_owned());
        let parts = letters.chunks(width).map(|part| format!("{prefix}{}", part.iter().collect::<String>()));
        parts.chain(empty).collect()
    };
    (name, Box::new(move |lines| joined(lines.iter().flat_map(broken), "\n")))
}

fn joined(lines: impl Iterator<Item = String>, end: &str) -> Vec<u8> {
    lines.collect::<Vec<_>>().join(end).into_bytes()
}

fn wide(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn dresses() -> Vec<Dress> {
    let plain = |lines: &[String]| joined(lines.iter().cloned(), "\n");
    vec![
        ("plain", Box::new(plain)),
        ("CR LF", Box::new(|lines| joined(lines.iter().cloned(), "\r\n"))),
        prefixed("Docker Compose", "comfyui-1  | "),
        prefixed("Kubernetes", "2026-02-05T05:40:37.137431771Z stderr F "),
        prefixed("journald", "Aug 05 12:00:00 localhost python[1234]: "),
        prefixed("logging", "2024-10-19 01:10:47,703 - root - INFO - "),
        prefixed("SwarmUI", "12:00:00.123 [Debug] [ComfyUI-0/STDERR] "),
        prefixed("Desktop", "[2025-05-17 10:50:04.212] [info]  "),
        prefixed("quoted", "> "),
        ("UTF-16", Box::new(move |lines| [b"\xff\xfe".to_vec(), wide(&plain(lines))].concat())),
        ("UTF-16 behind UTF-8", Box::new(move |lines| [b"got prompt\nx\n".to_vec(), wide(&plain(lines))].concat())),
        between("colours inside words", 7, "\x1b[31m"),
        between("links inside words", 5, "\x1b]8;;http://x\x1b\\"),
        between("unseen letters", 4, "\u{200b}\u{ad}"),
        prefixed("titles", "\x1b]0;title\x07\x1b[1m"),
        wrapped("80 columns", 80, ""),
        wrapped("120 columns", 120, ""),
        wrapped("80 columns of Compose", 80, "comfyui-1  | "),
        (
            "redrawn in the middle",
            Box::new(|lines| {
                let half = |line: &String| {
                    let at = line.chars().count() / 2;
                    line.chars().take(at).chain(['\r']).chain(line.chars().skip(at)).collect()
                };
                joined(lines.iter().map(half), "\n")
            }),
        ),
        (
            "JSON",
            Box::new(|lines| {
                let entry =
                    |line: &String| serde_json::json!({ "t": "2026-11-30T10:00:00.000001", "m": format!("{line}\n") });
                let entries: Vec<_> = lines.iter().map(entry).collect();
                serde_json::json!({ "entries": entries }).to_string().into_bytes()
            }),
        ),
    ]
}

fn redacted(folder: &Path, log: &[u8]) -> (String, String) {
    let path = folder.join("planted.log");
    std::fs::write(&path, log).unwrap();
    let cli = Cli::try_parse_from(["comfy-triage", "redact", path.to_str().unwrap()]).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let around = Environment { columns: Some(100), ..Environment::default() };
    run(cli, &mut Console { out: &mut out, err: &mut err, around: &around }).unwrap();
    (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// The text without what a dress puts between its letters, in small letters.
fn flat(text: &str) -> String {
    let text = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => {
            let entries = value["entries"].as_array().unwrap().iter();
            entries.map(|entry| entry["m"].as_str().unwrap().to_owned()).collect()
        }
        Err(_) => text.to_owned(),
    };
    text.replace("comfyui-1  | ", "").replace(['\r', '\n'], "").to_lowercase()
}

#[test]
fn no_plant_is_left_in_any_dress() {
    let plants = plants();
    assert!(plants.len() >= 320, "{}", plants.len());
    let dresses = dresses();
    assert!(dresses.len() >= 15);
    let folder = tempfile::tempdir().unwrap();
    let log = lines(&plants);
    let mut leaks = Vec::new();
    for (name, dress) in &dresses {
        let (out, err) = redacted(folder.path(), &dress(&log));
        assert!(!out.is_empty(), "{name}: {err}");
        let (whole, told) = (flat(&out), err.to_lowercase());
        for plant in &plants {
            for secret in plant.secrets.iter().map(|secret| secret.to_lowercase()) {
                if whole.contains(&secret) || out.to_lowercase().contains(&secret) || told.contains(&secret) {
                    leaks.push(format!("{name}: {secret} of {}", plant.lines[0]));
                }
            }
        }
        for usual in USUAL {
            let kept = whole.matches(&usual.to_lowercase()).count();
            let clear = !name.contains("redrawn") && !name.contains("columns");
            assert!(!clear || kept >= plants.len() / USUAL.len(), "{name}: {usual} {kept}");
        }
    }
    assert_eq!(leaks, [""; 0], "{}", leaks.len());
}

#[test]
fn a_second_redaction_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (once, _) = redacted(folder.path(), &joined(lines(&plants()).into_iter(), "\n"));
    let (twice, told) = redacted(folder.path(), once.as_bytes());
    let changed: Vec<_> = once.lines().zip(twice.lines()).filter(|(a, b)| a != b).collect();
    assert_eq!(changed, [], "{told}");
}

/// Whatever was replaced, the answer is the same: verdict, grade, lines, figures.
#[test]
fn the_triage_of_a_redacted_log_equals_that_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for entry in std::fs::read_dir("fixtures/case").unwrap() {
        let log = entry.unwrap().path().join("console.log");
        let (clean, told) = redacted(folder.path(), &std::fs::read(&log).unwrap());
        assert!(!clean.is_empty(), "{}: {told}", log.display());
        let shared = folder.path().join("shared.log");
        std::fs::write(&shared, clean).unwrap();
        assert_eq!(answered(&log), answered(&shared), "{}", log.display());
        compared += 1;
    }
    assert!(compared > 80, "{compared}");
}

/// What a report says apart from words of the log.
fn answered(log: &Path) -> Vec<String> {
    let cli = Cli::try_parse_from(["comfy-triage", log.to_str().unwrap(), "--format", "json"]).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    run(cli, &mut Console { out: &mut out, err: &mut err, around: &Environment::default() }).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let report = &report["reports"][0];
    let mut all = vec![format!("{} {}", report["verdict"]["primary"], report["verdict"]["grade"])];
    for finding in report["findings"].as_array().unwrap() {
        all.push(format!("{} {}", finding["verdict"], finding["grade"]));
        all.extend(finding["evidence"].as_array().into_iter().flatten().map(|line| line["at"]["line"].to_string()));
        let figures = finding["figures"].as_array().into_iter().flatten();
        all.extend(figures.map(|figure| format!("{} {}", figure["id"], figure["lines"])));
    }
    all
}
