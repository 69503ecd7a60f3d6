//! The closed list of things a line can mean, and which captures each needs.
//!
//! Packs say which of these a text is; only the program knows what follows from it.

use serde::{Deserialize, Serialize};

/// What a matched text means to the program. The table in `docs/rule-format.md` explains each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    Fact,
    Launch,
    ServerStart,
    ServerReady,
    PromptGot,
    PromptExecuted,
    PromptInvalid,
    PromptDetail,
    OutputIgnored,
    RequestFailed,
    ThreadDied,
    PromptInterrupted,
    LoadRequested,
    LoadComplete,
    LoadPartial,
    LoadDynamic,
    LoadOld,
    Loader,
    Unload,
    UnloadPartial,
    UnloadDetail,
    LeakPotential,
    LeakWarning,
    Exception,
    TracebackStart,
    TracebackFrame,
    ExceptionLine,
    Oom,
    OomField,
    OomUnload,
    OomTip,
    OomSummary,
    TiledRetry,
    AttentionRetry,
    Dimensions,
    HostOom,
    KernelOom,
    KernelKill,
    Kill,
    OomDaemon,
    Exit,
    Crash,
    Stop,
    GaveUp,
    Pause,
    ContainerHint,
    ContainerLimit,
    OomKilledFlag,
    OomNotCounted,
    ImportRow,
    ImportFailed,
    NodesDisabled,
    NodeSkipped,
    PinError,
    Aimdo,
    CacheEvict,
    PinEvict,
    DetailLoad,
    DeviceClone,
    ReportField,
    ReportStart,
    ReportSection,
    Notice,
    ErrorNotice,
    Noise,
}

impl EventKind {
    /// Captures without which the event would say nothing.
    pub fn required(self) -> &'static [&'static str] {
        match self {
            Self::LoadRequested | Self::LeakPotential | Self::LeakWarning | Self::DetailLoad => &["class"],
            Self::LoadDynamic => &["class", "staged"],
            Self::DeviceClone => &["class", "device"],
            Self::PromptExecuted => &["seconds"],
            Self::Unload => &["count"],
            Self::ThreadDied => &["name"],
            Self::TracebackFrame => &["file"],
            Self::ExceptionLine => &["type"],
            Self::KernelOom => &["constraint"],
            Self::KernelKill => &["pid"],
            Self::Exit => &["code"],
            Self::ContainerLimit => &["limit"],
            Self::OomKilledFlag => &["value"],
            Self::ImportRow => &["seconds", "path"],
            Self::ImportFailed => &["path"],
            Self::NodeSkipped => &["name"],
            Self::Aimdo => &["level", "message"],
            Self::Launch => &["args"],
            _ => &[],
        }
    }

    /// The text is ComfyUI's own, so a log that holds it was written by ComfyUI. Shells, kernels and
    /// allocators print the others for any program.
    pub fn is_comfyui(self) -> bool {
        matches!(
            self,
            Self::PromptGot
                | Self::PromptExecuted
                | Self::PromptInvalid
                | Self::PromptDetail
                | Self::OutputIgnored
                | Self::ServerReady
                | Self::LoadRequested
                | Self::LoadComplete
                | Self::LoadPartial
                | Self::LoadDynamic
                | Self::LoadOld
                | Self::Unload
                | Self::LeakPotential
                | Self::LeakWarning
                | Self::Exception
                | Self::OomUnload
                | Self::ImportRow
                | Self::ImportFailed
                | Self::NodesDisabled
                | Self::ReportStart
                | Self::Aimdo
                | Self::CacheEvict
                | Self::PinEvict
                | Self::DetailLoad
                | Self::Launch
                | Self::TiledRetry
                | Self::PinError
                | Self::OomTip
                | Self::AttentionRetry
        )
    }
}
