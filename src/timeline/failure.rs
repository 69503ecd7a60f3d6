//! Failures: exceptions with their frames, out-of-memory records, failed RAM allocations.

use std::collections::BTreeMap;

use serde::Serialize;

use super::evidence::Evidence;
use crate::event::{Array, Dimensions, OomNumbers};
use crate::text::cut_chars;

/// Where an exception was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExceptionPlace {
    /// While a prompt ran.
    Prompt,
    /// While a node pack was imported.
    Import,
    /// Before the server was ready.
    Start,
    /// While the server ran, outside prompts or beside them: a client that went away, a route of a node pack.
    Idle,
    /// No frame and no line around it tells whether ComfyUI started or worked.
    Unknown,
}

/// What a frame of a traceback shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FrameSign {
    /// As the packs' signs call it.
    pub is: String,
    /// Its line in the log.
    pub line: u64,
    /// Function of the frame.
    pub function: String,
}

/// An exception told by the log, however many lines tell it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exception {
    pub kind: Option<String>,
    pub message: String,
    /// Node class that failed, when an Error Report names it.
    pub node: Option<String>,
    /// The line that names it.
    pub node_line: Option<u64>,
    /// Step of the work, by the innermost frame that shows one, as the packs call it.
    pub phase: Option<FrameSign>,
    /// What asked for memory, by the innermost frame that shows it.
    pub requester: Option<FrameSign>,
    /// Folders under `custom_nodes` in the traceback, outermost first.
    pub dirs: Vec<String>,
    /// The last frame lies in the last of `dirs`.
    pub innermost_is_node: bool,
    /// Last frames as `file:line function`.
    pub frames: Vec<String>,
    pub place: ExceptionPlace,
    /// Told by an Error Report's own fields.
    pub from_report: bool,
    pub at: Evidence,
    /// A frame lies in ComfyUI's executor.
    pub in_execution: bool,
    /// A frame lies in a function of ComfyUI's model code.
    pub in_models: bool,
    /// A frame is a module's own code: something is being imported, or the program begins.
    pub in_module: bool,
    /// A frame is the main program's own code, so what is raised here ends it.
    pub in_main: bool,
    /// A frame lies in the main program's file.
    pub passes_main: bool,
    /// Its first line was seen, so nothing of it is cut off.
    pub headed: bool,
    /// Another program shows it, which got it from ComfyUI.
    pub from_client: bool,
    /// The last file of an installed package that it passed.
    pub library: Option<String>,
    /// The thread that it ended; ComfyUI goes on.
    pub thread: Option<String>,
    /// First frame seen, as in `frames`; of a native crash it is the innermost one.
    pub first_frame: Option<String>,
    /// The traceback's last line, with type and message.
    pub last_line_at: Option<Evidence>,
    /// Evidence of the innermost frame inside a node pack.
    pub dir_at: Option<Evidence>,
    pub prompt: u64,
    /// It is an out-of-memory error, told in `ooms` or `host_ooms` too.
    pub is_oom: bool,
}

impl Exception {
    pub(crate) fn new(at: Evidence, place: ExceptionPlace, prompt: u64) -> Self {
        Self {
            kind: None,
            message: String::new(),
            node: None,
            node_line: None,
            phase: None,
            requester: None,
            dirs: Vec::new(),
            innermost_is_node: false,
            frames: Vec::new(),
            place,
            from_report: false,
            at,
            in_execution: false,
            in_models: false,
            in_module: false,
            in_main: false,
            passes_main: false,
            headed: false,
            from_client: false,
            library: None,
            thread: None,
            first_frame: None,
            last_line_at: None,
            dir_at: None,
            prompt,
            is_oom: false,
        }
    }

    pub(crate) fn set_message(&mut self, message: &str) {
        self.message = cut_chars(message, 400);
    }
}

/// One out-of-memory of a GPU with all its numbers, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OomRecord {
    /// Spelling: `CUDA`, `HIP`, `XPU`, `MPS`, `DirectML`, `fraction`, `allocation-on-device`, `cuda-error`, `unknown`.
    pub kind: String,
    pub numbers: OomNumbersJson,
    /// Sizes as they stood in the log.
    pub sizes: Vec<(String, String)>,
    pub node: Option<String>,
    /// The line that names the node.
    pub node_line: Option<u64>,
    pub at: Evidence,
    /// Last line of the message itself.
    pub last_line: u64,
    /// The line that each number stood in, by the number's name.
    pub number_lines: BTreeMap<String, u64>,
    pub prompt: u64,
    /// `Got an OOM, unloading all loaded models.` followed.
    pub unloaded_all: Option<Evidence>,
    pub from_report: bool,
    /// MiB that the load lines said were on the card at that moment, by class.
    pub resident_mib: Vec<(String, f64, u64)>,
    /// Class of the last load before it.
    pub last_load: Option<(String, u64)>,
    /// Class that was requested and whose load line had not come.
    pub loading: Option<String>,
    /// A bar had begun and not ended.
    pub sampling: Option<(u64, u64)>,
    /// The prompt after it ended well.
    pub recovered: bool,
}

impl OomRecord {
    /// The line that holds this number; the message's first line where the number was not told.
    pub fn line_of(&self, name: &str) -> u64 {
        self.number_lines.get(name).copied().unwrap_or(self.at.place.line)
    }
}

/// [`OomNumbers`] as plain data.
pub type OomNumbersJson = OomNumbers;

/// Sizes of pictures that a line told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pictures {
    pub sizes: Dimensions,
    pub line: u64,
    pub prompt: u64,
}

/// A failed allocation of RAM.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostOom {
    /// `cpu-alloc`, `numpy`, `memory-error`, `paging-file`, `mmap`.
    pub kind: String,
    pub requested: Option<f64>,
    /// The array that did not fit.
    pub array: Option<Array>,
    pub at: Evidence,
    pub prompt: u64,
}
