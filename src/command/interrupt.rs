//! Signals that ask this program to end, as flags that a loop looks at.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Signals that ask for an end.
#[cfg(unix)]
const ENDING: &[i32] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT];
#[cfg(not(unix))]
const ENDING: &[i32] = &[SIGINT, SIGTERM];

/// Signals that are meant for a program behind this one.
#[cfg(unix)]
const PASSED: &[i32] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];
#[cfg(not(unix))]
const PASSED: &[i32] = ENDING;

/// `nohup` has this one ignored, so that a closed terminal ends nothing.
#[cfg(unix)]
const KEPT_IGNORED: &[i32] = &[SIGHUP];
#[cfg(not(unix))]
const KEPT_IGNORED: &[i32] = &[];

/// What came since the last look.
#[derive(Debug)]
pub(super) struct Interrupts {
    flags: Vec<(i32, Arc<AtomicBool>)>,
}

impl Interrupts {
    /// From here on signals that ask for an end do not end the program by themselves.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn listen() -> io::Result<Self> {
        Self::to(ENDING, KEPT_IGNORED)
    }

    /// The same for signals that are passed on. Those that whoever started us had ignored stay so, here and in the
    /// program that is started.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn to_pass_on() -> io::Result<Self> {
        Self::to(PASSED, PASSED)
    }

    fn to(signals: &[i32], kept_ignored: &[i32]) -> io::Result<Self> {
        let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored_mask(&status));
        let is_ignored = |signal: i32| kept_ignored.contains(&signal) && ignored >> (signal - 1) & 1 == 1;
        let mut flags = Vec::new();
        for signal in signals.iter().copied().filter(|signal| !is_ignored(*signal)) {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
            flags.push((signal, flag));
        }
        Ok(Self { flags })
    }

    /// Signals that came since the last look.
    pub(super) fn take(&self) -> Vec<i32> {
        self.flags.iter().filter(|(_, flag)| flag.swap(false, Ordering::Relaxed)).map(|(signal, _)| *signal).collect()
    }
}

/// Signals that are ignored, one bit each, as Linux tells; elsewhere none are known.
fn ignored_mask(status: &str) -> u64 {
    let row = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    row.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read_from_the_kernels_mask() {
        assert_eq!(ignored_mask("Name:\tx\nSigIgn:\t0000000001001001\nSigCgt:\t0000000000000002\n"), 0x0100_1001);
        assert_eq!(ignored_mask(""), 0);
    }
}
