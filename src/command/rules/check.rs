//! `rules check`: each finding with its place, or all as JSON. Exit status 1 when there is one.

use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::super::{Console, Ended, Exit};
use crate::catalog::lint::{Checked, Options, Sample, check};
use crate::cli::CheckArgs;
use crate::error::UsageError;
use crate::input::{Bar, Bounds, InputError, Place, ReadOptions, Segment, Sink, Source, read};

/// Texts that are kept of a log.
const TEXTS: usize = 100_000;

#[derive(Serialize, JsonSchema)]
pub(in crate::command) struct CheckOutput<'a> {
    schema_version: u32,
    packs: &'a [Checked],
}

/// Runs the command.
pub(super) fn run(args: &CheckArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let folders: &[PathBuf] = if args.folders.is_empty() { &console.around.rule_folders } else { &args.folders };
    if folders.is_empty() {
        return Ok(Err(Box::new(UsageError::NoPack)));
    }
    let mut samples = Vec::new();
    for log in &args.logs {
        match sample(log, console.around.bounds) {
            Ok(sample) => samples.push(sample),
            Err(error) => {
                console.fault(&error)?;
                return Ok(Ok(Exit::Refused));
            }
        }
    }
    let options = Options { against: args.against.as_deref(), samples: &samples };
    let checked: Vec<Checked> = folders.iter().map(|folder| check(folder, &options)).collect();
    if args.json {
        let output = CheckOutput { schema_version: 1, packs: &checked };
        let text = crate::shown::json(&output)?;
        writeln!(console.out, "{text}")?;
    } else {
        for pack in &checked {
            told(pack, console)?;
        }
    }
    let clean = checked.iter().all(|pack| pack.findings.is_empty());
    Ok(Ok(if clean { Exit::Done } else { Exit::Failed }))
}

/// Findings go to stdout: they are what was asked for.
fn told(pack: &Checked, console: &mut Console<'_>) -> io::Result<()> {
    for finding in &pack.findings {
        let text = crate::error::shown(&finding.diagnostic(), console.around.width(), console.around.chinese);
        console.out.write_all(text.as_bytes())?;
    }
    let count = match pack.findings.len() {
        0 => "no findings".to_owned(),
        1 => "1 finding".to_owned(),
        many => format!("{many} findings"),
    };
    writeln!(console.out, "{} {}: {} items, {count} ({})", pack.id, pack.version, pack.items, pack.folder)?;
    if !pack.replaces.is_empty() {
        writeln!(console.out, "replaces: {}", pack.replaces.join(", "))?;
    }
    Ok(())
}

/// The texts of a log, as rules see them.
fn sample(path: &Path, bounds: Bounds) -> Result<Sample, InputError> {
    let mut texts = Texts::default();
    read(Source::open_within(path, bounds)?, &mut texts, &ReadOptions::default())?;
    Ok(Sample { name: path.display().to_string(), texts: texts.0 })
}

#[derive(Default)]
struct Texts(Vec<String>);

impl Sink for Texts {
    fn segment(&mut self, segment: &Segment<'_>) {
        if self.0.len() < TEXTS {
            self.0.push(String::from_utf8_lossy(segment.text).into_owned());
        }
    }

    fn bar(&mut self, _: Place, _: Bar) {}
}
