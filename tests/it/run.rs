//! `run`: output untouched, status kept, and the end known.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // a test may panic

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use comfy_triage::probe::Probe;
use comfy_triage::samples::read_samples;
use serde_json::Value;

/// A scratch folder with the files of one run.
struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// The program with its files here, before `--`.
    fn program(&self, options: &[&str]) -> Command {
        let mut command = crate::case::program();
        command
            .arg("run")
            .args([
                "--log",
                &self.path("x.log"),
                "--report",
                &self.path("report.json"),
                "--format",
                "json",
                "--every",
                "0.1",
            ])
            .args(options)
            .arg("--");
        command
    }

    /// The script with these words behind it, when it has written its first line; the line, and what may follow.
    fn begun(&self, script: &str, words: &[&str], stdin: Stdio) -> (Child, String, BufReader<ChildStdout>) {
        let mut command = self.program(&[]);
        command.args(["sh", "-c", script]).args(words).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        (child, line, out)
    }

    fn shell(&self, script: &str) -> Output {
        self.program(&[]).args(["sh", "-c", script]).output().unwrap()
    }

    fn log(&self) -> String {
        let text = String::from_utf8_lossy(&fs::read(self.path("x.log")).unwrap()).into_owned();
        let (head, log) = text.split_once('\n').unwrap();
        assert!(head.starts_with("comfy-triage run [COMMAND=\""), "the command stands at its head: {head}");
        log.to_owned()
    }

    fn report(&self) -> Value {
        let json: Value = serde_json::from_str(&fs::read_to_string(self.path("report.json")).unwrap()).unwrap();
        json["reports"][0].clone()
    }
}

const START: &str = "Total VRAM 24564 MB, total RAM 65367 MB\\nComfyUI version: 0.28.0\\nStarting server\\nTo see the GUI go to: http://127.0.0.1:8188\\n";
const WORK: &str = "got prompt\\nRequested to load Flux\\n";

#[test]
fn output_is_the_same_bytes_as_without() {
    let script =
        r"printf 'a\r\n\033[31m\377\000 half'; printf ' 10%%|#  | 1/9\r 90%%|## | 9/9\n' >&2; printf ' line\n'; cat";
    let feed = |mut command: Command| {
        let mut child = command
            .args(["sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"what was typed").unwrap();
        child.wait_with_output().unwrap()
    };
    let plain = {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"what was typed").unwrap();
        child.wait_with_output().unwrap()
    };
    let run = Run::new();
    let through = feed(run.program(&[]));
    assert_eq!(through.stdout, plain.stdout);
    let err = String::from_utf8_lossy(&through.stderr).into_owned();
    assert!(through.stderr.starts_with(&plain.stderr), "{err}");
    assert_eq!(err.lines().last().unwrap().split(':').next(), Some("Log"), "{err}");
    assert!(fs::read(run.path("x.log")).unwrap().windows(4).any(|bytes| bytes == b"\xff\0 h"));
}

#[test]
fn both_streams_into_one_keep_their_order() {
    let script = "i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let file = tempfile::NamedTempFile::new().unwrap();
    let run = Run::new();
    let out = file.reopen().unwrap();
    assert!(
        run.program(&[])
            .args(["sh", "-c", script])
            .stderr(out.try_clone().unwrap())
            .stdout(out)
            .status()
            .unwrap()
            .success()
    );
    let expected: String = (0..300).map(|number| format!("out {number}\nerr {number}\n")).collect();
    assert!(fs::read_to_string(file.path()).unwrap().starts_with(&expected));
    assert!(run.log().starts_with(&expected));
}

#[test]
fn the_status_is_kept_and_stands_in_the_log() {
    let run = Run::new();
    assert_eq!(run.shell("printf half; exit 7").status.code(), Some(7));
    assert_eq!(run.log(), "half\ncomfy-triage run: ended with exit code 7\n");
    assert_eq!(run.shell("true").status.code(), Some(0));
    run.shell("true");
    assert!(fs::read_to_string(run.path("x.log.prev")).unwrap().contains("]\nhalf"), "the older logs are kept");
    for kept in ["x.log.prev2", "x.log.samples.csv.prev2", "x.log.probe.json.prev2", "report.json.prev2"] {
        assert!(fs::metadata(run.path(kept)).unwrap().len() > 0, "{kept}");
    }
}

#[test]
fn what_cannot_be_started_leaves_nothing_behind() {
    let run = Run::new();
    let done = run.program(&[]).arg("/no/such/program").output().unwrap();
    assert_eq!(done.status.code(), Some(127));
    assert_eq!(fs::read_dir(run.folder.path()).unwrap().count(), 0);
    fs::write(run.path("x.log"), "of yesterday").unwrap();
    fs::write(run.path("x.log.samples.csv"), "of yesterday too").unwrap();
    fs::write(run.path("program"), "no program").unwrap();
    let done = run.program(&[]).arg(run.path("program")).output().unwrap();
    assert_eq!(done.status.code(), Some(126));
    assert_eq!(fs::read_dir(run.folder.path()).unwrap().count(), 3);
    assert_eq!(fs::read_to_string(run.path("x.log")).unwrap(), "of yesterday");
    assert_eq!(fs::read_to_string(run.path("x.log.samples.csv")).unwrap(), "of yesterday too");
}

#[test]
fn where_nothing_can_be_written_nothing_is_started_and_nothing_is_touched() {
    let run = Run::new();
    let mark = run.path("mark");
    let refused = |options: &[&str]| {
        let done = crate::case::program().arg("run").args(options).args(["--", "touch", &mark]).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{options:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    refused(&["--log", &run.path("no/such/folder/x.log")]);
    refused(&["--log", "/dev/null"]);
    refused(&["--log", run.folder.path().to_str().unwrap()]);
    refused(&["--log", &run.path("a"), "--samples", &run.path("a")]);
    refused(&["--log", &run.path("a"), "--report", &run.path("a.probe.json")]);
    fs::write(run.path("x.log"), "of yesterday").unwrap();
    refused(&["--log", &run.path("x.log"), "--samples", &run.path("no/such/folder/x.csv")]);
    assert_eq!(fs::read_to_string(run.path("x.log")).unwrap(), "of yesterday");
    assert_eq!(fs::read_dir(run.folder.path()).unwrap().count(), 1);
    assert!(fs::metadata("/dev/null").is_ok());
}

/// Streams that the program closes, and one that nobody reads any more.
#[test]
fn streams_that_end_early_end_nothing_else() {
    let run = Run::new();
    let done = run.shell("echo last words; exec 1>&- 2>&-; sleep 0.3; exit 4");
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(4), b"last words\n".as_slice()));
    assert_eq!(run.log(), "last words\ncomfy-triage run: ended with exit code 4\n");
    let script = "trap '' PIPE; echo first; read go; echo second || exit 6";
    let (mut child, _, out) = run.begun(script, &[], Stdio::piped());
    drop(out);
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let code = child.wait().unwrap().code();
    // The pipe breaks for it as without us, with the first line after it or the next.
    assert!(matches!(code, Some(0 | 6)), "{code:?}");
    assert!(run.log().starts_with("first\n"), "{}", run.log());
}

/// A helper that goes on without the program holds its output open; it is not waited for, and has no last word.
#[test]
fn what_the_program_leaves_behind_is_not_waited_for() {
    let run = Run::new();
    let begun = std::time::Instant::now();
    let out = fs::File::create(run.path("out")).unwrap();
    let status = run
        .program(&[])
        .args(["sh", "-c", "(sleep 20; echo late) & echo done; exit 5"])
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(5));
    assert!(begun.elapsed() < std::time::Duration::from_secs(15));
    assert_eq!(run.log(), "done\ncomfy-triage run: ended with exit code 5\n");
}

#[test]
fn a_kill_is_told_with_its_line() {
    let run = Run::new();
    let done = run.shell(&format!("printf '{START}{WORK}'; kill -KILL $$"));
    assert_eq!((done.status.code(), done.status.signal()), (Some(137), None));
    let report = run.report();
    assert_eq!((&report["ending"]["kind"], &report["ending"]["exit_code"]), (&"killed".into(), &137.into()));
    let log = run.log();
    // Where the kernel counts its kills, it is known that this was none of them.
    let counted = log.contains("comfy-triage run: oom_kill counters did not rise");
    assert_eq!(report["verdict"]["primary"], if counted { "insufficient-evidence" } else { "host-oom" }, "{log}");
    let last = log.lines().last().unwrap();
    assert_eq!(last, "comfy-triage run: ended by signal 9, exit code 137");
    // The command stands in a line before.
    assert_eq!(report["ending"]["at"]["line"], u64::try_from(log.lines().count() + 1).unwrap());
    assert_ne!(report["verdict"]["grade"], "certain", "nobody's counter rose");
    // The log alone knows it too.
    assert_eq!(crate::case::report(&[&run.path("x.log")])["ending"]["kind"], "killed");
}

#[test]
fn a_kill_that_the_kernel_counted_is_certain() {
    let run = Run::new();
    run.shell(&format!("printf '{START}{WORK}'; kill -KILL $$"));
    for (constraint, verdict) in [("CONSTRAINT_MEMCG", "container-limit"), ("CONSTRAINT_NONE", "host-oom")] {
        let counted: String = run
            .log()
            .lines()
            .map(|line| {
                if line.contains("oom_kill") {
                    format!("comfy-triage run: oom_kill counter rose by 1, constraint={constraint}\n")
                } else {
                    format!("{line}\n")
                }
            })
            .collect();
        fs::write(run.path("y.log"), counted).unwrap();
        let report = crate::case::report(&[&run.path("y.log")]);
        assert_eq!(
            (&report["verdict"]["primary"], &report["verdict"]["grade"]),
            (&verdict.into(), &"certain".into()),
            "{constraint}"
        );
    }
}

#[test]
fn a_crash_is_a_crash_and_a_stop_a_stop() {
    let run = Run::new();
    assert_eq!(run.shell(&format!("printf '{START}{WORK}'; kill -SEGV $$")).status.code(), Some(139));
    assert_eq!(run.report()["ending"]["kind"], "native-crash");
    assert_eq!(run.shell(&format!("printf '{START}{WORK}'; kill -TERM $$")).status.code(), Some(143));
    let report = run.report();
    assert_eq!(report["ending"]["kind"], "clean-stop");
    assert_ne!(report["verdict"]["primary"], "host-oom");
}

/// A limit on the address space: the allocation fails inside the program.
#[test]
fn memory_that_cannot_be_had_is_told() {
    let run = Run::new();
    let script = format!("printf '{START}{WORK}'; ulimit -v 400000; exec python3 -c 'x = bytearray(1 << 33)'");
    if Command::new("python3").arg("--version").output().is_err() {
        println!("left out: no Python here");
        return;
    }
    let done = run.shell(&script);
    assert_eq!(done.status.code(), Some(1));
    let report = run.report();
    assert_eq!(report["verdict"]["primary"], "host-oom", "{}", run.log());
}

#[test]
fn a_signal_reaches_the_program() {
    let run = Run::new();
    let script = "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    let (mut child, line, mut out) = run.begun(script, &[], Stdio::null());
    assert_eq!(line, "ready\n", "what is written comes at once");
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("asked\n", Some(3)));
}

/// The program counts what reaches it: twice pressed is twice told, and a signal that was ignored stays so.
#[test]
fn each_signal_is_passed_on_once() {
    let signals: &[&str] =
        if crate::case::ctrl_c_is_ignored() { &["USR1", "TERM", "USR2"] } else { &["INT", "USR1", "INT", "TERM"] };
    let run = Run::new();
    let script = "for name in INT USR1 USR2 TERM; do trap \"echo got $name\" $name; done; echo ready; while [ ! -e \"$0\" ]; do sleep 0.02; done; exit 3";
    let (mut child, line, out) = run.begun(script, &[&run.path("go")], Stdio::null());
    let mut out = out.lines();
    assert_eq!(line, "ready\n");
    for signal in signals {
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap().success()
        );
        assert_eq!(out.next().unwrap().unwrap(), format!("got {signal}"));
    }
    fs::write(run.path("go"), "").unwrap();
    assert_eq!((out.next().is_none(), child.wait().unwrap().code()), (true, Some(3)));
}

/// `nohup` keeps a program alive when the terminal is closed; behind `run` too.
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    if !cfg!(target_os = "linux") {
        println!("left out: only Linux tells what is ignored");
        return;
    }
    let run = Run::new();
    let mut words = vec!["-c".to_owned(), "trap '' HUP; exec \"$@\"".to_owned(), "sh".to_owned()];
    let inner = run.program(&[]);
    words.push(inner.get_program().to_str().unwrap().to_owned());
    words.extend(inner.get_args().map(|word| word.to_str().unwrap().to_owned()));
    words.extend(["sh", "-c", "echo ready; while [ ! -e \"$0\" ]; do sleep 0.02; done; exit 3"].map(str::to_owned));
    words.push(run.path("go"));
    let mut child = Command::new("sh").args(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(out.next().unwrap().unwrap(), "ready");
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    fs::write(run.path("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(run.log(), "ready\ncomfy-triage run: ended with exit code 3\n");
}

#[test]
fn samples_and_probe_lie_beside_the_log() {
    let run = Run::new();
    run.shell("sleep 0.7");
    let samples = read_samples("x", fs::File::open(run.path("x.log.samples.csv")).unwrap()).unwrap();
    assert!(samples.has_time && samples.points.len() >= 2, "{samples:?}");
    assert!(samples.points.iter().any(|point| point.rss_mib.is_some_and(|mib| mib > 0.1)));
    let json: Value = serde_json::from_str(&fs::read_to_string(run.path("x.log.probe.json")).unwrap()).unwrap();
    let probe: Probe = serde_json::from_value(json["probe"].clone()).unwrap();
    assert!(probe.memory.total_bytes.is_some());
}

#[test]
fn the_server_is_asked_on_this_machine_only() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = [0; 512];
            let read = stream.read(&mut asked).unwrap();
            assert!(asked[..read].starts_with(b"GET /system_stats HTTP/1.0\r\n"));
            let body = "{\"system\":{\"ram_free\":0},\"devices\":[{\"vram_free\":0,\"torch_vram_total\":7340032,\"torch_vram_free\":1048576}]}";
            write!(stream, "HTTP/1.1 200 OK\r\n\r\n{body}").unwrap();
        }
    });
    let run = Run::new();
    let done =
        run.program(&["--stats-url", &format!("http://127.0.0.1:{port}")]).args(["sleep", "0.5"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    let samples = fs::read_to_string(run.path("x.log.samples.csv")).unwrap();
    assert!(samples.lines().any(|line| line.contains(",7.0,1.0,")), "{samples}");
    let refused = run.program(&["--stats-url", "http://192.0.2.1:8188"]).args(["true"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
}
