//! Errors that stand beside prompts: logged and survived, the last thing that a log holds, or a library's own.

use comfy_triage::catalog::Packs;
use comfy_triage::diagnosis::Grade;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "Total VRAM 24081 MB, total RAM 63456 MB\npytorch version: 2.7.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 3090 : cudaMallocAsync\nComfyUI version: 0.3.50\n";
const SERVER: &str = "Starting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const WORKER: &str = "Exception in thread Thread-1 (prompt_worker):\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/main.py\", line 232, in prompt_worker\n    comfy.model_management.soft_empty_cache()\n  File \"/opt/venv/lib/python3.12/site-packages/torch/cuda/memory.py\", line 222, in empty_cache\n    torch._C._cuda_emptyCache()\nRuntimeError: CUDA error: an illegal memory access was encountered\n";
const ENDED: &str = "Prompt executed in 12.31 seconds\n";

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

fn first_lines(report: &Report) -> Vec<u64> {
    report.findings[0].evidence.iter().map(|line| line.at.line).collect()
}

#[test]
fn an_error_that_nothing_follows_is_told() {
    let report = triage(&format!("{START}{SERVER}got prompt\nRequested to load SDXL\n{WORKER}"));
    assert_eq!((report.verdict.primary.as_str(), report.verdict.grade), ("other-error", Grade::Strong));
    assert!(report.verdict.headline.contains("illegal memory access"), "{}", report.verdict.headline);
    assert_eq!(first_lines(&report), [17, 11]);
}

#[test]
fn an_error_that_ended_no_prompt_weakens_what_is_said_and_is_shown() {
    let report = triage(&format!("{START}{SERVER}got prompt\nRequested to load SDXL\n{WORKER}{ENDED}"));
    assert_eq!((report.verdict.primary.as_str(), report.verdict.grade), ("no-fault", Grade::Moderate));
    assert_eq!(first_lines(&report), [18, 17]);
    let report = triage(&format!("{START}{SERVER}got prompt\nRequested to load SDXL\n{ENDED}"));
    assert_eq!((report.verdict.primary.as_str(), report.verdict.grade), ("no-fault", Grade::Strong));
}

#[test]
fn what_a_library_can_do_without_is_no_failed_import() {
    let optional = "Traceback (most recent call last):\n  File \"/opt/venv/lib/python3.12/site-packages/xformers/__init__.py\", line 57, in _is_triton_available\n    import triton  # noqa\nModuleNotFoundError: No module named 'triton'\n";
    let works = format!("{SERVER}got prompt\n{ENDED}");
    assert_eq!(triage(&format!("{START}{optional}{works}")).verdict.primary, "no-fault");
    // What ComfyUI's own files import is its own.
    let own = optional.replace("site-packages/xformers/", "ComfyUI/comfy/");
    assert_eq!(triage(&format!("{START}{own}{works}")).verdict.primary, "import-failure");
    assert_eq!(triage(&format!("{START}{optional}")).verdict.primary, "import-failure", "nothing started");
}

/// NumPy prints where it was imported from, as a traceback that begins in the main program, and goes on.
#[test]
fn a_start_that_went_on_is_one_start() {
    let numpy = "Traceback (most recent call last):  File \"/opt/ComfyUI/main.py\", line 136, in <module>\n    import execution\n  File \"/opt/ComfyUI/custom_nodes/ComfyUI-Zorb/__init__.py\", line 1, in <module>\n    import cv2\nAttributeError: _ARRAY_API not found\n";
    let rows = "Import times for custom nodes:\n   0.3 seconds: /opt/ComfyUI/custom_nodes/ComfyUI-Zorb\n\n";
    let report = triage(&format!("{START}{numpy}{rows}{SERVER}got prompt\n{ENDED}"));
    assert_eq!((report.sessions.len(), report.verdict.primary.as_str()), (1, "no-fault"));
    // What says its version again was started again.
    let report = triage(&format!("{START}{numpy}{START}{rows}{SERVER}got prompt\n{ENDED}"));
    assert_eq!(report.sessions.len(), 2);
}

#[test]
fn known_errors_are_quoted_whole_and_have_a_next_step() {
    let main =
        "Traceback (most recent call last):\n  File \"/opt/ComfyUI/main.py\", line 332, in <module>\n    run()\n";
    for (line, says, step) in [
        (
            "OSError: [Errno 98] error while attempting to bind on address ('127.0.0.1', 8188): address already in use",
            "[Errno 98]",
            "port-who-linux",
        ),
        ("AssertionError: Torch not compiled with CUDA enabled", "Torch not compiled", "gpu-build-install"),
        (
            "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
            "Found no NVIDIA driver",
            "gpu-driver-install",
        ),
    ] {
        let report = triage(&format!("{START}{main}{line}\n"));
        assert_eq!(report.verdict.primary, "other-error", "{line}");
        assert!(report.verdict.headline.contains(says), "{}", report.verdict.headline);
        assert_eq!(report.next_steps.first().and_then(|found| found.remedy.as_deref()), Some(step), "{line}");
    }
}
