//! Many prompts put into few groups, so that a night of thousands is still seen as a whole.

use serde::Serialize;

use crate::timeline::session::Prompt;

/// Groups that are kept; when full, two neighbours become one.
const LIMIT: usize = 256;

/// Prompts in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PromptGroup {
    /// Numbers of the first and the last prompt.
    pub first: u64,
    pub last: u64,
    pub first_line: u64,
    pub last_line: u64,
    pub ok: u64,
    pub failed: u64,
    pub interrupted: u64,
    pub unfinished: u64,
    /// Seconds of all that told them.
    pub seconds: f64,
    /// Seconds of the slowest.
    pub longest: f64,
}

impl PromptGroup {
    fn of(prompt: &Prompt) -> Self {
        let seconds = prompt.seconds.unwrap_or(0.0);
        let mut group = Self {
            first: prompt.number,
            last: prompt.number,
            first_line: prompt.first_line,
            last_line: prompt.last_line,
            seconds,
            longest: seconds,
            ..Self::default()
        };
        let count = match (prompt.ended, prompt.failed, prompt.interrupted) {
            (false, _, _) => &mut group.unfinished,
            (_, true, _) => &mut group.failed,
            (_, _, true) => &mut group.interrupted,
            _ => &mut group.ok,
        };
        *count = 1;
        group
    }

    fn join(&mut self, other: &Self) {
        self.last = other.last;
        self.last_line = other.last_line;
        self.ok += other.ok;
        self.failed += other.failed;
        self.interrupted += other.interrupted;
        self.unfinished += other.unfinished;
        self.seconds += other.seconds;
        self.longest = self.longest.max(other.longest);
    }

    fn prompts(&self) -> u64 {
        self.ok + self.failed + self.interrupted + self.unfinished
    }
}

/// Groups of the prompts so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    list: Vec<PromptGroup>,
    /// Prompts of a full group, as a power of two.
    doublings: u32,
}

impl Groups {
    pub(super) fn add(&mut self, prompt: &Prompt) {
        let one = PromptGroup::of(prompt);
        match self.list.last_mut() {
            Some(last) if last.prompts() < 1 << self.doublings => last.join(&one),
            _ => self.list.push(one),
        }
        if self.list.len() > LIMIT {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.doublings += 1;
        let pairs = self.list.chunks(2).filter_map(|pair| {
            let mut joined = *pair.first()?;
            pair.iter().skip(1).for_each(|other| joined.join(other));
            Some(joined)
        });
        self.list = pairs.collect();
    }

    pub(super) fn into_list(self) -> Vec<PromptGroup> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_prompts_are_all_counted_in_few_groups() {
        let mut groups = Groups::default();
        for number in 1..=10_000 {
            let prompt = Prompt {
                number,
                first_line: number,
                last_line: number,
                seconds: Some(1.0),
                ended: true,
                failed: number == 7000,
                ..Prompt::default()
            };
            groups.add(&prompt);
        }
        let list = groups.into_list();
        assert!(list.len() <= LIMIT);
        assert_eq!(list.iter().map(PromptGroup::prompts).sum::<u64>(), 10_000);
        assert_eq!(list.iter().map(|group| group.failed).sum::<u64>(), 1);
        assert!(list.windows(2).all(|pair| pair[0].last + 1 == pair[1].first));
    }
}
