//! A set of units, by their numbers. Only what the search needs of sets.

/// Units that are on, or that are meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UnitSet {
    /// Numbers in rising order: sets are small, and this order is the one that is shown.
    numbers: Vec<usize>,
}

impl UnitSet {
    pub fn new() -> Self {
        Self::default()
    }

    /// The units `0..count`.
    pub fn all(count: usize) -> Self {
        Self { numbers: (0..count).collect() }
    }

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub fn contains(&self, unit: usize) -> bool {
        self.numbers.binary_search(&unit).is_ok()
    }

    /// True when the unit was not there before.
    pub fn insert(&mut self, unit: usize) -> bool {
        match self.numbers.binary_search(&unit) {
            Ok(_) => false,
            Err(place) => {
                self.numbers.insert(place, unit);
                true
            }
        }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.numbers.iter().copied()
    }

    /// Every unit of this set is in `other`.
    pub fn within(&self, other: &Self) -> bool {
        self.len() <= other.len() && self.iter().all(|unit| other.contains(unit))
    }

    /// Units of both.
    pub fn with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.extend(other.iter());
        all
    }

    /// Units of this set that are not in `other`.
    pub fn without(&self, other: &Self) -> Self {
        self.iter().filter(|unit| !other.contains(*unit)).collect()
    }

    /// Units that are in both.
    pub fn common(&self, other: &Self) -> Self {
        self.iter().filter(|unit| other.contains(*unit)).collect()
    }
}

impl Extend<usize> for UnitSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, units: I) {
        self.numbers.extend(units);
        self.numbers.sort_unstable();
        self.numbers.dedup();
    }
}

impl FromIterator<usize> for UnitSet {
    fn from_iter<I: IntoIterator<Item = usize>>(units: I) -> Self {
        let mut set = Self::new();
        set.extend(units);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::UnitSet;

    fn set(units: &[usize]) -> UnitSet {
        units.iter().copied().collect()
    }

    #[test]
    fn sets_are_sets() {
        let a = set(&[3, 1, 3]);
        assert_eq!(a.iter().collect::<Vec<_>>(), [1, 3]);
        assert_eq!(a.with(&set(&[2])), set(&[1, 2, 3]));
        assert_eq!(a.without(&set(&[1])), set(&[3]));
        assert_eq!(a.common(&set(&[3, 4])), set(&[3]));
        assert!(set(&[1]).within(&a) && !set(&[2]).within(&a) && UnitSet::new().within(&a));
    }
}
