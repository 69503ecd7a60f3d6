//! The layout of a report, held as snapshots: both languages, two widths, long and short.

use super::{Format, Printer, View, markdown, quiet, text};
use crate::catalog::{Packs, Verdict};
use crate::report::*;

fn at(line: u64) -> PlaceReport {
    PlaceReport { line, last_line: None, segment: None, entry: None, byte: line * 80 }
}

fn line(number: u64, text: &str, remark: Option<&str>) -> EvidenceReport {
    EvidenceReport {
        at: at(number),
        text: text.to_owned(),
        rule: "leak-warning".to_owned(),
        remark: remark.map(str::to_owned),
    }
}

fn finding(id: &str, summary: &str) -> Finding {
    Finding {
        id: id.parse().expect("a verdict"),
        about: None,
        status: Status::Confirmed,
        grade: Grade::Strong,
        grade_reason: "WARNING after full collection".to_owned(),
        summary: summary.to_owned(),
        fingerprint: id.to_owned(),
        evidence: Vec::new(),
        against: Vec::new(),
        figures: Vec::new(),
        candidates: Vec::new(),
        references: Vec::new(),
        settle: None,
        values: std::collections::BTreeMap::new(),
        circumstances: Vec::new(),
        session: 1,
        prompt: None,
        recovered: false,
        crash: false,
        answer: None,
        mentioned: false,
    }
}

fn leak() -> Finding {
    let mut leak = finding("leak-confirmed", "ComfyUI still holds 24 models of class ZorblaxNet.");
    let warning =
        "WARNING, memory leak with model ZorblaxNet. Please make sure it is not being referenced from somewhere.";
    leak.evidence = vec![
        line(
            35,
            "Potential memory leak detected with model ZorblaxNet, doing a full garbage collect, for maximum performance avoid circular references in the model code.",
            Some("first of 48 passes"),
        ),
        line(751, warning, Some("last pass: 24 (600 lines, not 600 leaks)")),
    ];
    leak.evidence[1].at.last_line = Some(774);
    leak.figures = vec![Figure {
        name: "held-memory".to_owned(),
        text: "about 385.4 MiB = 24 × 16.06 MiB".to_owned(),
        basis: Basis::Estimate,
        value: Some(385.44),
        unit: Some("MiB".to_owned()),
        lines: vec![32],
    }];
    leak.candidates = vec![Candidate {
        dir: "ComfyUI-Zorblax-Upscale".to_owned(),
        why: "name-hint".to_owned(),
        reason: "its name resembles the class; a hint only".to_owned(),
        at: Some(at(14)),
    }];
    leak.references = vec![Reference {
        link: "https://github.com/Comfy-Org/ComfyUI/issues/1".to_owned(),
        state: "open".to_owned(),
        checked: "2026-11-30".to_owned(),
    }];
    leak.settle = Some("Run the same workflow three times without custom nodes.".to_owned());
    leak
}

// Long: one sample with all its fields.
fn session() -> SessionReport {
    let prompt = |number, outcome: &str, loads: &[&str]| PromptReport {
        number,
        first_line: number * 10,
        last_line: number * 10 + 9,
        seconds: Some(number as f64 * 4.5),
        outcome: outcome.to_owned(),
        loads: loads.iter().map(|class| (*class).to_owned()).collect(),
        seconds_per_step: Some(1.25),
        began_at: None,
        ended_at: None,
        step_seconds: None,
        load_seconds: None,
    };
    SessionReport {
        number: 1,
        first_line: 1,
        last_line: 780,
        facts: [("total_vram_mib".to_owned(), FactReport { value: 24564.into(), at: at(3) })].into(),
        custom_nodes: vec![
            NodeReport {
                dir: "ComfyUI-Zorblax-Upscale".to_owned(),
                seconds: Some(0.4),
                failed: false,
                reason: None,
                at: at(14),
            },
            NodeReport {
                dir: "broken".to_owned(),
                seconds: None,
                failed: true,
                reason: Some("No module named 'x'".to_owned()),
                at: at(15),
            },
        ],
        prompts: PromptsReport {
            got: 3,
            executed: 2,
            failed: 1,
            lost: 1,
            invalid: 0,
            interrupted: 0,
            ignored: 0,
            broken: 0,
        },
        leaks: [(
            "ZorblaxNet".to_owned(),
            LeakReport {
                potential: 48,
                warning: 600,
                held_first: Some(1),
                held_last: Some(24),
                held_max: Some(24),
                released_at: None,
                curve: vec![
                    CurveReport { prompt: 2, held: 1, line: 37 },
                    CurveReport { prompt: 25, held: 24, line: 751 },
                ],
            },
        )]
        .into(),
        leak_passes: 48,
        loads: [("ZorblaxNet".to_owned(), LoadReport { requested: 25, last_mib: Some(16.06) })].into(),
        dynamic: Default::default(),
        unloads: UnloadsReport { lines: 0, models: 0 },
        ooms: Vec::new(),
        host_ooms: Vec::new(),
        exceptions: Vec::new(),
        counts: CountsReport {
            total_vram_lines: 1,
            starts: 1,
            pin_errors: 0,
            aimdo_errors: 0,
            tiled_retries: 0,
            attention_retries: 0,
            oom_unloads: 0,
            kills: 0,
        },
        timeline: vec![
            prompt(1, "ok", &["ZorblaxNet"]),
            prompt(2, "failed", &["ZorblaxNet", "WanVAE"]),
            prompt(3, "unfinished", &["WanVAE"]),
        ],
        prompt_groups: Vec::new(),
        marks: Vec::new(),
        marks_left_out: 0,
        ram: crate::report::RamReport::default(),
        left_out: 0,
    }
}

// Long: one sample with all its fields.
fn report(language: &str) -> Report {
    let zh = language == "zh";
    let headline = match zh {
        false => "ComfyUI still holds 24 models of class ZorblaxNet that nothing should use; one more per prompt.",
        true => "ComfyUI 仍持有 24 个 ZorblaxNet 类的模型，而它们本不该再被使用；每个任务增加一个。",
    };
    let import = Finding {
        grade: Grade::Certain,
        evidence: vec![line(15, "Cannot import broken module for custom nodes: No module named 'x'", None)],
        ..finding("import-failure", "One node pack could not be imported.")
    };
    Report {
        source: "comfyui.log".to_owned(),
        language: language.to_owned(),
        asked: Vec::new(),
        verdict: VerdictReport {
            primary: Verdict::LeakConfirmed,
            secondary: vec![Verdict::ImportFailure],
            grade: Grade::Strong,
            grade_reason: "WARNING after full collection; grows in 24 of 24 prompts".to_owned(),
            headline: headline.to_owned(),
        },
        findings: vec![leak(), import],
        ruled_out: vec![
            RuledOut { id: Verdict::GpuOom, reason: "no such line".to_owned(), evidence: Vec::new() },
            RuledOut { id: Verdict::HostOom, reason: "no such line".to_owned(), evidence: Vec::new() },
        ],
        next_steps: vec![
            Step {
                text: "Run once without custom nodes.".to_owned(),
                command: Some("python main.py --disable-all-custom-nodes".to_owned()),
                cost: Some("One restart.".to_owned()),
                flags: vec!["--disable-all-custom-nodes".to_owned()],
                remedy: None,
            },
            Step {
                text: "If it is gone, tell the author of the pack.".to_owned(),
                command: None,
                cost: None,
                flags: Vec::new(),
                remedy: None,
            },
        ],
        avoid: vec![Avoid {
            text: "Do not use --cache-none against this.".to_owned(),
            why: "It does not release what a node holds.".to_owned(),
        }],
        cannot_tell: vec![
            "Which node holds the models.".to_owned(),
            "Memory of the process.".to_owned(),
            "A third thing.".to_owned(),
        ],
        version: VersionReport {
            exact: None,
            from: Some("0.3.68".to_owned()),
            before: Some("0.9.0".to_owned()),
            basis: "wording".to_owned(),
            evidence: Vec::new(),
        },
        sessions: vec![session()],
        ending: EndingReport {
            kind: "abrupt".to_owned(),
            at: Some(at(780)),
            in_flight: Some(InFlightReport {
                prompt: 3,
                class: Some("WanVAE".to_owned()),
                mib: Some(242.0),
                step: Some((3, 20)),
                since_line: 770,
            }),
            exit_code: None,
            text: "The log stops in the middle of a prompt.".to_owned(),
        },
        fitness: Fitness {
            lines: 780,
            understood: 760,
            texts: 775,
            encoding: "utf-8".to_owned(),
            cut_end: true,
            gaps: Vec::new(),
        },
        samples: None,
        given: Vec::new(),
        partial: false,
    }
}

fn view(width: usize, verbose: bool) -> View {
    View { width, verbose, ..View::default() }
}

#[test]
fn english_fits_a_screen() {
    let packs = Packs::built_in();
    let shown = text(&report("en"), &packs, &view(100, false));
    assert!(shown.lines().count() <= 24, "{shown}");
    assert!(shown.lines().all(|line| crate::text::width(line) <= 100), "{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn english_on_a_narrow_terminal() {
    let shown = text(&report("en"), &Packs::built_in(), &view(60, false));
    assert!(shown.lines().all(|line| crate::text::width(line) <= 60), "{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn chinese_at_both_widths() {
    let packs = Packs::built_in();
    let narrow = text(&report("zh"), &packs, &view(60, false));
    assert!(narrow.lines().all(|line| crate::text::width(line) <= 60), "{narrow}");
    insta::assert_snapshot!(format!("{}\n{narrow}", text(&report("zh"), &packs, &view(100, false))));
}

#[test]
fn everything_with_verbose() {
    insta::assert_snapshot!(text(&report("en"), &Packs::built_in(), &view(100, true)));
}

#[test]
fn one_line_when_quiet() {
    let shown = quiet(&report("en"), &Packs::built_in(), &view(100, false));
    assert_eq!(
        shown,
        "leak-confirmed strong: ComfyUI still holds 24 models of class ZorblaxNet that nothing should use; one more per prompt.\n"
    );
}

#[test]
fn markdown_can_be_pasted() {
    insta::assert_snapshot!(markdown(&report("en"), &Packs::built_in(), &view(100, false), false));
}

#[test]
fn several_logs_end_in_a_summary() {
    let packs = Packs::built_in();
    let mut printer = Printer::new(Format::Text, view(100, false), &packs, false, 2);
    let mut out = Vec::new();
    printer.report(report("en"), &mut out).unwrap();
    printer.unreadable("gone.log");
    printer.end(&mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    assert!(shown.starts_with("comfyui.log\n"));
    let (_, summary) = shown.split_once("2 logs\n").unwrap();
    insta::assert_snapshot!(summary);
}

#[test]
fn json_is_the_same_twice_and_ndjson_is_one_line() {
    let packs = Packs::built_in();
    let once = |format| {
        let mut printer = Printer::new(format, view(100, false), &packs, false, 1);
        let mut out = Vec::new();
        printer.report(report("en"), &mut out).unwrap();
        printer.end(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(once(Format::Json), once(Format::Json));
    assert_eq!(once(Format::Ndjson).lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&once(Format::Json)).unwrap();
    assert_eq!(value["reports"][0]["verdict"]["primary"], "leak-confirmed");
}

/// Whatever a log holds, it must not steer the terminal, nor become markup.
#[test]
fn hostile_text_stays_inert() {
    let packs = Packs::built_in();
    let mut report = report("en");
    let hostile = "\x1b[2J\x1b]8;;http://evil\x07``` <script> @all [x](http://evil) \u{202e}| # \r\nnext";
    report.verdict.headline = hostile.to_owned();
    report.findings[0].evidence[0].text = hostile.to_owned();
    report.findings[0].evidence[0].remark = Some(hostile.to_owned());
    report.next_steps[0].command = Some(hostile.to_owned());
    for shown in [
        text(&report, &packs, &view(100, true)),
        quiet(&report, &packs, &view(100, false)),
        markdown(&report, &packs, &view(100, true), true),
    ] {
        assert!(!shown.contains(['\x1b', '\x07', '\r', '\u{202e}']), "{shown}");
    }
    let shown = markdown(&report, &packs, &view(100, false), false);
    let headline = shown.lines().next().unwrap();
    assert!(!headline.contains("<script>") && !headline.contains("[x](") && !headline.contains("@all"), "{headline}");
}
