//! Encoded posting lists that have not been written to a segment. Several threads encode lists, and one thread writes
//! them to a segment.

use super::block::{MAX_INLINE_POSTINGS, encode_inline, has_frequencies};
use crate::chunk_id::WINDOW;
use crate::lengths::LengthCodes;
use crate::postings::{MAX_PART_POSTINGS, MAX_SHORT_POSTINGS, PartLayout, Posting, encode_part};

/// Minimum number of postings of a part, except the last part of a list. A part ends at the end of the window in which
/// it reaches this number.
const TARGET_PART_POSTINGS: usize = 48 << 10;
const _: () = assert!(TARGET_PART_POSTINGS + WINDOW as usize <= MAX_PART_POSTINGS);

/// Encoded posting lists with their terms. A list that is short enough for the dictionary is stored as the body of its
/// dictionary entry, any other list as parts.
#[derive(Debug, Default)]
pub struct EncodedLists {
    bytes: Vec<u8>,
    /// Number of postings and number of parts of each list.
    lists: Vec<(u64, usize)>,
    /// End offsets in `bytes` of the term and of the parts of each list.
    ends: Vec<usize>,
}

impl EncodedLists {
    /// Returns the term, the number of postings and the parts of each list.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64, impl ExactSizeIterator<Item = &[u8]>)> {
        let (mut start, mut left) = (0, self.ends.as_slice());
        self.lists.iter().map(move |&(count, parts)| {
            let (ends, after) = left.split_at(1 + parts);
            let term = &self.bytes[start..ends[0]];
            (start, left) = (ends[parts], after);
            (term, count, ends.windows(2).map(|ends| &self.bytes[ends[0]..ends[1]]))
        })
    }
}

/// Encodes posting lists in the order of their terms.
pub struct ListEncoder<'w> {
    length: &'w dyn Fn(u32) -> LengthCodes,
    encoded: EncodedLists,
    with_frequencies: bool,
    pending: Vec<Posting>,
    /// Number of postings in the completed parts of the current list.
    count: u64,
    /// Number of completed parts of the current list.
    parts: usize,
}

impl<'w> ListEncoder<'w> {
    /// Creates an encoder; `length` returns the field lengths of a chunk.
    pub fn new(length: &'w dyn Fn(u32) -> LengthCodes) -> Self {
        let (encoded, pending) = (EncodedLists::default(), Vec::new());
        Self { length, encoded, with_frequencies: false, pending, count: 0, parts: 0 }
    }

    /// Begins the list of a term.
    pub fn begin(&mut self, term: &[u8]) {
        self.with_frequencies = has_frequencies(term);
        self.encoded.bytes.extend_from_slice(term);
        self.encoded.ends.push(self.encoded.bytes.len());
        (self.count, self.parts) = (0, 0);
    }

    /// Adds a posting. Its chunk must be above the chunk of the previous posting.
    pub fn push(&mut self, posting: Posting) {
        let begins_window = |last: &Posting| last.chunk / WINDOW != posting.chunk / WINDOW;
        if self.pending.len() >= TARGET_PART_POSTINGS && self.pending.last().is_some_and(begins_window) {
            self.end_part(PartLayout::Long);
        }
        self.pending.push(posting);
    }

    /// Ends the list and omits it if it has no postings.
    pub fn end(&mut self) {
        let left = self.pending.len();
        if self.parts == 0 && left <= MAX_INLINE_POSTINGS {
            if left == 0 {
                self.encoded.ends.pop();
                let end = self.encoded.ends.last().copied().unwrap_or(0);
                return self.encoded.bytes.truncate(end);
            }
            encode_inline(&mut self.encoded.bytes, &self.pending, self.with_frequencies);
            self.close_part();
        } else {
            let is_short = self.parts == 0 && left <= MAX_SHORT_POSTINGS;
            self.end_part(if is_short { PartLayout::Short } else { PartLayout::Long });
        }
        self.encoded.lists.push((self.count, self.parts));
    }

    /// Returns the completed lists and removes them from the encoder.
    pub fn take(&mut self) -> EncodedLists {
        std::mem::take(&mut self.encoded)
    }

    /// Clears lists that [`Self::take`] returned, and reuses their memory.
    pub(super) fn reuse(&mut self, mut lists: EncodedLists) {
        lists.bytes.clear();
        lists.lists.clear();
        lists.ends.clear();
        self.encoded = lists;
    }

    /// Encodes the pending postings as a part. The list of a label always has the layout [`PartLayout::Label`].
    fn end_part(&mut self, layout: PartLayout) {
        let layout = if self.with_frequencies { layout } else { PartLayout::Label };
        encode_part(&mut self.encoded.bytes, &self.pending, layout, self.length);
        self.close_part();
    }

    fn close_part(&mut self) {
        self.count += self.pending.len() as u64;
        self.pending.clear();
        self.parts += 1;
        self.encoded.ends.push(self.encoded.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::{SegmentReader, SegmentWriter};
    use crate::field::FIELDS;
    use crate::memory::MemorySegment;
    use crate::postings::{Postings, Tombstones};
    use crate::terms::LABEL_PREFIX;

    #[test]
    fn several_encoders_produce_the_same_segment_as_one() {
        let labels = (0..2u8).map(|name| (vec![LABEL_PREFIX, name], 1 + 60 * u32::from(name)));
        let terms = [("a", 0), ("b", 1), ("c", 24), ("d", 25), ("e", 1024), ("f", 1025), ("g", 49_152), ("h", 120_000)];
        let terms = terms.into_iter().map(|(term, count)| (term.as_bytes().to_vec(), count));
        let lists: Vec<(Vec<u8>, Vec<Posting>)> = labels
            .chain(terms)
            .map(|(term, count)| {
                let frequency = u16::from(has_frequencies(&term));
                let posting =
                    |at: u32| Posting { chunk: 3 * at, frequencies: [frequency * (at % 3 + 1) as u16; FIELDS] };
                (term, (0..count).map(posting).collect())
            })
            .collect();
        let length = |chunk: u32| [(chunk % 9) as u8; FIELDS];
        let mut serial = MemorySegment::default();
        let mut writer = SegmentWriter::new(&mut serial);
        let mut encoder = ListEncoder::new(&length);
        for (term, postings) in &lists {
            encoder.begin(term);
            postings.iter().for_each(|posting| encoder.push(*posting));
            encoder.end();
        }
        writer.append(&encoder.take()).expect("a segment in memory can be written");
        let totals = writer.finish(&[]).expect("a segment in memory can be written");
        for size in [1, 3, lists.len()] {
            let mut segment = MemorySegment::default();
            let mut writer = SegmentWriter::new(&mut segment);
            for lists in lists.chunks(size) {
                let mut encoder = ListEncoder::new(&length);
                for (term, postings) in lists {
                    encoder.begin(term);
                    postings.iter().for_each(|posting| encoder.push(*posting));
                    encoder.end();
                }
                writer.append(&encoder.take()).expect("a segment in memory can be written");
            }
            assert_eq!(writer.finish(&[]).expect("a segment in memory can be written"), totals);
            assert_eq!(format!("{segment:?}"), format!("{serial:?}"));
        }
        let (reader, none) = (SegmentReader::new(&serial), Tombstones::default());
        for (term, expected) in lists.iter().filter(|(_, postings)| !postings.is_empty()) {
            let entry = reader.find(term).expect("the segment is valid").expect("the segment contains the term");
            let mut found = Vec::new();
            Postings::new(reader.parts(&entry).expect("the segment is valid"), &none)
                .for_each(|chunk, frequencies| found.push(Posting { chunk: chunk.0, frequencies }));
            assert!(found == *expected, "{}", term.escape_ascii());
        }
        assert!(reader.find(b"a").expect("the segment is valid").is_none());
    }
}
