//! The newest log on this machine, when none was named: which one it is, how old, and what to do when that is not clear.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Console;
use crate::catalog::{Packs, Verdict};
use crate::diagnosis::Messages;
use crate::error::UsageError;
use crate::find::{self, Found, Newest};
use crate::report::Report;
use crate::shell;
use crate::system::{Kind, System};

/// Logs that a list shows.
const LISTED: usize = 12;

/// A log that was looked for, and those that were found beside it.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) log: Found,
    others: Vec<Found>,
}

/// The newest log here or in `folder`.
pub(super) fn choose(
    system: &System,
    packs: &Packs,
    folder: Option<&Path>,
    zh: bool,
) -> Result<Chosen, Box<UsageError>> {
    let found = find::logs(system, packs, folder);
    match find::newest(&found) {
        Newest::One(log) => Ok(Chosen { log, others: found }),
        Newest::Several(equal) => {
            Err(Box::new(UsageError::EquallyNew { list: list(&equal, &Messages { packs, zh }, system.kind) }))
        }
        Newest::None => Err(Box::new(match folder {
            Some(folder) => UsageError::NoLogIn { folder: folder.display().to_string() },
            None => UsageError::NoLog,
        })),
    }
}

/// Every log that can be found, as commands to type.
pub(super) fn pick(
    system: &System,
    packs: &Packs,
    folder: Option<&Path>,
    console: &mut Console<'_>,
) -> io::Result<Result<(), Box<UsageError>>> {
    let found = find::logs(system, packs, folder);
    if found.is_empty() {
        return Ok(Err(Box::new(UsageError::NoLog)));
    }
    let messages = Messages { packs, zh: console.around.chinese };
    console.out.write_all(list(&found, &messages, system.kind).as_bytes())?;
    Ok(Ok(()))
}

impl Chosen {
    /// Which log is read and how old it is: the person asked for none by name.
    pub(super) fn announcement(&self, messages: &Messages<'_>) -> String {
        let path = self.log.path.display().to_string();
        format!(
            "{}\n",
            messages.text(
                "newest-read",
                &[("path", &crate::text::cut_chars(&path, 300)), ("age", &age(&self.log, messages))]
            )
        )
    }

    /// The run that died is in the file before, when the newest log is one of a start in which nothing ran.
    pub(super) fn earlier(&self, report: &Report, messages: &Messages<'_>, kind: Kind) -> Option<String> {
        let nothing_ran =
            report.sessions.iter().all(|session| session.prompts.got == 0 && session.prompts.executed == 0);
        let quiet = matches!(report.verdict.primary, Verdict::NoFault | Verdict::InsufficientEvidence);
        let earlier = find::before(&self.others, &self.log).filter(|_| nothing_ran && quiet)?;
        let values = [("command", command(earlier, kind)), ("age", age(earlier, messages))];
        Some(format!("{}\n", messages.text("newest-earlier", &[("command", &values[0].1), ("age", &values[1].1)])))
    }
}

fn list(found: &[Found], messages: &Messages<'_>, kind: Kind) -> String {
    let row = |log: &Found| {
        format!("{}   # {}, {}\n", command(log, kind), age(log, messages), crate::text::bytes(log.bytes as f64))
    };
    let mut out: String = found.iter().take(LISTED).map(row).collect();
    if let Some(more) = found.len().checked_sub(LISTED).filter(|more| *more > 0) {
        out.push_str(&messages.count("newest-more-one", "newest-more", more as u64, &[]));
        out.push('\n');
    }
    out
}

fn command(log: &Found, kind: Kind) -> String {
    format!("comfy-triage {}", shell::quoted(&log.path.display().to_string(), kind == Kind::Windows))
}

/// `5 minutes ago`
fn age(log: &Found, messages: &Messages<'_>) -> String {
    // A clock that was set back makes a file of the future; it is as new as can be.
    let age = SystemTime::now().duration_since(log.written).unwrap_or(Duration::ZERO).as_secs();
    let (id, count) = match age {
        0..60 => return messages.text("age-now", &[]),
        60..3600 => ("age-minutes", age / 60),
        3600..86_400 => ("age-hours", age / 3600),
        _ => ("age-days", age / 86_400),
    };
    messages.count(&format!("{id}-one"), id, count, &[])
}

/// The folder that was named instead of a log.
pub(super) fn folder(logs: &[PathBuf]) -> Option<&Path> {
    match logs {
        [folder] if folder.is_dir() => Some(folder),
        _ => None,
    }
}
