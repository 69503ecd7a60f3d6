//! Four ways in which a before and after misleads, and the mechanisms that a change relies on.
//!
//! Two things changed at once; the repaired path never ran; a result that the change does not predict; a
//! threshold below what the work needs anyway.

use super::comparable::Differences;
use super::judge::Judgement;
use super::run::Side;
use super::{Mechanism, Outcome, Trap};
use crate::catalog::FlagRole;
use crate::diagnosis::Messages;
use crate::text;

/// Observed and predicted plateau fit when they are no further apart than this share.
const FITS: f64 = 0.10;

/// What flags of these runs rely on, and whether it was seen to work.
pub(super) fn mechanisms(a: &Side<'_>, b: &Side<'_>, messages: &Messages<'_>) -> Vec<Mechanism> {
    let tried = |side: &Side<'_>| side.view.asks(FlagRole::CacheHeadroom).is_some();
    if !tried(a) && !tried(b) {
        return Vec::new();
    }
    let (in_a, in_b) = (evicted(a), evicted(b));
    let text = match (in_a, in_b) {
        ("worked", "worked") => "compare-evicted-both",
        ("worked", _) => "compare-evicted-a",
        (_, "worked") => "compare-evicted-b",
        ("never-worked", "never-worked") => "compare-evicted-never",
        _ => "compare-evicted-unseen",
    };
    vec![Mechanism {
        id: "cache-eviction".to_owned(),
        a: in_a.to_owned(),
        b: in_b.to_owned(),
        text: messages.text(text, &[]),
    }]
}

fn evicted(side: &Side<'_>) -> &'static str {
    let counts = &side.session().counts;
    match (&counts.cache_evictions_active, counts.detail_lines + counts.debug_lines) {
        (Some(_), _) => "worked",
        (None, 0) => "cannot-tell",
        (None, _) => "never-worked",
    }
}

/// What makes the outcome weaker than it looks.
pub(super) fn traps(
    a: &Side<'_>,
    b: &Side<'_>,
    differences: &Differences,
    mechanisms: &[Mechanism],
    judgement: &Judgement,
    messages: &Messages<'_>,
) -> Vec<Trap> {
    let mut out = Vec::new();
    let mut add = |id: &str, text: String| out.push(Trap { id: id.to_owned(), text });
    let changes = differences.obstacles.len() + differences.changed.len();
    if changes > 1 {
        add("two-changes", messages.text("compare-trap-two-changes", &[("n", &changes.to_string())]));
    }
    if let Some((class, _)) = a.worst_leak().filter(|(class, _)| !b.loaded(class)) {
        let removed = differences.packs_removed().join(", ");
        let text = match removed.is_empty() || judgement.outcome == Outcome::NotComparable {
            true => messages.text("compare-trap-class-not-loaded", &[("class", class)]),
            false => messages.text("compare-trap-class-removed", &[("class", class), ("packs", &removed)]),
        };
        add("never-ran", text);
    } else if !mechanisms.is_empty() && mechanisms.iter().all(|mechanism| mechanism.b != "worked") {
        add("never-ran", messages.text("compare-trap-mechanism", &[]));
    }
    let weights = b.view.loaded_mib();
    if let Some(trigger) = b.figure("cache-trigger").filter(|trigger| !mechanisms.is_empty() && *trigger < weights) {
        add(
            "threshold",
            messages.text("compare-trap-threshold", &[("at", &text::mib(trigger)), ("weights", &text::mib(weights))]),
        );
    }
    out
}

/// The plateau that the cache's threshold predicts, beside the one that was seen.
pub(super) struct Plateau {
    pub(super) fits: bool,
    pub(super) trap: Option<Trap>,
}

/// Nothing when no threshold was set or changed.
pub(super) fn plateau(
    b: &Side<'_>,
    differences: &Differences,
    mechanisms: &[Mechanism],
    messages: &Messages<'_>,
) -> Option<Plateau> {
    let changed = differences.flag_changed(FlagRole::CacheHeadroom, messages.packs);
    if mechanisms.is_empty() || !changed && b.view.asks(FlagRole::CacheHeadroom).is_none() {
        return None;
    }
    let predicted = b.figure("cache-trigger")?;
    let observed = b.memory().and_then(|memory| memory.machine_peak_mib);
    let fits = observed.is_none_or(|observed| (observed - predicted).abs() <= predicted * FITS);
    let at = text::mib(predicted);
    let text = match observed {
        None => messages.text("compare-plateau-unmeasured", &[("predicted", &at)]),
        Some(observed) if fits => {
            messages.text("compare-plateau-fits", &[("predicted", &at), ("observed", &text::mib(observed))])
        }
        Some(observed) => {
            messages.text("compare-plateau-differs", &[("predicted", &at), ("observed", &text::mib(observed))])
        }
    };
    Some(Plateau { fits, trap: Some(Trap { id: "plateau".to_owned(), text }) })
}
