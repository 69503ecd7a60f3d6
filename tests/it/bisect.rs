//! `bisect` as people use it: the real logs of a bisection, rounds that do not count, sessions, a run by a script.
//!
//! Long: one subject, case by case.
#![allow(clippy::unwrap_used)] // a test may panic

use std::fs;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The rounds of the real bisection in the order in which they are asked for.
const REAL: [&str; 5] = ["s1_none", "s2_first_half", "s4_one", "s6_second", "s7_third"];

fn triage() -> Command {
    let mut command = Command::cargo_bin("comfy-triage").unwrap();
    for name in ["LC_ALL", "LC_MESSAGES", "LANG", "COLUMNS", "COMFY_TRIAGE_RULES", "NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("HOME", "/nonexistent").env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

fn case(name: &str) -> String {
    format!("fixtures/case/a30_bisect_{name}/console.log")
}

/// A session in a folder of its own.
struct Session {
    folder: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state.json")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let state = self.state();
        triage().arg("bisect").args(["--state", state.to_str().unwrap()]).args(arguments).output().unwrap()
    }

    /// Runs a call that must be answered.
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a call that must be refused, with the code of its error.
    fn refused(&self, arguments: &[&str], code: &str) {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(&format!("bisect::{code}")), "{arguments:?}: {told}");
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn rounds(&self) -> Vec<Value> {
        let state: Value = serde_json::from_str(&fs::read_to_string(self.state()).unwrap()).unwrap();
        state["rounds"].as_array().unwrap().clone()
    }

    fn last(&self) -> Value {
        self.rounds().pop().unwrap()
    }
}

fn real_session() -> Session {
    let session = Session::new();
    session.ok(&["start", &case("s0_all")]);
    session
}

#[test]
fn the_real_bisection_finds_the_folder_that_its_makers_put_in() {
    let session = real_session();
    for round in REAL {
        session.ok(&["step", &case(round)]);
        let truth: Value =
            serde_json::from_str(&fs::read_to_string(format!("fixtures/case/a30_bisect_{round}/truth.json")).unwrap())
                .unwrap();
        let last = session.last();
        assert_eq!(last["seen"], if truth["truth"]["culprit_active"] == true { "bad" } else { "good" }, "{round}");
        let on = |value: &Value| {
            value.as_array().map(|list| list.iter().map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(on(&last["on"]), on(&truth["truth"]["enabled"]).or(Some(Vec::new())), "{round}");
    }
    // What its makers did not run is told by hand: all but the culprit.
    session.ok(&["good"]);
    // And the control again, so that it is not ComfyUI's own that comes and goes.
    session.ok(&["step", &case("s1_none")]);
    session.ok(&["good"]);
    let told = session.ok(&["good"]);
    assert!(told.contains("It is ComfyUI-Gloamwatch."), "{told}");
    assert_eq!(session.rounds().len(), 9, "⌈log2 6⌉ + 3 + 3");
    session.refused(&["step", &case("s1_none")], "finished");
}

#[test]
fn logs_of_rounds_that_nobody_asked_for_count_as_what_they_show() {
    let session = real_session();
    for round in ["s7_third", "s3_second_half", "s1_none", "s6_second", "s4_one"] {
        session.ok(&["step", "--as-is", &case(round)]);
    }
    let told = session.ok(&["status"]);
    assert!(told.contains("only ComfyUI-Gloamwatch on"), "{told}");
    session.refused(&["step", "--as-is", "fixtures/case/b01_healthy_25/console.log"], "as_is");
}

#[test]
fn the_first_command_is_of_the_log_and_the_prompts_are_enough_for_the_symptom() {
    let session = Session::new();
    let told = session.ok(&["start", &case("s0_all")]);
    assert!(told.contains("python main.py --disable-all-custom-nodes\n"), "{told}");
    assert!(told.contains("until 3 prompts are done") && told.contains("at most 9"), "{told}");
    session.refused(&["start", &case("s0_all")], "exists");
    session.ok(&["start", &case("s0_all"), "--force", "--keep", "comfyui-warplint"]);
    let told = session.ok(&["status"]);
    assert!(told.contains("--whitelist-custom-nodes ComfyUI-WarpLint\n"), "{told}");
}

#[test]
fn starts_that_lead_nowhere_are_refused() {
    let session = Session::new();
    session.refused(&["start", "fixtures/case/a01_healthy_25/console.log"], "no_symptom");
    session.refused(&["start", "fixtures/case/073/console.log"], "nodes_off");
    session.refused(&["start", &case("s0_all"), "--symptom", "oom"], "not_shown");
    session.refused(&["start", &case("s0_all"), "--symptom", "slow"], "symptom");
    session.refused(&["start", &case("s0_all"), "--keep", "ComfyUI-Warp"], "keep");
    session.refused(&["status"], "no_session");
    assert!(!session.state().exists());
}

/// The log of a round with its packs, prompts and further lines.
fn log(packs: &[&str], prompts: usize, lines: &str) -> String {
    let mut text = "Total VRAM 24106 MB, total RAM 24106 MB\npytorch version: 2.15.0+cu132\nSet vram state to: DISABLED\nDevice: cpu\nComfyUI version: 0.3.64\n".to_owned();
    if packs.is_empty() {
        text += "Skipping loading of custom nodes\n";
    } else {
        text += "\nImport times for custom nodes:\n";
        for pack in packs {
            text += &format!("   0.0 seconds: /opt/ComfyUI/custom_nodes/{pack}\n");
        }
    }
    text += "\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
    text += lines;
    for _ in 0..prompts {
        text += "got prompt\nRequested to load BaseModel\nloaded completely 9.5e+25 139.8 True\nPrompt executed in 1.00 seconds\n";
    }
    text
}

const LEAK: &str = "got prompt\nPotential memory leak detected with model BaseModel, doing a full garbage collect, for maximum performance avoid circular references in the model code.\nWARNING, memory leak with model BaseModel. Please make sure it is not being referenced from somewhere.\nPrompt executed in 1.00 seconds\n";

/// Judges one log as the control round.
fn control(text: &str) -> Value {
    let session = real_session();
    let log = session.file("round.log", text);
    session.ok(&["step", &log]);
    session.last()
}

#[test]
fn a_round_counts_only_when_it_was_what_was_asked_for() {
    assert_eq!(control(&log(&[], 3, ""))["seen"], "good");
    assert_eq!(control(&log(&[], 0, LEAK))["seen"], "bad", "a seen symptom needs no more prompts");
    assert_eq!(control(&log(&[], 2, ""))["seen"], "void", "too few prompts");
    assert_eq!(control(&log(&["ComfyUI-WarpLint"], 3, ""))["seen"], "void", "a pack was on");
    assert_eq!(control(&log(&["ComfyUI-New"], 3, ""))["seen"], "void", "a pack that nobody knows");
    assert_eq!(control(&log(&[], 3, "").replace("0.3.64", "0.3.65"))["seen"], "void", "another version");
    assert_eq!(
        control(&log(&[], 3, "").replace("state to: DISABLED", "state to: LOW_VRAM"))["seen"],
        "void",
        "another setting"
    );
    assert_eq!(
        control(&log(&[], 3, LEAK).replace("model BaseModel", "model Flux"))["seen"],
        "good",
        "another class is another matter"
    );
    assert_eq!(control("got prompt\nPrompt executed in 1.00 seconds\n")["seen"], "void", "no start in it");
    let failing = "got prompt\n!!! Exception during processing !!! boom\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 1, in f\nValueError: boom\nPrompt executed in 1.00 seconds\n";
    assert_eq!(control(&log(&[], 2, failing))["seen"], "void", "it failed for another reason");
}

#[test]
fn a_workflow_that_cannot_run_is_not_quiet_and_the_missing_pack_stays_on() {
    let refusals = [
        "invalid prompt: {'type': 'missing_node_type', 'message': \"Node 'WarpLint' not found. The custom node may not be installed.\", 'details': \"Node ID '#7'\", 'extra_info': {}}",
        "invalid prompt: {'type': 'invalid_prompt', 'message': 'Cannot execute because node WarpLint does not exist.', 'details': \"Node ID '#7'\", 'extra_info': {}}",
    ];
    for refusal in refusals {
        let session = real_session();
        let round = session.file("round.log", &log(&[], 0, &format!("got prompt\n{refusal}\n")));
        let told = session.ok(&["step", &round]);
        assert_eq!(session.last()["seen"], "cannot-run");
        assert_eq!(session.last()["keep"][0], "ComfyUI-WarpLint");
        assert!(told.contains("--whitelist-custom-nodes ComfyUI-WarpLint\n"), "{told}");
    }
    // A node whose pack cannot be guessed: halving finds it.
    let session = real_session();
    let refused = refusals[0].replace("WarpLint", "Mystery");
    let round = session.file("round.log", &log(&[], 0, &format!("got prompt\n{refused}\n")));
    let told = session.ok(&["step", &round]);
    assert!(told.contains("ComfyUI-Chattermark ComfyUI-FrameBarn ComfyUI-Gloamwatch\n"), "{told}");
}

#[test]
fn a_pack_that_breaks_without_another_is_a_dependency_and_no_quiet_round() {
    let session = real_session();
    session.ok(&["step", &case("s1_none")]);
    let broken = log(&["ComfyUI-Chattermark", "ComfyUI-FrameBarn", "ComfyUI-Gloamwatch"], 3, "").replace(
        "0.0 seconds: /opt/ComfyUI/custom_nodes/ComfyUI-FrameBarn",
        "0.0 seconds (IMPORT FAILED): /opt/ComfyUI/custom_nodes/ComfyUI-FrameBarn",
    );
    let round = session.file("round.log", &broken);
    session.ok(&["step", &round]);
    assert_eq!(
        (&session.last()["seen"], &session.last()["broken"][0]),
        (&Value::from("cannot-run"), &Value::from("ComfyUI-FrameBarn"))
    );
}

#[test]
fn rounds_are_taken_back_and_sessions_kept_apart() {
    let session = real_session();
    session.refused(&["undo"], "nothing_to_undo");
    session.ok(&["good"]);
    session.ok(&["bad"]);
    assert_eq!(session.rounds().len(), 2);
    session.ok(&["undo"]);
    assert_eq!(session.rounds().len(), 1);
    let held = fs::File::create(session.folder.path().join("state.lock")).unwrap();
    held.lock().unwrap();
    session.refused(&["good"], "locked");
    held.unlock().unwrap();
    session.ok(&["reset"]);
    assert!(!session.state().exists());

    let data = tempfile::tempdir().unwrap();
    let named =
        |arguments: &[&str]| triage().env("XDG_DATA_HOME", data.path()).arg("bisect").args(arguments).output().unwrap();
    if cfg!(target_os = "linux") {
        assert!(named(&["start", &case("s0_all"), "--name", "one"]).status.success());
        assert!(named(&["start", &case("s0_all"), "--name", "two"]).status.success());
        assert!(named(&["bad", "--name", "one"]).status.success());
        let two = String::from_utf8(named(&["status", "--name", "two"]).stdout).unwrap();
        assert!(two.contains("Round 1") && !two.contains("it happens with all of them off"), "{two}");
        assert!(data.path().join("comfy-triage/bisect/one.json").exists());
    }
}

#[test]
fn a_control_that_shows_it_ends_the_search() {
    let session = real_session();
    let told = session.ok(&["bad"]);
    assert!(told.contains("No node pack is to blame") && told.contains("comfy-triage checklist"), "{told}");
    session.refused(&["good"], "finished");
}

#[test]
fn older_versions_get_commands_for_renaming_and_nothing_is_renamed() {
    let session = Session::new();
    let old = fs::read_to_string(case("s0_all")).unwrap().replace("ComfyUI version: 0.3.64", "ComfyUI version: 0.3.40");
    let first = session.file("old.log", &old);
    session.ok(&["start", &first]);
    let told = session.ok(&["good"]);
    let wanted =
        "mv /opt/ComfyUI/custom_nodes/ComfyUI-Tilemonger /opt/ComfyUI/custom_nodes/ComfyUI-Tilemonger.disabled && mv ";
    assert!(told.contains(wanted) && !told.contains("whitelist-custom-nodes C"), "{told}");
    session.refused(&["run", "--", "true"], "run_rename");
}

/// The first round for a log that begins with `head` and shows its packs under `packs`.
fn first_round(head: &str, packs: &str) -> String {
    let session = Session::new();
    let first = log(&["A", "B"], 0, &LEAK.repeat(3)).replace("/opt/ComfyUI/custom_nodes/", packs);
    let first = session.file("first.log", &format!("{head}{first}"));
    session.ok(&["start", &first]);
    session.ok(&["good"]);
    session.ok(&["status"])
}

#[test]
fn the_command_fits_the_way_in_which_comfyui_was_started() {
    let flags = "--disable-all-custom-nodes --whitelist-custom-nodes A\n";
    let venv = first_round("$ python main.py --listen --lowvram 2>&1 | tee comfy.log\n", "/opt/ComfyUI/custom_nodes/");
    assert!(venv.contains(&format!("python main.py --listen --lowvram {flags}")), "{venv}");
    let again = first_round(
        "$ python main.py --whitelist-custom-nodes A B --disable-all-custom-nodes --listen\n",
        "/opt/ComfyUI/custom_nodes/",
    );
    assert!(again.contains(&format!("python main.py --listen {flags}")), "{again}");
    let portable = first_round(
        "C:\\AI\\ComfyUI_windows_portable>.\\python_embeded\\python.exe -s ComfyUI\\main.py --windows-standalone-build\n",
        "C:\\AI\\ComfyUI_windows_portable\\ComfyUI\\custom_nodes\\",
    );
    assert!(
        portable
            .contains(&format!(".\\python_embeded\\python.exe -s ComfyUI\\main.py --windows-standalone-build {flags}")),
        "{portable}"
    );
    let docker = first_round(
        "$ docker run --rm --gpus all --memory 24g -p 8188:8188 comfyui:local\n",
        "/opt/ComfyUI/custom_nodes/",
    );
    assert!(
        docker.contains(&format!("  {flags}")) && docker.contains("CLI_ARGS") && docker.contains("compose"),
        "{docker}"
    );
    let desktop = first_round(
        "** User directory: C:\\Users\\user\\Documents\\ComfyUI\\user\n** Python executable: C:\\Users\\user\\AppData\\Local\\Programs\\@comfyorgcomfyui-electron\\python.exe\n",
        "C:\\Users\\user\\Documents\\ComfyUI\\custom_nodes\\",
    );
    assert!(
        desktop.contains(&format!("  {flags}"))
            && desktop.contains("C:\\Users\\user\\Documents\\ComfyUI\\user\\default\\comfy.settings.json"),
        "{desktop}"
    );
}

#[test]
fn it_speaks_chinese() {
    let session = Session::new();
    let told = session.ok(&["start", &case("s0_all"), "--lang", "zh"]);
    assert!(told.contains("对照：不开启任何节点包") && told.contains("最多 9 轮"), "{told}");
}

/// The session of `docs/bisect.md` as it is printed now. `UPDATE_DOCS=1` writes it there.
#[cfg(target_os = "linux")]
#[test]
fn the_session_in_the_guide_is_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let logs = ["s0_all", "s1_none", "s2_first_half", "s4_one", "s6_second", "s7_third"];
    let mut calls = Vec::new();
    for (number, name) in logs.iter().enumerate() {
        let file = if number == 0 { "comfyui.log".to_owned() } else { format!("round{number}.log") };
        fs::copy(case(name), folder.path().join(&file)).unwrap();
        calls.push(vec![if number == 0 { "start" } else { "step" }.to_owned(), file]);
    }
    calls.extend(std::iter::repeat_n(vec!["good".to_owned()], 4));
    let mut told = "```console\n".to_owned();
    for call in calls {
        let output = triage()
            .current_dir(&folder)
            .env("XDG_DATA_HOME", folder.path())
            .arg("bisect")
            .args(&call)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        told += &format!("$ comfy-triage bisect {}\n{}\n", call.join(" "), String::from_utf8(output.stdout).unwrap());
    }
    let told = told.replace(folder.path().to_str().unwrap(), "~/.local/share").trim_end().to_owned() + "\n```\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/bisect.md");
    let guide = fs::read_to_string(&path).unwrap();
    let (before, rest) = guide.split_once("<!-- session: written by tests/it/bisect.rs -->\n").unwrap();
    let (now, after) = rest.split_once("<!-- /session -->").unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(
            &path,
            format!("{before}<!-- session: written by tests/it/bisect.rs -->\n{told}<!-- /session -->{after}"),
        )
        .unwrap();
    } else {
        assert_eq!(now, told, "run the test once with UPDATE_DOCS=1");
    }
}

#[cfg(unix)]
mod by_script {
    use super::*;

    /// A session that begins with a log of the fake ComfyUI, and the template that starts it.
    fn begun(session: &Session) -> (String, String) {
        let packs = ["Alpha", "Beta", "Gamma", "Guilty", "Omega"];
        let first = log(&packs, 0, &LEAK.repeat(3)).replace("BaseModel", "Flux").replace("2.15.0+cu132", "2.8.0+cu128");
        let first = session.file("first.log", &first);
        session.ok(&["start", &first, "--symptom", "leak"]);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bisect_fake");
        let folder = session.folder.path().display().to_string();
        let start = format!("sh '{}' '{folder}' {{flags}}", root.join("comfyui.sh").display());
        (start, root.join("workflow.sh").display().to_string())
    }

    #[test]
    fn a_script_of_yours_is_enough() {
        let session = Session::new();
        let (start, workflow) = begun(&session);
        let folder = session.folder.path().to_str().unwrap();
        let told = session.ok(&["run", "--start", &start, "--", "sh", &workflow, folder]);
        assert!(told.contains("It is Guilty."), "{told}");
        assert!(session.rounds().len() <= 9, "{told}");
        let rounds = fs::read_to_string(session.folder.path().join("rounds")).unwrap();
        assert!(rounds.starts_with("1 http://127.0.0.1:8188\n2 "), "{rounds}");
        for round in session.rounds() {
            let log = fs::read_to_string(round["log"].as_str().unwrap()).unwrap();
            assert!(log.ends_with("Stopped server\n"), "each was ended by an interrupt: {log}");
        }
    }

    #[test]
    fn a_script_that_fails_makes_a_round_void_and_three_of_them_an_end() {
        let session = Session::new();
        let (start, _) = begun(&session);
        let output = session.run(&["run", "--start", &start, "--", "false"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("bisect::run_script"));
        assert!(String::from_utf8_lossy(&output.stderr).contains("your script failed three times in a row"));
        assert_eq!(session.rounds().len(), 3);
        assert!(session.rounds().iter().all(|round| round["seen"] == "void"));
    }

    #[test]
    fn a_server_that_does_not_come_up_or_does_not_end_is_told() {
        let session = Session::new();
        begun(&session);
        session.refused(&["run", "--start", "false {flags}", "--", "true"], "run_ready");
        session.refused(&["run", "--start", "/no/such/program {flags}", "--", "true"], "run_spawn");
        session.refused(&["run", "--start", "python main.py", "--", "true"], "run_start");
        // It ignores the interrupt, is told of, and left alone; it ends by itself when the folder says so
        // or is gone.
        let deaf = session.file("deaf.sh", "trap '' INT TERM\necho 'To see the GUI go to: http://127.0.0.1:8188'\nwhile [ -d \"${1%/*}\" ] && [ ! -e \"$1\" ]; do sleep 0.05; done\n");
        let give_up = session.folder.path().join("give-up");
        let start = format!("sh '{deaf}' '{}' {{flags}}", give_up.display());
        session.refused(&["run", "--start", &start, "--end", "1", "--", "true"], "run_end");
        fs::write(give_up, "").unwrap();
    }
}
