//! What differs between two runs: what may (it is what was tried), and what must not.

use super::Difference;
use super::run::Side;
use crate::catalog::{FlagRole, Packs, SignOf};
use crate::diagnosis::{Messages, same_dir};
use crate::timeline::Flag;

/// RAM and VRAM totals within this share are the same machine.
const SAME_SIZE: f64 = 0.01;

/// What steps act on that are taken against a leak.
const LEAK: &str = "leak";

/// Both kinds of differences.
pub(super) struct Differences {
    pub(super) obstacles: Vec<Difference>,
    /// Node packs, then flags, then the rest.
    pub(super) changed: Vec<Difference>,
}

impl Differences {
    pub(super) fn packs_removed(&self) -> Vec<&str> {
        self.changed
            .iter()
            .filter(|change| change.what == "node-pack" && change.kind == "removed")
            .filter_map(|change| change.a.as_deref())
            .collect()
    }

    /// What was added and is known to hide a leak: flags and packs that free memory, by the packs' list of steps that
    /// are no cure.
    pub(super) fn hiding(&self, packs: &Packs) -> Vec<&str> {
        let flags: Vec<&str> = packs
            .avoids
            .iter()
            .filter(|avoid| avoid.acts_on.iter().any(|part| part == LEAK))
            .flat_map(|avoid| &avoid.flags)
            .map(String::as_str)
            .collect();
        let hides = |change: &&Difference| {
            let name = change.b.as_deref().unwrap_or_default();
            let flag = name.split([' ', '=']).next().unwrap_or(name);
            change.kind == "added"
                && match change.what.as_str() {
                    "flag" => flags.contains(&flag),
                    "node-pack" => packs.shows(SignOf::HidingPack, &name.to_lowercase()),
                    _ => false,
                }
        };
        self.changed.iter().filter(hides).filter_map(|change| change.b.as_deref()).collect()
    }

    /// Nothing but the version of ComfyUI, and what comes with it, stands against the comparison.
    pub(super) fn only_updated(&self) -> bool {
        !self.obstacles.is_empty() && self.obstacles.iter().all(|obstacle| obstacle.what == "version")
    }

    pub(super) fn flag_changed(&self, role: FlagRole, packs: &Packs) -> bool {
        let named = |text: &Option<String>| {
            text.as_deref().is_some_and(|text| packs.plays(text.split(' ').next().unwrap_or(text), role))
        };
        self.changed.iter().any(|change| change.what == "flag" && (named(&change.a) || named(&change.b)))
    }
}

/// Holds the baselines against each other. What one log does not state is no difference, but is said.
pub(super) fn differences(a: &Side<'_>, b: &Side<'_>, messages: &Messages<'_>) -> Differences {
    let mut changed = packs(a, b, messages);
    let flags = flags(a, b, messages);
    let vram_flag = flags.iter().any(|flag| in_group(flag, "vram", messages));
    changed.extend(flags);
    let mut obstacles = Vec::new();
    let (version_a, version_b) = (a.version(), b.version());
    if let Some(text) = version_differs(a, b, messages) {
        obstacles.push(changed_text("version", text, version_a, version_b));
    }
    for (what, name) in [
        ("gpu", "device"),
        ("os", "os"),
        ("vram-state", "vram_state"),
        ("total-ram", "total_ram_mib"),
        ("total-vram", "total_vram_mib"),
    ] {
        let (Some(before), Some(after)) = (a.fact(name), b.fact(name)) else { continue };
        let same = match (a.session().number(name), b.session().number(name)) {
            (Some(before), Some(after)) => (before - after).abs() <= before.abs().max(after.abs()) * SAME_SIZE,
            _ => before.trim() == after.trim(),
        };
        if same {
            continue;
        }
        let difference = said(what, before, after, messages);
        // The state that a flag asks for is what was tried, and no obstacle.
        if what == "vram-state" && vram_flag { changed.push(difference) } else { obstacles.push(difference) }
    }
    if a.view.nodes_off() != b.view.nodes_off() && !changed.iter().any(|change| change.what == "node-pack") {
        let off =
            |side: &Side<'_>| messages.text(if side.view.nodes_off() { "compare-off" } else { "compare-on" }, &[]);
        changed.push(said("custom-nodes", off(a), off(b), messages));
    }
    for (what, name) in [
        ("pytorch", "pytorch_version"),
        ("python", "python_version"),
        ("attention", "attention"),
        ("cache-mode", "cache_mode"),
    ] {
        let (Some(before), Some(after)) = (a.fact(name), b.fact(name)) else { continue };
        let follows = what == "cache-mode" && changed.iter().any(|change| in_group(change, "cache", messages));
        if before != after && !follows {
            changed.push(said(what, before, after, messages));
        }
    }
    Differences { obstacles, changed }
}

fn said(what: &str, a: String, b: String, messages: &Messages<'_>) -> Difference {
    let name = messages.text(&format!("compare-what-{what}"), &[]);
    let text = messages.text("compare-changed", &[("what", &name), ("a", &a), ("b", &b)]);
    changed_text(what, text, a, b)
}

fn changed_text(what: &str, text: String, a: String, b: String) -> Difference {
    Difference { what: what.to_owned(), kind: "changed".to_owned(), text, a: Some(a), b: Some(b) }
}

/// Two versions, or two ranges that do not meet. One that is not told cannot be held against the other.
fn version_differs(a: &Side<'_>, b: &Side<'_>, messages: &Messages<'_>) -> Option<String> {
    let (one, two) = (&a.view.span, &b.view.span);
    let (shown_a, shown_b) = (a.version(), b.version());
    let values = [("a", shown_a.as_str()), ("b", shown_b.as_str())];
    if one.is_unknown() != two.is_unknown() {
        return Some(messages.text("compare-version-unknown", &values));
    }
    let apart = match (one.exact, two.exact) {
        (Some(one), Some(two)) => one != two,
        _ => {
            let ends_before = |end: Option<crate::catalog::Version>, start: Option<crate::catalog::Version>| {
                end.zip(start).is_some_and(|(end, start)| end <= start)
            };
            ends_before(one.before, two.from.or(two.exact)) || ends_before(two.before, one.from.or(one.exact))
        }
    };
    apart.then(|| messages.text("compare-version", &values))
}

fn packs(a: &Side<'_>, b: &Side<'_>, messages: &Messages<'_>) -> Vec<Difference> {
    // Without a table of imports nothing is known of packs.
    let known = |side: &Side<'_>| !side.session().nodes.is_empty() || side.view.nodes_off();
    if !known(a) || !known(b) {
        return Vec::new();
    }
    let dirs = |side: &Side<'_>| side.view.packs_loaded().map(|node| node.dir.clone()).collect::<Vec<_>>();
    let (before, after) = (dirs(a), dirs(b));
    let mut out = Vec::new();
    for dir in &before {
        match after.iter().find(|other| same_dir(dir, other)) {
            None => out.push(one("node-pack", "removed", dir, messages)),
            Some(other) if other != dir && (dir.contains('@') || other.contains('@')) => {
                let text = messages.text("compare-node-pack-updated", &[("a", dir), ("b", other)]);
                out.push(changed_text("node-pack", text, dir.clone(), other.clone()));
            }
            Some(_) => {}
        }
    }
    let new = after.iter().filter(|dir| !before.iter().any(|other| same_dir(dir, other)));
    out.extend(new.map(|dir| one("node-pack", "added", dir, messages)));
    out
}

fn one(what: &str, kind: &str, name: &str, messages: &Messages<'_>) -> Difference {
    let text = messages.text(&format!("compare-{what}-{kind}"), &[("name", name)]);
    let (a, b) = if kind == "removed" { (Some(name.to_owned()), None) } else { (None, Some(name.to_owned())) };
    Difference { what: what.to_owned(), kind: kind.to_owned(), text, a, b }
}

/// Flags of the command lines, when both logs show theirs.
fn flags(a: &Side<'_>, b: &Side<'_>, messages: &Messages<'_>) -> Vec<Difference> {
    let shown = |side: &Side<'_>| side.session().fact("launcher").is_some() || !side.session().flags.is_empty();
    if !shown(a) || !shown(b) {
        return Vec::new();
    }
    let told = Flag::written;
    // Where it listens and what it writes changes nothing that is compared.
    let counts = |flag: &&Flag| {
        messages.packs.flag(&flag.name).is_none_or(|def| {
            def.memory || def.roles.contains(&FlagRole::NodesOff) || def.roles.contains(&FlagRole::NodesKept)
        })
    };
    let mut out = Vec::new();
    for flag in a.session().flags.iter().filter(counts) {
        match b.session().flag(&flag.name) {
            None => out.push(one("flag", "removed", &told(flag), messages)),
            Some(other) if other.values != flag.values => out.push(said("flag", told(flag), told(other), messages)),
            Some(_) => {}
        }
    }
    for flag in b.session().flags.iter().filter(counts).filter(|flag| a.session().flag(&flag.name).is_none()) {
        out.push(one("flag", "added", &told(flag), messages));
    }
    out
}

fn in_group(change: &Difference, group: &str, messages: &Messages<'_>) -> bool {
    let name = change.b.as_deref().or(change.a.as_deref()).and_then(|text| text.split(' ').next());
    change.what == "flag" && name.and_then(|name| messages.packs.flag(name)).is_some_and(|def| def.group == group)
}
