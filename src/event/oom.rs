//! Reads an allocator's sentence with the phrases that a pack lists: which number stands for what.

use std::borrow::Cow;

use super::OomNumbers;
use super::size::capture_bytes;
use crate::catalog::{Lent, OomPhrase, Spans};

/// Captured sizes as they stood: field name and text.
pub(crate) type Sizes<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// The phrases of all packs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OomPhrases<'p>(pub(crate) &'p [OomPhrase]);

impl<'p> OomPhrases<'p> {
    /// All numbers of a sentence.
    pub(crate) fn read<'t>(self, text: &'t [u8]) -> (OomNumbers, Sizes<'t>)
    where
        'p: 't,
    {
        let mut numbers = OomNumbers::default();
        let mut sizes = Vec::new();
        let mut spans = Spans::new();
        for phrase in self.0 {
            let mut rest = text;
            while let Some(captures) = phrase.template.find(rest, &mut spans) {
                add_captures(captures, phrase.sum, &mut numbers, &mut sizes);
                // Each find moves on behind what was captured.
                let Some(end) = captures.last_end().filter(|_| phrase.sum) else { break };
                rest = rest.get(end.max(1)..).unwrap_or_default();
            }
        }
        (numbers, sizes)
    }
}

/// Enters the captures that are fields of an OOM.
pub(crate) fn add_captures<'t>(captures: Lent<'_, 't, 't>, sum: bool, numbers: &mut OomNumbers, sizes: &mut Sizes<'t>) {
    for capture in captures.iter() {
        let text = String::from_utf8_lossy(capture.text);
        let Some(slot) = field(numbers, capture.name) else { continue };
        if let Some(bytes) = capture_bytes(capture.kind, capture.text) {
            *slot = Some(if sum { slot.unwrap_or(0.0) + bytes } else { bytes });
            if !sizes.iter().any(|(name, _)| *name == capture.name) {
                sizes.push((Cow::Borrowed(capture.name), text));
            }
        }
    }
}

fn field<'n>(numbers: &'n mut OomNumbers, name: &str) -> Option<&'n mut Option<f64>> {
    Some(match name {
        "requested" => &mut numbers.requested,
        "capacity" => &mut numbers.capacity,
        "free" => &mut numbers.free,
        "process" => &mut numbers.process,
        "others" => &mut numbers.others,
        "allocated" => &mut numbers.allocated,
        "reserved_unallocated" => &mut numbers.reserved_unallocated,
        "reserved_total" => &mut numbers.reserved_total,
        "limit" | "fraction" => &mut numbers.limit,
        "graph_pools" => &mut numbers.graph_pools,
        "other_allocations" => &mut numbers.other_allocations,
        _ => return None,
    })
}

impl OomNumbers {
    /// Takes over what `other` knows and this does not.
    pub fn merge(&mut self, other: &OomNumbers) {
        let fill = |mine: &mut Option<f64>, theirs: Option<f64>| *mine = mine.or(theirs);
        fill(&mut self.requested, other.requested);
        fill(&mut self.capacity, other.capacity);
        fill(&mut self.free, other.free);
        fill(&mut self.process, other.process);
        fill(&mut self.others, other.others);
        fill(&mut self.allocated, other.allocated);
        fill(&mut self.reserved_unallocated, other.reserved_unallocated);
        fill(&mut self.reserved_total, other.reserved_total);
        fill(&mut self.limit, other.limit);
        fill(&mut self.graph_pools, other.graph_pools);
        fill(&mut self.other_allocations, other.other_allocations);
    }
}
