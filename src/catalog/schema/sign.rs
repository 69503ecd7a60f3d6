//! Texts by which a system, a card or a circumstance is known: `[[sign]]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a sign tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignOf {
    /// The operating system.
    Os,
    /// Who made the card.
    Gpu,
    /// A circumstance that remedies ask for in `when`.
    Circumstance,
    /// A folder of nodes that ships with ComfyUI.
    OwnFolder,
    /// A command line that can be typed again.
    CommandLine,
    /// The name of a process that may be ComfyUI's, as the kernel tells whom it killed.
    Process,
    /// A command that may have started ComfyUI, as a shell tells what ended.
    Command,
    /// A service that is never ComfyUI, as a supervisor tells what ended.
    OtherService,
    /// An exception, as `type: message`, whose cause lies outside the code that it passed through.
    Outside,
    /// The folder that holds node packs, one in a folder of its own.
    NodeFolder,
    /// A folder that holds installed Python packages.
    LibraryFolder,
    /// A command that installs what ComfyUI itself requires.
    RequirementsCommand,
    /// Another program than ComfyUI, named by `is`.
    OtherProgram,
    /// A text that begins a line of ComfyUI's, by which a log on one line is split.
    PasteHead,
    /// A text inside such lines, whose capital letters a log in small letters has lost.
    PastePhrase,
    /// A frame of an exception that follows from what the rule `is` told before.
    Consequence,
    /// A folder of packages that a user installed beside every Python.
    UserSite,
    /// A folder of nodes that ships with ComfyUI, as it stands in a path.
    OwnNodes,
    /// A script of a node pack that runs before ComfyUI starts.
    StartScript,
    /// A folder of ComfyUI's own whose functions run when models do.
    ModelFolder,
    /// A folder, in small letters, that such a folder can only stand in; what lies above it tells nothing.
    OuterFolder,
    /// The type of an exception that says that something could not be imported.
    ImportFault,
    /// The file of ComfyUI's main program.
    MainFile,
    /// The file of ComfyUI that runs the nodes of a prompt.
    ExecutorFile,
    /// An area of message rules whose texts other programs print too.
    SharedArea,
    /// A question for a container's memory limit, which the next line answers with a bare number of bytes.
    LimitQuestion,
    /// A line by which something that runs containers tells an end.
    ContainerEnd,
    /// The kernel's word for the limit that was met when it killed.
    KillConstraint,
    /// The type of an exception that says that RAM was refused.
    MemoryFault,
    /// A step of a prompt's work in which it failed.
    Phase,
    /// What kind of node asked for the memory that was refused.
    Requester,
    /// The exit code of a program that was killed, in decimal.
    KillCode,
    /// The exit code of a program that was asked to stop (SIGTERM), in decimal.
    StopCode,
    /// What kind of native crash a line tells; the text is the line that tells the crash, with its codes.
    CrashKind,
    /// A library in which native code runs, by a frame of a crash report.
    Library,
    /// A library through which calls only pass, by a frame of a crash report.
    PassedLibrary,
    /// A line that tells an end during the start.
    StartEnd,
    /// What went on in a silence, by the lines around it.
    Silence,
    /// What was on in this start; its word is a tag of remedies.
    Switch,
    /// A node pack whose nodes load the models of a workflow.
    LoaderPack,
    /// A fault of the GPU or of what drives it, by the text that tells it, wherever that stands.
    Fault,
    /// The exit code of a native crash: in decimal, or a status of Windows as `0xC0000005`.
    CrashCode,
    /// A folder of node packs, in small letters, whose nodes free memory: they hide a leak and repair none.
    HidingPack,
}

/// Which texts of a log are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignPlace {
    /// The fact that `fact` names.
    #[default]
    Fact,
    /// Classes of models that were loaded.
    Class,
    /// Folders of node packs, in the import table and in tracebacks.
    Folder,
    /// Frames of tracebacks, as `file function` with `/` in the path, and of crash reports; of a phase and a requester the
    /// source line as well.
    Frame,
    /// The type of the node that failed.
    Node,
    /// Lines that tell a crash, an exit code or a fault of the GPU.
    Fault,
    /// What a finding says in figures.
    Figure,
    /// What a finding says, in its summary and in figures.
    Said,
    /// Paths of the installation, of the user's folder and of node packs.
    Path,
    /// The line or the word itself; of a system, the command line that started ComfyUI.
    Line,
}

/// A text by which something is known. `[[sign]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignDef {
    /// Unique.
    pub id: String,
    /// What it tells of.
    pub of: SignOf,
    /// Which system, card or circumstance it shows.
    #[serde(default)]
    pub is: String,
    /// The sentence that tells of an error with a cause outside.
    #[serde(default)]
    pub says: String,
    /// Where it is looked for.
    #[serde(default)]
    pub place: SignPlace,
    /// The fact, where a fact is looked at.
    #[serde(default)]
    pub fact: String,
    /// One of these, one that begins so, ends so or holds it is enough. None at all: any text will do.
    #[serde(default)]
    pub equals: Vec<String>,
    #[serde(default)]
    pub starts: Vec<String>,
    #[serde(default)]
    pub ends: Vec<String>,
    #[serde(default)]
    pub has: Vec<String>,
    /// All of these must be in it.
    #[serde(default)]
    pub all: Vec<String>,
    /// None of these may be in it.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Other facts that must have these texts.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
}
