//! Reports as JSON, and the schema that describes it. The same report gives the same bytes.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::printer::tool;
use crate::live::Change;
use crate::report::{Output, Report, SCHEMA_VERSION, Tool};
use crate::shown;

/// One line of `--format ndjson`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportLine<'r> {
    schema_version: u32,
    tool: Tool,
    report: &'r Report,
}

/// One line of `triage --format ndjson`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TriageLine<'r> {
    Report(ReportLine<'r>),
    /// Of `--all`: a log that could not be read.
    Unread {
        schema_version: u32,
        tool: Tool,
        unread: Unread<'r>,
    },
}

/// A log that could not be read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Unread<'u> {
    /// Its name, as reports give it.
    source: &'u str,
    /// Which fault, as in `comfy_triage::input::empty`.
    code: &'u str,
    /// The fault in words.
    message: &'u str,
}

/// One line of `watch --format ndjson`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WatchLine<'w> {
    Change {
        schema_version: u32,
        /// When it was noticed.
        time: String,
        change: &'w Change,
    },
    /// The last line.
    Report(ReportLine<'w>),
}

/// All reports of a run as one indented value.
pub fn json(output: &Output) -> io::Result<String> {
    pretty(output)
}

/// Any answer as one indented value.
pub(super) fn pretty(answer: &impl Serialize) -> io::Result<String> {
    ended(shown::json(answer)?)
}

/// One report on one line.
pub fn ndjson(report: &Report) -> io::Result<String> {
    line(&ReportLine { schema_version: SCHEMA_VERSION, tool: tool(), report })
}

/// The line of a log that could not be read.
pub fn unread(source: &str, code: &str, message: &str) -> io::Result<String> {
    let unread = Unread { source, code, message };
    line(&TriageLine::Unread { schema_version: SCHEMA_VERSION, tool: tool(), unread })
}

/// Any value on one line.
fn line(value: &impl Serialize) -> io::Result<String> {
    ended(shown::json_line(value)?)
}

/// The JSON Schema of what is written as `T`.
pub fn schema_of<T: JsonSchema>() -> io::Result<String> {
    // The schema of what is written, not of what could be read: fields that are left out when empty are optional.
    let settings = schemars::generate::SchemaSettings::default().for_serialize();
    ended(serde_json::to_string_pretty(&settings.into_generator().into_root_schema_for::<T>())?)
}

fn ended(mut text: String) -> io::Result<String> {
    text.push('\n');
    Ok(text)
}
