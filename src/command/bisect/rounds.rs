//! Rounds that are told by hand, taken back, or forgotten with the whole session.

use super::fault::BisectError;
use super::state::{Mark, Reason, Record, State};
use super::store::Lock;
use super::{Console, Desk, Did, write};
use crate::bisect::Next;

/// A round that the user judged.
pub(super) fn by_hand(desk: &Desk<'_>, seen: Mark, console: &mut Console<'_>) -> Did {
    let told = change(desk, |state| {
        let Next::Run { on, why, .. } = state.next() else { return Err(BisectError::Finished) };
        let reason = desk.messages().text(&format!("bisect-said-{}", seen.word()), &[]);
        state.rounds.push(Record {
            why: Reason::of(&why),
            on: state.names(&on),
            seen,
            keep: Vec::new(),
            broken: Vec::new(),
            // Seen twice, with everything on, and never missed.
            steady: (seen == Mark::Bad).then_some(true),
            script_status: None,
            reason,
            log: None,
            lines: Vec::new(),
        });
        Ok(())
    });
    match told {
        Ok(state) => show_last(desk, &state, console).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

/// The round that is asked for could not run, since these packs were off.
pub(super) fn keep(desk: &Desk<'_>, packs: &[String], console: &mut Console<'_>) -> Did {
    let told = change(desk, |state| {
        let Next::Run { on, why, .. } = state.next() else { return Err(BisectError::Finished) };
        let named = super::start::packs_named(packs, &state.install.packs)?;
        let reason = desk.messages().text("bisect-said-keep", &[("names", &named.join(", "))]);
        state.rounds.push(Record {
            why: Reason::of(&why),
            on: state.names(&on),
            seen: Mark::CannotRun,
            keep: named,
            broken: Vec::new(),
            steady: None,
            script_status: None,
            reason,
            log: None,
            lines: Vec::new(),
        });
        Ok(())
    });
    match told {
        Ok(state) => show_last(desk, &state, console).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

/// The last round is forgotten.
pub(super) fn undo(desk: &Desk<'_>, console: &mut Console<'_>) -> Did {
    let told = change(desk, |state| state.rounds.pop().map(|_| ()).ok_or(BisectError::NothingToUndo));
    match told {
        Ok(state) => {
            let number = (state.rounds.len() + 1).to_string();
            writeln!(console.out, "{}", desk.messages().text("bisect-undone", &[("n", &number)]))?;
            write(&desk.show(&state).stand(), console).map(Ok)
        }
        Err(error) => Ok(Err(error)),
    }
}

/// The whole session is forgotten.
pub(super) fn reset(desk: &Desk<'_>, console: &mut Console<'_>) -> Did {
    let removed = desk.store.lock().and_then(|lock| desk.store.remove(&lock));
    match removed {
        Ok(there) => {
            let id = if there { "bisect-forgotten" } else { "bisect-nothing-to-forget" };
            writeln!(console.out, "{}", desk.messages().text(id, &[])).map(Ok)
        }
        Err(error) => Ok(Err(error)),
    }
}

/// Loads, changes and saves a session while nobody else can.
pub(super) fn change(
    desk: &Desk<'_>,
    edit: impl FnOnce(&mut State) -> Result<(), BisectError>,
) -> Result<State, BisectError> {
    let lock = desk.store.lock()?;
    change_locked(desk, &lock, edit)
}

/// The same under a lock that is held already.
pub(super) fn change_locked(
    desk: &Desk<'_>,
    lock: &Lock,
    edit: impl FnOnce(&mut State) -> Result<(), BisectError>,
) -> Result<State, BisectError> {
    let mut state = desk.store.load()?;
    edit(&mut state)?;
    desk.store.save(&mut state, lock)?;
    Ok(state)
}

/// The round that was just entered, and what follows from it.
pub(super) fn show_last(desk: &Desk<'_>, state: &State, console: &mut Console<'_>) -> std::io::Result<()> {
    let show = desk.show(state);
    let mut told: Vec<_> = state.rounds.last().map(|last| show.one(state.rounds.len(), last)).into_iter().collect();
    told.extend(show.stand());
    write(&told, console)
}
