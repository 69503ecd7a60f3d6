//! Which weights of the load lines can have been on the card when it was full.

use crate::catalog::Packs;
use crate::event::MIB;
use crate::hypothesis::classes::kind;
use crate::hypothesis::context::Context;
use crate::hypothesis::low_vram_budget;
use crate::timeline::OomRecord;

/// Load lines and the allocator round differently.
const SAME: f64 = 1.02;

/// Weights on the card, by the load lines.
#[derive(Debug, Clone, Default)]
pub struct Resident {
    /// Bytes; absent where no load line tells, or none fits what PyTorch held.
    pub bytes: Option<f64>,
    /// Classes that count.
    pub classes: Vec<String>,
    /// The last model before the failure got no room at all on the card, without being asked to stay off it.
    pub nothing_went_on: bool,
}

/// The latest loads that fit into what PyTorch held; what a load line put into RAM is none of it. A line of an earlier
/// load says what went on the card then: ComfyUI may have moved it away since, so more than there was is no weight.
pub fn resident(oom: &OomRecord, view: &Context<'_>, packs: &Packs) -> Resident {
    let (capacity, allocated) = (oom.numbers.capacity.or(oom.numbers.limit), oom.numbers.allocated);
    let off_card =
        |class: &str| kind(packs, class).is_some_and(|kind| matches!(view.session.off_card.get(kind), Some(Some(_))));
    // On a card that spills into RAM, PyTorch holds more than the card has, and so may a model.
    let too_large = |bytes: f64| match (capacity, allocated) {
        (Some(capacity), Some(allocated)) => bytes > capacity * SAME && allocated <= capacity,
        _ => false,
    };
    let mut loads: Vec<&(String, f64, u64)> =
        oom.resident_mib.iter().filter(|(class, _, _)| !off_card(class)).collect();
    loads.sort_by_key(|(_, _, line)| std::cmp::Reverse(*line));
    let mut found =
        Resident { nothing_went_on: nothing_went_on(loads.first().copied(), view, packs), ..Resident::default() };
    let mut sum = 0.0;
    let mut before = None;
    for (class, mib, line) in loads {
        let bytes = mib * MIB;
        // Without a number of what PyTorch holds, only what the last call loaded is there for sure.
        if allocated.is_none() && before.is_some_and(|before| line + 1 < before) {
            break;
        }
        before = Some(*line);
        if too_large(bytes) || allocated.is_some_and(|allocated| sum + bytes > allocated * SAME) {
            continue;
        }
        sum += bytes;
        found.classes.push(class.clone());
    }
    if !found.classes.is_empty() {
        found.bytes = Some(allocated.map_or(sum, |allocated| sum.min(allocated)));
    }
    found
}

fn nothing_went_on(last: Option<&(String, f64, u64)>, view: &Context<'_>, packs: &Packs) -> bool {
    let Some((class, mib, _)) = last else { return false };
    let offloaded = view.session.loads.get(class).and_then(|load| load.last_offloaded_mib);
    *mib < 1.0 && offloaded.is_some_and(|offloaded| offloaded > 1.0) && !low_vram_budget::asked_for(view, packs)
}
