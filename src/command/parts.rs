//! Parts of one log that were given together: a part that begins in mid-run where another stops is read on from there.
//!
//! Names say which files may belong together (`comfyui.log.1`, `run.part2.log`, `old`, `prev`); that they do is told by what
//! stands in them.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::Console;
use super::inputs::Input;
use crate::catalog::{EventKind, Packs};
use crate::diagnosis::Messages;
use crate::shown::Shown;

/// Bytes of all parts of a log; larger ones are read one by one.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Lines at a part's beginning in which no start may be told.
const HEAD: usize = 200;

/// A part that goes on where another stops.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Continues {
    first: String,
    second: String,
    /// The line of the whole at which the second begins.
    line: usize,
}

/// How a part's name places it among others of the same log.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let text = r"(?i)^(?P<stem>.+?)[._ -](?:part[._ -]?(?P<part>\d{1,3})|(?:prev|old|bak)(?P<old>\d{0,3})|(?P<number>\d{1,3}))(?P<end>\.log|\.txt)?$";
    Regex::new(text).expect("the pattern is a constant that every test compiles")
});

/// The inputs, with the parts of one log put together.
fn joined(inputs: Vec<Input>, packs: &Packs) -> (Vec<Input>, Vec<Continues>) {
    let mut groups: BTreeMap<(PathBuf, String), Vec<(i64, usize)>> = BTreeMap::new();
    for (index, input) in inputs.iter().enumerate() {
        if let Input::File(path) = input {
            let (stem, place) = placed(path);
            groups.entry((path.parent().unwrap_or(Path::new("")).to_owned(), stem)).or_default().push((place, index));
        }
    }
    let mut wholes: BTreeMap<usize, Input> = BTreeMap::new();
    let mut left_out = Vec::new();
    let mut told = Vec::new();
    for mut group in groups.into_values().filter(|group| group.len() > 1) {
        group.sort_unstable();
        let files: Vec<&Input> = group.iter().filter_map(|(_, index)| inputs.get(*index)).collect();
        let Some(texts) = texts(&files) else { continue };
        if !texts.windows(2).all(|pair| matches!(pair, [first, second] if goes_on(first, second, packs))) {
            continue;
        }
        let mut whole: Vec<u8> = Vec::new();
        for (at, (file, text)) in files.iter().zip(&texts).enumerate() {
            if let Some(before) = at.checked_sub(1).and_then(|before| files.get(before)) {
                let line = memchr::memchr_iter(b'\n', &whole).count() + usize::from(!whole.ends_with(b"\n")) + 1;
                told.push(Continues { first: before.name(), second: file.name(), line });
            }
            whole.extend_from_slice(text);
        }
        let name = files.iter().map(|file| file.name()).collect::<Vec<_>>().join(" + ");
        let first = group.iter().map(|(_, index)| *index).min().unwrap_or_default();
        left_out.extend(group.iter().map(|(_, index)| *index));
        wholes.insert(first, Input::Text { name, text: String::from_utf8_lossy(&whole).into_owned().into() });
    }
    let inputs = inputs.into_iter().enumerate().filter_map(|(index, input)| {
        let whole = wholes.remove(&index);
        if whole.is_some() || left_out.contains(&index) { whole } else { Some(input) }
    });
    (inputs.collect(), told)
}

/// The same, where the user is told what was put together.
pub(super) fn told(inputs: Vec<Input>, packs: &Packs, zh: bool, console: &mut Console<'_>) -> io::Result<Vec<Input>> {
    let (inputs, joints) = joined(inputs, packs);
    let messages = Messages { packs, zh };
    for Continues { first, second, line } in joints {
        let (first, second) = (Shown::of(&first).into_string(), Shown::of(&second).into_string());
        let values = [("first", first.as_str()), ("second", second.as_str()), ("line", &line.to_string())];
        writeln!(console.err, "{}", messages.text("part-continues", &values))?;
    }
    Ok(inputs)
}

/// The name without what places it, and its place: older parts come first.
fn placed(path: &Path) -> (String, i64) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let Some(found) = NAME.captures(&name) else { return (name, 0) };
    let number = |group: &str| found.name(group).map(|number| number.as_str().parse::<i64>().unwrap_or(1));
    let place = match (number("part"), number("old"), number("number")) {
        (Some(part), ..) => part,
        (_, Some(old), _) => -old,
        (_, _, number) => -number.unwrap_or(0),
    };
    (format!("{}{}", &found["stem"], found.name("end").map_or("", |end| end.as_str())), place)
}

/// All texts, unless they are too large or cannot be read: then each is read, or refused, by itself.
fn texts(files: &[&Input]) -> Option<Vec<Vec<u8>>> {
    let mut room = LARGEST;
    let read = |file: &&Input| {
        let Input::File(path) = file else { return None };
        let file = std::fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|data| data.is_file()))?;
        let mut text = Vec::new();
        file.take(room + 1).read_to_end(&mut text).ok()?;
        room = room.checked_sub(text.len() as u64)?;
        // A packed or wide text is no part that could be put behind another.
        (!text.is_empty() && memchr::memchr(0, &text).is_none() && std::str::from_utf8(&text).is_ok()).then_some(text)
    };
    files.iter().map(read).collect()
}

/// The second begins in mid-run where the first stops: it tells no start, its time is not before that of the first, and
/// stamps or a prompt in flight tell that it is the same run.
fn goes_on(first: &[u8], second: &[u8], packs: &Packs) -> bool {
    let starts = second
        .split(|byte| *byte == b'\n')
        .take(HEAD)
        .any(|line| packs.matcher().find(crate::input::stripped(line).text).is_some_and(|hit| hit.rule.mark.is_some()));
    let stamp = |line: &[u8]| crate::input::stripped(line).stamp.map(<[u8]>::to_vec);
    let last = first.rsplit(|byte| *byte == b'\n').take(HEAD).find_map(stamp);
    let next = second.split(|byte| *byte == b'\n').take(HEAD).find_map(stamp);
    let in_order = match (&last, &next) {
        (Some(last), Some(next)) => Some(last.len() == next.len() && last <= next),
        _ => None,
    };
    !starts && in_order.unwrap_or_else(|| is_in_flight(first, second, packs))
}

/// A prompt of the first ends in the second.
fn is_in_flight(first: &[u8], second: &[u8], packs: &Packs) -> bool {
    let prompt = |line: &[u8]| {
        let hit = packs.matcher().find(crate::input::stripped(line).text)?;
        matches!(hit.rule.event, EventKind::PromptGot | EventKind::PromptExecuted).then_some(hit.rule.event)
    };
    let last = first.rsplit(|byte| *byte == b'\n').find_map(prompt);
    let next = second.split(|byte| *byte == b'\n').find_map(prompt);
    (last, next) == (Some(EventKind::PromptGot), Some(EventKind::PromptExecuted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_place_parts() {
        for (name, stem, place) in [
            ("comfyui.log", "comfyui.log", 0),
            ("comfyui.log.2", "comfyui.log", -2),
            ("run.part2.log", "run.log", 2),
            ("run_part-10.log", "run.log", 10),
            ("comfyui.prev.log", "comfyui.log", -1),
            ("comfyui.prev2.log", "comfyui.log", -2),
            ("comfyui.log.old", "comfyui.log", -1),
            ("003.log", "003.log", 0),
        ] {
            assert_eq!(placed(Path::new(name)), (stem.to_owned(), place), "{name}");
        }
    }
}
