//! What the program says: `[[sentence]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sentence that the program says. `[[sentence]]`
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SentenceDef {
    /// Unique.
    pub id: String,
    /// English; `{name}` is filled in.
    pub en: String,
    /// Chinese, with the same placeholders.
    pub zh: String,
}
