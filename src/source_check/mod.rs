//! Rule packs held against ComfyUI's own sources: which texts are there, which are gone, which are new.
//!
//! A source tree becomes the texts it can print, and those are compared with the rules of its version. Nothing of
//! the tree is run, and no Python is needed.

mod compare;
mod flags;
mod git;
mod history;
mod holes;
mod literal;
mod propose;
mod shape;
mod token;
mod tree;
mod verified;

pub use compare::verify;
pub use flags::{FlagsVerified, help_flags, verify_flags};
pub use history::{Age, Dated, History, Range, read_history};
pub use literal::{Call, Literal, literals};
pub use propose::proposal;
pub use shape::Shape;
pub use tree::{Tree, TreeError, read_tree};
pub use verified::{Expectation, LookupOutcome, Reason, RuleRow, UnknownText, Verified};
