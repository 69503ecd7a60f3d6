//! Answers to the questions that people ask of a log: plain, serializable data.

pub mod bisection;
mod checklist;
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
pub use comparison::*;
pub use page_lines::{PageLine, page_lines};
pub use pictures::*;
pub use probe::*;
pub use redaction::{Open, Survey, checked, learn, read_clean, redactor, write_clean};
pub use report::*;
pub use triage::{Question, Read, answer, read_log};
