//! The built-in packs' prose, read when it is asked for: a report needs that of a few items.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::value::RawValue;

/// Tables with their built-in prose.
pub(super) const PROSE: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/prose.rs"));

/// Prose of one item, read on demand.
pub type ProseTable = serde_json::Map<String, serde_json::Value>;

/// The built-in prose of one table, read item by item: a report needs that of a few.
#[derive(Debug)]
pub(super) struct LazyTable {
    text: &'static str,
    items: OnceLock<BTreeMap<String, LazyItem>>,
}

#[derive(Debug)]
pub(super) struct LazyItem {
    text: &'static RawValue,
    fields: OnceLock<ProseTable>,
}

impl LazyTable {
    pub(super) fn named(name: &str) -> Option<Self> {
        let (_, text) = PROSE.iter().find(|(table, _)| *table == name)?;
        Some(Self { text, items: OnceLock::new() })
    }

    pub(super) fn items(&self) -> &BTreeMap<String, LazyItem> {
        self.items.get_or_init(|| {
            let texts: BTreeMap<String, &'static RawValue> = serde_json::from_str(self.text).unwrap_or_default();
            texts.into_iter().map(|(id, text)| (id, LazyItem { text, fields: OnceLock::new() })).collect()
        })
    }

    pub(super) fn item(&self, id: &str) -> Option<&ProseTable> {
        let item = self.items().get(id)?;
        Some(item.fields.get_or_init(|| serde_json::from_str(item.text.get()).unwrap_or_default()))
    }
}

/// All tables, none of them read yet.
pub(super) fn all() -> BTreeMap<&'static str, LazyTable> {
    PROSE.iter().filter_map(|(table, _)| Some((*table, LazyTable::named(table)?))).collect()
}
