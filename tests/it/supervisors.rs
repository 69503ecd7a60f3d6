//! Ends that a supervisor brings about: an order to stop, a probe without an answer, a kill that is not for memory; and
//! words of an end that belong to an exception's message.

use comfy_triage::catalog::Packs;
use comfy_triage::diagnosis::Grade;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

/// Nine lines.
const START: &str = "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nPython version: 3.12.3 (main, Aug 14 2025, 17:47:21) [GCC 13.3.0]\nComfyUI version: 0.3.64\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const GOOD: &str = "got prompt\nPrompt executed in 3.20 seconds\n";
/// A prompt that nobody ends; three lines.
const OPEN: &str =
    "got prompt\nRequested to load Flux\nloaded completely; 9000.00 MB usable, 11340.00 MB loaded, full load: True\n";
/// What ffmpeg's end left in an exception; nine lines.
const QUOTED: &str = "!!! Exception during processing !!! ffmpeg failed:\nKilled\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 361, in execute\n    x()\n  File \"/opt/ComfyUI/custom_nodes/ComfyUI-VideoHelperSuite/videohelpersuite/nodes.py\", line 100, in combine\n    raise Exception(res)\nException: ffmpeg failed:\nKilled\n\n";

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

fn primary(report: &Report) -> (&str, Grade) {
    (report.verdict.primary.as_str(), report.verdict.grade)
}

fn lines(report: &Report) -> Vec<u64> {
    report.findings[0].evidence.iter().map(|line| line.at.line).collect()
}

#[test]
fn a_kill_within_an_exceptions_message_is_no_end() {
    for tail in ["", "got prompt\nRequested to load Flux\n", "Stopped server\n", "Prompt executed in 3.00 seconds\n"] {
        let report = triage(&format!("{START}got prompt\n{QUOTED}{tail}"));
        assert_eq!(primary(&report), ("custom-node", Grade::Strong), "{tail}{}", report.verdict.headline);
        assert_ne!(report.ending.kind, "killed", "{tail}");
    }
    let other = QUOTED.replace("Killed", "Segmentation fault (core dumped)");
    let report = triage(&format!("{START}got prompt\n{other}Stopped server\n"));
    assert_eq!((report.verdict.primary.as_str(), report.ending.kind.as_str()), ("custom-node", "clean-stop"));
}

#[test]
fn a_kill_behind_such_a_message_is_one() {
    // The message had it twice; the third is the shell's.
    let report = triage(&format!("{START}got prompt\n{QUOTED}Killed\n"));
    assert_eq!((report.ending.kind.as_str(), report.ending.at.as_ref().map(|at| at.line)), ("killed", Some(21)));
    let report = triage(&format!("{START}got prompt\n{QUOTED}{OPEN}Killed\n"));
    assert_eq!(primary(&report), ("host-oom", Grade::Moderate));
    assert_eq!(report.ending.at.as_ref().map(|at| at.line), Some(24));
    // Nothing that ComfyUI says follows an announcement that was its last word.
    let report = triage(&format!("{START}got prompt\n!!! Exception during processing !!! x\nKilled\n"));
    assert_eq!(report.ending.kind, "killed");
}

#[test]
fn who_takes_prompts_or_says_that_it_stops_was_not_killed() {
    for tail in ["got prompt\n", "\nStopped server\n"] {
        let report = triage(&format!("{START}{GOOD}{OPEN}Killed\n{tail}"));
        assert_ne!(report.verdict.primary, "host-oom", "{tail}");
        assert_ne!(report.ending.kind, "killed", "{tail}");
    }
    // A script that starts it again is no proof of life, and the first texts of a start are a start.
    let report = triage(&format!("{START}{GOOD}{OPEN}Killed\nRestarting...\n"));
    assert_eq!(primary(&report), ("host-oom", Grade::Moderate));
    let report = triage(&format!("{START}{OPEN}Killed\nTotal VRAM 24564 MB, total RAM 65367 MB\n{GOOD}"));
    assert_eq!((primary(&report), report.sessions.len()), (("host-oom", Grade::Moderate), 2));
}

#[test]
fn a_kill_after_an_order_to_stop_is_no_lack_of_memory() {
    for (order, kill) in [
        (
            "comfyui.service: State 'stop-sigterm' timed out. Killing.\n",
            "comfyui.service: Main process exited, code=killed, status=9/KILL\ncomfyui.service: Failed with result 'timeout'.\n",
        ),
        ("Gracefully stopping... (press Ctrl+C again to force)\n", "comfyui exited with code 137\n"),
        (
            "slurmstepd: error: *** JOB 123 ON gpu01 CANCELLED AT 2025-06-01T12:00:00 DUE TO TIME LIMIT ***\n",
            "exit code 137\n",
        ),
        ("Container comfyui  Stopping\n", "comfyui exited with code 137\n"),
        ("Stopping comfyui_comfy_1 ...\n", "comfyui exited with code 137\n"),
        ("Normal   Killing    2m  kubelet  Stopping container comfy\n", "Exit Code:    137\n"),
        ("2m10s  Normal  Killing  pod/comfy-5d  Stopping container comfy\n", "exit code 137\n"),
    ] {
        let report = triage(&format!("{START}{OPEN}{order}{kill}"));
        assert_eq!(primary(&report), ("insufficient-evidence", Grade::Moderate), "{order}{}", report.verdict.headline);
        assert!(report.verdict.headline.contains("on purpose"), "{order}{}", report.verdict.headline);
        assert_eq!(lines(&report), [13, 14], "{order}");
        assert!(report.next_steps.is_empty(), "{order}{:?}", report.next_steps);
        // Where prompts ran before, it was well; with one in flight or without.
        for last in ["", OPEN] {
            let ran = triage(&format!("{START}{GOOD}{last}{order}{kill}"));
            assert_eq!(primary(&ran), ("no-fault", Grade::Strong), "{order}{}", ran.verdict.headline);
        }
        // An order for another service, and a kill before any order.
        let before = triage(&format!("{START}{GOOD}{OPEN}comfyui exited with code 137\n{order}"));
        assert_eq!(before.verdict.primary, "host-oom", "{order}");
    }
    let other = "Container db-1  Stopping\n";
    let report = triage(&format!("{START}{GOOD}{OPEN}{other}comfyui exited with code 137\n"));
    assert_eq!(report.verdict.primary, "host-oom");
    // systemd's result alone explains what stands before it.
    let result = "comfyui.service: Main process exited, code=killed, status=9/KILL\ncomfyui.service: Failed with result 'timeout'.\n";
    assert_eq!(triage(&format!("{START}{OPEN}{result}")).verdict.primary, "insufficient-evidence");
    // What the kernel says counts more than any order.
    let kernel = "Out of memory: Killed process 24610 (python) total-vm:79268092kB, anon-rss:29992484kB, file-rss:55092kB, shmem-rss:0kB, UID:1000 pgtables:69632kB oom_score_adj:200\n";
    let report = triage(&format!("{START}{GOOD}{OPEN}Stopping comfyui.service - ComfyUI...\n{kernel}"));
    assert_eq!(primary(&report), ("host-oom", Grade::Certain));
}

#[test]
fn who_stops_a_service_is_named() {
    let tail =
        "Stopping ComfyUI...\ncomfyui.service: Main process exited, code=killed, status=15/TERM\nStopped ComfyUI.\n";
    let report = triage(&format!("{START}{OPEN}{tail}"));
    assert!(report.verdict.headline.contains("on purpose"), "{}", report.verdict.headline);
    assert_eq!(lines(&report), [13]);
    let other = "Stopping nginx.service - A web server...\n";
    assert!(!triage(&format!("{START}{OPEN}{other}")).verdict.headline.contains("on purpose"));
}

#[test]
fn what_did_not_answer_is_no_crash() {
    let watchdog = "comfyui.service: Watchdog timeout (limit 30s)!\ncomfyui.service: Killing process 812 (python) with signal SIGABRT.\ncomfyui.service: Main process exited, code=dumped, status=6/ABRT\ncomfyui.service: Failed with result 'watchdog'.\n";
    let report = triage(&format!("{START}{GOOD}{OPEN}{watchdog}"));
    assert_eq!((primary(&report), lines(&report)), (("other-error", Grade::Strong), vec![15, 17]));
    assert!(report.verdict.headline.contains("WatchdogSec"), "{}", report.verdict.headline);
    assert!(report.next_steps.iter().all(|step| !step.text.contains("driver")), "{:?}", report.next_steps);
    assert_eq!(report.ending.kind, "given-up");

    for event in [
        "Normal   Killing    2m  kubelet  Container comfy failed liveness probe, will be restarted\n",
        "2m10s  Normal  Killing  pod/comfy-5d  Container comfy failed liveness probe, will be restarted\n",
    ] {
        for tail in [String::new(), format!("exit code 137\n{START}")] {
            let report = triage(&format!("{START}{GOOD}{OPEN}{event}{tail}"));
            assert_eq!(primary(&report), ("other-error", Grade::Strong), "{event}{tail}{}", report.verdict.headline);
            assert_eq!(lines(&report)[0], 15);
            assert!(report.next_steps[0].text.contains("timeoutSeconds"), "{:?}", report.next_steps);
        }
    }
}

#[test]
fn evictions_and_jobs_tell_memory() {
    let low = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container comfy was using 30Gi, request is 0\n";
    for before in ["", "Warning  Evicted  2m  kubelet  ", "2m10s  Warning  Evicted  pod/comfy-5d  ", "Message:   "] {
        let report = triage(&format!("{START}{GOOD}{OPEN}{before}{low}"));
        assert_eq!(primary(&report), ("host-oom", Grade::Strong), "{before}{}", report.verdict.headline);
        assert_eq!(lines(&report)[0], 15);
    }
    let disk = "Warning  Evicted  2m  kubelet  The node was low on resource: ephemeral-storage. Container comfy was using 30Gi, request is 0\n";
    assert_eq!(triage(&format!("{START}{GOOD}{OPEN}{disk}")).verdict.primary, "insufficient-evidence");
    for job in [
        "slurmstepd: error: Detected 1 oom_kill event in StepId=123.batch. Some of the step tasks have been OOM Killed.\n",
        "slurmstepd: error: Detected 1 oom-kill event(s) in step 123.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.\n",
    ] {
        let report = triage(&format!("{START}{GOOD}{OPEN}{job}"));
        assert_eq!(primary(&report), ("container-limit", Grade::Certain), "{job}{}", report.verdict.headline);
    }
    let row = triage(&format!("{START}{GOOD}{OPEN}comfy   Exited (137) 2 minutes ago\n"));
    assert_eq!(primary(&row), ("host-oom", Grade::Moderate));
}

#[test]
fn a_kill_that_was_not_for_memory_asks_for_no_memory() {
    let report = triage(&format!("{START}{GOOD}{OPEN}\"OOMKilled\": false,\n\"ExitCode\": 137,\n"));
    assert_eq!(primary(&report), ("insufficient-evidence", Grade::Moderate), "{}", report.verdict.headline);
    assert!(report.verdict.headline.contains("not for memory"), "{}", report.verdict.headline);
    assert_eq!((lines(&report), report.ending.kind.as_str()), (vec![15, 16], "killed"));
    assert!(report.next_steps.iter().all(|step| !step.text.contains("RAM")), "{:?}", report.next_steps);
    let report = triage(&format!("{START}{GOOD}{OPEN}\"OOMKilled\": true,\n\"ExitCode\": 137,\n"));
    assert_eq!(report.verdict.primary, "container-limit");
}

#[test]
fn another_programs_death_for_memory_is_told() {
    let chrome = "Out of memory: Killed process 4100 (chrome) total-vm:33904764kB, anon-rss:2048000kB, file-rss:0kB, shmem-rss:0kB\n";
    let report = triage(&format!("{START}got prompt\n{chrome}Prompt executed in 3.00 seconds\n"));
    assert_eq!(primary(&report), ("no-fault", Grade::Strong));
    let figure = report.findings[0].figures.iter().find(|figure| figure.name == "other-killed").expect("is told");
    assert!(figure.text.contains("(chrome)") && figure.lines == [11], "{figure:?}");
    assert!(report.ruled_out.iter().all(|out| out.id != "host-oom"), "{:?}", report.ruled_out);
    assert!(triage(&format!("{START}{GOOD}")).ruled_out.iter().any(|out| out.id == "host-oom"));
}

#[test]
fn crashes_are_known_in_other_languages() {
    for text in [
        "Abgebrochen (Speicherabzug geschrieben)",
        "Abandon (core dumped)",
        "Abortado (`core' generado)",
        "Аварийный останов (образ памяти сброшен на диск)",
        "中止 (コアダンプ)",
        "Segmentation fault (コアダンプ)",
        "Bus-Zugriffsfehler (Speicherabzug geschrieben)",
        "Bus-Zugriffsfehler",
        "已放弃（核心已转储）",
    ] {
        let report = triage(&format!("{START}{GOOD}{OPEN}{text}\n"));
        assert_eq!(
            (primary(&report), report.ending.kind.as_str()),
            (("other-error", Grade::Strong), "native-crash"),
            "{text}"
        );
    }
    assert_ne!(triage(&format!("{START}{GOOD}{OPEN}Abgebrochen\n")).ending.kind, "native-crash");
}
