//! One session in full, for `--verbose`: facts with their lines, node packs, prompts, loads, leak texts, failures.

use super::document::{Block, Item, push_items};
use super::history::outcome;
use super::label::{Labels, place};
use crate::report::{CountsReport, LeakReport, NodeReport, SessionReport};
use crate::text::{bytes, mib, number};

/// Adds the section of one session.
pub(crate) fn add(session: &SessionReport, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let [first, last] = [session.first_line, session.last_line].map(|line| line.to_string());
    blocks.push(Block::Section(
        labels.with("session", &[("n", &session.number.to_string()), ("first", &first), ("last", &last)]),
    ));
    prompts(session, labels, blocks);
    facts(session, labels, blocks);
    nodes(&session.custom_nodes, labels, blocks);
    leaks(session, labels, blocks);
    loads(session, labels, blocks);
    failures(session, labels, blocks);
    timeline(session, labels, blocks);
    if session.left_out > 0 {
        blocks.push(Block::Figures(vec![labels.with("left-out", &[("n", &session.left_out.to_string())])]));
    }
}

fn prompts(session: &SessionReport, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let prompts = &session.prompts;
    let values = [
        ("got", prompts.got),
        ("executed", prompts.executed),
        ("failed", prompts.failed),
        ("interrupted", prompts.interrupted),
        ("lost", prompts.lost),
        ("invalid", prompts.invalid),
    ]
    .map(|(name, count)| (name, count.to_string()));
    let values: Vec<(&str, &str)> = values.iter().map(|(name, count)| (*name, count.as_str())).collect();
    blocks.push(Block::line(labels.get("prompts"), labels.with("prompts-text", &values)));
    if session.unloads.lines > 0 {
        let [lines, models] = [session.unloads.lines, session.unloads.models].map(|count| count.to_string());
        let text = labels.with("unloads-text", &[("lines", &lines), ("models", &models)]);
        blocks.push(Block::line(labels.get("unloads"), text));
    }
    let counted = counts(&session.counts);
    if !counted.is_empty() {
        blocks.push(Block::line(labels.get("counts"), labels.list(&counted)));
    }
}

/// Counters by their names in the JSON, without those that are zero.
fn counts(counts: &CountsReport) -> Vec<String> {
    [
        ("total_vram_lines", counts.total_vram_lines),
        ("starts", counts.starts),
        ("pin_errors", counts.pin_errors),
        ("aimdo_errors", counts.aimdo_errors),
        ("tiled_retries", counts.tiled_retries),
        ("attention_retries", counts.attention_retries),
        ("oom_unloads", counts.oom_unloads),
        ("kills", counts.kills),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(name, count)| format!("{name} {count}"))
    .collect()
}

fn facts(session: &SessionReport, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let rows: Vec<Vec<String>> =
        session.facts.iter().map(|(name, fact)| vec![name.clone(), place(&fact.at), value(&fact.value)]).collect();
    table(labels, blocks, "facts", &["col-fact", "col-line", "col-value"], rows);
}

/// A JSON value as people write it.
pub(super) fn value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(figure) => {
            figure.as_f64().map_or_else(|| figure.to_string(), |figure| number(figure, 2))
        }
        serde_json::Value::Array(items) => items.iter().map(self::value).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

fn nodes(nodes: &[NodeReport], labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let (failed, fine): (Vec<&NodeReport>, Vec<&NodeReport>) = nodes.iter().partition(|node| node.failed);
    let failed = failed
        .into_iter()
        .map(|node| {
            let mut notes: Vec<String> = node.reason.clone().into_iter().collect();
            notes.push(labels.line(&node.at));
            Item::text(format!("{}{}", node.dir, labels.bracket(&labels.join(&notes))))
        })
        .collect();
    push_items(blocks, labels, "nodes-failed", failed);
    let fine: Vec<String> = fine
        .into_iter()
        .map(|node| match node.seconds {
            Some(seconds) => format!("{} {}", node.dir, labels.with("took", &[("n", &number(seconds, 1))])),
            None => node.dir.clone(),
        })
        .collect();
    if !fine.is_empty() {
        blocks.push(Block::line(labels.get("nodes"), labels.list(&fine)));
    }
}

fn leaks(session: &SessionReport, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let rows = session.leaks.iter().map(|(class, leak)| leak_row(class, leak)).collect();
    let head = ["col-potential", "col-warning", "col-held", "col-released", "col-class"];
    table(labels, blocks, "leaks", &head, rows);
    let curves: Vec<String> = session
        .leaks
        .values()
        .filter(|leak| !leak.curve.is_empty())
        .map(|leak| {
            let points: Vec<String> =
                leak.curve.iter().map(|point| format!("{}:{}", point.prompt, point.held)).collect();
            labels.with("curve", &[("points", &points.join("  "))])
        })
        .collect();
    if !curves.is_empty() {
        blocks.push(Block::Figures(curves));
    }
}

fn leak_row(class: &str, leak: &LeakReport) -> Vec<String> {
    let held = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    vec![
        leak.potential.to_string(),
        leak.warning.to_string(),
        format!("{} / {} / {}", held(leak.held_first), held(leak.held_last), held(leak.held_max)),
        leak.released_at.as_ref().map(place).unwrap_or_default(),
        class.to_owned(),
    ]
}

fn loads(session: &SessionReport, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let mut rows: Vec<Vec<String>> = session
        .loads
        .iter()
        .map(|(class, load)| {
            vec![load.requested.to_string(), load.last_mib.map(mib).unwrap_or_default(), String::new(), class.clone()]
        })
        .collect();
    for (class, dynamic) in &session.dynamic {
        let staged = format!("{} × {}", dynamic.prepared, mib(dynamic.staged_mib));
        match rows.iter_mut().find(|row| row.last() == Some(class)).and_then(|row| row.get_mut(2)) {
            Some(cell) => *cell = staged,
            None => rows.push(vec![String::new(), String::new(), staged, class.clone()]),
        }
    }
    table(labels, blocks, "loads", &["col-requested", "col-size", "col-staged", "col-class"], rows);
}

fn failures(session: &SessionReport, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let size = |value: Option<f64>| value.map(bytes).unwrap_or_default();
    let mut rows: Vec<Vec<String>> = session
        .ooms
        .iter()
        .map(|oom| {
            vec![
                place(&oom.at),
                oom.kind.clone(),
                size(oom.requested),
                size(oom.free),
                size(oom.capacity.or(oom.limit)),
                oom.deciding_part.clone(),
                oom.node.clone().unwrap_or_default(),
            ]
        })
        .collect();
    rows.extend(session.host_ooms.iter().map(|oom| {
        vec![
            place(&oom.at),
            oom.kind.clone(),
            size(oom.requested),
            String::new(),
            String::new(),
            "RAM".to_owned(),
            String::new(),
        ]
    }));
    let head = ["col-line", "col-kind", "col-requested", "col-free", "col-capacity", "col-part", "col-node"];
    table(labels, blocks, "ooms", &head, rows);
    let rows = session
        .exceptions
        .iter()
        .map(|one| {
            vec![
                place(&one.at),
                one.kind.clone().unwrap_or_default(),
                one.node.clone().unwrap_or_default(),
                one.message.clone(),
            ]
        })
        .collect();
    table(labels, blocks, "exceptions", &["col-line", "col-type", "col-node", "col-message"], rows);
}

fn timeline(session: &SessionReport, labels: &Labels<'_>, blocks: &mut Vec<Block>) {
    let rows = session
        .timeline
        .iter()
        .map(|prompt| {
            vec![
                prompt.number.to_string(),
                format!("{}…{}", prompt.first_line, prompt.last_line),
                prompt.seconds.map(|seconds| number(seconds, 2)).unwrap_or_default(),
                prompt.seconds_per_step.map(|seconds| number(seconds, 2)).unwrap_or_default(),
                outcome(prompt, labels),
                labels.list(&prompt.loads),
            ]
        })
        .collect();
    let head = ["col-prompt", "col-lines", "col-seconds", "col-step", "col-outcome", "col-loads"];
    table(labels, blocks, "timeline", &head, rows);
}

/// A titled table, when it has rows. Columns without a single entry are left out.
fn table(labels: &Labels<'_>, blocks: &mut Vec<Block>, title: &str, head: &[&str], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let filled: Vec<bool> = (0..head.len())
        .map(|column| rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.is_empty())))
        .collect();
    let keep = |cells: Vec<String>| -> Vec<String> {
        cells.into_iter().zip(&filled).filter_map(|(cell, filled)| filled.then_some(cell)).collect()
    };
    blocks.push(Block::Items { label: labels.get(title), items: Vec::new(), numbered: false });
    let head = keep(head.iter().map(|id| labels.get(id)).collect());
    blocks.push(Block::Table { head, rows: rows.into_iter().map(keep).collect() });
}
