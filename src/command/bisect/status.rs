//! Where a session stands, as JSON: the outcome, who is named, what doubt is left, and the next round.

use schemars::JsonSchema;
use serde::Serialize;

use super::launch;
use super::show::Show;
use super::state::State;
use crate::bisect::{Next, Outcome, UnitSet};

/// Version of the JSON contract.
const SCHEMA_VERSION: u32 = 1;

/// What `bisect status --format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BisectOutput {
    pub schema_version: u32,
    /// As it is typed behind `--symptom`.
    pub symptom: String,
    pub outcome: BisectOutcome,
    /// Sets of node packs that have the fault, each together. While it is searched on: those proved so far.
    pub culprits: Vec<Vec<String>>,
    /// Node packs that stay on in every round.
    pub kept: Vec<String>,
    /// Node packs still in question, when it ends without an answer.
    pub suspects: Vec<String>,
    /// How likely it is at most, from 0 to 1, that those who are named are named by chance.
    pub doubt: Option<f64>,
    /// Rounds so far.
    pub rounds: usize,
    /// What to run next; null at the end.
    pub next: Option<NextRound>,
}

/// How a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BisectOutcome {
    Searching,
    /// Node packs are named.
    Named,
    /// It happens with nothing on but the packs that stay on: one of them has it, or ComfyUI itself.
    Kept,
    /// It happens with all node packs off.
    Core,
    CannotTell,
}

/// The round that is asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NextRound {
    /// Node packs to be on; null: all of them, without flags.
    pub whitelist: Option<Vec<String>>,
    /// The command, where one is typed.
    pub command: Option<String>,
    /// Prompts to run.
    pub prompts: u64,
    pub why: String,
}

/// The answer for `state`, with the sentences of `show`.
pub(super) fn status(state: &State, show: &Show<'_>) -> BisectOutput {
    let mut told = BisectOutput {
        schema_version: SCHEMA_VERSION,
        symptom: state.symptom.clone(),
        outcome: BisectOutcome::Searching,
        culprits: Vec::new(),
        kept: state.keep.clone(),
        suspects: Vec::new(),
        doubt: None,
        rounds: state.rounds.len(),
        next: None,
    };
    let names = |set: &UnitSet| state.names(set);
    match state.next() {
        Next::Run { on, why, found } => {
            told.culprits = found.iter().map(|group| names(&group.units)).collect();
            let on_names = names(&on);
            let items = launch::items(state, &on_names, &show.messages);
            told.next = Some(NextRound {
                whitelist: (on.len() < state.install.packs.len()).then_some(on_names),
                command: items.into_iter().find_map(|item| item.command),
                prompts: state.prompts,
                why: show.why(&why, &on, &found),
            });
        }
        Next::Done(Outcome::NotTheUnits { kept }) => {
            told.outcome = if kept.is_empty() { BisectOutcome::Core } else { BisectOutcome::Kept };
            told.kept = names(&kept);
        }
        Next::Done(Outcome::Culprits { groups, doubt }) => {
            told.outcome = BisectOutcome::Named;
            told.culprits = groups.iter().map(|group| names(&group.units)).collect();
            told.doubt = Some(doubt);
        }
        Next::Done(Outcome::CannotTell { groups, suspects, .. }) => {
            told.outcome = BisectOutcome::CannotTell;
            told.culprits = groups.iter().map(|group| names(&group.units)).collect();
            told.suspects = names(&suspects);
        }
    }
    told
}
