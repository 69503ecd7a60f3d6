//! Where the time of a prompt went: steps by their bars, loads by the stamps around them.

use crate::input::Bar;
use crate::timeline::names::NameId;
use crate::timeline::session::Prompt;

/// Times of the prompt that runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Budget {
    began: Option<f64>,
    /// Bars that have ended.
    stepped: Option<f64>,
    bar: Option<Bar>,
    loading: Option<(NameId, f64)>,
    loads: Option<f64>,
}

impl Budget {
    /// The prompt was got; of several that wait, the first line counts for the one that runs.
    pub(super) fn begin(&mut self, seconds: Option<f64>) {
        self.began = self.began.or(seconds);
    }

    pub(super) fn requested(&mut self, class: NameId, seconds: Option<f64>) {
        self.loading = seconds.map(|seconds| (class, seconds));
    }

    pub(super) fn loaded(&mut self, class: NameId, seconds: Option<f64>) {
        if let Some((asked, from)) = self.loading.take()
            && asked == class
            && let Some(until) = seconds
            && until >= from
        {
            self.loads = Some(self.loads.unwrap_or(0.0) + until - from);
        }
    }

    /// A later frame of the same bar replaces the one before.
    pub(super) fn bar(&mut self, bar: Bar) {
        if let Some(last) = self.bar
            && !(last.total == bar.total && bar.done >= last.done && last.done < last.total)
        {
            self.settle_bar();
        }
        self.bar = Some(bar);
    }

    fn settle_bar(&mut self) {
        if let Some(bar) = self.bar.take()
            && let Some(step) = bar.seconds_per_step
        {
            self.stepped = Some(self.stepped.unwrap_or(0.0) + step * bar.done as f64);
        }
    }

    /// Puts the times into the prompt, and is empty again for the next one.
    pub(super) fn end(&mut self, prompt: &mut Prompt, ended: Option<f64>) {
        self.settle_bar();
        prompt.began_at = ended.zip(prompt.seconds).map(|(ended, seconds)| ended - seconds).or(self.began);
        prompt.ended_at = ended;
        prompt.step_seconds = self.stepped;
        prompt.load_seconds = self.loads;
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(done: u64, total: u64, step: f64) -> Bar {
        Bar { done, total, seconds_per_step: Some(step), ..Bar::default() }
    }

    #[test]
    fn frames_of_one_bar_count_once_and_bars_add_up() {
        let mut budget = Budget::default();
        for frame in [bar(5, 20, 1.0), bar(20, 20, 0.5), bar(4, 4, 2.0)] {
            budget.bar(frame);
        }
        let mut prompt = Prompt { seconds: Some(30.0), ..Prompt::default() };
        budget.end(&mut prompt, Some(100.0));
        assert_eq!((prompt.step_seconds, prompt.began_at, prompt.ended_at), (Some(18.0), Some(70.0), Some(100.0)));
    }
}
