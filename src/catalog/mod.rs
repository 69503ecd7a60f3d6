//! Rule packs: what ComfyUI says and defaults to, as data, checked and compiled for matching.

mod candidates;
mod capture;
mod capture_offsets;
mod error;
mod file;
mod folder;
mod index;
mod kind;
pub mod lint;
mod match_parts;
mod matcher;
pub(crate) mod messages;
mod pack;
mod role;
mod run_out;
mod schema;
mod sign;
mod template;
mod verdict;
mod version;

pub(crate) use candidates::Candidates;
pub use capture::CaptureType;
pub use capture_offsets::{Capture, Captures};
pub(crate) use capture_offsets::{Lent, Spans};
pub use error::PackError;
pub use file::PackFile;
pub use folder::{PackSource, SourceFile, SourceItem, SourceText, read_file, read_folder};
pub use kind::EventKind;
pub(crate) use matcher::{Found, SHORTEST};
pub use matcher::{Hit, Matcher, Rule, RuleError};
pub use pack::{FORMAT, OomPhrase, PackInfo, Packs};
pub use role::FlagRole;
pub use schema::*;
pub use template::{Template, TemplateError};
pub use verdict::{ChecklistRoute, Sought, Verdict, VerdictClass};
pub use version::{Since, Version, VersionSpan};
