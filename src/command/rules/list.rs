//! `rules list`: the message rules of an area, or those whose texts a version can print.

use std::io;

use super::super::near::hint;
use super::super::{Console, Ended, Exit};
use crate::catalog::{Packs, Rule, Since, Version, VersionSpan};
use crate::cli::PackArgs;
use crate::error::UsageError;
use crate::render::{Block, Palette, View, blocks};

/// Columns for a reader that is no terminal: nothing is cut.
pub(super) const NO_EDGE: usize = 10_000;

/// Runs the command.
pub(super) fn run(
    area: Option<&str>,
    comfyui: Option<&str>,
    packs: &PackArgs,
    console: &mut Console<'_>,
) -> io::Result<Ended> {
    let packs = super::super::packs(packs, console)?;
    match list(&packs, area, comfyui) {
        Ok(table) => {
            let width = console.around.columns.unwrap_or(NO_EDGE);
            let mut text = String::new();
            blocks(&mut text, &[table], &View { width, palette: Palette::COLOUR, ..View::default() });
            console.out.write_all(text.as_bytes())?;
            Ok(Ok(Exit::Done))
        }
        Err(error) => Ok(Err(error)),
    }
}

fn list(packs: &Packs, area: Option<&str>, version: Option<&str>) -> Result<Block, Box<UsageError>> {
    let all = packs.matcher().rules();
    if let Some(given) = area
        && !all.iter().any(|rule| *rule.area == *given)
    {
        let mut areas: Vec<&str> = all.iter().map(|rule| &*rule.area).collect();
        areas.sort_unstable();
        areas.dedup();
        let near = hint(given, &areas, &format!("the areas are {}", areas.join(", ")));
        return Err(Box::new(UsageError::UnknownArea { given: given.to_owned(), near }));
    }
    let span = match version {
        None => None,
        Some(given) => match Version::parse(given) {
            Some(version) => Some(VersionSpan::exactly(version)),
            None => return Err(Box::new(UsageError::Version { given: given.to_owned() })),
        },
    };
    let fits = |rule: &&Rule| {
        area.is_none_or(|area| *rule.area == *area)
            && span.is_none_or(|span| !rule.until_before_numbers && span.overlaps(rule.since, rule.until))
    };
    let mut rules: Vec<&Rule> = all.iter().filter(fits).collect();
    rules.sort_by(|a, b| (&a.area, &a.id).cmp(&(&b.area, &b.id)));
    let rows = rules
        .into_iter()
        .map(|rule| {
            let line = packs.prose_list("message", &rule.id, "match").first().map_or("", |line| line).to_owned();
            vec![rule.area.to_string(), rule.id.to_string(), versions(rule), line]
        })
        .collect();
    let head = ["area", "id", "versions", "line, for example"].map(str::to_owned).to_vec();
    Ok(Block::Table { head, rows })
}

/// `0.3.7…0.21.1`, with an open end where none is known, and `?` where nothing is.
fn versions(rule: &Rule) -> String {
    let since = match rule.since {
        Since::At(version) => version.to_string(),
        Since::BeforeNumbers => "pre-0.0.1".to_owned(),
        Since::Unknown => "?".to_owned(),
    };
    let until = match (rule.until, rule.until_before_numbers) {
        (Some(until), _) => until.to_string(),
        (None, true) => "pre-0.0.1".to_owned(),
        (None, false) => String::new(),
    };
    format!("{since}…{until}")
}
