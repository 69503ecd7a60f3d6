//! A comparison as text, Markdown and JSON: the outcome first, then what was changed, then the figures.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Block, Item, Quote};
use super::html::{self, Head};
use super::json::pretty;
use super::label::Labels;
use super::layout::wrap;
use super::markdown;
use super::palette::{Tone, paint};
use super::printer::tool;
use super::{View, blocks};
use crate::catalog::{PackInfo, Packs};
use crate::report::{
    COMPARISON_SCHEMA_VERSION, Comparison, CurveReport, Outcome, Pair, Report, RunReport, SeenIn, Tool,
};
use crate::text;

/// Points of a curve in one row.
const POINTS: usize = 6;

/// What `--format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparisonOutput<'c> {
    pub schema_version: u32,
    pub tool: Tool,
    pub packs: &'c [PackInfo],
    pub comparison: &'c Comparison,
}

/// The comparison as one indented JSON value.
pub fn comparison_json(comparison: &Comparison, packs: &Packs) -> io::Result<String> {
    pretty(&ComparisonOutput {
        schema_version: COMPARISON_SCHEMA_VERSION,
        tool: tool(),
        packs: packs.infos(),
        comparison,
    })
}

/// The comparison for a terminal.
pub fn comparison_text(comparison: &Comparison, packs: &Packs, view: &View) -> String {
    let labels = Labels::new(packs, comparison.language == "zh");
    let mut out = String::new();
    for (index, pair) in comparison.pairs.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        for line in wrap(&pair.headline, view.width.max(40)) {
            out.push_str(&format!("{}\n", paint(view.palette.headline, &line)));
        }
        let id = paint(view.palette.tone(tone(pair.outcome)), pair.outcome.id());
        out.push_str(&format!("{id}{}\n", labels.bracket(&pair.reason)));
        blocks(&mut out, &outline(comparison, pair, &labels), view);
    }
    blocks(&mut out, &table_of_runs(comparison, &labels), view);
    out
}

/// The comparison for pasting.
pub fn comparison_markdown(comparison: &Comparison, packs: &Packs) -> String {
    let labels = Labels::new(packs, comparison.language == "zh");
    let mut out = String::new();
    for (index, pair) in comparison.pairs.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str(&format!("**{}**\n\n", markdown::escape(&pair.headline)));
        out.push_str(&format!("`{}`{}\n", pair.outcome.id(), markdown::escape(&labels.bracket(&pair.reason))));
        out.push_str(&markdown::blocks(&outline(comparison, pair, &labels)));
    }
    out.push_str(&markdown::blocks(&table_of_runs(comparison, &labels)));
    out
}

/// The comparison as a page; `reports` are those of its runs.
pub fn comparison_page(comparison: &Comparison, reports: &[&Report], packs: &Packs) -> String {
    let labels = Labels::new(packs, comparison.language == "zh");
    let Some(first) = comparison.pairs.first() else { return String::new() };
    let standing = format!("{}{}", first.outcome.id(), labels.bracket(&first.reason));
    let head = Head { headline: &first.headline, standing: &standing, tone: tone(first.outcome) };
    let mut told = Vec::new();
    for (index, pair) in comparison.pairs.iter().enumerate() {
        if index > 0 {
            told.push(Block::Section(pair.headline.clone()));
        }
        told.extend(outline(comparison, pair, &labels));
    }
    told.extend(table_of_runs(comparison, &labels));
    let pictures = html::pair::pictures(comparison, reports, &labels, letter);
    html::page_of(&head, &pictures, &told, &labels)
}

fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Fixed | Outcome::Improved => Tone::Fine,
        Outcome::Worse => Tone::Fault,
        _ => Tone::Doubt,
    }
}

/// Letter of a run: A, B, C, …
fn letter(number: usize) -> String {
    u32::try_from(number)
        .ok()
        .and_then(|number| char::from_u32(u32::from('A') + number))
        .filter(char::is_ascii_uppercase)
        .map_or_else(|| number.to_string(), String::from)
}

// Long: one block after the other, in the order in which they are shown.
fn outline(comparison: &Comparison, pair: &Pair, labels: &Labels<'_>) -> Vec<Block> {
    let mut out = Vec::new();
    out.push(Block::Quotes(pair.evidence.iter().map(quote).collect()));
    let texts = |list: &[crate::report::Difference]| list.iter().map(|item| Item::text(&item.text)).collect::<Vec<_>>();
    if !pair.obstacles.is_empty() {
        let label = if pair.forced { "compare-forced" } else { "compare-obstacles" };
        out.push(Block::Items { label: labels.get(label), items: texts(&pair.obstacles), numbered: false });
    }
    let changed = match pair.changed.is_empty() {
        true => vec![Item::text(labels.get("compare-nothing-changed"))],
        false => texts(&pair.changed),
    };
    out.push(Block::Items { label: labels.get("compare-changed"), items: changed, numbered: false });
    // With many runs the table at the end holds the figures.
    if comparison.runs.len() > 2 {
        super::document::push_items(
            &mut out,
            labels,
            "compare-traps",
            pair.traps.iter().map(|trap| Item::text(&trap.text)).collect(),
        );
        out.retain(|block| !matches!(block, Block::Quotes(quotes) if quotes.is_empty()));
        return out;
    }
    let mut head = vec![String::new()];
    head.extend([pair.a, pair.b].map(|number| shown(comparison, number)));
    head.push(String::new());
    let rows = pair.rows.iter().map(|row| {
        let change = match row.change.as_str() {
            "changed" => String::new(),
            other => labels.get(&format!("compare-{other}")),
        };
        vec![row.label.clone(), row.a.clone(), row.b.clone(), change]
    });
    out.push(Block::Table { head, rows: rows.collect() });
    for curves in &pair.curves {
        let curve = |number: usize, points: &[CurveReport]| {
            let points: Vec<String> =
                thin(points).iter().map(|point| format!("{}:{}", point.prompt, point.held)).collect();
            let points = if points.is_empty() { labels.get("compare-none") } else { points.join("  ") };
            Item::text(format!("{}  {points}", letter(number)))
        };
        let items = vec![curve(pair.a, &curves.a), curve(pair.b, &curves.b)];
        out.push(Block::Items {
            label: labels.with("compare-curve", &[("class", &curves.class)]),
            items,
            numbered: false,
        });
    }
    let mechanisms: Vec<Item> = pair.mechanisms.iter().map(|mechanism| Item::text(&mechanism.text)).collect();
    super::document::push_items(&mut out, labels, "compare-mechanism", mechanisms);
    super::document::push_items(
        &mut out,
        labels,
        "compare-traps",
        pair.traps.iter().map(|trap| Item::text(&trap.text)).collect(),
    );
    super::document::push_items(&mut out, labels, "compare-next", pair.next.iter().map(Item::text).collect());
    out.retain(|block| !matches!(block, Block::Quotes(quotes) if quotes.is_empty()));
    out
}

fn quote(seen: &SeenIn) -> Quote {
    let plain = Quote::of(&seen.line);
    Quote { place: format!("{} {}", letter(seen.run), plain.place), ..plain }
}

fn shown(comparison: &Comparison, number: usize) -> String {
    let run = comparison.runs.get(number);
    run.map_or_else(String::new, |run| format!("{} {} {}", letter(number), short(&run.source), run.version))
}

/// The end of a path: the folders above say nothing here.
fn short(source: &str) -> String {
    let parts: Vec<&str> = source.rsplit(['/', '\\']).take(2).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// At most so many points, the first and the last among them.
fn thin(points: &[CurveReport]) -> Vec<CurveReport> {
    if points.len() <= POINTS {
        return points.to_vec();
    }
    let last = points.len() - 1;
    (0..POINTS).filter_map(|index| points.get(index * last / (POINTS - 1)).copied()).collect()
}

/// More than two runs: one row for each.
fn table_of_runs(comparison: &Comparison, labels: &Labels<'_>) -> Vec<Block> {
    if comparison.runs.len() < 3 {
        return Vec::new();
    }
    let head = ["run", "outcome", "version", "held", "seconds", "log"]
        .iter()
        .map(|id| labels.get(&format!("compare-col-{id}")))
        .collect();
    let rows = comparison.runs.iter().enumerate().map(|(number, run)| {
        let pair = comparison.pairs.iter().find(|pair| pair.b == number);
        let outcome = pair.map_or_else(|| labels.get("compare-first"), |pair| pair.outcome.id().to_owned());
        vec![letter(number), outcome, run.version.clone(), held(run), seconds(run), short(&run.source)]
    });
    vec![Block::Section(labels.get("compare-table")), Block::Table { head, rows: rows.collect() }]
}

fn held(run: &RunReport) -> String {
    run.held.map_or_else(|| "?".to_owned(), |held| held.to_string())
}

fn seconds(run: &RunReport) -> String {
    run.seconds.median.map_or_else(|| "–".to_owned(), |median| text::number(median, 2))
}
