//! Finds ComfyUI's newest log on this machine, by the places that the packs list.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use glob::{MatchOptions, Pattern};

use crate::catalog::{Packs, PlaceDef};
use crate::system::{Kind, System};

/// Folders above the working folder that are looked at.
const PARENTS: usize = 4;
/// Logs written within this time are equally new: an app writes several side by side.
const SAME_MOMENT: Duration = Duration::from_secs(2);

/// A log on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// When it was last written.
    pub written: SystemTime,
    pub bytes: u64,
    /// Id of the way of starting that keeps logs there; empty when the place is anybody's.
    pub launcher: String,
}

/// What the search came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Newest {
    None,
    One(Found),
    /// Equally new, so that only the user can say which is meant.
    Several(Vec<Found>),
}

/// All logs that can be found, newest first. With `folder`, only those in and below that folder.
pub fn logs(system: &System, packs: &Packs, folder: Option<&Path>) -> Vec<Found> {
    let at = |spare: bool| {
        let mut found = Vec::new();
        for place in packs.places.iter().filter(|place| place.spare == spare) {
            look(place, system, folder, &mut found);
        }
        newest_first(found)
    };
    let found = at(false);
    if found.is_empty() { at(true) } else { found }
}

/// The newest of `found`, which is sorted.
pub fn newest(found: &[Found]) -> Newest {
    let Some(first) = found.first() else { return Newest::None };
    let as_new = |other: &&Found| first.written.duration_since(other.written).is_ok_and(|apart| apart <= SAME_MOMENT);
    let equal: Vec<Found> = found.iter().take_while(as_new).cloned().collect();
    if equal.len() == 1 { Newest::One(first.clone()) } else { Newest::Several(equal) }
}

/// The log that was written before `log` in the same folder: ComfyUI moves it aside at each start.
pub fn before<'f>(found: &'f [Found], log: &Found) -> Option<&'f Found> {
    found.iter().find(|other| {
        other.path != log.path && other.path.parent() == log.path.parent() && other.written <= log.written
    })
}

fn look(place: &PlaceDef, system: &System, within: Option<&Path>, found: &mut Vec<Found>) {
    let fits = place.os.is_empty() || place.os.iter().any(|os| os == system.kind.name());
    // Other places of the machine are none of this folder's.
    let asked = within.is_none() || place.folder == "{here}";
    let Some(folder) = Some(place).filter(|_| fits && asked).and_then(|place| folder_of(place, system, within)) else {
        return;
    };
    let above = if place.parents && within.is_none() { PARENTS } else { 0 };
    for folder in folder.ancestors().take(above + 1) {
        for file in &place.files {
            let pattern = format!("{}/{file}", Pattern::escape(&folder.display().to_string()));
            let options = MatchOptions { case_sensitive: system.kind == Kind::Linux, ..MatchOptions::default() };
            let paths = glob::glob_with(&pattern, options).into_iter().flatten().filter_map(Result::ok);
            found.extend(paths.filter_map(|path| file_at(path, place)));
        }
    }
}

fn folder_of(place: &PlaceDef, system: &System, within: Option<&Path>) -> Option<PathBuf> {
    let Some((name, rest)) = place.folder.strip_prefix('{').and_then(|text| text.split_once('}')) else {
        return Some(PathBuf::from(&place.folder));
    };
    let folder = match (name, within) {
        ("here", Some(within)) => within,
        ("here", None) => &system.here,
        (name, _) => system.folders.get(name)?,
    };
    Some(folder.join(rest.trim_start_matches('/')))
}

fn file_at(path: PathBuf, place: &PlaceDef) -> Option<Found> {
    let about = std::fs::metadata(&path).ok().filter(|about| about.is_file() && about.len() > 0)?;
    Some(Found { path, written: about.modified().ok()?, bytes: about.len(), launcher: place.launcher.clone() })
}

fn newest_first(mut found: Vec<Found>) -> Vec<Found> {
    // The same file by two ways; the place that names its way of starting says more.
    found.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| b.launcher.cmp(&a.launcher)));
    found.dedup_by(|a, b| a.path == b.path || same_file(&a.path, &b.path));
    found.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.path.cmp(&b.path)));
    found
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
