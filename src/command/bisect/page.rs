//! A session as a page: the grid of rounds, then what the console says.

use super::show::Show;
use crate::bisect::{Next, Outcome};
use crate::render::{Block, Head, Labels, RoundRow, Tone, grid, page_of};

impl Show<'_> {
    /// Where it stands, as a page.
    pub(super) fn page(&self) -> String {
        let labels = Labels::new(self.messages.packs, self.messages.zh);
        let rounds: Vec<RoundRow> = self
            .state
            .rounds
            .iter()
            .map(|round| RoundRow {
                on: round.on.clone(),
                seen: round.seen.word(),
                seen_text: self.messages.text(&format!("bisect-mark-{}", round.seen.word()), &[]),
                reason: round.reason.clone(),
            })
            .collect();
        let packs: Vec<String> = self.state.install.packs.iter().map(|pack| pack.dir.clone()).collect();
        let next = self.state.next();
        let guilty = match &next {
            Next::Done(Outcome::Culprits { groups, .. }) => {
                groups.iter().flat_map(|group| self.state.names(&group.units)).collect()
            }
            _ => Vec::new(),
        };
        let tone = match &next {
            Next::Done(Outcome::Culprits { .. } | Outcome::NotTheUnits { .. }) => Tone::Fault,
            Next::Done(Outcome::CannotTell { .. }) | Next::Run { .. } => Tone::Doubt,
        };
        let mut told = self.stand();
        let mut told_rounds = self.rounds();
        // The answer, or the round that comes next, is the headline.
        let headline = match told.iter().position(|block| matches!(block, Block::Section(_))) {
            Some(index) => match told.remove(index) {
                Block::Section(title) => title,
                _ => String::new(),
            },
            None => String::new(),
        };
        told.append(&mut told_rounds);
        let pictures: Vec<_> = grid(&packs, &guilty, &rounds, &labels).into_iter().collect();
        page_of(&Head { headline: &headline, standing: "", tone }, &pictures, &told, &labels)
    }
}
