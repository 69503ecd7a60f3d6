//! What somebody who knows ComfyUI would say of a log: texts that are no failure, quotations in prose, reasons of a
//! refusal, and known bugs when the version is not told.

use comfy_triage::catalog::Packs;
use comfy_triage::diagnosis::{Finding, Grade};
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("said", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("said", &read, &packs, &Question::default())
}

fn start(version: &str) -> String {
    format!(
        "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\n{version}Starting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n"
    )
}

fn keys(count: usize) -> String {
    (0..count).map(|n| format!("lora key not loaded: lora_unet_single_blocks_{n}_linear2.lora_up.weight\n")).collect()
}

fn lines(finding: &Finding) -> Vec<u64> {
    finding.evidence.iter().map(|line| line.at.line).collect()
}

#[test]
fn a_lora_for_another_model_is_worth_a_word() {
    let log = |count| {
        format!(
            "{}got prompt\nRequested to load Flux\n{}Prompt executed in 9.00 seconds\n",
            start("ComfyUI version: 0.3.64\n"),
            keys(count)
        )
    };
    let many = triage(&log(80));
    assert_eq!(many.verdict.primary, "other-error");
    assert!(many.verdict.headline.contains("80 of its entries"), "{}", many.verdict.headline);
    assert_eq!(many.findings[0].about.as_deref(), Some("lora-ignored"));
    assert_eq!(lines(&many.findings[0]), [11]);
    assert_eq!(many.next_steps.len(), 1);
    // A few keys of a text encoder are missing in many a LoRA.
    let few = triage(&log(2));
    assert_eq!(few.verdict.primary, "no-fault");
    assert!(few.verdict.secondary.is_empty());
}

#[test]
fn a_word_does_not_go_before_a_fault() {
    let head = start("ComfyUI version: 0.3.64\n");
    let failed = "got prompt\n!!! Exception during processing !!! no such thing\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 496, in execute\n    x()\nValueError: no such thing\n\nPrompt executed in 0.50 seconds\n";
    let report = triage(&format!("{head}got prompt\n{}Prompt executed in 9.00 seconds\n{failed}", keys(80)));
    assert!(report.verdict.headline.contains("ValueError"), "{}", report.verdict.headline);
    let cut = triage(&format!("{head}got prompt\n{}Requested to load Flux\n", keys(80)));
    assert_eq!(cut.verdict.primary, "insufficient-evidence");
}

#[test]
fn refused_pins_are_told_whatever_the_version() {
    for version in ["ComfyUI version: 0.20.0\n", "ComfyUI version: 0.3.75\n", ""] {
        let log = format!(
            "{}got prompt\nRequested to load Flux\nPin error.\nPin error.\nPin error.\nPrompt executed in 9.00 seconds\n",
            start(version)
        );
        let report = triage(&log);
        assert_eq!(report.verdict.primary, "pinning-by-design", "{version}");
        assert!(report.verdict.headline.starts_with("Nothing is wrong."), "{}", report.verdict.headline);
        assert!(report.verdict.headline.contains("3 times"), "{}", report.verdict.headline);
    }
    let alone = triage("Pin error.\nPin error.\n");
    assert_eq!(alone.verdict.primary, "pinning-by-design");
    assert!(!alone.verdict.headline.starts_with("Nothing is wrong."), "{}", alone.verdict.headline);
}

#[test]
fn a_known_bug_without_a_version_is_told_as_likely_or_possible() {
    let report = "# ComfyUI Error Report\n## Error Details\n- **Node ID:** 320:283\n- **Node Type:** SamplerCustomAdvanced\n- **Exception Type:** RuntimeError\n- **Exception Message:** RuntimeError: HostBuffer.read_file_slice failed\n";
    let told = triage(report);
    assert_eq!(told.verdict.primary, "other-error");
    // The line that says what failed, not the number of the node.
    assert_eq!(lines(&told.findings[0]), [6]);
    assert!(told.next_steps.iter().any(|step| step.text.contains("--disable-pinned-memory")), "{:?}", told.next_steps);
    let decided = triage(
        "got prompt\n!!! Exception during processing !!! hostbuf_file_reader_read failed\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 496, in execute\n    x()\nRuntimeError: hostbuf_file_reader_read failed\n\nPrompt executed in 0.50 seconds\n",
    );
    assert_eq!(decided.verdict.primary, "version-bug");
    assert!(decided.verdict.headline.starts_with("Likely a known bug"), "{}", decided.verdict.headline);
}

#[test]
fn a_version_that_only_the_bug_tells_is_no_sign_of_it() {
    let failed = "got prompt\nRequested to load Flux\n!!! Exception during processing !!! HostBuffer.read_file_slice failed\nTraceback (most recent call last):\n  File \"D:\\ComfyUI\\execution.py\", line 496, in execute\n    x()\nRuntimeError: HostBuffer.read_file_slice failed\n\nPrompt executed in 0.50 seconds\n";
    let unknown = triage(failed);
    assert_eq!(unknown.verdict.primary, "other-error");
    assert!(unknown.next_steps[0].text.contains("--disable-pinned-memory"), "{:?}", unknown.next_steps);
    let printed = triage(&format!("{}{failed}", start("ComfyUI version: 0.27.0\n")));
    assert_eq!(printed.verdict.primary, "version-bug");
    assert!(printed.verdict.headline.starts_with("A known bug of this version"), "{}", printed.verdict.headline);
}

/// Lines as a window of 80 columns breaks them.
fn broken(log: &str) -> String {
    let mut out = String::new();
    for line in log.lines() {
        let letters: Vec<char> = line.chars().collect();
        for piece in letters.chunks(80) {
            out.extend(piece);
            out.push('\n');
        }
    }
    out
}

#[test]
fn lines_that_a_narrow_window_broke_are_put_together() {
    let kernel = "[  962.893011] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=user.slice,mems_allowed=0,global_oom,task_memcg=/user.slice/user-1000.slice,task=python,pid=24610,uid=1000\n[  962.893088] Out of memory: Killed process 24610 (python) total-vm:79268092kB, anon-rss:29992484kB, file-rss:55092kB, shmem-rss:0kB, UID:1000 pgtables:68000kB oom_score_adj:200\n";
    for log in [kernel.to_owned(), broken(kernel)] {
        let report = triage(&log);
        assert_eq!(report.verdict.primary, "host-oom", "{log}");
        assert_eq!(report.verdict.grade, Grade::Certain, "{log}");
    }
    let stamped: String = (0..4)
        .map(|n| format!("2026-05-26 18:17:4{n}.144 [Debug] [ComfyUI-0/STDERR] got prompt\n2026-05-26 18:17:4{n}.147 [Debug] [ComfyUI-0/STDERR] loaded completely; 28090.46 MB usable, 4843.52 MB loaded, full load: True\n2026-05-26 18:17:5{n}.148 [Debug] [ComfyUI-0/STDERR] Prompt executed in 21.96 seconds\n"))
        .collect();
    let report = triage(&broken(&stamped));
    assert_eq!(report.verdict.primary, "no-fault");
    assert_eq!(report.sessions[0].prompts.executed, 4);
    // Two lines that only stand below each other are no text.
    let apart = triage(&stamped.replace(" seconds\n", " secondhand\nseconds of something\n"));
    assert_eq!(apart.sessions[0].prompts.executed, 0);
}

#[test]
fn a_refused_prompt_shows_what_is_missing() {
    let report = triage(&format!(
        "{}got prompt\nFailed to validate prompt for output 131:\n* LoadAudio 125:\n  - Custom validation failed for node: audio - Invalid audio file: 1.ogg\n* CLIPVisionLoader 238:\n  - Value not in list: clip_name: 'clip_vision_h.safetensors' not in []\nOutput will be ignored\ninvalid prompt: {{'type': 'prompt_outputs_failed_validation', 'message': 'Prompt outputs failed validation', 'details': '', 'extra_info': {{}}}}\n",
        start("ComfyUI version: 0.3.64\n")
    ));
    assert_eq!(report.verdict.primary, "other-error");
    // The first reason decides; then where it says so, and the other one.
    assert_eq!(lines(&report.findings[0]), [14, 12, 16]);
}

#[test]
fn memory_failures_that_are_quoted_in_prose_count() {
    for (log, line) in [
        ("showing error  ( os error 1455 )\nthe paging file is too small for this operation to complete\n", 2),
        (
            "This brought a lot of \"DefaultCPUAllocator: not enough memory: you tried to allocate 37748736 bytes.\" errors. What now?\n",
            1,
        ),
    ] {
        let report = triage(log);
        assert_eq!(report.verdict.primary, "host-oom", "{log}");
        assert_eq!(lines(&report.findings[0])[0], line, "{log}");
    }
    let prose = triage("People say \"it needs more memory\" and the paging file is too small for them.\n");
    assert_eq!(prose.verdict.primary, "insufficient-evidence");
}

/// Tools that run several programs put the same text before every line.
#[test]
fn a_prefix_that_every_line_has_is_understood() {
    let log = format!(
        "{}got prompt\nRequested to load Flux\nPrompt executed in 9.00 seconds\n",
        start("ComfyUI version: 0.3.64\n")
    );
    for prefix in [
        "comfy: ",
        "<comfy> ",
        "worker|",
        "[1] ",
        "gpu01 comfy: ",
        "stdout F ",
        "\u{1b}[36mcomfyui  | \u{1b}[0m",
        "12345 | ",
        "node7\t",
    ] {
        let report = triage(&log.lines().map(|line| format!("{prefix}{line}\n")).collect::<String>());
        assert_eq!(report.verdict.primary, "no-fault", "{prefix:?}: {}", report.verdict.headline);
        let session = &report.sessions[0];
        assert_eq!((session.prompts.got, session.prompts.executed), (1, 1), "{prefix:?}");
        assert_eq!(session.loads["Flux"].requested, 1, "{prefix:?}");
        assert!(session.facts.contains_key("total_vram_mib"), "{prefix:?}: lines before it was known count as well");
    }
    // A log of two lines: both are known texts.
    let short =
        triage("comfy: x\ncomfy: got prompt\ncomfy: Requested to load Flux\ncomfy: Prompt executed in 9.00 seconds\n");
    assert_eq!(short.sessions[0].prompts.executed, 1);
}

/// What a node prints about ComfyUI's words is not ComfyUI's.
#[test]
fn words_behind_a_prefix_of_some_lines_are_no_log() {
    let plain = format!(
        "{}got prompt\nRequested to load Flux\nPrompt executed in 9.00 seconds\n",
        start("ComfyUI version: 0.3.64\n")
    );
    let captions = "caption: got prompt\ncaption: Starting server\ncaption: Requested to load Flux\ncaption: got prompt\ncaption: Prompt executed in 9.00 seconds\ncaption: got prompt\n";
    let report = triage(&plain.replacen("got prompt\n", &format!("got prompt\n{captions}"), 1));
    assert_eq!((report.sessions[0].prompts.got, report.sessions[0].prompts.executed), (1, 1));
    let prose = "I did this:\nSteps: x\nThen it says: got prompt\nand after it\nnothing\nThen it says: Requested to load Flux\nand then\nit ends\n";
    assert!(triage(prose).sessions.iter().all(|session| session.prompts.got == 0));
}

/// Prose and chats that quote an end are no log of one.
#[test]
fn an_end_that_is_only_talked_about_is_none() {
    for text in [
        "If the console says\n    Killed\nthen Linux ran out of memory.\nWith swap it goes on.\n",
        "Mira  10:42 AM\nhi all, it stops with\nSegmentation fault (core dumped)\nwhat does it mean?\n",
        "# Troubleshooting\nWhen a prompt fails, look at the end.\nKilled\nSee the kernel's log.\n",
    ] {
        assert_eq!(triage(text).verdict.primary, "insufficient-evidence", "{text}");
    }
    // The same words where something ran.
    for (text, verdict) in [
        ("some node wrote this\nand that\n 40%|████      | 8/20 [00:02<00:03,  3.61it/s]\nKilled\n", "host-oom"),
        ("hi\nhere it is:\nmy lines\nrun.sh: line 2:  3146 Killed                  python main.py\n", "host-oom"),
        ("Killed\n", "host-oom"),
    ] {
        assert_eq!(triage(text).verdict.primary, verdict, "{text}");
    }
}

/// Windows of any width break names and texts; no verdict changes by it, and no name is cut.
#[test]
fn a_narrow_window_changes_no_verdict() {
    let stamped = |text: &str| format!("[2025-02-17 03:10:37.015] {text}\n");
    let row = "   0.0 seconds (IMPORT FAILED): /data/packages/ComfyUI/custom_nodes/ComfyUI-Interactive-Painter-Nodes";
    let log = [
        stamped("Total VRAM 24564 MB, total RAM 64226 MB"),
        stamped("ComfyUI version: 0.3.64"),
        "Import times for custom nodes:\n".to_owned(),
        format!("{row}\n"),
        "   0.1 seconds: /data/packages/ComfyUI/custom_nodes/websocket_image_save.py\n\n".to_owned(),
        stamped("got prompt"),
        stamped("CLIP/text encoder model load device: cuda:0, offload device: cpu, current: cpu, dtype: torch.float16"),
        stamped("Requested to load Flux"),
        stamped("Prompt executed in 9.00 seconds"),
    ]
    .concat();
    for width in 40..130 {
        let folded: String = log
            .lines()
            .flat_map(|line| match line.as_bytes() {
                [] => vec![String::new()],
                bytes => bytes.chunks(width).map(|piece| String::from_utf8_lossy(piece).into_owned()).collect(),
            })
            .map(|line| line + "\n")
            .collect();
        let report = triage(&folded);
        let session = &report.sessions[0];
        let failed: Vec<&str> =
            session.custom_nodes.iter().filter(|node| node.failed).map(|node| node.dir.as_str()).collect();
        assert_eq!(failed, ["ComfyUI-Interactive-Painter-Nodes"], "{width}\n{folded}");
        assert_eq!(report.verdict.primary, "import-failure", "{width}\n{folded}");
        assert_eq!((session.prompts.got, session.prompts.executed), (1, 1), "{width}\n{folded}");
    }
}

/// Zeros that a crash or a copy left inside words.
#[test]
fn zeros_inside_a_name_hide_nothing() {
    let report = triage("got prompt\nRequested to load Fl\0ux\nProm\0pt executed in 9.00 seconds\n");
    assert_eq!(report.sessions[0].loads["Flux"].requested, 1);
    assert_eq!(report.verdict.primary, "no-fault");
}
