//! Failures told in part: what is claimed of a full card, of a traceback whose head or last line is cut off, and of a
//! start that failed.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "Total VRAM 6144 MB, total RAM 32717 MB\npytorch version: 2.10.0+cu130\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce GTX 1660 Ti : cudaMallocAsync\nPython version: 3.13.11 (main, Aug 14 2025, 17:47:21) [GCC 13.3.0]\nComfyUI version: 0.13.0\n";
const READY: &str = "Starting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const GOOD: &str = "got prompt\nPrompt executed in 3.20 seconds\n";

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

fn frame(path: &str, function: &str) -> String {
    format!("  File \"/opt/ComfyUI/{path}\", line 12, in {function}\n    return work()\n")
}

/// cudaMallocAsync's block for a card of 6 GiB, in a prompt with `loads` before it.
fn full(allocated: &str, requested: &str, free: &str, loads: &str) -> String {
    format!(
        "{START}{READY}got prompt\n{loads}!!! Exception during processing !!! Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : {allocated}\nRequested               : {requested}\nDevice limit            : 6.00 GiB\nFree (according to CUDA): {free}\nPyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB\n"
    )
}

fn part(report: &Report) -> &str {
    &report.sessions[0].ooms[0].deciding_part
}

fn figure<'r>(report: &'r Report, name: &str) -> Option<&'r str> {
    report.findings[0].figures.iter().find(|figure| figure.name == name).map(|figure| figure.text.as_str())
}

fn next(report: &Report) -> String {
    report.next_steps.iter().map(|step| step.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// A text encoder on the CPU, and a diffusion model that got no room.
const IN_RAM: &str = "Requested to load ZImageTEModel_\nloaded completely;  3072.25 MB loaded, full load: True\nCLIP/text encoder model load device: cpu, offload device: cpu, current: cpu, dtype: torch.float16\n";
const NO_ROOM: &str = "Requested to load Lumina2\nloaded partially; 0.00 MB usable, 0.00 MB loaded, 11739.54 MB offloaded, 421.88 MB buffer reserved, lowvram patches: 0\n";

#[test]
fn memory_that_no_load_line_explains_is_not_called_weights() {
    let pack = "Import times for custom nodes:\n   1.0 seconds: /opt/ComfyUI/custom_nodes/ComfyUI-Qwen-TTS\n";
    let log = full("4.68 GiB", "160.00 MiB", "0 bytes", &format!("{IN_RAM}{NO_ROOM}"));
    let log = log.replace(READY, &format!("{pack}{READY}"));
    let report = triage(&log);
    assert_eq!(part(&report), "unexplained");
    assert!(report.verdict.headline.contains("4.68 GiB are in use that no load line explains"), "{:?}", report.verdict);
    assert_eq!(figure(&report, "freeable"), None, "nothing that offloading could free is known");
    assert!(!next(&report).contains("--lowvram"), "{}", next(&report));
    let who: Vec<&str> = report.findings[0].candidates.iter().map(|candidate| candidate.dir.as_str()).collect();
    assert_eq!(who, ["ComfyUI-Qwen-TTS"]);
    // What the user keeps off the card is no sign that the card was full before.
    let asked = triage(&log.replace("NORMAL_VRAM", "NO_VRAM"));
    assert_ne!(part(&asked), "unexplained");
}

#[test]
fn weights_are_those_that_were_on_the_card() {
    let flux = "Requested to load Flux\nloaded completely;  5200.00 MB loaded, full load: True\n";
    let weights = |loads: &str, allocated: &str| {
        let report = triage(&full(allocated, "100.00 MiB", "0 bytes", loads));
        figure(&report, "weights").map(str::to_owned)
    };
    let told = |size: &str| Some(format!("of which weights: {size} (by the load lines)"));
    assert_eq!(weights(&format!("{IN_RAM}{flux}"), "5.50 GiB"), told("5.08 GiB"));
    // On the card as well, but what came before must have left it: both do not fit into what is live.
    let on_card = IN_RAM.replace("device: cpu,", "device: cuda:0,");
    assert_eq!(weights(&format!("{on_card}{flux}"), "5.50 GiB"), told("5.08 GiB"));
    assert_eq!(weights(&on_card, "3.50 GiB"), told("3.00 GiB"));
    assert_eq!(weights(IN_RAM, "3.50 GiB"), None);
    // One that is larger than the whole card was never on it.
    assert_eq!(weights(&flux.replace("5200", "7672"), "5.50 GiB"), None);
}

#[test]
fn a_full_card_is_not_a_driver_that_refuses() {
    let report = triage(&full("5.80 GiB", "4.50 MiB", "20.94 MiB", ""));
    assert!(report.verdict.headline.starts_with("The GPU was full: PyTorch holds 5.80 GiB of 6.00 GiB"));
    assert!(!next(&report).contains("graphics driver"), "{}", next(&report));
    let refused = triage(&full("1.00 GiB", "4.50 MiB", "4.00 GiB", ""));
    assert!(refused.verdict.headline.contains("refused 4.5 MiB although 4.00 GiB"), "{}", refused.verdict.headline);
    assert!(next(&refused).contains("graphics driver"), "{}", next(&refused));
}

#[test]
fn room_in_pieces_beside_free_room_is_one_of_two_explanations() {
    let hip = |free: &str| {
        format!(
            "got prompt\n!!! Exception during processing !!! HIP out of memory. Tried to allocate 16.00 MiB. GPU 0 has a total capacity of 15.98 GiB of which {free} is free. Of the allocated memory 12.76 GiB is allocated by PyTorch, and 651.62 MiB is reserved by PyTorch but unallocated.\n"
        )
    };
    let both = triage(&hip("1.99 GiB"));
    assert!(both.verdict.headline.ends_with("room in pieces, or a limit of the driver."), "{}", both.verdict.headline);
    assert_eq!(serde_json::to_value(both.verdict.grade).expect("serializes"), "moderate");
    let pieces = triage(&hip("12.00 MiB"));
    assert!(pieces.verdict.headline.starts_with("The GPU had the room only in pieces"));
}

#[test]
fn metal_memory_outside_the_pool_is_this_process() {
    let mps = "got prompt\n!!! Exception during processing !!! MPS backend out of memory (MPS allocated: 9.57 GiB, other allocations: 17.35 GiB, max allowed: 27.20 GiB). Tried to allocate 292.50 MiB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure).\n";
    let report = triage(mps);
    assert!(report.findings[0].figures.iter().all(|figure| !figure.text.contains("other programs")));
    assert!(
        report.verdict.headline.contains("another 17.35 GiB lie outside PyTorch (Metal)"),
        "{}",
        report.verdict.headline
    );
}

#[test]
fn each_out_of_memory_of_a_start_is_told() {
    let first = "torch.OutOfMemoryError: Allocation on device \n\nGot an OOM, unloading all loaded models.\nPrompt executed in 41.11 seconds\n";
    let second =
        "got prompt\n!!! Exception during processing !!! Allocation on device \nTraceback (most recent call last):\n";
    let report = triage(&format!("          ^^^^^^^^\n{first}{second}"));
    assert_eq!(report.sessions[0].ooms.iter().map(|oom| oom.at.line).collect::<Vec<_>>(), [2, 7]);
    assert_eq!(figure(&report, "also"), Some("memory ran out once more in this start: line 2"));
}

#[test]
fn a_traceback_without_its_head_claims_no_failed_start() {
    let kept =
        format!("{}{}", frame("comfy/ops.py", "cast_bias_weight"), frame("comfy/model_management.py", "cast_to"));
    let oom = triage(&format!("{kept}torch.AcceleratorError: CUDA error: out of memory\n"));
    assert_eq!((oom.verdict.primary.as_str(), oom.verdict.secondary.len()), ("gpu-oom", 0));
    let other = triage(&format!("{kept}RuntimeError: HostBuffer.read_file_slice failed\n"));
    assert_eq!(other.verdict.headline, "A prompt failed: RuntimeError: HostBuffer.read_file_slice failed");
    let between = format!(
        "{START}{READY}{GOOD}{}RuntimeError: mat1 and mat2 shapes\n{GOOD}",
        frame("comfy/ldm/flux/model.py", "forward")
    );
    let headline = triage(&between).verdict.headline;
    assert!(headline.starts_with("A prompt failed: RuntimeError: mat1"), "{headline}");
    let torch = "  File \"/venv/lib/python3.12/site-packages/torch/nn/functional.py\", line 12, in linear\n";
    let unplaced = triage(&format!("{torch}RuntimeError: mat1 and mat2 shapes\n")).verdict.headline;
    assert!(unplaced.contains("whether ComfyUI started or worked then, this log does not show"), "{unplaced}");
    let import = frame("comfy/samplers.py", "<module>");
    let start = triage(&format!("{import}ModuleNotFoundError: No module named 'scipy'\n"));
    assert_eq!(start.verdict.primary, "import-failure");
}

#[test]
fn a_crash_is_claimed_from_a_crash_report_only() {
    let stack = format!(
        "  File \"/opt/ComfyUI/execution.py\", line 82, in get_output_data\n{}{}",
        frame("custom_nodes/ComfyUI-LTXVideo/vae.py", "decode"),
        "  File \"/venv/lib/python3.12/site-packages/ltx_video/vae_encode.py\", line 122, in vae_decode\n"
    );
    let cut = triage(&stack);
    assert_eq!(cut.verdict.primary, "other-error");
    assert!(cut.verdict.headline.contains("the line that names the error is not in this log"));
    let crash = "Windows fatal exception: access violation\n\nStack (most recent call first):\n  File \"C:\\env\\Lib\\site-packages\\torch\\cuda\\__init__.py\", line 180 in is_available\n  File \"C:\\env\\Lib\\site-packages\\comfy_kitchen\\__init__.py\", line 3 in <module>\n  File \"C:\\ComfyUI\\main.py\", line 8 in <module>\n";
    let crashed = triage(crash);
    assert!(
        crashed.verdict.headline.starts_with("ComfyUI did not start: it crashed in native code (access violation)")
            && crashed.verdict.headline.contains("torch/cuda/__init__.py:180 is_available"),
        "{}",
        crashed.verdict.headline
    );
    assert_eq!(crashed.findings[0].evidence.iter().map(|line| line.at.line).collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn a_failed_start_and_a_good_one_are_two() {
    let main = "Traceback (most recent call last):\n  File \"/opt/ComfyUI/main.py\", line 76, in <module>\n    import execution\n  File \"/opt/ComfyUI/comfy/samplers.py\", line 1, in <module>\n    from scipy import integrate\nModuleNotFoundError: No module named 'scipy'\n";
    let early = "Total VRAM 6144 MB, total RAM 32717 MB\npytorch version: 2.10.0+cu130\n";
    let report = triage(&format!("{early}{main}{START}{READY}{GOOD}"));
    assert_eq!(report.sessions.len(), 2);
    assert!(report.verdict.headline.starts_with("Before the last start (line 9): "), "{}", report.verdict.headline);
    let alone = triage(&format!("{early}{main}"));
    assert!(alone.verdict.headline.starts_with("ComfyUI could not be started, a module is missing: "));
}

fn secondary(report: &Report) -> Vec<&str> {
    report.verdict.secondary.iter().map(|verdict| verdict.as_str()).collect()
}

fn grade(report: &Report) -> String {
    serde_json::to_value(report.verdict.grade).expect("serializes").as_str().expect("a word").to_owned()
}

/// A container of 24 GiB on a larger machine, killed in its first prompt.
const KILLED: &str = "$ docker run --rm --gpus all --memory 24g comfyui:local\nTotal VRAM 24126 MB, total RAM 127938 MB\npytorch version: 2.5.1+cu124\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\ngot prompt\nRequested to load Flux\nloaded partially 20884.8 20882.2 0\nKilled\n";

#[test]
fn what_docker_says_of_a_kill_counts_both_ways() {
    let inspect = |killed: &str, limit: &str| {
        format!(
            "$ docker inspect c --format \"{{{{.State.OOMKilled}}}} {{{{.State.ExitCode}}}}\"\n{killed} 137\n$ docker inspect c --format \"{{{{.HostConfig.Memory}}}}\"\n{limit}\n"
        )
    };
    let told = |log: &str| {
        let report = triage(log);
        (report.verdict.primary.to_string(), grade(&report))
    };
    let is = |verdict: &str, grade: &str| (verdict.to_owned(), grade.to_owned());
    assert_eq!(told(KILLED), is("container-limit", "strong"));
    assert_eq!(told(&format!("{KILLED}{}", inspect("true", "25769803776"))), is("container-limit", "certain"));
    assert_eq!(told(&format!("{KILLED}{}", inspect("false", "25769803776"))), is("container-limit", "moderate"));
    let unlimited = KILLED.replace(" --memory 24g", "");
    assert_eq!(told(&format!("{unlimited}{}", inspect("true", "0"))), is("host-oom", "strong"));
    // A lone 0 that answers no question says nothing.
    assert_eq!(told(&format!("{unlimited}true 137\n0\n")), is("container-limit", "certain"));
}

#[test]
fn the_limit_belongs_to_the_start_behind_it() {
    let before = triage(&format!("{START}{READY}{GOOD}{KILLED}"));
    assert_eq!((before.verdict.primary.as_str(), secondary(&before).len()), ("container-limit", 0));
    assert_eq!((before.sessions.len(), before.findings[0].session), (2, 2));
}

#[test]
fn a_daemon_that_ends_another_program_does_not_end_comfyui() {
    let log = |name: &str| {
        format!(
            "{START}{READY}got prompt\nRequested to load Flux\nNov 30 10:39:10 host1 earlyoom[845]: low memory! at or below SIGTERM limits: mem  3.00%, swap 10.00%\nNov 30 10:39:10 host1 earlyoom[845]: sending SIGTERM to process 3226 uid 1000 \"{name}\": oom_score 1282, VmRSS 29931 MiB, cmdline \"{name}\"\n"
        )
    };
    assert_eq!(triage(&log("python3.13")).verdict.primary, "host-oom");
    assert_eq!(triage(&log("firefox")).verdict.primary, "insufficient-evidence");
}

#[test]
fn an_end_by_a_signal_is_told_as_one() {
    let ended = |line: &str| triage(&format!("{START}{READY}got prompt\nRequested to load Flux\n{line}\n")).verdict;
    for line in ["Terminated", "已终止", "exit code 143"] {
        assert!(ended(line).headline.starts_with("ComfyUI was asked to end (SIGTERM)"), "{line}");
    }
    assert_eq!(ended("已杀死").primary, "host-oom");
    assert_eq!(ended("run.sh: 行 2:  3146 已杀死                  python main.py").primary, "host-oom");
    assert!(ended("exit code 139").headline.contains("crashed in native code"));
    assert_eq!(ended("段错误 (核心已转储)").primary, "other-error");
    let windows = ended("exit code 3221225477");
    assert_eq!(windows.primary, "other-error");
    assert!(windows.headline.contains("(access violation, exit code 3221225477 = 0xC0000005)"), "{}", windows.headline);
    let elsewhere = ended("Python process exited with code 3221225477 and signal null");
    assert_eq!(elsewhere.primary, "insufficient-evidence", "a file of its own does not tell what ran then");
}

#[test]
fn neither_the_network_nor_ctrl_c_is_a_packs_fault() {
    let raised = |kind: &str, message: &str| {
        format!(
            "{START}{READY}got prompt\n!!! Exception during processing !!! {message}\nTraceback (most recent call last):\n{}{}  File \"/venv/lib/python3.12/site-packages/requests/adapters.py\", line 501, in send\n{kind}: {message}\n\nPrompt executed in 0.50 seconds\n",
            frame("execution.py", "execute"),
            frame("custom_nodes/comfyui_controlnet_aux/src/util.py", "custom_hf_download"),
        )
    };
    let network =
        triage(&raised("requests.exceptions.ConnectionError", "('Connection aborted.', ConnectionResetError(10054))"));
    assert_eq!(network.verdict.primary, "other-error");
    assert!(next(&network).contains("Check the connection") && !next(&network).contains("Report it to the author"));
    let own = triage(&raised("ValueError", "bad shape"));
    assert_eq!(own.verdict.primary, "custom-node");
    assert_eq!(own.findings[0].candidates[0].reason, "the error passed through its code");
    let stop = format!(
        "{START}Traceback (most recent call last):\n  File \"/opt/ComfyUI/main.py\", line 90, in <module>\n{}KeyboardInterrupt\n",
        frame("custom_nodes/a-person-mask-generator/__init__.py", "<module>")
    );
    let stopped = triage(&stop).verdict;
    assert_eq!(stopped.primary, "insufficient-evidence");
    assert!(stopped.headline.starts_with("ComfyUI was stopped with Ctrl-C"), "{}", stopped.headline);
}

#[test]
fn a_folder_that_holds_no_pack_needs_no_requirements() {
    let failed = |dir: &str, reason: &str| {
        let path = format!("/opt/ComfyUI/custom_nodes/{dir}");
        triage(&format!(
            "{START}Cannot import {path} module for custom nodes: {}\n\nImport times for custom nodes:\n   0.0 seconds (IMPORT FAILED): {path}\n\n{READY}",
            reason.replace("PATH", &path)
        ))
    };
    let missing = "[Errno 2] No such file or directory: 'PATH/__init__.py'";
    let empty = failed("ComfyUI-ResAdapter", missing);
    assert!(
        next(&empty).contains("install the pack again") && !next(&empty).contains("requirements"),
        "{}",
        next(&empty)
    );
    let hidden = failed(".git", missing);
    assert!(hidden.verdict.headline.starts_with("A hidden folder in custom_nodes"), "{}", hidden.verdict.headline);
    assert!(!next(&hidden).contains("requirements") && !next(&hidden).contains("install the pack again"));
    let module = failed("was-ns", "No module named 'cv2'");
    assert!(next(&module).contains("requirements"), "{}", next(&module));
}

#[test]
fn a_model_that_stays_on_the_card_is_not_loaded_again() {
    let again = "got prompt\nRequested to load SDXL\nLoading 1 new model\nPrompt executed in 4.02 seconds\n".repeat(4);
    let primary = |log: &str| triage(log).verdict.primary;
    assert_eq!(primary(&format!("{START}{READY}{again}")), "reload-each-prompt");
    assert_eq!(primary(&format!("{START}{READY}{again}").replace("NORMAL_VRAM", "HIGH_VRAM")), "no-fault");
    let twice = again.replace("Prompt", "Requested to load SDXL\nLoading 1 new model\nPrompt");
    assert_eq!(primary(&format!("{START}{READY}{twice}")), "no-fault");
}

#[test]
fn a_bug_of_a_model_begins_with_the_model() {
    let oom = full("5.80 GiB", "914.00 MiB", "0 bytes", "Requested to load MiniMaxH3\n");
    let verdict = |version: &str| triage(&oom.replace("0.13.0", version)).verdict.primary;
    assert_eq!(verdict("0.31.0"), "version-bug");
    assert_eq!(verdict("0.3.27"), "gpu-oom");
    assert_eq!(verdict("0.32.0"), "gpu-oom");
}

#[test]
fn a_refused_prompt_has_a_next_step() {
    let report = triage(&format!(
        "{START}{READY}got prompt\nFailed to validate prompt for output 5:\n* LoadImage 3:\n  - Custom validation failed for node: image - Invalid image file: a.png\nOutput will be ignored\ninvalid prompt: {{'type': 'prompt_outputs_failed_validation', 'message': 'Prompt outputs failed validation', 'details': '', 'extra_info': {{}}}}\n"
    ));
    assert_eq!(report.verdict.primary, "other-error", "{}", report.verdict.headline);
    let remedies: Vec<_> = report.next_steps.iter().filter_map(|step| step.remedy.as_deref()).collect();
    assert_eq!(remedies, ["refused-bad-file", "refused-prompt-refresh"]);
}

#[test]
fn an_error_report_that_repeats_a_failed_allocation_is_told_once() {
    let text = "[enforce fail at ..\\c10\\core\\impl\\alloc_cpu.cpp:72] data. DefaultCPUAllocator: not enough memory: you tried to allocate 5242880 bytes.";
    let report = |told: &str| {
        triage(&format!(
            "{text}\n# ComfyUI Error Report\n## Error Details\n- **Node ID:** 8\n- **Node Type:** VAEDecode\n- **Exception Type:** RuntimeError\n- **Exception Message:** {told}\n"
        ))
    };
    let ids = |report: &Report| report.findings.iter().map(|finding| finding.id).collect::<Vec<_>>();
    assert_eq!(ids(&report(text)), ["host-oom"]);
    assert!(ids(&report("the tensor has the wrong shape")).contains(&comfy_triage::catalog::Verdict::OtherError));
}
