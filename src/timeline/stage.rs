//! How far a start of ComfyUI came, by the stages that the packs name.

use serde::Serialize;

use super::evidence::Evidence;

/// The stages of a start that were seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Start {
    /// Id of the last stage reached, as the packs call it.
    pub stage: String,
    /// Its place among the stages, from 1.
    pub order: u32,
    /// The first line of the start.
    pub first: Evidence,
    /// The last line of the stage reached.
    pub at: Evidence,
}

impl Start {
    pub(crate) fn new(stage: &str, order: u32, at: Evidence) -> Self {
        Self { stage: stage.to_owned(), order, first: at.clone(), at }
    }

    /// A further line of the start.
    pub(crate) fn reach(&mut self, stage: &str, order: u32, at: Evidence) {
        if order >= self.order {
            self.stage.clear();
            self.stage.push_str(stage);
            self.order = order;
            self.at = at;
        }
    }
}
