//! What came out of it: leak first, then failures, reloads, measured memory, and only then the clock.

use super::comparable::Differences;
use super::figures::slower;
use super::run::Side;
use super::{Difference, Mechanism, Outcome, SeenIn};
use crate::catalog::Verdict;
use crate::diagnosis::{Messages, evidence};
use crate::text;
use crate::timeline::{Evidence, Exception, ExceptionPlace};

/// A figure below this share of the other is less, above its inverse more; between, it is the same.
pub(super) const LESS: f64 = 0.5;
/// The same for loads per prompt.
pub(super) const FEWER: f64 = 0.9;
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

pub(super) struct Judge<'j, 'r> {
    pub(super) a: &'j Side<'r>,
    pub(super) b: &'j Side<'r>,
    pub(super) number: usize,
    pub(super) differences: &'j Differences,
    pub(super) mechanisms: &'j [Mechanism],
    pub(super) messages: &'j Messages<'j>,
}

impl Judge<'_, '_> {
    pub(super) fn say(
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

    pub(super) fn seen(
        &self,
        in_b: bool,
        at: Option<&Evidence>,
        remark: &str,
        values: &[(&str, &str)],
    ) -> Option<SeenIn> {
        let remark = self.messages.text(remark, values);
        at.map(|at| SeenIn { run: if in_b { self.number } else { 0 }, line: evidence(at, Some(remark)) })
    }

    /// The line up to which the second run shows nothing of it.
    pub(super) fn clean_end(&self, values: &[(&str, &str)]) -> Option<SeenIn> {
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
        Some(self.fails_no_more(&values, lines))
    }

    /// No failure is left: it is gone, was paid for with time, or was not tried.
    fn fails_no_more(&self, values: &[(&str, &str)], lines: Vec<SeenIn>) -> Judgement {
        if let Some(needed) = self.first_failure().filter(|first| *first > self.b.session().prompts.executed) {
            let values = [("needed", needed.to_string()), ("n", self.b.session().prompts.executed.to_string())];
            let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            return self.say(
                Outcome::NotExercised,
                "compare-failures-too-short",
                "compare-failures-too-short-reason",
                &values,
                lines,
            );
        }
        let missing =
            self.a.session().loads.keys().chain(self.a.session().dynamic.keys()).find(|class| !self.b.loaded(class));
        if let Some(class) = missing {
            let values = [("class", class.as_str())];
            return self.say(
                Outcome::NotExercised,
                "compare-failures-not-run",
                "compare-failures-not-run-reason",
                &values,
                lines,
            );
        }
        if let Some(ratio) = slower(&self.a.seconds, &self.b.seconds).filter(|ratio| *ratio >= THRASHING) {
            let ratio = text::number(ratio, 1);
            return self.say(
                Outcome::Improved,
                "compare-failures-paid",
                "compare-failures-paid-reason",
                &[("ratio", &ratio)],
                lines,
            );
        }
        self.say(Outcome::Fixed, "compare-failures-gone", "compare-failures-reason", values, lines)
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
