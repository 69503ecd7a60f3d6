//! Answers to the questions that people ask of a log: plain, serializable data.

pub mod bisection;
mod checklist;
mod redaction;
mod clean_json;
mod comparison;
mod probe;
mod report;
mod triage;

pub use checklist::*;
pub use redaction::{Open, Survey, checked, learn, read_clean, redactor, write_clean};
pub use comparison::*;
pub use probe::*;
pub use report::*;
pub use triage::{Question, Read, answer, read_log};
