//! The newest log, when none was named: by folder, by list, and from a running server.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, SystemTime};

use assert_cmd::Command;

const FRESH: &str = "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nComfyUI version: 0.28.0\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const OOM: &str = "got prompt\ntorch.OutOfMemoryError: Allocation on device \nGot an OOM, unloading all loaded models.\nPrompt executed in 3.00 seconds\n";

fn triage(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("comfy-triage").unwrap();
    for name in ["LC_ALL", "LC_MESSAGES", "LANG", "COLUMNS", "COMFY_TRIAGE_RULES"] {
        command.env_remove(name);
    }
    command.env("HOME", home).env("XDG_CONFIG_HOME", home.join(".config")).current_dir(home).args(arguments);
    command.output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn write(path: &Path, text: &str, minutes_ago: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    let written = SystemTime::now() - Duration::from_secs(minutes_ago * 60 + 5);
    fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
}

#[test]
fn a_folder_is_answered_by_its_newest_log_and_a_fresh_start_points_at_the_run_before() {
    let home = tempfile::tempdir().unwrap();
    let user = home.path().join("ComfyUI/user");
    write(&user.join("comfyui.log"), FRESH, 3);
    write(&user.join("comfyui.prev.log"), &format!("{FRESH}{OOM}"), 125);
    let output = triage(home.path(), &["ComfyUI"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let shown = out(&output);
    let first = shown.lines().next().unwrap();
    assert!(first.starts_with("Reading ") && first.ends_with("comfyui.log, last written 3 minutes ago."), "{shown}");
    let last = shown.lines().last().unwrap();
    assert!(
        last.contains("the run before (2 hours ago): comfy-triage ") && last.ends_with("comfyui.prev.log"),
        "{shown}"
    );
    // A run that shows something is answered alone.
    write(&user.join("comfyui.log"), &format!("{FRESH}{OOM}"), 1);
    let shown = out(&triage(home.path(), &["ComfyUI"]));
    assert!(shown.contains("(gpu-oom)") && !shown.contains("the run before"), "{shown}");
    let json = triage(home.path(), &["ComfyUI", "--format", "json"]);
    assert!(out(&json).starts_with('{') && err(&json).starts_with("Reading "), "{}", err(&json));
}

#[test]
fn equally_new_logs_are_listed_and_not_guessed_between() {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join("logs/comfyui_8188.log"), FRESH, 2);
    write(&home.path().join("logs/comfyui_8189.log"), FRESH, 2);
    let output = triage(home.path(), &["logs"]);
    assert_eq!(output.status.code(), Some(2));
    let told = err(&output);
    assert!(
        told.contains("equally new") && told.contains("comfyui_8188.log") && told.contains("comfyui_8189.log"),
        "{told}"
    );
    let picked = out(&triage(home.path(), &["logs", "--pick"]));
    assert_eq!(picked.lines().filter(|line| line.starts_with("comfy-triage ")).count(), 2, "{picked}");
}

#[test]
fn a_folder_without_a_log_says_so() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("empty")).unwrap();
    let output = triage(home.path(), &["empty"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("there is no log of ComfyUI in `empty`"), "{}", err(&output));
}

/// A server on this machine that gives each path its answer.
fn server(answers: Vec<(&'static str, String)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for _ in 0..answers.len() {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut asked = [0; 1024];
            let read = stream.read(&mut asked).unwrap_or(0);
            let asked = String::from_utf8_lossy(&asked[..read]).into_owned();
            let body = answers.iter().find(|(path, _)| asked.contains(&format!("GET {path} "))).map(|(_, body)| body);
            let _ = match body {
                Some(body) => stream.write_all(format!("HTTP/1.1 200 OK\r\n\r\n{body}").as_bytes()),
                None => stream.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n"),
            };
        }
    });
    url
}

#[test]
fn a_running_server_is_asked_for_its_log() {
    let home = tempfile::tempdir().unwrap();
    let entries: Vec<serde_json::Value> = format!("{FRESH}{OOM}")
        .lines()
        .map(|line| serde_json::json!({"t": "2026-11-30T10:00:00.000000", "m": format!("{line}\n")}))
        .collect();
    let log = serde_json::json!({"entries": entries, "size": {"cols": 80, "rows": 24}}).to_string();
    let stats = serde_json::json!({"system": {"os": "posix", "comfyui_version": "0.28.0"}, "devices": []}).to_string();
    let url = server(vec![("/internal/logs/raw", log), ("/system_stats", stats)]);
    let output = triage(home.path(), &[&format!("--from-server={url}")]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("GPU out of memory (gpu-oom)"), "{}", out(&output));
    let silent = triage(home.path(), &["--from-server=http://127.0.0.1:9"]);
    assert_eq!(silent.status.code(), Some(2));
    assert!(err(&silent).contains("did not answer with its log"), "{}", err(&silent));
    let away = triage(home.path(), &["--from-server=http://192.168.0.2:8188"]);
    assert!(err(&away).contains("is not on this machine"), "{}", err(&away));
}

#[test]
fn options_before_the_command_are_the_commands() {
    let home = tempfile::tempdir().unwrap();
    let shown = out(&triage(home.path(), &["--lang", "zh-CN", "explain", "leak-confirmed"]));
    assert_eq!(shown, out(&triage(home.path(), &["explain", "leak-confirmed", "--lang", "zh"])));
    assert!(shown.contains("泄漏"), "{shown}");
    let never = out(&triage(home.path(), &["--color", "never", "explain", "--cache-none"]));
    assert!(never.contains("--cache-none"), "{never}");
}
