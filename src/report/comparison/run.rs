//! One run of a comparison: the session that matters, and what it shows in figures.

use super::figures::seconds;
use super::{Memory, Run, RunReport, Seconds};
use crate::catalog::Verdict;
use crate::diagnosis::{Context, Messages};
use crate::report::report::{Finding, PromptsReport, SessionReport};
use crate::samples::Column;
use crate::text;
use crate::timeline::{Leak, Session};

/// A run seen through its most telling session.
pub(super) struct Side<'r> {
    pub(super) run: &'r Run<'r>,
    pub(super) view: Context<'r>,
    pub(super) seconds: Seconds,
    pub(super) report: &'r SessionReport,
}

impl<'r> Side<'r> {
    pub(super) fn of(run: &'r Run<'r>, messages: &Messages<'_>) -> Option<Self> {
        let index = run.telling_session()?;
        let view = Context::of(&run.read.timeline, index, messages, None)?;
        let times: Vec<f64> = view
            .session
            .prompt_list
            .iter()
            .filter(|prompt| prompt.number > 1 && prompt.ended_well())
            .filter_map(|prompt| prompt.seconds)
            .collect();
        Some(Self { run, seconds: seconds(&times), report: run.report.sessions.get(index)?, view })
    }

    pub(super) fn session(&self) -> &'r Session {
        self.view.session
    }

    /// The class of which most models are held, with what the log says of it.
    pub(super) fn worst_leak(&self) -> Option<(&'r str, &'r Leak)> {
        let held = self.session().leaks.iter().filter(|(_, leak)| leak.warning > 0);
        held.max_by_key(|(_, leak)| (leak.held_max.unwrap_or(0), leak.warning))
            .map(|(class, leak)| (class.as_str(), leak))
    }

    /// Passes that met a dead model which then was collected.
    pub(super) fn cycles(&self) -> bool {
        self.session().leaks.values().any(|leak| leak.potential > 0)
    }

    pub(super) fn loaded(&self, class: &str) -> bool {
        self.session().loads.contains_key(class) || self.session().dynamic.contains_key(class)
    }

    /// Prompts that failed, and runs that ended because memory did.
    pub(super) fn failures(&self) -> u64 {
        let session = self.session();
        let killed = self.run.report.verdict.primary.answers("killed");
        let events = session.ooms.len() as u64 + session.host_ooms.len() as u64;
        session.prompts.failed.max(events) + u64::from(killed && session.host_ooms.is_empty())
    }

    /// Loads of what had been loaded before. A class that leaks is built anew each time and does not count.
    pub(super) fn reloads(&self) -> u64 {
        let session = self.session();
        let leaks = |class: &str| session.leaks.get(class).is_some_and(|leak| leak.warning > 0);
        session.loads.iter().filter(|(class, _)| !leaks(class)).map(|(_, load)| load.reload_prompts).sum()
    }

    pub(super) fn per_prompt(&self, count: u64) -> Option<f64> {
        let prompts = self.session().prompts.executed;
        (prompts > 0).then(|| count as f64 / prompts as f64)
    }

    pub(super) fn finding(&self, id: Verdict) -> Option<&'r Finding> {
        self.run.report.findings.iter().find(|finding| finding.id == id)
    }

    /// The value of a figure in MiB, from whichever finding has it.
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        let figures = self.run.report.findings.iter().flat_map(|finding| &finding.figures);
        figures.filter(|figure| figure.name == name).find_map(|figure| figure.value)
    }

    pub(super) fn flags(&self) -> Vec<String> {
        self.session().flags.iter().map(crate::timeline::Flag::written).collect()
    }

    pub(super) fn version(&self) -> String {
        self.view.version.shown()
    }

    pub(super) fn memory(&self) -> Option<Memory> {
        let samples = self.run.samples?;
        let told = crate::diagnosis::judge_growth(self.session(), Some(samples))?.trend;
        let shape = serde_json::to_value(told.shape).ok()?.as_str()?.to_owned();
        let least = samples.series(Column::Available).into_iter().map(|(_, mib)| mib).fold(f64::INFINITY, f64::min);
        let machine_peak_mib = self.view.ram_mib().filter(|_| least.is_finite()).map(|ram| ram - least);
        Some(Memory {
            shape,
            first_mib: told.first_mib,
            last_mib: told.last_mib,
            per_prompt_mib: told.per_prompt,
            machine_peak_mib,
        })
    }

    pub(super) fn report(&self) -> RunReport {
        let session = self.session();
        let prompts = &session.prompts;
        let held = match self.worst_leak() {
            Some((_, leak)) => leak.held_last,
            None => self.view.timeline.info_visible.then_some(0),
        };
        RunReport {
            source: self.run.name.clone(),
            session: self.view.number,
            version: self.version(),
            verdict: self.run.report.verdict.primary,
            grade: self.run.report.verdict.grade,
            headline: self.run.report.verdict.headline.clone(),
            flags: self.flags(),
            node_packs: self.view.packs_loaded().map(|node| node.dir.clone()).collect(),
            prompts: PromptsReport {
                got: prompts.got,
                executed: prompts.executed,
                failed: prompts.failed,
                lost: prompts.lost,
                invalid: prompts.invalid,
                interrupted: prompts.interrupted,
                ignored: prompts.ignored,
                broken: prompts.broken,
            },
            seconds: self.seconds,
            held,
            reloads_per_prompt: self.per_prompt(self.reloads()),
            out_of_memory: (session.ooms.len() + session.host_ooms.len()) as u64,
            ending: self.run.report.ending.kind.clone(),
            memory: self.memory(),
        }
    }

    /// A fact as text; sizes in the unit that suits them.
    pub(super) fn fact(&self, name: &str) -> Option<String> {
        let session = self.session();
        if name.ends_with("_mib") {
            return session.number(name).map(text::mib);
        }
        session.text(name).map(str::to_owned)
    }
}
