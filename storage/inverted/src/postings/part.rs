//! A part of a posting list: chunk ids, and the frequencies of the term in the fields of each chunk.
//!
//! Layouts, by [`PartLayout`](super::part_writer::PartLayout):
//!
//! - label: the ids, as a roaring bitmap in the portable format
//! - short: 2 * number of postings · length of the tf column · tf column · ids, each as the gap from the previous id
//! - long: 2 * number of postings + 1 · length of the ids · ids, as a roaring bitmap · number of windows that have
//!   postings · a directory entry for each window · length of the impacts · impacts · tf column
//!
//! The lowest bit of the first number tells a long part from a short one. A directory entry is: number of the window,
//! counted from the first window (3 bytes) · number of postings in the previous windows (2 bytes) · offset of its
//! impacts (3 bytes) · offset of its exceptions among the exceptions of the tf column (4 bytes). A long part is read
//! without copying.

use roaring::RoaringBitmap;

use super::chunk_ids::ChunkIds;
use super::directory::{DirectoryEntry, ENTRY_BYTES, WindowDirectory};
use super::impacts::{self, ImpactBuilder};
use super::posting::Posting;
use super::seek_cursor::SeekCursor;
use super::tf_column::TfColumn;
use super::tf_vector::TfVector;
use super::tombstones::Tombstones;
use super::window::{ImpactBound, ListWindow, TfCode, WindowPostings, find_exceptions, frequency_code};
use crate::chunk_id::WINDOW;
use crate::field::FIELDS;
use crate::lengths::LengthCodes;
use aurora_codec::ByteReader;

/// Maximum number of postings of a list with the short layout.
pub(crate) const MAX_SHORT_POSTINGS: usize = 1024;

/// Maximum number of postings of a long part. The number of postings before a window must fit in 16 bits.
pub(crate) const MAX_PART_POSTINGS: usize = u16::MAX as usize;

/// A part of a posting list; never empty.
#[derive(Debug)]
pub struct ListPart<'a>(pub(super) PartData<'a>);

/// The data of a part in one of the layouts.
#[derive(Debug)]
pub(super) enum PartData<'a> {
    /// The chunk ids of a label, which has no frequencies.
    Label(RoaringBitmap),
    /// A decoded short part, or a decoded list that is inlined in the dictionary. If the list belongs to a label, all
    /// frequencies are 0.
    Short { chunks: Vec<u32>, frequencies: Vec<TfVector> },
    /// A long part, read without copying.
    Long { chunks: ChunkIds<'a>, directory: WindowDirectory<'a>, column: TfColumn<'a> },
}

impl<'a> ListPart<'a> {
    /// Reads a part; `None` if it is damaged.
    pub(crate) fn decode(bytes: &'a [u8], with_frequencies: bool) -> Option<Self> {
        if !with_frequencies {
            let mut left = bytes;
            let set = RoaringBitmap::deserialize_from(&mut left).ok()?;
            return (left.is_empty() && !set.is_empty()).then_some(Self(PartData::Label(set)));
        }
        let mut reader = ByteReader::new(bytes);
        let head = reader.length()?;
        let count = head / 2;
        match head % 2 {
            0 => Self::decode_short(reader, count),
            _ => Self::decode_long(reader, count),
        }
    }

    fn decode_short(mut reader: ByteReader<'a>, count: usize) -> Option<Self> {
        if count == 0 || count > MAX_SHORT_POSTINGS {
            return None;
        }
        let column = TfColumn::decode(reader.sized()?, count)?;
        let mut codes = [0; MAX_SHORT_POSTINGS];
        let codes = &mut codes[..count];
        column.unpack(0, codes);
        let mut exceptions = column.exceptions(0);
        let (mut chunks, mut frequencies) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for code in codes.iter() {
            frequencies.push(match column.dictionary().get(usize::from(*code)) {
                Some(frequent) => *frequent,
                None => exceptions.next()?,
            });
        }
        let mut chunk = 0u32;
        for index in 0..count {
            let gap = reader.varint32()?;
            chunk = chunk.checked_add(gap).filter(|_| gap > 0 || index == 0)?;
            chunks.push(chunk);
        }
        (reader.is_empty() && exceptions.next().is_none()).then_some(Self(PartData::Short { chunks, frequencies }))
    }

    fn decode_long(mut reader: ByteReader<'a>, count: usize) -> Option<Self> {
        let chunks = ChunkIds::decode(reader.sized()?)?;
        let windows = reader.length().filter(|windows| (1..=MAX_PART_POSTINGS).contains(windows))?;
        let entries = reader.take(windows * ENTRY_BYTES)?.as_chunks().0;
        let impacts = reader.sized()?;
        let column = TfColumn::decode(reader.rest(), count)?;
        let first = chunks.first()? / WINDOW;
        let directory = WindowDirectory { first, entries, impacts, count: count as u32 };
        (chunks.len() == count && count <= MAX_PART_POSTINGS).then_some(Self(PartData::Long {
            chunks,
            directory,
            column,
        }))
    }

    /// Creates a part from decoded postings in ascending order; `None` if there are no postings.
    pub(crate) fn from_decoded(chunks: Vec<u32>, frequencies: Vec<TfVector>) -> Option<Self> {
        (!chunks.is_empty()).then_some(Self(PartData::Short { chunks, frequencies }))
    }

    /// Number of postings, deleted chunks included.
    pub fn posting_count(&self) -> usize {
        match &self.0 {
            PartData::Label(set) => set.len() as usize,
            PartData::Short { chunks, .. } => chunks.len(),
            PartData::Long { chunks, .. } => chunks.len(),
        }
    }

    /// Returns the first chunk, live or deleted.
    pub fn first(&self) -> u32 {
        let first = match &self.0 {
            PartData::Label(set) => set.min(),
            PartData::Short { chunks, .. } => chunks.first().copied(),
            PartData::Long { chunks, .. } => chunks.first(),
        };
        first.unwrap_or(0)
    }

    /// Returns the last chunk, live or deleted.
    pub fn last(&self) -> u32 {
        let last = match &self.0 {
            PartData::Label(set) => set.max(),
            PartData::Short { chunks, .. } => chunks.last().copied(),
            PartData::Long { chunks, .. } => chunks.last(),
        };
        last.unwrap_or(0)
    }

    /// Number of deleted chunks.
    pub fn count_deleted(&self, tombstones: &Tombstones) -> usize {
        if tombstones.is_empty() {
            return 0;
        }
        match &self.0 {
            PartData::Label(set) => set.intersection_len(tombstones.set()) as usize,
            PartData::Short { chunks, .. } => chunks.iter().filter(|chunk| tombstones.contains(**chunk)).count(),
            PartData::Long { chunks, .. } => chunks.count_deleted(tombstones),
        }
    }

    /// Appends the windows. Calls `bound` with each impact bound of a window, and stores the highest result as the
    /// bound of the window.
    pub(super) fn windows(
        &self,
        part: usize,
        mut bound: impl FnMut(&ImpactBound<'_>) -> f32,
        out: &mut Vec<ListWindow>,
    ) {
        match &self.0 {
            PartData::Label(_) => {}
            PartData::Short { chunks, frequencies } => {
                let mut entry = 0;
                for run in chunks.chunk_by(|a, b| a / WINDOW == b / WINDOW) {
                    let (mut highest, count) = ([0; FIELDS], run.len());
                    for vector in frequencies.iter().skip(entry).take(count) {
                        highest.iter_mut().zip(vector).for_each(|(most, count)| *most = (*most).max(*count));
                    }
                    let codes = highest.map(|most| [frequency_code(most), 0]);
                    let (other_fields, body) = (codes.first_chunk(), &codes[FIELDS - 1..]);
                    let bound = bound(&ImpactBound { other_fields, body });
                    let number = run[0] / WINDOW;
                    out.push(ListWindow { number, count: count as u32, bound, part, entry });
                    entry += count;
                }
            }
            PartData::Long { directory, .. } => {
                for (entry, found) in directory.iter() {
                    let mut highest = 0f32;
                    let impacts = directory.impacts.get(found.impacts as usize..).unwrap_or_default();
                    // If the impacts are truncated, every score is possible.
                    let read =
                        impacts::decode(&mut ByteReader::new(impacts), |impact| highest = highest.max(bound(impact)));
                    let bound = if read.is_some() { highest } else { f32::MAX };
                    out.push(ListWindow { number: found.window, count: found.count, bound, part, entry });
                }
            }
        }
    }

    /// Returns the dictionary of the most frequent tf vectors, by code.
    #[inline]
    pub(super) fn tf_dictionary(&self) -> &[TfVector] {
        match &self.0 {
            PartData::Long { column, .. } => column.dictionary(),
            PartData::Label(_) | PartData::Short { .. } => &[],
        }
    }

    /// Calls `each` with the impact bounds of a window; `None` if the window has no bounds.
    pub(super) fn impacts(&self, window: &ListWindow, each: impl FnMut(&ImpactBound<'_>)) -> Option<()> {
        let PartData::Long { directory, .. } = &self.0 else { return None };
        let entry = directory.get(window.entry)?;
        impacts::decode(&mut ByteReader::new(directory.impacts.get(entry.impacts as usize..)?), each)
    }

    /// Decodes, within a window, the postings with a code of at least `min_code` and all postings that are exceptions.
    pub(super) fn read(&self, window: &ListWindow, min_code: u8, out: &mut WindowPostings) {
        out.begin(window.count as usize);
        match &self.0 {
            PartData::Label(_) => out.len = 0,
            PartData::Short { chunks, frequencies } => {
                let chunks = chunks.get(window.entry..).unwrap_or_default().iter().take(out.len);
                out.offsets.iter_mut().zip(chunks).for_each(|(offset, chunk)| *offset = (chunk % WINDOW) as u16);
                out.codes[..window.count as usize].fill(u8::MAX);
                out.exceptions
                    .extend((0..).zip(frequencies.iter().skip(window.entry).take(window.count as usize).copied()));
            }
            PartData::Long { chunks, directory, column } => {
                let Some(entry) = directory.get(window.entry) else { return out.len = 0 };
                let start = entry.start as usize;
                let count = out.len.min(entry.count as usize);
                out.len = chunks.window(window.number, start, &mut out.offsets[..count]);
                if min_code == 0 {
                    column.unpack(start, &mut out.codes[..out.len]);
                } else {
                    let count = out.len;
                    let (selected, codes) = (&mut out.selected[..count], &mut out.codes[..count]);
                    out.len = column.select(start, count, min_code, selected, codes);
                    out.keep_selected();
                }
                if entry.has_exceptions {
                    let vectors = column.exceptions(entry.exceptions as usize);
                    find_exceptions(&out.codes[..out.len], column.exception_code(), vectors, &mut out.exceptions);
                }
            }
        }
    }

    /// Returns a cursor over the window of a chunk.
    pub(super) fn cursor_at(&self, chunk: u32) -> SeekCursor<'_> {
        let number = chunk / WINDOW;
        match &self.0 {
            PartData::Long { directory, .. } => {
                directory.find(number).map_or(SeekCursor::EMPTY, |entry| self.cursor(number, entry))
            }
            PartData::Short { .. } | PartData::Label(_) => self.cursor(number, 0),
        }
    }

    /// Returns the tf vector for a code that a cursor returned.
    #[inline]
    pub(super) fn resolve(&self, code: TfCode) -> TfVector {
        match code {
            TfCode::Frequent(code) => self.tf_dictionary().get(usize::from(code)).copied().unwrap_or_default(),
            TfCode::Exception(frequencies) => frequencies,
        }
    }

    /// Returns a cursor over a window, given its number and the index of its directory entry.
    pub(super) fn cursor(&self, number: u32, entry: usize) -> SeekCursor<'_> {
        match &self.0 {
            PartData::Short { chunks, frequencies } => SeekCursor::decoded(
                &chunks[entry.min(chunks.len())..],
                &frequencies[entry.min(frequencies.len())..],
                number,
            ),
            PartData::Long { chunks, directory, column } => {
                let found = directory.get(entry).and_then(|entry| {
                    let start = entry.start as usize;
                    Some((chunks.cursor(number, start)?, column.cursor(start, entry.exceptions as usize)))
                });
                found.map_or(SeekCursor::EMPTY, |(chunks, column)| SeekCursor::encoded(chunks, column))
            }
            PartData::Label(_) => SeekCursor::EMPTY,
        }
    }

    /// Calls `each` with every posting, deleted chunks included.
    pub fn for_each(&self, mut each: impl FnMut(Posting)) {
        match &self.0 {
            PartData::Label(set) => set.iter().for_each(|chunk| each(Posting { chunk, frequencies: [0; FIELDS] })),
            PartData::Short { chunks, frequencies } => {
                for (&chunk, &frequencies) in chunks.iter().zip(frequencies) {
                    each(Posting { chunk, frequencies });
                }
            }
            PartData::Long { column, .. } => {
                let (mut windows, mut postings) = (Vec::new(), WindowPostings::default());
                self.windows(0, |_| 0.0, &mut windows);
                for window in &windows {
                    self.read(window, 0, &mut postings);
                    let mut exceptions = postings.exceptions().iter().map(|(_, frequencies)| frequencies);
                    for (offset, code) in postings.offsets().iter().zip(postings.codes()) {
                        let found = column.dictionary().get(usize::from(*code)).or_else(|| exceptions.next());
                        let chunk = window.number * WINDOW + u32::from(*offset);
                        each(Posting { chunk, frequencies: found.copied().unwrap_or_default() });
                    }
                }
            }
        }
    }

    /// Whether the part is consistent: the ids are a set, the number of ids in each window matches its directory entry,
    /// each posting has a tf vector, and the stored impacts match the postings.
    pub fn is_consistent(&self, length: &dyn Fn(u32) -> LengthCodes) -> bool {
        let PartData::Long { chunks, directory, column } = &self.0 else { return true };
        if !chunks.is_valid() || !column.is_consistent(chunks.len()) {
            return false;
        }
        let mut postings: Vec<Posting> = Vec::with_capacity(chunks.len());
        self.for_each(|posting| postings.push(posting));
        let mut windows = postings.chunk_by(|a, b| a.chunk / WINDOW == b.chunk / WINDOW);
        let is_window_consistent = |(_, entry): (usize, DirectoryEntry)| {
            let Some(window) = windows.next() else { return false };
            let (mut impacts, mut bytes) = (ImpactBuilder::default(), Vec::new());
            window.iter().for_each(|posting| impacts.add(&posting.frequencies, &length(posting.chunk)));
            impacts.encode(&mut bytes);
            let fits = window.len() == entry.count as usize && window[0].chunk / WINDOW == entry.window;
            let stored = directory.impacts.get(entry.impacts as usize..);
            fits && stored.is_some_and(|stored| stored.starts_with(&bytes))
        };
        let are_consistent = directory.iter().all(is_window_consistent) && windows.next().is_none();
        are_consistent && postings.len() == chunks.len() && postings.is_sorted_by(|a, b| a.chunk < b.chunk)
    }
}

/// Returns the number of postings of a part with frequencies, and the number of postings of deleted chunks; `None` if
/// the part is damaged. Reads only the ids of a long part.
pub(crate) fn count(bytes: &[u8], tombstones: &Tombstones) -> Option<(usize, usize)> {
    let mut reader = ByteReader::new(bytes);
    match reader.length()? {
        head if head % 2 == 0 => {
            ListPart::decode(bytes, true).map(|part| (part.posting_count(), part.count_deleted(tombstones)))
        }
        _ => {
            let chunks = ChunkIds::decode(reader.sized()?)?;
            Some((chunks.len(), chunks.count_deleted(tombstones)))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::part_writer::{PartLayout, encode};
    use super::*;

    proptest! {
        #[test]
        fn postings_round_trip_at_any_distance(
            gaps in prop::collection::vec((prop_oneof![4 => 1u32..50, 1 => 1u32..100_000, 1 => 1u32..20_000_000], 0usize..FIELDS, 1u16..40), 1..150),
            is_long in any::<bool>(),
        ) {
            let (mut postings, mut chunk) = (Vec::new(), 0);
            for (gap, field, count) in gaps {
                chunk += gap;
                let mut frequencies = [0; FIELDS];
                (frequencies[field], frequencies[0]) = (count, count % 3);
                if frequencies != [0; FIELDS] {
                    postings.push(Posting { chunk, frequencies });
                }
            }
            prop_assume!(!postings.is_empty());
            let (mut bytes, length) = (Vec::new(), |chunk: u32| [chunk as u8; FIELDS]);
            encode(&mut bytes, &postings, if is_long { PartLayout::Long } else { PartLayout::Short }, &length);
            let part = ListPart::decode(&bytes, true).expect("the bytes are valid");
            let mut read = Vec::new();
            part.for_each(|posting| read.push(posting));
            prop_assert_eq!(&read, &postings);
            prop_assert!(part.is_consistent(&length));
            prop_assert_eq!((part.first(), part.last()), (postings[0].chunk, postings[postings.len() - 1].chunk));
            for posting in &postings {
                let found = part.cursor_at(posting.chunk).seek((posting.chunk % WINDOW) as u16);
                prop_assert_eq!(found.map(|found| part.resolve(found)), Some(posting.frequencies));
            }
            for cut in 0..bytes.len() {
                prop_assert!(ListPart::decode(&bytes[..cut], true).is_none_or(|part| !part.is_consistent(&length)));
            }
        }
    }
}
