//! Logs with more starts of ComfyUI than are kept in detail: what is said of starts holds for all of them.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

/// Eight lines each.
const GOOD: &str = "Total VRAM 24564 MB, total RAM 65367 MB\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nComfyUI version: 0.3.64\nStarting server\n\ngot prompt\nPrompt executed in 3.20 seconds\n";
const KILLED: &str = "Total VRAM 24564 MB, total RAM 65367 MB\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nComfyUI version: 0.3.64\nStarting server\n\ngot prompt\nKilled\n";
const LINES: usize = 8;

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

fn figure<'r>(report: &'r Report, name: &str) -> &'r str {
    report.findings[0].figures.iter().find(|figure| figure.name == name).map_or("", |figure| &figure.text)
}

#[test]
fn the_last_of_many_failures_is_the_one_that_is_told() {
    let report = triage(&format!("{}{}", KILLED.repeat(100), GOOD.repeat(4)));
    assert_eq!(report.verdict.primary, "host-oom");
    assert_eq!(report.findings[0].session, 100);
    assert_eq!(report.findings[0].evidence[0].at.line, 100 * LINES as u64);
    let headline = &report.verdict.headline;
    assert!(headline.starts_with("Before the start in line 801: "), "{headline}");
    assert_eq!(figure(&report, "starts"), "the same in 60 of the 64 starts that are told one by one");
    // 16 are kept from the beginning, 48 from the end.
    assert_eq!(figure(&report, "left-out"), "40 starts are only counted: killed 40 (the last one in line 448)");
    let numbers: Vec<usize> = report.sessions.iter().map(|session| session.number).collect();
    assert_eq!((numbers[15], numbers[16], numbers[63]), (16, 57, 104));
}

#[test]
fn well_since_is_said_only_of_starts_that_ran_well() {
    // The failures end within the first sixteen starts: all that were counted ran well.
    let well = triage(&format!("{}{}", KILLED.repeat(10), GOOD.repeat(90)));
    let headline = &well.verdict.headline;
    assert!(
        headline.starts_with("ComfyUI runs well now: 90 prompts without a fault since the start in line 81."),
        "{headline}"
    );
    assert_eq!(figure(&well, "left-out"), "36 starts are only counted: 36 without a fault");

    // One failure stands among those that are only counted: nothing is said of the time before it.
    let log = format!("{}{}{KILLED}{}", KILLED.repeat(10), GOOD.repeat(20), GOOD.repeat(69));
    let hidden = triage(&log);
    let headline = &hidden.verdict.headline;
    assert_eq!(hidden.findings[0].session, 10);
    assert!(
        headline.starts_with("ComfyUI runs well now: 48 prompts without a fault since the start in line 417."),
        "{headline}"
    );
    let told = figure(&hidden, "session");
    assert!(told.starts_with("seen in session 10 of 100; later starts with faults are only counted;"), "{told}");
    assert_eq!(
        figure(&hidden, "left-out"),
        "36 starts are only counted: killed 1 (the last one in line 248); 35 without a fault"
    );
}

#[test]
fn what_is_only_counted_speaks_against_being_ruled_out() {
    let log = format!("{}{KILLED}{}", GOOD.repeat(20), GOOD.repeat(60));
    let report = triage(&log);
    assert!(figure(&report, "left-out").contains("killed 1 (the last one in line 168)"), "{:?}", report.verdict);
    assert!(report.ruled_out.iter().all(|out| out.id != "host-oom"), "{:?}", report.ruled_out);
    let all_well = triage(&GOOD.repeat(81));
    assert!(all_well.ruled_out.iter().any(|out| out.id == "host-oom"));
}

#[test]
fn now_is_not_well_where_models_are_held() {
    let leak = "Potential memory leak detected with model Flux, doing a full garbage collect, for maximum performance avoid circular references in the model code.\nWARNING, memory leak with model Flux. Please make sure it is not being referenced from somewhere.\n";
    let leaking = format!("{GOOD}{}", format!("got prompt\n{leak}Prompt executed in 3.20 seconds\n").repeat(15));
    let report = triage(&format!("{KILLED}{leaking}"));
    assert!(!report.verdict.headline.contains("runs well now"), "{}", report.verdict.headline);
    let calm = format!("{GOOD}{}", "got prompt\nPrompt executed in 3.20 seconds\n".repeat(15));
    let report = triage(&format!("{KILLED}{calm}"));
    assert!(report.verdict.headline.contains("runs well now"), "{}", report.verdict.headline);
}
