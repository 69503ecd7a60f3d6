//! The ladder of held models and the card in small, for a terminal: block characters, or ASCII where it shows no others.

use super::View;
use super::document::Block;
use super::label::Labels;
use super::layout::{blanks, clean, pad};
use crate::report::{CardReport, CurveReport, OomReport, Report};
use crate::text::{bytes, cut_width, width};

/// Steps of a ladder from nothing to the most.
const STEPS: [&str; 2] = ["▁▂▃▄▅▆▇█", "_.-=+*%#"];
/// A ladder that holds fewer is not drawn as high.
const LEAST: u64 = 4;
/// Columns of a class's name.
const NAME: usize = 28;
/// Widest card, in columns.
const CARD: usize = 72;
/// Cards that are drawn.
const CARDS: usize = 3;

/// Adds what this log can fill.
pub(super) fn add(report: &Report, labels: &Labels<'_>, view: &View, blocks: &mut Vec<Block>) {
    let ladders = ladders(report, labels, view);
    if !ladders.is_empty() {
        blocks.push(Block::Section(labels.plain("page-ladder", &[])));
        blocks.push(Block::Code(ladders.join("\n")));
    }
    let ooms = report.sessions.iter().flat_map(|session| &session.ooms);
    for (oom, card) in ooms.filter_map(|oom| oom.card.as_ref().map(|card| (oom, card))).take(CARDS) {
        let values = [("size", &*bytes(card.capacity)), ("n", &oom.prompt.to_string())];
        blocks.push(Block::Section(labels.plain("page-card", &values)));
        blocks.push(Block::Code(self::card(oom, card, labels, view).join("\n")));
    }
}

fn ladders(report: &Report, labels: &Labels<'_>, view: &View) -> Vec<String> {
    let mut rows = Vec::new();
    for session in &report.sessions {
        let most = session.leaks.values().filter_map(|leak| leak.held_max).max().unwrap_or(0).max(LEAST);
        for (class, leak) in session.leaks.iter().filter(|(_, leak)| !leak.curve.is_empty()) {
            let prompts = session.prompts.executed.max(leak.curve.last().map_or(0, |point| point.prompt)).max(1);
            let last = leak.curve.last().map_or(0, |point| point.held);
            let tail = format!(
                " {last}{}",
                labels.bracket(&labels.plain("page-mini-prompts", &[("n", &prompts.to_string())]))
            );
            let room = view.width.max(40).saturating_sub(NAME + 1 + width(&tail));
            let steps = ladder(&leak.curve, prompts, most, room, view.ascii);
            rows.push(format!("{} {steps}{tail}", pad(&cut_width(class, NAME), NAME)));
        }
    }
    rows
}

/// One character for each prompt; for several where there are more prompts than columns, the most of them.
fn ladder(curve: &[CurveReport], prompts: u64, most: u64, room: usize, ascii: bool) -> String {
    let columns = usize::try_from(prompts).unwrap_or(usize::MAX).min(room.max(1));
    let steps: Vec<char> = STEPS[usize::from(ascii)].chars().collect();
    let held = |prompt: u64| curve.iter().rev().find(|point| point.prompt <= prompt).map_or(0, |point| point.held);
    (1..=columns as u64)
        .map(|column| {
            let held = held(column * prompts / columns as u64);
            let step = (held * (steps.len() as u64 - 1)).div_ceil(most) as usize;
            steps.get(step).copied().unwrap_or(' ')
        })
        .collect()
}

/// How the parts of a card are filled, by name: blocks, then ASCII.
fn fill(part: &str) -> [char; 2] {
    match part {
        "weights" => ['█', 'W'],
        "working" | "used" => ['▓', 'w'],
        "outside" | "own-outside" => ['▒', 'o'],
        "reserved" => ['░', 'r'],
        "unknown" => ['?', '?'],
        _ => ['·', '.'],
    }
}

/// The card as one bar, the refused request over its edge, and what is what.
fn card(oom: &OomReport, card: &CardReport, labels: &Labels<'_>, view: &View) -> Vec<String> {
    let requested = oom.requested.unwrap_or(0.0);
    let used: f64 = card.parts.iter().filter(|part| part.name != "free").map(|part| part.bytes).sum();
    let most = card.capacity.max(used + requested);
    let columns = view.width.saturating_sub(4).clamp(30, CARD) as f64;
    let at = |size: f64| (size / most * columns).round() as usize;
    let kind = usize::from(view.ascii);
    let mut bar = String::new();
    let mut from = 0.0;
    for part in &card.parts {
        let count = at(from + part.bytes).saturating_sub(at(from));
        bar.extend(std::iter::repeat_n(fill(&part.name)[kind], count));
        from += part.bytes;
    }
    let wall = at(card.capacity);
    let bar = pad(&bar, wall);
    let request = ['×', 'X'][kind];
    let edge = ['│', '|'][kind];
    let over: String = (0..at(used + requested)).map(|column| if column < at(used) { ' ' } else { request }).collect();
    let mut rows = vec![with_edge(&bar, wall, edge)];
    if requested > 0.0 {
        rows.push(with_edge(&over, wall, edge));
    }
    for part in &card.parts {
        let name = match &part.class {
            Some(class) => labels.plain("page-card-weights", &[("class", class)]),
            None if part.name == "unknown" => labels.plain("page-card-unknown-part", &[]),
            None => labels.plain(&format!("page-card-{}", part.name), &[]),
        };
        rows.push(format!(
            "{} {} {}{}",
            fill(&part.name)[kind],
            clean(&name),
            bytes(part.bytes),
            labels.bracket(&labels.basis(part.basis))
        ));
    }
    if requested > 0.0 {
        let line = labels.bracket(&labels.line(&oom.at));
        rows.push(format!("{request} {} {}{line}", labels.plain("page-card-request", &[]), bytes(requested)));
    }
    rows
}

/// The row with the card's edge at its place.
fn with_edge(row: &str, wall: usize, edge: char) -> String {
    let letters: Vec<char> = row.chars().collect();
    let (inside, over) = letters.split_at(wall.min(letters.len()));
    let gap = blanks(wall.saturating_sub(inside.len()));
    format!("{}{gap}{edge}{}", inside.iter().collect::<String>(), over.iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Vec<CurveReport> {
        (2..=9).map(|prompt| CurveReport { prompt, held: prompt - 1, line: prompt }).collect()
    }

    #[test]
    fn a_ladder_rises_step_by_step_and_a_flat_one_is_flat() {
        assert_eq!(ladder(&curve(), 9, 8, 40, false), "▁▂▃▄▅▆▇██");
        assert_eq!(ladder(&curve(), 9, 8, 40, true), "_.-=+*%##");
        assert_eq!(ladder(&[], 5, 4, 40, false), "▁▁▁▁▁");
        assert_eq!(ladder(&curve(), 9, 8, 3, false).chars().count(), 3, "no wider than the terminal");
    }

    #[test]
    fn the_edge_of_the_card_stands_before_what_reaches_over_it() {
        assert_eq!(with_edge("WWwwXXX", 5, '|'), "WWwwX|XX");
        assert_eq!(with_edge("WW", 4, '|'), "WW  |");
    }
}
