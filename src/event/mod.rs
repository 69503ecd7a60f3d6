//! A recognised line becomes a typed, located event.
//!
//! Events borrow from the reader's buffer; whoever keeps something copies it, cut to a sane length.
//! Nothing is concluded here.

mod classify;
mod command_line;
mod constant_prefix;
mod exception;
mod hint;
mod import_table;
mod inferred_prefix;
mod oom;
mod paste;
mod prefix_inference;
mod quote;
mod rich_traceback;
mod size;
mod what;
mod wrapped_line;

use std::borrow::Cow;

pub use classify::{Classifier, Tally};
pub use command_line::{flags_of, looks_like_launch};
pub use exception::split_exception;
pub use size::{GIB, MIB, capture_bytes, parse_size};

use crate::catalog::Rule;
use crate::input::{Bar, Level, Place};

/// Where an event stands, with the text and the rule that recognised it.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    pub place: Place,
    /// The text that was recognised, without prefixes.
    pub text: &'a [u8],
    /// Rule id, or the name of the program's own mechanism (`command-line`, `traceback`).
    pub rule: &'a str,
    pub stamp: Option<&'a [u8]>,
    pub level: Option<Level>,
    /// The line is the end of the input and may be cut.
    pub cut: bool,
    /// The text stood at the end of a progress bar.
    pub glued: bool,
}

impl<'a> At<'a> {
    /// The text as Unicode.
    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.text)
    }
}

/// Value of a fact as a line states it.
#[derive(Debug, Clone, PartialEq)]
pub enum FactValue<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    Bool(bool),
}

/// The numbers of an allocator's message, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct OomNumbers {
    pub requested: Option<f64>,
    pub capacity: Option<f64>,
    pub free: Option<f64>,
    /// "this process has … in use", PyTorch and everything else together.
    pub process: Option<f64>,
    /// Sum of the other processes.
    pub others: Option<f64>,
    pub allocated: Option<f64>,
    pub reserved_unallocated: Option<f64>,
    pub reserved_total: Option<f64>,
    pub limit: Option<f64>,
    pub graph_pools: Option<f64>,
    /// MPS: memory of the Metal driver outside PyTorch's pool.
    pub other_allocations: Option<f64>,
}

/// Sizes of a batch of pictures that a line tells; what it does not tell is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Dimensions {
    pub frames: Option<u64>,
    pub width: Option<u64>,
    pub height: Option<u64>,
    pub channels: Option<u64>,
}

/// Shape of an array, outermost first, and the bytes of one of its numbers.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Array {
    pub shape: Vec<u64>,
    pub bytes: Option<u64>,
}

/// Whose end a line tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Whose<'a> {
    /// The line does not say.
    Unsaid,
    /// Name of a process.
    Process(Cow<'a, str>),
    /// What was typed or what a script started.
    Command(Cow<'a, str>),
    /// What a supervisor looks after.
    Service(Cow<'a, str>),
}

/// Named captures of a line.
pub type Fields<'a> = Vec<(&'a str, Cow<'a, str>)>;

/// What a line says.
#[derive(Debug, Clone)]
pub enum What<'a> {
    Fact {
        name: &'a str,
        value: FactValue<'a>,
        weak: bool,
    },
    Launch {
        args: Cow<'a, str>,
    },
    ServerStart,
    ServerReady,
    PromptGot,
    PromptExecuted {
        seconds: f64,
    },
    /// ComfyUI refused a prompt; `fields` are what the line names: node, type, reason.
    PromptInvalid {
        fields: Fields<'a>,
    },
    /// Part of the reasons of a refusal.
    PromptDetail {
        fields: Fields<'a>,
    },
    /// An output of a workflow is left out; the others may still run.
    OutputIgnored,
    /// The server could not answer a request of the browser.
    RequestFailed,
    /// The traceback that follows ended a thread of this name; `worker`: the one that runs prompts.
    ThreadDied {
        name: Cow<'a, str>,
        worker: bool,
    },
    PromptInterrupted,
    LoadRequested {
        class: Cow<'a, str>,
    },
    LoadComplete {
        class: Option<Cow<'a, str>>,
        loaded: Option<f64>,
        /// Room for weights before the load, where the line tells it.
        usable: Option<f64>,
    },
    LoadPartial {
        class: Option<Cow<'a, str>>,
        loaded: Option<f64>,
        offloaded: Option<f64>,
    },
    LoadDynamic {
        class: Cow<'a, str>,
        staged: f64,
    },
    LoadOld,
    /// A model was built; `part` and `device` where the text says what it is and where it will be loaded.
    Loader {
        part: Cow<'a, str>,
        device: Cow<'a, str>,
    },
    Unload {
        count: u64,
    },
    UnloadPartial {
        freed: Option<f64>,
    },
    UnloadDetail,
    LeakPotential {
        class: Cow<'a, str>,
    },
    LeakWarning {
        class: Cow<'a, str>,
    },
    /// `!!! Exception during processing !!!`; the message follows as events of its own.
    Exception {
        message: Cow<'a, str>,
        /// Type of the node, where the line names it.
        node: Option<Cow<'a, str>>,
    },
    /// `stack`: where the program stood, printed without an error.
    TracebackStart {
        stack: bool,
    },
    TracebackFrame {
        file: Cow<'a, str>,
        line: u64,
        function: Cow<'a, str>,
    },
    /// Last line of a traceback, or such a line without one.
    ExceptionLine {
        kind: Cow<'a, str>,
        message: Cow<'a, str>,
    },
    /// The numbers are boxed, since every event would be as large as this rare one.
    Oom {
        kind: Cow<'a, str>,
        numbers: Box<OomNumbers>,
        sizes: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    },
    OomField {
        numbers: Box<OomNumbers>,
        sizes: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    },
    OomUnload,
    OomTip,
    OomSummary,
    TiledRetry,
    AttentionRetry,
    /// How large the pictures are that a node works on.
    Dimensions(Dimensions),
    HostOom {
        kind: Cow<'a, str>,
        requested: Option<f64>,
        /// The array that did not fit, where the text tells its shape.
        array: Option<Array>,
    },
    KernelOom {
        constraint: Cow<'a, str>,
        whose: Whose<'a>,
    },
    KernelKill {
        pid: u64,
        name: Cow<'a, str>,
        anon_rss: Option<f64>,
        cgroup: bool,
    },
    Kill {
        whose: Whose<'a>,
    },
    /// A daemon ended the process of this name, or of a group without one.
    OomDaemon {
        whose: Whose<'a>,
    },
    Exit {
        code: i64,
        whose: Whose<'a>,
    },
    Crash {
        whose: Whose<'a>,
    },
    /// It was stopped on purpose; `explains`: what ended before this line did so because of that.
    Stop {
        whose: Whose<'a>,
        explains: bool,
    },
    /// Whoever looks after it took it for dead: `kind` names what it had not answered.
    GaveUp {
        whose: Whose<'a>,
        kind: Cow<'a, str>,
    },
    Pause,
    ContainerHint,
    ContainerLimit {
        bytes: f64,
    },
    OomKilledFlag {
        value: bool,
    },
    /// The kernel counted no kill for memory while the program ran.
    OomNotCounted,
    ImportRow {
        seconds: f64,
        path: Cow<'a, str>,
        failed: bool,
    },
    /// What a row's path is as a whole, of which `begun` was told.
    ImportPath {
        begun: Cow<'a, str>,
        path: Cow<'a, str>,
    },
    ImportFailed {
        path: Cow<'a, str>,
        reason: Cow<'a, str>,
    },
    NodesDisabled,
    NodeSkipped {
        name: Cow<'a, str>,
    },
    PinError,
    Aimdo {
        level: Cow<'a, str>,
        message: Cow<'a, str>,
    },
    CacheEvict {
        active: bool,
        full: bool,
    },
    PinEvict {
        freed: Option<f64>,
    },
    DetailLoad {
        class: Cow<'a, str>,
        ram: Option<f64>,
        vram: Option<f64>,
    },
    DeviceClone {
        class: Cow<'a, str>,
        device: Cow<'a, str>,
    },
    ReportField {
        name: &'a str,
        value: Cow<'a, str>,
    },
    ReportStart,
    ReportSection {
        section: Cow<'a, str>,
    },
    Bar(Bar),
    Notice,
    ErrorNotice,
    Noise,
}

/// An event: what, and where.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    pub at: At<'a>,
    /// Borrowed, since copying what was just written makes the processor wait.
    pub what: &'a What<'a>,
    /// The rule, when a pack's rule recognised the line.
    pub rule: Option<&'a Rule>,
    /// Blanks before the text; frames of a traceback are indented, its last line is not.
    pub indent: u32,
    /// A level tag stood before the text.
    pub tagged: bool,
    /// The event was found inside another one's message.
    pub nested: bool,
}

/// Receives events in the order of the log.
pub trait EventSink {
    fn event(&mut self, event: &Event<'_>);

    /// A line that no rule knows. Most lines of a talkative log are, so they come without the rest of an event.
    fn unknown(&mut self, _at: &At<'_>) {}
}
