//! What a session tells of itself: facts, options, folders, the answer for a container's limit.

use super::{LIST_LIMIT, NAME_KEPT, Open, TEXT_KEPT, VALUES_KEPT, kept, push_capped};
use crate::event::{At, FactValue, MIB, flags_of};
use crate::timeline::evidence::Evidence;
use crate::timeline::session::{Fact, FactJson, Flag};
use crate::timeline::signs::Signs;

/// The container has a limit of its own.
const LIMITED: &str = "memory_limited";
/// The Python and the file of the command that installs what ComfyUI requires.
const REQUIRED_BY: &str = "required_by";
const REQUIREMENTS: &str = "requirements_path";

impl Open {
    /// ComfyUI's own box names the command that installs what it requires: which Python, and where ComfyUI is.
    pub(super) fn requirements_command(&mut self, at: &At<'_>, signs: &Signs) {
        const LONGEST: usize = 600;
        if self.ready && self.running || at.text.len() > LONGEST || !at.text.ends_with(b".txt") {
            return;
        }
        let text = at.text();
        let text = text.trim();
        if !signs.is_requirements_command(text) {
            return;
        }
        if let Some((python, _)) = text.split_once(" -s -m pip ").or_else(|| text.split_once(" -m pip ")) {
            self.fact(REQUIRED_BY, &FactValue::Text(python.into()), true, at);
            self.fact("python_path", &FactValue::Text(python.into()), true, at);
        }
        let path = text.rsplit_once(" -r ").map(|(_, path)| path).unwrap_or_default();
        self.fact(REQUIREMENTS, &FactValue::Text(path.into()), true, at);
        if let Some((root, _)) = path.rsplit_once(['/', '\\']) {
            self.fact("install_path", &FactValue::Text(root.into()), true, at);
        }
    }

    /// A bare number that answers the question for the container's limit in the line before; 0 is none.
    pub(super) fn answer_of_docker(&mut self, at: &At<'_>, signs: &Signs) {
        if !at.text.first().is_some_and(u8::is_ascii_digit) {
            return;
        }
        let asked = self
            .session
            .container_hints
            .last()
            .is_some_and(|hint| hint.place.line + 1 == at.place.line && signs.asks_for_limit(&hint.text));
        let bytes = std::str::from_utf8(at.text).ok().and_then(|text| text.trim().parse::<u64>().ok());
        match bytes.filter(|_| asked) {
            Some(0) => self.fact(LIMITED, &FactValue::Bool(false), false, at),
            Some(bytes) => {
                self.session.container_limit_mib = Some((bytes as f64 / MIB, Evidence::of(at)));
            }
            None => {}
        }
    }

    pub(super) fn fact(&mut self, name: &str, value: &FactValue<'_>, weak: bool, at: &At<'_>) {
        if name == "total_vram_mib" && !weak {
            self.session.counts.total_vram_lines += 1;
        }
        let fact = Fact { value: FactJson::of(value), at: Evidence::of(at), weak };
        if name == "device" && !weak && !self.session.devices.iter().any(|known| known.value == fact.value) {
            push_capped(&mut self.session.devices, || fact.clone());
        }
        match self.session.facts.get_mut(name) {
            None => {
                self.session.facts.insert(name.to_owned(), fact);
            }
            Some(old) if old.weak && !weak => *old = fact,
            Some(_) => {}
        }
    }

    pub(super) fn launch(&mut self, args: &str, at: &At<'_>) {
        for (name, values) in flags_of(args) {
            if self.session.flag(&name).is_none() && self.session.flags.len() < LIST_LIMIT * 2 {
                let values = values.iter().take(VALUES_KEPT).map(|value| kept(value, TEXT_KEPT)).collect();
                self.session.flags.push(Flag { name: kept(&name, NAME_KEPT), values, at: Evidence::of(at) });
            }
        }
        self.session.facts.entry("launcher".to_owned()).or_insert_with(|| Fact {
            value: FactJson::Text(crate::text::cut_chars(args, 300)),
            at: Evidence::of(at),
            weak: true,
        });
    }
}
