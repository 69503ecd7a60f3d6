//! What a command may know of the process around it, gathered once so that tests can say otherwise.

use std::io::IsTerminal;
use std::path::PathBuf;

use crate::input::Bounds;
use crate::system::System;
use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

/// Columns when no terminal tells.
const USUAL_WIDTH: usize = 100;
/// Wider rows are hard to read.
const WIDEST: usize = 160;

/// Environment and terminal.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The locale asks for Chinese.
    pub chinese: bool,
    /// Packs that are always used: those of the configuration folder, then those of `COMFY_TRIAGE_RULES`.
    pub rule_folders: Vec<PathBuf>,
    /// The locale is none of UTF-8, so that block characters would not be shown.
    pub ascii: bool,
    /// The answer is JSON, so that faults are as well.
    pub json_faults: bool,
    /// Columns of the terminal, when known.
    pub columns: Option<usize>,
    /// Nothing is piped in.
    pub stdin_is_terminal: bool,
    /// How much a log may take.
    pub bounds: Bounds,
    /// The system and its user's folders.
    pub system: System,
}

impl Environment {
    /// Those of this process.
    pub fn of_process() -> Self {
        let system = System::of_process();
        let columns = std::env::var("COLUMNS").ok();
        let columns = columns.and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
        Self {
            chinese: system.is_chinese(),
            rule_folders: rule_folders(),
            ascii: system.is_ascii(),
            json_faults: false,
            columns: columns.or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            bounds: Bounds::default(),
            system,
        }
    }

    /// The window would close before somebody has read it.
    pub fn waits_at_end(&self) -> bool {
        self.stdin_is_terminal && self.system.closes_at_end()
    }

    /// Columns to lay out for.
    pub fn width(&self) -> usize {
        self.columns.unwrap_or(USUAL_WIDTH).min(WIDEST)
    }
}

/// Packs that the user set up once for all calls, lowest layer first.
fn rule_folders() -> Vec<PathBuf> {
    let named = std::env::var_os("COMFY_TRIAGE_RULES");
    let named = named.iter().flat_map(std::env::split_paths).filter(|path| !path.as_os_str().is_empty());
    configured_packs().into_iter().chain(named).collect()
}

/// Packs in the configuration folder: `rules/` itself when it holds a pack, else each pack folder in it.
fn configured_packs() -> Vec<PathBuf> {
    let Ok(strategy) = choose_base_strategy() else { return Vec::new() };
    let rules = strategy.config_dir().join("comfy-triage").join("rules");
    if rules.join("pack.toml").is_file() {
        return vec![rules];
    }
    let entries = std::fs::read_dir(&rules).into_iter().flatten().filter_map(Result::ok);
    let mut packs: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join("pack.toml").is_file()).collect();
    packs.sort();
    packs
}
