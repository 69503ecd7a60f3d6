//! The binary as people use it: exit statuses, messages, pipes, formats and languages.
//!
//! Long: one subject, case by case.
#![allow(clippy::unwrap_used)] // a test may panic

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use assert_cmd::Command;

const LOG: &str = "\
Total VRAM 24564 MB, total RAM 65367 MB
pytorch version: 2.8.0+cu128
Set vram state to: NORMAL_VRAM
Device: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync
ComfyUI version: 0.3.68
Starting server

To see the GUI go to: http://127.0.0.1:8188
got prompt
Requested to load Flux
loaded completely 9.5e+25 11350.07 True
Prompt executed in 12.34 seconds
got prompt
Potential memory leak detected with model Flux, doing a full garbage collect, for maximum performance avoid circular references in the model code.
WARNING, memory leak with model Flux. Please make sure it is not being referenced from somewhere.
Requested to load Flux
loaded completely 9.5e+25 11350.07 True
Prompt executed in 11.02 seconds
";

fn triage() -> Command {
    let mut command = Command::cargo_bin("comfy-triage").unwrap();
    // Runs are equal everywhere, whatever the shell of the tester holds.
    for name in ["LC_ALL", "LC_MESSAGES", "LANG", "COLUMNS", "COMFY_TRIAGE_RULES", "NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

fn run(arguments: &[&str]) -> Output {
    triage().args(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

#[test]
fn a_log_is_answered_and_a_verdict_alone_is_no_failure() {
    let folder = Folder::new();
    let log = folder.file("comfyui.log", LOG.as_bytes());
    let output = run(&[&log]);
    assert_eq!(status(&output), 0, "{}", err(&output));
    let shown = out(&output);
    assert!(shown.lines().take(3).any(|line| line.starts_with("Model leak (leak-confirmed) · ")), "{shown}");
    assert!(shown.contains("  15 | WARNING, memory leak with model Flux."), "{shown}");
    assert!(!shown.contains('\x1b'), "no colours into a pipe");
    assert_eq!(out(&run(&["triage", &log])), shown);
}

#[test]
fn a_log_may_come_through_a_pipe() {
    for arguments in [&[][..], &["-"], &["triage", "-"]] {
        let output = triage().args(arguments).arg("--quiet").write_stdin(LOG).output().unwrap();
        assert_eq!(status(&output), 0, "{}", err(&output));
        assert!(out(&output).starts_with("leak-confirmed "), "{}", out(&output));
    }
}

#[test]
fn help_and_version() {
    let help = run(&["--help"]);
    assert_eq!(status(&help), 0);
    for word in ["explain", "--memory-limit", "--fail-on", "Exit status", "docker logs"] {
        assert!(out(&help).contains(word), "{word}");
    }
    assert_eq!(out(&run(&["--version"])), format!("comfy-triage {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn usage_errors_end_with_two() {
    for arguments in [
        &["--format", "yaml", "x.log"][..],
        &["--asked", "everything", "x.log"],
        &["--memory-limit", "plenty", "x.log"],
        &["--memory-limit", "16", "x.log"],
        &["--verbose", "--quiet", "x.log"],
        &["--fail-on", "leak-confirmd", "x.log"],
        &["--samples", "/nowhere/at/all.csv", "x.log"],
        &["explain", "leak-warnin"],
        &["rules", "list", "--area", "oon"],
        &["rules", "list", "--comfyui", "newest"],
        &["nowhere/*.log"],
    ] {
        let output = run(arguments);
        assert_eq!(status(&output), 2, "{arguments:?}: {}", out(&output));
        assert!(out(&output).is_empty() && !err(&output).is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_missing_unit_is_named() {
    let output = run(&["--memory-limit", "16", "x.log"]);
    assert!(err(&output).contains("16GiB"), "{}", err(&output));
}

#[test]
fn a_mistyped_command_gets_a_hint() {
    let output = run(&["expalin", "leak-confirmed"]);
    assert_eq!(status(&output), 2);
    assert!(err(&output).contains("comfy-triage explain"), "{}", err(&output));
    let output = run(&["explain", "leak-warnin"]);
    assert!(err(&output).contains("`leak-warning`"), "{}", err(&output));
}

#[test]
fn unreadable_logs_are_told_and_the_others_answered() {
    let folder = Folder::new();
    let log = folder.file("good.log", LOG.as_bytes());
    let empty = folder.file("empty.log", b"");
    let missing = folder.path().join("missing.log");
    let output = run(&[missing.to_str().unwrap(), folder.path().to_str().unwrap(), &empty, &log]);
    assert_eq!(status(&output), 2);
    let told = err(&output).replace('\n', " ");
    for code in ["input::not_found", "input::is_directory", "input::empty"] {
        assert!(told.contains(code), "{told}");
    }
    assert!(told.contains("missing.log") && told.contains("help"), "{told}");
    let shown = out(&output);
    assert!(shown.contains("Model leak (leak-confirmed) · "), "{shown}");
    assert!(shown.contains("4 logs") && shown.contains("unreadable"), "{shown}");
}

#[test]
fn binary_data_and_foreign_text_are_no_reason_to_fail() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..20_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let binary = folder.file("picture.png", &bytes);
    let foreign = folder.file("nginx.log", b"10.0.0.1 - - [30/Nov/2026] \"GET / HTTP/1.1\" 200 612\n");
    for log in [binary, foreign] {
        let output = run(&[&log, "--quiet"]);
        assert_eq!(status(&output), 0, "{}", err(&output));
        assert!(out(&output).starts_with("insufficient-evidence "), "{}", out(&output));
    }
}

#[test]
fn formats_hold_the_same_answer() {
    let folder = Folder::new();
    let log = folder.file("comfyui.log", LOG.as_bytes());
    let json = run(&[&log, "--format", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(value["reports"][0]["verdict"]["primary"], "leak-confirmed");
    assert_eq!(value["tool"]["name"], "comfy-triage");
    assert_eq!(run(&[&log, "--format", "json"]).stdout, json.stdout, "the same bytes give the same report");
    let lines = out(&run(&[&log, &log, "--format", "ndjson"]));
    assert_eq!(lines.lines().count(), 2);
    for line in lines.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["report"]["verdict"]["primary"], "leak-confirmed");
    }
    assert!(out(&run(&[&log, "--format", "markdown"])).contains("(leak-confirmed) · "));
}

#[test]
fn the_language_follows_the_option_then_the_locale() {
    let folder = Folder::new();
    let log = folder.file("comfyui.log", LOG.as_bytes());
    assert!(out(&run(&[&log, "--lang", "zh"])).contains("先做这一步："));
    let by_locale = triage().arg(&log).env("LANG", "zh_CN.UTF-8").output().unwrap();
    assert!(out(&by_locale).contains("先做这一步："));
    let overruled = triage().arg(&log).env("LANG", "zh_CN.UTF-8").env("LC_ALL", "C").output().unwrap();
    assert!(out(&overruled).contains("Do this first:"));
    let asked = triage().args([&log, "--lang", "en"]).env("LANG", "zh_CN.UTF-8").output().unwrap();
    assert!(out(&asked).contains("Do this first:"));
}

#[test]
fn fail_on_ends_with_one_for_those_verdicts_only() {
    let folder = Folder::new();
    let log = folder.file("comfyui.log", LOG.as_bytes());
    assert_eq!(status(&run(&[&log, "--fail-on", "gpu-oom,leak-confirmed"])), 1);
    assert_eq!(status(&run(&[&log, "--fail-on", "gpu-oom"])), 0);
    assert_eq!(status(&run(&[&log, "/nowhere.log", "--fail-on", "leak-confirmed"])), 2);
}

#[test]
fn colours_are_only_shown_when_wanted() {
    let folder = Folder::new();
    let log = folder.file("comfyui.log", LOG.as_bytes());
    assert!(out(&run(&[&log, "--color", "always"])).contains('\x1b'));
    assert!(!out(&run(&[&log, "--color", "never"])).contains('\x1b'));
    let forced = triage().arg(&log).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(out(&forced).contains('\x1b'));
}

#[test]
fn a_closed_pipe_is_quiet() {
    let folder = Folder::new();
    let log = folder.file("comfyui.log", LOG.repeat(20).as_bytes());
    let path = assert_cmd::cargo::cargo_bin("comfy-triage");
    let mut child = std::process::Command::new(path)
        .args(std::iter::repeat_n(log.as_str(), 30))
        .arg("--verbose")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_broken_pack_is_told_and_the_log_still_answered() {
    let folder = Folder::new();
    let log = folder.file("comfyui.log", LOG.as_bytes());
    folder.file("pack/pack.toml", b"id = \"mine\"\nversion = \"1.0.0\"\nformat = 1\n");
    folder.file("pack/messages/a.toml", b"[[message]]\nid = \"x\"\narea = \"leak\"\nevnt = \"noise\"\n");
    let pack = folder.path().join("pack");
    let output = run(&[&log, "--rules", pack.to_str().unwrap(), "--quiet"]);
    assert_eq!(status(&output), 0);
    let told = err(&output);
    assert!(told.contains("rules::syntax") && told.contains("a.toml") && told.contains("evnt"), "{told}");
    assert!(out(&output).starts_with("leak-confirmed "));
    let by_environment = triage().args([&log, "--quiet"]).env("COMFY_TRIAGE_RULES", &pack).output().unwrap();
    assert!(err(&by_environment).contains("rules::syntax"));
}

#[test]
fn the_packs_can_be_looked_into() {
    assert!(out(&run(&["explain", "leak-warning"])).contains("memory leak with model"));
    assert!(out(&run(&["explain", "--cache-none"])).contains("--cache-none"));
    assert!(out(&run(&["explain", "--lowvram", "--lang", "zh"])).contains("作用："));
    let list = out(&run(&["rules", "list", "--area", "leak", "--comfyui", "0.3.68"]));
    assert!(list.contains("leak-warning") && !list.contains("mem-total"), "{list}");
    let shown = out(&run(&["rules", "show", "leak-warning"]));
    let value: toml::Value = toml::from_str(&shown).unwrap();
    assert_eq!(value["message"][0]["id"].as_str(), Some("leak-warning"));
}

#[test]
fn what_other_programs_need() {
    let schema: serde_json::Value = serde_json::from_slice(&run(&["schema"]).stdout).unwrap();
    assert!(schema["properties"]["reports"].is_object());
    assert!(out(&run(&["completions", "bash"])).contains("comfy-triage"));
    assert!(out(&run(&["man"])).starts_with(".ie"));
}

/// The fault may stand in the part that nobody read.
#[test]
fn a_log_that_breaks_off_is_never_called_healthy() {
    use std::io::Write;

    let start = "Total VRAM 24564 MB, total RAM 65367 MB\nComfyUI version: 0.3.68\n";
    let work = "got prompt\nPrompt executed in 12.34 seconds\n";
    let whole = format!("{start}{}", work.repeat(3));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(whole.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let verdict = |log: &[u8]| {
        let output = triage().args(["--format", "json", "-"]).write_stdin(log).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["reports"][0].clone()
    };
    assert_eq!(verdict(&packed)["verdict"]["primary"], "no-fault");
    // Without the checksum at its end.
    let cut = verdict(&packed[..packed.len() - 8]);
    assert_eq!(cut["verdict"]["primary"], "insufficient-evidence");
    assert_eq!((&cut["partial"], &cut["ending"]["kind"]), (&true.into(), &"unread".into()));
    assert_eq!(cut["findings"][0]["evidence"][0]["at"]["line"], 8);
}

/// Ctrl-C in the middle of a stream: the answer is about what was read, says so, and no script takes it for the whole.
#[cfg(unix)]
#[test]
fn ctrl_c_gives_the_report_so_far() {
    let report = stopped_by(rustix::process::Signal::INT, &[], LOG);
    assert_eq!(report["verdict"]["primary"], "leak-suspected");
}

/// So does what `docker stop` and service managers send.
#[cfg(unix)]
#[test]
fn sigterm_gives_the_report_so_far() {
    for options in [&[][..], &["--redact"]] {
        let report = stopped_by(rustix::process::Signal::TERM, options, LOG);
        assert_eq!(report["verdict"]["primary"], "leak-suspected");
    }
}

/// What was read is gone through for what is private before any of it is shown.
#[cfg(unix)]
#[test]
fn ctrl_c_gives_the_report_so_far_without_what_is_private() {
    let log = LOG.replace("got prompt", "User directory: /home/quillfeather/ComfyUI/user\ngot prompt");
    let report = stopped_by(rustix::process::Signal::INT, &["--redact"], &log);
    assert_eq!(report["verdict"]["primary"], "leak-suspected");
    let shown = report.to_string();
    assert!(!shown.contains("quillfeather"), "{shown}");
}

/// The report of a program that was sent a signal while the log was still coming.
#[cfg(unix)]
fn stopped_by(signal: rustix::process::Signal, options: &[&str], log: &str) -> serde_json::Value {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::Write;

    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("comfy-triage"));
    command.env_remove("COMFY_TRIAGE_RULES").args(["--lang", "en", "--format", "json", "-"]).args(options);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // More than a pipe holds: when all is written, it is reading and so listening.
    let filler = "got prompt\nPrompt executed in 1.00 seconds\n".repeat(10_000);
    input.write_all(log.as_bytes()).unwrap();
    input.write_all(filler.as_bytes()).unwrap();
    kill_process(Pid::from_child(&child), signal).unwrap();
    // It reads no more than it waited for, so that writing on ends in a closed pipe; its answer is larger than a pipe.
    let more = std::thread::spawn(move || input.write_all(filler.as_bytes()).unwrap_err().kind());
    let output = child.wait_with_output().unwrap();
    assert_eq!(more.join().unwrap(), std::io::ErrorKind::BrokenPipe);
    let (status, words) = if signal == Signal::INT { (130, "you pressed Ctrl-C") } else { (143, "SIGTERM") };
    assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = answer["reports"][0].clone();
    assert_eq!(report["partial"], true);
    // Where reading stopped is not where the log ends.
    assert_eq!(report["ending"]["kind"], "unread");
    let gaps = report["fitness"]["gaps"].as_array().unwrap();
    assert!(gaps.iter().any(|gap| gap.as_str().unwrap().contains(words)), "{gaps:?}");
    report
}

/// A pipe that is open and silent, such as that of `docker logs -f`, keeps Ctrl-C waiting no longer than a moment.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_wait_for_a_silent_pipe() {
    for options in [&[][..], &["--redact"]] {
        wait_is_ended(options);
    }
}

#[cfg(unix)]
fn wait_is_ended(options: &[&str]) {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::Write;

    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("comfy-triage"));
    command.env_remove("COMFY_TRIAGE_RULES").args(["--lang", "en", "--format", "json", "-"]).args(options);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let filler = "got prompt\nPrompt executed in 1.00 seconds\n".repeat(50_000);
    input.write_all(LOG.as_bytes()).unwrap();
    input.write_all(filler.as_bytes()).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["reports"][0]["partial"], true);
    // Nobody wrote on, and nobody closed the pipe.
    drop(input);
}

/// Already to open a named pipe waits for its writer.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_wait_for_a_writer() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::time::{Duration, Instant};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    if !std::process::Command::new("mkfifo").arg(&path).status().is_ok_and(|made| made.success()) {
        println!("left out: no mkfifo here");
        return;
    }
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("comfy-triage"));
        command.env_remove("COMFY_TRIAGE_RULES").args(["--lang", "en", "--format", "json"]).arg(&path);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let caught = || std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let until = Instant::now() + Duration::from_secs(60);
        // Where the kernel does not tell that it listens, a second is enough to begin.
        while !listens(&caught()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(if cfg!(target_os = "linux") { 10 } else { 1000 }));
            if !cfg!(target_os = "linux") {
                break;
            }
        }
        kill_process(pid, signal).unwrap();
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it still waits");
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{told}");
        assert!(told.contains("cannot be read"), "{told}");
    }
}

/// Linux says that a process has something of its own to do for SIGINT and SIGTERM.
#[cfg(unix)]
fn listens(status: &str) -> bool {
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let both = 1 << (2 - 1) | 1 << (15 - 1);
    caught & both == both
}
