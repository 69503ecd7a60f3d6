//! The questions of a bisection, asked of one log: what is installed, does the symptom show, does the run count?
//!
//! From a log's timeline to plain data. Which packs to try next is the search's business, in `bisect`.

mod growth;
mod install;
mod observe;
mod symptom;
mod symptom_seen;

pub use growth::Measured;
pub use install::{Install, Launch, Pack, install};
pub use observe::{Expected, Observation, Observed, observe};
pub use symptom::Symptom;
pub use symptom_seen::{SymptomSeen, look};
