//! Lines that a narrow window broke: what is private may stand in two of them, and in neither as a whole.
//!
//! A window is known by its lines: none is wider, and several are just as wide. Nothing is put together for good; only
//! what crosses a break is looked for.

/// Columns of windows.
const WIDTHS: std::ops::RangeInclusive<usize> = 30..=400;
/// So many lines must be as wide as the window.
const LINES: u32 = 2;
/// The longest text put together, in bytes.
const LONGEST: usize = 8_000;

/// A text of several lines, and where it was broken.
pub(super) type Whole = (String, Vec<usize>);

/// Puts lines together as they come.
#[derive(Debug, Default)]
pub(super) struct Folded {
    widest: usize,
    lines: u32,
    text: String,
    breaks: Vec<usize>,
    /// What the first line as wide as the window goes on with.
    first: Option<Whole>,
}

impl Folded {
    /// The next line; texts that are broken up to here.
    pub(super) fn put(&mut self, line: &str) -> Vec<Whole> {
        let width = line.chars().count();
        if width > self.widest {
            *self = Self { widest: width, ..Self::default() };
        }
        let mut found = Vec::new();
        if !self.text.is_empty() {
            self.breaks.push(self.text.len());
            self.text.push_str(line);
            let whole = (self.text.clone(), self.breaks.clone());
            if self.lines >= LINES {
                found.push(whole);
            } else {
                self.first = Some(whole);
            }
        }
        if width != self.widest || !WIDTHS.contains(&width) || self.text.len() > LONGEST {
            self.text.clear();
            self.breaks.clear();
            return found;
        }
        self.lines = self.lines.saturating_add(1);
        if self.lines >= LINES {
            found.extend(self.first.take());
        }
        if self.text.is_empty() {
            self.text.push_str(line);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str]) -> Vec<Whole> {
        let mut folded = Folded::default();
        lines.iter().flat_map(|line| folded.put(line)).collect()
    }

    #[test]
    fn lines_as_wide_as_the_window_go_on_below() {
        let full = "x".repeat(40);
        let whole = |rest: &str| (format!("{full}{rest}"), vec![40]);
        assert_eq!(found(&["short", &full, "one", "short", &full, "two"]), [whole("one"), whole("two")]);
        assert_eq!(found(&[&full, "one", "short"]), [], "one such line shows no window");
        assert_eq!(found(&[&full, "one", &full, &"y".repeat(41), "z"]), [whole("one")], "a wider one shows none");
        let long = [full.as_str(), &full, "end"];
        assert_eq!(found(&long).last(), Some(&(long.concat(), vec![40, 80])));
    }
}
