//! Lints of a rule pack: everything that can be said of it without running ComfyUI.
//!
//! A folder becomes findings, each with file, line and field. Nothing is changed, and nothing is printed here.

mod captures;
mod examples;
mod finding;
mod form;
mod head;
mod lists;
mod message;
mod prose;
mod range;
mod reference;
mod sign;
mod signature;

pub use finding::{Checked, Finding};
pub use lists::{AREAS, FACTS, STRUCTURES};
pub use signature::Sample;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::folder::{PackSource, SourceItem, SourceText, read_folder};
use super::{MessageDef, PackError, PackFile, Packs};

/// What to hold a pack against, apart from itself.
#[derive(Debug, Default)]
pub struct Options<'a> {
    /// An older state of the pack: its ids must still be there.
    pub against: Option<&'a Path>,
    /// Texts of logs, to measure which needle floods.
    pub samples: &'a [Sample],
}

/// Checks the pack in `folder`. A pack of the built-in one's id is checked in its place, every other one as laid
/// over it.
pub fn check(folder: &Path, options: &Options<'_>) -> Checked {
    let shown = folder.display().to_string();
    let source = match read_folder(folder) {
        Ok(source) => source,
        Err(error) => return Checked::refused(&shown, &error),
    };
    let over_built_in = source.head.id != Packs::built_in_head().id;
    let base = if over_built_in { Packs::definitions(&[]) } else { PackFile::default() };
    let packs = Packs::of_source(&source, over_built_in);
    let lint = Lint { source: &source, base: &base, packs: &packs };
    let mut findings: Vec<Finding> = source.problems.iter().map(Finding::of_error).collect();
    head::check(&lint, &mut findings);
    form::check(&lint, &mut findings);
    prose::check(&lint, &mut findings);
    message::check(&lint, &mut findings);
    range::check(&lint, &mut findings);
    examples::check(&lint, &mut findings);
    reference::check(&lint, &mut findings);
    reference::roles(&lint, &mut findings);
    sign::check(&lint, &mut findings);
    signature::check(&lint, options.samples, &mut findings);
    if let Some(older) = options.against {
        reference::ids_kept(&lint, older, &mut findings);
    }
    findings.sort_by(|a, b| (&a.path, a.line, &a.code, &a.message).cmp(&(&b.path, b.line, &b.code, &b.message)));
    findings.dedup_by(|a, b| (&a.path, a.line, &a.code, &a.message) == (&b.path, b.line, &b.code, &b.message));
    Checked {
        folder: shown,
        id: source.head.id.clone(),
        version: source.head.version.clone(),
        items: source.files.iter().map(|file| file.items.len()).sum(),
        replaces: lint.replaced(),
        findings,
    }
}

/// A pack with what it is laid over.
struct Lint<'a> {
    source: &'a PackSource,
    /// The built-in items; empty for the built-in pack itself.
    base: &'a PackFile,
    /// Everything together, compiled.
    packs: &'a Packs,
}

impl<'a> Lint<'a> {
    /// The pack's own items with the text they stand in.
    fn items(&self) -> impl Iterator<Item = (&'a SourceText, &'a SourceItem)> + use<'a> {
        self.source.files.iter().flat_map(|file| file.items.iter().map(|item| (&file.source, item)))
    }

    /// The pack's own items of one table.
    fn table(&self, table: &'static str) -> impl Iterator<Item = (&'a SourceText, &'a SourceItem)> + use<'a> {
        self.items().filter(move |(_, item)| item.table == table)
    }

    /// The pack's own message rules.
    fn messages(&self) -> impl Iterator<Item = (&'a SourceText, &'a SourceItem, MessageDef)> + use<'a> {
        self.table("message").filter_map(|(source, item)| {
            let def = serde_json::from_value(serde_json::Value::Object(item.fields.clone())).ok()?;
            Some((source, item, def))
        })
    }

    /// Built-in message rules that this pack leaves in place.
    fn others(&self) -> impl Iterator<Item = &'a MessageDef> {
        let own: BTreeSet<String> = self.table("message").map(|(_, item)| item.id()).collect();
        self.base.message.iter().filter(move |def| !own.contains(&def.id))
    }

    /// Ids of built-in items that this pack replaces.
    fn replaced(&self) -> Vec<String> {
        self.packs.infos().last().map(|info| info.overrides.clone()).unwrap_or_default()
    }

    /// Ids of each table, with the built-in ones.
    fn known(&self) -> BTreeMap<&'static str, Vec<String>> {
        let mut known = ids_of(self.base);
        for file in &self.source.files {
            for (table, mut ids) in ids_of(&file.file) {
                known.entry(table).or_default().append(&mut ids);
            }
        }
        known
    }
}

/// Ids of a layer, by table.
fn ids_of(file: &PackFile) -> BTreeMap<&'static str, Vec<String>> {
    let mut ids = BTreeMap::new();
    let flags = file.flag.iter().flat_map(|flag| flag.aliases.iter().chain([&flag.name]));
    ids.insert("message", file.message.iter().map(|item| item.id.clone()).collect());
    ids.insert("bug", file.bug.iter().map(|item| item.id.clone()).collect());
    ids.insert("node", file.node.iter().map(|item| item.id.clone()).collect());
    ids.insert("flag", flags.cloned().collect());
    ids.insert("default", file.default.iter().map(|item| item.id.clone()).collect());
    ids.insert("verdict", file.verdict.iter().map(|item| item.id.to_string()).collect());
    ids.insert("remedy", file.remedy.iter().map(|item| item.id.clone()).collect());
    ids.insert("mention", file.mention.iter().map(|item| item.id.clone()).collect());
    ids.insert("cause", file.cause.iter().map(|item| item.id.clone()).collect());
    ids.insert("package", file.package.iter().map(|item| item.id.clone()).collect());
    ids.insert("node_types", file.node_types.iter().map(|item| item.id.clone()).collect());
    ids.insert("input", file.input.iter().map(|item| item.id.clone()).collect());
    ids.insert("answer", file.answer.iter().map(|item| item.id.clone()).collect());
    ids.insert("stage", file.stage.iter().map(|item| item.id.clone()).collect());
    ids.insert("avoid", file.avoid.iter().map(|item| item.id.clone()).collect());
    ids
}

/// Texts of a list of an item, with their places.
fn texts<'a>(item: &'a SourceItem, field: &str) -> Vec<(String, &'a str)> {
    let items = item.fields.get(field).and_then(serde_json::Value::as_array).into_iter().flatten();
    items.enumerate().filter_map(|(at, text)| Some((format!("{field}.{at}"), text.as_str()?))).collect()
}

/// A text field of an item.
fn text<'a>(item: &'a SourceItem, field: &str) -> &'a str {
    item.fields.get(field).and_then(serde_json::Value::as_str).unwrap_or_default()
}

impl Finding {
    fn of_error(error: &PackError) -> Self {
        finding::of_error(error)
    }
}
