//! Errors that end prompts: each of the common kinds has a step of its own, a node pack that raised one is still named,
//! and one that nobody knows leads to a search and a report, not to a log that is here already.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const HEAD: &str = "Total VRAM 24564 MB, total RAM 65446 MB\npytorch version: 2.7.1+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nPython version: 3.12.10\nComfyUI version: 0.3.64\nStarting server\nTo see the GUI go to: http://127.0.0.1:8188\ngot prompt\n";

fn failed(error: &str, file: &str) -> Report {
    let message = error.split_once(": ").map_or(error, |(_, message)| message);
    let log = format!(
        "{HEAD}!!! Exception during processing !!! {message}\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 496, in execute\n    await get_output_data(prompt_id)\n  File \"/opt/ComfyUI/{file}\", line 45, in sample\n    return self.sample(noise)\n{error}\n\nPrompt executed in 3.21 seconds\n"
    );
    triage(&log)
}

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("night.log", &read, &packs, &Question::default())
}

#[test]
fn common_errors_have_a_step_of_their_own() {
    for (error, about, step) in [
        (
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (77x2048 and 768x320)",
            "other-model-family",
            "text encoders",
        ),
        (
            "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!",
            "different-devices",
            "block swap",
        ),
        ("RuntimeError: expected scalar type Half but found Float", "different-dtypes", "weight_dtype"),
        (
            "RuntimeError: Given groups=1, weight of size [320, 4, 3, 3], expected input[2, 16, 128, 128] to have 4 channels, but got 16 channels instead",
            "other-channels",
            "VAE",
        ),
        (
            "RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 24 but got size 23 for tensor number 1 in the list.",
            "different-sizes",
            "same width",
        ),
        ("RuntimeError: shape '[1, 16, 64]' is invalid for input of size 262144", "different-sizes", "same width"),
        ("RuntimeError: ERROR: clip input is invalid: None", "checkpoint-without-clip", "DualCLIPLoader"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/opt/m'", "file-not-there", "Put the file"),
        ("ModuleNotFoundError: No module named 'sageattention'", "accelerator-missing", "sdpa"),
        ("RuntimeError: Numpy is not available", "numpy-other-version", "below 2"),
        ("ValueError: numpy.dtype size changed. Expected 96, got 88", "numpy-other-size", "built for NumPy 2"),
        ("RuntimeError: \"mul_cuda\" not implemented for 'Float8_e4m3fn'", "format-not-here", "fp16 or bf16"),
        ("KeyError: 'conv_in.weight'", "other-kind-of-file-key", "node for its kind"),
        ("TypeError: f() missing 1 required positional argument: 'x'", "other-signature", "Fix node"),
        ("socket.gaierror: [Errno 11001] getaddrinfo failed", "network", "connection"),
    ] {
        let report = failed(error, "comfy/sample.py");
        assert_eq!(report.verdict.primary, "other-error", "{error}");
        assert_eq!(report.findings[0].about.as_deref(), Some(about), "{error}");
        let first = &report.next_steps[0].text;
        assert!(first.contains(step), "{error}: {first}");
    }
}

#[test]
fn texts_that_only_look_alike_are_given_no_meaning() {
    for error in [
        "ValueError: Number of images and masks should be the same",
        "AttributeError: weight' is no word",
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        "RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
    ] {
        let report = failed(error, "comfy/sample.py");
        let kind = error.split_once(':').map(|(kind, _)| kind);
        assert_eq!(report.findings[0].about.as_deref(), kind, "{error}");
    }
}

#[test]
fn a_missing_package_is_installed_under_its_name() {
    let report = failed("ModuleNotFoundError: No module named 'cv2'", "comfy/sample.py");
    assert_eq!(report.next_steps[0].command.as_deref(), Some("python -m pip install opencv-python"));
}

#[test]
fn a_lone_import_error_keeps_its_cause() {
    for (error, command) in [
        ("ModuleNotFoundError: No module named 'sqlalchemy'\n", "python -m pip install SQLAlchemy"),
        (
            "ImportError: cannot import name 'cached_download' from 'huggingface_hub'\n",
            "python -m pip install \"huggingface_hub<0.26\"",
        ),
    ] {
        let report = triage(error);
        assert_eq!(report.verdict.primary, "import-failure", "{error}");
        assert_eq!(report.next_steps[0].command.as_deref(), Some(command), "{error}");
    }
}

#[test]
fn a_node_pack_that_raised_it_is_still_named() {
    let error = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (77x2048 and 768x320)";
    let report = failed(error, "custom_nodes/ComfyUI-Example/nodes.py");
    assert_eq!(report.verdict.primary, "custom-node");
    assert_eq!(report.findings[0].about.as_deref(), Some("ComfyUI-Example"));
    assert!(report.next_steps[0].text.contains("text encoders"), "{}", report.next_steps[0].text);
}

#[test]
fn an_error_that_nobody_knows_is_searched_for_and_reported() {
    let report = failed("IndexError: list index out of range", "comfy/sample.py");
    assert!(report.next_steps[0].text.starts_with("Search the issues"), "{}", report.next_steps[0].text);
    assert_eq!(report.next_steps[0].command.as_deref(), Some("comfy-triage checklist night.log"));
}

#[test]
fn the_file_that_cannot_be_read_is_named() {
    let log = format!(
        "{HEAD}!!! Exception during processing !!! Error while deserializing header: HeaderTooLarge\n\nFile path: D:\\models\\checkpoints\\a.safetensors\n\nTraceback (most recent call last):\n  File \"D:\\ComfyUI\\comfy\\utils.py\", line 59, in load_torch_file\n    with open(x) as f:\nsafetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge\n\nPrompt executed in 0.10 seconds\n"
    );
    let report = triage(&log);
    assert!(report.findings[0].summary.contains("a.safetensors"), "{}", report.findings[0].summary);
    let file = report.findings[0].figures.iter().find(|figure| figure.name == "file").expect("the file");
    assert_eq!(
        (file.text.as_str(), file.lines.as_slice()),
        ("the file: D:\\models\\checkpoints\\a.safetensors", &[12][..])
    );
}

#[test]
fn quoted_source_lines_count_as_read_and_a_logger_s_level_is_no_part_of_the_text() {
    let log = "WARNING: Traceback (most recent call last):\n  File \"/opt/ComfyUI/nodes.py\", line 2131, in load_custom_node\n    module_spec.loader.exec_module(module)\n  File \"/opt/ComfyUI/custom_nodes/aux/utils.py\", line 4, in <module>\n    import cv2\nModuleNotFoundError: No module named 'cv2'\n\nWARNING: Cannot import /opt/ComfyUI/custom_nodes/aux module for custom nodes: No module named 'cv2'\n";
    let report = triage(log);
    assert_eq!(report.verdict.primary, "import-failure");
    assert_eq!((report.fitness.understood, report.fitness.texts), (7, 7));
}
