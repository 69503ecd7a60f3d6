//! Answers to the questions that people ask of a log: plain, serializable data.

pub mod bisection;
mod report;
mod triage;

pub use report::*;
pub use triage::{Question, Read, answer, read_log};
