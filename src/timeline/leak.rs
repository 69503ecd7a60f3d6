//! The two leak texts, grouped into clean-up passes, and what each pass says is held.
//!
//! A pass writes *Potential* once and then one *WARNING* for every model still dead after the collection,
//! so the WARNINGs of one pass are the models held right now. Hundreds of lines can tell of one model.

use std::collections::BTreeMap;

use serde::Serialize;

use super::evidence::Evidence;
use super::names::{NameId, Names, TABLE_LIMIT, Table};
use super::note::Note;
use crate::event::At;

/// Points of a leak curve that are kept; when full, every second one goes.
const CURVE_LIMIT: usize = 128;

/// Models of one class held at the end of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CurvePoint {
    pub prompt: u64,
    pub held: u64,
    pub line: u64,
}

/// What the leak texts say of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leak {
    /// Lines of each text that named the class.
    pub potential: u64,
    pub warning: u64,
    /// Models held after the first, the last and the worst pass; absent when passes cannot be told apart.
    pub held_first: Option<u64>,
    pub held_last: Option<u64>,
    pub held_max: Option<u64>,
    /// The clean pass, or the prompt without any, that showed that the models had been released.
    pub released_at: Option<Evidence>,
    /// Held models per prompt.
    pub curve: Vec<CurvePoint>,
    pub first_potential: Option<Evidence>,
    pub first_warning: Option<Evidence>,
    /// First and last line of the WARNINGs of the last pass that held any.
    pub last_pass: Option<Evidence>,
    /// Prompt in which the class was first warned of.
    pub first_prompt: u64,
    /// Prompts with at least one pass that held models.
    pub prompts_held: u64,
    /// Prompts after whose last pass more were held than after that of any prompt before. A model that is let go and
    /// held again is no growth.
    pub grew: u64,
    /// Most that were held after the last pass of a prompt before the latest one.
    peak_before: u64,
    /// The latest prompt is counted in `grew`.
    grew_now: bool,
    curve_step: u64,
    prompt_counted: u64,
}

impl Leak {
    fn new(prompt: u64) -> Self {
        Self {
            potential: 0,
            warning: 0,
            held_first: None,
            held_last: None,
            held_max: None,
            released_at: None,
            curve: Vec::new(),
            first_potential: None,
            first_warning: None,
            last_pass: None,
            first_prompt: prompt,
            prompts_held: 0,
            grew: 0,
            peak_before: 0,
            grew_now: false,
            curve_step: 1,
            prompt_counted: 0,
        }
    }

    /// The last pass of a prompt counts: what an earlier pass of the same prompt said is replaced.
    fn note(&mut self, point: CurvePoint) {
        let last = self.curve.last().copied();
        let same = last.is_some_and(|last| last.prompt == point.prompt);
        if !same {
            self.peak_before = self.peak_before.max(last.map_or(0, |last| last.held));
            self.grew_now = false;
        }
        let first = self.curve.len() == usize::from(same);
        let grows = !first && point.held > self.peak_before;
        self.grew = self.grew + u64::from(grows) - u64::from(self.grew_now);
        self.grew_now = grows;
        if same && let Some(last) = self.curve.last_mut() {
            *last = point;
            return;
        }
        if self.curve.len() == CURVE_LIMIT {
            let mut index = 0;
            self.curve.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.curve_step *= 2;
        }
        self.curve.push(point);
    }
}

/// What is known of one class while the log is read.
#[derive(Debug, Clone)]
struct LeakDraft {
    leak: Leak,
    last_pass: Option<Note>,
}

impl LeakDraft {
    fn new(prompt: u64) -> Self {
        Self { leak: Leak::new(prompt), last_pass: None }
    }

    fn into_leak(self) -> Leak {
        Leak { last_pass: self.last_pass.map(Note::into_evidence), ..self.leak }
    }
}

/// Models of one class that the open pass found alive.
#[derive(Debug, Clone)]
struct Held {
    class: NameId,
    count: u64,
    lines: Note,
}

/// All leak texts of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeakTracker {
    classes: Table<LeakDraft>,
    pub(crate) passes: u64,
    /// A pass is still being written.
    open: bool,
    held: Vec<Held>,
    /// Where it began.
    begin: Note,
    /// Notes to use again.
    spare: Vec<Note>,
    /// Classes held after the last pass.
    held_now: Vec<NameId>,
    passes_in_prompt: u64,
    /// Models held over all classes: first, last, worst.
    pub(crate) held_total: Option<(u64, u64, u64)>,
    /// Models held over all classes after the last pass of each of the latest prompts.
    pub(crate) held_by_prompt: Vec<CurvePoint>,
    /// WARNINGs were seen without a pass of theirs: the INFO line is hidden.
    pub(crate) stray_warnings: u64,
}

impl LeakTracker {
    /// A *Potential* line: a new pass begins.
    pub(crate) fn potential(&mut self, class: NameId, at: &At<'_>, prompt: u64) {
        self.close(prompt);
        self.passes += 1;
        self.passes_in_prompt += 1;
        let leak = &mut self.classes.entry(class, || LeakDraft::new(prompt)).leak;
        leak.potential += 1;
        leak.first_potential.get_or_insert_with(|| Evidence::of(at));
        self.begin.set(at);
        self.open = true;
    }

    /// A *WARNING* line: one more model is held.
    pub(crate) fn warning(&mut self, class: NameId, at: &At<'_>, prompt: u64) {
        let class = self.classes.place(class);
        let leak = &mut self.classes.at(class, || LeakDraft::new(prompt)).leak;
        if leak.warning == 0 {
            leak.first_prompt = prompt;
            leak.first_warning = Some(Evidence::of(at));
        }
        leak.warning += 1;
        if !self.open {
            self.stray_warnings += 1;
            return;
        }
        let room = self.held.len() < TABLE_LIMIT;
        match self.held.iter_mut().find(|held| held.class == class) {
            Some(held) => {
                held.count += 1;
                held.lines.last_line = Some(at.place.line);
            }
            None if room => {
                let mut lines = self.spare.pop().unwrap_or_default();
                lines.set(at);
                self.held.push(Held { class, count: 1, lines });
            }
            None => {}
        }
    }

    /// The pass that is open ends here: what it held is entered, and what it did not warn of any more was released.
    pub(crate) fn close(&mut self, prompt: u64) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        let total: u64 = self.held.iter().map(|held| held.count).sum();
        self.enter_total(total, total);
        self.note_total(total, prompt);
        let mut held_before = std::mem::take(&mut self.held_now);
        self.enter_held(prompt);
        for class in held_before.drain(..) {
            if !self.held_now.contains(&class)
                && let Some(LeakDraft { leak, .. }) = self.classes.get_mut(class)
            {
                leak.held_last = Some(0);
                leak.released_at = Some(self.begin.clone().into_evidence());
                leak.note(CurvePoint { prompt, held: 0, line: self.begin.place.line });
            }
        }
    }

    /// The session ended within the pass that is open, so its WARNINGs may be missing: it can only tell of more.
    fn cut(&mut self, prompt: u64) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        let classes = &self.classes;
        let known = |class| classes.get(class).and_then(|draft| draft.leak.held_last).unwrap_or(0);
        self.held.retain(|held| held.count >= known(held.class));
        let total: u64 = self.held.iter().map(|held| held.count).sum();
        let before = self.held_total.map_or(0, |(_, last, _)| last);
        self.enter_total(total, total.max(before));
        self.note_total(total.max(before), prompt);
        self.enter_held(prompt);
    }

    /// Models held over all classes, `last` of them now; nothing is entered before any was held.
    fn enter_total(&mut self, total: u64, last: u64) {
        if total > 0 || self.held_total.is_some() {
            let (first, _, worst) = self.held_total.unwrap_or((total, total, total));
            self.held_total = Some((first, last, worst.max(total)));
        }
    }

    /// Where this pass, not yet entered, reached to in the log.
    fn note_total(&mut self, held: u64, prompt: u64) {
        let line = self.held.iter().map(|held| held.lines.last_line.unwrap_or(held.lines.place.line)).max();
        let point = CurvePoint { prompt, held, line: line.unwrap_or(self.begin.place.line) };
        match self.held_by_prompt.last_mut() {
            Some(last) if last.prompt == prompt => *last = point,
            _ => {
                if self.held_by_prompt.len() == CURVE_LIMIT {
                    self.held_by_prompt.remove(1);
                }
                self.held_by_prompt.push(point);
            }
        }
    }

    fn enter_held(&mut self, prompt: u64) {
        for Held { class, count, lines } in self.held.drain(..) {
            let Some(LeakDraft { leak, last_pass }) = self.classes.get_mut(class) else { continue };
            leak.held_first.get_or_insert(count);
            leak.held_last = Some(count);
            leak.held_max = Some(leak.held_max.unwrap_or(0).max(count));
            leak.released_at = None;
            let line = lines.last_line.unwrap_or(lines.place.line);
            self.spare.extend(last_pass.replace(lines));
            leak.note(CurvePoint { prompt, held: count, line });
            if leak.prompt_counted != prompt {
                leak.prompt_counted = prompt;
                leak.prompts_held += 1;
            }
            self.held_now.push(class);
        }
    }

    /// A prompt ended. One without any pass shows that nothing was held any more.
    pub(crate) fn prompt_ended(&mut self, at: &At<'_>, prompt: u64) {
        self.close(prompt);
        if self.passes_in_prompt == 0 {
            if !self.held_now.is_empty() {
                self.begin.set(at);
                self.note_total(0, prompt);
            }
            for class in std::mem::take(&mut self.held_now) {
                if let Some(draft) = self.classes.get_mut(class) {
                    let leak = &mut draft.leak;
                    leak.held_last = Some(0);
                    leak.released_at = Some(Evidence::of(at));
                    leak.note(CurvePoint { prompt, held: 0, line: at.place.line });
                }
            }
        }
        self.passes_in_prompt = 0;
    }

    /// The session ended: figures that cannot be told are taken back.
    pub(crate) fn finish(&mut self, prompt: u64) {
        self.cut(prompt);
        // A log that begins in the middle of a pass has a few strays; one whose INFO lines are hidden has little else.
        let warnings: u64 = self.classes.values().map(|draft| draft.leak.warning).sum();
        let unreadable = self.stray_warnings > 0 && (self.passes == 0 || self.stray_warnings * 2 > warnings);
        for leak in self.classes.values_mut().map(|draft| &mut draft.leak) {
            if unreadable && leak.warning > 0 {
                leak.held_first = None;
                leak.held_last = None;
                leak.held_max = None;
                leak.curve.clear();
                leak.grew = 0;
                self.held_total = None;
                self.held_by_prompt.clear();
            } else if leak.warning == 0 {
                leak.held_last = Some(0);
                leak.held_max = Some(0);
            }
        }
    }

    /// All classes by name.
    pub(crate) fn into_classes(self, names: &Names) -> BTreeMap<String, Leak> {
        self.classes.into_map(names, LeakDraft::into_leak)
    }
}
