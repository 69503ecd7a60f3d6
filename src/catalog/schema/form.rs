//! Where a report goes: `[[form]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a report goes, and its headings there. `[[form]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormDef {
    pub id: String,
    /// `core`, `node` or `forum`.
    pub whom: String,
    #[serde(default)]
    pub place: String,
    #[serde(default)]
    pub source: String,
    pub sections: Vec<FormSection>,
}

/// A heading of a form, and what belongs under it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormSection {
    pub heading: String,
    pub holds: String,
}
