//! `probe`: what this machine really grants, and what ComfyUI would make of it.
//!
//! Also reads a probe back in for `--env`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::memory_limit::memory_limit_mib;
use super::{Console, Ended, Exit};
use crate::catalog::Version;
use crate::cli::{ProbeArgs, ViewFormat};
use crate::diagnosis::Messages;
use crate::error::UsageError;
use crate::probe::{Host, Probe, Root};
use crate::render::{probe_json, probe_markdown, probe_page, probe_text};
use crate::report::{ProbeQuestion, Question, probe_report};
use crate::samples::{Samples, SamplesError, read_samples};

/// Largest file that `--env` takes.
const ENV_LIMIT: u64 = 4 * 1024 * 1024;

/// Runs the command.
pub(super) fn run(args: &ProbeArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let host = Root::this();
    let version = match args.comfyui.as_deref().map(version).transpose() {
        Ok(version) => version,
        Err(error) => return Ok(Err(error)),
    };
    let threshold_mib = match args.threshold.as_deref().map(memory_limit_mib).transpose() {
        Ok(threshold) => threshold,
        Err(error) => return Ok(Err(error)),
    };
    if let Some(pid) = args.pid
        && host.system() == "linux"
        && !host.exists(&format!("/proc/{pid}"))
    {
        return Ok(Err(Box::new(UsageError::NoProcess { pid })));
    }
    let samples = match args.samples.as_deref().map(samples).transpose() {
        Ok(samples) => samples,
        Err(error) => {
            console.fault(&error)?;
            return Ok(Ok(Exit::Refused));
        }
    };
    let packs = super::packs(&args.view.packs, console)?;
    let messages = Messages { packs: &packs, zh: super::chinese(&args.view.language, console) };
    let question = ProbeQuestion { version, suggest: args.suggest, threshold_mib, samples: samples.as_ref() };
    let report = probe_report(Probe::look(&host, args.pid), &messages, &question);
    let view = console.view();
    let text = match args.view.format {
        ViewFormat::Text => probe_text(&report, &packs, &view),
        ViewFormat::Markdown => probe_markdown(&report, &packs),
        ViewFormat::Json => probe_json(&report)?,
        ViewFormat::Html => probe_page(&report, &packs),
    };
    console.out.write_all(text.as_bytes())?;
    Ok(Ok(Exit::Done))
}

fn version(given: &str) -> Result<Version, Box<UsageError>> {
    Version::parse(given).ok_or_else(|| Box::new(UsageError::Version { given: given.to_owned() }))
}

pub(super) fn samples(path: &Path) -> Result<Samples, SamplesError> {
    let name = path.display().to_string();
    let file =
        File::open(path).map_err(|error| SamplesError::Unreadable { name: name.clone(), reason: error.to_string() })?;
    read_samples(&name, file.take(SAMPLES_LIMIT))
}

/// Bytes of a file of samples that are read: a device never ends.
const SAMPLES_LIMIT: u64 = 256 * 1024 * 1024;

/// What `--env` tells.
#[derive(Debug)]
pub(super) enum Env {
    Probe(Box<Probe>),
    /// JSON of something else.
    Other,
}

/// Reads a file given with `--env`.
pub(super) fn env(path: &Path) -> Result<Env, Box<UsageError>> {
    let fault = |source| Box::new(UsageError::SideEvidence { what: "facts", path: path.display().to_string(), source });
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(ENV_LIMIT).read_to_string(&mut text)).map_err(fault)?;
    let mut value: serde_json::Value = serde_json::from_str(&text).map_err(|error| fault(error.into()))?;
    let Some(probe) = value.get_mut("probe") else { return Ok(Env::Other) };
    serde_json::from_value(probe.take()).map(|probe| Env::Probe(Box::new(probe))).map_err(|error| fault(error.into()))
}

/// Takes the limit from a file given with `--env` into a question that has none: what the user typed counts more
/// than what a file says.
pub(super) fn ask_with_env(
    question: &mut Question,
    path: Option<&Path>,
    console: &mut Console<'_>,
) -> io::Result<Result<(), Box<UsageError>>> {
    let Some(path) = path else { return Ok(Ok(())) };
    Ok(env_limit_mib(path, console)?.map(|limit| {
        if question.memory_limit_mib.is_none() {
            question.limit_from_probe = limit.is_some();
            question.memory_limit_mib = limit;
        }
    }))
}

/// The limit in MiB that a file given with `--env` tells of. Other facts are said to be unused.
pub(super) fn env_limit_mib(
    path: &Path,
    console: &mut Console<'_>,
) -> io::Result<Result<Option<f64>, Box<UsageError>>> {
    Ok(match env(path) {
        Ok(Env::Probe(probe)) => Ok(probe.limit_bytes().map(|bytes| bytes as f64 / crate::event::MIB)),
        Ok(Env::Other) => {
            console.fault(&UsageError::NotUsed { option: "--env" })?;
            Ok(None)
        }
        Err(error) => Err(error),
    })
}
