use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Newest, before, logs, newest};
use crate::catalog::Packs;
use crate::system::{Kind, System};

/// A made-up home folder.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Puts a log there that was written so many seconds ago.
    fn log(&self, path: &str, seconds_ago: u64) -> PathBuf {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "got prompt\n").unwrap();
        let written = SystemTime::now() - Duration::from_secs(seconds_ago);
        File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        path
    }

    fn system(&self, kind: Kind, here: &str) -> System {
        let home = self.0.path();
        let here = home.join(here);
        fs::create_dir_all(&here).unwrap();
        let folder = |name: &str, path: PathBuf| (name.to_owned(), path);
        let folders = [
            folder("home", home.to_owned()),
            folder("documents", home.join("Documents")),
            folder("appdata", home.join("AppData/Roaming")),
            folder("config", home.join(".config")),
            folder("onedrive", home.join("OneDrive")),
        ];
        System { kind, here, folders: folders.into(), ..System::default() }
    }
}

fn found(system: &System, folder: Option<&Path>) -> Vec<PathBuf> {
    logs(system, &Packs::built_in(), folder).into_iter().map(|log| log.path).collect()
}

#[test]
fn the_log_of_each_way_of_starting_is_found_on_its_system() {
    for (kind, path) in [
        (Kind::Windows, "AppData/Roaming/ComfyUI/logs/comfyui.log"),
        (Kind::Windows, "AppData/Roaming/StabilityMatrix/Packages/ComfyUI/user/comfyui_8188.log"),
        (Kind::Windows, "Documents/ComfyUI/user/comfyui.log"),
        (Kind::Windows, "OneDrive/Documents/ComfyUI/user/comfyui.log"),
        (Kind::MacOs, "Library/Logs/ComfyUI/comfyui.log"),
        (Kind::Linux, ".config/ComfyUI/logs/comfyui.log"),
        (Kind::Linux, "pinokio/api/comfy.git/app/user/comfyui.log"),
        (Kind::Linux, "SwarmUI/dlbackend/ComfyUI/user/comfyui.log"),
    ] {
        let home = Home::new();
        let log = home.log(path, 60);
        assert_eq!(found(&home.system(kind, "elsewhere"), None), [log], "{path}");
    }
}

#[test]
fn another_systems_places_are_not_looked_at() {
    let home = Home::new();
    home.log("Library/Logs/ComfyUI/comfyui.log", 60);
    assert!(found(&home.system(Kind::Windows, "elsewhere"), None).is_empty());
}

#[test]
fn the_working_folder_and_those_above_it_count() {
    let home = Home::new();
    let log = home.log("portable/ComfyUI/user/comfyui.log", 60);
    assert_eq!(found(&home.system(Kind::Linux, "portable/ComfyUI/models/loras"), None), std::slice::from_ref(&log));
    assert_eq!(found(&home.system(Kind::Linux, "portable"), None), [log]);
}

#[test]
fn the_newest_is_first_and_equally_new_ones_are_not_guessed_between() {
    let home = Home::new();
    let old = home.log("a/user/comfyui.prev.log", 3600);
    let new = home.log("a/user/comfyui.log", 60);
    let system = home.system(Kind::Linux, "a");
    let logs = logs(&system, &Packs::built_in(), None);
    let Newest::One(first) = newest(&logs) else { panic!("{logs:?}") };
    assert_eq!(first.path, new);
    assert_eq!(before(&logs, &first).unwrap().path, old);
    home.log("a/comfyui.log", 60);
    assert!(
        matches!(newest(&super::logs(&system, &Packs::built_in(), None)), Newest::Several(both) if both.len() == 2)
    );
    assert_eq!(newest(&[]), Newest::None);
}

#[test]
fn a_named_folder_is_looked_at_alone() {
    let home = Home::new();
    home.log("ComfyUI/user/comfyui.log", 60);
    let saved = home.log("saved/console of monday.log", 7200);
    let system = home.system(Kind::Linux, "elsewhere");
    assert_eq!(found(&system, Some(&home.0.path().join("saved"))), [saved]);
    assert!(found(&system, Some(&home.0.path().join("elsewhere"))).is_empty());
}
