//! Slowness: equal work compared, waits before the first step, silences, and flags that do nothing.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "C:\\ComfyUI_windows_portable>.\\python_embeded\\python.exe -s ComfyUI\\main.py --windows-standalone-build --lowvram\nTotal VRAM 12282 MB, total RAM 32461 MB\npytorch version: 2.9.1+cu130\nSet vram state to: LOW_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4070 : cudaMallocAsync\nDynamicVRAM support detected and enabled\nComfyUI version: 0.31.0\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";

fn triage(log: &str, asked: bool) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    let asked = if asked { vec!["slow".to_owned()] } else { Vec::new() };
    answer("log", &read, &packs, &Question { asked, ..Question::default() })
}

fn prompt(steps: u64, bar: &str, seconds: &str) -> String {
    format!("got prompt\n100%|██████████| {steps}/{steps} {bar}\nPrompt executed in {seconds} seconds\n")
}

#[test]
fn equal_work_in_unequal_time_is_told_unasked_in_one_unit() {
    let fast = prompt(30, "[00:07<00:00,  3.95it/s]", "11.40");
    let slow = prompt(30, "[00:33<00:00,  1.13s/it]", "35.70");
    let report = triage(&format!("{START}{fast}{slow}"), false);
    assert_eq!(report.verdict.primary, "insufficient-evidence");
    assert!(
        report.verdict.headline.starts_with(
            "Prompt 2 was 4.5 times slower per step than prompt 1 at the same 30 steps: 1.13 s in place of 0.25 s"
        ),
        "{}",
        report.verdict.headline
    );
    let other_work = prompt(60, "[00:33<00:00,  1.13s/it]", "35.70");
    assert_eq!(triage(&format!("{START}{fast}{other_work}"), false).verdict.primary, "no-fault");
    assert_eq!(triage(&format!("{START}{slow}{fast}"), false).verdict.primary, "no-fault", "a first run loads");
}

#[test]
fn a_wait_before_the_first_step_is_not_the_speed_of_a_step() {
    let log = "got prompt\nRequested to load LTXAV\nModel LTXAV prepared for dynamic VRAM loading. 40050MB Staged. 1660 patches attached.\n  0%|          | 0/6 [00:00<?, ?it/s]\n  0%|          | 0/6 [05:36<?, ?it/s,  Model Initialization complete!  ]\n 17%|█▋        | 1/6 [05:50<29:10, 350.1s/it]\n";
    let report = triage(log, true);
    assert!(report.verdict.headline.starts_with("5 min 36 s (336 s) passed before the first of 6 steps, while LTXAV"));
    assert_eq!(report.ending.text, "stops in the middle of a prompt (last line 6)");
}

#[test]
fn a_silence_is_told_with_the_lines_around_it() {
    let log = "[2026-03-03 12:51:31.802] got prompt\n[2026-03-03 12:51:37.345] Requested to load WanVAE\n[2026-03-03 12:51:38.697] loaded completely; 17722.62 MB usable, 242.03 MB loaded, full load: True\n[2026-03-03 13:04:05.276] Requested to load WAN21\n[2026-03-03 13:04:15.347] loaded completely; 15459.76 MB usable, 13631.42 MB loaded, full load: True\n100%|██████████| 4/4 [00:52<00:00, 13.05s/it]\n[2026-03-03 13:05:09.911] Prompt executed in 818.00 seconds\n";
    let report = triage(log, true);
    assert!(
        report.verdict.headline.starts_with(
            "12 min 27 s (747 s) of a prompt passed between lines 3 and 4 without a word, after WanVAE was loaded"
        ),
        "{}",
        report.verdict.headline
    );
    let lines: Vec<u64> = report.findings[0].evidence.iter().map(|line| line.at.line).collect();
    assert_eq!(lines, [3, 4]);
}

#[test]
fn a_flag_that_does_nothing_is_told_beside_any_answer() {
    let run = prompt(20, "[00:20<00:00,  1.00s/it]", "36.08");
    let report = triage(&format!("{START}{run}{run}"), false);
    let told = report.findings[0].figures.iter().find(|figure| figure.name == "flag").expect("told");
    assert_eq!(told.text, "--lowvram has no effect here: dynamic VRAM is on (line 6).");
    assert_eq!(told.lines, [1]);
}

#[test]
fn black_pictures_are_a_finding_with_the_attention_package_first() {
    let nan = "/srv/ComfyUI/custom_nodes/comfyui-videohelpersuite/nodes.py:130: RuntimeWarning: invalid value encountered in cast\n";
    let run = format!("got prompt\n{nan}Prompt executed in 61.00 seconds\n");
    let report = triage(&format!("{START}{run}"), false);
    assert_eq!(report.verdict.primary, "other-error");
    assert!(report.verdict.headline.contains("The picture holds NaN"));
    assert!(report.next_steps[0].text.contains("--fp32-vae"));
    let sage = START.replace("ComfyUI version", "Using sage attention\nComfyUI version");
    let report = triage(&format!("{sage}{run}"), false);
    assert!(report.next_steps[0].text.starts_with("Start once without SageAttention"), "{}", report.next_steps[0].text);
}

/// Nobody waits for a prompt that was not yet received.
#[test]
fn the_time_between_two_prompts_is_no_wait() {
    let log = "2026-05-17 20:11:08,944 - root - INFO - got prompt\n2026-05-17 20:12:07,516 - root - INFO - Prompt executed in 58.46 seconds\n2026-05-18 17:30:26,867 - root - INFO - got prompt\n2026-05-18 17:31:36,867 - root - INFO - Prompt executed in 70.00 seconds\n";
    let packs = comfy_triage::catalog::Packs::built_in();
    let source =
        comfy_triage::input::Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).unwrap();
    let read = comfy_triage::report::read_log(source, &packs, &comfy_triage::input::ReadOptions::default()).unwrap();
    let waits: Vec<f64> = read.timeline.sessions[0].silences.iter().map(|silence| silence.seconds.round()).collect();
    assert_eq!(waits, [70.0, 59.0]);
}
