//! For each verdict one small log that supports it, and a near one that must not give it.
//!
//! Long: one subject, case by case.

use comfy_triage::catalog::Packs;
use comfy_triage::diagnosis::Grade;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nPython version: 3.12.3 (main, Aug 14 2025, 17:47:21) [GCC 13.3.0]\nComfyUI version: 0.3.64\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const POTENTIAL: &str = "Potential memory leak detected with model Flux, doing a full garbage collect, for maximum performance avoid circular references in the model code.\n";
const WARNING: &str =
    "WARNING, memory leak with model Flux. Please make sure it is not being referenced from somewhere.\n";

fn triage(log: &str) -> Report {
    ask(log, &[], None)
}

fn ask(log: &str, asked: &[&str], limit: Option<f64>) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("near", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    let asked = asked.iter().map(|word| (*word).to_owned()).collect();
    answer("near", &read, &packs, &Question { asked, memory_limit_mib: limit, ..Question::default() })
}

fn good_prompt(loads: &str) -> String {
    format!("got prompt\n{loads}Prompt executed in 3.20 seconds\n")
}

fn prompts(count: usize, loads: &str) -> String {
    good_prompt(loads).repeat(count)
}

fn failed(message: &str, frames: &str, last: &str) -> String {
    format!(
        "got prompt\n!!! Exception during processing !!! {message}\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 496, in execute\n    output_data = get_output_data()\n{frames}{last}: {message}\n\nPrompt executed in 0.50 seconds\n"
    )
}

fn frame(path: &str) -> String {
    format!("  File \"/opt/ComfyUI/{path}\", line 12, in run\n    return work()\n")
}

#[track_caller]
fn is(log: &str, verdict: &str) {
    let report = triage(log);
    assert_eq!(report.verdict.primary, verdict, "{}\n{log}", report.verdict.headline);
}

#[track_caller]
fn is_not(log: &str, verdict: &str) {
    let report = triage(log);
    assert_ne!(report.verdict.primary, verdict, "{}\n{log}", report.verdict.headline);
    assert!(
        !report.verdict.secondary.iter().any(|id| id == verdict),
        "secondary {:?}\n{log}",
        report.verdict.secondary
    );
}

#[test]
fn leak_confirmed() {
    let leaking = format!(
        "{START}{}{}",
        good_prompt("Requested to load Flux\nloaded completely 20000.0 11350.07 True\n"),
        prompts(3, &format!("{POTENTIAL}{WARNING}"))
    );
    is(&leaking, "leak-confirmed");
    let cycle = leaking.replace(WARNING, "");
    is_not(&cycle, "leak-confirmed");
    let fork = leaking.replace(POTENTIAL, "").replace(WARNING, "Memory Leak with model ControlNet !\n");
    is_not(&fork, "leak-confirmed");
}

#[test]
fn one_stuck_model_is_one_however_many_lines_repeat_it() {
    let log = format!(
        "{START}{}{}",
        good_prompt("Requested to load Flux\nloaded completely 20000.0 11350.07 True\n"),
        prompts(20, &format!("{POTENTIAL}{WARNING}{POTENTIAL}{WARNING}"))
    );
    let report = triage(&log);
    let leak = &report.sessions[0].leaks["Flux"];
    assert_eq!((leak.potential, leak.warning), (40, 40));
    assert_eq!((leak.held_first, leak.held_last, leak.held_max), (Some(1), Some(1), Some(1)));
    assert!(report.verdict.headline.contains("1 model of class Flux"), "{}", report.verdict.headline);
}

#[test]
fn models_that_were_released_are_told_as_released() {
    let log = format!(
        "{START}{}{}{}",
        good_prompt("Requested to load Flux\n"),
        prompts(2, &format!("{POTENTIAL}{WARNING}")),
        prompts(5, "")
    );
    let report = triage(&log);
    let leak = &report.sessions[0].leaks["Flux"];
    assert_eq!(leak.held_last, Some(0));
    assert!(leak.released_at.is_some());
    assert_ne!(report.verdict.primary, "leak-confirmed");
}

#[test]
fn a_clean_pass_without_a_warning_has_released_all() {
    let log = format!(
        "{START}{}{}{}{}",
        good_prompt("Requested to load Flux\n"),
        prompts(2, &format!("{POTENTIAL}{WARNING}Requested to load Flux\n")),
        good_prompt(&format!("{POTENTIAL}Requested to load Flux\n")),
        prompts(2, "")
    );
    let report = triage(&log);
    let leak = &report.sessions[0].leaks["Flux"];
    assert_eq!((leak.held_last, leak.held_max), (Some(0), Some(1)));
    let line = leak.released_at.as_ref().expect("released").line;
    assert!(log.lines().nth(line as usize - 1).is_some_and(|text| text.starts_with("Potential")), "{line}");
    assert_ne!(report.verdict.primary, "leak-confirmed", "{}", report.verdict.headline);
}

#[test]
fn a_log_that_ends_within_a_clean_pass_does_not_take_back_what_is_held() {
    let held = |warnings: usize| format!("{POTENTIAL}{}Requested to load Flux\n", WARNING.repeat(warnings));
    let log = format!("{START}{}{}{}", good_prompt(&held(1)), good_prompt(&held(2)), good_prompt(&held(3)));
    for (last, now) in [(0, 3), (1, 3), (3, 3), (4, 4)] {
        let report = triage(&format!("{log}got prompt\n{POTENTIAL}{}", WARNING.repeat(last)));
        assert_eq!(report.sessions[0].leaks["Flux"].held_last, Some(now), "{last}");
        let models = format!("({now} so far");
        assert!(report.verdict.headline.contains(&models), "{last}: {}", report.verdict.headline);
    }
}

#[test]
fn held_and_let_go_in_turn_is_no_growth() {
    let log = format!(
        "{START}{}{}",
        format!("{}{}", good_prompt(&format!("{POTENTIAL}{WARNING}")), good_prompt("")).repeat(4),
        good_prompt(&format!("{POTENTIAL}{WARNING}")),
    );
    let report = triage(&log);
    assert_eq!(report.verdict.primary, "leak-confirmed");
    assert!(report.verdict.headline.contains("does not grow"), "{}", report.verdict.headline);
}

#[test]
fn hidden_info_lines_leave_the_number_open() {
    let log = format!("{}{}", "Prompt executed in 1.00 seconds\n".repeat(2), WARNING.repeat(14));
    let report = triage(&log);
    assert_eq!(report.sessions[0].leaks["Flux"].held_max, None);
    assert_eq!(report.verdict.primary, "leak-confirmed");
    assert!(!report.verdict.headline.contains("14"), "{}", report.verdict.headline);
}

#[test]
fn cycle_collected() {
    is(&format!("{START}{}{}", good_prompt("Requested to load Flux\n"), prompts(4, POTENTIAL)), "cycle-collected");
    is_not(&format!("{START}{}", prompts(4, "")), "cycle-collected");
}

#[test]
fn custom_node() {
    let theirs = failed("'scale'", &frame("custom_nodes/ComfyUI-WarpLint/nodes.py"), "KeyError");
    is(&format!("{START}{theirs}"), "custom-node");
    let ours = failed("'scale'", &frame("comfy/sd.py"), "KeyError");
    is_not(&format!("{START}{ours}"), "custom-node");
    is(&format!("{START}{ours}"), "other-error");
}

#[test]
fn version_bug() {
    let text = failed("hostbuf_file_reader_read failed", &frame("comfy/ops.py"), "RuntimeError");
    let log = |version: &str| format!("{}{text}", START.replace("0.3.64", version));
    is(&log("0.23.0"), "version-bug");
    is_not(&log("0.30.0"), "version-bug");
    is_not(&format!("{}{}", START.replace("0.3.64", "0.23.0"), prompts(3, "")), "version-bug");
}

#[test]
fn by_design_only_when_asked() {
    let log = format!("{START}{}", prompts(3, ""));
    is(&log, "no-fault");
    assert_eq!(ask(&log, &["ram-high"], None).verdict.primary, "caching-by-design");
    let leaking = format!("{log}{}", prompts(2, &format!("{POTENTIAL}{WARNING}")));
    assert_eq!(ask(&leaking, &["ram-high"], None).verdict.primary, "leak-confirmed");
}

#[test]
fn pinning_by_design() {
    let pinned =
        START.replace("0.3.64", "0.8.0").replace("Python version", "Enabled pinned memory 62098.0\nPython version");
    let log = format!("{pinned}{}", prompts(3, ""));
    let report = ask(&log, &["ram-high"], None);
    assert_eq!(report.verdict.primary, "pinning-by-design");
    let figure = report.findings[0].figures.iter().find(|figure| figure.name == "pinned-ceiling").expect("the formula");
    assert!(figure.text.contains("0.95"), "{}", figure.text);
    assert_ne!(ask(&log, &["vram-high"], None).verdict.primary, "pinning-by-design");
    is(&log, "no-fault");
}

#[test]
fn user_residency() {
    let log = format!("python main.py --highvram\n{}{}", START.replace("NORMAL_VRAM", "HIGH_VRAM"), prompts(2, ""));
    assert_eq!(ask(&log, &["vram-high"], None).verdict.primary, "user-residency");
    is(&log, "no-fault");
    let plain = format!("python main.py --listen\n{START}{}", prompts(2, ""));
    assert_ne!(ask(&plain, &["vram-high"], None).verdict.primary, "user-residency");
}

#[test]
fn gpu_oom() {
    let message = "CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0 has a total capacity of 11.99 GiB of which 2.31 GiB is free. Including non-PyTorch memory, this process has 9.22 GiB memory in use. Of the allocated memory 8.41 GiB is allocated by PyTorch, and 612.00 MiB is reserved by PyTorch but unallocated.";
    let oom = failed(message, &frame("nodes.py"), "torch.OutOfMemoryError");
    is(&format!("{START}{oom}"), "gpu-oom");
    let saved = "Warning: Ran out of memory when regular VAE decoding, retrying with tiled VAE decoding.\n";
    is_not(&format!("{START}{}", prompts(2, saved)), "gpu-oom");
    let report = triage(&format!("{START}{oom}"));
    let record = &report.sessions[0].ooms[0];
    assert_eq!(record.requested, Some(9.0 * 1024.0 * 1024.0 * 1024.0));
    assert_eq!(record.texts["reserved_unallocated"], "612.00 MiB");
    assert_eq!(report.sessions[0].ooms.len(), 1, "two lines tell of one OOM");
}

#[test]
fn the_part_that_decided() {
    let part = |message: &str, loads: &str| {
        let oom = failed(message, &frame("nodes.py"), "torch.OutOfMemoryError")
            .replace("got prompt\n", &format!("got prompt\n{loads}"));
        triage(&format!("{START}{oom}")).sessions[0].ooms[0].deciding_part.clone()
    };
    let native = |requested: &str, free: &str, others: &str, allocated: &str, reserved: &str| {
        format!(
            "CUDA out of memory. Tried to allocate {requested}. GPU 0 has a total capacity of 23.99 GiB of which {free} is free. {others}Of the allocated memory {allocated} is allocated by PyTorch, and {reserved} is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
        )
    };
    assert_eq!(part(&native("66.10 GiB", "10.68 GiB", "", "12.00 GiB", "300.00 MiB"), ""), "activations");
    assert_eq!(part(&native("500.00 MiB", "100.00 MiB", "", "20.00 GiB", "2.00 GiB"), ""), "fragmentation");
    let others = "Process 4242 has 14.10 GiB memory in use. Including non-PyTorch memory, this process has 9.50 GiB memory in use. ";
    assert_eq!(part(&native("500.00 MiB", "100.00 MiB", others, "9.00 GiB", "20.00 MiB"), ""), "others");
    let small = "Requested to load SDXL\nloaded completely 9.5367431640625e+25 4800.0 True\n";
    // What lies outside PyTorch is the largest part: not the weights, however little else PyTorch holds.
    assert_eq!(part(&native("500.00 MiB", "20.00 MiB", "", "4.85 GiB", "0 bytes"), small), "context");
    assert_eq!(part(&native("5.00 GiB", "20.00 MiB", "", "4.85 GiB", "0 bytes"), small), "context");
    let own = "Including non-PyTorch memory, this process has 23.00 GiB memory in use. ";
    assert_eq!(part(&native("1.00 GiB", "20.00 MiB", own, "4.80 GiB", "100.00 MiB"), small), "context");
    let weights = "Requested to load Flux\nloaded completely 23000.0 22200.00 True\n";
    assert_eq!(part(&native("200.00 MiB", "100.00 MiB", "", "22.50 GiB", "20.00 MiB"), weights), "weights");
    assert_eq!(part("Allocation on device ", ""), "unknown");
    let lent = "HIP out of memory. Tried to allocate 90.00 MiB. GPU 0 has a total capacty of 512.00 MiB of which 16.00 MiB is free. Of the allocated memory 204.20 MiB is allocated by PyTorch, and 177.80 MiB is reserved by PyTorch but unallocated.";
    let report = triage(&format!("{START}{}", failed(lent, &frame("nodes.py"), "torch.OutOfMemoryError")));
    assert_eq!(
        report.verdict.headline,
        "The card has only 512.0 MiB of memory, too little for any model; 90.0 MiB more did not fit."
    );
    assert_eq!(report.verdict.grade, Grade::Strong);
}

#[test]
fn host_oom() {
    is(&format!("{START}got prompt\nRequested to load Flux\nKilled\n"), "host-oom");
    is_not(&format!("{START}got prompt\nRequested to load Flux\n"), "host-oom");
    let kernel = "[  963.000000] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice,task=python,pid=4242,uid=1000\n[  963.100000] Out of memory: Killed process 4242 (python) total-vm:58720256kB, anon-rss:30408704kB, file-rss:4096kB, shmem-rss:65536kB, UID:1000 pgtables:61440kB oom_score_adj:0\n";
    let report = triage(kernel);
    assert_eq!(report.verdict.primary, "host-oom");
    assert_eq!(serde_json::to_value(report.verdict.grade).expect("serializes"), "certain");
}

/// A script that starts ComfyUI again after a kill hides it from whoever looks at the end of the log.
#[test]
fn a_kill_before_a_fresh_start_is_a_finding() {
    let killed = |line: &str| {
        format!("{START}{}got prompt\nRequested to load Flux\n{line}\n{START}{}", good_prompt(""), good_prompt(""))
    };
    for line in [
        "./start.sh: line 12:  4711 Killed                  python main.py",
        "./start.sh: line 12:  4711 Killed",
        "./start.sh: line 12:  4711 Killed: 9               python main.py",
        "./start.sh: 行 12:  4711 已杀死               python main.py",
        "./start.sh: 第 12 行：  4711 已杀死               python main.py",
        "2026-08-05 12:00:00,123 WARN exited: comfyui (terminated by SIGKILL; not expected)",
    ] {
        let report = triage(&killed(line));
        assert_eq!(report.verdict.primary, "host-oom", "{line}");
        // The line does not say why.
        assert_eq!(report.verdict.grade, Grade::Moderate, "{line}");
        assert!(report.verdict.headline.contains("last start"), "{}", report.verdict.headline);
    }
    for line in [
        "./start.sh: line 12:  4711 Terminated              python main.py",
        "./start.sh: line 12: Killed: command not found",
        "2026-08-05 12:00:00,123 INFO exited: comfyui (exit status 0; expected)",
    ] {
        is_not(&killed(line), "host-oom");
    }
    // The kernel says itself that memory was out, also where its line on the constraint is missing.
    let kernel = "[  963.100000] Out of memory: Killed process 4711 (python) total-vm:58720256kB, anon-rss:30408704kB, file-rss:4096kB, shmem-rss:65536kB, UID:1000 pgtables:61440kB oom_score_adj:0";
    assert_eq!(triage(&killed(kernel)).verdict.grade, Grade::Certain);
    is_not(&killed(&kernel.replace("(python)", "(chrome)")), "host-oom");
}

#[test]
fn container_limit() {
    let killed = format!("{START}got prompt\nRequested to load Flux\nloaded completely 23000.0 22200.00 True\n");
    let memcg = "Memory cgroup out of memory: Killed process 17 (python) total-vm:1kB, anon-rss:16000000kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n";
    is(&format!("{killed}{memcg}"), "container-limit");
    is_not(&format!("{killed}Killed\n"), "container-limit");
    assert_eq!(ask(&format!("{killed}Killed\n"), &[], Some(16.0 * 1024.0)).verdict.primary, "container-limit");
}

#[test]
fn reload_each_prompt() {
    let again = "Requested to load SDXL\nloaded completely 20000.0 4843.52 True\n";
    is(&format!("{START}{}", prompts(4, again)), "reload-each-prompt");
    let rebuilt = format!("model weight dtype torch.float16, manual cast: None\nmodel_type EPS\n{again}");
    is_not(&format!("{START}{}", prompts(4, &rebuilt)), "reload-each-prompt");
    let prepared = "Model WAN21 prepared for dynamic VRAM loading. 13459MB Staged. 0 patches attached.\n";
    is_not(&format!("{START}{}", prompts(4, prepared)), "reload-each-prompt");
    let too_large = "Requested to load Flux\nloaded completely 20000.0 22000.0 True\nRequested to load FluxClipModel_\nloaded completely 20000.0 9000.0 True\n";
    is_not(&format!("{START}{}", prompts(4, too_large)), "reload-each-prompt");
}

#[test]
fn import_failure() {
    let table = |mark: &str| {
        format!(
            "{START}\nImport times for custom nodes:\n   0.0 seconds{mark}: /opt/ComfyUI/custom_nodes/was-ns\n\n{}",
            prompts(1, "")
        )
    };
    is(&table(" (IMPORT FAILED)"), "import-failure");
    is(&table(""), "no-fault");
}

#[test]
fn other_error() {
    let port = "Traceback (most recent call last):\n  File \"/opt/ComfyUI/main.py\", line 367, in <module>\n    run()\nOSError: [Errno 98] error while attempting to bind on address ('127.0.0.1', 8188): address already in use\n";
    is(&format!("{}{port}", START.replace("To see the GUI go to: http://127.0.0.1:8188\n", "")), "other-error");
    let quoted =
        format!("{START}{}[SomePack] note: KeyError: 'x' is harmless here\n{}", prompts(1, ""), prompts(1, ""));
    is(&quoted, "no-fault");
}

#[test]
fn insufficient_evidence() {
    is("hello\nthis is another program's log\n", "insufficient-evidence");
    is(&format!("{START}got prompt\nRequested to load Flux\n"), "insufficient-evidence");
    is(&format!("{START}{}", prompts(1, "")), "no-fault");
}

#[test]
fn a_restart_begins_a_new_session_and_a_repeated_block_does_not() {
    let twice = format!("{START}{}{START}{}", prompts(2, ""), prompts(1, ""));
    let report = triage(&twice);
    assert_eq!(report.sessions.len(), 2);
    assert_eq!((report.sessions[0].prompts.executed, report.sessions[1].prompts.executed), (2, 1));
    let block =
        "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\n";
    let repeated = triage(&format!("{START}{}{block}{}", prompts(1, ""), prompts(1, "")));
    assert_eq!(repeated.sessions.len(), 1);
    assert_eq!(repeated.sessions[0].counts.total_vram_lines, 2);
}

/// The least room is told by its size in the version at hand; it explains slow steps and is no fault.
#[test]
fn a_load_that_was_given_the_least_room_is_told_and_is_no_fault() {
    let starved = |log: &str| {
        let report = triage(log);
        assert_eq!(report.verdict.primary, "no-fault", "{log}");
        let figure = report.findings[0].figures.iter().find(|figure| figure.name == "starved");
        figure.map(|figure| (figure.text.clone(), figure.lines.clone()))
    };
    let load = |usable: &str| format!("Requested to load WAN21\n0 models unloaded.\nloaded partially {usable}\n");
    let log = format!("{START}{}", good_prompt(&load("128.0 127.9998779296875 400")));
    let (text, lines) = starved(&log).expect("the floor of 0.3.64");
    assert!(text.starts_with("WAN21: only 128.0 MiB of the card"), "{text}");
    assert_eq!(lines, [13]);
    // The floor of an earlier version is a budget like others.
    assert_eq!(starved(&format!("{START}{}", good_prompt(&load("64.0 63.99 400")))), None);
    assert_eq!(starved(&format!("{START}{}", good_prompt(&load("5649.8 5648.7 0")))), None);
    // Asked for, it is no shortage.
    let novram = START.replace("NORMAL_VRAM", "NO_VRAM");
    assert_eq!(starved(&format!("{novram}{}", good_prompt(&load("128.0 127.9998779296875 400")))), None);
    // Later versions give nothing, and say how much of the model is there already.
    let later = START.replace("0.3.64", "0.3.76");
    let load = |loaded: &str| {
        load(&format!(
            "0.00 MB usable, {loaded} MB loaded, 1344.02 MB offloaded, 162.01 MB buffer reserved, lowvram patches: 0"
        ))
        .replace("partially ", "partially; ")
    };
    let (text, _) = starved(&format!("{later}{}", good_prompt(&load("0.00")))).expect("no room");
    assert!(text.starts_with("WAN21: no room on the card"), "{text}");
    assert_eq!(starved(&format!("{later}{}", good_prompt(&load("900.00")))), None);
}

/// The headline of a log that must not be taken for one of a failed start.
#[track_caller]
fn did_start(log: &str, says: &str) {
    let headline = triage(log).verdict.headline;
    assert!(!headline.contains("did not start") && headline.contains(says), "{headline}\n{log}");
}

#[test]
fn a_log_that_begins_within_a_traceback_tells_of_a_prompt() {
    let frames = frame("execution.py") + &frame("nodes.py");
    did_start(&frames, "the line that names the error is not in this log");
    did_start(
        &format!("{frames}RuntimeError: mismatch\n\nPrompt executed in 0.50 seconds\n"),
        "A prompt failed: RuntimeError",
    );
    did_start(&format!("{frames}RuntimeError: mismatch\n{}", prompts(2, "")), "A prompt failed: RuntimeError");
}

#[test]
fn an_error_before_the_server_is_ready_need_not_have_stopped_it() {
    let raised = format!("Traceback (most recent call last):\n{}KeyError: 5\n", frame("server.py"));
    let (begin, ready) = START.split_at(START.find("Starting server").expect("a start"));
    did_start(&format!("{begin}{raised}{ready}"), "it started all the same: KeyError: 5");
    did_start(&format!("{begin}{raised}{ready}{}", prompts(2, "")), "it started all the same: KeyError: 5");
    let stopped = triage(&format!("{begin}{raised}"));
    assert_eq!(stopped.verdict.headline, "ComfyUI did not start: KeyError: 5");
    let cut = triage(&format!("{begin}Traceback (most recent call last):\n{}", frame("main.py")));
    assert_eq!(cut.verdict.headline, "ComfyUI did not start: the line that names the error is not in this log");
    assert_eq!(format!("{:?}", cut.verdict.grade), "Moderate");
}

#[test]
fn importing_the_executor_is_no_execution() {
    let import = "Traceback (most recent call last):\n  File \"/opt/ComfyUI/main.py\", line 130, in <module>\n    import execution\n  File \"/opt/ComfyUI/execution.py\", line 12, in <module>\n    import torch\n";
    let report = triage(&format!("{import}KeyError: 5\n"));
    assert_eq!(report.verdict.headline, "ComfyUI did not start: KeyError: 5");
}

#[test]
fn a_fault_that_the_last_start_does_not_show_is_told_as_one_of_an_earlier_start() {
    let leaking = format!("{START}{}", good_prompt(&format!("{POTENTIAL}{WARNING}Requested to load Flux\n")).repeat(3));
    let session = |log: &str| {
        let figures = triage(log).findings.remove(0).figures;
        figures.into_iter().find(|figure| figure.name == "session").map(|figure| figure.text)
    };
    let cured = triage(&format!("{leaking}{START}{}", prompts(4, "")));
    assert!(cured.verdict.headline.starts_with("Before the last start (line 25): "), "{}", cured.verdict.headline);
    let told = session(&format!("{leaking}{START}{}", prompts(4, ""))).expect("told");
    assert_eq!(told, "seen in session 1 of 2; after the last start (line 25) 4 prompts ran to the end without it");
    assert!(session(&format!("{leaking}{START}")).is_some_and(|told| told.contains("ran no prompt to the end")));
    assert_eq!(session(&leaking), None);
    assert_eq!(session(&format!("{START}{}{leaking}", prompts(4, ""))), None);
}

#[test]
fn leak_texts_that_a_narrow_window_broke_count_as_the_whole_ones() {
    let whole = format!(
        "{START}{}",
        good_prompt(&format!("Requested to load Flux\n{POTENTIAL}{WARNING}{POTENTIAL}{WARNING}")).repeat(3)
    );
    let glued = whole.replace(&format!("{WARNING}{POTENTIAL}"), &format!("{}{POTENTIAL}", WARNING.trim_end()));
    for width in [40, 44, 48, 52, 60, 72, 80, 100] {
        let broken: String = whole
            .lines()
            .flat_map(|line| line.as_bytes().chunks(width).map(|piece| String::from_utf8_lossy(piece) + "\n"))
            .collect();
        for log in [&whole, &broken, &glued] {
            let report = triage(log);
            assert_eq!(report.verdict.primary, "leak-confirmed", "{width}: {}\n{log}", report.verdict.headline);
            let leak = &report.sessions[0].leaks["Flux"];
            assert_eq!((leak.potential, leak.warning, leak.held_last), (6, 6, Some(1)), "{width}\n{log}");
        }
    }
}

/// Programs that wrap at words leave the blank at the end of the line, or leave it out.
#[test]
fn leak_texts_that_were_wrapped_at_words_count_as_the_whole_ones() {
    let whole = format!("{START}{}", good_prompt(&format!("Requested to load Flux\n{POTENTIAL}{WARNING}")).repeat(3));
    for (width, blank) in [(40, " "), (40, ""), (48, ""), (60, " "), (72, "")] {
        let mut log = String::new();
        for line in whole.lines() {
            let mut used = 0;
            for (number, word) in line.split(' ').enumerate() {
                if number > 0 && used + 1 + word.len() > width {
                    log += blank;
                    log.push('\n');
                    used = 0;
                } else if number > 0 {
                    log.push(' ');
                    used += 1;
                }
                log += word;
                used += word.len();
            }
            log.push('\n');
        }
        let report = triage(&log);
        let leak = &report.sessions[0].leaks["Flux"];
        assert_eq!((leak.potential, leak.warning), (3, 3), "{width} {blank:?}\n{log}");
        assert_eq!(report.sessions[0].prompts.executed, 3);
    }
}

/// A line that is a text of its own is never taken for the rest of the one before.
#[test]
fn the_beginning_of_a_text_takes_no_line_that_is_known() {
    let beginning = WARNING.trim_end().split_at(40).0;
    let log = format!(
        "{START}{}",
        good_prompt(&format!("{beginning}\nRequested to load Flux\n{beginning}\nnot its end\n")).repeat(3)
    );
    let session = &triage(&log).sessions[0];
    assert!(session.leaks.is_empty(), "{:?}", session.leaks);
    assert_eq!((session.prompts.got, session.prompts.executed), (3, 3));
    assert_eq!(session.loads["Flux"].requested, 3);
}

/// The end is told where it is known, and not as something that is missing.
#[test]
fn an_exit_in_the_middle_of_a_prompt_is_told_with_its_code() {
    let log = format!("{START}got prompt\nRequested to load Flux\n");
    assert!(triage(&log).verdict.headline.contains("what happened next is not in it"));
    let ended = triage(&format!("{log}comfy-triage run: ended with exit code 3\n"));
    assert_eq!(ended.verdict.primary, "insufficient-evidence");
    assert_eq!(
        ended.verdict.headline,
        "ComfyUI ended with exit code 3 in the middle of a prompt; nothing in this log says why."
    );
}

/// Error 1455 is Windows's own, so that its page file is the first thing to look at even without a path in the log.
#[test]
fn a_page_file_that_is_too_small_is_made_larger() {
    for text in [
        "The paging file is too small for this operation to complete. (os error 1455)",
        "页面文件太小，无法完成操作。 (os error 1455)",
    ] {
        let report = triage(&format!("got prompt\nRequested to load Flux\n{text}\n"));
        assert_eq!(report.verdict.primary, "host-oom", "{text}");
        assert!(report.next_steps.iter().any(|step| step.text.contains("page file larger")), "{:?}", report.next_steps);
    }
}
