//! What the program says of itself for other programs: the schema, completions, the manual page.

use std::io;

use clap::CommandFactory;

use super::{Console, Ended, Exit};
use crate::cli::Cli;
use crate::report;

/// `schema`
pub(super) fn schema(console: &mut Console<'_>) -> io::Result<Ended> {
    console.out.write_all(report::schema()?.as_bytes())?;
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
