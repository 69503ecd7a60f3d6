//! How a start of ComfyUI ended: kills, exit codes, crashes and clean stops, gathered line by line.

use super::{End, NAME_KEPT, kept, push_capped};
use crate::event::{Event, MIB, What};
use crate::rule::SignDef;
use crate::timeline::ending::{Ending, EndingKind, InFlight};
use crate::timeline::evidence::Evidence;

impl End {
    pub(super) fn event(&mut self, event: &Event<'_>, processes: &[SignDef]) {
        let at = &event.at;
        match &event.what {
            What::Kill => push_capped(&mut self.kills, || Evidence::of(at)),
            What::KernelKill { anon_rss, name, cgroup, .. } if may_be_comfyui(name, processes) => {
                push_capped(&mut self.kills, || Evidence::of(at));
                self.anon_mib = anon_rss.map(|bytes| bytes / MIB);
                if *cgroup && self.constraint.is_none() {
                    self.constraint = Some(("CONSTRAINT_MEMCG".to_owned(), Evidence::of(at)));
                }
            }
            What::KernelOom { constraint } => {
                self.constraint = Some((kept(constraint, NAME_KEPT), Evidence::of(at)));
            }
            What::Exit { code } => {
                if *code == 137 || *code == -9 {
                    push_capped(&mut self.kills, || Evidence::of(at));
                }
                self.exit = Some((*code, Evidence::of(at)));
            }
            What::Crash => {
                self.crash.get_or_insert_with(|| Evidence::of(at));
            }
            What::OomDaemon { name } if may_be_comfyui(name, processes) => {
                self.daemon.get_or_insert_with(|| Evidence::of(at));
            }
            What::OomKilledFlag { value } => self.oom_killed = Some((*value, Evidence::of(at))),
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

    pub(super) fn told(
        self,
        in_flight: Option<InFlight>,
        prompt_open: bool,
        stopped: Option<Evidence>,
        last_text: Option<Evidence>,
    ) -> Ending {
        let crash_code = self.exit.as_ref().is_some_and(|(code, _)| is_crash_code(*code));
        let kind = if !self.kills.is_empty()
            || self.daemon.is_some()
            || self.oom_killed.as_ref().is_some_and(|(value, _)| *value)
        {
            EndingKind::Killed
        } else if self.crash.is_some() || crash_code {
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
                .or_else(|| self.daemon.clone())
                .or_else(|| self.oom_killed.clone().map(|(_, at)| at)),
            EndingKind::NativeCrash => self.crash.clone().or_else(|| self.exit.clone().map(|(_, at)| at)),
            EndingKind::CleanStop => stopped,
            EndingKind::Traceback => self.fatal.clone(),
            EndingKind::Abrupt | EndingKind::StillRunning => last_text,
        };
        Ending {
            kind,
            at,
            in_flight: in_flight.filter(|_| kind != EndingKind::CleanStop),
            exit_code: self.exit.map(|(code, _)| code),
            constraint: self.constraint,
            kills: self.kills,
            killed_anon_mib: self.anon_mib,
            crash: self.crash,
            daemon: self.daemon,
            oom_killed_flag: self.oom_killed,
            pause: self.pause,
            cut: self.cut,
        }
    }
}

/// Exit codes of native crashes: signals on Unix, NTSTATUS values on Windows.
fn is_crash_code(code: i64) -> bool {
    matches!(code, 134 | 135 | 136 | 139 | -6 | -7 | -8 | -11)
        || (code as u32 >= 0xC000_0000 && code != -1 && (code as u32) != 0xC000_013A && !(-64..=255).contains(&code))
}

/// The process may be ComfyUI's; a log that does not name it speaks of its own.
fn may_be_comfyui(name: &str, processes: &[SignDef]) -> bool {
    let name = name.trim_matches(|letter| letter == '(' || letter == ')');
    name.is_empty() || processes.iter().any(|sign| sign.fits(name))
}

#[cfg(test)]
mod tests {
    use super::is_crash_code;

    #[test]
    fn crash_codes_are_told_from_kills_and_stops() {
        assert!(is_crash_code(3221225477) && is_crash_code(139) && is_crash_code(-1073741819));
        assert!(!is_crash_code(137) && !is_crash_code(0) && !is_crash_code(1) && !is_crash_code(3221225786));
    }
}
