//! Verdicts and what follows from each: how grave it is, what it answers, what `checklist` and `bisect` make of it.
//!
//! The enum is made of `rules/verdicts/` by the build script; the fields are explained in the README there.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

include!(concat!(env!("OUT_DIR"), "/verdicts.rs"));

/// What a verdict says about the state of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictClass {
    /// A run failed.
    Failure,
    /// Something is wrong, though no run failed by it.
    Fault,
    /// A state that is meant.
    ByDesign,
    /// An alarm that was none.
    Harmless,
    /// Nothing was found, or nothing can be decided.
    None,
}

/// What `checklist` advises on a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChecklistRoute {
    /// No issue: the state is meant, or nothing is wrong.
    Nobody,
    /// No issue: the machine is too small for the work.
    Memory,
    /// Not yet: the log decides nothing.
    Log,
    /// What is known of the bug decides.
    KnownBug,
    /// The node pack's author.
    Node,
    /// What was tried already decides.
    Conditions,
}

/// What `bisect` looks for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sought {
    /// Models that are held.
    Leak,
    /// Memory that grows.
    Growth,
    /// Out of memory, on the card or in RAM.
    Oom,
    /// The text of the last error.
    Error,
    /// A node pack that cannot be imported.
    Import,
}

/// A verdict's file, apart from its texts.
struct Properties {
    class: VerdictClass,
    route: ChecklistRoute,
    sought: Option<Sought>,
    answers: &'static [&'static str],
    asked: &'static [&'static str],
    acts_on: &'static [&'static str],
    acts_on_what_it_is_about: bool,
    acts_on_for: &'static [(&'static str, &'static [&'static str])],
    only_own_remedies: bool,
    structure: Option<&'static str>,
    /// Rank, and place in its row.
    precedence: &'static [(u32, u32)],
}

impl Verdict {
    /// How grave it is.
    pub const fn class(self) -> VerdictClass {
        self.properties().class
    }

    /// Something is wrong.
    pub const fn is_fault(self) -> bool {
        matches!(self.class(), VerdictClass::Failure | VerdictClass::Fault)
    }

    /// A run failed.
    pub const fn is_failure(self) -> bool {
        matches!(self.class(), VerdictClass::Failure)
    }

    /// Something is wrong, whether or not a prompt failed of it.
    pub const fn is_wrong(self) -> bool {
        matches!(self.class(), VerdictClass::Failure | VerdictClass::Fault)
    }

    /// A state that is meant.
    pub const fn is_by_design(self) -> bool {
        matches!(self.class(), VerdictClass::ByDesign)
    }

    /// It says that nothing holds, and so says nothing once something does.
    pub const fn is_empty(self) -> bool {
        matches!(self.class(), VerdictClass::None)
    }

    /// It answers this worry (a word of `--asked`) by itself.
    pub fn answers(self, worry: &str) -> bool {
        self.properties().answers.contains(&worry)
    }

    /// Worries under which it may be the answer although nothing shows that it troubles anybody.
    pub const fn asked(self) -> &'static [&'static str] {
        self.properties().asked
    }

    /// What `checklist` advises.
    pub const fn checklist_route(self) -> ChecklistRoute {
        self.properties().route
    }

    /// What `bisect` looks for again; nothing when it is no fault.
    pub const fn sought(self) -> Option<Sought> {
        self.properties().sought
    }

    /// Memory is not given back, or seems not to be.
    pub const fn is_leak(self) -> bool {
        matches!(self.sought(), Some(Sought::Leak | Sought::Growth))
    }

    /// The name under which known bugs ask whether it holds.
    pub const fn structure(self) -> Option<&'static str> {
        self.properties().structure
    }

    /// Remedies that also act on other parts are not shown: a state that is meant needs no change of mode, and what helps
    /// against a leak does not help against an error.
    pub const fn has_only_own_remedies(self) -> bool {
        self.properties().only_own_remedies
    }

    /// Parts of the packs' remedies that help when it is about `about`.
    pub fn acts_on(self, about: &str) -> Vec<&str> {
        let own = self.properties();
        match own.acts_on_for.iter().find(|(case, _)| *case == about) {
            Some((_, parts)) => parts.to_vec(),
            None if own.acts_on_what_it_is_about => vec![about],
            None => own.acts_on.to_vec(),
        }
    }

    /// Verdicts of a row of precedence, from the left.
    pub(super) fn of_rank(rank: u32) -> Vec<Self> {
        let place = |verdict: &Self| verdict.properties().precedence.iter().find(|(own, _)| *own == rank).copied();
        let mut row: Vec<Self> = Self::ALL.into_iter().filter(|verdict| place(verdict).is_some()).collect();
        row.sort_by_key(place);
        row
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Verdict {
    type Err = ();

    fn from_str(id: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == id).ok_or(())
    }
}

impl PartialEq<str> for Verdict {
    fn eq(&self, id: &str) -> bool {
        self.as_str() == id
    }
}

impl PartialEq<&str> for Verdict {
    fn eq(&self, id: &&str) -> bool {
        self.as_str() == *id
    }
}
