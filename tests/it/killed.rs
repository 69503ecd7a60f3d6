//! A kill that the kernel did not count: is it for memory at all?

use comfy_triage::catalog::Packs;
use comfy_triage::diagnosis::Grade;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nComfyUI version: 0.3.64\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\ngot prompt\nPrompt executed in 3.20 seconds\ngot prompt\nRequested to load Flux\n";
const NOT_RISEN: &str = "comfy-triage run: oom_kill counters did not rise\n";
const END: &str = "comfy-triage run: ended by signal 9, exit code 137\n";

fn memory(available: u64, swap_used: u64, swap: u64) -> String {
    format!(
        "comfy-triage run: last memory reading, 0.6 s before the end: MemAvailable {available} of 65367 MiB, swap {swap_used} of {swap} MiB used\n"
    )
}

fn triage(tail: &str, zh: bool) -> Report {
    let packs = Packs::built_in();
    let log = format!("{START}{tail}");
    let source = Source::from_reader("log", std::io::Cursor::new(log.into_bytes())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question { zh, ..Question::default() })
}

#[test]
fn with_ram_to_spare_it_is_no_lack_of_ram() {
    for (swap_used, swap, told) in [(0, 0, "no swap"), (512, 8192, "swap 512.0 MiB of 8.00 GiB used")] {
        let tail = format!("{}{NOT_RISEN}{END}", memory(40960, swap_used, swap));
        let report = triage(&tail, false);
        assert_eq!(report.verdict.primary, "insufficient-evidence", "{}", report.verdict.headline);
        let headline = &report.verdict.headline;
        assert!(headline.contains("not for lack of RAM") && headline.contains("40.00 GiB of 63.83 GiB"), "{headline}");
        let out = report.ruled_out.iter().find(|item| item.id == "host-oom").expect("ruled out");
        assert!(out.reason.contains("did not rise") && out.reason.contains(told), "{}", out.reason);
        // Counter, reading and kill are shown with their lines.
        let lines: Vec<u64> = report.findings[0].evidence.iter().map(|line| line.at.line).collect();
        assert_eq!(lines, [15, 14, 13]);
        assert!(report.next_steps[0].text.contains("kill -9"), "{:?}", report.next_steps);
        assert!(triage(&tail, true).verdict.headline.contains("不是因为内存不足"));
    }
}

#[test]
fn with_next_to_none_a_daemon_is_likely() {
    let report = triage(&format!("{}{NOT_RISEN}{END}", memory(900, 8000, 8192)), false);
    assert_eq!((report.verdict.primary.as_str(), report.verdict.grade), ("host-oom", Grade::Moderate));
    assert!(report.verdict.headline.contains("not by the kernel"), "{}", report.verdict.headline);
    // Swap that is still free keeps such a daemon quiet.
    let swap = triage(&format!("{}{NOT_RISEN}{END}", memory(900, 0, 16384)), false);
    assert_eq!(swap.verdict.primary, "insufficient-evidence");
}

#[test]
fn without_a_reading_only_the_kernel_is_ruled_out() {
    let report = triage(&format!("{NOT_RISEN}{END}"), false);
    assert_eq!(report.verdict.primary, "insufficient-evidence");
    assert!(report.verdict.headline.contains("not by the kernel"), "{}", report.verdict.headline);
    assert!(report.ruled_out.iter().all(|item| item.id != "host-oom"));
    // A daemon's own line says more than a counter.
    let daemon = "comfyui.service: systemd-oomd killed 12 process(es) in this unit.\n";
    let named = triage(&format!("{daemon}{NOT_RISEN}{END}"), false);
    assert_eq!(named.verdict.primary, "host-oom", "{}", named.verdict.headline);
    // Nobody could count: as before.
    let unknown = triage(&format!("comfy-triage run: no oom_kill counter to be read\n{END}"), false);
    assert_eq!(unknown.verdict.primary, "host-oom");
}
