//! Reloads on every prompt in two runs, and the lines that show what the cache did.

use super::figures::slower;
use super::judge::{FEWER, Judge, Judgement};
use super::run::Side;
use super::{Outcome, SeenIn};
use crate::catalog::{FlagRole, Verdict};
use crate::report::report::Status;
use crate::text;

impl Judge<'_, '_> {
    pub(super) fn reloads(&self) -> Option<Judgement> {
        let named = |side: &Side<'_>| {
            side.finding(Verdict::ReloadEachPrompt).is_some_and(|finding| finding.status >= Status::Likely)
        };
        if !named(self.a) && !named(self.b) {
            return None;
        }
        let loads = |side: &Side<'_>| {
            side.per_prompt(side.session().loads.values().map(|load| load.requested).sum()).unwrap_or(0.0)
        };
        let (loads_before, loads_after) = (loads(self.a), loads(self.b));
        let (was, is) = (self.a.per_prompt(self.a.reloads())?, self.b.per_prompt(self.b.reloads())?);
        let values = [("was", text::number(was, 2)), ("is", text::number(is, 2))];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let first = |side: &Side<'_>| {
            side.finding(Verdict::ReloadEachPrompt).and_then(|finding| finding.evidence.first().cloned())
        };
        let mut lines: Vec<SeenIn> = first(self.a).map(|line| SeenIn { run: 0, line }).into_iter().collect();
        lines.extend(first(self.b).map(|line| SeenIn { run: self.number, line }));
        let (outcome, headline) = match () {
            () if is == 0.0 && loads_after < loads_before => (Outcome::Fixed, "compare-reloads-gone"),
            // What is counted as repeated depends on what was loaded in between: all loads decide.
            () if loads_after < loads_before * FEWER => (Outcome::Improved, "compare-loads-less"),
            () if loads_after * FEWER > loads_before => (Outcome::Worse, "compare-loads-more"),
            // The same loads: then the clock tells what became of it.
            () if slower(&self.a.seconds, &self.b.seconds).is_some() => return None,
            () => (Outcome::Unchanged, "compare-reloads-same"),
        };
        let reason = match headline {
            "compare-loads-less" | "compare-loads-more" => "compare-loads-reason",
            _ => "compare-reloads-reason",
        };
        let mut values = values;
        let shown = [text::number(loads_before, 2), text::number(loads_after, 2)];
        let [before, after] = &shown;
        values.extend([("before", before.as_str()), ("after", after.as_str())]);
        Some(self.say(outcome, headline, reason, &values, lines))
    }

    /// The lines that set the threshold, and the last one that says nothing had to go.
    pub(super) fn cache_lines(&self) -> Vec<SeenIn> {
        let mut lines = Vec::new();
        for (in_b, side) in [(false, self.a), (true, self.b)] {
            let session = side.session();
            lines.extend(
                side.view
                    .asks(FlagRole::CacheHeadroom)
                    .and_then(|flag| self.seen(in_b, Some(&flag.at), "compare-remark-threshold", &[])),
            );
            let told = session.counts.cache_evictions.as_ref();
            lines.extend(told.and_then(|told| {
                self.seen(in_b, Some(&told.first), "compare-remark-no-eviction", &[("n", &told.count.to_string())])
            }));
        }
        lines
    }
}
