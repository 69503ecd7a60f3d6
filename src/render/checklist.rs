//! A checklist as text, Markdown and JSON: the advice first, the conditions, then the draft as it can be pasted.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Block, Item, Quote, push_items};
use super::html::{self, Head};
use super::json::pretty;
use super::label::Labels;
use super::layout::wrap;
use super::markdown::{self, escape, fence_of};
use super::palette::{Tone, paint};
use super::printer::tool;
use super::{View, blocks};
use crate::catalog::{PackInfo, Packs};
use crate::report::{
    CHECKLIST_SCHEMA_VERSION, Checklist, Condition, Decision, IssueDraft, Part, SeenIn, State, Step, Tool,
};

/// Lines shown of one condition.
const LINES: usize = 3;

/// What `--format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChecklistOutput<'c> {
    pub schema_version: u32,
    pub tool: Tool,
    pub packs: &'c [PackInfo],
    pub checklist: &'c Checklist,
}

/// The checklist as one indented JSON value.
pub fn checklist_json(checklist: &Checklist, packs: &Packs) -> io::Result<String> {
    pretty(&ChecklistOutput { schema_version: CHECKLIST_SCHEMA_VERSION, tool: tool(), packs: packs.infos(), checklist })
}

/// The checklist for a terminal; with the draft when something is to be posted, or `always`.
pub fn checklist_text(checklist: &Checklist, packs: &Packs, view: &View, always: bool) -> String {
    let labels = Labels::new(packs, checklist.language == "zh");
    let mut out = String::new();
    for line in wrap(&checklist.advice.headline, view.width.max(40)) {
        out.push_str(&format!("{}\n", paint(view.palette.headline, &line)));
    }
    let tone = tone(checklist.advice.decision);
    out.push_str(&format!("{}\n", paint(view.palette.tone(tone), checklist.advice.decision.id())));
    blocks(&mut out, &outline(checklist, &labels), view);
    if always || checklist.advice.decision != Decision::NoIssue {
        blocks(&mut out, &[Block::Section(draft_heading(checklist, &labels))], view);
        out.push('\n');
        out.push_str(&draft(&checklist.draft, &labels));
    } else {
        blocks(&mut out, &[Block::Figures(vec![labels.get("checklist-no-draft")])], view);
    }
    out
}

/// The checklist as a page, with the draft to be copied.
pub fn checklist_page(checklist: &Checklist, packs: &Packs, always: bool) -> String {
    let labels = Labels::new(packs, checklist.language == "zh");
    let advice = &checklist.advice;
    let mut told = outline(checklist, &labels);
    if always || advice.decision != Decision::NoIssue {
        told.push(Block::Section(draft_heading(checklist, &labels)));
        told.push(Block::Code(draft(&checklist.draft, &labels)));
    } else {
        told.push(Block::Figures(vec![labels.get("checklist-no-draft")]));
    }
    let head = Head { headline: &advice.headline, standing: advice.decision.id(), tone: tone(advice.decision) };
    html::page_of(&head, &[], &told, &labels)
}

fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Open => Tone::Fault,
        Decision::NotYet => Tone::Doubt,
        Decision::NoIssue => Tone::Fine,
    }
}

/// The checklist for pasting: the draft, with the advice above it to be taken out.
pub fn checklist_markdown(checklist: &Checklist, packs: &Packs, always: bool) -> String {
    let labels = Labels::new(packs, checklist.language == "zh");
    let advice = &checklist.advice;
    let mut out = format!(
        "## {}\n\n**{}** (`{}`)\n",
        escape(&labels.get("checklist-remove")),
        escape(&advice.headline),
        advice.decision.id()
    );
    out.push_str(&markdown::blocks(&outline(checklist, &labels)));
    if always || advice.decision != Decision::NoIssue {
        out.push_str("\n---\n\n");
        out.push_str(&draft(&checklist.draft, &labels));
    }
    out
}

fn draft_heading(checklist: &Checklist, labels: &Labels<'_>) -> String {
    let english = labels.zh() && checklist.draft.whom != "forum";
    labels.get(if english { "checklist-draft-english" } else { "checklist-draft" })
}

fn outline(checklist: &Checklist, labels: &Labels<'_>) -> Vec<Block> {
    let advice = &checklist.advice;
    let several = checklist.logs.len() > 1;
    let mut out = Vec::new();
    out.push(Block::line(labels.get("checklist-why"), &advice.reason));
    out.push(Block::Quotes(quotes(&advice.evidence, several)));
    let whom = labels.get(&format!("checklist-whom-{}", advice.whom));
    let place = advice.place.as_ref().map(|place| format!("{whom}: {place}")).unwrap_or(whom);
    out.push(Block::line(labels.get("checklist-where"), place));
    if several {
        let logs = checklist
            .logs
            .iter()
            .enumerate()
            .map(|(number, log)| Item::text(format!("{} {}: {}", letter(number), log.source, log.text)));
        out.push(Block::Items { label: labels.get("checklist-logs"), items: logs.collect(), numbered: false });
    }
    if let Some(launcher) = &checklist.launcher {
        let line = launcher.at.as_ref().map(|at| labels.bracket(&labels.line(&at.at))).unwrap_or_default();
        out.push(Block::line(labels.get("checklist-started"), format!("{}{line}", launcher.name)));
    }
    if advice.decision != Decision::NoIssue {
        out.extend(checklist.conditions.iter().map(|condition| told(condition, labels, several)));
        let outside = checklist
            .conditions
            .iter()
            .flat_map(|condition| &condition.items)
            .filter(|piece| piece.state == "not-in-a-log");
        let outside =
            outside.map(|piece| Item { text: piece.label.clone(), command: piece.supply.clone(), quotes: Vec::new() });
        push_items(&mut out, labels, "checklist-outside", outside.collect());
        let records = checklist.records.iter().map(|record| {
            Item::text(format!("{} {} ({}, {})", record.title, record.link, record.state, record.checked))
        });
        push_items(&mut out, labels, "checklist-records", records.collect());
    }
    let next: Vec<Item> = advice.next.iter().map(step).collect();
    if !next.is_empty() {
        out.push(Block::Items { label: labels.get("checklist-next"), items: next, numbered: true });
    }
    out.retain(|block| !matches!(block, Block::Quotes(quotes) if quotes.is_empty()));
    out
}

fn told(condition: &Condition, labels: &Labels<'_>, several: bool) -> Block {
    let mark = labels.get(match condition.state {
        State::Met => "checklist-met",
        State::NotMet => "checklist-not-met",
        State::CannotTell => "checklist-cannot-tell",
    });
    let item = Item {
        text: condition.reason.clone(),
        command: None,
        quotes: quotes(&condition.evidence, several).into_iter().take(LINES).collect(),
    };
    Block::Items { label: format!("{mark} {}:", condition.title), items: vec![item], numbered: false }
}

fn step(step: &Step) -> Item {
    Item { text: step.text.clone(), command: step.command.clone(), quotes: Vec::new() }
}

fn letter(number: usize) -> char {
    u32::try_from(number).ok().and_then(|number| char::from_u32(u32::from('A') + number.min(25))).unwrap_or('?')
}

fn quotes(evidence: &[SeenIn], several: bool) -> Vec<Quote> {
    let quote = |seen: &SeenIn| {
        let plain = Quote::of(&seen.line);
        let place = if several { format!("{} {}", letter(seen.run), plain.place) } else { plain.place };
        Quote { place, ..plain }
    };
    evidence.iter().map(quote).collect()
}

/// The draft in Markdown. Log text is fenced, everything else is escaped.
fn draft(draft: &IssueDraft, labels: &Labels<'_>) -> String {
    let mut out = format!("# {}\n", escape(&draft.title));
    for section in &draft.sections {
        out.push_str(&format!("\n### {}\n", escape(&section.heading)));
        for part in &section.parts {
            out.push('\n');
            write_part(&mut out, part, draft, labels);
        }
    }
    out
}

fn write_part(out: &mut String, part: &Part, draft: &IssueDraft, labels: &Labels<'_>) {
    match part {
        Part::Text { text } => out.push_str(&format!("{}\n", escape(text))),
        Part::Blank { text } => {
            // A blank must be seen by whoever posts, and be found by a search.
            let english = Labels::new(labels.packs(), labels.zh() && draft.whom == "forum");
            out.push_str(&format!("**{}**\n", escape(&english.plain("draft-blank", &[("what", text)]))));
        }
        Part::Check { done, text } => {
            out.push_str(&format!("- [{}] {}\n", if *done { "x" } else { " " }, escape(text)))
        }
        Part::List { items, numbered } => {
            for (index, item) in items.iter().enumerate() {
                let mark = if *numbered { format!("{}. ", index + 1) } else { "- ".to_owned() };
                out.push_str(&format!("{mark}{}\n", markdown::with_links(item)));
            }
        }
        Part::Code { text } => fenced(out, "text", text.lines().map(str::to_owned).collect()),
        Part::Log { lines } => {
            let english = Labels::new(labels.packs(), labels.zh() && draft.whom == "forum");
            let mut rows = Vec::new();
            for line in lines {
                if line.gap {
                    rows.push("…".to_owned());
                }
                rows.push(format!("{:>6} | {}", line.line, line.text));
                if line.repeats > 0 {
                    rows.push(format!(
                        "       | … {}",
                        english.with("checklist-more-lines", &[("n", &line.repeats.to_string())])
                    ));
                }
            }
            fenced(out, "powershell", rows);
        }
    }
}

fn fenced(out: &mut String, language: &str, rows: Vec<String>) {
    let ticks = fence_of(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    out.push_str(&format!("{ticks}{language}\n{}\n{ticks}\n", rows.join("\n")));
}
