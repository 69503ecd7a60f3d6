//! The table of both runs, figure by figure, and the leak curves.

use super::run::Side;
use super::{Curves, Row, Seconds};
use crate::diagnosis::Messages;
use crate::text;

/// Figures of both runs, in the order in which they are read.
pub(super) fn rows(a: &Side<'_>, b: &Side<'_>, messages: &Messages<'_>) -> Vec<Row> {
    let mut table = Table { messages, rows: Vec::new() };
    table.text("verdict", a.run.report.verdict.primary.as_str(), b.run.report.verdict.primary.as_str());
    table.count("prompts", a.session().prompts.executed, b.session().prompts.executed, false);
    table.count("failed", a.session().prompts.failed, b.session().prompts.failed, true);
    let held = |side: &Side<'_>| side.worst_leak().map_or(Some(0), |(_, leak)| leak.held_last);
    table.maybe("held", held(a), held(b));
    let lines = |side: &Side<'_>| side.session().leaks.values().map(|leak| leak.warning).sum::<u64>();
    table.count("leak-lines", lines(a), lines(b), true);
    table.count("passes", a.session().leak_passes, b.session().leak_passes, true);
    table.per_prompt("loads", a, b, |side| side.session().loads.values().map(|load| load.requested).sum());
    table.per_prompt("reloads", a, b, |side| side.reloads());
    table.count("unloaded", a.session().unloads.models, b.session().unloads.models, false);
    table.count("ooms", a.session().ooms.len() as u64, b.session().ooms.len() as u64, true);
    table.count("host-ooms", a.session().host_ooms.len() as u64, b.session().host_ooms.len() as u64, true);
    let counted = |counted: &Option<crate::timeline::Counted>| counted.as_ref().map_or(0, |counted| counted.count);
    table.count("tiled", counted(&a.session().counts.tiled_retries), counted(&b.session().counts.tiled_retries), true);
    table.count(
        "evictions",
        counted(&a.session().counts.cache_evictions_active),
        counted(&b.session().counts.cache_evictions_active),
        false,
    );
    table.seconds(&a.seconds, &b.seconds);
    if a.memory().is_some() || b.memory().is_some() {
        let shown = |side: &Side<'_>| {
            let told = side.memory().map(|memory| {
                format!("{} → {} ({})", text::mib(memory.first_mib), text::mib(memory.last_mib), memory.shape)
            });
            told.unwrap_or_else(|| "–".to_owned())
        };
        table.text("memory", &shown(a), &shown(b));
    }
    table.text("ending", &a.run.report.ending.kind, &b.run.report.ending.kind);
    table.rows
}

/// Held models by prompt, of every class that is held in one of the runs.
pub(super) fn curves(a: &Side<'_>, b: &Side<'_>) -> Vec<Curves> {
    let mut classes: Vec<&String> = a
        .report
        .leaks
        .iter()
        .chain(&b.report.leaks)
        .filter(|(_, leak)| leak.warning > 0)
        .map(|(class, _)| class)
        .collect();
    classes.sort();
    classes.dedup();
    let curve =
        |side: &Side<'_>, class: &str| side.report.leaks.get(class).map(|leak| leak.curve.clone()).unwrap_or_default();
    classes.into_iter().map(|class| Curves { class: class.clone(), a: curve(a, class), b: curve(b, class) }).collect()
}

struct Table<'w> {
    messages: &'w Messages<'w>,
    rows: Vec<Row>,
}

impl Table<'_> {
    fn push(&mut self, id: &str, a: String, b: String, change: &str) {
        let label = self.messages.text(&format!("compare-row-{id}"), &[]);
        self.rows.push(Row { id: id.to_owned(), label, a, b, change: change.to_owned() });
    }

    fn text(&mut self, id: &str, a: &str, b: &str) {
        self.push(id, a.to_owned(), b.to_owned(), if a == b { "same" } else { "changed" });
    }

    /// A count; rows that are zero in both say nothing and are left out.
    fn count(&mut self, id: &str, a: u64, b: u64, less_is_better: bool) {
        if a > 0 || b > 0 {
            self.push(id, a.to_string(), b.to_string(), change(a as f64, b as f64, less_is_better));
        }
    }

    fn maybe(&mut self, id: &str, a: Option<u64>, b: Option<u64>) {
        if a == Some(0) && b == Some(0) {
            return;
        }
        let shown = |held: Option<u64>| held.map_or_else(|| "?".to_owned(), |held| held.to_string());
        let change = a.zip(b).map_or("unknown", |(a, b)| change(a as f64, b as f64, true));
        self.push(id, shown(a), shown(b), change);
    }

    fn per_prompt(&mut self, id: &str, a: &Side<'_>, b: &Side<'_>, count: impl Fn(&Side<'_>) -> u64) {
        let (was, is) = (a.per_prompt(count(a)), b.per_prompt(count(b)));
        if was.unwrap_or(0.0) > 0.0 || is.unwrap_or(0.0) > 0.0 {
            let shown = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), |value| text::number(value, 2));
            let change =
                was.zip(is).map_or("unknown", |(was, is)| if (was - is).abs() < 0.005 { "same" } else { "changed" });
            self.push(id, shown(was), shown(is), change);
        }
    }

    fn seconds(&mut self, a: &Seconds, b: &Seconds) {
        let shown = |seconds: &Seconds| match (seconds.median, seconds.low, seconds.high) {
            (Some(median), Some(low), Some(high)) => {
                let values =
                    [text::number(median, 2), text::number(low, 2), text::number(high, 2), seconds.prompts.to_string()];
                let [median, low, high, n] = &values;
                let id = if seconds.enough { "compare-seconds" } else { "compare-seconds-few" };
                self.messages.text(id, &[("median", median), ("low", low), ("high", high), ("n", n)])
            }
            _ => "–".to_owned(),
        };
        let (shown_a, shown_b) = (shown(a), shown(b));
        let change = match super::figures::slower(a, b) {
            _ if !a.enough || !b.enough => "unknown",
            None => "same",
            Some(ratio) if ratio > 1.0 => "worse",
            Some(_) => "better",
        };
        self.push("seconds", shown_a, shown_b, change);
    }
}

fn change(a: f64, b: f64, less_is_better: bool) -> &'static str {
    match (a == b, less_is_better, b < a) {
        (true, _, _) => "same",
        (_, false, _) => "changed",
        (_, true, true) => "better",
        (_, true, false) => "worse",
    }
}
