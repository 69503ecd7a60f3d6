//! One log in many dresses: encodings, compressions, containers and loggers change nothing in the answer.
//! Also the healthy logs of `fixtures/clean`, and the server's own answers read as logs.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::string_slice)] // a test may fail loudly

use std::fs;
use std::path::Path;

use crate::case::{json, primary, report, root};
use serde_json::Value;

const PLAIN: &str = "fixtures/encoding/utf-8.log";

/// What must be the same in all dresses: everything but places and what a dress cannot keep. A journal keeps least.
fn answer(report: &Value, journal: bool) -> Value {
    let mut sessions = report["sessions"].clone();
    strip_places(&mut sessions);
    if journal {
        strip_order(&mut sessions);
    }
    serde_json::json!({
        "primary": report["verdict"]["primary"],
        "secondary": report["verdict"]["secondary"],
        "grade": report["verdict"]["grade"],
        "version": report["version"]["exact"],
        "ending": report["ending"]["kind"],
        "sessions": sessions,
    })
}

fn strip_places(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // The time of a mark.
            if fields.contains_key("kind") {
                fields.remove("seconds");
            }
            // A bar that a journal swallowed tells no speed, and only some dresses tell the time.
            fields.retain(|name, _| {
                !matches!(
                    name.as_str(),
                    "at" | "line"
                        | "first_line"
                        | "last_line"
                        | "seconds_per_step"
                        | "released_at"
                        | "began_at"
                        | "ended_at"
                        | "load_seconds"
                )
            });
            fields.values_mut().for_each(strip_places);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_places),
        _ => {}
    }
}

/// A journal swallows bars, and takes two streams in turns.
fn strip_order(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("step_seconds");
            if let Some(Value::Array(marks)) = fields.get_mut("marks") {
                marks.sort_by_key(ToString::to_string);
            }
            fields.values_mut().for_each(strip_order);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_order),
        _ => {}
    }
}

fn files(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()))
        .filter(|name| !name.ends_with(".md"))
        .collect();
    names.sort();
    names
}

fn none(what: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{} {what}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_plain_log_is_understood() {
    let report = report(&[PLAIN]);
    assert_eq!(primary(&report), "leak-confirmed");
    assert_eq!(json::sum(&report, "/leaks/ZorblaxNet/warning"), 12);
    assert_eq!(json::last(&report, "/leaks/ZorblaxNet/held_last"), 3);
    assert_eq!(json::sum(&report, "/prompts/got"), 4);
    assert_eq!(json::first(&report, "/facts/comfyui_version/value"), "0.3.64");
    let dirs: Vec<&Value> = json::items(&report, "/custom_nodes").into_iter().map(|node| &node["dir"]).collect();
    assert!(dirs.iter().any(|dir| **dir == "ComfyUI-Zorblax-Upscale"), "{dirs:?}");
}

#[test]
fn every_dress_gives_the_same_answer() {
    let plain = report(&[PLAIN]);
    let mut faults = Vec::new();
    for name in files("fixtures/encoding") {
        let journal = name.contains("journald");
        let (plain, shown) = (answer(&plain, journal), answer(&report(&[&name]), journal));
        for (field, expected) in plain.as_object().unwrap() {
            if shown[field] != *expected {
                faults.push(format!("{name}: {field}\n  plain {expected}\n  here  {}", shown[field]));
            }
        }
    }
    none("answers that differ", &faults);
}

/// Puts something around each line of the plain log.
type Dress = fn(usize, &str) -> String;

/// What loggers, launchers and web pages put around a line, beyond the files of `fixtures/encoding`.
const DRESSES: [(&str, Dress); 14] = [
    ("an old Manager", |_, line| format!("[2024-05-31 15:05] {line}")),
    ("loguru", |number, line| {
        let place = ["<module>", "load", "_run"][number % 3];
        format!("2024-05-31 15:05:22.111 | INFO     | comfy.part{number}:{place}:{number} - {line}")
    }),
    ("a stamp and a level", |_, line| format!("2024-05-31T15:05:22Z INFO {line}")),
    ("logging's stamp and a level", |_, line| format!("2024-05-31 15:05:22,111 INFO {line}")),
    ("a padded level", |_, line| format!("INFO     {line}")),
    ("a stream in brackets", |_, line| format!("[stderr] {line}")),
    ("a stream", |_, line| format!("STDERR: {line}")),
    ("SwarmUI without a stamp", |_, line| format!("[ComfyUI-0/STDERR] {line}")),
    ("logfmt", |_, line| format!("ts=2024-05-31T15:05:22Z level=info msg=\"{line}\"")),
    ("stamps made unreadable", |_, line| format!("[yy25-xx-12 xx:00:yy.269] {line}")),
    ("blanks of a web page", |_, line| line.replace(' ', "\u{a0}")),
    ("breaks of a web page", |_, line| format!("{line}<br>")),
    ("breaks of a web page behind levels", |_, line| format!("[INFO] {line}<br />")),
    ("a name in brackets and a level", |_, line| format!("[worker-3] (INFO) {line}")),
];

#[test]
fn what_others_put_around_a_line_changes_nothing() {
    let plain = answer(&report(&[PLAIN]), false);
    let folder = tempfile::tempdir().unwrap();
    let mut faults = Vec::new();
    for (name, dress) in DRESSES {
        let text = fs::read_to_string(root().join(PLAIN)).unwrap();
        let lines: Vec<String> = text.lines().enumerate().map(|(number, line)| dress(number, line)).collect();
        let path = folder.path().join("dressed.log");
        fs::write(&path, lines.join("\n")).unwrap();
        let shown = answer(&report(&[path.to_str().unwrap()]), false);
        for (field, expected) in plain.as_object().unwrap() {
            if shown[field] != *expected {
                faults.push(format!("{name}: {field}\n  plain {expected}\n  here  {}", shown[field]));
            }
        }
    }
    none("dresses that change the answer", &faults);
}

#[test]
fn a_log_behind_an_unknown_prefix_is_not_called_foreign() {
    let folder = tempfile::tempdir().unwrap();
    let said = |text: &str| {
        let path = folder.path().join("some.log");
        fs::write(&path, text).unwrap();
        report(&[path.to_str().unwrap()])["findings"][0]["about"].as_str().map(str::to_owned)
    };
    // Each line is put in front in its own way, so nothing can be learned.
    let unread = said("alpha; got prompt\n<b>beta</b> Requested to load Flux\n");
    assert_eq!(unread.as_deref(), Some("insufficient-prefix"));
    let kin = said("lora key not loaded: lora_unet_single_blocks_3_linear2.lora_up.weight\n");
    assert_eq!(kin.as_deref(), Some("insufficient-no-prompt"));
    let foreign = said("GET /index.html 200\nserved in 5 ms\n");
    assert_eq!(foreign.as_deref(), Some("insufficient-not-comfyui"));
}

#[test]
fn encodings_are_named() {
    for (name, expected) in [
        ("utf-8.log", "utf-8"),
        ("crlf.log", "utf-8"),
        ("utf-8-bom.log", "utf-8-bom"),
        ("utf-16le-bom.log", "utf-16le-bom"),
        ("utf-16be-bom.log", "utf-16be-bom"),
        ("utf-16le.log", "utf-16le"),
        ("gbk.log", "gbk"),
        ("shift_jis.log", "shift_jis"),
        ("gzip.log.gz", "utf-8"),
        ("zstd.log.zst", "utf-8"),
    ] {
        let report = report(&[&format!("fixtures/encoding/{name}")]);
        assert_eq!(report["fitness"]["encoding"], expected, "{name}");
    }
}

#[test]
fn evidence_points_into_the_users_own_file() {
    for name in ["utf-8.log", "crlf.log", "utf-16be-bom.log", "utf-16le.log", "gbk.log", "compose.log"] {
        let path = format!("fixtures/encoding/{name}");
        let report = report(&[&path]);
        let bytes = fs::read(root().join(&path)).unwrap();
        let fact = json::first(&report, "/facts/comfyui_version");
        assert_eq!(fact["at"]["line"], 9, "{name}");
        let at = usize::try_from(fact["at"]["byte"].as_u64().unwrap()).unwrap();
        let shown: Vec<u8> = bytes[at..].iter().copied().filter(|byte| *byte != 0).take(60).collect();
        let shown = String::from_utf8_lossy(&shown);
        assert!(shown.contains("ComfyUI version: 0.3.64"), "{name}: byte {at} is `{shown}`");
    }
}

#[test]
fn several_logs_at_once_give_each_its_report() {
    let output = crate::case::output(&[PLAIN, "fixtures/clean/0.8.0-flux-16gb.log"]);
    let reports = output["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[0]["source"], PLAIN);
    assert_eq!(primary(&reports[1]), "no-fault");
}

#[test]
fn healthy_logs_have_no_fault() {
    let mut faults = Vec::new();
    for name in files("fixtures/clean") {
        let report = report(&[&name]);
        if primary(&report) != "no-fault" || !json::texts(&report["verdict"]["secondary"]).is_empty() {
            faults.push(format!("{name}: {}", report["verdict"]));
        }
        let (texts, understood) =
            (report["fitness"]["texts"].as_f64().unwrap(), report["fitness"]["understood"].as_f64().unwrap());
        if understood < 0.9 * texts {
            faults.push(format!("{name}: only {understood} of {texts} texts are known"));
        }
    }
    none("healthy logs", &faults);
}

#[test]
fn healthy_logs_give_their_figures() {
    let report = report(&["fixtures/clean/0.33.0-dynamic-detail.log"]);
    assert_eq!(json::first(&report, "/facts/dynamic_vram/value"), true);
    assert_eq!(json::first(&report, "/facts/pinned_budget_mib/value").as_f64(), Some(57716.0));
    assert_eq!(json::sum(&report, "/dynamic/QwenImage/prepared"), 4);
    assert_eq!(json::last(&report, "/dynamic/QwenImage/staged_mib").as_f64(), Some(19484.0));
    assert_eq!(json::sum(&report, "/prompts/executed"), 4);
}

#[test]
fn the_servers_own_answers_are_read() {
    let raw = report(&["fixtures/case/a06_oom_three_kinds/internal_logs_raw.json"]);
    let text = report(&["fixtures/case/a06_oom_three_kinds/internal_logs.json"]);
    let log = report(&["fixtures/case/a06_oom_three_kinds/console.log"]);
    for answer in [&raw, &text] {
        assert_eq!(primary(answer), primary(&log));
        assert_eq!(json::sum(answer, "/prompts/got"), json::sum(&log, "/prompts/got"));
        assert_eq!(json::items(answer, "/ooms").len(), json::items(&log, "/ooms").len());
    }
    let error = report(&["fixtures/case/a06_oom_three_kinds/execution_error.json"]);
    assert_eq!(primary(&error), "gpu-oom");
    assert_eq!(json::first(&error, "/ooms/0/texts/requested"), "9.00 GiB");
    assert_eq!(json::first(&error, "/exceptions/0/node"), "TilemongerTile");
}

#[test]
fn a_ring_that_lost_its_start_still_shows_the_leak() {
    for case in ["a02_strong_leak_25", "b02_strong_leak_25"] {
        let report = report(&[&format!("fixtures/case/{case}/internal_logs_raw.json")]);
        assert_eq!(primary(&report), "leak-confirmed", "{case}");
        assert_eq!(json::last(&report, "/leaks/ZorblaxNet/held_last"), 24, "{case}");
    }
}

#[test]
fn system_stats_alone_give_facts_and_no_verdict() {
    for case in ["a01_healthy_25", "b00_first_start_fresh"] {
        let report = report(&[&format!("fixtures/case/{case}/system_stats.json")]);
        assert_eq!(primary(&report), "insufficient-evidence", "{case}");
        let stats = fs::read_to_string(root().join(format!("fixtures/case/{case}/system_stats.json"))).unwrap();
        let stats: Value = serde_json::from_str(&stats).unwrap();
        assert_eq!(*json::first(&report, "/facts/comfyui_version/value"), stats["system"]["comfyui_version"], "{case}");
        assert_eq!(*json::first(&report, "/facts/pytorch_version/value"), stats["system"]["pytorch_version"], "{case}");
    }
}

#[test]
fn the_fixtures_name_no_private_place() {
    for name in files("fixtures/encoding").into_iter().chain(files("fixtures/clean")) {
        let bytes = fs::read(root().join(&name)).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"/root/"), "{name}");
    }
    assert!(Path::new(&root()).join(".gitattributes").is_file());
}
