//! `rules show ID`: an item of the packs with all its fields, as a pack would write it.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::explain::unknown;
use super::super::{Console, Ended, Exit};
use crate::catalog::{PackFile, Packs};
use crate::cli::PackArgs;

/// Runs the command.
pub(super) fn run(id: &str, args: &PackArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let packs = super::super::packs(args, console)?;
    let found = items(&packs, &Packs::definitions(&super::super::folders(args, console)), id);
    if found.is_empty() {
        return Ok(Err(unknown(id, &packs)));
    }
    let text = toml::to_string(&found).map_err(io::Error::other)?;
    console.out.write_all(text.as_bytes())?;
    Ok(Ok(Exit::Done))
}

/// All items with this id, by the table they stand in.
fn items(packs: &Packs, file: &PackFile, id: &str) -> BTreeMap<&'static str, Vec<Map<String, Value>>> {
    let mut found = BTreeMap::new();
    let mut add = |table: &'static str, fields: Option<Value>| {
        if let Some(Value::Object(fields)) = fields {
            found.insert(table, vec![whole(packs, table, id, fields)]);
        }
    };
    add("message", one(&file.message, |item| item.id == id));
    add("verdict", one(&file.verdict, |item| item.id == id));
    add("bug", one(&file.bug, |item| item.id == id));
    add("node", one(&file.node, |item| item.id == id));
    add("flag", one(&file.flag, |item| item.name == id));
    add("default", one(&file.default, |item| item.id == id));
    add("remedy", one(&file.remedy, |item| item.id == id));
    add("mention", one(&file.mention, |item| item.id == id));
    add("cause", one(&file.cause, |item| item.id == id));
    add("package", one(&file.package, |item| item.id == id));
    add("input", one(&file.input, |item| item.id == id));
    add("answer", one(&file.answer, |item| item.id == id));
    add("stage", one(&file.stage, |item| item.id == id));
    add("avoid", one(&file.avoid, |item| item.id == id));
    found
}

fn one<T: Serialize>(items: &[T], is: impl Fn(&&T) -> bool) -> Option<Value> {
    serde_json::to_value(items.iter().find(is)?).ok()
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
