//! What can go wrong with a session, in words for the person at the console.

use miette::Diagnostic;
use thiserror::Error;

use crate::input::InputError;
use crate::samples::SamplesError;

/// A call of `bisect` that cannot be answered.
#[derive(Debug, Error, Diagnostic)]
pub(super) enum BisectError {
    #[error("there is no bisection at `{path}`")]
    #[diagnostic(code(comfy_triage::bisect::no_session), help("begin one: comfy-triage bisect start LOG"))]
    NoSession { path: String },
    #[error("there is a bisection already at `{path}`")]
    #[diagnostic(
        code(comfy_triage::bisect::exists),
        help("`bisect status` shows where it stands; --force begins anew, --name NAME begins another one")
    )]
    Exists { path: String },
    #[error("`{given}` cannot be the name of a session")]
    #[diagnostic(code(comfy_triage::bisect::name), help("use letters, digits, `-` and `_`, or --state FILE"))]
    Name { given: String },
    #[error("your system names no folder for data")]
    #[diagnostic(code(comfy_triage::bisect::no_folder), help("say where to keep the session: --state FILE"))]
    NoFolder,
    #[error("the session `{path}` cannot be read")]
    #[diagnostic(code(comfy_triage::bisect::read))]
    Read {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("the session `{path}` is not what it should be")]
    #[diagnostic(
        code(comfy_triage::bisect::broken),
        help("mend the file at that place, or begin anew: comfy-triage bisect reset")
    )]
    Broken {
        path: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("the session `{path}` has form {format}: a newer comfy-triage wrote it")]
    #[diagnostic(code(comfy_triage::bisect::newer), help("use that version, or begin anew under another --name"))]
    Newer { path: String, format: u64 },
    #[error("the session `{path}` cannot be written")]
    #[diagnostic(code(comfy_triage::bisect::write))]
    Write {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("another comfy-triage works on this session")]
    #[diagnostic(code(comfy_triage::bisect::locked), help("wait for it to end"))]
    Locked,
    #[error("the session `{path}` was changed in the meantime")]
    #[diagnostic(
        code(comfy_triage::bisect::changed),
        help("nothing was written; look at `bisect status` and try again")
    )]
    Changed { path: String },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Log(#[from] InputError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Samples(#[from] SamplesError),
    #[error("`{given}` is not a symptom")]
    #[diagnostic(
        code(comfy_triage::bisect::symptom),
        help("write leak, leak:CLASS, oom, growth, error:TEXT, import, import:DIR or manual")
    )]
    Symptom { given: String },
    #[error("the log shows nothing to look for")]
    #[diagnostic(
        code(comfy_triage::bisect::no_symptom),
        help(
            "take a log in which it went wrong, or say what you see: --symptom leak, oom, error:TEXT … or manual; growth of memory needs --samples FILE"
        )
    )]
    NoSymptom,
    #[error("the symptom `{symptom}` is not in this log")]
    #[diagnostic(
        code(comfy_triage::bisect::not_shown),
        help("begin with a log in which it went wrong; for what only you can see: --symptom manual")
    )]
    NotShown { symptom: String },
    #[error("the log lists no node packs")]
    #[diagnostic(
        code(comfy_triage::bisect::no_packs),
        help("the list of import times must be in it: take a log from the first line of the start on")
    )]
    NoPacks,
    #[error("this log was made with all custom nodes off: no node pack is to blame for what it shows")]
    #[diagnostic(code(comfy_triage::bisect::nodes_off), help("it is ComfyUI's own: comfy-triage checklist LOG"))]
    NodesOff,
    #[error("`{given}` is no pack of this log")]
    #[diagnostic(code(comfy_triage::bisect::keep))]
    Keep {
        given: String,
        #[help]
        near: String,
    },
    #[error("the bisection is finished: no round is asked for")]
    #[diagnostic(
        code(comfy_triage::bisect::finished),
        help("`bisect status` shows the answer; `bisect undo` takes the last round back")
    )]
    Finished,
    #[error("there is no round to take back")]
    #[diagnostic(code(comfy_triage::bisect::nothing_to_undo))]
    NothingToUndo,
    #[error("the log shows no round that could count")]
    #[diagnostic(
        code(comfy_triage::bisect::as_is),
        help("it must have an import table, and only packs of the first log in it")
    )]
    AsIs,
    #[cfg(unix)]
    #[error("it is not known how to start ComfyUI")]
    #[diagnostic(
        code(comfy_triage::bisect::run_start),
        help("say it with {{flags}} where the flags go: bisect run --start 'python main.py {{flags}}' -- CMD")
    )]
    RunStart,
    #[cfg(unix)]
    #[error("this version of ComfyUI cannot be told which packs to load, and folders are never renamed here")]
    #[diagnostic(code(comfy_triage::bisect::run_rename), help("do the rounds by hand: comfy-triage bisect status"))]
    RunRename,
    #[cfg(unix)]
    #[error("this symptom cannot be read from a log")]
    #[diagnostic(code(comfy_triage::bisect::run_manual), help("do the rounds by hand: bisect good, bisect bad"))]
    RunManual,
    #[cfg(not(unix))]
    #[error("on this system ComfyUI cannot be ended cleanly from here")]
    #[diagnostic(code(comfy_triage::bisect::run_system), help("do the rounds by hand: comfy-triage bisect status"))]
    RunSystem,
    #[cfg(unix)]
    #[error("`{command}` cannot be started")]
    #[diagnostic(code(comfy_triage::bisect::run_spawn))]
    RunSpawn {
        command: String,
        #[source]
        source: std::io::Error,
    },
    #[cfg(unix)]
    #[error("ComfyUI did not come up: {why}")]
    #[diagnostic(
        code(comfy_triage::bisect::run_ready),
        help("its output is in `{log}`; when that is mended, the same `bisect run` goes on with this round")
    )]
    RunReady { why: String, log: String },
    #[cfg(unix)]
    #[error("ComfyUI (process {pid}) ended neither after an interrupt nor after SIGTERM")]
    #[diagnostic(
        code(comfy_triage::bisect::run_end),
        help("end it yourself, then `bisect run` again; it was left alone. Its output is in `{log}`")
    )]
    RunEnd { pid: u32, log: String },
    #[cfg(unix)]
    #[error("stopped by a signal; ComfyUI was ended, the rounds so far are kept")]
    #[diagnostic(code(comfy_triage::bisect::run_stopped), help("the same `bisect run` goes on with this round"))]
    RunStopped,
    #[cfg(unix)]
    #[error("your script failed three times in a row ({status})")]
    #[diagnostic(
        code(comfy_triage::bisect::run_script),
        help("mend it, then the same `bisect run` goes on; ComfyUI's output is in `{log}`")
    )]
    RunScript { status: String, log: String },
    #[cfg(unix)]
    #[error("three rounds in a row did not count")]
    #[diagnostic(code(comfy_triage::bisect::run_void), help("`bisect log` tells why; the last output is in `{log}`"))]
    RunVoid { log: String },
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::BisectError as E;
    use crate::render::Translated;

    /// Each fault of a session has its Chinese, with what was filled in.
    #[test]
    fn faults_are_told_in_chinese() {
        let path = || "my/{session}.json".to_owned();
        let source = || Error::other("disk");
        let not_json = serde_json::from_str::<u8>("x").expect_err("no number");
        let faults = [
            E::NoSession { path: path() },
            E::Exists { path: path() },
            E::Name { given: path() },
            E::NoFolder,
            E::Read { path: path(), source: source() },
            E::Broken { path: path(), source: not_json },
            E::Newer { path: path(), format: 9 },
            E::Write { path: path(), source: source() },
            E::Locked,
            E::Changed { path: path() },
            E::Symptom { given: path() },
            E::NoSymptom,
            E::NotShown { symptom: path() },
            E::NoPacks,
            E::NodesOff,
            E::Keep { given: path(), near: "did you mean `A`?".to_owned() },
            E::Finished,
            E::NothingToUndo,
            E::AsIs,
            #[cfg(unix)]
            E::RunStart,
            #[cfg(unix)]
            E::RunRename,
            #[cfg(unix)]
            E::RunManual,
            #[cfg(unix)]
            E::RunSpawn { command: path(), source: source() },
            #[cfg(unix)]
            E::RunReady { why: "it ended".to_owned(), log: path() },
            #[cfg(unix)]
            E::RunEnd { pid: 7, log: path() },
            #[cfg(unix)]
            E::RunStopped,
            #[cfg(unix)]
            E::RunScript { status: "exit status: 1".to_owned(), log: path() },
            #[cfg(unix)]
            E::RunVoid { log: path() },
        ];
        for fault in &faults {
            let shown = crate::error::shown(&Translated::of(fault), 400, true);
            // Title and help, where there is one: each has lost its English.
            let english = crate::error::shown(fault, 400, false);
            let told = |line: &&str| ["× ", "help: ", "帮助："].iter().any(|mark| line.contains(mark));
            assert_eq!(shown.lines().filter(told).count(), english.lines().filter(told).count(), "{shown}");
            assert!(!shown.contains("help: "), "{shown}");
            for line in shown.lines().filter(told) {
                assert!(line.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter)), "{shown}");
            }
            assert_eq!(shown.contains(&path()), english.contains(&path()), "{shown}");
        }
    }
}
