//! Answers to the questions that people ask of a log: plain, serializable data.

pub mod bisection;
mod checklist;
mod class_source;
mod clean_json;
mod comparison;
mod page_lines;
mod pictures;
mod probe;
mod redaction;
#[allow(clippy::module_inception)] // the published form of one report, among those of other answers
mod report;
mod triage;

pub use checklist::*;
pub use class_source::{ClassSource, add_class_source, class_source};
pub use comparison::*;
pub use page_lines::{PageLine, page_lines};
pub use pictures::*;
pub use probe::*;
pub use redaction::{Missing, Open, Survey, checked, learn, redactor, write_clean};
pub use report::*;
pub use triage::{Question, answer, read_log};

pub use crate::pipeline::Read;
