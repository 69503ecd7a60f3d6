//! The rule packs against their own examples: each rule knows the lines it was written for, and only those.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::string_slice)] // a test may fail loudly

use std::collections::{BTreeMap, BTreeSet};

use crate::rule::{id, key, none, prose, tables, text, texts};
use comfy_triage::catalog::lint::{AREAS, FACTS, STRUCTURES};
use comfy_triage::catalog::{EventKind, Packs};
use toml::Value;

const NODE_VERDICTS: &str = "node-fault node-fault-repaired open-report not-at-fault interaction";
/// Not a fact: the line may describe another machine state than the start, so it never overrides.
const WEAK: &str = "weak";
/// Flags of other programs that advice may name.
const FOREIGN_FLAGS: &str = "--memory --memory-swap --memory-limit --asked --env --samples --upgrade --index-url --no-cache-dir --shm-size --gpus --requirement --verbose --show";

fn list(words: &str) -> BTreeSet<&str> {
    words.split_whitespace().collect()
}

#[test]
fn no_rule_is_refused() {
    let (_, problems) = Packs::with_folders(&[]);
    none("rules refused", &problems.iter().map(ToString::to_string).collect::<Vec<_>>());
}

#[test]
fn ids_are_unique_and_plain() {
    let mut faults = Vec::new();
    for (table, items) in tables() {
        let mut seen = BTreeMap::new();
        for (file, item) in &items {
            let id = id(item);
            if let Some(other) = seen.insert(key(item), file.clone()) {
                faults.push(format!("{table} {}: in {} and {}", key(item), other.display(), file.display()));
            }
            let plain = id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            if item.get("id").is_some() && !plain {
                faults.push(format!("{table} {id}: not in kebab-case"));
            }
        }
    }
    none("ids", &faults);
}

#[test]
fn each_example_is_recognised_by_its_own_rule() {
    let (packs, _) = Packs::with_folders(&[]);
    let messages = &tables()["message"];
    let shadows: BTreeMap<&str, Vec<&str>> =
        messages.iter().map(|(_, item)| (id(item), texts(item, "shadows"))).collect();
    let mut faults = Vec::new();
    for (file, item) in messages {
        let own = id(item);
        if texts(item, "match").is_empty() {
            faults.push(format!("{} {own}: no example", file.display()));
        }
        for example in texts(item, "match") {
            let found = packs.matcher().find(example.trim_start().as_bytes()).map(|hit| &*hit.rule.id);
            let by_design = found.is_some_and(|other| shadows.get(other).is_some_and(|ids| ids.contains(&own)));
            if found != Some(own) && !by_design {
                faults.push(format!("{} {own}: {} for `{example}`", file.display(), found.unwrap_or("nothing")));
            }
        }
    }
    none("examples not matched by their rule", &faults);
}

#[test]
fn no_rule_takes_its_near_miss() {
    let (packs, _) = Packs::with_folders(&[]);
    let mut faults = Vec::new();
    for (file, item) in &tables()["message"] {
        let own = id(item);
        if texts(item, "silent").is_empty() {
            faults.push(format!("{} {own}: no near miss", file.display()));
        }
        for example in texts(item, "silent") {
            if packs.matcher().find(example.trim_start().as_bytes()).is_some_and(|hit| *hit.rule.id == *own) {
                faults.push(format!("{} {own}: takes `{example}`", file.display()));
            }
        }
    }
    none("near misses taken", &faults);
}

#[test]
fn rules_say_what_the_program_can_read() {
    let (packs, _) = Packs::with_folders(&[]);
    let (areas, facts) = (BTreeSet::from(AREAS), BTreeSet::from(FACTS));
    let mut faults = Vec::new();
    for (file, item) in &tables()["message"] {
        let place = format!("{} {}", file.display(), id(item));
        if !areas.contains(text(item, "area")) {
            faults.push(format!("{place}: area {}", text(item, "area")));
        }
        for shadowed in texts(item, "shadows") {
            if !packs.matcher().rules().iter().any(|rule| *rule.id == *shadowed) {
                faults.push(format!("{place}: shadows {shadowed}, which is not there"));
            }
        }
        if item.get("source").is_none() {
            faults.push(format!("{place}: no source"));
        }
    }
    for rule in packs.matcher().rules().iter().filter(|rule| rule.event == EventKind::Fact) {
        for (name, _) in &rule.set {
            if !facts.contains(&**name) && **name != *WEAK {
                faults.push(format!("{}: sets {name}, which is no fact", rule.id));
            }
        }
    }
    none("rules", &faults);
}

#[test]
fn lines_of_a_start_give_facts_by_their_names() {
    let (packs, _) = Packs::with_folders(&[]);
    let facts = BTreeSet::from(FACTS);
    let mut faults = Vec::new();
    for (file, item) in tables()["message"].iter().filter(|(_, item)| text(item, "event") == "fact") {
        for example in texts(item, "match") {
            let Some(hit) = packs.matcher().find(example.trim_start().as_bytes()) else { continue };
            let strange = hit.captures.iter().map(|capture| capture.name).filter(|name| !facts.contains(name));
            faults.extend(strange.map(|name| format!("{} {}: {name}", file.display(), id(item))));
        }
    }
    faults.dedup();
    none("captures that are no fact", &faults);
}

#[test]
fn prose_is_in_both_languages() {
    let mut faults = Vec::new();
    for (table, items) in tables() {
        for (file, item) in &items {
            for prose in prose::all(item) {
                let place = format!("{} {table} {} {}", file.display(), id(item), prose.field);
                if prose.en.trim().is_empty() || prose.zh.trim().is_empty() {
                    faults.push(format!("{place}: a language is missing"));
                } else if prose.en.len() > 24 && prose.en == prose.zh && prose.en.contains(' ') {
                    faults.push(format!("{place}: not translated"));
                }
                if prose.en.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter)) {
                    faults.push(format!("{place}: Chinese in the English text"));
                }
            }
        }
    }
    none("texts", &faults);
}

#[test]
fn flags_named_in_advice_exist() {
    let tables = tables();
    let mut known: BTreeSet<String> = list(FOREIGN_FLAGS).into_iter().map(str::to_owned).collect();
    for (_, flag) in &tables["flag"] {
        known.insert(text(flag, "name").to_owned());
        known.extend(texts(flag, "aliases").into_iter().map(str::to_owned));
    }
    let mut faults = Vec::new();
    for table in ["remedy", "avoid", "mention", "bug", "node", "flag", "verdict"] {
        for (file, item) in tables.get(table).into_iter().flatten() {
            let mut named: Vec<&str> = Vec::new();
            for field in ["flags", "drops", "workaround_flags", "conflicts", "overridden_by", "implies"] {
                named.extend(texts(item, field));
            }
            if let Some(when) = item.get("when").filter(|when| when.is_table()) {
                named.extend(texts(when, "flags").into_iter().chain(texts(when, "not_flags")));
            }
            if table != "flag" {
                named.extend(prose::all(item).iter().flat_map(|prose| prose::flags(prose.en)));
            }
            for flag in named.into_iter().filter_map(|named| named.split([' ', '=']).next()) {
                if flag.starts_with("--") && !known.contains(flag) {
                    faults.push(format!("{} {table} {}: {flag}", file.display(), id(item)));
                }
            }
        }
    }
    none("flags that do not exist", &faults);
}

#[test]
fn bugs_and_nodes_keep_to_the_closed_lists() {
    let tables = tables();
    let (structures, verdicts) = (BTreeSet::from(STRUCTURES), list(NODE_VERDICTS));
    let mut faults = Vec::new();
    for (file, bug) in &tables["bug"] {
        let unknown = texts(bug, "structure").into_iter().filter(|name| !structures.contains(name));
        faults.extend(unknown.map(|name| format!("{} {}: structure {name}", file.display(), id(bug))));
        if texts(bug, "links").iter().any(|link| !link.starts_with("https://")) {
            faults.push(format!("{} {}: a link is no address", file.display(), id(bug)));
        }
        if bug.get("decides").and_then(Value::as_bool) == Some(true)
            && texts(bug, "signature").is_empty()
            && texts(bug, "signature_all").is_empty()
        {
            faults.push(format!("{} {}: decides without a signature", file.display(), id(bug)));
        }
    }
    for (file, node) in &tables["node"] {
        if !verdicts.contains(text(node, "verdict")) {
            faults.push(format!("{} {}: verdict {}", file.display(), id(node), text(node, "verdict")));
        }
    }
    none("bugs and nodes", &faults);
}

#[test]
fn the_program_carries_exactly_what_is_in_the_folder() {
    let packs = Packs::built_in();
    let tables = tables();
    let ids = |table: &str| -> Vec<String> {
        let mut ids: Vec<_> = tables.get(table).into_iter().flatten().map(|(_, item)| id(item).to_owned()).collect();
        ids.sort();
        ids
    };
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    assert_eq!(sorted(packs.matcher().rules().iter().map(|rule| rule.id.to_string()).collect()), ids("message"));
    assert_eq!(sorted(packs.bugs.iter().map(|bug| bug.id.clone()).collect()), ids("bug"));
    assert_eq!(sorted(packs.nodes.iter().map(|node| node.id.clone()).collect()), ids("node"));
    assert_eq!(sorted(packs.flags.iter().map(|flag| flag.name.clone()).collect()), ids("flag"));
    assert_eq!(sorted(packs.defaults.iter().map(|default| default.id.clone()).collect()), ids("default"));
    assert_eq!(sorted(packs.verdicts.iter().map(|verdict| verdict.id.to_string()).collect()), ids("verdict"));
    assert_eq!(sorted(packs.remedies.iter().map(|remedy| remedy.id.clone()).collect()), ids("remedy"));
    assert_eq!(sorted(packs.avoids.iter().map(|avoid| avoid.id.clone()).collect()), ids("avoid"));
    assert_eq!(sorted(packs.mentions.iter().map(|mention| mention.id.clone()).collect()), ids("mention"));
    assert_eq!(packs.precedence.len(), ids("precedence").len());
    assert_eq!(packs.releases.len(), ids("release").len());
    assert_eq!(packs.aimdo.len(), ids("aimdo").len());
    assert_eq!(packs.classes.len(), ids("class").len());
    assert_eq!(packs.oom_phrases().len(), ids("oom_phrase").len());
    for (_, sentence) in tables.get("sentence").into_iter().flatten() {
        assert_eq!(packs.sentence(id(sentence), false), Some(text(sentence, "en")));
        assert_eq!(packs.sentence(id(sentence), true), Some(text(sentence, "zh")));
    }
    for (_, message) in &tables["message"] {
        assert_eq!(packs.prose_list("message", id(message), "match"), texts(message, "match"), "{}", id(message));
    }
}

#[test]
fn releases_stand_oldest_first() {
    let packs = Packs::built_in();
    let faults: Vec<_> = packs
        .releases
        .windows(2)
        .filter(|pair| pair[0].version >= pair[1].version)
        .map(|pair| format!("{} before {}", pair[0].version, pair[1].version))
        .collect();
    none("releases", &faults);
}
