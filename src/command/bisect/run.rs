//! `bisect run -- CMD`: rounds without a person. Starts ComfyUI as the round asks, runs the user's script against
//! it, ends it, reads its log, and so on to the answer.

use super::{Console, Desk, Did};
use crate::cli::RunArgs;

/// Runs the command.
#[cfg(not(unix))]
pub(super) fn run(_: &Desk<'_>, _: &RunArgs, _: &mut Console<'_>) -> Did {
    Ok(Err(super::fault::BisectError::RunSystem))
}

/// Runs the command.
#[cfg(unix)]
pub(super) fn run(desk: &Desk<'_>, args: &RunArgs, console: &mut Console<'_>) -> Did {
    match unix::Runner::new(desk, args) {
        Ok(runner) => runner.rounds(console),
        Err(error) => Ok(Err(error)),
    }
}

#[cfg(unix)]
mod unix {
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::time::Duration;

    use crate::bisect::{Next, UnitSet};
    use crate::cli::RunArgs;
    use crate::command::Console;
    use crate::command::bisect::fault::BisectError;
    use crate::command::bisect::process::{Server, Waited};
    use crate::command::bisect::rounds::{change_locked, show_last};
    use crate::command::bisect::state::{Mark, State};
    use crate::command::bisect::step::{as_asked, read};
    use crate::command::bisect::store::Lock;
    use crate::command::bisect::{Desk, Did, launch};
    use crate::command::interrupt::Interrupts;
    use crate::input::{ReadOptions, Source};
    use crate::report::bisection::Symptom;
    use crate::report::read_log;

    /// Rounds in a row that may fail to count.
    const VOID_LIMIT: usize = 3;

    /// All that a call of `bisect run` needs.
    pub(super) struct Runner<'a> {
        desk: &'a Desk<'a>,
        args: &'a RunArgs,
        template: String,
        logs: PathBuf,
        lock: Lock,
        /// Signals that ask for an end. While they are listened to, ComfyUI starts with their usual meaning, also
        /// where whoever started this program has them ignored.
        interrupts: Interrupts,
    }

    impl<'a> Runner<'a> {
        pub(super) fn new(desk: &'a Desk<'a>, args: &'a RunArgs) -> Result<Self, BisectError> {
            let lock = desk.store.lock()?;
            let state = desk.store.load()?;
            if matches!(state.symptom(), Symptom::Manual | Symptom::Growth) {
                return Err(BisectError::RunManual);
            }
            if !state.install.whitelist {
                return Err(BisectError::RunRename);
            }
            let template = args.start.clone().or(state
                .install
                .launch
                .template
                .clone()
                .filter(|_| !state.install.launch.container));
            let template = template.filter(|template| template.contains("{flags}")).ok_or(BisectError::RunStart)?;
            let logs = desk.store.beside("rounds");
            std::fs::create_dir_all(&logs)
                .map_err(|source| BisectError::Write { path: logs.display().to_string(), source })?;
            let interrupts =
                Interrupts::listen().map_err(|source| BisectError::RunSpawn { command: template.clone(), source })?;
            Ok(Self { desk, args, template, logs, lock, interrupts })
        }

        /// Rounds until the answer is there, or something is in the way.
        pub(super) fn rounds(&self, console: &mut Console<'_>) -> Did {
            for _ in 0..self.args.rounds {
                let state = match self.desk.store.load() {
                    Ok(state) => state,
                    Err(error) => return Ok(Err(error)),
                };
                let Next::Run { on, .. } = state.next() else { break };
                // One that came while the last round was judged.
                if self.stopped() {
                    return Ok(Err(BisectError::RunStopped));
                }
                let number = state.rounds.len() + 1;
                let values = [("n", &*number.to_string()), ("on", &*on.len().to_string())];
                writeln!(console.out, "{}", self.desk.messages().text("bisect-running", &values))?;
                console.out.flush()?;
                let log = self.logs.join(format!("round-{number:03}.log"));
                let state = match self.one(&state, &on, &log) {
                    Ok(state) => state,
                    Err(error) => return Ok(Err(error)),
                };
                if let Some(error) = self.too_many_void(&state, &log) {
                    return Ok(Err(error));
                }
                if let Some(last) = state.rounds.last() {
                    super::super::write(&[self.desk.show(&state).one(number, last)], console)?;
                    console.out.flush()?;
                }
            }
            match self.desk.store.load() {
                Ok(state) => show_last(self.desk, &state, console).map(Ok),
                Err(error) => Ok(Err(error)),
            }
        }

        /// One round from its start to its entry.
        fn one(&self, state: &State, on: &UnitSet, log: &Path) -> Result<State, BisectError> {
            let messages = launch::words_of(
                &self.template,
                &launch::arguments(state, &state.names(on), self.desk.messages().packs),
            );
            let shown = log.display().to_string();
            let spawn = |command: &str, source| BisectError::RunSpawn { command: command.to_owned(), source };
            let program = messages.first().cloned().unwrap_or_default();
            let mut server = Server::start(&messages, log).map_err(|source| spawn(&program, source))?;
            let up = server
                .wait(Some(Duration::from_secs(self.args.ready)), || self.is_ready(log), || self.stopped())
                .map_err(|source| spawn(&program, source))?;
            if up != Waited::Ready {
                let ended = server.ended().ok().flatten();
                self.end(&mut server, &shown)?;
                return Err(match (up, ended) {
                    (Waited::Stopped, _) => BisectError::RunStopped,
                    (_, Some(status)) => {
                        BisectError::RunReady { why: self.why_not_up(log, &status.to_string()), log: shown }
                    }
                    _ => {
                        let why = format!("it was not ready after {} s", self.args.ready);
                        BisectError::RunReady { why: self.why_not_up(log, &why), log: shown }
                    }
                });
            }
            let script = self.script(state, log);
            // Whatever became of the script, ComfyUI is ended first.
            self.end(&mut server, &shown)?;
            let status = script.map_err(|source| spawn(&self.script_name(), source))?;
            let Some(status) = status else { return Err(BisectError::RunStopped) };
            let judged = read(self.desk, log, None)?;
            change_locked(self.desk, &self.lock, |state| {
                let mut record = as_asked(self.desk, state, &judged)?;
                if !status.success() && matches!(record.seen, Mark::Good | Mark::Void) {
                    record.seen = Mark::Void;
                    record.script_status = Some(status.to_string());
                    record.reason =
                        self.desk.messages().text("bisect-script-failed", &[("status", &status.to_string())]);
                }
                state.rounds.push(record);
                Ok(())
            })
        }

        /// Runs the user's script to its end; none when a signal came.
        fn script(&self, state: &State, log: &Path) -> std::io::Result<Option<std::process::ExitStatus>> {
            let (program, arguments) = self.args.script.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
            let child = Command::new(program)
                .args(arguments)
                .env("COMFY_TRIAGE_PROMPTS", state.prompts.to_string())
                .env("COMFY_TRIAGE_ROUND", (state.rounds.len() + 1).to_string())
                .env("COMFY_TRIAGE_LOG", log)
                .env("COMFY_TRIAGE_URL", self.url(log).unwrap_or_default())
                .stdout(std::io::stderr())
                .spawn()?;
            let mut script = Server::of(child);
            match script.wait(None, || false, || self.stopped())? {
                Waited::Ended => script.ended(),
                _ => Ok(None),
            }
        }

        /// A signal asked this program to end.
        fn stopped(&self) -> bool {
            !self.interrupts.take().is_empty()
        }

        /// What the output of a start that failed says, and how it ended.
        fn why_not_up(&self, log: &Path, ended: &str) -> String {
            let Ok(judged) = read(self.desk, log, None) else { return ended.to_owned() };
            let verdict = &judged.report.verdict;
            if verdict.primary.is_empty() {
                return ended.to_owned();
            }
            format!("{} ({ended})", verdict.headline.trim_end_matches(['.', '。']))
        }

        /// Why no further round is tried, when the last ones did not count.
        fn too_many_void(&self, state: &State, log: &Path) -> Option<BisectError> {
            let void: Vec<_> = state.rounds.iter().rev().take_while(|round| round.seen == Mark::Void).collect();
            if void.len() < VOID_LIMIT {
                return None;
            }
            let log = log.display().to_string();
            let failed =
                void.iter().take(VOID_LIMIT).map(|round| round.script_status.clone()).collect::<Option<Vec<_>>>();
            Some(match failed.and_then(|all| all.into_iter().next()) {
                Some(status) => BisectError::RunScript { status, log },
                None => BisectError::RunVoid { log },
            })
        }

        fn script_name(&self) -> String {
            self.args.script.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        }

        fn end(&self, server: &mut Server, log: &str) -> Result<(), BisectError> {
            let ended = server.end(Duration::from_secs(self.args.end));
            if matches!(ended, Ok(true)) {
                Ok(())
            } else {
                Err(BisectError::RunEnd { pid: server.id(), log: log.to_owned() })
            }
        }

        fn is_ready(&self, log: &Path) -> bool {
            self.ready_line(log).is_some()
        }

        fn ready_line(&self, log: &Path) -> Option<String> {
            let read =
                read_log(Source::open_within(log, self.desk.bounds).ok()?, self.desk.packs, &ReadOptions::default())
                    .ok()?;
            read.timeline.sessions.last()?.server_ready.as_ref().map(|ready| ready.text.clone())
        }

        /// Address of the server, as its own line tells it.
        fn url(&self, log: &Path) -> Option<String> {
            let line = self.ready_line(log)?;
            let hit = self.desk.packs.matcher().find(line.as_bytes())?;
            hit.captures.get("url").map(|url| String::from_utf8_lossy(url.text).into_owned())
        }
    }
}
