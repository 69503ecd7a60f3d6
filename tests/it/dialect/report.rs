//! ComfyUI's Error Report: a page of lists, which stamps must not break.

use super::same_behind_each;

const REPORT: &str = "\
# ComfyUI Error Report
## Error Details
- **Node ID:** 10
- **Node Type:** KSampler
- **Exception Type:** torch.OutOfMemoryError
- **Exception Message:** Allocation on device
## Stack Trace
```
  File \"/srv/ComfyUI/execution.py\", line 327, in execute
    output_data, output_ui, has_subgraph = get_output_data(obj, input_data_all)

  File \"/srv/ComfyUI/nodes.py\", line 1429, in sample
    return common_ksampler(model, seed, steps, cfg, sampler_name, scheduler, positive, negative, latent_image)

```
## System Information
- **ComfyUI Version:** v0.3.14
- **Arguments:** main.py --lowvram
- **OS:** posix
- **Python Version:** 3.11.11 (main, Dec  4 2024, 08:55:07) [GCC 11.4.0]
- **Embedded Python:** false
- **PyTorch Version:** 2.6.0+cu124
## Devices

- **Name:** cuda:0 NVIDIA GeForce RTX 3060 : cudaMallocAsync
  - **Type:** cuda
  - **VRAM Total:** 12622168064
  - **VRAM Free:** 9371680768
  - **Torch VRAM Total:** 2147483648
  - **Torch VRAM Free:** 33489920
";

#[test]
fn an_error_report_is_one_failure_behind_any_prefix() {
    let plain = same_behind_each(REPORT);
    assert_eq!(plain.ooms, (1, 0));
    assert_eq!(plain.version.as_deref(), Some("0.3.14"));
    assert_eq!(plain.failures.len(), 1, "{:?}", plain.failures);
    assert_eq!(plain.failures[0].0.as_deref(), Some("KSampler"));
    let fact = |name: &str| plain.facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    assert_eq!(fact("os"), Some("posix".into()));
    assert_eq!(fact("pytorch_version"), Some("2.6.0+cu124".into()));
}
