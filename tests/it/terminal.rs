//! `run` on a terminal: what it starts has one too, and a key is pressed once.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test may panic, and says why it is left out

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A terminal, and what was shown on it when all programs on it are gone.
struct Terminal {
    keys: File,
    end: File,
    shown: JoinHandle<Vec<u8>>,
}

impl Terminal {
    fn new() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: 33, ws_col: 77, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = OsString::from_vec(ptsname(&master, Vec::new()).unwrap().into_bytes());
        let end = OpenOptions::new().read(true).write(true).open(name).unwrap();
        let keys = File::from(master);
        let mut from = keys.try_clone().unwrap();
        let shown = std::thread::spawn(move || {
            let (mut shown, mut block) = (Vec::new(), [0; 4096]);
            // It ends with an error when the last program has closed it.
            while let Ok(read) = from.read(&mut block) {
                shown.extend_from_slice(&block[..read]);
            }
            shown
        });
        Self { keys, end, shown }
    }

    /// Gives a command all three streams.
    fn with(&self, command: &mut Command) {
        let end = || self.end.try_clone().unwrap();
        command.stdin(end()).stdout(end()).stderr(end());
    }

    fn shown(self) -> String {
        drop(self.end);
        String::from_utf8(self.shown.join().unwrap()).unwrap()
    }
}

fn run(folder: &Path) -> Command {
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let mut command = crate::case::program();
    command.args(["run", "--log", &at("x.log"), "--report", &at("x.json"), "--format", "json", "--"]);
    command
}

#[test]
fn a_terminal_stays_one_of_the_same_size() {
    let folder = tempfile::tempdir().unwrap();
    let script = r"test -t 0 && test -t 1 && test -t 2 && stty size <&1; printf ' 10%%|#  |\r\033[32m100%%|###|\033[0m\n' >&2; printf 'a\tb\r\nhalf'";
    let shown = |mut command: Command| {
        let terminal = Terminal::new();
        terminal.with(command.args(["sh", "-c", script]));
        assert!(command.status().unwrap().success());
        drop(command);
        terminal.shown()
    };
    let plain = shown(Command::new("env"));
    assert!(plain.starts_with("33 77\r\n"), "{plain:?}");
    let through = shown(run(folder.path()));
    assert!(through.starts_with(&plain), "{through:?} is not {plain:?}");
    // The log has the bytes as they were written, before a terminal makes two of a line's end.
    let log = fs::read_to_string(folder.path().join("x.log")).unwrap();
    assert!(log.lines().count() > 1 && log.contains("]\n33 77\n 10%|#  |\r"), "{log:?}");
}

#[test]
fn ctrl_c_reaches_the_program_once_each_time_it_is_pressed() {
    if Command::new("setsid").arg("--version").output().is_err() {
        println!("left out: no setsid here");
        return;
    }
    if crate::case::ctrl_c_is_ignored() {
        println!("left out: Ctrl-C is ignored here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    // The log's first line holds the command: what it is waited for must not stand there.
    let script = "trap 'echo to\"\"ld' INT; echo rea\"\"dy; while [ ! -e \"$0\" ]; do sleep 0.02; done; exit 3";
    let mut terminal = Terminal::new();
    let inner = run(folder.path());
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(inner.get_program()).args(inner.get_args());
    command.args(["sh", "-c", script]).arg(&go);
    terminal.with(&mut command);
    let mut child = command.spawn().unwrap();
    drop(command);
    let log = || fs::read_to_string(folder.path().join("x.log")).unwrap_or_default();
    let wait_for = |count: usize, word: &str| {
        let until = Instant::now() + Duration::from_secs(60);
        while log().matches(word).count() < count {
            assert!(Instant::now() < until, "{word} not seen {count} times: {:?}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    wait_for(1, "ready");
    for press in 1..=2 {
        terminal.keys.write_all(b"\x03").unwrap();
        wait_for(press, "told");
    }
    // A second one for the same key would come within the time of a few looks.
    std::thread::sleep(Duration::from_millis(200));
    fs::write(&go, "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(log().ends_with("]\nready\ntold\ntold\ncomfy-triage run: ended with exit code 3\n"), "{}", log());
    assert!(terminal.shown().contains("told"));
}
