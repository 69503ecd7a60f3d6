//! Packs of the user's own: they add, they replace and say so, and hostile ones do no harm.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use serde_json::Value;

const LOG: &str = "Total VRAM 24564 MB, total RAM 65367 MB\nComfyUI version: 0.99.0\nStarting server\n\
To see the GUI go to: http://127.0.0.1:8188\ngot prompt\nRequested to load Flux\n\
The weights of Flux went to the attic: 512.00 MB\nPrompt executed in 12.50 seconds\n";
const HEAD: &str = "id = \"mine\"\nversion = \"1.2.3\"\nformat = 1\n";
const ATTIC: &str = "[[message]]\nid = \"attic\"\narea = \"offload\"\nevent = \"leak-warning\"\n\
text = \"The weights of {class:class} went to the attic: {size:mib} MB\"\nsince = \"0.99.0\"\nsource = \"comfy/attic.py\"\n\
means = { en = \"Made up.\", zh = \"虚构。\" }\nmatch = [\"The weights of Flux went to the attic: 1.00 MB\"]\n\
silent = [\"The weights of Flux\"]\n";

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let scene = Self { folder: tempfile::tempdir().unwrap() };
        scene.write("comfyui.log", LOG);
        for (path, text) in files {
            scene.write(path, text);
        }
        scene
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn command(&self) -> Command {
        let mut command = Command::cargo_bin("comfy-triage").unwrap();
        command
            .current_dir(self.path())
            .env_remove("COMFY_TRIAGE_RULES")
            .env("XDG_CONFIG_HOME", self.path().join("config"));
        command.env("APPDATA", self.path().join("config")).env("LC_ALL", "C").timeout(Duration::from_secs(60));
        command
    }

    /// The JSON report with the given arguments, and what was told beside it.
    fn report(&self, args: &[&str]) -> (Value, String) {
        let output = self.command().args(["comfyui.log", "--format", "json"]).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        (serde_json::from_slice(&output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

/// Lines of the rule `attic` count as warnings of a leak.
fn attic_lines(report: &Value) -> u64 {
    report.pointer("/reports/0/sessions/0/leaks/Flux/warning").and_then(Value::as_u64).unwrap_or(0)
}

#[test]
fn one_file_in_a_folder_teaches_a_new_text_without_a_rebuild() {
    let scene = Scene::new(&[("mine/pack.toml", HEAD), ("mine/attic.toml", ATTIC)]);
    let (before, _) = scene.report(&[]);
    let (after, told) = scene.report(&["--rules", "mine"]);
    assert_eq!((attic_lines(&before), attic_lines(&after)), (0, 1));
    assert_eq!(told, "");
    let understood = |report: &Value| report.pointer("/reports/0/fitness/understood").and_then(Value::as_u64).unwrap();
    assert_eq!(understood(&after), understood(&before) + 1);
    assert_eq!(after["packs"][1]["id"].as_str(), Some("mine"));
    assert_eq!(after["packs"][1]["version"].as_str(), Some("1.2.3"));
}

#[test]
fn packs_are_found_by_option_environment_and_configuration_folder() {
    let configured = "config/comfy-triage/rules/mine";
    let scene = Scene::new(&[
        (&format!("{configured}/pack.toml"), HEAD),
        (&format!("{configured}/attic.toml"), ATTIC),
        ("other/pack.toml", "id = \"other\"\nversion = \"0.1.0\"\nformat = 1\n"),
    ]);
    let output =
        scene.command().args(["comfyui.log", "--format", "json"]).env("COMFY_TRIAGE_RULES", "other").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ids: Vec<&str> = report["packs"].as_array().unwrap().iter().filter_map(|pack| pack["id"].as_str()).collect();
    assert_eq!(ids, ["comfyui", "mine", "other"]);
    assert_eq!(attic_lines(&report), 1);
    let checked = scene.command().args(["rules", "check"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn what_is_replaced_is_said() {
    let changed = ATTIC.replace("id = \"attic\"", "id = \"got-prompt\"");
    let sentence = "[[sentence]]\nid = \"label-next\"\nen = \"Then:\"\nzh = \"然后：\"\n";
    let scene = Scene::new(&[("mine/pack.toml", HEAD), ("mine/a.toml", &changed), ("mine/b.toml", sentence)]);
    let (report, _) = scene.report(&["--rules", "mine"]);
    assert_eq!(report["packs"][1]["overrides"], serde_json::json!(["got-prompt", "label-next"]));
    let text = scene.command().args(["comfyui.log", "--rules", "mine", "--verbose"]).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("replaces got-prompt, label-next"), "{text}");
}

#[test]
fn of_a_broken_file_all_faults_are_told_and_the_rest_is_used() {
    let broken = format!("[[message]]\nid = \"x\"\nevnt = \"noise\"\n\n{ATTIC}\n[[bug]]\nid = 3\n");
    let scene = Scene::new(&[("mine/pack.toml", HEAD), ("mine/a.toml", &broken), ("mine/b.toml", "[[sentence\n")]);
    let (report, told) = scene.report(&["--rules", "mine"]);
    assert_eq!(attic_lines(&report), 1);
    assert_eq!(told.matches("rules::syntax").count(), 3, "{told}");
    assert!(told.contains("evnt") && told.contains("b.toml"), "{told}");
}

/// A regex is compiled when a line needs it; that it cannot be must not come to light as a rule that never fits.
#[test]
fn a_regex_that_cannot_be_used_is_told_with_its_pack_and_remedy() {
    let regex = |text: &str| {
        let text = toml::Value::String(text.to_owned()).to_string();
        format!(
            "[[message]]\nid = \"grown\"\narea = \"load\"\nevent = \"noise\"\nregex = true\nanchor = \"aaaa\"\ntext = {text}\n\n{ATTIC}"
        )
    };
    for (text, reason) in [("aaaa(((x{100}){100}){100})", "size limit"), ("aaaa(", "unclosed group")] {
        let scene = Scene::new(&[("mine/pack.toml", HEAD), ("mine/a.toml", &regex(text))]);
        let (report, told) = scene.report(&["--rules", "mine"]);
        assert_eq!(attic_lines(&report), 1, "the rest of the pack is used");
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["a.toml", "`grown`", reason, "write the text as a template"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    let scene = Scene::new(&[("mine/pack.toml", HEAD), ("mine/a.toml", &regex("aaaa b+"))]);
    assert_eq!(scene.report(&["--rules", "mine"]).1, "");
}

#[test]
fn faults_that_are_not_listed_are_counted() {
    let scene = Scene::new(&[("mine/pack.toml", HEAD), ("mine/a.toml", &"[[bug]]\nid = 3\n".repeat(60))]);
    let (_, told) = scene.report(&["--rules", "mine"]);
    assert!(told.contains("10 more faults are not listed"), "{told}");
}

#[test]
fn a_pack_of_a_newer_format_is_refused_in_words() {
    let scene = Scene::new(&[
        ("mine/pack.toml", "id = \"mine\"\nversion = \"1.0.0\"\nformat = 7\nseal = true\n"),
        ("mine/a.toml", ATTIC),
    ]);
    let (report, told) = scene.report(&["--rules", "mine"]);
    assert_eq!(attic_lines(&report), 0);
    assert!(told.contains("format 7") && told.contains("update comfy-triage"), "{told}");
}

#[test]
fn hostile_packs_do_no_harm() {
    let bomb = |text: &str, anchor: &str| {
        let text = toml::Value::String(text.to_owned()).to_string();
        format!(
            "{}\n[[message]]\nid = \"bomb\"\narea = \"load\"\nevent = \"noise\"\nregex = true\nanchor = \"{anchor}\"\ntext = {text}\n",
            ""
        )
    };
    let captures: String = (0..13).map(|number| format!("a {{c{number}:text}} ")).collect();
    let many_captures =
        format!("[[message]]\nid = \"bomb\"\narea = \"load\"\nevent = \"noise\"\ntext = \"{captures}end\"\n");
    let deep = format!("[[message]]\nid = {}\"x\"{}\n", "[".repeat(5000), "]".repeat(5000));
    let many: String =
        (0..25_000).map(|number| format!("[[class]]\nname = \"C{number}\"\nkind = \"diffusion\"\n")).collect();
    let as_many: String = (0..18_000)
        .map(|n| {
            format!(
                "[[message]]\nid = \"m{n}\"\narea = \"load\"\nevent = \"notice\"\ntext = \"Room {n} of the attic\"\n"
            )
        })
        .collect();
    let large = format!("# {}\n", "x".repeat(3 * 1024 * 1024));
    let hostile = [
        ("a regex that backtracks elsewhere", bomb("^(a+)+$", "aaaa")),
        ("a regex that grows", bomb("^aaaa(((x{100}){100}){100})$", "aaaa")),
        ("a template of many captures", many_captures),
        ("brackets without an end", deep),
        ("items without an end", many),
        ("a large file", large),
        ("as many rules as a file may hold", as_many),
        ("faults without an end", "[[bug]]\nid = 3\n".repeat(130_000)),
        ("letters that steer a terminal", ATTIC.replace("Made up.", "Made \\u001b[2J up.")),
        ("no text at all", "\u{0}\u{1}\u{2}".to_owned()),
    ];
    for (name, text) in hostile {
        let scene = Scene::new(&[("mine/pack.toml", HEAD), ("mine/a.toml", &text)]);
        scene.write("comfyui.log", &format!("{LOG}{}!\n{}\n", "a".repeat(60_000), "a a ".repeat(15_000)));
        let start = Instant::now();
        let (report, told) = scene.report(&["--rules", "mine"]);
        assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
        assert!(!told.contains('\u{1b}'), "{name}");
        assert_eq!(report.pointer("/reports/0/sessions/0/prompts/got").and_then(Value::as_u64), Some(1), "{name}");
    }
}

#[test]
fn a_pack_of_more_rules_than_there_is_room_for_is_left_out() {
    let packs: Vec<(String, String)> = (0..4)
        .flat_map(|pack| {
            let rule = |n: usize| {
                format!("[[message]]\nid = \"m{pack}-{n}\"\narea = \"load\"\nevent = \"notice\"\ntext = \"Room {n} of the attic {pack}\"\n")
            };
            let rules: String = (0..17_000).map(rule).collect();
            [(format!("p{pack}/pack.toml"), HEAD.replace("mine", &format!("p{pack}"))), (format!("p{pack}/a.toml"), rules)]
        })
        .collect();
    let files: Vec<(&str, &str)> = packs.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let scene = Scene::new(&files);
    let (report, told) = scene.report(&["--rules", "p0", "--rules", "p1", "--rules", "p2", "--rules", "p3"]);
    assert!(told.contains("p3") && told.contains("more than 60000 rules"), "{told}");
    let used = |pack: usize| report.pointer(&format!("/packs/{pack}/id")).is_some();
    assert!(used(3) && !used(4));
    assert_eq!(report.pointer("/reports/0/sessions/0/prompts/got").and_then(Value::as_u64), Some(1));
}

/// A line is held against every regex that begins as it does, so there is a number of them.
#[test]
fn regex_rules_that_begin_alike_are_capped_and_told() {
    let rule = |n: usize| {
        format!(
            "[[message]]\nid = \"r{n}\"\narea = \"load\"\nevent = \"noise\"\nregex = true\nanchor = \"aaaaaaaaaa\"\ntext = \"a+(?:b|c)*{n}\"\n\n"
        )
    };
    let rules: String = (0..8_000).map(rule).chain([ATTIC.to_owned()]).collect();
    let log = "got prompt\n".to_owned() + &"aaaaaaaaaabcbcbcbcbcbcbcbc 1\n".repeat(20_000);
    let scene = Scene::new(&[("mine/pack.toml", HEAD), ("mine/a.toml", &rules), ("x.log", &log)]);
    let start = Instant::now();
    let output = scene.command().args(["x.log", "--rules", "mine"]).output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("more than 64 regex rules begin like its anchor"), "{told:.600}");
    assert!(told.contains("7886 more faults are not listed"), "{told:.6000}");
    let (report, _) = scene.report(&["--rules", "mine"]);
    assert_eq!(attic_lines(&report), 1, "the rest of the pack is used");
}

/// Each rule may have its faults, and each fault its place in a long file.
#[test]
fn a_large_pack_is_checked_in_good_time() {
    let rule = |n: usize| {
        format!("[[message]]\nid = \"m{n}\"\narea = \"load\"\nevent = \"notice\"\ntext = \"Room {n} of the attic\"\n")
    };
    let rules: String = (0..18_000).map(rule).collect();
    let scene = Scene::new(&[("mine/pack.toml", HEAD), ("mine/a.toml", &rules)]);
    let start = Instant::now();
    let output = scene.command().args(["rules", "check", "mine"]).output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.ends_with("mine 1.2.3: 18000 items, 72000 findings (mine)\n"));
    // The last one has its line and what stands around it.
    assert!(told.contains("a.toml:89996:1") && told.contains(" 89997 │ id = \"m17999\""));
}

#[cfg(unix)]
#[test]
fn a_pack_reads_nothing_outside_of_its_folder() {
    let scene = Scene::new(&[("mine/pack.toml", HEAD), ("secret.toml", "password = \"do not tell\"\n")]);
    std::os::unix::fs::symlink(scene.path().join("secret.toml"), scene.path().join("mine/a.toml")).unwrap();
    let (_, told) = scene.report(&["--rules", "mine"]);
    assert_eq!(told, "");
    std::fs::remove_file(scene.path().join("mine/pack.toml")).unwrap();
    std::os::unix::fs::symlink(scene.path().join("secret.toml"), scene.path().join("mine/pack.toml")).unwrap();
    let (_, told) = scene.report(&["--rules", "mine"]);
    assert!(told.contains("no pack.toml") && !told.contains("do not tell"), "{told}");
}

#[test]
fn folders_without_an_end_are_refused() {
    let scene = Scene::new(&[("mine/pack.toml", HEAD)]);
    for number in 0..600 {
        scene.write(&format!("mine/{number}.toml"), "");
    }
    let (_, told) = scene.report(&["--rules", "mine"]);
    assert!(told.contains("rules::too_many_files"), "{told}");
    let scene = Scene::new(&[("mine/pack.toml", HEAD), (&format!("mine/{}a.toml", "d/".repeat(40)), ATTIC)]);
    let (_, told) = scene.report(&["--rules", "mine"]);
    assert!(told.contains("rules::too_many_files"), "{told}");
}

#[test]
fn coverage_names_the_unknown_shapes_and_agrees_with_the_report() {
    let scene = Scene::new(&[]);
    scene.write("comfyui.log", &format!("{LOG}Attic has 12 rooms in /a/b/c\nAttic has 14 rooms in /a/d/e\n"));
    let output = scene.command().args(["rules", "coverage", "comfyui.log", "--json"]).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["unknown"][0]["shape"].as_str(), Some("Attic has # rooms in <path>"));
    assert_eq!(value["unknown"][0]["times"].as_u64(), Some(2));
    assert_eq!(value["unknown"][0]["first_line"].as_u64(), Some(9));
    let (report, _) = scene.report(&[]);
    assert_eq!(value["logs"][0]["understood"], report["reports"][0]["fitness"]["understood"]);
    assert_eq!(value["logs"][0]["texts"], report["reports"][0]["fitness"]["texts"]);
    let text = scene.command().args(["rules", "coverage", "comfyui.log", "--lang", "zh"]).output().unwrap();
    assert!(String::from_utf8(text.stdout).unwrap().contains("最常见的未知行"));
}
