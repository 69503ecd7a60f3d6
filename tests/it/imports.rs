//! What to do about an error of an import: what the error says decides, not that something is missing.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

const START: &str = "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nPython version: 3.9.18 (main, Aug 14 2025, 17:47:21) [GCC 13.3.0]\nComfyUI version: 0.3.64\n";
const READY: &str = "Starting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const GOOD: &str = "got prompt\nPrompt executed in 3.20 seconds\n";

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

fn cannot(dir: &str, reason: &str) -> String {
    format!("Cannot import /opt/ComfyUI/custom_nodes/{dir} module for custom nodes: {reason}\n")
}

fn row(dir: &str) -> String {
    format!("   0.1 seconds (IMPORT FAILED): /opt/ComfyUI/custom_nodes/{dir}\n")
}

fn packs_failed(failed: &[(&str, &str)]) -> Report {
    let reasons: String = failed.iter().map(|(dir, reason)| cannot(dir, reason)).collect();
    let rows: String = failed.iter().map(|(dir, _)| row(dir)).collect();
    triage(&format!("{START}{reasons}\nImport times for custom nodes:\n{rows}\n{READY}{GOOD}"))
}

fn remedies(report: &Report) -> Vec<&str> {
    report.next_steps.iter().filter_map(|step| step.remedy.as_deref()).collect()
}

#[test]
fn what_a_pack_lacks_decides_what_to_do() {
    for (reason, first) in [
        ("unsupported operand type(s) for |: 'type' and 'type'", "newer-python-import"),
        ("No module named 'tomllib'", "newer-python-import"),
        ("cannot import name 'override' from 'typing' (/usr/lib/python3.9/typing.py)", "newer-python-import"),
        ("cannot import name 'Self' from 'typing' (/usr/lib/python3.9/typing.py)", "newer-python-import"),
        ("f-string expression part cannot include a backslash (nodes.py, line 7)", "newer-python-import"),
        // No package is called _C, and a part of onnx is no package either.
        ("DLL load failed while importing _C: The specified procedure could not be found.", "other-build-import"),
        ("DLL load failed while importing onnx_cpp2py_export: initialization routine failed.", "import-binary"),
        ("/venv/lib/x.so: undefined symbol: _ZN3c104cuda9SetDeviceEi", "other-build-import"),
        ("numpy.core.multiarray failed to import", "import-numpy"),
        ("No module named 'triton'", "accelerator-import"),
        ("No module named 'sageattention'", "accelerator-import"),
        ("No module named 'cv2'", "import-pip"),
        ("cannot import name 'overrides' from 'typing_tools'", "import-symbol"),
    ] {
        let report = packs_failed(&[("foo", reason)]);
        assert_eq!(report.verdict.primary, "import-failure", "{reason}");
        assert_eq!(remedies(&report)[0], first, "{reason}");
        let asks_for_requirements = remedies(&report).contains(&"import-requirements-filled");
        assert_eq!(asks_for_requirements, matches!(first, "import-pip" | "import-symbol"), "{reason}");
    }
}

#[test]
fn what_one_pack_lacks_does_not_hide_what_another_needs() {
    let report = packs_failed(&[("foo", "No module named 'tomllib'"), ("bar", "No module named 'cv2'")]);
    assert!(remedies(&report).contains(&"newer-python-import"), "{:?}", remedies(&report));
    assert!(remedies(&report).contains(&"import-requirements-filled"), "{:?}", remedies(&report));
}

#[test]
fn an_old_python_is_nobodys_fault() {
    let error = "TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'\n";
    let start = triage(&format!(
        "{START}Traceback (most recent call last):\n  File \"/opt/ComfyUI/main.py\", line 9, in <module>\n    import execution\n  File \"/opt/ComfyUI/comfy/x.py\", line 3, in <module>\n    def f(x: int | None):\n{error}"
    ));
    assert_eq!(start.verdict.primary, "other-error", "{}", start.verdict.headline);
    assert!(start.verdict.headline.starts_with("This Python is too old"), "{}", start.verdict.headline);
    assert_eq!(remedies(&start), ["newer-python"]);
    let node = triage(&format!(
        "{START}{READY}{GOOD}got prompt\n!!! Exception during processing !!! unsupported operand type(s) for |: 'type' and 'NoneType'\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 1, in execute\n  File \"/opt/ComfyUI/custom_nodes/foo/n.py\", line 3, in run\n{error}\nPrompt executed in 1.00 seconds\n"
    ));
    assert!(node.verdict.headline.starts_with("This Python is too old"), "{}", node.verdict.headline);
    // Two values that cannot be joined are the pack's.
    let other = triage(&format!(
        "{START}{READY}{GOOD}got prompt\n!!! Exception during processing !!! unsupported operand type(s) for |: 'dict' and 'str'\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 1, in execute\n  File \"/opt/ComfyUI/custom_nodes/foo/n.py\", line 3, in run\nTypeError: unsupported operand type(s) for |: 'dict' and 'str'\n\nPrompt executed in 1.00 seconds\n"
    ));
    assert_eq!(other.verdict.primary, "custom-node", "{}", other.verdict.headline);
}
