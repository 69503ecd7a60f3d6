//! Signals that ask this program to end, as flags that a loop looks at.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGQUIT};
use signal_hook::consts::{SIGINT, SIGTERM};

#[cfg(unix)]
const ALL: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
#[cfg(not(unix))]
const ALL: [i32; 2] = [SIGINT, SIGTERM];

/// What came since the last look.
#[derive(Debug)]
pub(super) struct Interrupts {
    flags: Vec<(i32, Arc<AtomicBool>)>,
}

impl Interrupts {
    /// From here on these signals do not end the program by themselves.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn listen() -> io::Result<Self> {
        let mut flags = Vec::new();
        for signal in ALL {
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
