//! Answers to the questions that people ask of a log: plain, serializable data.

pub mod bisection;
mod checklist;
mod clean;
mod comparison;
mod probe;
mod report;
mod triage;

pub use checklist::*;
pub use clean::{Open, learn, redactor, write_clean};
pub use comparison::*;
pub use probe::*;
pub use report::*;
pub use triage::{Question, answer, read_log};

pub use crate::pipeline::Read;
