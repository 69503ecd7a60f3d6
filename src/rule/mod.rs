//! Rule packs: what ComfyUI says and defaults to, as data, checked and compiled for matching.

mod kind;
mod matcher;
mod pack;
mod schema;
mod template;
mod version;

pub use kind::EventKind;
pub use matcher::{Hit, Matcher, Rule, RuleError};
pub use pack::{FORMAT, OomPhrase, PackError, PackFile, PackInfo, Packs};
pub use schema::*;
pub use template::{Capture, CaptureType, Captures, Template, TemplateError};
pub use version::{Since, Version, VersionSpan};
