//! Models that were given the least room that ComfyUI ever gives: no fault, but the reason why steps are slow.

use super::context::Context;
use super::defaults;
use super::finding::{Basis, Figure};
use super::finding_builder::told;
use crate::catalog::messages::Messages;
use crate::catalog::{Constant, EventKind, FlagRole, Packs};
use crate::text;
use crate::timeline::Load;

/// Sizes in the log have two decimals at least.
const SAME_MIB: f64 = 0.01;
/// Classes named.
const NAMES_SHOWN: usize = 3;

/// What is to be said of such loads. Nothing when it was asked for: then it is no shortage.
pub fn note(view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    if asked_for(view, messages.packs) {
        return None;
    }
    let floors = defaults::possible(messages.packs, "least-weights", view);
    let floors: Vec<f64> = floors.filter_map(|row| defaults::work_out(row, 0.0, None)).map(|least| least.mib).collect();
    let mut starved: Vec<(&str, f64, u64)> = Vec::new();
    for (class, load) in &view.session.loads {
        let Some(room) = room(load, messages) else { continue };
        let least = floors.iter().find(|least| (room.usable_mib - **least).abs() < SAME_MIB);
        // A budget that earlier loads have used up is small as well, but then much of the model is there already.
        if let Some(least) = least.filter(|least| room.loaded_mib.is_none_or(|loaded| loaded < **least + SAME_MIB)) {
            starved.push((class, *least, load.size_at.as_ref().map_or(0, |at| at.place.line)));
        }
    }
    let most = starved.iter().map(|(_, least, _)| *least).max_by(f64::total_cmp)?;
    let names: Vec<&str> = starved.iter().map(|(class, _, _)| *class).take(NAMES_SHOWN).collect();
    let mut lines: Vec<u64> = starved.iter().map(|(_, _, line)| *line).collect();
    lines.sort_unstable();
    let key = if most > 0.0 { "figure-starved" } else { "figure-starved-nothing" };
    let values = [("classes", &*names.join(", ")), ("size", &*text::mib(most))];
    Some(told("starved", messages.text(key, &values), Basis::Measured, lines))
}

struct Room {
    usable_mib: f64,
    loaded_mib: Option<f64>,
}

/// What the last load line of a class says of its room on the card.
fn room(load: &Load, messages: &Messages<'_>) -> Option<Room> {
    let line = load.size_at.as_ref()?;
    let hit = messages.packs.matcher().find(line.text.as_bytes())?;
    let number = |name: &str| {
        std::str::from_utf8(hit.captures.get(name)?.text).ok()?.parse::<f64>().ok().filter(|number| number.is_finite())
    };
    (hit.rule.event == EventKind::LoadPartial)
        .then(|| Some(Room { usable_mib: number("usable")?, loaded_mib: number("loaded") }))?
}

/// The flag that keeps weights off the card is in use, or the state that it sets is printed.
pub(crate) fn asked_for(view: &Context<'_>, packs: &Packs) -> bool {
    let state = view.session.text("vram_state").map(|state| Constant::Text(state.to_owned()));
    let flag = packs.flag_for(FlagRole::WeightsOffCard);
    view.asks(FlagRole::WeightsOffCard).is_some()
        || flag.and_then(|flag| flag.facts.get("vram_state")).is_some_and(|set| Some(set) == state.as_ref())
}
