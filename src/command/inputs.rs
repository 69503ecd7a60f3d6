//! Which logs were asked for: files, patterns that the shell left alone, or what is piped in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::CommandFactory;

use super::near::nearest;
use crate::cli::Cli;
use crate::error::UsageError;

/// A log to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// What is piped in.
    Stdin,
    File(PathBuf),
    /// A text that is here already: the answer of a running ComfyUI at an address, the log within an issue.
    Text {
        name: String,
        text: Arc<str>,
    },
}

impl Input {
    /// The name that reports use.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Text { name, .. } => name.clone(),
        }
    }
}

/// The logs of a call.
pub(super) fn inputs(logs: &[PathBuf], stdin_is_terminal: bool) -> Result<Vec<Input>, Box<UsageError>> {
    let Some(first) = logs.first() else {
        // A command that needs a log by name: the triage has looked for the newest one before it comes here.
        return if stdin_is_terminal { Err(Box::new(UsageError::NoLog)) } else { Ok(vec![Input::Stdin]) };
    };
    if let Some(near) = nearly_a_command(first) {
        return Err(Box::new(UsageError::MistypedCommand { given: first.display().to_string(), near }));
    }
    let mut inputs = Vec::with_capacity(logs.len());
    for path in logs {
        if path.as_os_str() == "-" {
            inputs.push(Input::Stdin);
        } else if let Some(pattern) = pattern(path) {
            let files = files_of(pattern);
            if files.is_empty() {
                return Err(Box::new(UsageError::NoMatch { pattern: pattern.to_owned() }));
            }
            inputs.extend(files.into_iter().map(Input::File));
        } else {
            inputs.push(Input::File(path.clone()));
        }
    }
    Ok(inputs)
}

/// A word without any sign of a file name, that is no file, and is spelt nearly like a command.
fn nearly_a_command(path: &Path) -> Option<String> {
    let word = path.to_str()?;
    if word.contains(['.', '/', '\\', '*']) || word == "-" || path.exists() {
        return None;
    }
    let cli = Cli::command();
    let names = cli.get_subcommands().map(clap::Command::get_name).chain(["help"]);
    nearest(word, names).first().map(|name| (*name).to_owned())
}

/// A path that is a pattern and no file.
fn pattern(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains(['*', '?', '[']) && !path.exists())
}

/// Files that fit, in alphabetical order. Folders and what cannot be looked at are passed over.
fn files_of(pattern: &str) -> Vec<PathBuf> {
    let Ok(paths) = glob::glob(pattern) else { return Vec::new() };
    paths.filter_map(Result::ok).filter(|path| path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<Vec<Input>, Box<UsageError>> {
        inputs(&words.iter().map(PathBuf::from).collect::<Vec<_>>(), true)
    }

    #[test]
    fn nothing_reads_the_pipe_and_a_terminal_is_no_pipe() {
        assert_eq!(inputs(&[], false).unwrap(), [Input::Stdin]);
        assert!(matches!(*of(&[]).unwrap_err(), UsageError::NoLog));
        assert_eq!(of(&["-"]).unwrap(), [Input::Stdin]);
    }

    #[test]
    fn a_mistyped_command_is_no_file() {
        assert!(
            matches!(*of(&["expalin"]).unwrap_err(), UsageError::MistypedCommand { near, .. } if near == "explain")
        );
        assert_eq!(of(&["expalin.log"]).unwrap(), [Input::File("expalin.log".into())]);
    }

    #[test]
    fn patterns_are_expanded_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.log", "a.log", "c.txt"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let pattern = folder.path().join("*.log");
        let found = of(&[pattern.to_str().unwrap()]).unwrap();
        assert_eq!(found, [Input::File(folder.path().join("a.log")), Input::File(folder.path().join("b.log"))]);
        let none = folder.path().join("*.zip");
        assert!(matches!(*of(&[none.to_str().unwrap()]).unwrap_err(), UsageError::NoMatch { .. }));
    }
}
