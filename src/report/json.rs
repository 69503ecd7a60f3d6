//! Reports as JSON, and the schema that describes it. The same report gives the same bytes.

use std::io;

use serde::Serialize;

use super::printer::tool;
use crate::answer::{Output, Report, SCHEMA_VERSION, Tool};

/// One line of `--format ndjson`.
#[derive(Serialize)]
struct Line<'r> {
    schema_version: u32,
    tool: Tool,
    report: &'r Report,
}

/// All reports of a run as one indented value.
pub fn json(output: &Output) -> io::Result<String> {
    ended(serde_json::to_string_pretty(output)?)
}

/// One report on one line.
pub fn ndjson(report: &Report) -> io::Result<String> {
    ended(serde_json::to_string(&Line { schema_version: SCHEMA_VERSION, tool: tool(), report })?)
}

/// The JSON Schema of [`Output`].
pub fn schema() -> io::Result<String> {
    ended(serde_json::to_string_pretty(&schemars::schema_for!(Output))?)
}

fn ended(mut text: String) -> io::Result<String> {
    text.push('\n');
    Ok(text)
}
