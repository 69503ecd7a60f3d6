//! `explain ID`: what the packs say of a verdict, a rule, a flag, a known bug or a node pack, in a paragraph.

use std::io;

use super::near::hint;
use super::{Console, Ended, Exit};
use crate::catalog::{BugDef, FlagDef, NodeDef, Packs, Rule, Since, Version};
use crate::cli::ExplainArgs;
use crate::error::UsageError;
use crate::render::{Block, Item, Labels, Palette, Quote, View, blocks};

/// Runs the command.
pub(super) fn run(args: &ExplainArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let packs = super::packs(&args.packs, console)?;
    let labels = Labels::new(&packs, super::chinese(&args.language, console));
    let told = match &args.id {
        Some(id) => Explainer { labels, id }.all(),
        None => ids(&labels),
    };
    if let Some(id) = args.id.as_ref().filter(|_| told.is_empty()) {
        return Ok(Err(unknown(id, &packs)));
    }
    let view = View { width: console.around.width(), palette: Palette::COLOUR, ..View::default() };
    let mut text = String::new();
    blocks(&mut text, &told, &view);
    console.out.write_all(text.trim_start_matches('\n').as_bytes())?;
    Ok(Ok(Exit::Done))
}

/// All that can be explained, by kind.
fn ids(labels: &Labels<'_>) -> Vec<Block> {
    let packs = labels.packs();
    let named = |id: &str| {
        vec![id.to_owned(), packs.prose_text("verdict", id, "name", labels.zh()).unwrap_or_default().to_owned()]
    };
    let verdicts = packs.verdicts.iter().map(|verdict| named(verdict.id.as_str())).collect();
    let mut out = vec![Block::Section(labels.get("kind-verdict")), Block::Table { head: Vec::new(), rows: verdicts }];
    let kinds: [(&str, Vec<String>); 3] = [
        ("kind-flag", packs.flags.iter().map(|flag| flag.name.clone()).collect()),
        ("kind-bug", packs.bugs.iter().map(|bug| bug.id.clone()).collect()),
        ("kind-node", packs.nodes.iter().map(|node| node.id.clone()).collect()),
    ];
    for (kind, ids) in kinds {
        out.push(Block::Section(labels.get(kind)));
        out.push(Block::line("", labels.list(&ids)));
    }
    let rules = packs.matcher().rules().len().to_string();
    out.push(Block::line(labels.get("explain-rules"), labels.with("explain-rules-how", &[("n", &rules)])));
    out
}

/// The error for an id that no pack has.
pub(super) fn unknown(id: &str, packs: &Packs) -> Box<UsageError> {
    let mut known: Vec<&str> = packs.verdicts.iter().map(|verdict| verdict.id.as_str()).collect();
    known.extend(packs.matcher().rules().iter().map(|rule| &*rule.id));
    known.extend(packs.flags.iter().map(|flag| flag.name.as_str()));
    known.extend(packs.bugs.iter().map(|bug| bug.id.as_str()));
    known.extend(packs.nodes.iter().map(|node| node.id.as_str()));
    known.extend(packs.remedies.iter().map(|remedy| remedy.id.as_str()));
    known.extend(packs.avoids.iter().map(|avoid| avoid.id.as_str()));
    let near =
        hint(id, &known, "`comfy-triage rules list` lists the rules; verdicts and known bugs are named in reports");
    Box::new(UsageError::UnknownId { given: id.to_owned(), near })
}

struct Explainer<'a> {
    labels: Labels<'a>,
    id: &'a str,
}

impl Explainer<'_> {
    /// Everything of this id; a verdict and a node pack may share one.
    fn all(&self) -> Vec<Block> {
        let packs = self.labels.packs();
        let mut out = Vec::new();
        if packs.verdicts.iter().any(|verdict| verdict.id == self.id) {
            self.verdict(&mut out);
        }
        for rule in packs.matcher().rules().iter().filter(|rule| *rule.id == *self.id) {
            self.message(rule, &mut out);
        }
        let bare = self.id.trim_start_matches('-');
        let is_flag = |name: &String| name.trim_start_matches('-') == bare;
        for flag in packs.flags.iter().filter(|flag| is_flag(&flag.name) || flag.aliases.iter().any(is_flag)) {
            self.flag(flag, &mut out);
        }
        for bug in packs.bugs.iter().filter(|bug| bug.id == self.id) {
            self.bug(bug, &mut out);
        }
        let is_node = |node: &&NodeDef| {
            node.id == self.id
                || node.name.eq_ignore_ascii_case(self.id)
                || node.dirs.iter().any(|dir| dir.eq_ignore_ascii_case(self.id))
        };
        for node in packs.nodes.iter().filter(is_node) {
            self.node(node, &mut out);
        }
        for table in ["remedy", "avoid"] {
            self.advice(table, &mut out);
        }
        out
    }

    fn verdict(&self, out: &mut Vec<Block>) {
        self.title("verdict", self.id, "name", out);
        for (label, field) in [
            ("field-means", "says"),
            ("field-supports", "supports"),
            ("field-contradicts", "contradicts"),
            ("field-to-do", "to_do"),
            ("field-not-to-do", "not_to_do"),
        ] {
            self.prose(label, "verdict", self.id, field, out);
        }
    }

    fn message(&self, rule: &Rule, out: &mut Vec<Block>) {
        self.title("message", self.id, "", out);
        self.prose("field-means", "message", self.id, "means", out);
        let lines = self.labels.packs().prose_list("message", self.id, "match");
        let quotes =
            lines.iter().take(1).map(|line| Quote { place: "…".to_owned(), text: (*line).to_owned(), remark: None });
        let item = Item { quotes: quotes.collect(), ..Item::default() };
        if !item.quotes.is_empty() {
            out.push(Block::Items { label: self.labels.get("field-line"), items: vec![item], numbered: false });
        }
        let event = serde_json::to_value(rule.event).unwrap_or_default();
        self.field("field-event", event.as_str().unwrap_or_default(), out);
        self.field("field-area", &rule.area, out);
        let until = if rule.until_before_numbers { Some(Version::new(0, 0, 0)) } else { rule.until };
        self.field("field-versions", &versions(&self.labels, rule.since, until), out);
        self.list("field-source", "message", self.id, "source", out);
    }

    fn flag(&self, flag: &FlagDef, out: &mut Vec<Block>) {
        self.title("flag", &flag.name, "", out);
        self.prose("field-effect", "flag", &flag.name, "effect", out);
        self.prose("field-default", "flag", &flag.name, "default", out);
        self.prose("field-note", "flag", &flag.name, "note", out);
        self.field("field-versions", &versions(&self.labels, flag.since, flag.until), out);
        self.words("field-turns-off", &flag.turns_off, out);
        self.words("field-conflicts", &flag.conflicts, out);
        self.list("field-source", "flag", &flag.name, "source", out);
    }

    fn bug(&self, bug: &BugDef, out: &mut Vec<Block>) {
        self.title("bug", &bug.id, "title", out);
        let since = bug.since.map_or(Since::Unknown, Since::At);
        self.field("field-versions", &versions(&self.labels, since, bug.until), out);
        self.field("field-repaired", &bug.fixed_in.map(|version| version.to_string()).unwrap_or_default(), out);
        self.words("field-signature", &bug.signature, out);
        for (label, field) in [("field-workaround", "workaround"), ("field-said", "said"), ("field-needs", "needs")] {
            self.prose(label, "bug", &bug.id, field, out);
        }
        self.seen(&bug.state, &bug.checked, out);
        self.list("field-links", "bug", &bug.id, "links", out);
    }

    fn node(&self, node: &NodeDef, out: &mut Vec<Block>) {
        self.title("node", &node.name, "", out);
        self.field("field-fault", &format!("{} ({})", node.fault, node.verdict), out);
        self.field("field-affected", &node.affected, out);
        self.field("field-repaired", &node.fixed_in, out);
        self.prose("field-advice", "node", &node.id, "advice", out);
        self.seen("", &node.checked, out);
        self.list("field-links", "node", &node.id, "links", out);
    }

    fn advice(&self, table: &str, out: &mut Vec<Block>) {
        let packs = self.labels.packs();
        let known = match table {
            "remedy" => packs.remedies.iter().any(|remedy| remedy.id == self.id),
            _ => packs.avoids.iter().any(|avoid| avoid.id == self.id),
        };
        if known {
            self.title(table, self.id, "", out);
            self.prose("field-means", table, self.id, "text", out);
            self.prose("field-cost", table, self.id, "cost", out);
            self.prose("field-why", table, self.id, "why", out);
        }
    }

    fn title(&self, table: &str, id: &str, name: &str, out: &mut Vec<Block>) {
        let kind = self.labels.get(&format!("kind-{table}"));
        let name = self.labels.packs().prose_text(table, id, name, self.labels.zh()).map(|name| format!(" · {name}"));
        out.push(Block::Section(format!("{id}{}{}", name.unwrap_or_default(), self.labels.bracket(&kind))));
    }

    fn field(&self, label: &str, text: &str, out: &mut Vec<Block>) {
        if !text.is_empty() {
            out.push(Block::line(self.labels.get(label), text));
        }
    }

    /// Paragraphs behind their label; what stands between lines of ``` is something to copy.
    fn prose(&self, label: &str, table: &str, id: &str, field: &str, out: &mut Vec<Block>) {
        let text = self.labels.packs().prose_text(table, id, field, self.labels.zh()).unwrap_or_default();
        let mut label = self.labels.get(label);
        for (number, part) in text.split("\n```").enumerate() {
            if number % 2 == 1 {
                let code = part.split_once('\n').map_or("", |(_, code)| code);
                out.push(Block::Code(code.to_owned()));
                continue;
            }
            for paragraph in part.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
                out.push(Block::line(std::mem::take(&mut label), paragraph));
            }
        }
    }

    fn words(&self, label: &str, words: &[String], out: &mut Vec<Block>) {
        self.field(label, &self.labels.list(words), out);
    }

    fn list(&self, label: &str, table: &str, id: &str, field: &str, out: &mut Vec<Block>) {
        let texts = self.labels.packs().prose_list(table, id, field);
        let items: Vec<Item> = texts.into_iter().filter(|text| !text.is_empty()).map(Item::text).collect();
        if !items.is_empty() {
            out.push(Block::Items { label: self.labels.get(label), items, numbered: false });
        }
    }

    fn seen(&self, state: &str, date: &str, out: &mut Vec<Block>) {
        let state = match state {
            "open" | "closed" | "unknown" => self.labels.get(&format!("state-{state}")),
            _ => String::new(),
        };
        let both = [state, date.to_owned()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
        self.field("field-state", &self.labels.list(&both), out);
    }
}

/// A range of versions in words.
fn versions(labels: &Labels<'_>, since: Since, until: Option<Version>) -> String {
    let until = until.map(|until| until.to_string());
    match (since, until) {
        (Since::At(since), Some(until)) => {
            labels.with("span-both", &[("since", &since.to_string()), ("until", &until)])
        }
        (Since::At(since), None) => labels.with("span-since", &[("since", &since.to_string())]),
        (_, Some(until)) => labels.with("span-until", &[("until", &until)]),
        (Since::BeforeNumbers, None) => labels.get("span-all"),
        (Since::Unknown, None) => labels.get("span-unknown"),
    }
}
