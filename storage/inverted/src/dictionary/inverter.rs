//! Inversion in memory: turns chunks with their terms into terms with their chunks.
//!
//! [`Inverter`] appends the postings to a log in the order of chunks, each with the number of its term. At the end, a
//! counting sort orders the log by term. Adding a posting therefore costs only one hash lookup and a few appended
//! bytes.

use super::block::has_frequencies;
use super::run::{Run, RunList, RunWriter};
use crate::postings::{TfVector, encode_tf_vector, encoded_length};
use crate::slots::{Slot, SlotTable};
use crate::terms::HashedTerm;
use aurora_codec::varint_length;

/// Flag in the log: the number belongs to a label, whose postings have no frequencies.
const LABEL: u32 = 1 << 31;
/// An inverter is full when its term texts exceed this size in bytes, so that offsets in the texts fit in 32 bits.
const MAX_TEXT_BYTES: usize = 1 << 31;
/// Size in bytes of a term's number. In [`TermTable::text`], the number precedes the length and the text of the term.
const NUMBER_BYTES: usize = 4;

/// Collects postings by term.
#[derive(Debug, Default)]
pub struct Inverter {
    terms: TermTable,
    log: Vec<u32>,
    frequencies: Vec<u8>,
    /// Each chunk, with the index in the log at which its postings end.
    chunks: Vec<(u32, usize)>,
    /// For each term of the current chunk: the first slot in which the term may be stored, and the number of the term
    /// if the slot contains it. The buffer is reused.
    found: Vec<(Slot, Option<u32>)>,
}

/// The distinct terms, numbered in order of first occurrence.
#[derive(Debug, Default)]
struct TermTable {
    /// Number, length (one byte) and text of each term.
    text: Vec<u8>,
    starts: Vec<u32>,
    /// Offsets in `text` by term. The caller reads the first slots of all terms of a chunk before it compares any text,
    /// so that cache misses overlap. hashbrown's table does not allow that. With hashbrown, numbering the terms of
    /// OpenJDK takes 1.5 times as long, and an indexing run 2 % longer.
    slots: SlotTable,
}

impl TermTable {
    fn get(&self, number: usize) -> &[u8] {
        let length = self.starts[number] as usize + NUMBER_BYTES;
        &self.text[length + 1..length + 1 + self.text[length] as usize]
    }

    /// Returns the number of a term, and adds the term with the next number if it is new.
    fn number(&mut self, term: HashedTerm<'_>) -> u32 {
        let HashedTerm { bytes, hash } = term;
        let (number, start) = (self.starts.len() as u32, self.text.len() as u32);
        let slot = Slot { hash, number: start };
        if let Some(known) = self.slots.find_or_insert(slot, |start| number_at(&self.text, start, bytes)) {
            return known;
        }
        self.starts.push(start);
        self.text.extend_from_slice(&number.to_le_bytes());
        self.text.push(u8::try_from(bytes.len()).expect("callers shorten longer terms and labels"));
        self.text.extend_from_slice(bytes);
        number
    }
}

/// Returns the number of the term stored at an offset in [`TermTable::text`] if it is `term`.
#[inline]
fn number_at(text: &[u8], start: u32, term: &[u8]) -> Option<u32> {
    let (number, stored) = text.get(start as usize..)?.split_first_chunk::<NUMBER_BYTES>()?;
    let (&length, stored) = stored.split_first()?;
    (length as usize == term.len() && stored.starts_with(term)).then_some(u32::from_le_bytes(*number))
}

impl Inverter {
    /// Adds the postings of a chunk. Chunks that contain the same term must be added in ascending order.
    pub fn add<'t>(&mut self, chunk: u32, postings: impl Iterator<Item = (HashedTerm<'t>, TfVector)> + Clone) {
        // Reads all slots, then compares all texts, then logs all postings, so that cache misses overlap.
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        found.extend(postings.clone().map(|(HashedTerm { hash, .. }, _)| (self.terms.slots.first(hash), None)));
        for ((term, _), (slot, number)) in postings.clone().zip(&mut found) {
            if slot.hash == term.hash {
                *number = number_at(&self.terms.text, slot.number, term.bytes);
            }
        }
        for ((term, frequencies), (_, number)) in postings.zip(&found) {
            let number = number.unwrap_or_else(|| self.terms.number(term));
            if has_frequencies(term.bytes) {
                encode_tf_vector(&mut self.frequencies, &frequencies);
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

    /// Whether the inverter is full, so that no more chunks may be added.
    pub fn is_full(&self) -> bool {
        self.terms.text.len() > MAX_TEXT_BYTES
    }

    /// Whether no postings were added.
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// Returns the postings as a run.
    pub fn into_run(self) -> Run {
        // The log is sorted by term. The first pass counts the bytes of each list, the second pass writes them.
        let Self { mut terms, log, frequencies, chunks, .. } = self;
        terms.slots = SlotTable::default();
        let mut lists = vec![ListTally::default(); terms.starts.len()];
        for_each_posting(&log, &frequencies, &chunks, |number, chunk, frequencies| {
            let list = &mut lists[number];
            list.end += varint_length(u64::from(chunk - list.last)) + frequencies.len();
            list.last = chunk;
            list.count += 1;
        });
        let mut length = 0;
        for list in &mut lists {
            list.last = 0;
            length += std::mem::replace(&mut list.end, length);
        }
        let mut postings = vec![0u8; length];
        for_each_posting(&log, &frequencies, &chunks, |number, chunk, frequencies| {
            let list = &mut lists[number];
            let mut gap = chunk - list.last;
            list.last = chunk;
            let mut put = |byte| {
                postings[list.end] = byte;
                list.end += 1;
            };
            while gap >= 0x80 {
                put(gap as u8 | 0x80);
                gap >>= 7;
            }
            put(gap as u8);
            frequencies.iter().for_each(|&byte| put(byte));
        });
        let mut order: Vec<(u64, u32)> =
            (0..lists.len() as u32).map(|number| (prefix_key(terms.get(number as usize)), number)).collect();
        let term = |number: u32| terms.get(number as usize);
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| term(a.1).cmp(term(b.1))));
        drop((log, frequencies));
        let mut writer = RunWriter::new(Vec::with_capacity(postings.len() + terms.text.len() + 4 * lists.len()));
        for number in order.into_iter().map(|(_, number)| number as usize) {
            // Each list begins where the list before it ends.
            let start = number.checked_sub(1).map_or(0, |before| lists[before].end);
            let ListTally { end, last, count } = lists[number];
            let list = RunList { term: terms.get(number), count, last, postings: &postings[start..end] };
            writer.push(list).expect("writing to a vector cannot fail");
        }
        let (bytes, index) = writer.finish().expect("writing to a vector cannot fail");
        Run { bytes, index }
    }
}

/// State of a list while the log is sorted. Afterwards `end` is the end of the list's postings.
#[derive(Debug, Clone, Copy, Default)]
struct ListTally {
    end: usize,
    last: u32,
    count: u32,
}

/// Returns the first eight bytes of a term as a number. Terms with different numbers have the same order as their
/// numbers.
fn prefix_key(term: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = term.len().min(bytes.len());
    bytes[..length].copy_from_slice(&term[..length]);
    u64::from_be_bytes(bytes)
}

/// Calls `each` with every posting of the log: the number of the term, the chunk and the encoded tf vector.
fn for_each_posting(log: &[u32], frequencies: &[u8], chunks: &[(u32, usize)], mut each: impl FnMut(usize, u32, &[u8])) {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::dictionary::block::decode_inline;
    use crate::dictionary::run::RunReader;
    use crate::field::FIELDS;
    use crate::postings::Posting;

    type Rows = Vec<(u32, TfVector)>;

    proptest! {
        #[test]
        fn inverted_lists_contain_the_added_postings(
            chunks in prop::collection::vec(
                (1u32..1000, prop::collection::btree_map("[\u{1}ab]{1,3}", prop::array::uniform7(0u16..300), 0..6)), 0..30),
        ) {
            let (mut inverter, mut expected, mut chunk) = (Inverter::default(), BTreeMap::<Vec<u8>, Rows>::new(), 0);
            for (gap, terms) in chunks {
                chunk += gap;
                inverter.add(chunk, terms.iter().map(|(term, frequencies)| (HashedTerm::new(term.as_bytes()), *frequencies)));
                for (term, frequencies) in terms {
                    let term = term.into_bytes();
                    let kept = if has_frequencies(&term) { frequencies } else { [0; FIELDS] };
                    expected.entry(term).or_default().push((chunk, kept));
                }
            }
            let (run, mut read) = (inverter.into_run(), Vec::new());
            let mut lists = RunReader::new(&run.bytes).expect("the run is valid");
            while let Some(RunList { term, count, last, postings }) = lists.list() {
                let mut rows = Rows::new();
                let each = |posting: Posting| rows.push((posting.chunk, posting.frequencies));
                prop_assert!(decode_inline(postings, count, has_frequencies(term), each).is_some());
                prop_assert_eq!(rows.last().map(|(chunk, _)| *chunk), Some(last));
                read.push((term.to_vec(), rows));
                lists.advance().expect("the run is valid");
            }
            prop_assert_eq!(read, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
