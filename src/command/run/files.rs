//! The files of one run. What lay under their names is kept: moved aside, and put back when nothing was started.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::fault::RunError;
use super::pump::Log;
use crate::cli::LaunchArgs;
use crate::diagnosis::Messages;
use crate::live::HEADER;
use crate::probe::Probe;
use crate::render::probe_json;
use crate::report::{ProbeQuestion, probe_report};

/// Older files kept of one name.
const KEPT: u32 = 10_000;

/// Where things are written.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) log: PathBuf,
    pub(super) samples: PathBuf,
    pub(super) probe: PathBuf,
    report: Option<PathBuf>,
    /// What was done, to be undone when nothing is started.
    done: Vec<Done>,
}

#[derive(Debug)]
enum Done {
    Made(PathBuf),
    MovedAside { from: PathBuf, to: PathBuf },
}

impl Files {
    pub(super) fn of(args: &LaunchArgs) -> Self {
        let log = args
            .log
            .clone()
            .unwrap_or_else(|| PathBuf::from(format!("comfyui-{}.log", chrono::Local::now().format("%Y%m%d-%H%M%S"))));
        let samples = args.samples.clone().unwrap_or_else(|| with_end(&log, ".samples.csv"));
        Self { probe: with_end(&log, ".probe.json"), samples, log, report: args.report.clone(), done: Vec::new() }
    }

    /// Opens log and samples, and writes the probe.
    ///
    /// # Errors
    /// When one cannot be written; then all is as it was.
    pub(super) fn open(&mut self, probe: &Probe, messages: &Messages<'_>) -> Result<(Log, File), RunError> {
        self.check()?;
        let opened = self.open_all(probe, messages);
        if opened.is_err() {
            self.undo();
        }
        opened
    }

    fn check(&self) -> Result<(), RunError> {
        let paths = [Some(&self.log), Some(&self.samples), Some(&self.probe), self.report.as_ref()];
        for (index, path) in paths.iter().enumerate() {
            if let Some(path) = path
                && paths.iter().skip(index + 1).any(|other| other.as_ref() == Some(path))
            {
                return Err(RunError::Same { path: path.display().to_string() });
            }
        }
        // The log is read again at the end: a pipe would never end, and `/dev/null` would tell nothing.
        if std::fs::metadata(&self.log).is_ok_and(|data| !data.is_file()) {
            return Err(RunError::NoFile { path: self.log.display().to_string() });
        }
        Ok(())
    }

    fn open_all(&mut self, probe: &Probe, messages: &Messages<'_>) -> Result<(Log, File), RunError> {
        let fault = |path: &Path| {
            let path = path.display().to_string();
            move |source| RunError::Write { path, source }
        };
        let (log_path, samples_path, probe_path) = (self.log.clone(), self.samples.clone(), self.probe.clone());
        let log = self.create(&log_path).map_err(fault(&log_path))?;
        let mut samples = self.create(&samples_path).map_err(fault(&samples_path))?;
        writeln!(samples, "{HEADER}").map_err(fault(&samples_path))?;
        let json = probe_json(&probe_report(probe.clone(), messages, &ProbeQuestion::default()));
        let mut file = self.create(&probe_path).map_err(fault(&probe_path))?;
        json.and_then(|json| file.write_all(json.as_bytes())).map_err(fault(&probe_path))?;
        Ok((Log::new(log), samples))
    }

    fn create(&mut self, path: &Path) -> io::Result<File> {
        if let Some(to) = set_aside(path)? {
            self.done.push(Done::MovedAside { from: path.to_owned(), to });
        }
        let is_new = std::fs::symlink_metadata(path).is_err();
        let file = File::create(path)?;
        if is_new {
            self.done.push(Done::Made(path.to_owned()));
        }
        Ok(file)
    }

    /// Nothing was started: nothing is left behind, and what was there is there again.
    pub(super) fn undo(&mut self) {
        for done in self.done.drain(..).rev() {
            let _ = match done {
                Done::Made(path) => std::fs::remove_file(path),
                Done::MovedAside { from, to } => std::fs::rename(to, from),
            };
        }
    }
}

/// Keeps a file that holds something as `NAME.prev`, or `NAME.prev2` and so on where that is taken.
pub(super) fn set_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    if !std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() > 0) {
        return Ok(None);
    }
    let names = (1..KEPT).map(|number| match number {
        1 => with_end(path, ".prev"),
        number => with_end(path, &format!(".prev{number}")),
    });
    let mut free = names.filter(|name| std::fs::symlink_metadata(name).is_err());
    let to = free.next().ok_or(ErrorKind::AlreadyExists)?;
    std::fs::rename(path, &to)?;
    Ok(Some(to))
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_older_file_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        assert_eq!(set_aside(&path).unwrap(), None);
        for number in 1..4 {
            std::fs::write(&path, number.to_string()).unwrap();
            set_aside(&path).unwrap().unwrap();
        }
        let held = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            (held("x.log.prev"), held("x.log.prev2"), held("x.log.prev3")),
            ("1".into(), "2".into(), "3".into())
        );
        std::fs::write(&path, "").unwrap();
        assert_eq!(set_aside(&path).unwrap(), None, "an empty file is no loss");
    }
}
