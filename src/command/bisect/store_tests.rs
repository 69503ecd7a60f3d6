//! Sessions on the disk: one at a time, whole or not at all.

use std::collections::BTreeMap;

use super::*;
use crate::report::bisection::{Install, Launch};

fn state() -> State {
    let launch = Launch {
        id: "unknown".to_owned(),
        template: None,
        own_flags_unknown: false,
        settings: None,
        container: false,
        windows: false,
    };
    State {
        format: FORMAT,
        revision: 0,
        log: "comfyui.log".to_owned(),
        symptom: "leak".to_owned(),
        symptom_line: None,
        growth_mib: None,
        prompts: 3,
        steady: true,
        unsettled: false,
        runs: 1,
        keep: Vec::new(),
        install: Install { packs: Vec::new(), baseline: BTreeMap::new(), whitelist: true, launch },
        rounds: Vec::new(),
    }
}

fn store(folder: &tempfile::TempDir) -> Store {
    Store::of("default", Some(&folder.path().join("deep").join("a.json"))).unwrap()
}

#[test]
fn what_is_saved_is_what_is_loaded_and_nothing_is_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let mut saved = state();
    {
        let lock = store.lock().unwrap();
        store.save(&mut saved, &lock).unwrap();
        assert!(matches!(store.lock(), Err(BisectError::Locked)));
    }
    assert_eq!((saved.revision, store.load().unwrap()), (1, saved.clone()));
    let files: Vec<_> =
        fs::read_dir(folder.path().join("deep")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["a.json"]);
}

#[test]
fn a_session_that_was_changed_in_between_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let lock = store.lock().unwrap();
    let mut first = state();
    store.save(&mut first, &lock).unwrap();
    let mut other = store.load().unwrap();
    store.save(&mut other, &lock).unwrap();
    first.prompts = 99;
    assert!(matches!(store.save(&mut first, &lock), Err(BisectError::Changed { .. })));
    assert_eq!(store.load().unwrap().prompts, 3);
}

#[test]
fn the_lock_of_a_program_that_is_gone_keeps_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    drop(store.lock().unwrap());
    // Killed right after it made the file, or an older program that wrote its number into it.
    for left in ["", "4294967294\n"] {
        fs::write(store.beside("lock"), left).unwrap();
        assert!(store.lock().is_ok(), "{left:?}");
    }
}

#[test]
fn a_file_of_a_newer_program_and_a_broken_one_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let store = Store::of("default", Some(&path)).unwrap();
    assert!(matches!(store.load(), Err(BisectError::NoSession { .. })));
    fs::write(&path, "{\"format\": 9}").unwrap();
    assert!(matches!(store.load(), Err(BisectError::Newer { format: 9, .. })));
    fs::write(&path, "{\"format\": 1, ").unwrap();
    assert!(matches!(store.load(), Err(BisectError::Broken { .. })));
    assert!(matches!(Store::of("../x", None), Err(BisectError::Name { .. })));
}
