//! Signals at `bisect run` and at `run`: what was started is ended, whatever happens, and nothing is lost.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // a test may panic

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

const START: &str = "Total VRAM 24106 MB, total RAM 24106 MB\npytorch version: 2.8.0+cu128\nComfyUI version: 0.3.64\n\nImport times for custom nodes:\n   0.0 seconds: /opt/ComfyUI/custom_nodes/Alpha\n   0.0 seconds: /opt/ComfyUI/custom_nodes/Beta\n   0.0 seconds: /opt/ComfyUI/custom_nodes/Gamma\n   0.0 seconds: /opt/ComfyUI/custom_nodes/Guilty\n   0.0 seconds: /opt/ComfyUI/custom_nodes/Omega\n\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const LEAK: &str = "got prompt\nPotential memory leak detected with model Flux, doing a full garbage collect, for maximum performance avoid circular references in the model code.\nWARNING, memory leak with model Flux. Please make sure it is not being referenced from somewhere.\nPrompt executed in 1.00 seconds\n";
/// Notes its number, says that it is ready, and stops at an interrupt.
const SERVER: &str = "echo $$ > \"$1/pid\"; trap 'echo Stopped server; exit 0' INT\necho 'Starting server'; echo 'To see the GUI go to: http://127.0.0.1:8188'\nwhile [ -d \"$1\" ]; do sleep 0.05; done\n";

/// A folder with a session in it.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    fn begun() -> Self {
        let desk = Self::new();
        let first = desk.file("first.log", &format!("{START}{}", LEAK.repeat(3)));
        let done = desk.bisect(&["start", &first, "--symptom", "leak"]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        desk
    }

    fn bisect(&self, arguments: &[&str]) -> Command {
        let mut command = crate::case::program();
        command.arg("bisect").args(["--state", &self.path("state.json")]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `bisect run` with a server of this text, and a script that waits for ever.
    fn run_of(&self, server: &str, options: &[&str]) -> Command {
        let server = self.file("server.sh", server);
        let start = format!("sh '{server}' '{}' {{flags}}", self.folder.path().display());
        let script = format!(": > '{}'; while :; do sleep 0.05; done", self.path("at-work"));
        let mut command = self.bisect(&["run", "--start", &start]);
        command.args(options).args(["--", "sh", "-c", &script]);
        command
    }

    fn until(&self, name: &str) {
        until(|| fs::metadata(self.path(name)).is_ok_and(|data| name == "at-work" || data.len() > 1));
    }

    fn server_is_gone(&self) -> bool {
        let pid = fs::read_to_string(self.path("pid")).unwrap().trim().parse().unwrap();
        test_kill_process(Pid::from_raw(pid).unwrap()).is_err()
    }

    fn rounds(&self) -> usize {
        let state: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(self.path("state.json")).unwrap()).unwrap();
        state["rounds"].as_array().unwrap().len()
    }
}

fn until(mut there: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !there() {
        assert!(Instant::now() < end, "it does not come to it");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn ended(mut child: Child) -> Output {
    until(|| child.try_wait().unwrap().is_some());
    child.wait_with_output().unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn comfyui_is_ended_and_the_way_on_is_said_whatever_asks_for_the_end() {
    for signal in [Signal::INT, Signal::TERM, Signal::QUIT] {
        let desk = Desk::begun();
        let child = desk.run_of(SERVER, &[]).spawn().unwrap();
        desk.until("at-work");
        send(&child, signal);
        let output = ended(child);
        assert_eq!(output.status.code(), Some(2), "{}", err(&output));
        assert!(err(&output).contains("bisect::run_stopped"), "{}", err(&output));
        assert!(err(&output).contains("the same `bisect run` goes on with this round"), "{}", err(&output));
        assert!(desk.server_is_gone(), "{signal:?}");
        assert_eq!(desk.rounds(), 0, "a round that was broken off is none");
    }
}

#[test]
fn a_start_that_is_not_ready_yet_is_ended_too() {
    let desk = Desk::begun();
    let silent = SERVER.replace("echo 'To see the GUI go to: http://127.0.0.1:8188'", ":");
    let child = desk.run_of(&silent, &[]).spawn().unwrap();
    desk.until("pid");
    send(&child, Signal::TERM);
    let output = ended(child);
    assert!(err(&output).contains("bisect::run_stopped"), "{}", err(&output));
    assert!(desk.server_is_gone());
}

/// A shell gives what it starts in the background a SIGINT that is ignored.
#[test]
fn in_the_background_an_interrupt_still_ends_comfyui() {
    let desk = Desk::begun();
    let inner = desk.run_of(SERVER, &["--end", "30"]);
    let words = inner.get_args().map(|word| word.to_str().unwrap().to_owned());
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' INT; exec \"$@\"", "sh", inner.get_program().to_str().unwrap()]).args(words);
    shell.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    desk.until("at-work");
    let begun = Instant::now();
    send(&child, Signal::TERM);
    let output = ended(child);
    assert!(desk.server_is_gone(), "{}", err(&output));
    let log = fs::read_to_string(fs::read_dir(desk.path("state.rounds")).unwrap().next().unwrap().unwrap().path());
    assert!(log.unwrap().ends_with("Stopped server\n"), "the interrupt reached it");
    assert!(begun.elapsed() < Duration::from_secs(25), "nobody waited for the time that SIGTERM comes after");
}

#[test]
fn one_that_ignores_the_interrupt_is_asked_with_sigterm() {
    let desk = Desk::begun();
    let deaf = SERVER.replace("exit 0' INT", "exit 0' TERM; trap '' INT");
    let child = desk.run_of(&deaf, &["--end", "1"]).spawn().unwrap();
    desk.until("at-work");
    send(&child, Signal::INT);
    let output = ended(child);
    assert!(err(&output).contains("bisect::run_stopped"), "{}", err(&output));
    assert!(desk.server_is_gone());
}

/// A shell that waits for the Python it started keeps an interrupt to itself.
#[test]
fn behind_a_start_script_comfyui_is_ended_with_it() {
    let desk = Desk::begun();
    desk.file("inner.sh", SERVER);
    let outer = "sh \"$1/inner.sh\" \"$1\"; echo behind it\n";
    let child = desk.run_of(outer, &["--end", "20"]).spawn().unwrap();
    desk.until("at-work");
    send(&child, Signal::TERM);
    let output = ended(child);
    assert!(err(&output).contains("bisect::run_stopped"), "{}", err(&output));
    assert!(desk.server_is_gone());
}

#[test]
fn after_a_stop_the_same_call_goes_on_to_the_answer() {
    let desk = Desk::begun();
    let child = desk.run_of(SERVER, &[]).spawn().unwrap();
    desk.until("at-work");
    send(&child, Signal::INT);
    ended(child);
    let fake = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/bisect_fake");
    let folder = desk.folder.path().display();
    let start = format!("sh '{}' '{folder}' {{flags}}", fake.join("comfyui.sh").display());
    let workflow = fake.join("workflow.sh");
    let script = ["--", "sh", workflow.to_str().unwrap(), desk.folder.path().to_str().unwrap()];
    let done = desk.bisect(&["run", "--start", &start]).args(script).output().unwrap();
    assert!(String::from_utf8_lossy(&done.stdout).contains("It is Guilty."), "{}", err(&done));
}

fn run(desk: &Desk, words: &[&str]) -> Command {
    let mut command = crate::case::program();
    command.args(["run", "--log", &desk.path("x.log"), "--samples", &desk.path("x.csv"), "--lang", "en", "--"]);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A samples file that nobody reads yet holds `run` up just before it starts anything.
#[cfg(target_os = "linux")]
#[test]
fn a_key_pressed_before_the_program_was_started_starts_nothing() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let desk = Desk::new();
        let pipe = desk.path("x.csv");
        if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|made| made.success()) {
            println!("left out: no named pipes here");
            return;
        }
        let mut command = run(&desk, &["touch", &desk.path("started")]);
        if crate::case::ctrl_c_is_ignored() && signal == Signal::INT {
            continue;
        }
        let child = command.spawn().unwrap();
        // Its log is there once it listens.
        until(|| fs::metadata(desk.path("x.log")).is_ok());
        send(&child, signal);
        let reader = fs::File::open(&pipe).unwrap();
        let output = ended(child);
        drop(reader);
        assert_eq!(output.status.code(), Some(status), "{}", err(&output));
        assert!(fs::metadata(desk.path("started")).is_err(), "nothing was started");
        assert!(fs::metadata(desk.path("x.log")).is_err(), "and all is as it was");
    }
}

#[test]
fn a_program_behind_run_that_ignores_the_interrupt_ends_with_sigterm_and_is_answered() {
    let desk = Desk::new();
    let script = format!("trap '' INT; : > '{}'; while :; do sleep 0.05; done", desk.path("at-work"));
    let child = run(&desk, &["sh", "-c", &script]).spawn().unwrap();
    desk.until("at-work");
    send(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(200));
    send(&child, Signal::TERM);
    let output = ended(child);
    assert_eq!(output.status.code(), Some(143), "{}", err(&output));
    assert!(fs::read_to_string(desk.path("x.log")).unwrap().ends_with("stopped by signal 15\n"));
    assert!(err(&output).contains(&desk.path("x.log")), "the report names its files: {}", err(&output));
}
