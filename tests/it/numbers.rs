//! Numbers that are told: durations of more than ten minutes, medians, and how many models a leak holds by when.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("numbers", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("numbers", &read, &packs, &Question::default())
}

fn pass(class: &str, held: usize) -> String {
    let mut text = format!(
        "Potential memory leak detected with model {class}, doing a full garbage collect, for maximum performance avoid circular references in the model code.\n"
    );
    for _ in 0..held {
        text += &format!(
            "WARNING, memory leak with model {class}. Please make sure it is not being referenced from somewhere.\n"
        );
    }
    text
}

fn prompt(body: &str) -> String {
    format!("got prompt\n{body}Prompt executed in 4.00 seconds\n")
}

fn headline(log: &str) -> String {
    triage(log).verdict.headline
}

#[test]
fn hours_and_minutes_of_a_long_prompt_count() {
    let log = "got prompt\nPrompt executed in 55.20 seconds\ngot prompt\nPrompt executed in 01:20:31\n";
    let report = triage(log);
    let seconds: Vec<Option<f64>> = report.sessions[0].timeline.iter().map(|prompt| prompt.seconds).collect();
    assert_eq!(seconds, [Some(55.2), Some(4831.0)]);
}

#[test]
fn a_median_of_four_lies_between_the_middle_two() {
    let load = "Requested to load Flux\nloaded completely; 11350.07 MB loaded, full load: True\n";
    let log: String = [139.24, 198.49, 257.75, 317.0]
        .iter()
        .map(|seconds| format!("got prompt\n{load}Prompt executed in {seconds:.2} seconds\n"))
        .collect();
    let report = triage(&log);
    let figures = &report.findings[0].figures;
    let median = figures.iter().find(|figure| figure.name == "seconds").expect("told");
    assert_eq!(median.text, "a prompt takes 228.1 s (median)");
}

#[test]
fn a_later_pass_of_a_prompt_tells_of_growth() {
    let mut log = prompt("");
    log += &prompt(&pass("Flux", 1));
    for held in 1..4 {
        log += &prompt(&(pass("Flux", held) + &pass("Flux", held + 1)));
    }
    assert_eq!(headline(&log), "Memory leak: Flux models are never freed, one more after every prompt (4 so far).");
    let report = triage(&log);
    let curve = report.findings[0].figures.iter().find(|figure| figure.name == "held-by-prompt").expect("told");
    assert!(
        curve.text.starts_with("Leaked models after each prompt: 1 at #2, 2 at #3, 3 at #4, 4 at #5"),
        "{}",
        curve.text
    );
    let leak = &report.sessions[0].leaks["Flux"];
    assert_eq!(leak.held_last, Some(4));
}

#[test]
fn one_prompt_does_not_tell_whether_it_grows() {
    let log = prompt(&(pass("QwenImage", 3) + &pass("QwenImage", 3)));
    assert_eq!(
        headline(&log),
        "Memory leak: something still holds 3 models of class QwenImage that nothing should use. Whether the number grows cannot be told from one prompt."
    );
    let reason = &triage(&log).verdict.grade_reason;
    assert!(!reason.contains("grow"), "{reason}");
    let twice = log.clone() + &log;
    assert_eq!(
        headline(&twice),
        "Memory leak: something still holds 3 models of class QwenImage that nothing should use. The number does not grow over 2 prompts."
    );
}

#[test]
fn models_of_several_classes_are_summed_by_prompt() {
    let both = "Potential memory leak detected with model Flux, doing a full garbage collect, for maximum performance avoid circular references in the model code.\nWARNING, memory leak with model Flux. Please make sure it is not being referenced from somewhere.\nWARNING, memory leak with model T5. Please make sure it is not being referenced from somewhere.\n";
    let log = prompt(&pass("Flux", 1)) + &prompt(both);
    assert_eq!(
        headline(&log),
        "Memory leak: something still holds 2 models that nothing should use: 1 × Flux, 1 × T5. The number grew from 1 to 2."
    );
}

#[test]
fn a_copy_on_a_second_gpu_is_no_leak_of_a_node_pack() {
    let clone = "[INFO] Creating deepclone of AutoencodingEngine for cuda:1.\n";
    let report = triage(&prompt(&(clone.to_owned() + &pass("TE", 1))));
    assert!(report.verdict.headline.contains("most likely a false alarm"), "{}", report.verdict.headline);
    assert!(report.next_steps.iter().all(|step| !step.text.contains("node pack")), "{:#?}", report.next_steps);
}
