//! A probe as text, Markdown and JSON: the answer first, then the facts, then what each version would derive.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Block, Item};
use super::html::{self, Head};
use super::json::pretty;
use super::label::Labels;
use super::layout::wrap;
use super::markdown;
use super::palette::{Tone, paint};
use super::printer::tool;
use super::{View, blocks};
use crate::catalog::Packs;
use crate::probe::{Certainty, Hierarchy, Probe};
use crate::report::{Derived, PROBE_SCHEMA_VERSION, ProbeReport, Sight, Suggestion, Tool};
use crate::text;

const MIB: f64 = 1024.0 * 1024.0;

/// What `probe --format json` prints; `--env` takes it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProbeOutput<'p> {
    pub schema_version: u32,
    pub tool: Tool,
    #[serde(flatten)]
    pub report: &'p ProbeReport,
}

/// The report as one indented JSON value.
pub fn probe_json(report: &ProbeReport) -> io::Result<String> {
    pretty(&ProbeOutput { schema_version: PROBE_SCHEMA_VERSION, tool: tool(), report })
}

/// The report for a terminal.
pub fn probe_text(report: &ProbeReport, packs: &Packs, view: &View) -> String {
    let labels = Labels::new(packs, report.language == "zh");
    let tone = tone(report.sight);
    let mut out = String::new();
    for line in wrap(&report.headline, view.width.max(40)) {
        out.push_str(&format!("{}\n", paint(view.palette.tone(tone), &line)));
    }
    blocks(&mut out, &outline(report, &labels), view);
    out
}

/// The report as a page.
pub fn probe_page(report: &ProbeReport, packs: &Packs) -> String {
    let labels = Labels::new(packs, report.language == "zh");
    let head = Head { headline: &report.headline, standing: "", tone: tone(report.sight) };
    html::page_of(&head, &[], &outline(report, &labels), &labels)
}

fn tone(sight: Sight) -> Tone {
    match sight {
        Sight::Blind => Tone::Fault,
        Sight::Unknown | Sight::Throttled => Tone::Doubt,
        Sight::Unlimited | Sight::Sees | Sight::Virtualised => Tone::Fine,
    }
}

/// The report for pasting.
pub fn probe_markdown(report: &ProbeReport, packs: &Packs) -> String {
    let labels = Labels::new(packs, report.language == "zh");
    format!("**{}**\n\n{}", markdown::escape(&report.headline), markdown::blocks(&outline(report, &labels)))
}

fn outline(report: &ProbeReport, labels: &Labels<'_>) -> Vec<Block> {
    let mut list = facts(&report.probe, labels);
    if !report.derived.is_empty() {
        list.push(table(&report.derived, labels));
        if report.derived.iter().any(|derived| derived.card_assumed) {
            list.push(Block::Figures(vec![labels.get("probe-card-assumed")]));
        }
    }
    if let Some(suggestion) = &report.suggestion {
        list.extend(suggested(suggestion, labels));
    }
    if !report.notes.is_empty() {
        list.push(items(labels.get("probe-note"), &report.notes, false));
    }
    if !report.next_steps.is_empty() {
        list.push(items(labels.get("next"), &report.next_steps, true));
    }
    list
}

fn items(label: String, texts: &[String], numbered: bool) -> Block {
    Block::Items { label, items: texts.iter().map(Item::text).collect(), numbered }
}

fn size(bytes: Option<u64>) -> Option<String> {
    bytes.map(|bytes| text::bytes(bytes as f64))
}

fn facts(probe: &Probe, labels: &Labels<'_>) -> Vec<Block> {
    let mut list = Vec::new();
    let mut add = |id: &str, text: String| list.push(Block::line(labels.get(id), text));
    add("probe-limit", limit(probe, labels));
    let memory = &probe.memory;
    if let Some(total) = size(memory.total_bytes) {
        let available = size(memory.available_bytes).unwrap_or_else(|| "?".to_owned());
        add("probe-ram", labels.with("probe-ram-text", &[("total", &total), ("available", &available)]));
    }
    if let Some(disk) = size(memory.swap_disk_bytes.or(memory.swap_total_bytes)) {
        let zram = text::bytes(memory.swap_zram_bytes.unwrap_or(0) as f64);
        let id = if memory.swap_zram_bytes.unwrap_or(0) > 0 { "probe-swap-zram" } else { "probe-swap-text" };
        add("probe-swap", labels.with(id, &[("disk", &disk), ("zram", &zram)]));
    }
    if let Some(shm) = size(memory.shm_bytes) {
        add("probe-shm", shm);
    }
    for gpu in &probe.gpus {
        let mib = |mib: Option<f64>| mib.map_or_else(|| "?".to_owned(), text::mib);
        let programs = gpu.processes.len().to_string();
        let driver = gpu.driver.clone().unwrap_or_else(|| "?".to_owned());
        let values = [
            ("name", gpu.name.as_str()),
            ("total", &mib(gpu.total_mib)),
            ("used", &mib(gpu.used_mib)),
            ("free", &mib(gpu.free_mib)),
            ("driver", &driver),
            ("programs", &programs),
        ];
        add("probe-gpu", labels.with("probe-gpu-text", &values));
    }
    if probe.gpus.is_empty() {
        add("probe-gpu", labels.get("probe-gpu-none"));
    }
    if !probe.container.is_empty() {
        let signs: Vec<String> = probe.container.iter().map(|sign| format!("{} ({})", sign.kind, sign.at)).collect();
        add("probe-container", labels.list(&signs));
    }
    list
}

/// The limit with the place that states it, or why there is none.
fn limit(probe: &Probe, labels: &Labels<'_>) -> String {
    let cgroup = &probe.cgroup;
    let used = size(cgroup.current_bytes).unwrap_or_else(|| "?".to_owned());
    let cache = size(cgroup.reclaimable_bytes).unwrap_or_else(|| "?".to_owned());
    let row = |id: &str, bytes: Option<u64>, at: &Option<String>| {
        let (bytes, at) = (size(bytes)?, at.clone()?);
        Some(labels.with(id, &[("limit", &bytes), ("at", &at)]))
    };
    let hard = row(
        if cgroup.hierarchy == Hierarchy::V1 { "probe-limit-v1" } else { "probe-limit-v2" },
        cgroup.limit_bytes,
        &cgroup.limit_at,
    );
    let soft = row("probe-limit-high", cgroup.high_bytes, &cgroup.high_at);
    let found: Vec<String> = hard.into_iter().chain(soft).collect();
    if found.is_empty() {
        return labels.get(match (cgroup.hierarchy, cgroup.certainty) {
            (Hierarchy::None, _) => "probe-limit-no-cgroup",
            (_, Certainty::Known) => "probe-limit-none",
            (_, Certainty::Partial) => "probe-limit-none-seen",
            (_, Certainty::Unknown) => "probe-limit-unknown",
        });
    }
    let limits = labels.join(&found);
    if cgroup.current_bytes.is_some() {
        labels.with("probe-limit-used", &[("limits", &limits), ("used", &used), ("cache", &cache)])
    } else {
        limits
    }
}

fn table(derived: &[Derived], labels: &Labels<'_>) -> Block {
    let head =
        std::iter::once(String::new()).chain(derived.iter().map(|one| format!("ComfyUI {}", one.version))).collect();
    let bytes = |bytes: Option<f64>| bytes.map_or_else(|| "–".to_owned(), text::bytes);
    let from = |at: Option<f64>| match at {
        Some(at) if at < MIB => labels.get("probe-at-once"),
        at => bytes(at),
    };
    let row = |id: &str, value: &dyn Fn(&Derived) -> String| {
        std::iter::once(labels.get(id)).chain(derived.iter().map(value)).collect::<Vec<String>>()
    };
    let rows = vec![
        row("probe-row-ram", &|one| bytes(one.total_ram_bytes)),
        row("probe-row-cache", &|one| one.cache_mode.clone().unwrap_or_else(|| "–".to_owned())),
        row("probe-row-active", &|one| from(one.cache_gives_way_bytes)),
        row("probe-row-idle", &|one| from(one.idle_cache_gives_way_bytes)),
        row("probe-row-pinned", &|one| bytes(one.pinned_ceiling_bytes)),
        row("probe-row-fits", &|one| labels.get(if one.beyond_limit { "probe-beyond" } else { "probe-within" })),
    ];
    Block::Table { head, rows }
}

fn suggested(suggestion: &Suggestion, labels: &Labels<'_>) -> Vec<Block> {
    let mut list = vec![
        Block::Section(labels.with("probe-suggestion", &[("version", &suggestion.version)])),
        Block::Figures(vec![suggestion.text.clone()]),
    ];
    if !suggestion.settings.is_empty() {
        let items = suggestion
            .settings
            .iter()
            .map(|setting| {
                let moves = if setting.moves_with_neighbours {
                    labels.bracket(&labels.get("probe-moves"))
                } else {
                    String::new()
                };
                Item::text(format!("{}: {}{moves}", setting.flags, setting.why.trim_end_matches(['.', '。'])))
            })
            .collect();
        list.push(Block::Items { label: labels.get("probe-settings"), items, numbered: true });
    }
    if !suggestion.thresholds.is_empty() {
        let texts: Vec<String> = suggestion.thresholds.iter().map(|threshold| threshold.text.clone()).collect();
        list.push(items(labels.get("probe-thresholds"), &texts, false));
    }
    if let Some(code) = &suggestion.launcher {
        list.push(Block::Figures(vec![labels.get("probe-launcher")]));
        list.push(Block::Code(code.clone()));
    }
    list
}
