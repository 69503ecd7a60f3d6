//! Model leaks of two runs: gone, fewer, as before, or not tried long enough.

use super::judge::{Judge, Judgement, LESS};
use super::{Outcome, SeenIn};
use crate::timeline::Leak;

impl Judge<'_, '_> {
    pub(super) fn leak(&self) -> Option<Judgement> {
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
}

fn held(leak: &Leak) -> String {
    leak.held_last.filter(|held| *held > 0).or(leak.held_max).map_or_else(|| "?".to_owned(), |held| held.to_string())
}

/// Models held after `prompt` prompts.
fn held_at(leak: &Leak, prompt: u64) -> Option<u64> {
    leak.held_max?;
    Some(leak.curve.iter().rev().find(|point| point.prompt <= prompt).map_or(0, |point| point.held))
}
