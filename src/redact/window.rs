//! Widths at which a window broke lines: what is private may stand in two of them, and in neither as a whole.

/// Columns of windows.
const WIDTHS: std::ops::RangeInclusive<usize> = 30..=400;
/// Widths that windows have by default.
const USUAL: [usize; 7] = [79, 80, 100, 119, 120, 132, 160];
/// So many lines must be as wide as the window.
const LINES: u32 = 2;

/// How wide the lines of a log are.
#[derive(Debug, Clone)]
pub struct Window {
    counts: Vec<u32>,
    widest: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self { counts: vec![0; WIDTHS.end() + 1], widest: 0 }
    }
}

impl Window {
    /// Takes note of a line's width, in letters.
    pub fn put(&mut self, width: usize) {
        self.widest = self.widest.max(width);
        if let Some(count) = self.counts.get_mut(width) {
            *count = count.saturating_add(1);
        }
    }

    /// A line of so many bytes may be as wide as a window.
    #[must_use]
    pub fn may_be_full(bytes: usize) -> bool {
        bytes >= *WIDTHS.start()
    }

    /// A line of this width may go on in the next one: none is wider and several are as wide, or it is a usual width.
    #[must_use]
    pub fn is_full(&self, width: usize) -> bool {
        let count = |width: usize| self.counts.get(width).copied().unwrap_or(0);
        let usual = USUAL.contains(&width) && count(width) > count(width - 1).max(count(width + 1));
        WIDTHS.contains(&width) && count(width) >= LINES && (width == self.widest || usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_known_by_their_lines() {
        let mut window = Window::default();
        for width in [12, 40, 7, 40, 39] {
            window.put(width);
        }
        assert!(window.is_full(40) && !window.is_full(39) && !window.is_full(12));
        for width in [80, 80, 300] {
            window.put(width);
        }
        assert!(window.is_full(80) && !window.is_full(300) && !window.is_full(40));
    }
}
