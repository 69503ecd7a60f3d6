//! Cards and their memory, as the driver's own tools tell. A tool that is not there tells nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host::Host;

const MIB: f64 = 1024.0 * 1024.0;
/// Arguments of `nvidia-smi` for [`nvidia_cards`]. The name is last: it may hold commas.
pub const NVIDIA_CARDS: [&str; 2] = [
    "--query-gpu=index,uuid,memory.total,memory.used,memory.free,driver_version,name",
    "--format=csv,noheader,nounits",
];
const NVIDIA_PROCESSES: [&str; 2] =
    ["--query-compute-apps=gpu_uuid,pid,used_gpu_memory,process_name", "--format=csv,noheader,nounits"];
const ROCM: [&str; 4] = ["--showmeminfo", "vram", "--showproductname", "--json"];

/// A card by its driver; sizes in MiB.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gpu {
    /// `nvidia` or `amd`.
    pub maker: String,
    pub index: u32,
    pub name: String,
    pub total_mib: Option<f64>,
    /// By all programs together.
    pub used_mib: Option<f64>,
    pub free_mib: Option<f64>,
    pub driver: Option<String>,
    /// Programs that compute on it, as far as the driver names them.
    pub processes: Vec<GpuProcess>,
}

/// A program on a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuProcess {
    /// As the driver numbers it: inside a container that may be the host's number.
    pub pid: u32,
    pub name: String,
    pub used_mib: Option<f64>,
}

/// All cards that a tool tells of.
pub(super) fn gpus(host: &dyn Host) -> Vec<Gpu> {
    if let Some(text) = host.run("nvidia-smi", &NVIDIA_CARDS) {
        let processes = host.run("nvidia-smi", &NVIDIA_PROCESSES).unwrap_or_default();
        return nvidia_cards(&text, &processes);
    }
    if let Some(text) = host.run("rocm-smi", &ROCM) {
        return rocm_cards(&text);
    }
    amd_files(host)
}

/// Reads the answers of `nvidia-smi` to its two questions.
pub fn nvidia_cards(cards: &str, processes: &str) -> Vec<Gpu> {
    let processes = nvidia_processes(processes);
    let card = |line: &str| {
        let mut fields = line.splitn(7, ',').map(str::trim);
        let index = fields.next()?.parse().ok()?;
        let uuid = fields.next()?;
        let mut size = || fields.next().and_then(number);
        let (total_mib, used_mib, free_mib) = (size(), size(), size());
        let driver = fields.next().filter(|text| !text.is_empty() && !text.starts_with('[')).map(str::to_owned);
        let name = fields.next()?.to_owned();
        let processes = processes.iter().filter(|(card, _)| card == uuid).map(|(_, process)| process.clone()).collect();
        Some(Gpu { maker: "nvidia".to_owned(), index, name, total_mib, used_mib, free_mib, driver, processes })
    };
    cards.lines().filter_map(card).collect()
}

/// Programs with the id of their card.
pub fn nvidia_processes(text: &str) -> Vec<(String, GpuProcess)> {
    let process = |line: &str| {
        let mut fields = line.splitn(4, ',').map(str::trim);
        let card = fields.next()?.to_owned();
        let pid = fields.next()?.parse().ok()?;
        let used_mib = fields.next().and_then(number);
        Some((card, GpuProcess { pid, used_mib, name: fields.next().unwrap_or_default().to_owned() }))
    };
    text.lines().filter_map(process).collect()
}

/// `[N/A]` and its like are no number.
fn number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
}

/// Reads the JSON of `rocm-smi`.
pub fn rocm_cards(text: &str) -> Vec<Gpu> {
    // Warnings may stand before the JSON.
    let json = text.lines().find(|line| line.trim_start().starts_with('{')).unwrap_or_default();
    let Ok(serde_json::Value::Object(cards)) = serde_json::from_str(json).or_else(|_| serde_json::from_str(text))
    else {
        return Vec::new();
    };
    let mut found: Vec<Gpu> = cards.iter().filter_map(|(key, card)| rocm_card(key, card)).collect();
    found.sort_by_key(|card| card.index);
    found
}

fn rocm_card(key: &str, card: &serde_json::Value) -> Option<Gpu> {
    let index = key.strip_prefix("card")?.parse().ok()?;
    // Spelling and case of the keys differ between releases.
    let field = |wanted: &str| {
        card.as_object()?
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .and_then(|(_, value)| value.as_str())
            .map(str::trim)
    };
    let size = |wanted: &str| field(wanted).and_then(number).map(|bytes| bytes / MIB);
    let total_mib = size("VRAM Total Memory (B)");
    let used_mib = size("VRAM Total Used Memory (B)");
    let name = ["Card Series", "Device Name", "Card Model"]
        .into_iter()
        .find_map(field)
        .filter(|name| *name != "N/A")
        .unwrap_or_default()
        .to_owned();
    let free_mib = total_mib.zip(used_mib).map(|(total, used)| (total - used).max(0.0));
    Some(Gpu {
        maker: "amd".to_owned(),
        index,
        name,
        total_mib,
        used_mib,
        free_mib,
        driver: None,
        processes: Vec::new(),
    })
}

/// The kernel's own figures of AMD cards, where no tool is installed.
fn amd_files(host: &dyn Host) -> Vec<Gpu> {
    let mut found = Vec::new();
    for card in 0..16 {
        let size = |name: &str| {
            host.read(&format!("/sys/class/drm/card{card}/device/mem_info_vram_{name}"))
                .ok()
                .and_then(|text| number(&text))
                .map(|bytes| bytes / MIB)
        };
        let Some(total) = size("total") else { continue };
        let used_mib = size("used");
        found.push(Gpu {
            maker: "amd".to_owned(),
            index: card,
            name: String::new(),
            total_mib: Some(total),
            used_mib,
            free_mib: used_mib.map(|used| (total - used).max(0.0)),
            driver: None,
            processes: Vec::new(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvidia_smi_is_read() {
        let cards = "0, GPU-a, 24564, 3012, 21552, 550.54.14, NVIDIA GeForce RTX 4090\n1, GPU-b, [N/A], [N/A], [N/A], 550.54.14, NVIDIA GB10, rev 2\n";
        let processes = "GPU-a, 4711, 2900, /usr/bin/python3\nGPU-a, 12, [N/A], X\n";
        let found = nvidia_cards(cards, processes);
        assert_eq!(
            (found[0].total_mib, found[0].used_mib, found[0].free_mib),
            (Some(24564.0), Some(3012.0), Some(21552.0))
        );
        assert_eq!(found[0].processes.len(), 2);
        assert_eq!(
            (found[0].processes[0].pid, found[0].processes[0].used_mib, found[0].processes[1].used_mib),
            (4711, Some(2900.0), None)
        );
        assert_eq!((found[1].name.as_str(), found[1].total_mib), ("NVIDIA GB10, rev 2", None));
        assert!(nvidia_cards("No devices were found\n", "").is_empty());
    }

    #[test]
    fn rocm_smi_is_read() {
        let text = "WARNING: something\n{\"card1\": {\"VRAM Total Memory (B)\": \"17163091968\", \"VRAM Total Used Memory (B)\": \"1048576\", \"Card series\": \"Radeon RX 7800 XT\"}, \"system\": {\"Driver version\": \"6.3\"}}\n";
        let found = rocm_cards(text);
        assert_eq!(
            (found.len(), found[0].index, found[0].name.as_str(), found[0].used_mib),
            (1, 1, "Radeon RX 7800 XT", Some(1.0))
        );
        assert!(rocm_cards("rocm-smi: no GPU").is_empty());
    }
}
