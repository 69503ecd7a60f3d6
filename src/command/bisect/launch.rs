//! The command line of a round, for the way of starting that the first log showed, and the commands for folders
//! where the flag is missing. Commands are only written: nothing is ever renamed here.

use crate::catalog::{FlagRole, Packs, Version};
use crate::diagnosis::Messages;
use crate::render::Item;
use crate::report::bisection::Pack;
use crate::shell::{is_name, quoted};

use super::state::State;

const PLACE: &str = "{flags}";

/// Arguments that start ComfyUI with these packs on, one by one.
pub(super) fn arguments(state: &State, on: &[String], packs: &Packs) -> Vec<String> {
    if on.len() == state.install.packs.len() {
        return Vec::new();
    }
    let version = state.install.baseline.get("comfyui_version").and_then(|text| Version::parse(text));
    let flag = |role| {
        let own = version.and_then(|version| packs.flag_in(role, version));
        own.or_else(|| packs.flag_for(role)).map(|flag| flag.name.clone())
    };
    let mut arguments: Vec<String> = flag(FlagRole::NodesOff).into_iter().collect();
    if !on.is_empty() {
        arguments.extend(flag(FlagRole::NodesKept));
        arguments.extend(on.iter().cloned());
    }
    arguments
}

/// How to start ComfyUI with these packs on, as items of a report.
pub(super) fn items(state: &State, on: &[String], messages: &Messages<'_>) -> Vec<Item> {
    if !state.install.whitelist && !on.is_empty() {
        return vec![listed(messages.text("bisect-rename", &[]), &renames(state, on))];
    }
    let launch = &state.install.launch;
    let flags: Vec<String> =
        arguments(state, on, messages.packs).iter().map(|word| quoted(word, launch.windows)).collect();
    let flags = flags.join(" ");
    let mut items = Vec::new();
    match &launch.template {
        Some(template) => {
            let text = if launch.own_flags_unknown && !flags.is_empty() {
                messages.text("bisect-usual-flags", &[])
            } else {
                String::new()
            };
            items.push(Item { text, command: Some(filled(template, &flags)), quotes: Vec::new() });
        }
        None if flags.is_empty() => items.push(Item::text(messages.text("bisect-no-flags", &[]))),
        None => {
            let how = messages.packs.prose_text("launcher", &launch.id, "add", messages.zh).unwrap_or_default();
            let how = how.replace(PLACE, &messages.text("bisect-these-flags", &[]));
            items.push(Item { text: how, command: Some(flags), quotes: Vec::new() });
        }
    }
    if launch.container {
        items.push(Item::text(messages.text("bisect-add-docker", &[])));
    }
    if let Some(path) = &launch.settings {
        items.push(Item::text(messages.text("bisect-add-desktop", &[("path", path)])));
    }
    items
}

/// A text with commands beneath it, as one line that both kinds of shell take.
pub(super) fn listed(text: String, commands: &[String]) -> Item {
    let command = (!commands.is_empty()).then(|| commands.join(" && "));
    Item { text, command, quotes: Vec::new() }
}

/// Commands that bring all folders back to their names; none when none was renamed.
pub(super) fn renames_back(state: &State) -> Vec<String> {
    let all: Vec<String> = state.install.packs.iter().map(|pack| pack.dir.clone()).collect();
    if state.install.whitelist { Vec::new() } else { renames(state, &all) }
}

/// From the folders of the last round that needed renaming to these.
fn renames(state: &State, on: &[String]) -> Vec<String> {
    let before = state.rounds.iter().rev().find(|round| !round.on.is_empty());
    let was_on = |pack: &Pack| before.is_none_or(|round| round.asked().contains(&pack.dir));
    let windows = state.install.launch.windows;
    // What a shell would take for something else is not renamed by a command that may be pasted.
    let packs = state.install.packs.iter().filter(|pack| !pack.path.is_empty() && is_name(&pack.dir, windows));
    packs
        .filter_map(|pack| match (was_on(pack), on.contains(&pack.dir)) {
            (true, false) => Some(rename(&pack.path, true, windows)),
            (false, true) => Some(rename(&pack.path, false, windows)),
            _ => None,
        })
        .collect()
}

fn rename(path: &str, off: bool, windows: bool) -> String {
    let disabled = format!("{path}.disabled");
    let (from, to) = if off { (path, disabled.as_str()) } else { (disabled.as_str(), path) };
    if windows {
        let name = to.rsplit(['/', '\\']).next().unwrap_or(to);
        return format!("ren {} {}", quoted_always(from), quoted_always(name));
    }
    format!("mv {} {}", quoted(from, false), quoted(to, false))
}

fn quoted_always(text: &str) -> String {
    format!("\"{text}\"")
}

fn filled(template: &str, flags: &str) -> String {
    template.replace(PLACE, flags).trim_end().to_owned()
}

#[cfg(any(unix, test))]
/// The words of a template, for starting it without a shell: blanks part words, quotes hold them together.
pub(super) fn words_of(template: &str, arguments: &[String]) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in template.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => messages.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    messages.extend(word);
    let mut all = Vec::new();
    for word in messages {
        if word == PLACE { all.extend(arguments.iter().cloned()) } else { all.push(word) }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_becomes_words_without_a_shell() {
        let arguments = ["--a".to_owned(), "b c".to_owned()];
        assert_eq!(
            words_of("'my python' main.py  {flags} --x \"\"", &arguments),
            ["my python", "main.py", "--a", "b c", "--x", ""]
        );
    }

    #[test]
    fn folders_are_renamed_by_the_shell_they_are_for() {
        assert_eq!(
            rename("/opt/custom_nodes/A b", true, false),
            "mv '/opt/custom_nodes/A b' '/opt/custom_nodes/A b.disabled'"
        );
        assert_eq!(rename("C:\\c\\A", false, true), "ren \"C:\\c\\A.disabled\" \"A\"");
    }
}
