//! One start of ComfyUI while it is being told: where each event goes, and the facts of the baseline.

use super::loads::LoadGroup;
use super::{LoadDraft, NAME_KEPT, Open, kept, push_capped};
use crate::event::{At, Event, FactValue, MIB, What};
use crate::input::{Level, Place};
use crate::timeline::ending::InFlight;
use crate::timeline::evidence::{Evidence, count};
use crate::timeline::failure::{Exception, Pictures};
use crate::timeline::note::Note;
use crate::timeline::pace::add_bar;
use crate::timeline::session::{Session, UNNAMED};
use crate::timeline::signature_hit::SignatureTexts;
use crate::timeline::signs::Signs;
use crate::timeline::stage::Start;

/// Lines with the sizes of pictures that are kept: those shortly before a failure tell what it was about.
const PICTURES_KEPT: usize = 8;

/// The program that wrote the log, where it is another one.
const OTHER_PROGRAM: &str = "other_program";

/// What may stand between a request and the load lines that belong to it.
fn is_of_loads(what: &What<'_>) -> bool {
    matches!(
        what,
        What::LoadComplete { .. }
            | What::LoadPartial { .. }
            | What::LoadOld
            | What::Loader { .. }
            | What::Unload { .. }
            | What::UnloadPartial { .. }
            | What::UnloadDetail
            | What::DetailLoad { .. }
            | What::LeakPotential { .. }
            | What::LeakWarning { .. }
            | What::LoadRequested { .. }
            | What::Notice
            | What::Noise
    )
}

impl Open {
    /// A line that belongs to it.
    pub(super) fn touch(&mut self, line: u64) {
        if self.session.first_line == 0 {
            self.session.first_line = line;
        }
        self.session.last_line = line;
    }

    /// The session with everything that was kept in shorter form while it was open.
    pub(super) fn into_session(mut self) -> Session {
        let names = &self.names;
        let (prompt_list, prompts_left_out) = self.prompts.into_list(names);
        let track = self.track.into_told(names);
        let mut session = Session {
            prompt_list,
            prompts_left_out,
            silences: self.pace.into_silences(),
            prompt_groups: track.groups,
            marks: track.marks,
            marks_left_out: track.left_out,
            leak_passes: self.leaks.passes,
            held_total: self.leaks.held_total,
            held_by_prompt: std::mem::take(&mut self.leaks.held_by_prompt),
            stray_leak_warnings: self.leaks.stray_warnings,
            leaks: self.leaks.into_classes(names),
            signals: self.signals.into_list(),
            loads: self.loads.into_map(names, LoadDraft::into_load),
            dynamic: self.dynamic.into_map(names, |dynamic| dynamic),
            resident_mib: self.resident.into_map(names, |(mib, _)| mib),
            detail_sizes: self.details.into_map(names, |sizes| sizes),
            last_executed: self.last_executed.map(Note::into_evidence),
            ..self.session
        };
        let prompts = session.prompts;
        let told = prompts.executed + prompts.invalid + prompts.broken;
        session.prompts.lost = session.prompts.got.saturating_sub(told);
        session
    }

    /// A prompt was queued or ran.
    pub(super) fn has_work(&self) -> bool {
        let prompts = &self.session.prompts;
        prompts.got > 0 || prompts.executed > 0 || !self.loads.is_empty() || !self.dynamic.is_empty()
    }

    pub(super) fn begin_prompt(&mut self, at: &At<'_>) {
        let prompt = &mut self.prompt.told;
        if !self.prompt_began {
            self.prompt_began = true;
            prompt.first_line = at.place.line;
        }
        prompt.last_line = at.place.line;
        self.began.get_or_insert_with(|| Evidence::of(at));
        self.running = true;
        self.ready = true;
        self.moved = true;
        self.only_received = false;
        self.pace.work(true);
    }

    /// A native crash was none: the stack below it says nothing either.
    pub(super) fn forget_stack(&mut self, crash: Place) {
        self.session.crash_stack.take_if(|stack| stack.at.place >= crash);
        let is_its = |exception: &Exception| exception.kind.is_none() && exception.at.place >= crash;
        self.traceback.take_if(|exception| is_its(exception));
        self.session.exceptions.retain(|exception| !(is_its(exception) && exception.message.is_empty()));
    }

    /// A start that ended in an exception.
    pub(super) fn has_failed(&self) -> bool {
        self.traceback.is_some() || !self.session.exceptions.is_empty()
    }

    /// The traceback that seemed to end this start did not: the server starts now, which it had not before, and nothing
    /// that `block` holds is said at the beginning of a start. NumPy prints such tracebacks and goes on.
    pub(super) fn lived_on(&self, block: &Self) -> bool {
        self.died && !self.running && block.session.facts.is_empty() && !self.session.facts.is_empty()
    }

    /// Another program wrote this, and nothing of ComfyUI's queue is in it.
    fn is_foreign(&self) -> bool {
        let prompts = &self.session.prompts;
        self.session.facts.contains_key(OTHER_PROGRAM) && prompts.got == 0 && prompts.executed == 0
    }

    pub(super) fn in_flight(&self) -> Option<InFlight> {
        let waiting = self.session.prompts.got > self.session.prompts.executed + self.session.prompts.invalid;
        let bar = self.bar.filter(|bar| bar.done < bar.total);
        if !self.prompt_began
            || !self.moved
            || self.session.worker_died.is_some()
            || self.is_foreign()
            || !(waiting || bar.is_some() || !self.group.requested.is_empty() || self.last_class.is_some())
        {
            return None;
        }
        Some(InFlight {
            prompt: self.session.current_prompt(),
            class: self.last_class_name(),
            mib: self.last_class.and_then(|(_, mib, _)| mib),
            step: bar.map(|bar| (bar.done, bar.total)),
            sampled: self.bar.filter(|bar| bar.done >= bar.total).map(|bar| bar.total),
            since_line: self.prompt.told.first_line,
        })
    }

    /// Class of the last load, where one is named.
    pub(super) fn last_class_name(&self) -> Option<String> {
        let name = self.last_class.map(|(class, _, _)| self.names.text(class))?;
        (name != UNNAMED).then(|| name.to_owned())
    }

    // Long: one `match` with an arm for each kind of event.
    pub(super) fn event(&mut self, event: &Event<'_>, texts: &mut SignatureTexts, signs: &Signs) {
        let at = &event.at;
        self.touch(at.place.line);
        let prompt = self.session.current_prompt();
        match event.what {
            What::Bar(_) => self.pace.step(),
            _ => self.tick(at),
        }
        if self.awaits_message && !event.nested {
            match event.what {
                What::TracebackFrame { .. } | What::TracebackStart { .. } | What::Bar(_) => self.awaits_message = false,
                _ => self.take_message(at),
            }
        }
        self.settle_loose(event.what);
        self.title_event(event);
        if event.rule.is_some_and(|rule| rule.sets("node_finished")) {
            self.node_finished();
        }
        if !is_of_loads(event.what) {
            self.settle_loads();
        }
        self.reach_stage(event, signs);
        if !matches!(event.what, What::TracebackFrame { .. }) {
            self.in_stack = matches!(event.what, What::TracebackStart { stack: true });
        }
        match at.level {
            Some(Level::Debug) => self.session.counts.debug_lines += 1,
            Some(Level::Detail) => self.session.counts.detail_lines += 1,
            _ => {}
        }
        let always = event.nested
            || matches!(
                event.what,
                What::Exception { .. }
                    | What::ExceptionLine { .. }
                    | What::Aimdo { .. }
                    | What::ErrorNotice
                    | What::ReportField { .. }
            );
        if !matches!(event.what, What::Noise | What::Bar(_) | What::TracebackFrame { .. }) {
            self.signals.line(texts, event, prompt, always);
        }
        self.track.event(event, prompt, &mut self.names);
        match &event.what {
            What::Fact { name, value, weak } => self.fact(name, value, *weak, at),
            What::Launch { args } => self.launch(args, at),
            What::ServerStart => {
                self.session.counts.starts += 1;
                self.running = true;
            }
            What::ServerReady => {
                self.running = true;
                self.ready = true;
                self.session.server_ready.get_or_insert_with(|| Evidence::of(at));
            }
            What::PromptGot | What::PromptExecuted { .. } | What::PromptInvalid { .. } | What::PromptInterrupted => {
                self.prompt_event(event.what, at);
            }
            What::LoadRequested { class } if signs.program_of_class(class).is_some() => {
                let program = signs.program_of_class(class).unwrap_or_default();
                self.fact(OTHER_PROGRAM, &FactValue::Text(program.into()), true, at);
                self.load_event(event.what, at, signs);
            }
            What::LoadRequested { .. }
            | What::LoadComplete { .. }
            | What::LoadPartial { .. }
            | What::LoadDynamic { .. }
            | What::LoadOld
            | What::Loader { .. }
            | What::Unload { .. }
            | What::DetailLoad { .. } => self.load_event(event.what, at, signs),
            What::LeakPotential { class } => {
                self.begin_prompt(at);
                let class = self.names.id(class);
                self.leaks.potential(class, at, prompt);
            }
            What::LeakWarning { class } => {
                self.begin_prompt(at);
                let class = self.names.id(class);
                self.leaks.warning(class, at, prompt);
            }
            What::TracebackStart { .. } | What::TracebackFrame { .. } if super::crash::is_of_crash(event) => {
                self.crash_report(event);
            }
            What::Exception { .. }
            | What::TracebackStart { .. }
            | What::TracebackFrame { .. }
            | What::ExceptionLine { .. }
            | What::ReportField { .. }
            | What::ImportFailed { .. } => self.exception_event(event, prompt, signs),
            What::Oom { .. }
            | What::OomField { .. }
            | What::OomUnload
            | What::HostOom { .. }
            | What::TiledRetry
            | What::AttentionRetry => self.memory_failure(event, prompt),
            What::Dimensions(sizes) => {
                if self.session.pictures.len() == PICTURES_KEPT {
                    self.session.pictures.remove(0);
                }
                self.session.pictures.push(Pictures { sizes: *sizes, line: at.place.line, prompt });
            }
            What::ImportPath { begun, path } => self.import_path(begun, path),
            What::ImportRow { seconds, path, failed } => self.import_row(*seconds, path, *failed, at),
            What::NodesDisabled => self.session.nodes_disabled = Some(Evidence::of(at)),
            What::NodeSkipped { name } => push_capped(&mut self.session.nodes_skipped, || kept(name, NAME_KEPT)),
            What::PinError => count(&mut self.session.counts.pin_errors, at, prompt),
            What::Aimdo { level, .. } => match &**level {
                "ERROR" | "CRITICAL" | "FATAL" => count(&mut self.session.counts.aimdo_errors, at, prompt),
                "WARNING" | "WARN" => count(&mut self.session.counts.aimdo_warnings, at, prompt),
                _ => {}
            },
            What::CacheEvict { active, full } => {
                count(&mut self.session.counts.cache_evictions, at, prompt);
                if *active || *full {
                    count(&mut self.session.counts.cache_evictions_active, at, prompt);
                }
            }
            What::PinEvict { .. } => count(&mut self.session.counts.pin_evictions, at, prompt),
            What::Notice if event.rule.is_some_and(|rule| rule.sets("patch_failed")) => {
                count(&mut self.session.counts.lora_errors, at, prompt);
            }
            What::DeviceClone { .. } => count(&mut self.session.counts.device_clones, at, prompt),
            What::ContainerHint | What::OomKilledFlag { .. } => {
                push_capped(&mut self.session.container_hints, || Evidence::of(at))
            }
            What::ContainerLimit { bytes } => {
                self.session.container_limit_mib = Some((bytes / MIB, Evidence::of(at)));
                push_capped(&mut self.session.container_hints, || Evidence::of(at));
            }
            What::PromptDetail { fields } => self.prompt_detail(fields, at),
            What::OutputIgnored => self.output_ignored(at),
            What::RequestFailed => self.request_failed(at),
            What::ThreadDied { name, worker } => self.thread_died(name, *worker, at),
            What::Stop { whose, .. } if signs.may_be_comfyuis(whose) => self.stop(event),
            What::ErrorNotice if !event.nested => push_capped(&mut self.session.error_notices, || Evidence::of(at)),
            What::Bar(bar) => {
                self.bar = Some(*bar);
                // Sampling goes on: no load line is to come any more.
                self.group = LoadGroup::default();
                add_bar(&mut self.prompt.told.bars, bar, at.place);
                self.moved |= self.prompt_began;
                if bar.seconds_per_step.is_some() {
                    self.prompt.told.seconds_per_step = bar.seconds_per_step;
                }
            }
            _ => {}
        }
    }

    /// A line with a stamp of its own may end a silence.
    pub(super) fn tick(&mut self, at: &At<'_>) {
        let prompt = self.session.current_prompt();
        self.pace.line(at, prompt);
        self.pace.work(self.prompt_began);
    }

    /// A text of the start shows how far it came. What a log tells of a start once ComfyUI runs is no start.
    fn reach_stage(&mut self, event: &Event<'_>, signs: &Signs) {
        if self.ready || event.nested {
            return;
        }
        let Some((stage, order)) = event.rule.and_then(|rule| signs.stage_of(rule.number())) else { return };
        match &mut self.session.start {
            Some(start) => start.reach(stage, order, Evidence::of(&event.at)),
            none => *none = Some(Start::new(stage, order, Evidence::of(&event.at))),
        }
    }

    /// It was stopped on purpose. ComfyUI's own word for it counts more than the order that came before.
    fn stop(&mut self, event: &Event<'_>) {
        let own = event.rule.is_some_and(|rule| !rule.is_shared);
        if own || self.session.stopped.is_none() {
            self.session.stopped = Some(Evidence::of(&event.at));
        }
    }

    /// A line that no rule knows.
    pub(super) fn plain_line(&mut self, at: &At<'_>, signs: &Signs) {
        self.take_message(at);
        self.note_title(at);
        self.requirements_command(at, signs);
    }

    /// The old error dialog gives the node, and the message in the next line.
    pub(super) fn take_message(&mut self, at: &At<'_>) {
        if !std::mem::take(&mut self.awaits_message) {
            return;
        }
        let index = self.open_exception;
        if let Some(exception) = index.and_then(|index| self.session.exceptions.get_mut(index)) {
            exception.set_message(at.text().trim());
            exception.at.last_line = Some(at.place.line);
        }
    }
}
