//! Lints of names: flags that advice tells to use exist, and ids of an older state of the pack are still there.

use std::collections::BTreeSet;
use std::path::Path;

use super::lists::FOREIGN_FLAGS;
use super::{Finding, Lint, ids_of, texts};
use crate::catalog::FlagRole;
use crate::catalog::folder::read_folder;

const FIELDS: [&str; 6] = ["flags", "drops", "workaround_flags", "conflicts", "overridden_by", "implies"];
const CONDITIONS: [&str; 2] = ["flags", "not_flags"];

pub(super) fn check(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    let known = lint.known();
    let flags = known.get("flag").cloned().unwrap_or_default();
    for (source, item) in lint.items() {
        if !matches!(item.table.as_str(), "remedy" | "avoid" | "mention" | "bug" | "node" | "flag") {
            continue;
        }
        let mut named: Vec<(String, &str)> = FIELDS.iter().flat_map(|field| texts(item, field)).collect();
        let when = item.fields.get("when").and_then(serde_json::Value::as_object);
        for field in CONDITIONS {
            let list = when.and_then(|when| when.get(field)?.as_array()).into_iter().flatten();
            named
                .extend(list.enumerate().filter_map(|(at, flag)| Some((format!("when.{field}.{at}"), flag.as_str()?))));
        }
        for (field, given) in named {
            let flag = given.split([' ', '=']).next().unwrap_or_default();
            if flag.starts_with("--") && !flags.iter().any(|name| name == flag) && !FOREIGN_FLAGS.contains(&flag) {
                let message = format!("no version of ComfyUI known here has `{flag}`");
                findings.push(
                    Finding::at("reference", source, item, &field, message)
                        .help("add a [[flag]] for it, or correct the name"),
                );
            }
        }
    }
}

/// Purposes for which no flag is left: what the program would suggest or look for is then gone without a sound.
pub(super) fn roles(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    for role in FlagRole::ALL.into_iter().filter(|role| lint.packs.flag_for(*role).is_none()) {
        let message = format!("no flag has the role `{}`", role.name());
        findings.push(
            Finding::in_file("role", &lint.source.head_text, None, message)
                .help("write it under `roles` of the flag that does this now"),
        );
    }
}

/// Ids are how reports, settings and other packs name an item; one that is gone breaks them.
pub(super) fn ids_kept(lint: &Lint<'_>, older: &Path, findings: &mut Vec<Finding>) {
    let older = match read_folder(older) {
        Ok(older) => older,
        Err(error) => {
            findings.push(Finding::of_error(&error));
            return;
        }
    };
    let now = lint.known();
    for file in &older.files {
        for (table, ids) in ids_of(&file.file) {
            let known: BTreeSet<&String> = now.get(table).into_iter().flatten().collect();
            let gone = ids.into_iter().filter(|id| !known.contains(id));
            for id in gone {
                let message = format!("[[{table}]] `{id}` is gone");
                let help = "ids are stable: keep the item, with `until` when its text is no longer printed";
                let mut finding = Finding::in_file("id-gone", &lint.source.head_text, None, message).help(help);
                finding.table = table.to_owned();
                finding.id = id;
                findings.push(finding);
            }
        }
    }
}
