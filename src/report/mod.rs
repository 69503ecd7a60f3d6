//! Answers to the questions that people ask of a log: plain, serializable data.

pub mod bisection;
mod checklist;
mod comparison;
mod probe;
mod redaction;
mod report;
mod triage;

pub use checklist::*;
pub use comparison::*;
pub use probe::*;
pub use redaction::{Open, learn, read_clean, redactor, write_clean};
pub use report::*;
pub use triage::{Question, Read, answer, read_log};
