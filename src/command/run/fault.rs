//! What can go wrong with a run, in words for the person at the console.

use std::io;

use miette::Diagnostic;
use thiserror::Error;

/// Why nothing was started, or something is missing.
#[derive(Debug, Error, Diagnostic)]
pub(super) enum RunError {
    #[error("cannot write `{path}`")]
    #[diagnostic(code(comfy_triage::run::write), help("say where: --log FILE and --samples FILE"))]
    Write {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` is named twice")]
    #[diagnostic(
        code(comfy_triage::run::same_file),
        help("log, samples and report need a file each; the probe goes to the log's name with .probe.json")
    )]
    Same { path: String },
    #[error("the log `{path}` would not be a file")]
    #[diagnostic(code(comfy_triage::run::no_file), help("it is read at the end: give --log a name for a new file"))]
    NoFile { path: String },
    #[error("cannot start `{program}`")]
    #[diagnostic(
        code(comfy_triage::run::start),
        help("write it as you would without comfy-triage: comfy-triage run -- python main.py --listen")
    )]
    Start {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("the log `{path}` is not complete")]
    #[diagnostic(
        code(comfy_triage::run::log_cut),
        severity(Warning),
        help("the report is on what was written; the output itself was passed through")
    )]
    LogCut {
        path: String,
        #[source]
        source: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use miette::Diagnostic;

    use super::RunError as E;
    use crate::live::StatsError;
    use crate::render::Translated;
    use crate::source_check::TreeError;

    /// Each fault of `run` and `rules verify` has its Chinese, with what was filled in.
    #[test]
    fn faults_are_told_in_chinese() {
        let path = || "my/{run}.log".to_owned();
        let source = || Error::other("disk");
        let faults: [&dyn Diagnostic; 10] = [
            &E::Write { path: path(), source: source() },
            &E::Same { path: path() },
            &E::NoFile { path: path() },
            &E::Start { program: path(), source: source() },
            &E::LogCut { path: path(), source: source() },
            &StatsError::Form { given: path() },
            &StatsError::NotLocal { given: path() },
            &TreeError::NotComfyui { path: path() },
            &TreeError::Unreadable { path: path(), source: source() },
            &TreeError::Git { path: path(), rev: "v1".to_owned(), reason: "no: such".to_owned() },
        ];
        let is_chinese = |text: &str| text.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter));
        for fault in faults {
            let told = Translated::of(fault);
            assert!(is_chinese(&told.to_string()), "{told}");
            assert!(told.to_string().contains(&path()), "{told}");
            let help = told.help().map(|help| help.to_string());
            assert!(help.as_deref().is_some_and(is_chinese), "{fault:?}: {help:?}");
        }
    }
}
