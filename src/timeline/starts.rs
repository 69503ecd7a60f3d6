//! The starts of ComfyUI that are kept in detail, the first ones and the latest, and what is counted of those between.

use std::collections::VecDeque;

use serde::Serialize;

use super::ending::EndingKind;
use super::failure::ExceptionPlace;
use super::leak::Leak;
use super::session::Session;

const FIRST: usize = 16;
const LAST: usize = 48;
/// Bytes that each of the two parts may take as JSON; memory is a small multiple of it.
const BYTES: usize = 1024 * 1024;

/// In how many starts something was seen, and where the last time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    pub starts: u64,
    pub last_line: u64,
}

impl Seen {
    fn note(&mut self, line: Option<u64>) {
        if let Some(line) = line {
            self.starts += 1;
            self.last_line = line;
        }
    }
}

/// Starts that are not kept in detail. One of them may be counted under several heads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub starts: u64,
    pub first_line: u64,
    pub last_line: u64,
    /// Starts without a fault.
    pub well: u64,
    /// Prompts that ran well.
    pub good_prompts: u64,
    pub killed: Seen,
    pub crashed: Seen,
    /// Ended in the middle of something, without a word.
    pub cut: Seen,
    pub gpu_ooms: Seen,
    /// Allocations of RAM that failed.
    pub host_ooms: Seen,
    /// Prompts that failed for another reason, or a start that ended with an exception.
    pub failed: Seen,
    pub leaks: Seen,
}

impl LeftOut {
    /// Nothing went wrong in any of them.
    pub fn is_well(&self) -> bool {
        self.well == self.starts
    }

    fn add(&mut self, session: &Session) {
        if self.starts == 0 {
            self.first_line = session.first_line;
        }
        self.starts += 1;
        self.last_line = session.last_line;
        self.well += u64::from(session.ran_well());
        self.good_prompts += session.prompts.executed.saturating_sub(session.prompts.failed);
        let ended = |kind: EndingKind| {
            let ending = session.ending.as_ref().filter(|ending| ending.kind == kind)?;
            Some(ending.at.as_ref().map_or(session.last_line, |at| at.place.line))
        };
        self.killed.note(ended(EndingKind::Killed));
        self.crashed.note(ended(EndingKind::NativeCrash));
        self.cut.note(ended(EndingKind::Abrupt));
        self.gpu_ooms.note(session.ooms.last().map(|oom| oom.at.place.line));
        self.host_ooms.note(session.host_ooms.last().map(|oom| oom.at.place.line));
        let failed = session
            .exceptions
            .iter()
            .rfind(|exception| exception.place == ExceptionPlace::Prompt && !exception.is_oom)
            .map(|exception| exception.at.place.line);
        self.failed.note(failed.or_else(|| ended(EndingKind::Traceback)));
        self.leaks.note(session.leaks.values().filter(|leak| leak.warning > 0).filter_map(last_warning).max());
    }
}

/// The starts that have ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Starts {
    count: usize,
    first: Vec<Session>,
    first_bytes: usize,
    /// With the size of each.
    last: VecDeque<(usize, Session)>,
    last_bytes: usize,
    left_out: LeftOut,
}

impl Starts {
    /// Keeps a start; the oldest of the latest ones may have to go.
    pub(super) fn keep(&mut self, mut session: Session) {
        self.count += 1;
        session.number = self.count;
        let bytes = length_of(&session);
        if self.last.is_empty() && self.first.len() < FIRST && self.first_bytes + bytes <= BYTES {
            self.first_bytes += bytes;
            self.first.push(session);
            return;
        }
        self.last_bytes += bytes;
        self.last.push_back((bytes, session));
        while self.last.len() > 1 && (self.last.len() > LAST || self.last_bytes > BYTES) {
            if let Some((bytes, oldest)) = self.last.pop_front() {
                self.last_bytes -= bytes;
                self.left_out.add(&oldest);
            }
        }
    }

    /// The starts kept, and what is counted of the others.
    pub(super) fn into_parts(self) -> (Vec<Session>, LeftOut) {
        let list = self.first.into_iter().chain(self.last.into_iter().map(|(_, session)| session)).collect();
        (list, self.left_out)
    }
}

/// The last line that names the class, or the first where no pass can be told.
fn last_warning(leak: &Leak) -> Option<u64> {
    let at = leak.last_pass.as_ref().or(leak.first_warning.as_ref())?;
    Some(at.last_line.unwrap_or(at.place.line))
}

/// Counts what is written.
struct Length(usize);

impl std::io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Size of a session as JSON, which measures all its lists at once.
fn length_of(session: &Session) -> usize {
    let mut length = Length(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut length, session);
    length.0
}
