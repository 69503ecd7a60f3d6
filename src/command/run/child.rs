//! The program that is run: its streams, its signals, its end.
//!
//! It stays in our process group and on our terminal; only its output goes through us. Where that output is a
//! terminal, it gets a pseudo-terminal of the same size, so that it looks and behaves as without us.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::pump::{Log, pump};
use super::stamps::Stamps;
use crate::command::interrupt::Interrupts;

const PAUSE: Duration = Duration::from_millis(15);
/// A helper that outlives the program may hold its output open.
const DRAIN: Duration = Duration::from_secs(2);

/// A running program.
#[derive(Debug)]
pub(super) struct Child {
    child: std::process::Child,
    /// One message per pump that came to its end.
    pumps: Vec<Receiver<()>>,
    #[cfg(unix)]
    terminal: Option<unix::Terminal>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    /// Its own status.
    pub(super) code: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
}

impl Ending {
    fn of(status: ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self { code: status.code(), signal }
    }

    /// As a shell gives it: 128 and the signal's number for a program that a signal ended.
    pub(super) fn number(self) -> i64 {
        match (self.signal, self.code) {
            (Some(signal), _) => 128 + i64::from(signal),
            (None, Some(code)) => i64::from(code),
            (None, None) => 1,
        }
    }

    /// The status to end with. Windows codes that do not fit become 1.
    pub(super) fn status(self) -> u8 {
        u8::try_from(self.number()).unwrap_or(1)
    }
}

impl Child {
    /// Starts `words` with its output going through us into `log`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(words: &[OsString], log: &Log, stamps: &Stamps) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments);
        // Python keeps kilobytes of output back when it does not write to a terminal: they would be lost in a kill.
        if std::env::var_os("PYTHONUNBUFFERED").is_none() {
            command.env("PYTHONUNBUFFERED", "1");
        }
        let mut streams = Streams::open(&mut command)?;
        let child = command.spawn()?;
        // Our ends of what the child writes to would keep the streams open for ever.
        drop(command);
        let mut pumps = Vec::new();
        for (from, to) in streams.pairs.drain(..) {
            let (sender, receiver) = channel();
            let (log, stamps) = (log.clone(), stamps.clone());
            thread::spawn(move || {
                pump(from, to, &log, &stamps);
                let _ = sender.send(());
            });
            pumps.push(receiver);
        }
        Ok(Self {
            child,
            pumps,
            #[cfg(unix)]
            terminal: streams.terminal,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end and passes signals on meanwhile.
    pub(super) fn wait(&mut self, interrupts: &Interrupts) -> io::Result<Ending> {
        // A key that was pressed while the program was being started reached us alone.
        for signal in interrupts.take() {
            self.pass_on(signal, false);
        }
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Ending::of(status));
            }
            for signal in interrupts.take() {
                self.pass_on(signal, true);
            }
            #[cfg(unix)]
            if let Some(terminal) = &mut self.terminal {
                terminal.resize();
            }
            thread::sleep(PAUSE);
        }
    }

    /// A key such as Ctrl-C reaches the program through the terminal that it shares with us; twice would be too much.
    #[cfg(unix)]
    fn pass_on(&self, signal: i32, keys_reach_it: bool) {
        use rustix::process::Signal;
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
        let signal = match signal {
            SIGINT if !(keys_reach_it && unix::keys_reach_us()) => Signal::INT,
            SIGQUIT if !(keys_reach_it && unix::keys_reach_us()) => Signal::QUIT,
            SIGTERM => Signal::TERM,
            SIGHUP => Signal::HUP,
            SIGUSR1 => Signal::USR1,
            SIGUSR2 => Signal::USR2,
            _ => return,
        };
        // It has not been waited for, so the number is still its own.
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// Windows sends Ctrl-C to every program of the console.
    #[cfg(not(unix))]
    fn pass_on(&self, _signal: i32, _keys_reach_it: bool) {}

    /// Waits for what is still in the streams.
    pub(super) fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        for pump in self.pumps.drain(..) {
            let _ = pump.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}

/// What is read from, and where it goes.
struct Streams {
    pairs: Vec<(Box<dyn io::Read + Send>, File)>,
    #[cfg(unix)]
    terminal: Option<unix::Terminal>,
}

#[cfg(not(unix))]
impl Streams {
    fn open(command: &mut Command) -> io::Result<Self> {
        use std::os::windows::io::AsHandle;
        let (out, out_end) = io::pipe()?;
        let (err, err_end) = io::pipe()?;
        command.stdout(Stdio::from(out_end)).stderr(Stdio::from(err_end));
        let to_out = File::from(io::stdout().as_handle().try_clone_to_owned()?);
        let to_err = File::from(io::stderr().as_handle().try_clone_to_owned()?);
        Ok(Self { pairs: vec![(Box::new(out), to_out), (Box::new(err), to_err)] })
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::OpenOptions;
    use std::io::IsTerminal;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{OptionalActions, OutputModes, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};

    use super::{Command, File, OsString, Stdio, Streams, io};

    /// A pseudo-terminal that follows the size of ours.
    #[derive(Debug)]
    pub(super) struct Terminal {
        ours: File,
        master: OwnedFd,
        size: Option<(u16, u16)>,
    }

    impl Terminal {
        /// Gives it the size of our terminal, when that has changed.
        pub(super) fn resize(&mut self) {
            let Ok(size) = tcgetwinsize(&self.ours) else { return };
            if self.size != Some((size.ws_row, size.ws_col)) && tcsetwinsize(&self.master, size).is_ok() {
                self.size = Some((size.ws_row, size.ws_col));
            }
        }
    }

    /// We are what a terminal sends its keys to, and so is the program, which is in our process group.
    pub(super) fn keys_reach_us() -> bool {
        File::open("/dev/tty").is_ok_and(|terminal| {
            rustix::termios::tcgetpgrp(&terminal).is_ok_and(|group| group == rustix::process::getpgrp())
        })
    }

    impl Streams {
        /// The same kind of stream as ours: one for both outputs where both go to the same place, so that their
        /// order is kept; a pseudo-terminal where it is a terminal.
        pub(super) fn open(command: &mut Command) -> io::Result<Self> {
            let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            let err = File::from(io::stderr().as_fd().try_clone_to_owned()?);
            let mut streams = Self { pairs: Vec::new(), terminal: None };
            if is_same(&out, &err) {
                let end = streams.stream(out)?;
                command.stdout(Stdio::from(end.try_clone()?)).stderr(Stdio::from(end));
            } else {
                command.stdout(Stdio::from(streams.stream(out)?));
                command.stderr(Stdio::from(streams.stream(err)?));
            }
            Ok(streams)
        }

        /// A way to `to`, and the end that the child gets.
        fn stream(&mut self, to: File) -> io::Result<OwnedFd> {
            // Where no pseudo-terminal is to be had, bars are drawn for a pipe; better than not running.
            if to.is_terminal()
                && let Ok((master, end)) = pseudo_terminal(&to)
            {
                let mut terminal = Terminal { ours: to.try_clone()?, master: master.try_clone()?, size: None };
                terminal.resize();
                self.terminal.get_or_insert(terminal);
                self.pairs.push((Box::new(File::from(master)), to));
                return Ok(end);
            }
            let (from, end) = io::pipe()?;
            self.pairs.push((Box::new(from), to));
            Ok(OwnedFd::from(end))
        }
    }

    fn is_same(a: &File, b: &File) -> bool {
        match (a.metadata(), b.metadata()) {
            (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
            _ => false,
        }
    }

    /// Both ends of a pseudo-terminal that passes bytes as they are.
    fn pseudo_terminal(like: &File) -> io::Result<(OwnedFd, OwnedFd)> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        // Not every system can open it this way at once. Nothing is started beside us yet that could inherit it.
        rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = OsString::from_vec(ptsname(&master, Vec::new())?.into_bytes());
        let no_controlling = i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap_or(0);
        let end = OpenOptions::new().read(true).write(true).custom_flags(no_controlling).open(name)?;
        let mut modes = tcgetattr(&end)?;
        // Our own terminal turns line feeds into new lines; twice would change the bytes.
        modes.output_modes.remove(OutputModes::OPOST);
        tcsetattr(&end, OptionalActions::Now, &modes)?;
        let size: Option<Winsize> = tcgetwinsize(like).ok();
        if let Some(size) = size {
            tcsetwinsize(&master, size)?;
        }
        Ok((master, OwnedFd::from(end)))
    }
}
