//! What came out of it: leak first, then failures, reloads, measured memory, and only then the clock.

use super::comparable::Differences;
use super::figures::slower;
use super::run::Side;
use super::{Difference, Mechanism, Outcome, SeenIn};
use crate::catalog::{FlagRole, Verdict};
use crate::diagnosis::{Messages, evidence};
use crate::report::report::Status;
use crate::text;
use crate::timeline::{Evidence, Exception, ExceptionPlace, Leak};

/// A figure below this share of the other is less, above its inverse more; between, it is the same.
const LESS: f64 = 0.5;
/// The same for loads per prompt.
const FEWER: f64 = 0.9;
/// So many times slower is paid for, not cured.
const THRASHING: f64 = 2.0;

/// An outcome with its reason and its lines.
pub(super) struct Judgement {
    pub(super) outcome: Outcome,
    pub(super) headline: String,
    pub(super) reason: String,
    pub(super) evidence: Vec<SeenIn>,
    pub(super) next: Option<String>,
}

/// Two runs that must not be held against each other.
pub(super) fn refusal(obstacles: &[Difference], messages: &Messages<'_>) -> Judgement {
    let what: Vec<String> =
        obstacles.iter().map(|obstacle| messages.text(&format!("compare-what-{}", obstacle.what), &[])).collect();
    let what = what.join(&messages.text("label-and", &[]));
    Judgement {
        outcome: Outcome::NotComparable,
        headline: messages.text("compare-refused", &[("what", &what)]),
        reason: messages.text("compare-refused-reason", &[]),
        evidence: Vec::new(),
        next: Some(messages.text("compare-refused-next", &[])),
    }
}

/// A fault that is gone in a newer ComfyUI: with what is known to be repaired in between.
pub(super) fn after_update(
    a: &Side<'_>,
    b: &Side<'_>,
    judged: Judgement,
    messages: &Messages<'_>,
) -> Option<Judgement> {
    if judged.outcome != Outcome::Fixed {
        return None;
    }
    let (before, after) = (a.version(), b.version());
    let newer = b.view.span.exact.or(b.view.span.from)?;
    if a.view.span.exact.is_some_and(|older| older >= newer) {
        return None;
    }
    let named = a.run.report.findings.iter().filter(|finding| finding.id == Verdict::VersionBug);
    let repaired = named
        .filter_map(|finding| messages.packs.bugs.iter().find(|bug| Some(&bug.id) == finding.about.as_ref()))
        .find(|bug| bug.fixed_in.is_some_and(|fixed| fixed <= newer));
    let title = repaired.map(|bug| messages.packs.prose_text("bug", &bug.id, "title", messages.zh).unwrap_or(&bug.id));
    let fixed = repaired.and_then(|bug| bug.fixed_in).map(|version| version.to_string()).unwrap_or_default();
    let values =
        [("a", before.as_str()), ("b", after.as_str()), ("title", title.unwrap_or_default()), ("fixed", &fixed)];
    let reason = if repaired.is_some() { "compare-updated-known" } else { "compare-updated-reason" };
    Some(Judgement {
        outcome: Outcome::GoneAfterUpdate,
        headline: messages.text("compare-updated", &values),
        reason: messages.text(reason, &values),
        evidence: judged.evidence,
        next: None,
    })
}

/// Weighs two comparable runs.
pub(super) fn judge(
    a: &Side<'_>,
    b: &Side<'_>,
    number: usize,
    differences: &Differences,
    mechanisms: &[Mechanism],
    messages: &Messages<'_>,
) -> Judgement {
    let judge = Judge { a, b, number, differences, mechanisms, messages };
    judge
        .nothing_ran()
        .or_else(|| judge.leak())
        .or_else(|| judge.failures())
        .or_else(|| judge.reloads())
        .or_else(|| judge.memory())
        .unwrap_or_else(|| judge.no_fault())
}

struct Judge<'j, 'r> {
    a: &'j Side<'r>,
    b: &'j Side<'r>,
    number: usize,
    differences: &'j Differences,
    mechanisms: &'j [Mechanism],
    messages: &'j Messages<'j>,
}

impl Judge<'_, '_> {
    fn say(
        &self,
        outcome: Outcome,
        headline: &str,
        reason: &str,
        values: &[(&str, &str)],
        lines: Vec<SeenIn>,
    ) -> Judgement {
        let next = (outcome == Outcome::NotExercised).then(|| self.messages.text("compare-not-exercised-next", &[]));
        Judgement {
            outcome,
            headline: self.messages.text(headline, values),
            reason: self.messages.text(reason, values),
            evidence: lines,
            next,
        }
    }

    fn seen(&self, in_b: bool, at: Option<&Evidence>, remark: &str, values: &[(&str, &str)]) -> Option<SeenIn> {
        let remark = self.messages.text(remark, values);
        at.map(|at| SeenIn { run: if in_b { self.number } else { 0 }, line: evidence(at, Some(remark)) })
    }

    /// The line up to which the second run shows nothing of it.
    fn clean_end(&self, values: &[(&str, &str)]) -> Option<SeenIn> {
        self.seen(true, self.b.session().last_executed.as_ref(), "compare-remark-clean", values)
    }

    fn nothing_ran(&self) -> Option<Judgement> {
        let ran = |side: &Side<'_>| side.session().prompts.executed > 0 || side.failures() > 0;
        let which = match (ran(self.a), ran(self.b)) {
            (true, true) => return None,
            (false, true) => "A",
            _ => "B",
        };
        Some(self.say(
            Outcome::NotExercised,
            "compare-nothing-ran",
            "compare-nothing-ran-reason",
            &[("run", which)],
            Vec::new(),
        ))
    }

    fn leak(&self) -> Option<Judgement> {
        let prompts = self.b.session().prompts.executed;
        let n = prompts.to_string();
        match (self.a.worst_leak(), self.b.worst_leak()) {
            (None, None) => None,
            (None, Some((class, leak))) => {
                let k = held(leak);
                let lines = self.seen(
                    true,
                    leak.last_pass.as_ref().or(leak.first_warning.as_ref()),
                    "compare-remark-held",
                    &[("k", &k)],
                );
                Some(self.say(
                    Outcome::Worse,
                    "compare-leak-new",
                    "compare-leak-new-reason",
                    &[("class", class), ("k", &k)],
                    lines.into_iter().collect(),
                ))
            }
            (Some((class, leak)), after) => {
                let k = held(leak);
                let values = [("class", class), ("k", k.as_str()), ("n", n.as_str())];
                let before = self.seen(
                    false,
                    leak.last_pass.as_ref().or(leak.first_warning.as_ref()),
                    "compare-remark-held",
                    &[("k", &k)],
                );
                let lines: Vec<SeenIn> = before.into_iter().collect();
                Some(match after {
                    Some((other, now)) => self.both_leak(class, leak, other, now, lines),
                    None => self.leak_gone(class, leak, &values, lines),
                })
            }
        }
    }

    /// Nothing is held any more. Was there a chance for it to be?
    fn leak_gone(&self, class: &str, leak: &Leak, values: &[(&str, &str)], mut lines: Vec<SeenIn>) -> Judgement {
        let session = self.b.session();
        lines.extend(self.clean_end(&[]));
        let needed = leak.first_prompt.max(2);
        if !self.b.view.timeline.info_visible {
            return self.say(Outcome::NotExercised, "compare-leak-hidden", "compare-leak-hidden-reason", values, lines);
        }
        if session.prompts.executed < needed {
            let (needed, ran) = (needed.to_string(), session.prompts.executed.to_string());
            return self.say(
                Outcome::NotExercised,
                "compare-leak-too-short",
                "compare-leak-too-short-reason",
                &[("needed", &needed), ("n", &ran)],
                lines,
            );
        }
        let removed = !self.differences.packs_removed().is_empty();
        if !self.b.loaded(class) && !removed {
            return self.say(
                Outcome::NotExercised,
                "compare-leak-not-loaded",
                "compare-leak-not-loaded-reason",
                values,
                lines,
            );
        }
        if self.b.cycles() {
            lines.extend(
                session
                    .leaks
                    .values()
                    .find_map(|leak| self.seen(true, leak.first_potential.as_ref(), "compare-remark-cycle", &[])),
            );
            return self.say(Outcome::Improved, "compare-leak-cycle", "compare-leak-cycle-reason", values, lines);
        }
        let hiding = self.differences.hiding(self.messages.packs).join(", ");
        if !hiding.is_empty() {
            let values = [("what", hiding.as_str()), ("class", class)];
            return self.say(Outcome::Hidden, "compare-hidden", "compare-hidden-reason", &values, lines);
        }
        let reason = if removed { "compare-leak-gone-removed" } else { "compare-leak-gone-reason" };
        self.say(Outcome::Fixed, "compare-leak-gone", reason, values, lines)
    }

    /// Both hold models: as many after as many prompts?
    fn both_leak(&self, class: &str, before: &Leak, other: &str, after: &Leak, mut lines: Vec<SeenIn>) -> Judgement {
        lines.extend(self.seen(
            true,
            after.last_pass.as_ref().or(after.first_warning.as_ref()),
            "compare-remark-held",
            &[("k", &held(after))],
        ));
        let both = self.a.session().prompts.executed.min(self.b.session().prompts.executed);
        let (Some(was), Some(is)) = (held_at(before, both), held_at(after, both)) else {
            return self.say(
                Outcome::NotComparable,
                "compare-leak-hidden",
                "compare-leak-hidden-reason",
                &[("class", class)],
                lines,
            );
        };
        if is == 0 && was > 0 {
            return self.let_go(class, other, after, was, both, lines);
        }
        let (outcome, headline) = if (is as f64) < was as f64 * LESS {
            (Outcome::Improved, "compare-leak-less")
        } else if is as f64 * LESS > was as f64 {
            (Outcome::Worse, "compare-leak-more")
        } else {
            (Outcome::Unchanged, "compare-leak-same")
        };
        let models = self.messages.count("model-one", "model-many", is, &[]);
        let (was, both) = (was.to_string(), both.to_string());
        let values = [("class", other), ("was", was.as_str()), ("models", &models), ("prompts", &both)];
        self.say(outcome, headline, "compare-leak-count-reason", &values, lines)
    }

    /// Models were told of once, and then none is held any more.
    fn let_go(&self, class: &str, other: &str, after: &Leak, was: u64, both: u64, lines: Vec<SeenIn>) -> Judgement {
        let held = after.curve.iter().filter(|point| point.held > 0);
        let last = held.clone().map(|point| point.prompt).max().unwrap_or(after.first_prompt);
        let most = held.map(|point| point.held).max().unwrap_or(1);
        let values = [
            ("class", class.to_owned()),
            ("other", other.to_owned()),
            ("was", was.to_string()),
            ("k", most.to_string()),
            ("prompt", after.first_prompt.to_string()),
            ("from", (last + 1).to_string()),
            ("prompts", both.to_string()),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.say(Outcome::Improved, "compare-leak-let-go", "compare-leak-let-go-reason", &values, lines)
    }

    fn failures(&self) -> Option<Judgement> {
        let (was, is) = (self.a.failures(), self.b.failures());
        if was == 0 && is == 0 {
            return None;
        }
        let rate = |side: &Side<'_>, count: u64| {
            count as f64 / side.session().prompts.got.max(side.session().prompts.executed).max(1) as f64
        };
        let (before, after) = (rate(self.a, was), rate(self.b, is));
        let values =
            [("was", was.to_string()), ("is", is.to_string()), ("n", self.b.session().prompts.executed.to_string())];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let first =
            |side: &Side<'_>| side.run.report.findings.first().and_then(|finding| finding.evidence.first().cloned());
        let mut lines: Vec<SeenIn> = Vec::new();
        lines.extend(first(self.a).filter(|_| was > 0).map(|line| SeenIn { run: 0, line }));
        lines.extend(first(self.b).filter(|_| is > 0).map(|line| SeenIn { run: self.number, line }));
        if is > 0
            && was > 0
            && let Some(other) = self.another_failure(&values, &lines)
        {
            return Some(other);
        }
        if is > 0 {
            let (outcome, headline) = match () {
                () if was == 0 => (Outcome::Worse, "compare-failures-new"),
                () if self.fails_otherwise() => (Outcome::NotExercised, "compare-failures-other"),
                () if after < before * LESS => (Outcome::Improved, "compare-failures-less"),
                () if after * LESS > before => (Outcome::Worse, "compare-failures-more"),
                () => (Outcome::Unchanged, "compare-failures-same"),
            };
            return Some(self.say(outcome, headline, "compare-failures-reason", &values, lines));
        }
        lines.extend(self.clean_end(&values));
        if let Some(needed) = self.first_failure().filter(|first| *first > self.b.session().prompts.executed) {
            let values = [("needed", needed.to_string()), ("n", self.b.session().prompts.executed.to_string())];
            let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            return Some(self.say(
                Outcome::NotExercised,
                "compare-failures-too-short",
                "compare-failures-too-short-reason",
                &values,
                lines,
            ));
        }
        let missing =
            self.a.session().loads.keys().chain(self.a.session().dynamic.keys()).find(|class| !self.b.loaded(class));
        if let Some(class) = missing {
            let values = [("class", class.as_str())];
            return Some(self.say(
                Outcome::NotExercised,
                "compare-failures-not-run",
                "compare-failures-not-run-reason",
                &values,
                lines,
            ));
        }
        if let Some(ratio) = slower(&self.a.seconds, &self.b.seconds).filter(|ratio| *ratio >= THRASHING) {
            let ratio = text::number(ratio, 1);
            return Some(self.say(
                Outcome::Improved,
                "compare-failures-paid",
                "compare-failures-paid-reason",
                &[("ratio", &ratio)],
                lines,
            ));
        }
        Some(self.say(Outcome::Fixed, "compare-failures-gone", "compare-failures-reason", &values, lines))
    }

    /// The prompt in which it failed first.
    fn first_failure(&self) -> Option<u64> {
        let session = self.a.session();
        let raised = session.exceptions.iter().map(|exception| exception.prompt);
        let out = session.ooms.iter().map(|oom| oom.prompt);
        raised.chain(out).filter(|prompt| *prompt > 0).min()
    }

    /// The errors of the first run are gone, those of the second are of another kind or come from another place.
    fn another_failure(&self, values: &[(&str, &str)], lines: &[SeenIn]) -> Option<Judgement> {
        let (before, after) = (errors(self.a), errors(self.b));
        let known = |error: &&Exception| before.iter().any(|other| same_error(other, error));
        let new = after.iter().find(|error| !known(error))?;
        let still = after.iter().any(known);
        if before.is_empty() || still {
            return None;
        }
        let session = self.b.session();
        // Where nothing came through, nothing shows what became of the first failure.
        let ran = session.prompts.executed > session.prompts.failed;
        let place = new.frames.last().and_then(|frame| frame.rsplit(' ').next()).unwrap_or_default();
        let error = new.message.lines().next().unwrap_or_default();
        let error = text::cut_chars(if error.is_empty() { new.kind.as_deref().unwrap_or_default() } else { error }, 80);
        let mut all = values.to_vec();
        all.extend([("error", &*error), ("place", place)]);
        let (outcome, headline) = if ran {
            (
                Outcome::Changed,
                if place.is_empty() { "compare-failures-changed" } else { "compare-failures-changed-in" },
            )
        } else {
            (Outcome::NotExercised, "compare-failures-other")
        };
        Some(self.say(outcome, headline, "compare-failures-reason", &all, lines.to_vec()))
    }

    /// What failed before is not what fails now, so that nothing shows whether it would.
    fn fails_otherwise(&self) -> bool {
        let (before, after) = (self.a.run.report.verdict.primary, self.b.run.report.verdict.primary);
        before != after && self.b.finding(before).is_none() && self.a.finding(after).is_none()
    }

    fn reloads(&self) -> Option<Judgement> {
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

    fn memory(&self) -> Option<Judgement> {
        let (before, after) = (self.a.memory()?, self.b.memory()?);
        let grows = |shape: &str| shape == "growing";
        let hiding = self.differences.hiding(self.messages.packs).join(", ");
        let (outcome, headline) = match (grows(&before.shape), grows(&after.shape)) {
            (true, false) if !hiding.is_empty() => (Outcome::Hidden, "compare-memory-hidden"),
            (true, false) if after.shape == "too-short" || after.shape == "filling" => {
                (Outcome::NotExercised, "compare-memory-too-short")
            }
            (true, false) => (Outcome::Fixed, "compare-memory-flat"),
            (false, true) => (Outcome::Worse, "compare-memory-grows"),
            (true, true) => (Outcome::Unchanged, "compare-memory-same"),
            (false, false) => return None,
        };
        let size = |memory: &super::Memory| format!("{} → {}", text::mib(memory.first_mib), text::mib(memory.last_mib));
        let values = [("a", size(&before)), ("b", size(&after)), ("what", hiding.clone())];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Some(self.say(outcome, headline, "compare-memory-reason", &values, Vec::new()))
    }

    /// Neither run shows a fault: what was tried may not have happened at all.
    fn no_fault(&self) -> Judgement {
        let lines: Vec<SeenIn> = self.clean_end(&[]).into_iter().collect();
        if !self.mechanisms.is_empty()
            && self.mechanisms.iter().all(|mechanism| mechanism.a != "worked" && mechanism.b != "worked")
        {
            let seen =
                self.mechanisms.iter().all(|mechanism| mechanism.a == "never-worked" && mechanism.b == "never-worked");
            let reason = if seen { "compare-cache-never-reason" } else { "compare-cache-unseen-reason" };
            return self.say(Outcome::NotExercised, "compare-cache-never", reason, &[], self.cache_lines());
        }
        match slower(&self.a.seconds, &self.b.seconds) {
            // Less work takes less time: only equal work tells.
            Some(_) if !self.same_work() => {
                self.say(Outcome::NotComparable, "compare-work-differs", "compare-work-differs-reason", &[], lines)
            }
            Some(ratio) => {
                let median = |side: &Side<'_>| side.seconds.median.map_or_else(String::new, duration);
                let (outcome, headline, times) = match ratio > 1.0 {
                    true => (Outcome::Worse, "compare-slower", ratio),
                    false => (Outcome::Improved, "compare-faster", 1.0 / ratio),
                };
                let values = [("ratio", text::number(times, 2)), ("a", median(self.a)), ("b", median(self.b))];
                let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                self.say(outcome, headline, "compare-seconds-reason", &values, lines)
            }
            None if self.a.seconds.enough && self.b.seconds.enough => {
                self.say(Outcome::Unchanged, "compare-same", "compare-same-reason", &[], lines)
            }
            None => self.say(Outcome::Unchanged, "compare-same", "compare-same-few", &[], lines),
        }
    }

    /// Both loaded the same classes of models, as far as their logs show.
    fn same_work(&self) -> bool {
        let classes = |side: &Side<'_>| {
            let session = side.session();
            session.loads.keys().chain(session.dynamic.keys()).cloned().collect::<std::collections::BTreeSet<String>>()
        };
        let (before, after) = (classes(self.a), classes(self.b));
        before.is_empty() || after.is_empty() || before == after
    }

    /// The lines that set the threshold, and the last one that says nothing had to go.
    fn cache_lines(&self) -> Vec<SeenIn> {
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

/// Exceptions of prompts.
fn errors<'r>(side: &Side<'r>) -> Vec<&'r Exception> {
    side.session().exceptions.iter().filter(|exception| exception.place == ExceptionPlace::Prompt).collect()
}

/// Of the same type with the same beginning of the message; numbers in it may differ.
fn same_error(one: &Exception, other: &Exception) -> bool {
    let words = |exception: &Exception| -> Vec<String> {
        let plain = |word: &str| word.chars().all(char::is_alphabetic);
        exception.message.split_whitespace().filter(|word| plain(word)).take(6).map(str::to_owned).collect()
    };
    one.kind == other.kind && words(one) == words(other)
}

/// Seconds; from a minute and a half on also in minutes.
fn duration(seconds: f64) -> String {
    let told = format!("{} s", text::number(seconds, 1));
    if seconds < 90.0 {
        return told;
    }
    let whole = seconds.round();
    format!("{told} ({} min {} s)", (whole / 60.0).floor(), whole % 60.0)
}

fn held(leak: &Leak) -> String {
    leak.held_last.filter(|held| *held > 0).or(leak.held_max).map_or_else(|| "?".to_owned(), |held| held.to_string())
}

/// Models held after `prompt` prompts.
fn held_at(leak: &Leak, prompt: u64) -> Option<u64> {
    leak.held_max?;
    Some(leak.curve.iter().rev().find(|point| point.prompt <= prompt).map_or(0, |point| point.held))
}
