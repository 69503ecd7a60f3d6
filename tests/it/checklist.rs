//! Before an issue: whether it is one, whose it is, and what the draft holds.
#![allow(clippy::unwrap_used)] // a test may panic

use serde_json::Value;

fn checklist(arguments: &[&str]) -> Value {
    let done = crate::case::program().arg("checklist").args(arguments).args(["--format", "json"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let value: Value = serde_json::from_slice(&done.stdout).unwrap();
    value["checklist"].clone()
}

fn states(checklist: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    checklist["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|condition| (text(&condition["id"]), text(&condition["state"])))
        .collect()
}

fn lines(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|line| line["at"]["line"].as_u64().unwrap()).collect()
}

/// How the condition of this name stands, by its place in the list.
fn condition<'c>(checklist: &'c Value, id: &str) -> &'c Value {
    checklist["conditions"].as_array().unwrap().iter().find(|condition| condition["id"] == id).unwrap()
}

fn advice(checklist: &Value) -> (&str, &str) {
    (checklist["advice"]["decision"].as_str().unwrap(), checklist["advice"]["whom"].as_str().unwrap())
}

fn roles(checklist: &Value) -> Vec<&str> {
    checklist["logs"].as_array().unwrap().iter().map(|log| log["role"].as_str().unwrap()).collect()
}

const CORE: &str = "fixtures/checklist/core-leak.log";
const PACKS: &str = "fixtures/checklist/thirty-packs.log";
const ALL: &str = "fixtures/case/a30_bisect_s0_all/console.log";
const NONE: &str = "fixtures/case/a30_bisect_s1_none/console.log";

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn a_core_leak_without_custom_nodes_is_opened() {
    let told = checklist(&[CORE]);
    assert_eq!(advice(&told), ("open", "core"));
    let wanted = [("newest", "met"), ("clean-start", "met"), ("repeats", "met"), ("complete", "met")];
    assert_eq!(states(&told), owned(&wanted));
    assert_eq!(lines(&condition(&told, "clean-start")["evidence"]), [14, 60]);
    assert_eq!(lines(&told["advice"]["evidence"]), [24, 60, 14]);
    let headings: Vec<&str> = told["draft"]["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| section["heading"].as_str().unwrap())
        .collect();
    assert_eq!(
        headings,
        ["Custom Node Testing", "Expected Behavior", "Actual Behavior", "Steps to Reproduce", "Debug Logs", "Other"]
    );
    assert_eq!(told["draft"]["sections"][0]["parts"][0]["done"], true);
    let text = told.to_string();
    for private in ["alice", "deepthought", "192.168.7.20"] {
        assert!(!text.contains(private), "{private}");
    }
    assert!(text.contains(
        "WARNING, memory leak with model Lumina2. Please make sure it is not being referenced from somewhere."
    ));
}

#[test]
fn a_leak_with_thirty_packs_is_bisected_first() {
    let told = checklist(&[PACKS]);
    assert_eq!(advice(&told), ("not-yet", "unknown"));
    assert_eq!(
        states(&told),
        owned(&[("newest", "not-met"), ("clean-start", "cannot-tell"), ("repeats", "met"), ("complete", "met")])
    );
    assert_eq!(lines(&told["advice"]["evidence"]), [54, 90]);
    assert_eq!(told["launcher"]["id"], "windows-portable");
    let headline = told["advice"]["headline"].as_str().unwrap();
    assert!(headline.contains("30 node packs") && headline.contains("rounds: about 5"), "{headline}");
    let next = &told["advice"]["next"];
    assert_eq!(
        next[1]["command"],
        r".\python_embeded\python.exe -s ComfyUI\main.py --windows-standalone-build --disable-all-custom-nodes"
    );
    assert!(next[2]["command"].as_str().unwrap().starts_with("comfy-triage bisect start"));
}

#[test]
fn caching_by_design_is_no_issue() {
    let told = checklist(&["fixtures/case/100/console.log", "--asked", "vram-high"]);
    assert_eq!(advice(&told), ("no-issue", "nobody"));
    assert_eq!(lines(&told["advice"]["evidence"]), [10]);
    assert!(told["advice"]["reason"].as_str().unwrap().contains("on purpose"));
}

#[test]
fn a_clean_run_decides_and_its_role_is_seen_in_any_order() {
    for (logs, want) in [([ALL, NONE], ["main", "clean"]), ([NONE, ALL], ["clean", "main"])] {
        let told = checklist(&logs);
        assert_eq!(roles(&told), want);
        assert_eq!(advice(&told), ("not-yet", "node"));
        assert_eq!(condition(&told, "clean-start")["state"], "not-met");
        assert_eq!(lines(&condition(&told, "clean-start")["evidence"]), [11, 99]);
    }
}

#[test]
fn a_clean_run_of_another_version_does_not_count() {
    let told = checklist(&[PACKS, NONE]);
    assert_eq!(roles(&told), ["main", "clean-other-version"]);
    assert_eq!(condition(&told, "clean-start")["state"], "cannot-tell");
    assert!(condition(&told, "clean-start")["reason"].as_str().unwrap().contains("0.3.64"));
}

#[test]
fn a_second_run_of_the_same_version_repeats_it() {
    let told = checklist(&[ALL, "fixtures/case/a30_bisect_s2_first_half/console.log", NONE]);
    assert_eq!(roles(&told), ["main", "repeat", "clean"]);
    assert_eq!(condition(&told, "repeats")["state"], "met");
}

#[test]
fn what_is_missing_is_named_with_what_supplies_it() {
    let told = checklist(&["fixtures/case/006/console.log"]);
    let complete = condition(&told, "complete");
    assert_eq!(complete["state"], "not-met");
    let missing: Vec<&str> = complete["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["state"] == "missing")
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert!(missing.contains(&"version") && missing.contains(&"command-line"), "{missing:?}");
    for item in complete["items"].as_array().unwrap().iter().filter(|item| item["state"] != "present") {
        assert!(item["supply"].is_string(), "{item}");
    }
}

#[test]
fn memory_that_was_too_small_is_nobodys_issue() {
    assert_eq!(advice(&checklist(&["fixtures/case/044/console.log"])), ("no-issue", "nobody"));
}

#[test]
fn every_case_has_an_answer_and_a_draft_for_each_reader() {
    for case in crate::case::all() {
        for whom in ["core", "node", "forum"] {
            let done = crate::case::program()
                .args(["checklist", &case.log(), "--for", whom, "--format", "markdown", "--lang", "zh"])
                .output()
                .unwrap();
            assert_eq!(done.status.code(), Some(0), "{}: {}", case.name, String::from_utf8_lossy(&done.stderr));
            let text = String::from_utf8(done.stdout).unwrap();
            for id in ["checklist-", "draft-", "label-"] {
                assert!(
                    !text.contains(&format!("**{id}")) && !text.contains(&format!(" {id}")),
                    "{}: a text is missing: {text}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn ways_of_starting_are_told_apart() {
    for (name, want) in [
        ("012", "desktop"),
        ("013", "windows-portable"),
        ("091", "windows-portable"),
        ("115", "swarmui"),
        ("041", "windows-venv"),
        ("062", "linux-venv"),
        ("a02_strong_leak_25", "linux-venv"),
    ] {
        let told = checklist(&[&format!("fixtures/case/{name}/console.log")]);
        assert_eq!(told["launcher"]["id"], want, "{name}");
    }
}

#[test]
fn a_container_and_a_service_get_their_own_words() {
    let log =
        std::fs::read_to_string(crate::case::root().join("fixtures/case/a02_strong_leak_25/console.log")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docker.log");
    std::fs::write(&path, format!("$ docker run --rm --gpus all -p 8188:8188 comfyui:local\n{log}")).unwrap();
    let told = checklist(&[path.to_str().unwrap()]);
    assert_eq!(told["launcher"]["id"], "docker");
    let step = &told["advice"]["next"][1];
    assert!(step["command"].is_null() && step["text"].as_str().unwrap().contains("CLI_ARGS"), "{step}");
}
