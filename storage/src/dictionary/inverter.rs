//! The inversion of what one writer adds.
//!
//! Postings are logged in the order in which they come, with the number of their term; sorting by term
//! happens once, when the log is inverted. Per posting that takes one lookup of the term and a few
//! bytes at the end of a vector.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

use super::block::has_frequencies;
use crate::codec::{put_varint, varint_length};
use crate::field::FIELDS;
use crate::postings::{encode_frequencies, encoded_length};

/// Set in the log with the number of a label: it has no frequencies.
const LABEL: u32 = 1 << 31;
/// About what a term takes beside its bytes, and a posting when it is inverted.
const TERM_OVERHEAD: usize = 64;
const POSTING_OVERHEAD: usize = 4;
/// Bytes of terms after which memory counts as used up, so that places in them fit 32 bits.
const MAX_TEXT: usize = 1 << 31;

/// Collects postings by term.
#[derive(Debug, Default)]
pub(crate) struct Inverter {
    terms: Terms,
    /// Hash of a term, moved on past those of others, → the term.
    slots: FxHashMap<u64, Slot>,
    log: Vec<u32>,
    frequencies: Vec<u8>,
    /// A chunk and the end of its postings in the log.
    chunks: Vec<(u32, usize)>,
    /// Hashes of the terms at hand, and what was found for each; kept for its room.
    found: Vec<(u64, Option<Slot>)>,
}

/// A term: its number, and where its text begins.
#[derive(Debug, Clone, Copy)]
struct Slot {
    number: u32,
    start: u32,
}

/// The distinct terms in the order in which they came, each behind a byte with its length.
#[derive(Debug, Default)]
struct Terms {
    text: Vec<u8>,
    starts: Vec<u32>,
}

impl Terms {
    fn get(&self, number: usize) -> &[u8] {
        let start = self.starts[number] as usize;
        let end = start + 1 + self.text[start] as usize;
        &self.text[start + 1..end]
    }

    /// Whether the term that begins at `start` is this one.
    fn is_at(&self, start: u32, term: &[u8]) -> bool {
        let stored = &self.text[start as usize..];
        stored[0] as usize == term.len() && stored[1..].starts_with(term)
    }

    fn push(&mut self, term: &[u8]) -> Slot {
        let slot = Slot { number: self.starts.len() as u32, start: self.text.len() as u32 };
        self.starts.push(slot.start);
        self.text.push(u8::try_from(term.len()).expect("longer terms and labels are cut before"));
        self.text.extend_from_slice(term);
        slot
    }
}

impl Inverter {
    /// Adds the postings of a chunk. For one term, chunks must be added in ascending order.
    pub(crate) fn add<'t>(&mut self, chunk: u32, postings: impl Iterator<Item = (&'t [u8], [u16; FIELDS])> + Clone) {
        // All slots are looked up before the first text is compared: the processor then waits for many
        // of them at the same time.
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        found.extend(postings.clone().map(|(term, _)| {
            let mut hasher = FxHasher::default();
            hasher.write(term);
            let hash = hasher.finish();
            (hash, self.slots.get(&hash).copied())
        }));
        for ((term, frequencies), &(hash, slot)) in postings.zip(&found) {
            let number = match slot {
                Some(slot) if self.terms.is_at(slot.start, term) => slot.number,
                _ => self.number(hash, term),
            };
            if has_frequencies(term) {
                encode_frequencies(&mut self.frequencies, &frequencies);
                self.log.push(number);
            } else {
                self.log.push(number | LABEL);
            }
        }
        self.found = found;
        match self.chunks.last_mut() {
            Some((last, end)) if *last == chunk => *end = self.log.len(),
            _ => self.chunks.push((chunk, self.log.len())),
        }
    }

    /// About the bytes of memory that are held, or will be when the log is inverted.
    pub(crate) fn memory(&self) -> usize {
        if self.terms.text.len() > MAX_TEXT {
            return usize::MAX;
        }
        let logged = self.log.capacity() * size_of::<u32>() + self.frequencies.capacity();
        let inverted = self.log.len() * POSTING_OVERHEAD + self.frequencies.len();
        logged + inverted + self.terms.text.capacity() + self.terms.starts.len() * TERM_OVERHEAD
    }

    /// The number of a term, a new one if need be.
    fn number(&mut self, mut hash: u64, term: &[u8]) -> u32 {
        while let Some(slot) = self.slots.get(&hash) {
            if self.terms.is_at(slot.start, term) {
                return slot.number;
            }
            hash = hash.wrapping_add(1);
        }
        let slot = self.terms.push(term);
        self.slots.insert(hash, slot);
        slot.number
    }

    /// Sorts the log by term.
    pub(super) fn invert(self) -> Inverted {
        let Self { terms, slots, log, frequencies, chunks, .. } = self;
        drop(slots);
        let count = terms.starts.len();
        let mut counts = vec![0u32; count];
        let mut starts = vec![0usize; count + 1];
        let mut last = vec![0u32; count];
        each_posting(&log, &frequencies, &chunks, |number, chunk, frequencies| {
            let gap = u64::from(chunk - last[number]);
            last[number] = chunk;
            counts[number] += 1;
            starts[number + 1] += varint_length(gap) + frequencies.len();
        });
        for number in 0..count {
            starts[number + 1] += starts[number];
        }
        let mut postings = vec![0u8; starts[count]];
        let mut ends = starts[..count].to_vec();
        last.fill(0);
        let mut gap = Vec::with_capacity(8);
        each_posting(&log, &frequencies, &chunks, |number, chunk, frequencies| {
            gap.clear();
            put_varint(&mut gap, u64::from(chunk - last[number]));
            last[number] = chunk;
            let start = ends[number];
            let middle = start + gap.len();
            ends[number] = middle + frequencies.len();
            postings[start..middle].copy_from_slice(&gap);
            postings[middle..ends[number]].copy_from_slice(frequencies);
        });
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by(|&a, &b| terms.get(a as usize).cmp(terms.get(b as usize)));
        Inverted { terms, order, counts, starts, postings, next: 0 }
    }
}

/// Gives every posting of the log with the number of its term, its chunk and its frequencies as bytes.
fn each_posting(log: &[u32], frequencies: &[u8], chunks: &[(u32, usize)], mut each: impl FnMut(usize, u32, &[u8])) {
    let (mut start, mut rest) = (0, frequencies);
    for &(chunk, end) in chunks {
        for &entry in &log[start..end] {
            let length = if entry & LABEL == 0 { encoded_length(rest) } else { 0 };
            let (own, after) = rest.split_at(length);
            each((entry & !LABEL) as usize, chunk, own);
            rest = after;
        }
        start = end;
    }
}

/// The lists of an inversion, one after another in the order of their terms.
#[derive(Debug)]
pub(crate) struct Inverted {
    terms: Terms,
    order: Vec<u32>,
    counts: Vec<u32>,
    starts: Vec<usize>,
    postings: Vec<u8>,
    next: usize,
}

impl Inverted {
    /// The list at hand: its term, the number of its postings, and these as in a dictionary entry.
    pub(super) fn current(&self) -> Option<(&[u8], u32, &[u8])> {
        let number = *self.order.get(self.next)? as usize;
        let postings = &self.postings[self.starts[number]..self.starts[number + 1]];
        Some((self.terms.get(number), self.counts[number], postings))
    }

    /// Moves to the next list.
    pub(super) fn advance(&mut self) {
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::dictionary::block::decode_inline;
    use crate::postings::Posting;

    type Rows = Vec<(u32, [u16; FIELDS])>;

    proptest! {
        #[test]
        fn lists_are_those_that_were_added(
            chunks in prop::collection::vec(
                (1u32..1000, prop::collection::btree_map("[\u{1}ab]{1,3}", prop::array::uniform6(0u16..300), 0..6)), 0..30),
        ) {
            let (mut inverter, mut expected, mut chunk) = (Inverter::default(), BTreeMap::<Vec<u8>, Rows>::new(), 0);
            for (gap, terms) in chunks {
                chunk += gap;
                inverter.add(chunk, terms.iter().map(|(term, frequencies)| (term.as_bytes(), *frequencies)));
                for (term, frequencies) in terms {
                    let term = term.into_bytes();
                    let kept = if has_frequencies(&term) { frequencies } else { [0; FIELDS] };
                    expected.entry(term).or_default().push((chunk, kept));
                }
            }
            let (mut inverted, mut read) = (inverter.invert(), Vec::new());
            while let Some((term, count, postings)) = inverted.current() {
                let mut rows = Rows::new();
                let each = |posting: Posting| rows.push((posting.chunk, posting.frequencies));
                prop_assert!(decode_inline(postings, count, has_frequencies(term), each).is_some());
                read.push((term.to_vec(), rows));
                inverted.advance();
            }
            prop_assert_eq!(read, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
