//! A run with its start, prompts, a leak and a failure.

use super::same_behind_each;

const START: &str = "\
Total VRAM 24081 MB, total RAM 63456 MB
pytorch version: 2.7.0+cu128
Set vram state to: NORMAL_VRAM
Device: cuda:0 NVIDIA GeForce RTX 3090 : cudaMallocAsync
Using pytorch attention
Python version: 3.12.3 (main, Aug 14 2025, 17:47:21) [GCC 13.3.0]
ComfyUI version: 0.3.64

Import times for custom nodes:
   0.0 seconds: /srv/ComfyUI/custom_nodes/websocket_image_save.py
   0.1 seconds (IMPORT FAILED): /srv/ComfyUI/custom_nodes/ComfyUI-Zorblax

Starting server

To see the GUI go to: http://127.0.0.1:8188
";

const FAILURE: &str = "\
got prompt
Requested to load Flux
loaded completely; 11341.31 MB loaded, full load: True
!!! Exception during processing !!! The size of tensor a (64) must match the size of tensor b (32) at non-singleton dimension 3
Traceback (most recent call last):
  File \"/srv/ComfyUI/execution.py\", line 496, in execute
    output_data, output_ui, has_subgraph, has_pending_tasks = await get_output_data(prompt_id, unique_id, obj)
  File \"/srv/ComfyUI/custom_nodes/ComfyUI-Zorblax/nodes.py\", line 71, in run
    return (a + b,)
RuntimeError: The size of tensor a (64) must match the size of tensor b (32) at non-singleton dimension 3

Prompt executed in 3.20 seconds
";

#[test]
fn a_failure_is_the_same_behind_any_prefix() {
    let plain = same_behind_each(&format!("{START}{FAILURE}"));
    assert!(plain.facts.iter().any(|(name, value)| name == "comfyui_version" && *value == "0.3.64"));
    assert_eq!(plain.failures.len(), 1, "{:?}", plain.failures);
    assert!(plain.facts.iter().any(|(name, value)| name == "total_vram_mib" && *value == 24081.0));
}

#[test]
fn a_leak_is_the_same_behind_any_prefix() {
    let prompt = "\
got prompt
Requested to load Flux
loaded completely; 11341.31 MB loaded, full load: True
Potential memory leak detected with model Flux, doing a full garbage collect, for maximum performance avoid circular references in the model code.
WARNING, memory leak with model Flux. Please make sure it is not being referenced from somewhere.
Prompt executed in 3.20 seconds
";
    let plain = same_behind_each(&format!("{START}{}", prompt.repeat(4)));
    assert!(plain.verdict.starts_with("LeakConfirmed"), "{}", plain.verdict);
}

#[test]
fn a_single_line_is_the_same_behind_any_prefix() {
    let plain = same_behind_each(
        "RuntimeError: [enforce fail at alloc_cpu.cpp:116] data. DefaultCPUAllocator: not enough memory: you tried to \
         allocate 8589934592 bytes.\n",
    );
    assert_eq!(plain.ooms, (0, 1));
    assert!(plain.verdict.starts_with("HostOom"), "{}", plain.verdict);
}
