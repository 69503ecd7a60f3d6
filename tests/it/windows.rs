//! An answer that is read on Windows: its commands are typed into `cmd`, whatever machine made this test.

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};
use comfy_triage::system::Kind;

/// Words of commands that no Windows has.
const FOREIGN: [&str; 9] =
    ["sudo", "tee", "export", "swapon", "dmesg", "ulimit", "journalctl", "LD_PRELOAD", "/proc/meminfo"];

fn read_on(here: Kind, name: &str, log: Vec<u8>) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader(name, std::io::Cursor::new(log)).unwrap();
    let read = read_log(source, &packs, &ReadOptions::default()).unwrap();
    answer(name, &read, &packs, &Question { here, ..Question::default() })
}

fn commands(report: &Report) -> Vec<&str> {
    report.next_steps.iter().filter_map(|step| step.command.as_deref()).collect()
}

#[test]
fn no_command_for_a_log_of_windows_is_one_of_another_system() {
    let mut seen = 0;
    for entry in std::fs::read_dir("fixtures/case").unwrap() {
        let log = entry.unwrap().path().join("console.log");
        let Ok(bytes) = std::fs::read(&log) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        if !text.contains("python_embeded") && !text.contains(r"\ComfyUI\main.py") {
            continue;
        }
        let report = read_on(Kind::Windows, r"D:\my logs\comfyui.log", bytes);
        for command in commands(&report) {
            assert!(!command.contains('\''), "{}: {command}", log.display());
            let foreign = command.split_whitespace().find(|word| FOREIGN.contains(word));
            assert_eq!(foreign, None, "{}: {command}", log.display());
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen} commands were looked at");
}

#[test]
fn the_log_is_named_as_the_system_that_reads_it_takes_it() {
    let log = || std::fs::read("fixtures/case/a02_strong_leak_25/console.log").unwrap();
    for (here, path, word) in [
        (Kind::Windows, r"D:\my logs\comfyui.log", r#""D:\my logs\comfyui.log""#),
        (Kind::Windows, r"\\nas\logs\comfyui.log", r"\\nas\logs\comfyui.log"),
        (Kind::Linux, "/srv/my logs/comfyui.log", "'/srv/my logs/comfyui.log'"),
        (Kind::MacOs, "/Users/me/it's.log", r"'/Users/me/it'\''s.log'"),
    ] {
        let report = read_on(here, path, log());
        let all = commands(&report);
        assert!(all.iter().any(|command| command.ends_with(&format!(" {word}"))), "{word}: {all:#?}");
    }
}
