//! What the program says of itself for other programs: the schema, completions, the manual page.

use std::io;
use std::path::Path;

use clap::CommandFactory;

use super::bisect::BisectOutput;
use super::near::hint;
use super::rules::{CheckOutput, CoverageOutput, VerifyOutput};
use super::{Console, Ended, Exit};
use crate::cli::{Cli, SchemaOf};
use crate::error::UsageError;
use crate::render::{ChecklistOutput, ComparisonOutput, ProbeOutput, TriageLine, WatchLine, schema_of};
use crate::report::Output;

/// `schema COMMAND`
pub(super) fn schema(of: SchemaOf, console: &mut Console<'_>) -> io::Result<Ended> {
    let text = match of {
        SchemaOf::Triage => schema_of::<Output>(),
        SchemaOf::Ndjson => schema_of::<TriageLine<'_>>(),
        SchemaOf::Watch => schema_of::<WatchLine<'_>>(),
        SchemaOf::Checklist => schema_of::<ChecklistOutput<'_>>(),
        SchemaOf::Compare => schema_of::<ComparisonOutput<'_>>(),
        SchemaOf::Bisect => schema_of::<BisectOutput>(),
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
pub(super) fn man(names: &[String], out: Option<&Path>, console: &mut Console<'_>) -> io::Result<Ended> {
    if let Some(folder) = out {
        std::fs::create_dir_all(folder)?;
        clap_mangen::generate_to(Cli::command(), folder)?;
        return Ok(Ok(Exit::Done));
    }
    let mut command = Cli::command();
    // Pages are named as the shell finds them: `comfy-triage-bisect-start`.
    let mut title = command.get_name().to_owned();
    for name in names {
        let known: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        let Some(sub) = command.find_subcommand(name).cloned() else {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let near = hint(name, &known, &format!("the commands are {}", known.join(", ")));
            return Ok(Err(Box::new(UsageError::NoPage { given: names.join(" "), near })));
        };
        title = format!("{title}-{name}");
        command = sub;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.display_name(title)).render(&mut page)?;
    console.out.write_all(&page)?;
    Ok(Ok(Exit::Done))
}
