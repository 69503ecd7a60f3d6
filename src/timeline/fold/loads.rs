//! Load lines: what was requested, how large it is, what is on the card.

use super::{LIST_LIMIT, LoadDraft, NAME_KEPT, Open, SIZES_KEPT, kept};
use crate::event::{At, MIB, What};
use crate::timeline::evidence::{Evidence, count};
use crate::timeline::note::overwrite;
use crate::timeline::session::Dynamic;
use crate::timeline::signs::Signs;

impl Open {
    pub(super) fn load_event(&mut self, what: &What<'_>, at: &At<'_>, signs: &Signs) {
        let prompt = self.session.current_prompt();
        self.begin_prompt(at);
        match what {
            What::LoadRequested { class } => self.load_requested(class, at, prompt),
            What::LoadComplete { class, loaded, .. } => self.loaded(class.as_deref(), *loaded, None, at),
            What::LoadPartial { class, loaded, offloaded, .. } => {
                self.loaded(class.as_deref(), *loaded, *offloaded, at)
            }
            What::LoadDynamic { class, staged } => {
                self.leaks.close(prompt);
                let class = self.names.id(class);
                self.prompt.prepared.add(class);
                self.pending_loads.retain(|pending| *pending != class);
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
        if self.pending_loads.len() < LIST_LIMIT {
            self.pending_loads.push(class);
        }
        self.last_class = Some((class, None, at.place.line));
    }

    pub(super) fn loaded(&mut self, class: Option<&str>, loaded: Option<f64>, offloaded: Option<f64>, at: &At<'_>) {
        let class = match class {
            Some(class) => {
                let class = self.names.id(class);
                self.pending_loads.retain(|pending| *pending != class);
                class
            }
            None if self.pending_loads.is_empty() => match self.last_class {
                Some((class, _, _)) => class,
                None => return,
            },
            None => self.pending_loads.remove(0),
        };
        let mib = loaded.map(|bytes| bytes / MIB);
        self.track.loaded(class, [mib, offloaded.map(|bytes| bytes / MIB)], self.session.current_prompt(), at);
        let draft = self.loads.entry(class, LoadDraft::new);
        let load = &mut draft.load;
        load.last_mib = mib.or(load.last_mib);
        load.last_offloaded_mib = offloaded.map(|bytes| bytes / MIB);
        if let Some(mib) = mib
            && load.sizes_mib.len() < SIZES_KEPT
        {
            load.sizes_mib.push(mib);
        }
        overwrite(&mut draft.size_at, at);
        if let Some(mib) = mib {
            *self.resident.entry(class, || mib) = mib;
        }
        self.last_class = Some((class, mib, at.place.line));
    }
}
