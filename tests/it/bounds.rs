//! What a log may cost: bytes that it unpacks to, memory that it makes the program hold; and what is said where it ends.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

fn call(words: &[&str], log: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_comfy-triage"));
    for name in ["LC_ALL", "LC_MESSAGES", "LANG", "COLUMNS", "COMFY_TRIAGE_RULES", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("HOME", "/nonexistent").env("XDG_CONFIG_HOME", "/nonexistent").env("COLUMNS", "200");
    command.args(words.iter().map(|word| if *word == "LOG" { log.as_os_str() } else { word.as_ref() }));
    command.output().unwrap()
}

fn told(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    (text(&output.stdout), text(&output.stderr))
}

/// A packed log of three mebibytes.
fn packed(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("comfyui.log.gz");
    let mut file = flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), flate2::Compression::fast());
    let head = "Total VRAM 24576 MB, total RAM 64000 MB\n** ComfyUI Path: /home/wendelin/ComfyUI\n";
    file.write_all(head.as_bytes()).unwrap();
    file.write_all("got prompt\nPrompt executed in 1.00 seconds\n".repeat(80_000).as_bytes()).unwrap();
    file.finish().unwrap();
    path
}

/// What was unpacked up to there is answered, and it is said, by every command that reads logs.
#[test]
fn a_log_that_unpacks_to_too_much_is_read_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let log = packed(folder.path());
    let (whole, _) = told(&call(&["LOG", "--verbose"], &log));
    assert!(!whole.contains("--max-unpacked"), "{whole}");
    for (words, says) in [
        (&["LOG", "--verbose", "--max-unpacked", "1MiB"][..], "it unpacks to more than 1 MiB"),
        (&["LOG", "--verbose", "--max-unpacked", "1m", "--lang", "zh"], "解压后超过 1 MiB"),
        (&["LOG", "--redact", "--verbose", "--max-unpacked=1048576"], "it unpacks to more than 1 MiB"),
        (&["redact", "LOG", "--max-unpacked", "1MiB"], "it unpacks to more than 1 MiB"),
        (&["redact", "LOG", "--max-unpacked", "1MiB", "--lang", "zh"], "解压后超过 1 MiB"),
    ] {
        let output = call(words, &log);
        let (shown, aside) = told(&output);
        assert_eq!(output.status.code(), Some(0), "{words:?} {aside}");
        assert!(shown.contains(says) || aside.contains(says), "{words:?}\n{shown:.600}\n{aside}");
        assert!(output.stdout.len() < 1_200_000, "{words:?} {}", output.stdout.len());
    }
}

/// Also in the first frame, whose window the decoder itself takes unseen.
#[test]
fn a_window_that_is_too_large_is_refused_in_both_languages() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.zst");
    std::fs::write(&log, [0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3, 1, 0, 0]).unwrap();
    for (words, says) in [
        (&["LOG"][..], "unpacking needs 1024 MiB of memory, and 100 MiB are allowed"),
        (&["LOG", "--lang", "zh"], "解压需要 1024 MiB 内存，而允许的上限是 100 MiB"),
        (&["LOG", "--max-memory", "8MiB"], "and 8 MiB are allowed"),
        (&["redact", "LOG"], "unpacking needs 1024 MiB"),
        (&["checklist", "LOG"], "unpacking needs 1024 MiB"),
        (&["compare", "LOG", "LOG"], "unpacking needs 1024 MiB"),
        (&["rules", "coverage", "LOG"], "unpacking needs 1024 MiB"),
    ] {
        let output = call(words, &log);
        let (shown, aside) = told(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?} {shown}");
        assert!(aside.contains(says), "{words:?} {aside}");
    }
}

#[test]
fn a_bound_that_is_no_size_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let log = packed(folder.path());
    for given in ["", "many", "-3GiB", "12", "inf"] {
        for (language, says) in [("en", "is no size for --max-memory"), ("zh", "不是 --max-memory 可用的大小")] {
            let output = call(&["LOG", "--lang", language, &format!("--max-memory={given}")], &log);
            let (_, aside) = told(&output);
            assert_eq!(output.status.code(), Some(2), "{given} {aside}");
            assert!(output.stdout.is_empty() && aside.contains(says), "{given} {aside}");
        }
    }
}
