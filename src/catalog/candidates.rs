//! Which rules a line was looked up by, so that they need not be looked up again.

/// Rules by which a line was looked up; of many only that there are many.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Candidates {
    numbers: [u16; 4],
    count: usize,
}

impl Candidates {
    #[inline]
    pub(super) fn enter(&mut self, number: u16) {
        if let Some(free) = self.numbers.get_mut(self.count) {
            *free = number;
        }
        self.count += 1;
    }

    pub(crate) fn is_any(self) -> bool {
        self.count > 0
    }

    /// All of them; none when they are many.
    pub(super) fn all(&self) -> Option<&[u16]> {
        self.numbers.get(..self.count)
    }
}
