//! Exceptions with their tracebacks: announced ones, loose ones, those of an import or an Error Report.

use super::{DIRS_KEPT, FRAMES_KEPT, LIST_LIMIT, NAME_KEPT, Open, TEXT_KEPT, kept};
use crate::event::{At, Event, What};
use crate::timeline::evidence::Evidence;
use crate::timeline::failure::{Exception, ExceptionPlace, FrameSign};
use crate::timeline::session::LoneError;
use crate::timeline::signs::Signs;

/// Where code stands that no function holds.
const MODULE: &str = "<module>";

/// A warning is no failure, whoever prints it: Python names the types of warnings so.
fn is_warning(kind: &str) -> bool {
    kind.ends_with("Warning")
}

/// Enters what a frame or a source line shows: the innermost one counts.
fn note_signs(exception: &mut Exception, text: &str, function: &str, at: &At<'_>, signs: &Signs) {
    let sign = |is: &str| FrameSign { is: is.to_owned(), line: at.place.line, function: kept(function, NAME_KEPT) };
    if let Some(is) = signs.phase(text) {
        exception.phase = Some(sign(is));
    }
    if let Some(is) = signs.requester(text) {
        exception.requester = Some(sign(is));
    }
}

impl Open {
    /// The source line beneath a frame tells what the frame's function was about.
    pub(super) fn source_line(&mut self, at: &At<'_>, signs: &Signs) {
        let frame_line = std::mem::take(&mut self.frame_line);
        if frame_line == 0 || frame_line + 1 != at.place.line {
            return;
        }
        let open = self.open_exception.and_then(|index| self.session.exceptions.get_mut(index));
        let Some(exception) = open.or(self.traceback.as_mut()) else { return };
        let function =
            exception.frames.last().and_then(|frame| frame.rsplit(' ').next()).unwrap_or_default().to_owned();
        note_signs(exception, &String::from_utf8_lossy(at.text), &function, at, signs);
    }

    // Long: one `match` with an arm for each kind of line of a traceback.
    pub(super) fn exception_event(&mut self, event: &Event<'_>, prompt: u64, signs: &Signs) {
        let at = &event.at;
        match &event.what {
            What::Exception { message, node } => {
                self.begin_prompt(at);
                self.moved = false;
                if let Some(exception) = self.traceback.take() {
                    self.keep_exception(exception);
                }
                self.prompt.told.failed = true;
                let mut exception = Exception::new(Evidence::of(at), ExceptionPlace::Prompt, prompt);
                exception.set_message(message);
                exception.from_client = event.rule.is_some_and(|rule| rule.sets("client"));
                exception.node = node.as_deref().map(|node| kept(node, NAME_KEPT));
                self.open_oom = None;
                self.open_exception = self.enter_exception(exception);
                self.awaits_message = message.is_empty() && node.is_some();
            }
            What::TracebackStart { stack: true } => {}
            What::TracebackStart { .. } if self.open_exception.is_none() && self.traceback.is_none() => {
                let mut exception = Exception::new(Evidence::of(at), self.place_now(), prompt);
                exception.headed = true;
                exception.thread = self.thread.take();
                self.traceback = Some(exception);
                self.headed = true;
            }
            What::TracebackFrame { .. } if self.in_stack => {}
            What::TracebackFrame { file, line, function } => {
                let place = self.place_now();
                let frame = format!("{}:{line} {}", crate::text::cut_chars(file, 200), kept(function, TEXT_KEPT));
                let dir = signs.node_dir(file).map(|dir| kept(dir, NAME_KEPT));
                // An Error Report's stack trace has no first line of its own.
                let reported = self
                    .session
                    .exceptions
                    .iter()
                    .rposition(|exception| exception.from_report && exception.prompt == prompt);
                let index = self.open_exception.or(reported.filter(|_| self.traceback.is_none()));
                let exception = match index.and_then(|index| self.session.exceptions.get_mut(index)) {
                    Some(exception) => exception,
                    None => self.traceback.get_or_insert_with(|| Exception::new(Evidence::of(at), place, prompt)),
                };
                note_signs(exception, &format!("{} {function}", file.replace('\\', "/")), function, at, signs);
                // A narrow window may have cut it.
                let module = function.starts_with('<') && MODULE.starts_with(&**function);
                // Importing the executor's file is no execution.
                exception.in_execution |= !module && signs.is_executor(file);
                exception.in_models |= !module && signs.in_model_code(file);
                exception.in_module |= module;
                let main = signs.is_main(file);
                exception.passes_main |= main;
                exception.in_main |= module && main;
                if exception.first_frame.is_none() {
                    exception.first_frame = Some(frame.clone());
                }
                self.frame_line = at.place.line;
                if exception.frames.len() == FRAMES_KEPT {
                    exception.frames.remove(0);
                }
                exception.frames.push(frame);
                exception.innermost_is_node = dir.is_some();
                if signs.in_library(file) {
                    exception.library = Some(kept(file, TEXT_KEPT));
                }
                if let Some(dir) = dir {
                    exception.dir_at = Some(Evidence::of(at));
                    if let Some(known) = exception.dirs.iter().position(|known| *known == dir) {
                        let dir = exception.dirs.remove(known);
                        exception.dirs.push(dir);
                    } else if exception.dirs.len() < DIRS_KEPT {
                        exception.dirs.push(dir);
                    }
                }
            }
            What::ExceptionLine { kind, message } => {
                // In the main program, where nothing catches it; what a node caught was announced.
                if self.ready && self.traceback.is_some() && signs.is_stop(kind) {
                    self.session.stopped = Some(Evidence::of(at));
                }
                self.exception_line(kind, message, at, prompt);
                if !event.nested {
                    self.memory_error(kind, at, prompt, signs);
                }
            }
            What::ReportField { name, value } => {
                self.report_field(name, value, at, prompt);
                if *name == "exception_type" {
                    self.memory_error(value.trim(), at, prompt, signs);
                }
            }
            What::ImportFailed { path, reason } => {
                // Its traceback stood before this line and is told by it.
                let own = |last: &Exception| {
                    last.place != ExceptionPlace::Prompt && last.prompt == prompt && !last.from_report
                };
                let told = match self.traceback.take() {
                    Some(exception) => Some(exception),
                    None => self.session.exceptions.pop_if(|last| own(last)),
                };
                let library = told.and_then(|told| told.library);
                let builtin = event.rule.is_some_and(|rule| rule.sets("builtin"));
                self.import_failed(path, reason, library, builtin, at, signs);
            }
            _ => {}
        }
    }

    /// A line that names an error stands alone. Somebody may have pasted nothing else.
    fn lone_error(&mut self, kind: &str, message: &str, at: &At<'_>) {
        if self.session.lone_errors.len() < FRAMES_KEPT {
            let kind = kept(kind, NAME_KEPT);
            self.session.lone_errors.push(LoneError { kind, message: kept(message, TEXT_KEPT), at: Evidence::of(at) });
        }
    }

    /// The traceback that follows ended a thread.
    pub(super) fn thread_died(&mut self, name: &str, worker: bool, at: &At<'_>) {
        self.thread = Some(kept(name, NAME_KEPT));
        if worker {
            self.session.worker_died = Some(Evidence::of(at));
        }
    }

    pub(super) fn exception_line(&mut self, kind: &str, message: &str, at: &At<'_>, prompt: u64) {
        if let Some(exception) = self.open_exception.and_then(|index| self.session.exceptions.get_mut(index)) {
            if exception.kind.is_some() && is_warning(kind) {
                return;
            }
            exception.kind = Some(kept(kind, NAME_KEPT));
            exception.last_line_at = Some(Evidence::of(at));
            if exception.message.is_empty() {
                exception.set_message(message);
            }
            return;
        }
        let place = self.place_now();
        let headed = std::mem::take(&mut self.headed);
        let (mut exception, loose) = match self.traceback.take() {
            Some(exception) => (exception, false),
            // A line that only looks like an exception says nothing outside a traceback, unless it stands in a prompt.
            None if place == ExceptionPlace::Prompt && !at.glued && !is_warning(kind) => {
                (Exception::new(Evidence::of(at), place, prompt), true)
            }
            None => {
                if !at.glued && !is_warning(kind) && place != ExceptionPlace::Prompt {
                    self.lone_error(kind, message, at);
                }
                return;
            }
        };
        exception.kind = Some(kept(kind, NAME_KEPT));
        exception.set_message(message);
        exception.last_line_at = Some(Evidence::of(at));
        if loose {
            self.loose = Some(exception);
            return;
        }
        // A node's failure is announced, or its traceback goes through the executor. The server's own tracebacks
        // (a client that went away) do not fail a prompt that runs beside them.
        let beside = exception.place == ExceptionPlace::Prompt && headed && !exception.in_execution;
        if beside {
            exception.place = ExceptionPlace::Idle;
        }
        if exception.place == ExceptionPlace::Prompt {
            self.prompt.told.failed = true;
            self.moved &= !exception.in_execution;
        }
        self.keep_exception(exception);
        self.beside = if beside { self.session.exceptions.len().checked_sub(1) } else { None };
    }

    /// A prompt that goes on, or a traceback that tells more, settles that a loose line was no failure.
    pub(super) fn settle_loose(&mut self, what: &What<'_>) {
        let goes_on = matches!(
            what,
            What::PromptExecuted { .. }
                | What::PromptInterrupted
                | What::Bar(_)
                | What::LoadRequested { .. }
                | What::LoadComplete { .. }
                | What::LoadPartial { .. }
                | What::LoadDynamic { .. }
                | What::LoadOld
                | What::Loader { .. }
                | What::LeakPotential { .. }
                | What::Exception { .. }
                | What::TracebackStart { stack: false }
                | What::TracebackFrame { .. }
        );
        if goes_on {
            self.loose = None;
            self.beside = None;
        }
    }

    /// Nothing followed: the line is all that is left of a failure, and a traceback may have ended the prompt, whoever
    /// printed it.
    pub(super) fn keep_loose(&mut self) {
        let beside = self.beside.take().filter(|_| self.prompt_began);
        if let Some(exception) = beside.and_then(|index| self.session.exceptions.get_mut(index)) {
            exception.place = ExceptionPlace::Unknown;
        }
        if let Some(exception) = self.loose.take() {
            self.prompt.told.failed = true;
            self.keep_exception(exception);
        }
    }

    /// The prompt has run to its end with this traceback in it. A stack without a head or an error is where some
    /// program stood; one beside the executor is not what the prompt ended with.
    pub(super) fn settle_traceback(&mut self, mut exception: Exception) {
        if exception.place == ExceptionPlace::Prompt && exception.kind.is_none() && !exception.in_execution {
            exception.place = ExceptionPlace::Idle;
        }
        if exception.place != ExceptionPlace::Prompt || exception.headed || exception.kind.is_some() {
            self.keep_exception(exception);
        }
    }

    pub(super) fn report_field(&mut self, name: &str, value: &str, at: &At<'_>, prompt: u64) {
        let reported = self.session.exceptions.iter_mut().rev().find(|exception| exception.from_report);
        let exception = match reported {
            Some(exception) => exception,
            None => {
                let mut exception = Exception::new(Evidence::of(at), ExceptionPlace::Prompt, prompt);
                exception.from_report = true;
                let Some(index) = self.enter_exception(exception) else { return };
                let Some(exception) = self.session.exceptions.get_mut(index) else { return };
                exception
            }
        };
        match name {
            "node_type" => {
                exception.node = Some(crate::text::cut_chars(value, 120));
                exception.node_line = Some(at.place.line);
            }
            "exception_type" => exception.kind = Some(crate::text::cut_chars(value, 120)),
            "exception_message" => {
                exception.set_message(value);
                // This line says what failed; the one before it only where.
                exception.at = Evidence::of(at);
            }
            "arguments" => self.launch(value, at),
            _ => {}
        }
    }

    pub(super) fn place_now(&self) -> ExceptionPlace {
        if self.prompt_began {
            ExceptionPlace::Prompt
        } else if self.ready {
            ExceptionPlace::Idle
        } else if self.running {
            ExceptionPlace::Start
        } else if self.session.prompts.got == 0 {
            ExceptionPlace::Import
        } else {
            ExceptionPlace::Start
        }
    }

    /// Enters an exception; one that an Error Report told already is completed instead.
    pub(super) fn enter_exception(&mut self, exception: Exception) -> Option<usize> {
        let told = self.session.exceptions.iter().position(|known| {
            known.from_report
                && !exception.from_report
                && known.prompt == exception.prompt
                && (known.message.is_empty()
                    || exception.message.is_empty()
                    || known.message.contains(exception.message.trim())
                    || exception.message.contains(known.message.trim()))
        });
        if let Some(index) = told {
            if let Some(known) = self.session.exceptions.get_mut(index) {
                known.prompt = exception.prompt;
                if known.message.is_empty() {
                    known.message = exception.message;
                }
                known.at = exception.at;
            }
            return Some(index);
        }
        if self.session.exceptions.len() >= LIST_LIMIT {
            self.session.exceptions_left_out += 1;
            return None;
        }
        self.session.exceptions.push(exception);
        Some(self.session.exceptions.len() - 1)
    }

    /// Something besides the lack of prompts says that ComfyUI was starting: the lines before a whole traceback, and
    /// its last line or the main program among its frames.
    fn shows_start(&self, exception: &Exception) -> bool {
        exception.headed && !self.session.facts.is_empty() && (exception.kind.is_some() || exception.passes_main)
    }

    pub(super) fn keep_exception(&mut self, mut exception: Exception) {
        if exception.kind.is_none() && exception.frames.is_empty() {
            return;
        }
        let starting = matches!(exception.place, ExceptionPlace::Import | ExceptionPlace::Start);
        // The log begins within a traceback: what ran in the executor, or in a model, was a prompt, seen or not.
        let cut_off = !exception.headed && !exception.in_module && exception.place != ExceptionPlace::Prompt;
        if starting && exception.in_execution || cut_off && exception.in_models {
            exception.place = ExceptionPlace::Prompt;
            // The prompt whose traceback this is ends in the next line that says so.
            self.prompt.told.failed = true;
        } else if starting && !exception.in_module && !self.shows_start(&exception) {
            exception.place = ExceptionPlace::Unknown;
        }
        self.died |= starting && exception.in_main && exception.kind.is_some();
        let in_prompt = exception.place == ExceptionPlace::Prompt;
        let index = self.enter_exception(exception);
        if self.prompt_began && in_prompt {
            self.open_exception = index;
        }
    }
}
