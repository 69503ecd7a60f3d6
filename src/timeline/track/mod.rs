//! What a picture of a session is drawn from: marks with their lines and times, and prompts put into groups.
//!
//! Bounded like everything that a fold keeps: of many marks the first and the latest ones, of many prompts groups.

mod budget;
mod groups;

use std::collections::VecDeque;

use serde::Serialize;

use self::budget::Budget;
use self::groups::Groups;
pub use self::groups::PromptGroup;
use super::clock::Clock;
use super::names::{NameId, Names};
use super::session::Prompt;
use crate::event::{At, Event, What};
use crate::input::Bar;

const FIRST: usize = 192;
const LAST: usize = 192;

/// What happened at a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    Requested,
    Loaded,
    PartlyLoaded,
    /// Prepared for dynamic VRAM: nothing says how much went on the card.
    Prepared,
    Unloaded,
    /// A clean-up pass found dead models of a class; `count` of them stayed.
    LeakPass,
    OutOfMemory,
    /// All models were unloaded because of one.
    UnloadedAll,
    TiledRetry,
    AttentionRetry,
    RamRefused,
    Failed,
    Interrupted,
    Killed,
}

/// Something that happened, with the line that tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    pub kind: MarkKind,
    pub class: Option<String>,
    /// MiB loaded or staged.
    pub mib: Option<f64>,
    pub offloaded_mib: Option<f64>,
    /// Models unloaded, or held after a pass.
    pub count: Option<u64>,
    pub prompt: u64,
    pub line: u64,
    /// Last line, when several tell it.
    pub last_line: u64,
    /// Seconds by the log's own stamps.
    pub seconds: Option<f64>,
}

/// A mark while the log is read.
#[derive(Debug, Clone, Copy)]
struct FindingBuilder {
    kind: MarkKind,
    class: Option<NameId>,
    mib: Option<f64>,
    offloaded_mib: Option<f64>,
    count: Option<u64>,
    prompt: u64,
    line: u64,
    last_line: u64,
    seconds: Option<f64>,
}

/// Collects marks, times and groups while a session is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Track {
    first: Vec<FindingBuilder>,
    last: VecDeque<FindingBuilder>,
    left_out: u64,
    clock: Clock,
    budget: Budget,
    groups: Groups,
}

/// What was collected.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) marks: Vec<Mark>,
    pub(crate) left_out: u64,
    pub(crate) groups: Vec<PromptGroup>,
}

impl Track {
    /// A line of the session; loads are told by [`Track::loaded`], once it is known whose they are.
    pub(crate) fn event(&mut self, event: &Event<'_>, prompt: u64, names: &mut Names) {
        let at = &event.at;
        match &event.what {
            What::LoadRequested { class } => {
                let class = names.id(class);
                let seconds = self.add(MarkKind::Requested, Some(class), prompt, at);
                self.budget.requested(class, seconds);
            }
            What::LoadDynamic { class, staged } => {
                let class = names.id(class);
                let mib = Some(staged / crate::event::MIB);
                let seconds = self.add_sized(MarkKind::Prepared, class, [mib, None], prompt, at);
                self.budget.loaded(class, seconds);
            }
            What::Unload { count } => {
                self.add(MarkKind::Unloaded, None, prompt, at);
                self.count(*count);
            }
            What::LeakPotential { class } => {
                let class = names.id(class);
                self.add(MarkKind::LeakPass, Some(class), prompt, at);
                self.count(0);
            }
            What::LeakWarning { class } => {
                let class = names.id(class);
                self.warned(class, prompt, at);
            }
            What::Oom { .. } => self.once(MarkKind::OutOfMemory, prompt, at),
            What::OomUnload => self.once(MarkKind::UnloadedAll, prompt, at),
            What::TiledRetry => self.once(MarkKind::TiledRetry, prompt, at),
            What::AttentionRetry => self.once(MarkKind::AttentionRetry, prompt, at),
            What::HostOom { .. } => self.once(MarkKind::RamRefused, prompt, at),
            What::PromptInterrupted => self.once(MarkKind::Interrupted, prompt, at),
            What::Exception { .. } => self.once(MarkKind::Failed, prompt, at),
            What::KernelKill { .. } | What::Kill { .. } => self.once(MarkKind::Killed, prompt, at),
            What::PromptGot => {
                let seconds = self.clock.tell(at.stamp);
                self.budget.begin(seconds);
            }
            What::Bar(bar) => self.bar(*bar),
            _ => {}
        }
    }

    /// A load line whose class is known.
    pub(crate) fn loaded(&mut self, class: NameId, mib: [Option<f64>; 2], prompt: u64, at: &At<'_>) {
        let kind = if mib[1].is_some() { MarkKind::PartlyLoaded } else { MarkKind::Loaded };
        let seconds = self.add_sized(kind, class, mib, prompt, at);
        self.budget.loaded(class, seconds);
    }

    fn bar(&mut self, bar: Bar) {
        self.budget.bar(bar);
    }

    /// A prompt has ended: its times are put into it, and it joins a group.
    pub(crate) fn prompt_ended(&mut self, prompt: &mut Prompt, at: &At<'_>) {
        let ended = self.clock.tell(at.stamp);
        self.budget.end(prompt, ended);
        self.groups.add(prompt);
    }

    /// The session ended within a prompt.
    pub(crate) fn cut_off(&mut self, prompt: &mut Prompt) {
        self.budget.end(prompt, None);
        self.groups.add(prompt);
    }

    pub(crate) fn into_told(self, names: &Names) -> Told {
        let mark = |draft: FindingBuilder| Mark {
            kind: draft.kind,
            class: draft.class.map(|class| names.text(class).to_owned()),
            mib: draft.mib,
            offloaded_mib: draft.offloaded_mib,
            count: draft.count,
            prompt: draft.prompt,
            line: draft.line,
            last_line: draft.last_line,
            seconds: draft.seconds,
        };
        Told {
            marks: self.first.into_iter().chain(self.last).map(mark).collect(),
            left_out: self.left_out,
            groups: self.groups.into_list(),
        }
    }

    /// The same thing told by several lines in a row is one mark.
    fn once(&mut self, kind: MarkKind, prompt: u64, at: &At<'_>) {
        match self.latest() {
            Some(latest) if latest.kind == kind && latest.prompt == prompt => latest.last_line = at.place.line,
            _ => {
                self.add(kind, None, prompt, at);
            }
        }
    }

    /// One more model of a class is held; the lines of one pass are one mark.
    fn warned(&mut self, class: NameId, prompt: u64, at: &At<'_>) {
        match self.latest() {
            Some(FindingBuilder { kind: MarkKind::LeakPass, class: Some(known), count, last_line, .. })
                if *known == class =>
            {
                *count = Some(count.unwrap_or(0) + 1);
                *last_line = at.place.line;
            }
            _ => {
                self.add(MarkKind::LeakPass, Some(class), prompt, at);
                self.count(1);
            }
        }
    }

    fn latest(&mut self) -> Option<&mut FindingBuilder> {
        self.last.back_mut().or(self.first.last_mut())
    }

    fn count(&mut self, count: u64) {
        if let Some(latest) = self.latest() {
            latest.count = Some(count);
        }
    }

    fn add_sized(
        &mut self,
        kind: MarkKind,
        class: NameId,
        [mib, offloaded_mib]: [Option<f64>; 2],
        prompt: u64,
        at: &At<'_>,
    ) -> Option<f64> {
        let seconds = self.add(kind, Some(class), prompt, at);
        if let Some(latest) = self.latest() {
            (latest.mib, latest.offloaded_mib) = (mib, offloaded_mib);
        }
        seconds
    }

    fn add(&mut self, kind: MarkKind, class: Option<NameId>, prompt: u64, at: &At<'_>) -> Option<f64> {
        let line = at.place.line;
        let seconds = self.clock.tell(at.stamp);
        let (mib, offloaded_mib, count) = (None, None, None);
        let draft = FindingBuilder { kind, class, mib, offloaded_mib, count, prompt, line, last_line: line, seconds };
        if self.first.len() < FIRST {
            self.first.push(draft);
            return seconds;
        }
        if self.last.len() == LAST {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(draft);
        seconds
    }
}
