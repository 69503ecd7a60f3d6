//! `rules list` and `rules show`: what the packs hold, as they hold it.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::{Map, Value};

use super::explain::unknown;
use super::near::hint;
use super::{Console, Ended, Exit};
use crate::cli::RulesCommand;
use crate::error::UsageError;
use crate::report::{Block, Palette, View, blocks};
use crate::rule::{Packs, Rule, Since, Version, VersionSpan};

/// Columns for a reader that is no terminal: nothing is cut.
const NO_EDGE: usize = 10_000;

/// Runs the command.
pub(super) fn run(command: &RulesCommand, console: &mut Console<'_>) -> io::Result<Ended> {
    match command {
        RulesCommand::List { area, comfyui, packs } => {
            let packs = super::packs(packs, console)?;
            match list(&packs, area.as_deref(), comfyui.as_deref()) {
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
        RulesCommand::Show { id, packs } => {
            let packs = super::packs(packs, console)?;
            let found = items(&packs, id);
            if found.is_empty() {
                return Ok(Err(unknown(id, &packs)));
            }
            let text = toml::to_string(&found).map_err(io::Error::other)?;
            console.out.write_all(text.as_bytes())?;
            Ok(Ok(Exit::Done))
        }
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

/// All items with this id, by the table they stand in.
fn items(packs: &Packs, id: &str) -> BTreeMap<&'static str, Vec<Map<String, Value>>> {
    let mut found = BTreeMap::new();
    let rules = packs.matcher().rules().iter().filter(|rule| *rule.id == *id).map(message);
    let rules: Vec<_> = rules.map(|fields| whole(packs, "message", id, fields)).collect();
    if !rules.is_empty() {
        found.insert("message", rules);
    }
    let mut add = |table: &'static str, fields: Option<Value>| {
        if let Some(Value::Object(fields)) = fields {
            found.insert(table, vec![whole(packs, table, id, fields)]);
        }
    };
    add("verdict", one(&packs.verdicts, |item| item.id == id));
    add("bug", one(&packs.bugs, |item| item.id == id));
    add("node", one(&packs.nodes, |item| item.id == id));
    add("flag", one(&packs.flags, |item| item.name == id));
    add("default", one(&packs.defaults, |item| item.id == id));
    add("remedy", one(&packs.remedies, |item| item.id == id));
    add("avoid", one(&packs.avoids, |item| item.id == id));
    found
}

fn one<T: Serialize>(items: &[T], is: impl Fn(&&T) -> bool) -> Option<Value> {
    serde_json::to_value(items.iter().find(is)?).ok()
}

fn message(rule: &Rule) -> Map<String, Value> {
    let set: Map<String, Value> =
        rule.set.iter().filter_map(|(name, value)| Some((name.to_string(), serde_json::to_value(value).ok()?))).collect();
    let fields = [
        ("id", Value::from(&*rule.id)),
        ("area", Value::from(&*rule.area)),
        ("event", serde_json::to_value(rule.event).unwrap_or_default()),
        ("since", serde_json::to_value(rule.since).unwrap_or_default()),
        ("until", serde_json::to_value(rule.until).unwrap_or_default()),
        ("mark", serde_json::to_value(rule.mark).unwrap_or_default()),
        ("set", Value::Object(set)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An item with its prose, without empty fields.
fn whole(packs: &Packs, table: &str, id: &str, mut fields: Map<String, Value>) -> Map<String, Value> {
    for (name, value) in packs.prose(table, id).into_iter().flatten() {
        fields.insert(name.clone(), value.clone());
    }
    fields.into_iter().filter_map(|(name, value)| Some((name, filled(value)?))).collect()
}

/// The value without what is empty in it; nothing when nothing is left.
fn filled(value: Value) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) => {
            let items: Vec<Value> = items.into_iter().filter_map(filled).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(fields) => {
            let fields: Map<String, Value> =
                fields.into_iter().filter_map(|(name, value)| Some((name, filled(value)?))).collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        other => Some(other),
    }
}
