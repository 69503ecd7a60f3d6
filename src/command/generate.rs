//! What the program says of itself for other programs: the schema, completions, the manual page.

use std::io;

use clap::CommandFactory;

use super::rules::{CheckOutput, CoverageOutput, VerifyOutput};
use super::{Console, Ended, Exit};
use crate::cli::{Cli, SchemaOf};
use crate::render::{ChecklistOutput, ComparisonOutput, ProbeOutput, ReportLine, WatchLine, schema_of};
use crate::report::Output;

/// `schema COMMAND`
pub(super) fn schema(of: SchemaOf, console: &mut Console<'_>) -> io::Result<Ended> {
    let text = match of {
        SchemaOf::Triage => schema_of::<Output>(),
        SchemaOf::Ndjson => schema_of::<ReportLine<'_>>(),
        SchemaOf::Watch => schema_of::<WatchLine<'_>>(),
        SchemaOf::Checklist => schema_of::<ChecklistOutput<'_>>(),
        SchemaOf::Compare => schema_of::<ComparisonOutput<'_>>(),
        SchemaOf::Probe => schema_of::<ProbeOutput<'_>>(),
        SchemaOf::RulesCheck => schema_of::<CheckOutput<'_>>(),
        SchemaOf::RulesCoverage => schema_of::<CoverageOutput<'_>>(),
        SchemaOf::RulesVerify => schema_of::<VerifyOutput<'_>>(),
    };
    console.out.write_all(text?.as_bytes())?;
    Ok(Ok(Exit::Done))
}

/// `completions SHELL`
pub(super) fn completions(shell: clap_complete::Shell, console: &mut Console<'_>) -> io::Result<Ended> {
    // The generator panics when it cannot write, so it writes into memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut script);
    console.out.write_all(&script)?;
    Ok(Ok(Exit::Done))
}

/// `man`
pub(super) fn man(console: &mut Console<'_>) -> io::Result<Ended> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    console.out.write_all(&page)?;
    Ok(Ok(Exit::Done))
}
