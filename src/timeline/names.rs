//! Names of a log, each kept once: a name is a number while the log is read, and tables are lists.
//!
//! A log may hold millions of names. Later ones, and those beyond the limit of a table, are told together as
//! [`OTHERS`].

use std::collections::BTreeMap;

use crate::eight::hash;

/// Names kept apart in one session.
const NAMES_LIMIT: usize = 2048;
/// Bytes of a name that are looked at; no class name is as long.
const NAME_BYTES: usize = 200;
/// Entries of one table; later names are counted together.
pub(crate) const TABLE_LIMIT: usize = 256;
/// Name under which names beyond a limit are counted.
pub(crate) const OTHERS: &str = "(others)";

/// Number of a name in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameId(u16);

impl NameId {
    const OTHERS: Self = Self(0);

    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The names of a session, found by hash.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    list: Vec<Box<str>>,
    /// Number of a name plus one, at the place that its hash gives or the next free one; zero is free.
    slots: Vec<u16>,
}

impl Names {
    pub(crate) fn id(&mut self, name: &str) -> NameId {
        if self.list.is_empty() {
            self.slots = vec![0; NAMES_LIMIT * 2];
            self.add(OTHERS);
        }
        self.add(cut(name))
    }

    pub(crate) fn text(&self, id: NameId) -> &str {
        self.list.get(id.index()).map_or(OTHERS, |name| name)
    }

    fn add(&mut self, name: &str) -> NameId {
        // Names made to collide cost a walk over the table, which is short.
        let mut at = hash(name.as_bytes()) as usize % self.slots.len();
        // At most half of the slots are taken, so that there is an end.
        while let Some(slot) = self.slots.get_mut(at) {
            let Some(number) = slot.checked_sub(1) else {
                if self.list.len() >= NAMES_LIMIT {
                    break;
                }
                let number = self.list.len() as u16;
                *slot = number + 1;
                self.list.push(name.into());
                return NameId(number);
            };
            if self.list.get(usize::from(number)).is_some_and(|known| **known == *name) {
                return NameId(number);
            }
            at = (at + 1) % self.slots.len();
        }
        NameId::OTHERS
    }
}

fn cut(name: &str) -> &str {
    let mut end = name.len().min(NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

/// Something for each of up to [`TABLE_LIMIT`] names, and for the others together.
#[derive(Debug, Clone)]
pub(crate) struct Table<T> {
    items: Vec<Option<T>>,
    filled: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { items: Vec::new(), filled: 0 }
    }
}

impl<T> Table<T> {
    /// The name itself, or the others when the table is full and does not hold it.
    pub(crate) fn place(&self, id: NameId) -> NameId {
        if self.filled < TABLE_LIMIT || self.get(id).is_some() { id } else { NameId::OTHERS }
    }

    /// The entry of a name that [`Table::place`] gave, made when it is missing.
    pub(crate) fn at(&mut self, place: NameId, make: impl FnOnce() -> T) -> &mut T {
        let index = place.index();
        if index >= self.items.len() {
            self.items.resize_with(index + 1, || None);
        }
        let slot = &mut self.items[index];
        self.filled += usize::from(slot.is_none());
        slot.get_or_insert_with(make)
    }

    /// The entry of a name, or of the others.
    pub(crate) fn entry(&mut self, id: NameId, make: impl FnOnce() -> T) -> &mut T {
        self.at(self.place(id), make)
    }

    pub(crate) fn get(&self, id: NameId) -> Option<&T> {
        self.items.get(id.index())?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: NameId) -> Option<&mut T> {
        self.items.get_mut(id.index())?.as_mut()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.filled == 0
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.filled = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (NameId, &T)> {
        self.items.iter().enumerate().filter_map(|(number, item)| Some((NameId(number as u16), item.as_ref()?)))
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().flatten()
    }

    /// All entries by name.
    pub(crate) fn into_map<U>(self, names: &Names, mut make: impl FnMut(T) -> U) -> BTreeMap<String, U> {
        let named = |(number, item): (usize, Option<T>)| Some((number, item?));
        self.items
            .into_iter()
            .enumerate()
            .filter_map(named)
            .map(|(number, item)| (names.text(NameId(number as u16)).to_owned(), make(item)))
            .collect()
    }
}

/// How often each of a few names was seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameCounts(Vec<(NameId, u64)>);

impl NameCounts {
    /// Names kept apart; a prompt uses a dozen.
    const LIMIT: usize = 64;

    pub(crate) fn add(&mut self, id: NameId) {
        let full = self.0.len() >= Self::LIMIT;
        match self.0.iter_mut().find(|(known, _)| *known == id) {
            Some((_, count)) => *count += 1,
            None if full && id != NameId::OTHERS => self.add(NameId::OTHERS),
            None => self.0.push((id, 1)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn to_map(&self, names: &Names) -> BTreeMap<String, u64> {
        self.0.iter().map(|(id, count)| (names.text(*id).to_owned(), *count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_limits_are_the_others() {
        let mut names = Names::default();
        let mut table: Table<u64> = Table::default();
        for number in 0..10_000 {
            let id = names.id(&format!("Model{number}"));
            *table.entry(id, || 0) += 1;
        }
        let flux = names.id("Flux");
        assert_eq!(names.text(flux), OTHERS);
        let first = names.id("Model0");
        assert_eq!(names.text(first), "Model0");
        let map = table.into_map(&names, |count| count);
        assert_eq!(map.len(), TABLE_LIMIT + 1);
        assert_eq!(map[OTHERS], 10_000 - TABLE_LIMIT as u64);
    }

    #[test]
    fn long_names_are_cut_between_letters() {
        let mut names = Names::default();
        let id = names.id(&"模".repeat(1000));
        assert_eq!(names.text(id), "模".repeat(NAME_BYTES / 3));
    }

    #[test]
    fn counts_of_a_few_names() {
        let mut names = Names::default();
        let mut counts = NameCounts::default();
        for number in 0..100 {
            counts.add(names.id(&format!("Model{}", number % 80)));
        }
        let map = counts.to_map(&names);
        assert_eq!(map.len(), NameCounts::LIMIT + 1);
        assert_eq!(map["Model0"], 2);
        assert_eq!(map.values().sum::<u64>(), 100);
    }
}
