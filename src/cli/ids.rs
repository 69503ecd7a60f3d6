//! Words that a shell completes although others are taken too: what a mistyped one may mean is told by the command.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::catalog::{Packs, Verdict};

/// Ids of the packs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ids {
    Verdicts,
    /// Verdicts, flags, known bugs and node packs.
    All,
}

impl TypedValueParser for Ids {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    /// Only asked for by the scripts of completion.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let mut ids: Vec<String> = Verdict::ALL.iter().map(|verdict| verdict.as_str().to_owned()).collect();
        if matches!(self, Self::All) {
            let packs = Packs::built_in();
            ids.extend(packs.flags.iter().map(|flag| flag.name.clone()));
            ids.extend(packs.bugs.iter().map(|bug| bug.id.clone()));
            ids.extend(packs.nodes.iter().map(|node| node.id.clone()));
        }
        Some(Box::new(ids.into_iter().map(PossibleValue::new)))
    }
}
