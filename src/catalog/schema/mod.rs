//! Rule packs as they are written: one struct per table of `docs/rule-format.md`.
//!
//! Only shapes and field names; meaning and checks are elsewhere. Unknown fields are errors, so that
//! a misspelt one is never silently ignored.

mod answer;
mod bug;
mod cause;
mod class;
mod default;
mod flag;
mod form;
mod head;
mod launcher;
mod mention;
mod message;
mod node;
mod place;
mod prose;
mod release;
mod remedy;
mod sentence;
mod sign;
mod stage;
mod verdict;

pub use answer::AnswerDef;
pub use bug::{BugDef, BugWhen};
pub use cause::{CauseDef, InputDef, NodeTypesDef, PackageDef};
pub use class::ClassDef;
pub use default::{DefaultDef, Term};
pub use flag::{FlagDef, FlagVersion};
pub use form::{FormDef, FormSection};
pub use head::PackHead;
pub use launcher::LauncherDef;
pub use mention::MentionDef;
pub use message::{Mark, MessageDef, OomPhraseDef, SET_KEYS};
pub use node::NodeDef;
pub use place::PlaceDef;
pub use prose::{Constant, Prose};
pub use release::{AimdoDef, ReleaseDef};
pub use remedy::{AvoidDef, RemedyDef};
pub use sentence::SentenceDef;
pub use sign::{SignDef, SignOf, SignPlace};
pub use stage::StageDef;
pub use verdict::{PrecedenceDef, PrecedencePlace, PrecedenceWhen, VerdictDef};
