//! Defaults and formulas of the version at hand, from the packs.

use super::context::{Context, Gpu, Os};
use crate::catalog::{Constant, DefaultDef, Packs, Since, Term, Version};

const MIB_PER_GIB: f64 = 1024.0;

/// A formula worked out: the result and the term that decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worked {
    pub mib: f64,
    pub decided_by: Term,
}

/// The row of `what` that holds for this log. `None` when the version is too uncertain for one answer.
pub fn pick<'p>(packs: &'p Packs, what: &str, view: &Context<'_>) -> Option<&'p DefaultDef> {
    pick_at(packs, what, view, None)
}

/// All rows of `what` that may hold for this log; every one when the version is not known.
pub fn possible<'p>(packs: &'p Packs, what: &'p str, view: &Context<'_>) -> impl Iterator<Item = &'p DefaultDef> {
    packs.defaults.iter().filter(move |row| {
        row.what == what && fits_system(row, view) && (view.span.is_unknown() || may_hold(row, view))
    })
}

/// The same for another version than the log's.
pub fn pick_at<'p>(
    packs: &'p Packs,
    what: &str,
    view: &Context<'_>,
    version: Option<Version>,
) -> Option<&'p DefaultDef> {
    let mut rows: Vec<&DefaultDef> = packs
        .defaults
        .iter()
        .filter(|row| row.what == what && fits_system(row, view))
        .filter(|row| match version {
            Some(version) => holds_at(row, version),
            None => may_hold(row, view),
        })
        .collect();
    let most = rows.iter().map(|row| specific(row)).max()?;
    rows.retain(|row| specific(row) == most);
    let same = |a: &DefaultDef, b: &DefaultDef| {
        a.value == b.value
            && format!("{:?}{:?}{:?}", a.terms, a.at_least, a.clamp_gib)
                == format!("{:?}{:?}{:?}", b.terms, b.at_least, b.clamp_gib)
    };
    let first = rows.first().copied()?;
    rows.iter().all(|row| same(row, first)).then_some(first)
}

fn until(row: &DefaultDef) -> Option<Version> {
    row.until.as_deref().and_then(Version::parse)
}

fn holds_at(row: &DefaultDef, version: Version) -> bool {
    let since_ok = match row.since {
        Since::At(since) => version >= since,
        Since::BeforeNumbers | Since::Unknown => true,
    };
    since_ok && until(row).is_none_or(|until| version <= until) && row.until.as_deref() != Some("pre-0.0.1")
}

fn may_hold(row: &DefaultDef, view: &Context<'_>) -> bool {
    !view.span.is_unknown() && view.span.overlaps(row.since, until(row)) && row.until.as_deref() != Some("pre-0.0.1")
}

fn specific(row: &DefaultDef) -> usize {
    usize::from(row.wsl.is_some()) * 4
        + usize::from(!row.gpu.is_empty())
        + usize::from(row.vram_above_mib.is_some() || row.vram_at_most_mib.is_some())
        + usize::from(matches!(row.os.as_str(), "windows" | "linux"))
}

fn fits_system(row: &DefaultDef, view: &Context<'_>) -> bool {
    let os_ok = match row.os.as_str() {
        "windows" => view.os == Os::Windows,
        "linux" => matches!(view.os, Os::Linux | Os::Wsl | Os::MacOs),
        _ => true,
    };
    let gpu_ok = row.gpu.is_empty() || gpu_name(view.gpu).is_some_and(|name| row.gpu.iter().any(|gpu| gpu == name));
    let wsl_ok = row.wsl.is_none_or(|wsl| wsl == (view.os == Os::Wsl));
    let vram = view.vram_mib();
    let vram_ok = row.vram_above_mib.is_none_or(|above| vram.is_some_and(|mib| mib > above))
        && row.vram_at_most_mib.is_none_or(|most| vram.is_some_and(|mib| mib <= most));
    let opted = row.opt_in.is_empty() || row.opt_in.iter().any(|flag| view.uses(flag));
    let not_off = !row.off_with.iter().any(|flag| view.uses(flag));
    os_ok && gpu_ok && wsl_ok && vram_ok && opted && not_off
}

/// The name of the card's maker in the packs.
pub fn gpu_name(gpu: Gpu) -> Option<&'static str> {
    Some(match gpu {
        Gpu::Nvidia => "nvidia",
        Gpu::Amd => "amd",
        Gpu::Intel => "intel",
        Gpu::Apple => "apple",
        Gpu::DirectMl => "directml",
        Gpu::Cpu => "cpu",
        Gpu::Unknown => return None,
    })
}

fn term_mib(term: &Term, ram_mib: f64, swap_mib: Option<f64>) -> Option<f64> {
    if let Some(share) = term.share {
        return Some(ram_mib * share);
    }
    if let Some(gib) = term.gib {
        return Some(gib * MIB_PER_GIB);
    }
    if let Some(mib) = term.mib {
        return Some(mib);
    }
    if let Some(gib) = term.ram_minus_gib {
        return Some(ram_mib - gib * MIB_PER_GIB);
    }
    term.ram_plus_swap_minus_gib.and_then(|gib| swap_mib.map(|swap| ram_mib + swap - gib * MIB_PER_GIB))
}

/// Result of a row's formula in MiB. `None` when it has none, or needs the swap's size and that is unknown.
pub fn work_out(row: &DefaultDef, ram_mib: f64, swap_mib: Option<f64>) -> Option<Worked> {
    let mut result: Option<Worked> = None;
    for term in &row.terms {
        let mib = term_mib(term, ram_mib, swap_mib)?;
        if result.is_none_or(|worked| mib < worked.mib) {
            result = Some(Worked { mib, decided_by: *term });
        }
    }
    let mut worked = result?;
    if let Some(least) = &row.at_least
        && let Some(mib) = term_mib(least, ram_mib, swap_mib)
        && mib > worked.mib
    {
        worked = Worked { mib, decided_by: *least };
    }
    if let Some((low, high)) = row.clamp_gib {
        worked.mib = worked.mib.clamp(low * MIB_PER_GIB, high * MIB_PER_GIB);
    }
    Some(worked)
}

/// Swap in MiB that a pinned budget implies, when the term with swap decided.
pub fn implied_swap(row: &DefaultDef, ram_mib: f64, budget_mib: f64) -> Option<f64> {
    let gib = row.terms.iter().find_map(|term| term.ram_plus_swap_minus_gib)?;
    let swap = budget_mib - ram_mib + gib * MIB_PER_GIB;
    let others = row.terms.iter().filter(|term| term.ram_plus_swap_minus_gib.is_none());
    let least = others.filter_map(|term| term_mib(term, ram_mib, None)).fold(f64::INFINITY, f64::min);
    let floor = row.at_least.as_ref().and_then(|term| term_mib(term, ram_mib, None)).unwrap_or(0.0);
    (swap >= -1.0 && budget_mib < least - 1.0 && budget_mib > floor + 1.0).then_some(swap.max(0.0))
}

/// First version in which `what` holds somewhere. `None` when no pack tells.
pub fn first_true(packs: &Packs, what: &str) -> Option<Version> {
    let rows = packs.defaults.iter().filter(|row| row.what == what && truth(row) == Some(true));
    rows.filter_map(|row| match row.since {
        Since::At(version) => Some(version),
        Since::BeforeNumbers | Since::Unknown => None,
    })
    .min()
}

/// A row's plain text value.
pub fn text_value(row: &DefaultDef) -> Option<&str> {
    match row.value.as_ref()? {
        Constant::Text(text) => Some(text),
        _ => None,
    }
}

/// A row's truth value.
pub fn truth(row: &DefaultDef) -> Option<bool> {
    match row.value.as_ref()? {
        Constant::Bool(value) => Some(*value),
        Constant::Text(text) => match text.as_str() {
            "on" | "true" | "yes" => Some(true),
            "off" | "false" | "no" => Some(false),
            _ => None,
        },
        Constant::Number(_) => None,
    }
}
