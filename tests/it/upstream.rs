//! `rules verify` on small made-up trees: what is there, what was reworded, what no rule knows.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use comfy_triage::catalog::{MessageDef, Packs, Since, Version};
use comfy_triage::source_check::{
    Expectation, LookupOutcome, Reason, Verified, help_flags, proposal, read_history, read_tree, verify, verify_flags,
};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/trees").join(name)
}

fn rules() -> Vec<MessageDef> {
    Packs::definitions(&[]).message
}

fn verified(name: &str) -> Verified {
    let tree = read_tree(&path(name), None).unwrap();
    verify(&tree, tree.version.unwrap(), &rules())
}

fn found(verified: &Verified) -> BTreeSet<&str> {
    let rows = verified.rows(Expectation::Expected).filter(|row| matches!(row.outcome, LookupOutcome::Found { .. }));
    rows.map(|row| row.id.as_str()).collect()
}

#[test]
fn the_version_is_read_from_either_file() {
    assert_eq!(read_tree(&path("old"), None).unwrap().version, Some(Version::new(0, 3, 64)));
    assert_eq!(read_tree(&path("new"), None).unwrap().version, Some(Version::new(0, 33, 0)));
    assert!(read_tree(&path("."), None).is_err());
}

#[test]
fn texts_are_found_in_every_way_of_writing_them() {
    let new = verified("new");
    for id in [
        "leak-potential",
        "leak-warning",
        "requested-to-load",
        "models-unloaded",
        "loaded-completely-3",
        "unloaded-partially",
        "got-prompt",
        "prompt-executed",
        "oom-unloading",
    ] {
        let row = new.rows.iter().find(|row| row.id == id);
        assert!(row.is_some_and(|row| row.outcome.is_found()), "{id}: {row:?}");
    }
    let at = |id: &str| match &new.rows.iter().find(|row| row.id == id).unwrap().outcome {
        LookupOutcome::Found { path, line } => (path.clone(), *line),
        other => panic!("{other:?}"),
    };
    assert_eq!(at("leak-warning"), ("comfy/model_management.py".to_owned(), 8));
    // The old wording is known to be of other versions, and is not in the new tree.
    let of_other = |verified: &Verified, id: &str| {
        verified
            .rows
            .iter()
            .any(|row| row.id == id && row.expectation == Expectation::OtherVersion && row.outcome.is_found())
    };
    assert!(!of_other(&new, "loaded-partially-2"));
    assert!(found(&verified("old")).contains("loaded-partially-2"));
}

#[test]
fn three_reworded_texts_are_named_and_no_other() {
    let (new, reworded) = (verified("new"), verified("reworded"));
    let (before, after) = (found(&new), found(&reworded));
    let gone: BTreeSet<&str> = before.difference(&after).copied().collect();
    let three = BTreeSet::from(["leak-warning", "models-unloaded", "unloaded-partially"]);
    assert_eq!(gone, three);
    let named: BTreeSet<&str> = reworded
        .rows
        .iter()
        .filter(|row| matches!(row.outcome, LookupOutcome::Missing { reason: Reason::Reworded { .. } }))
        .map(|row| row.id.as_str())
        .collect();
    assert_eq!(named, three);
}

#[test]
fn the_proposal_is_a_pack_that_takes_the_new_texts() {
    let reworded = verified("reworded");
    let text = proposal(&reworded, &rules(), Some(Version::new(0, 38, 1)));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pack.toml"), "id = \"proposed\"\nversion = \"0.1.0\"\nformat = 1\n").unwrap();
    std::fs::write(folder.path().join("messages.toml"), &text).unwrap();
    let (packs, problems) = Packs::with_folders(&[folder.path().to_owned()]);
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    let taker = |line: &str| packs.matcher().find(line.as_bytes()).map(|hit| hit.rule.id.to_string());
    assert_eq!(
        taker("WARNING, memory leak with model Flux: please make sure that nothing else holds on to it.").as_deref(),
        Some("leak-warning-0-99-0")
    );
    assert_eq!(taker("In all 3 models unloaded").as_deref(), Some("models-unloaded-0-99-0"));
    let partly =
        "Unloaded in part: 10.00 MB were freed, 20.00 MB remains loaded, 5.00 MB buffer reserved, lowvram patches: 0";
    assert_eq!(taker(partly).as_deref(), Some("unloaded-partially-0-99-0"));
    let checked = comfy_triage::catalog::lint::check(folder.path(), &Default::default());
    assert!(checked.findings.is_empty(), "{:#?}", checked.findings);
}

#[test]
fn texts_that_no_rule_knows_are_candidates() {
    let new = verified("new");
    let texts: Vec<&str> = new.candidates.iter().map(|candidate| candidate.text.as_str()).collect();
    assert_eq!(texts, ["Made up text of this tree: … models of …"]);
    assert_eq!(new.candidates[0].function, "load_models_gpu");
}

#[test]
fn flags_of_a_tree_and_of_a_saved_help() {
    let flags = Packs::definitions(&[]).flag;
    let tree = read_tree(&path("new"), None).unwrap();
    let version = Version::new(0, 33, 0);
    let of_tree = verify_flags(Some(&tree), None, version, &flags);
    assert_eq!((of_tree.there, of_tree.unknown.as_slice()), (4, &["--made-up-flag".to_owned()][..]));
    let text = std::fs::read_to_string(path("help-0.33.0.txt")).unwrap();
    assert_eq!(help_flags(&text).len(), 7);
    let of_help = verify_flags(None, Some(("help", &text)), version, &flags);
    assert_eq!(of_help.unknown, ["--made-up-flag"]);
    assert_eq!(of_help.found, 5);
    assert!(of_help.missing.contains(&"--reserve-vram".to_owned()));
}

fn git(folder: &Path, args: &[&str]) {
    let set = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").arg("-C").arg(folder).args(set).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_text_keeps_its_age_when_it_moves() {
    let folder = tempfile::tempdir().unwrap();
    let release = |version: &str, files: &[(&str, &str)]| {
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-q", "--allow-empty", "-m", version]);
    };
    git(folder.path(), &["init", "-q"]);
    release("old", &[("main.py", "print('got prompt')\n")]);
    release("0.0.1", &[]);
    git(folder.path(), &["tag", "v0.0.1"]);
    release(
        "0.3.1",
        &[
            ("main.py", "print('gone with this one')\n"),
            ("server.py", "logging.info('got prompt')\nlogging.info('loaded completely {} {}'.format(a, b))\n"),
            ("comfyui_version.py", "__version__ = '0.3.1'\n"),
        ],
    );
    // A tag that was a try: the sources name another version.
    git(folder.path(), &["tag", "v0.3.9999"]);
    release("0.3.2", &[("main.py", ""), ("comfyui_version.py", "__version__ = '0.3.2'\n")]);
    let history = read_history(&[folder.path()]).unwrap();
    let versions: Vec<String> = history.releases.iter().map(ToString::to_string).collect();
    assert_eq!(versions, ["0.0.1", "0.3.1", "0.3.2"]);
    let template = rules().into_iter().find(|rule| rule.id == "got-prompt").unwrap();
    let rule = |text: &str, since: Since, until: Option<&str>| MessageDef {
        text: text.to_owned(),
        since,
        until: until.map(str::to_owned),
        ..template.clone()
    };
    let at = |patch: u32| Since::At(Version::new(0, 3, patch));
    let rules = [
        rule("got prompt", Since::BeforeNumbers, None),
        rule("got prompt", at(1), Some("0.3.1")),
        rule("gone with this one", at(1), Some("0.3.1")),
        rule("loaded completely {first:number} {second:number}", at(1), None),
        rule("loaded completely {first:number}", at(1), None),
        rule("never said by anybody", at(1), None),
    ];
    let newest = Version::new(0, 3, 2);
    let told: Vec<_> = history
        .date(&rules)
        .iter()
        .map(|dated| (dated.is_found(), dated.since_differs(), dated.until_differs(newest)))
        .collect();
    let (right, absent) = ((true, false, false), (false, false, false));
    assert_eq!(told, [right, (true, true, true), right, right, right, absent]);
}

#[test]
fn a_revision_of_a_repository_is_read_like_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| git(folder.path(), args);
    git(&["init", "-q"]);
    copy(&path("new"), folder.path());
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "new"]);
    copy(&path("reworded"), folder.path());
    let at = |rev: Option<&str>| read_tree(folder.path(), rev).unwrap();
    assert_eq!(at(Some("HEAD")).version, Some(Version::new(0, 33, 0)));
    assert_eq!(at(None).version, Some(Version::new(0, 99, 0)));
    assert_eq!(at(Some("HEAD")).files, read_tree(&path("new"), None).unwrap().files);
    assert!(read_tree(folder.path(), Some("nowhere")).is_err());
    assert!(read_tree(folder.path(), Some("--output=x")).is_err());
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

#[test]
fn the_command_shows_tables_in_both_languages_and_json() {
    let run = |args: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("comfy-triage").unwrap();
        command.args(["rules", "verify", "--comfyui"]).arg(path("reworded")).args(args);
        command.env_remove("COMFY_TRIAGE_RULES").env("XDG_CONFIG_HOME", "/nonexistent");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&["--lang", "en"]);
    assert!(
        text.contains("ComfyUI 0.99.0")
            && text.contains("leak-warning-0-99-0")
            && text.contains("reworded, comfy/model_management.py:8"),
        "{text}"
    );
    assert!(run(&["--lang", "zh"]).contains("措辞已变"));
    let value: serde_json::Value = serde_json::from_str(&run(&["--json"])).unwrap();
    assert_eq!(value["messages"]["version"].as_str(), Some("0.99.0"));
    assert!(value["proposal"].as_str().is_some_and(|text| text.contains("[[message]]")));
}
