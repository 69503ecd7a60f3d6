//! The search for guilty units among many, driven by observations: *bad*, *good*, *could not run*.
//!
//! It knows nothing of logs, node packs or terminals, and keeps no state of its own: [`next`] reads all rounds
//! so far and says what to run next, or the answer. So undoing a round is forgetting it. The method and its
//! rule are explained in `docs/bisect.md`; `tests/it/bisect_simulation.rs` holds it against thousands of worlds.

mod evidence;
mod find;
mod plan;
mod repair;
mod round;
mod set;
mod settle;

pub use evidence::doubt;
pub use plan::{expected_rounds, halvings, next};
pub use round::{Blank, Group, Next, Outcome, Problem, Round, Seen, Steadiness, Why};
pub use set::UnitSet;
