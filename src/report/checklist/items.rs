//! Single pieces of information that people who help ask for: there, missing, or never in a log.

use super::Piece;
use super::case::Case;
use crate::diagnosis::{Gpu, Launch, Messages, Os};
use crate::text;
use crate::timeline::FactJson;

/// Facts of the baseline by their ids here; those without a star may be missing without harm.
const FACTS: [(&str, &str, bool); 12] = [
    ("version", "comfyui_version", true),
    ("pytorch", "pytorch_version", true),
    ("python", "python_version", false),
    ("gpu", "device", true),
    ("vram", "total_vram_mib", true),
    ("ram", "total_ram_mib", true),
    ("vram-state", "vram_state", true),
    ("attention", "attention", false),
    ("cache-mode", "cache_mode", false),
    ("dynamic-vram", "dynamic_vram", false),
    ("pinned", "pinned_budget_mib", false),
    ("frontend", "frontend_version", false),
];

/// All pieces, in the order in which they are shown.
pub(super) fn pieces(main: &Case<'_>, launch: Option<&Launch<'_>>, messages: &Messages<'_>) -> Vec<Piece> {
    let session = main.session();
    let mut list = List { messages, pieces: Vec::new() };
    let log = launch.map(|launch| launch.log(messages));
    list.add(
        "error-text",
        main.problem().and_then(|problem| problem.evidence.first()).map(|line| (line.text.clone(), line.at.line)),
        None,
        true,
    );
    let command = session
        .fact("launcher")
        .or_else(|| session.fact("flags"))
        .map(|fact| (fact.at.text.clone(), fact.at.place.line));
    let command = command.or_else(|| session.flags.first().map(|flag| (flag.at.text.clone(), flag.at.place.line)));
    list.add("command-line", command, Some(messages.text("checklist-supply-command", &[])), true);
    for (id, name, needed) in FACTS {
        let value = session.fact(name).map(|fact| (shown(name, &fact.value), fact.at.place.line));
        list.add(id, value, log.clone(), needed);
    }
    // The system is read off paths and builds where no line names it.
    let system = system(main, launch);
    let os = match system {
        Os::Windows => Some("Windows"),
        Os::Linux => Some("Linux"),
        Os::Wsl => Some("WSL"),
        Os::MacOs => Some("macOS"),
        Os::Unknown => None,
    };
    list.add("os", os.map(|os| (os.to_owned(), 0)), log.clone(), true);
    let packs: Vec<&str> = main.view.packs_loaded().map(|node| node.dir.as_str()).collect();
    let table = session
        .nodes
        .first()
        .map(|node| node.at.place.line)
        .or_else(|| main.without_packs_at().map(|at| at.place.line));
    let none = messages.text("checklist-no-packs", &[]);
    let packs = table.map(|line| (if packs.is_empty() { none } else { packs.join(", ") }, line));
    list.add("node-packs", packs, log.clone(), true);
    list.add(
        "from-start",
        session.fact("total_vram_mib").map(|fact| (messages.text("checklist-from-start", &[]), fact.at.place.line)),
        log,
        true,
    );
    for (id, supply) in outside(main, system) {
        let label = messages.text(&format!("checklist-item-{id}"), &[]);
        list.pieces.push(Piece {
            id: id.to_owned(),
            label,
            state: "not-in-a-log".to_owned(),
            value: None,
            line: None,
            supply: Some(supply.to_owned()),
        });
    }
    list.pieces
}

struct List<'w> {
    messages: &'w Messages<'w>,
    pieces: Vec<Piece>,
}

impl List<'_> {
    /// Adds a piece; what is missing and not needed is passed over.
    fn add(&mut self, id: &str, value: Option<(String, u64)>, supply: Option<String>, needed: bool) {
        if value.is_none() && !needed {
            return;
        }
        let state = if value.is_some() { "present" } else { "missing" };
        let line = value.as_ref().map(|(_, line)| *line).filter(|line| *line > 0);
        self.pieces.push(Piece {
            id: id.to_owned(),
            label: self.messages.text(&format!("checklist-item-{id}"), &[]),
            state: state.to_owned(),
            supply: supply.filter(|_| value.is_none()),
            value: value.map(|(value, _)| value),
            line,
        });
    }
}

fn shown(name: &str, value: &FactJson) -> String {
    match value {
        FactJson::Text(text) => text.clone(),
        FactJson::Bool(true) => "on".to_owned(),
        FactJson::Bool(false) => "off".to_owned(),
        FactJson::Number(number) if name.ends_with("_mib") => format!("{} MiB", text::number(*number, 0)),
        FactJson::Number(number) => text::number(*number, 2),
    }
}

/// The system: as the log shows it, else the one that the way of starting is for.
fn system(main: &Case<'_>, launch: Option<&Launch<'_>>) -> Os {
    let by_launcher = launch.filter(|launch| launch.at.is_some()).and_then(|launch| Os::named(&launch.def.os));
    if main.view.os == Os::Unknown { by_launcher.unwrap_or(Os::Unknown) } else { main.view.os }
}

/// What no log holds, with the command that tells it on this system.
fn outside(main: &Case<'_>, system: Os) -> Vec<(&'static str, &'static str)> {
    let mut list = Vec::new();
    let driver = match main.view.gpu {
        Gpu::Nvidia | Gpu::Unknown => Some("nvidia-smi"),
        Gpu::Amd if system == Os::Linux => Some("rocm-smi --showdriverversion"),
        Gpu::Amd | Gpu::Intel | Gpu::DirectMl => Some("dxdiag"),
        Gpu::Apple | Gpu::Cpu => None,
    };
    list.extend(driver.map(|command| ("driver", command)));
    let (swap, disk) = match system {
        Os::Windows => {
            ("Get-CimInstance Win32_PageFileUsage", "Get-PhysicalDisk | Select-Object FriendlyName, MediaType")
        }
        Os::MacOs => ("sysctl vm.swapusage", "diskutil info /"),
        _ => ("swapon --show", "lsblk -d -o NAME,ROTA,MODEL"),
    };
    list.push(("page-file", swap));
    list.push(("disk", disk));
    list
}
