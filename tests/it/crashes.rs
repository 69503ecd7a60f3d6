//! Native crashes and faults of the card: whose library, at which point, and what to try first.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "Total VRAM 24564 MB, total RAM 65462 MB\npytorch version: 2.9.1+cu130\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nUsing async weight offloading with 2 streams\nEnabled pinned memory 29457.0\nDynamicVRAM support detected and enabled\nPython version: 3.12.10 (tags/v3.12.10:0cc8128) [MSC v.1943 64 bit (AMD64)]\nComfyUI version: 0.31.0\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\ngot prompt\nRequested to load SDXL\n";

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

fn first_step(report: &Report) -> &str {
    report.next_steps.first().map_or("", |step| step.text.as_str())
}

fn stack(frames: &[&str]) -> String {
    let frames: String = frames.iter().map(|frame| format!("  File \"C:\\AI\\{frame}\n")).collect();
    format!("Windows fatal exception: access violation\n\nStack (most recent call first):\n{frames}")
}

#[test]
fn the_innermost_library_is_the_suspect_and_no_pack_it_was_called_through() {
    let frames = [
        "python_embeded\\Lib\\site-packages\\sageattention\\core.py\", line 149 in sageattn",
        "ComfyUI\\comfy\\ldm\\modules\\attention.py\", line 596 in attention_sage",
        "ComfyUI\\custom_nodes\\ComfyUI-Easy-Use\\py\\x.py\", line 252 in forward",
    ];
    let report = triage(&format!("{START}{}", stack(&frames)));
    assert_eq!(report.verdict.primary, "other-error");
    assert!(report.verdict.headline.contains("in SageAttention: site-packages/sageattention/core.py:149 sageattn"));
    assert!(report.findings[0].candidates.is_empty(), "{:?}", report.findings[0].candidates);
    assert!(first_step(&report).starts_with("Start once without SageAttention"), "{}", first_step(&report));
}

#[test]
fn torch_and_python_are_only_passed_through() {
    let frames = [
        "python_embeded\\Lib\\site-packages\\torch\\nn\\modules\\conv.py\", line 167 in __init__",
        "ComfyUI\\comfy\\ldm\\lightricks\\vae\\causal_conv3d.py\", line 35 in __init__",
    ];
    let report = triage(&format!("{START}{}", stack(&frames)));
    assert!(report.verdict.headline.contains("called from lightricks/vae/causal_conv3d.py:35 __init__"));
    assert_eq!(first_step(&report), "Start once with --disable-dynamic-vram, and repeat the same workflow.");
    let on = report.findings[0].figures.iter().find(|figure| figure.name == "switched-on").expect("told");
    assert_eq!(
        on.text,
        "Switched on in this log: dynamic VRAM, pinned memory, async weight offloading, cudaMallocAsync."
    );
    assert_eq!(on.lines, [4, 5, 6, 7]);
}

#[test]
fn the_thread_that_crashed_counts_and_not_those_beside_it() {
    let log = format!(
        "{START}Fatal Python error: Segmentation fault\n\nThread 0x00007f1c (most recent call first):\n  File \"/usr/lib/python3.12/threading.py\", line 359 in wait\n\nCurrent thread 0x00007f2c (most recent call first):\n  File \"/opt/venv/lib/python3.12/site-packages/xformers/ops/fmha/__init__.py\", line 12 in memory_efficient_attention\n  File \"/opt/ComfyUI/comfy/ldm/modules/attention.py\", line 400 in attention_xformers\n\nThread 0x00007f3c (most recent call first):\n  File \"/opt/venv/lib/python3.12/site-packages/onnxruntime/x.py\", line 3 in run\n"
    );
    let report = triage(&log);
    assert!(report.verdict.headline.contains("(segmentation fault), in xFormers"), "{}", report.verdict.headline);
}

#[test]
fn native_modules_name_the_runtime_and_its_maker() {
    let log = "got prompt\nRequested to load WanVAE\nloaded completely; 10949.19 MB usable, 242.03 MB loaded, full load: True\nException Code: 0xC0000005\n #0 0x00007ffdfd7c9eaa (C:\\AI\\_rocm_sdk_core\\bin\\amdhip64_7.dll+0x2c9eaa)\n";
    let report = triage(log);
    assert!(report.verdict.headline.contains("in AMD's runtime (HIP, ROCm)"), "{}", report.verdict.headline);
    assert!(report.verdict.headline.ends_with("It happened while WanVAE was being loaded or used."));
    assert_eq!(first_step(&report), "Update the AMD graphics driver, or go back to the one that worked.");
}

#[test]
fn codes_of_windows_are_told_in_both_forms() {
    for line in [
        "[Exited, code -1073741819 (0xC0000005)]",
        "[程序崩溃，退出代码为 3221225477 (0xC0000005)]",
        "Process exited with code 3221225477",
    ] {
        let report = triage(&format!("got prompt\nRequested to load SDXL\n{line}\n"));
        assert_eq!(report.verdict.primary, "other-error", "{line}");
        assert!(report.verdict.headline.contains("= 0xC0000005"), "{}", report.verdict.headline);
        assert!(first_step(&report).contains("PYTHONFAULTHANDLER=1"), "{}", first_step(&report));
    }
}

#[test]
fn who_lives_on_has_not_crashed() {
    let good = "Prompt executed in 3.20 seconds\n";
    let report = triage(&format!("{START}{}{good}got prompt\n{good}", stack(&["x.py\", line 1 in y"])));
    assert_eq!(report.verdict.primary, "no-fault", "{}", report.verdict.headline);
}

#[test]
fn errors_of_the_card_accuse_nobody_and_differ_in_their_step() {
    let raised = |message: &str| {
        let frame = "  File \"/opt/ComfyUI/custom_nodes/pack/nodes.py\", line 5, in run\n    return work()\n";
        triage(&format!(
            "{START}!!! Exception during processing !!! {message}\nTraceback (most recent call last):\n{frame}RuntimeError: {message}\n\nPrompt executed in 2.10 seconds\n"
        ))
    };
    for (message, step) in [
        ("CUDA error: an illegal memory access was encountered", "Restart ComfyUI"),
        ("CUDA error: device-side assert triggered", "Restart ComfyUI, then check"),
        ("CUDA error: invalid argument", "Start with --disable-pinned-memory"),
        ("CUDA error: operation not supported", "Start with --disable-cuda-malloc"),
    ] {
        let report = raised(message);
        assert_eq!(report.verdict.primary, "other-error", "{message}");
        assert!(report.verdict.headline.contains(message), "{}", report.verdict.headline);
        assert!(first_step(&report).starts_with(step), "{message}: {}", first_step(&report));
        assert!(report.findings[0].candidates.is_empty(), "{message}");
    }
}
