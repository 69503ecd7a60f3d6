//! `rules coverage`: how much of logs the packs know, and which unknown lines are the commonest.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::inputs::{Input, inputs};
use super::super::{Console, Ended, Exit};
use crate::cli::CoverageArgs;
use crate::coverage::{Coverage, Shapes, cover};
use crate::input::Source;
use crate::render::{Block, Labels, Palette, View, blocks};

#[derive(Serialize, JsonSchema)]
pub(in crate::command) struct CoverageOutput<'a> {
    schema_version: u32,
    logs: &'a [Coverage],
    unknown: Vec<crate::coverage::UnknownShape>,
}

/// Runs the command.
pub(super) fn run(args: &CoverageArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let inputs = match inputs(&args.logs, console.around.stdin_is_terminal) {
        Ok(inputs) => inputs,
        Err(error) => return Ok(Err(error)),
    };
    let packs = super::super::packs(&args.packs, console)?;
    let mut shapes = Shapes::default();
    let mut logs = Vec::new();
    let mut exit = Exit::Done;
    let bounds = console.around.bounds;
    for input in &inputs {
        let source = match input {
            Input::Stdin => Source::stdin(bounds),
            Input::File(path) => Source::open_within(path, bounds),
            Input::Text { name, text } => {
                Source::within(name.clone(), std::io::Cursor::new(Vec::from(text.as_bytes())), bounds)
            }
        };
        match source.and_then(|source| cover(&input.name(), source, &packs, &mut shapes)) {
            Ok(coverage) => logs.push(coverage),
            Err(error) => {
                console.fault(&error)?;
                exit = Exit::Refused;
            }
        }
    }
    let unknown = shapes.commonest(args.top);
    if args.json {
        let output = CoverageOutput { schema_version: 1, logs: &logs, unknown };
        writeln!(console.out, "{}", crate::shown::json(&output)?)?;
        return Ok(Ok(exit));
    }
    let labels = Labels::new(&packs, super::super::chinese(&args.language, console));
    let head = |names: &[&str]| names.iter().map(|name| labels.get(&format!("col-{name}"))).collect::<Vec<_>>();
    let mut rows: Vec<Vec<String>> = logs.iter().map(|log| row(log, &log.log)).collect();
    if logs.len() > 1 {
        rows.push(row(&Coverage::total(&logs), &labels.get("coverage-total")));
    }
    let mut told = vec![Block::Table { head: head(&["share", "noise", "unknown", "count", "log"]), rows }];
    if !unknown.is_empty() {
        told.push(Block::Section(labels.get("coverage-shapes")));
        let rows = unknown.into_iter().map(|shape| {
            vec![shape.times.to_string(), format!("{}:{}", shape.first_log, shape.first_line), shape.shape]
        });
        told.push(Block::Table { head: head(&["times", "first", "text"]), rows: rows.collect() });
    }
    let width = console.around.columns.unwrap_or(super::list::NO_EDGE);
    let mut text = String::new();
    blocks(&mut text, &told, &View { width, palette: Palette::COLOUR, ..View::default() });
    console.out.write_all(text.as_bytes())?;
    Ok(Ok(exit))
}

fn row(log: &Coverage, name: &str) -> Vec<String> {
    let percent = |part: u64| match log.texts {
        0 => "–".to_owned(),
        all => format!("{:.1}%", 100.0 * part as f64 / all as f64),
    };
    vec![
        percent(log.understood),
        percent(log.noise),
        percent(log.texts.saturating_sub(log.understood)),
        log.texts.to_string(),
        name.to_owned(),
    ]
}
