//! A folder becomes a pack: its head and its items, each with the places of its fields.
//!
//! Reading stops at limits, follows no links, and goes on after a broken item. Nothing is compiled here.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use miette::{NamedSource, SourceSpan};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::PackError;
use super::file::PackFile;
use super::pack::FORMAT;
use super::schema::PackHead;

/// A pack file larger than this is refused.
pub(super) const FILE_LIMIT: u64 = 2 * 1024 * 1024;
/// A pack of more files than this is refused.
const FILES_LIMIT: usize = 500;
/// A pack of more bytes than this is refused.
const PACK_LIMIT: u64 = 16 * 1024 * 1024;
/// Folders and files that are looked at before a pack is refused.
const ENTRIES_LIMIT: usize = 20_000;
/// Folders inside folders.
const DEPTH_LIMIT: usize = 8;
/// What is private is for the program alone to say: this folder is no part of a pack.
const PRIVATE: &str = "redaction";
/// Items of one pack.
const ITEMS_LIMIT: usize = 20_000;
/// Faults that are told of one pack.
pub(super) const PROBLEMS_LIMIT: usize = 50;

/// A pack as it stands in its folder.
#[derive(Debug)]
pub struct PackSource {
    pub folder: PathBuf,
    pub head: PackHead,
    /// `pack.toml`.
    pub head_text: SourceText,
    pub files: Vec<SourceFile>,
    /// Items and files that could not be read.
    pub problems: Vec<PackError>,
}

/// Text of a file, for the places in it. Shared: every rule and every fault keeps it.
#[derive(Debug, Clone, Default)]
pub struct SourceText {
    /// As the user knows it.
    pub path: String,
    pub text: Arc<String>,
    /// Where its lines begin, found when first asked for: a large pack may have a fault in each line.
    lines: Arc<OnceLock<Vec<usize>>>,
}

impl SourceText {
    pub(super) fn new(path: String, text: Arc<String>) -> Self {
        Self { path, text, lines: Arc::default() }
    }

    /// Line and column of a byte, both from 1.
    pub(super) fn position(&self, byte: usize) -> (usize, usize) {
        let starts = self
            .lines
            .get_or_init(|| std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1)).collect());
        let line = starts.partition_point(|start| *start <= byte);
        let start = line.checked_sub(1).and_then(|index| starts.get(index)).copied().unwrap_or(0);
        let column = self.text.get(start..byte).map_or(0, |before| before.chars().count()) + 1;
        (line, column)
    }
}

/// A file of a pack.
#[derive(Debug)]
pub struct SourceFile {
    pub source: SourceText,
    /// What could be read of it.
    pub file: PackFile,
    pub items: Vec<SourceItem>,
}

/// An item of a table, as plain values with their places.
#[derive(Debug)]
pub struct SourceItem {
    pub table: String,
    pub at: Range<usize>,
    pub fields: Map<String, Value>,
    /// Places of fields, by their path: `since`, `match.0`, `means.en`.
    spans: BTreeMap<String, Range<usize>>,
}

impl SourceItem {
    /// The name that is its own in its table; empty when it has none.
    pub fn id(&self) -> String {
        let named =
            ["id", "name", "pattern", "version", "comfyui"].iter().find_map(|key| self.fields.get(*key)?.as_str());
        match (named, self.fields.get("rank")) {
            (Some(name), _) => name.to_owned(),
            (None, Some(rank)) => rank.to_string(),
            (None, None) => String::new(),
        }
    }

    /// Place of the field, or of the item when it has no such field.
    pub fn place(&self, field: &str) -> Range<usize> {
        self.spans.get(field).unwrap_or(&self.at).clone()
    }
}

/// Reads the pack in `folder`. An error refuses the whole pack.
pub fn read_folder(folder: &Path) -> Result<PackSource, Box<PackError>> {
    let mut found = Walk { root: folder, files: Vec::new(), entries: 0 };
    found.folder(folder, 0)?;
    found.files.sort();
    let head_path = folder.join("pack.toml");
    if !found.files.contains(&head_path) {
        return Err(Box::new(PackError::NoHead { path: folder.display().to_string() }));
    }
    let head_text = read_text(&head_path)?;
    let head = read_head(&head_text, folder)?;
    let mut pack = PackSource { folder: folder.to_owned(), head, head_text, files: Vec::new(), problems: Vec::new() };
    let mut bytes = 0;
    let mut items = 0;
    for path in found.files.iter().filter(|path| **path != head_path) {
        let source = match read_text(path) {
            Ok(source) => source,
            Err(error) => {
                pack.problems.push(*error);
                continue;
            }
        };
        bytes += source.text.len() as u64;
        if bytes > PACK_LIMIT {
            return Err(Box::new(PackError::TooLarge { path: folder.display().to_string(), limit: PACK_LIMIT }));
        }
        let file = read_file(source, &mut pack.problems);
        items += file.items.len();
        if items > ITEMS_LIMIT {
            return Err(Box::new(PackError::TooManyItems { path: folder.display().to_string(), limit: ITEMS_LIMIT }));
        }
        pack.files.push(file);
    }
    if let Some(count) = pack.problems.len().checked_sub(PROBLEMS_LIMIT).filter(|count| *count > 0) {
        pack.problems.truncate(PROBLEMS_LIMIT);
        pack.problems.push(PackError::More { path: folder.display().to_string(), count });
    }
    Ok(pack)
}

/// The head. The format is looked at first: a newer one may have fields that this program cannot know.
fn read_head(source: &SourceText, folder: &Path) -> Result<PackHead, Box<PackError>> {
    let broken = |error: &toml::de::Error| Box::new(syntax(source, error.message(), error.span()));
    let loose: toml::Table = toml::from_str(&source.text).map_err(|error| broken(&error))?;
    if let Some(format) = loose.get("format").and_then(toml::Value::as_integer)
        && format > i64::from(FORMAT)
    {
        return Err(Box::new(PackError::NewerFormat { path: folder.display().to_string(), format }));
    }
    toml::from_str(&source.text).map_err(|error| broken(&error))
}

/// Reads all items that can be read; the others go to `problems`.
pub fn read_file(source: SourceText, problems: &mut Vec<PackError>) -> SourceFile {
    let mut file = PackFile::default();
    let mut items = Vec::new();
    let (document, errors) = DeTable::parse_recoverable(&source.text);
    for error in &errors {
        problems.push(syntax(&source, error.message(), error.span()));
    }
    // After a fault in the notation what follows may have been read wrongly.
    let tables = if errors.is_empty() { document.into_inner() } else { DeTable::new() };
    for (table, value) in tables {
        let name = table.get_ref().to_string();
        let span = table.span();
        if !PackFile::TABLES.contains(&name.as_str()) {
            let message = format!("there is no table `{name}`; the tables are {}", PackFile::TABLES.join(", "));
            problems.push(syntax(&source, &message, Some(span)));
            continue;
        }
        let DeValue::Array(array) = value.into_inner() else {
            problems.push(syntax(&source, &format!("write [[{name}]] with two brackets"), Some(span)));
            continue;
        };
        for item in array {
            match read_item(&name, item, &mut file) {
                Ok(item) => items.push(item),
                Err(error) => problems.push(syntax(&source, error.message(), error.span())),
            }
        }
    }
    SourceFile { source, file, items }
}

fn read_item(table: &str, item: Spanned<DeValue<'_>>, file: &mut PackFile) -> Result<SourceItem, toml::de::Error> {
    let mut spans = BTreeMap::new();
    collect_spans(&item, "", &mut spans);
    let at = item.span();
    let fields = match Value::deserialize(item.clone().into_deserializer())? {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    file.add(table, item)?;
    Ok(SourceItem { table: table.to_owned(), at, fields, spans })
}

fn collect_spans(value: &Spanned<DeValue<'_>>, path: &str, spans: &mut BTreeMap<String, Range<usize>>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    if !path.is_empty() {
        spans.insert(path.to_owned(), value.span());
    }
    match value.get_ref() {
        DeValue::Table(table) => {
            for (key, inner) in table {
                collect_spans(inner, &below(key.get_ref()), spans);
            }
        }
        DeValue::Array(array) => {
            for (index, inner) in array.iter().enumerate() {
                collect_spans(inner, &below(&index.to_string()), spans);
            }
        }
        _ => {}
    }
}

fn syntax(source: &SourceText, message: &str, span: Option<Range<usize>>) -> PackError {
    PackError::Syntax {
        path: source.path.clone(),
        message: message.to_owned(),
        text: NamedSource::new(&source.path, Arc::clone(&source.text)),
        at: span.map(SourceSpan::from),
    }
}

fn read_text(path: &Path) -> Result<SourceText, Box<PackError>> {
    let shown = path.display().to_string();
    let unreadable =
        |error: std::io::Error| Box::new(PackError::Unreadable { path: shown.clone(), reason: error.to_string() });
    let size = std::fs::symlink_metadata(path).map_err(unreadable)?.len();
    if size > FILE_LIMIT {
        return Err(Box::new(PackError::TooLarge { path: shown, limit: FILE_LIMIT }));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    Ok(SourceText::new(shown, Arc::new(text)))
}

struct Walk<'a> {
    root: &'a Path,
    files: Vec<PathBuf>,
    entries: usize,
}

impl Walk<'_> {
    /// TOML files below `folder`. Links are passed over: a pack is what lies in its folder.
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<(), Box<PackError>> {
        let unreadable = |error: std::io::Error| {
            Box::new(PackError::Unreadable { path: folder.display().to_string(), reason: error.to_string() })
        };
        let too_many =
            || Box::new(PackError::TooManyFiles { path: self.root.display().to_string(), limit: FILES_LIMIT });
        if depth > DEPTH_LIMIT {
            return Err(too_many());
        }
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            self.entries += 1;
            if self.entries > ENTRIES_LIMIT || self.files.len() > FILES_LIMIT {
                return Err(Box::new(PackError::TooManyFiles {
                    path: self.root.display().to_string(),
                    limit: FILES_LIMIT,
                }));
            }
            let kind = entry.file_type().map_err(unreadable)?;
            let path = entry.path();
            if depth == 0 && path.file_name().is_some_and(|name| name == PRIVATE) {
                continue;
            }
            if kind.is_dir() {
                self.folder(&path, depth + 1)?;
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "toml") {
                self.files.push(path);
            }
        }
        Ok(())
    }
}
