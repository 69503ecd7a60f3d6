//! comfy-triage: reads what ComfyUI wrote on its console and says what is wrong, what is not, and what to do next.

pub mod bisect;
pub mod catalog;
pub mod cli;
pub mod command;
pub mod coverage;
mod decimal;
pub mod diagnosis;
pub mod docs;
mod eight;
pub mod error;
pub mod event;
pub mod find;
pub mod hypothesis;
pub mod input;
pub mod live;
pub mod pipeline;
pub mod probe;
pub mod redact;
pub mod render;
pub mod report;
pub mod samples;
pub mod shell;
pub mod shown;
pub mod source_check;
pub mod system;
pub mod text;
pub mod timeline;
