//! How a start of ComfyUI ended: kills, exit codes, crashes and clean stops, gathered line by line.

use super::{End, NAME_KEPT, kept, push_capped};
use crate::event::{Event, MIB, What, Whose};
use crate::input::Place;
use crate::timeline::ending::{Ending, EndingKind, InFlight};
use crate::timeline::evidence::Evidence;
use crate::timeline::signs::Signs;

impl End {
    // Long: one `match` with an arm for each kind of ending.
    pub(super) fn event(&mut self, event: &Event<'_>, signs: &Signs) {
        let at = &event.at;
        self.told.note(event);
        self.follow_message(event);
        match &event.what {
            // What an exception's message says of an end is the exception's; an end has a line of its own.
            What::Kill { .. }
            | What::Exit { .. }
            | What::Crash { .. }
            | What::OomDaemon { .. }
            | What::KernelKill { .. }
            | What::KernelOom { .. }
                if event.nested || self.repeats_message(event) => {}
            What::KernelOom { whose, .. } if !signs.may_be_comfyuis(whose) => {}
            What::Kill { whose } | What::Exit { whose, .. } | What::Crash { whose } | What::OomDaemon { whose }
                if !signs.may_be_comfyuis(whose) => {}
            What::Kill { .. } => push_capped(&mut self.kills, || Evidence::of(at)),
            What::KernelKill { anon_rss, name, cgroup, .. } if signs.may_be_comfyui(name) => {
                push_capped(&mut self.kills, || Evidence::of(at));
                self.by_kernel = true;
                self.anon_mib = anon_rss.map(|bytes| (bytes / MIB, at.place.line));
                if let Some(constraint) = signs.container_constraint().filter(|_| *cgroup && self.constraint.is_none())
                {
                    self.constraint = Some((constraint.to_owned(), Evidence::of(at)));
                }
            }
            What::KernelKill { cgroup: false, .. } => {
                self.other_killed.get_or_insert_with(|| Evidence::of(at));
            }
            What::KernelOom { constraint, whose } => {
                self.kernel_names |= matches!(whose, Whose::Process(_));
                self.constraint = Some((kept(constraint, NAME_KEPT), Evidence::of(at)));
            }
            What::Exit { code, .. } => {
                if signs.is_kill_code(*code) {
                    push_capped(&mut self.kills, || Evidence::of(at));
                }
                self.crash_code = signs.is_crash_code(*code);
                self.exit_elsewhere = event.rule.is_some_and(|rule| rule.sets("weak"));
                self.exit = Some((*code, Evidence::of(at)));
            }
            What::TracebackStart { .. } | What::TracebackFrame { .. } if super::crash::is_of_crash(event) => {
                self.stack.get_or_insert_with(|| Evidence::of(at));
            }
            What::Crash { .. } => {
                self.crash.get_or_insert_with(|| Evidence::of(at));
            }
            What::OomDaemon { .. } => {
                self.daemon.get_or_insert_with(|| Evidence::of(at));
            }
            What::Stop { whose, explains } if signs.may_be_comfyuis(whose) => self.explained |= explains,
            What::GaveUp { whose, kind } if signs.may_be_comfyuis(whose) => {
                self.given_up.get_or_insert_with(|| (kept(kind, NAME_KEPT), Evidence::of(at)));
            }
            What::OomKilledFlag { value } => self.oom_killed = Some((*value, Evidence::of(at))),
            What::OomNotCounted => self.not_counted = Some(Evidence::of(at)),
            What::Pause => self.pause = Some(Evidence::of(at)),
            What::ExceptionLine { .. } if !event.nested => self.fatal = Some(Evidence::of(at)),
            What::PromptGot
            | What::PromptExecuted { .. }
            | What::ServerReady
            | What::ImportFailed { .. }
            | What::ImportRow { .. }
            | What::LoadRequested { .. } => {
                self.fatal = None;
                self.pause = None;
            }
            _ => {}
        }
    }

    /// Forgets ends told since `began`; hands back where a crash stood. What stands before a start was put there by
    /// whoever pasted it.
    pub(super) fn refute(&mut self, began: Place) -> Option<Place> {
        let since = |at: &mut Evidence| at.place >= began;
        self.kills.retain(|at| at.place < began);
        if self.kills.is_empty() {
            self.anon_mib = None;
            self.by_kernel = false;
        }
        self.given_up.take_if(|(_, at)| since(at));
        self.explained = false;
        if self.exit.take_if(|(_, at)| since(at)).is_some() {
            self.crash_code = false;
        }
        if self.constraint.take_if(|(_, at)| since(at)).is_some() {
            self.kernel_names = false;
        }
        self.oom_killed.take_if(|(_, at)| since(at));
        self.not_counted.take_if(since);
        self.daemon.take_if(since);
        let stack = self.stack.take_if(since);
        self.crash.take_if(since).or(stack).map(|at| at.place)
    }

    /// Something says that the process ended.
    pub(super) fn tells_death(&self) -> bool {
        !self.kills.is_empty()
            || self.crash.is_some()
            || self.stack.is_some()
            || self.daemon.is_some()
            || self.exit.is_some()
    }

    /// Lack of memory is proven.
    fn by_memory(&self) -> bool {
        self.by_kernel
            || self.kernel_names && self.constraint.is_some()
            || self.daemon.is_some()
            || self.oom_killed.as_ref().is_some_and(|(value, _)| *value)
    }

    /// Whoever was told to stop and did not end in time is killed.
    fn was_asked(&self, stopped: Option<&Evidence>) -> bool {
        !self.by_memory()
            && stopped.is_some_and(|stop| {
                let behind = |at: Option<&Evidence>| at.is_none_or(|at| stop.place < at.place);
                // Python may still abort while it takes down a thread that was at work: that is the stop, no crash.
                let crash =
                    behind(self.crash.as_ref()) && (!self.crash_code || behind(self.exit.as_ref().map(|(_, at)| at)));
                crash && (self.explained || self.kills.iter().all(|kill| stop.place < kill.place))
            })
    }

    // Long: one decision, read from the top: each branch rests on all those above it.
    pub(super) fn told(
        mut self,
        in_flight: Option<InFlight>,
        prompt_open: bool,
        stopped: Option<Evidence>,
        last_text: Option<Evidence>,
    ) -> Ending {
        // A report whose heading was not copied is one all the same.
        self.crash = self.crash.or_else(|| self.stack.take());
        let by_kernel = self.constraint.as_ref().filter(|_| self.kernel_names).map(|(_, at)| at.clone());
        let kind = if self.given_up.is_some() && !self.by_memory() {
            EndingKind::GivenUp
        } else if self.was_asked(stopped.as_ref()) {
            EndingKind::CleanStop
        } else if !self.kills.is_empty()
            || by_kernel.is_some()
            || self.daemon.is_some()
            || self.oom_killed.as_ref().is_some_and(|(value, _)| *value)
        {
            EndingKind::Killed
        } else if self.crash.is_some() || self.crash_code {
            EndingKind::NativeCrash
        } else if stopped.is_some() {
            EndingKind::CleanStop
        } else if self.fatal.is_some() && !prompt_open {
            EndingKind::Traceback
        } else if in_flight.is_some() {
            EndingKind::Abrupt
        } else {
            EndingKind::StillRunning
        };
        let at = match kind {
            EndingKind::Killed => self
                .kills
                .first()
                .cloned()
                .or(by_kernel)
                .or_else(|| self.daemon.clone())
                .or_else(|| self.oom_killed.clone().map(|(_, at)| at)),
            EndingKind::NativeCrash => self.crash.clone().or_else(|| self.exit.clone().map(|(_, at)| at)),
            EndingKind::CleanStop => stopped,
            EndingKind::GivenUp => self.given_up.clone().map(|(_, at)| at),
            EndingKind::Traceback => self.fatal.clone(),
            EndingKind::Abrupt | EndingKind::StillRunning => last_text,
        };
        Ending {
            kind,
            at,
            in_flight: in_flight.filter(|_| kind != EndingKind::CleanStop),
            exit_code: self.exit.as_ref().map(|(code, _)| *code),
            exit_elsewhere: self.exit_elsewhere,
            exit_at: self.exit.map(|(_, at)| at),
            constraint: self.constraint,
            kills: self.kills,
            killed_anon_mib: self.anon_mib.map(|(mib, _)| mib),
            killed_anon_line: self.anon_mib.map(|(_, line)| line),
            crash: self.crash.filter(|_| kind != EndingKind::CleanStop),
            daemon: self.daemon,
            oom_killed_flag: self.oom_killed,
            not_counted: self.not_counted,
            given_up: self.given_up,
            other_killed: self.other_killed,
            pause: self.pause,
            restarted: None,
            cut: self.cut,
        }
    }
}
