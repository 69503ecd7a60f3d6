//! Load lines: what was requested, how large it is, what is on the card.

use super::{LIST_LIMIT, LoadDraft, NAME_KEPT, Open, SIZES_KEPT, kept};
use crate::event::{At, MIB, What};
use crate::timeline::evidence::{Evidence, count};
use crate::timeline::names::NameId;
use crate::timeline::note::{Note, overwrite};
use crate::timeline::session::{Dynamic, Load, UNNAMED};
use crate::timeline::signs::Signs;

/// Load lines have two decimals at least.
const SAME_MIB: f64 = 0.02;

/// A load line that names no class.
#[derive(Debug, Clone)]
pub(super) struct LoadLine {
    mib: Option<f64>,
    offloaded_mib: Option<f64>,
    usable_mib: Option<f64>,
    at: Note,
}

/// What a load line tells, in bytes.
struct Sizes {
    loaded: Option<f64>,
    offloaded: Option<f64>,
    usable: Option<f64>,
}

/// Requests in a row, and the load lines that followed them.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadGroup {
    pub(super) requested: Vec<NameId>,
    lines: Vec<LoadLine>,
}

impl Open {
    /// A profiler tells that a node is through: what it had loaded is not at work any more.
    pub(super) fn node_finished(&mut self) {
        self.bar = None;
        self.group = LoadGroup::default();
        self.last_class = None;
    }

    pub(super) fn load_event(&mut self, what: &What<'_>, at: &At<'_>, signs: &Signs) {
        let prompt = self.session.current_prompt();
        self.begin_prompt(at);
        match what {
            What::LoadRequested { class } => self.load_requested(class, at, prompt),
            What::LoadComplete { class, loaded, usable } => {
                let sizes = Sizes { loaded: *loaded, offloaded: None, usable: *usable };
                self.loaded(class.as_deref(), sizes, at);
            }
            What::LoadPartial { class, loaded, offloaded, .. } => {
                let sizes = Sizes { loaded: *loaded, offloaded: *offloaded, usable: None };
                self.loaded(class.as_deref(), sizes, at);
            }
            What::LoadDynamic { class, staged } => {
                self.leaks.close(prompt);
                let class = self.names.id(class);
                self.prompt.prepared.add(class);
                self.group.requested.retain(|pending| *pending != class);
                let staged_mib = staged / MIB;
                let new = || Dynamic { prepared: 0, staged_mib, at: Evidence::of(at) };
                let entry = self.dynamic.entry(class, new);
                entry.prepared += 1;
                entry.staged_mib = staged_mib;
                self.last_class = Some((class, Some(staged_mib), at.place.line));
            }
            What::LoadOld => {
                self.prompt.told.old_loads += 1;
                count(&mut self.session.counts.old_loads, at, prompt);
            }
            What::Loader { part, device } => {
                self.prompt.told.loader_lines += 1;
                self.load_device(part, device, at, signs);
            }
            What::Unload { count } => {
                self.session.unloads.lines += 1;
                self.session.unloads.models += count;
                self.prompt.told.unloaded_models += count;
                self.leave_card(*count);
            }
            What::DetailLoad { class, ram, vram } => {
                let sizes = (ram.map(|bytes| bytes / MIB), vram.map(|bytes| bytes / MIB));
                let class = self.names.id(class);
                *self.details.entry(class, || sizes) = sizes;
            }
            _ => {}
        }
    }

    /// Keeps which kinds of model never go to the card, by the lines that state their load device.
    fn load_device(&mut self, part: &str, device: &str, at: &At<'_>, signs: &Signs) {
        if part.is_empty() || device.is_empty() {
            return;
        }
        let processor = signs.is_processor(device);
        let off_card = &mut self.session.off_card;
        let room = off_card.len() < LIST_LIMIT;
        match off_card.get_mut(part) {
            Some(known) if !processor => *known = None,
            Some(_) => {}
            None if room => {
                off_card.insert(kept(part, NAME_KEPT), processor.then(|| Evidence::of(at)));
            }
            None => {}
        }
    }

    pub(super) fn load_requested(&mut self, class: &str, at: &At<'_>, prompt: u64) {
        self.leaks.close(prompt);
        let class = self.names.id(class);
        self.prompt.requested.add(class);
        let rebuilt = self.prompt.told.loader_lines > 0;
        let draft = self.loads.entry(class, LoadDraft::new);
        let load = &mut draft.load;
        load.requested += 1;
        load.first.get_or_insert_with(|| Evidence::of(at));
        overwrite(&mut draft.last, at);
        if load.last_prompt != prompt {
            load.prompts += 1;
            if load.last_prompt != 0 && rebuilt {
                load.rebuilt_prompts += 1;
            } else if load.last_prompt != 0 {
                load.reload_prompts += 1;
            }
            load.last_prompt = prompt;
        }
        if !self.group.lines.is_empty() {
            self.settle_loads();
        }
        if self.group.requested.len() < LIST_LIMIT {
            self.group.requested.push(class);
        }
        self.last_class = Some((class, None, at.place.line));
    }

    fn loaded(&mut self, class: Option<&str>, sizes: Sizes, at: &At<'_>) {
        let mib = |bytes: Option<f64>| bytes.map(|bytes| bytes / MIB);
        let line = LoadLine {
            mib: mib(sizes.loaded),
            offloaded_mib: mib(sizes.offloaded),
            usable_mib: mib(sizes.usable),
            at: Note::of(at),
        };
        match class {
            Some(class) => {
                let class = self.names.id(class);
                self.group.requested.retain(|pending| *pending != class);
                self.enter_load(Some(class), line);
            }
            None if self.group.lines.len() < LIST_LIMIT => self.group.lines.push(line),
            None => {}
        }
    }

    /// Requests and the load lines behind them are over: each request takes one line at most. Of more requests than
    /// lines the last ones were carried out; a line beyond the requests is that of a model loaded before, which its size
    /// may tell.
    pub(super) fn settle_loads(&mut self) {
        if self.group.lines.is_empty() {
            return;
        }
        let group = std::mem::take(&mut self.group);
        let mut extra = group.lines.len().saturating_sub(group.requested.len());
        let skipped = group.requested.len().saturating_sub(group.lines.len());
        let mut requested = group.requested.iter().skip(skipped);
        for line in group.lines {
            let known = if extra > 0 { self.loaded_before(&line, &group.requested) } else { None };
            if known.is_some() {
                extra -= 1;
            }
            let class = known.or_else(|| requested.next().copied());
            self.enter_load(class, line);
        }
    }

    /// The class of an earlier load that was as large as this one, of those not requested now.
    fn loaded_before(&self, line: &LoadLine, requested: &[NameId]) -> Option<NameId> {
        let whole = |mib: Option<f64>, offloaded: Option<f64>| mib.map(|mib| mib + offloaded.unwrap_or(0.0));
        let size = whole(line.mib, line.offloaded_mib).filter(|mib| *mib > 0.0)?;
        let same = |load: &Load| {
            whole(load.last_mib, load.last_offloaded_mib).is_some_and(|known| (known - size).abs() < SAME_MIB)
        };
        let mut loads = self.loads.iter().filter(|(class, _)| !requested.contains(class));
        loads.find(|(_, draft)| same(&draft.load)).map(|(class, _)| class)
    }

    /// What a load line says, of this class, or of a model that nothing names.
    fn enter_load(&mut self, class: Option<NameId>, line: LoadLine) {
        let number = line.at.place.line;
        let LoadLine { mib, offloaded_mib, usable_mib, at } = line;
        let named = class.unwrap_or_else(|| self.names.id(UNNAMED));
        if let Some(class) = class {
            self.track.loaded(class, [mib, offloaded_mib], self.session.current_prompt(), &at.at());
            let draft = self.loads.entry(class, LoadDraft::new);
            let load = &mut draft.load;
            load.last_mib = mib.or(load.last_mib);
            load.last_offloaded_mib = offloaded_mib;
            load.usable_mib = usable_mib;
            if let Some(mib) = mib
                && load.sizes_mib.len() < SIZES_KEPT
            {
                load.sizes_mib.push(mib);
            }
            draft.size_at = Some(at);
        } else {
            self.session.unnamed_load = Some(at.into_evidence());
        }
        if let Some(mib) = mib {
            *self.resident.entry(named, || (mib, number)) = (mib, number);
        }
        self.last_class = Some((named, mib, number));
    }

    /// So many models left the card; which ones is not told. ComfyUI begins with those that were used longest ago.
    fn leave_card(&mut self, count: u64) {
        for _ in 0..count.min(LIST_LIMIT as u64) {
            let oldest = self.resident.iter().filter(|(_, (mib, _))| *mib > 0.0).min_by_key(|(_, (_, line))| *line);
            let Some((class, _)) = oldest else { return };
            if let Some(place) = self.resident.get_mut(class) {
                place.0 = 0.0;
            }
        }
    }
}
