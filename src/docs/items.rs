//! Pages of known bugs, node packs and flags.

use std::fmt::Write as _;

use super::areas::span;
use super::{code, plain};
use crate::catalog::{BugDef, Packs, Since};

pub(super) fn bugs(packs: &Packs) -> String {
    let mut out = String::from("# Known bugs\n");
    let mut bugs: Vec<&BugDef> = packs.bugs.iter().collect();
    bugs.sort_by(|a, b| a.id.cmp(&b.id));
    for bug in bugs {
        let text = |field: &str| packs.prose_text("bug", &bug.id, field, false).unwrap_or_default();
        let _ = write!(out, "\n## {}\n\n{}\n\n", bug.id, plain(text("title")));
        let since = bug.since.map_or(Since::Unknown, Since::At);
        let until = bug.until.map(|until| until.to_string());
        row(&mut out, "Versions", &span(since, until.as_deref()));
        row(&mut out, "Repaired in", &bug.fixed_in.map(|version| version.to_string()).unwrap_or_default());
        row(&mut out, "Found by", &bug.signature.iter().map(|text| code(text)).collect::<Vec<_>>().join(", "));
        for (name, field) in
            [("What helps meanwhile", "workaround"), ("Said", "said"), ("The log cannot show", "needs")]
        {
            row(&mut out, name, &plain(text(field)));
        }
        row(
            &mut out,
            "State",
            &[bug.state.as_str(), bug.checked.as_str()].join(" ").trim().replace(' ', ", looked at "),
        );
        links(&mut out, packs, "bug", &bug.id);
    }
    out
}

pub(super) fn nodes(packs: &Packs) -> String {
    let mut out = String::from("# Node packs with known faults, and those that are not at fault\n");
    let mut nodes: Vec<_> = packs.nodes.iter().collect();
    nodes.sort_by(|a, b| a.id.cmp(&b.id));
    for node in nodes {
        let _ = write!(out, "\n## {}\n\n", plain(&node.name));
        row(&mut out, "Folders", &node.dirs.iter().map(|dir| code(dir)).collect::<Vec<_>>().join(", "));
        row(
            &mut out,
            "Verdict",
            &format!(
                "{}{}",
                plain(&node.fault),
                if node.fault.is_empty() { node.verdict.clone() } else { format!(" ({})", node.verdict) }
            ),
        );
        row(&mut out, "Affected", &plain(&node.affected));
        row(&mut out, "Repaired in", &plain(&node.fixed_in));
        row(&mut out, "Advice", &plain(packs.prose_text("node", &node.id, "advice", false).unwrap_or_default()));
        row(&mut out, "Looked at", &node.checked);
        links(&mut out, packs, "node", &node.id);
    }
    out
}

pub(super) fn flags(packs: &Packs) -> String {
    let mut out = String::from("# Flags of ComfyUI\n\n| flag | versions | on memory |\n|---|---|---|\n");
    let mut flags: Vec<_> = packs.flags.iter().collect();
    flags.sort_by(|a, b| a.name.cmp(&b.name));
    for flag in flags {
        let until = flag.until.map(|until| until.to_string());
        let effect = packs.prose_text("flag", &flag.name, "effect", false).unwrap_or_default();
        let _ = writeln!(out, "| {} | {} | {} |", code(&flag.name), span(flag.since, until.as_deref()), plain(effect));
    }
    out
}

fn row(out: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "- **{name}:** {text}");
    }
}

fn links(out: &mut String, packs: &Packs, table: &str, id: &str) {
    let own: Vec<&str> = packs.prose_list(table, id, "links");
    row(out, "Links", &own.iter().map(|link| format!("<{link}>")).collect::<Vec<_>>().join(" "));
}
