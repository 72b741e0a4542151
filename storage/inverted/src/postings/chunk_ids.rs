//! The chunk ids of one part of a posting list: a roaring bitmap in the portable format, read without copying.
//!
//! Each range of 65,536 ids has one container: a sorted array, a bitmap or a list of runs (Lemire et al., "Roaring
//! bitmaps: implementation of an optimized software library", 2018). The directory of the part holds the number of ids
//! below each window, so that a window can be decoded directly. Iterating from the start of the container would cost
//! several times as much.

use std::ops::RangeInclusive;

use aurora_kernels::bit_positions;

use super::tombstones::Tombstones;
use crate::chunk_id::WINDOW;
use aurora_codec::ByteReader;

/// Cookie of a set without run containers.
const NO_RUNS: u32 = 12346;
/// Cookie of a set that may have run containers.
const WITH_RUNS: u32 = 12347;
/// A set with at least this many containers stores their offsets, even if it has runs.
const MIN_OFFSET_CONTAINERS: usize = 4;
/// Maximum number of ids in an array container.
const MAX_ARRAY_IDS: usize = 4096;
/// Number of ids that a container covers.
const CONTAINER_IDS: usize = 1 << 16;
/// Size of a bitmap container in bytes.
const BITMAP_BYTES: usize = CONTAINER_IDS / 8;

/// The ids of a part, in ascending order.
#[derive(Debug)]
pub(super) struct ChunkIds<'a> {
    containers: Vec<Container<'a>>,
}

#[derive(Debug)]
struct Container<'a> {
    /// The upper 16 bits of the ids, not shifted: the lower 16 bits are 0.
    high: u32,
    /// Number of ids in all containers before this one.
    before: usize,
    /// Number of ids, never 0.
    len: usize,
    ids: ContainerIds<'a>,
}

#[derive(Debug, Clone, Copy)]
enum ContainerIds<'a> {
    Array(&'a [[u8; 2]]),
    Bitmap(&'a [[u8; 8]]),
    /// First id and length minus one of every run.
    Runs(&'a [[u8; 4]]),
}

impl<'a> ChunkIds<'a> {
    /// Reads the headers of the containers; `None` if the headers are damaged. [`Self::is_valid`] checks the content of
    /// the containers.
    pub(super) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let mut word = || Some(u32::from_le_bytes(*reader.take(4)?.first_chunk()?));
        let cookie = word()?;
        let (count, runs) = match cookie & 0xffff {
            WITH_RUNS => {
                let count = (cookie >> 16) as usize + 1;
                (count, reader.take(count.div_ceil(8))?)
            }
            _ if cookie == NO_RUNS => (word()? as usize, &[][..]),
            _ => return None,
        };
        let heads = reader.take(count.checked_mul(4)?)?;
        if runs.is_empty() || count >= MIN_OFFSET_CONTAINERS {
            reader.take(count * 4)?;
        }
        let mut containers = Vec::with_capacity(count);
        let mut before = 0;
        for (at, head) in heads.as_chunks::<4>().0.iter().enumerate() {
            let high = u32::from(u16::from_le_bytes([head[0], head[1]])) << 16;
            let len = usize::from(u16::from_le_bytes([head[2], head[3]])) + 1;
            let in_runs = runs.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 != 0);
            let ids = if in_runs {
                let runs = u16::from_le_bytes(*reader.take(2)?.first_chunk()?);
                ContainerIds::Runs(reader.take(usize::from(runs) * 4)?.as_chunks().0)
            } else if len <= MAX_ARRAY_IDS {
                ContainerIds::Array(reader.take(len * 2)?.as_chunks().0)
            } else {
                ContainerIds::Bitmap(reader.take(BITMAP_BYTES)?.as_chunks().0)
            };
            let container = Container { high, before, len, ids };
            if containers.last().is_some_and(|below: &Container<'_>| below.high >= high) {
                return None;
            }
            containers.push(container);
            before += len;
        }
        reader.is_empty().then_some(Self { containers })
    }

    /// Number of ids.
    pub(super) fn len(&self) -> usize {
        self.containers.last().map_or(0, |container| container.before + container.len)
    }

    /// Whether the ids ascend and their number matches the headers.
    pub(super) fn is_valid(&self) -> bool {
        self.containers.iter().all(Container::is_valid)
    }

    /// Returns the lowest id; `None` for an empty set.
    pub(super) fn first(&self) -> Option<u32> {
        let container = self.containers.first()?;
        let low = match &container.ids {
            ContainerIds::Array(ids) => u32::from(u16::from_le_bytes(*ids.first()?)),
            ContainerIds::Bitmap(words) => {
                let (at, word) = words.iter().enumerate().find(|(_, word)| **word != [0; 8])?;
                at as u32 * 64 + u64::from_le_bytes(*word).trailing_zeros()
            }
            ContainerIds::Runs(runs) => *ends(runs.first()?).start(),
        };
        Some(container.high | low)
    }

    /// Returns the greatest id; `None` for an empty set.
    pub(super) fn last(&self) -> Option<u32> {
        let container = self.containers.last()?;
        let low = match &container.ids {
            ContainerIds::Array(ids) => u32::from(u16::from_le_bytes(*ids.last()?)),
            ContainerIds::Bitmap(words) => {
                let (at, word) = words.iter().enumerate().rfind(|(_, word)| **word != [0; 8])?;
                at as u32 * 64 + u64::from_le_bytes(*word).ilog2()
            }
            ContainerIds::Runs(runs) => *ends(runs.last()?).end(),
        };
        Some(container.high | low)
    }

    /// Number of ids that have tombstones.
    pub(super) fn count_deleted(&self, tombstones: &Tombstones) -> usize {
        self.containers.iter().map(|container| container.count_deleted(tombstones)).sum()
    }

    /// Decodes the ids of a window as offsets from its first id; `start` is the number of ids below the window. Returns
    /// the number of ids, at most the length of `out`.
    pub(super) fn window(&self, number: u32, start: usize, out: &mut [u16]) -> usize {
        let first = number * WINDOW;
        let Ok(container) = self.containers.binary_search_by_key(&(first & !0xffff), |container| container.high) else {
            return 0;
        };
        let container = &self.containers[container];
        let low = first & 0xffff;
        match &container.ids {
            ContainerIds::Array(ids) => {
                let ids = ids.get(start.saturating_sub(container.before)..).unwrap_or_default();
                let count = ids.len().min(out.len());
                for (offset, id) in out.iter_mut().zip(ids) {
                    *offset = u16::from_le_bytes(*id) % WINDOW as u16;
                }
                count
            }
            ContainerIds::Bitmap(words) => {
                let windows = words.as_chunks::<{ WINDOW as usize / 64 }>().0;
                windows.get((low / WINDOW) as usize).map_or(0, |words| bit_positions(words, out))
            }
            ContainerIds::Runs(runs) => {
                let mut at = 0;
                for run in runs_between(runs, low, low + WINDOW - 1) {
                    let first = (run.start() - low) as u16;
                    let Some(room) = out.get_mut(at..at + run.count()) else { break };
                    room.iter_mut().zip(first..).for_each(|(offset, id)| *offset = id);
                    at += room.len();
                }
                at
            }
        }
    }
}

/// Looks up ids of one window in ascending order and returns their ranks. The rank of an id is the number of lower ids
/// in the set.
#[derive(Debug)]
pub(super) struct ChunkIdCursor<'d> {
    ids: ContainerIds<'d>,
    /// The lower 16 bits of the window's first id.
    low: u32,
    /// Number of ids in the set before the position `at`. For an array, which begins at the window's first id, the
    /// number of ids in the set before the array.
    before: usize,
    /// Position of the cursor: the index of an id, of a bitmap word or of a run.
    at: usize,
}

impl<'a> ChunkIds<'a> {
    /// Creates a cursor over a window; `start` is the number of ids below the window.
    pub(super) fn cursor(&self, number: u32, start: usize) -> Option<ChunkIdCursor<'a>> {
        let first = number * WINDOW;
        let container = self.containers.binary_search_by_key(&(first & !0xffff), |container| container.high).ok()?;
        let container = &self.containers[container];
        let low = first & 0xffff;
        let (ids, at) = match container.ids {
            ContainerIds::Array(ids) => (ContainerIds::Array(ids.get(start.checked_sub(container.before)?..)?), 0),
            ContainerIds::Bitmap(words) => (ContainerIds::Bitmap(words), low as usize / 64),
            ContainerIds::Runs(runs) => (ContainerIds::Runs(runs), runs.partition_point(|run| *ends(run).end() < low)),
        };
        Some(ChunkIdCursor { ids, low, before: start, at })
    }
}

impl ChunkIdCursor<'_> {
    /// Returns the rank of the id at an offset; `None` if the id is not in the set.
    #[inline]
    pub(super) fn seek(&mut self, offset: u16) -> Option<usize> {
        let id = self.low + u32::from(offset);
        match &self.ids {
            ContainerIds::Array(ids) => {
                self.at += gallop(&ids[self.at..], id);
                let found = ids.get(self.at).is_some_and(|found| u32::from(u16::from_le_bytes(*found)) == id);
                found.then_some(self.before + self.at)
            }
            ContainerIds::Bitmap(words) => {
                let word = u64::from_le_bytes(*words.get(id as usize / 64)?);
                if word >> (id % 64) & 1 == 0 {
                    return None;
                }
                let passed = words.get(self.at..id as usize / 64).unwrap_or_default();
                self.before += passed.iter().map(|word| u64::from_le_bytes(*word).count_ones() as usize).sum::<usize>();
                self.at += passed.len();
                Some(self.before + (word & !(u64::MAX << (id % 64))).count_ones() as usize)
            }
            ContainerIds::Runs(runs) => loop {
                let run = ends(runs.get(self.at)?);
                let start = (*run.start()).max(self.low);
                if id <= *run.end() {
                    return id.checked_sub(start).map(|inside| self.before + inside as usize);
                }
                self.before += (*run.end() + 1).saturating_sub(start) as usize;
                self.at += 1;
            },
        }
    }
}

/// Returns the number of ids below `id`, by galloping search. The cost grows with the logarithm of this number.
#[inline]
fn gallop(ids: &[[u8; 2]], id: u32) -> usize {
    let below = |found: &[u8; 2]| u32::from(u16::from_le_bytes(*found)) < id;
    let mut step = 1;
    while ids.get(step).is_some_and(below) {
        step *= 2;
    }
    let from = step / 2;
    from + ids[from.min(ids.len())..(step + 1).min(ids.len())].partition_point(below)
}

impl Container<'_> {
    /// Number of ids that have tombstones. Deletions are rare, so this looks up the deleted ids instead of scanning all
    /// ids.
    fn count_deleted(&self, tombstones: &Tombstones) -> usize {
        let deleted = tombstones.nonzero_words(self.high, CONTAINER_IDS).map(|(first, word)| (first & 0xffff, word));
        match &self.ids {
            ContainerIds::Bitmap(words) => {
                let both = deleted
                    .map(|(first, word)| words.get(first as usize / 64).map(|ids| u64::from_le_bytes(*ids) & word));
                both.flatten().map(|both| both.count_ones() as usize).sum()
            }
            ContainerIds::Runs(runs) => {
                let is_deleted = |word: u64| move |id: u32| (word >> (id % 64) & 1) as usize;
                let ids = |(first, word)| runs_between(runs, first, first + 63).flatten().map(is_deleted(word));
                deleted.flat_map(ids).sum()
            }
            ContainerIds::Array(ids) => {
                let (mut count, mut left) = (0, *ids);
                for (first, word) in deleted {
                    left = &left[gallop(left, first)..];
                    let here = gallop(left, first + 64);
                    let is_deleted = |id: &[u8; 2]| (word >> (u16::from_le_bytes(*id) % 64) & 1) as usize;
                    count += left[..here].iter().map(is_deleted).sum::<usize>();
                    left = &left[here..];
                }
                count
            }
        }
    }

    /// Whether the ids ascend and their number matches the header.
    fn is_valid(&self) -> bool {
        match &self.ids {
            // No early exit, so that the loop is vectorised.
            ContainerIds::Array(ids) => ids
                .array_windows()
                .fold(true, |valid, [a, b]| valid & (u16::from_le_bytes(*a) < u16::from_le_bytes(*b))),
            ContainerIds::Bitmap(words) => {
                words.iter().map(|word| u64::from_le_bytes(*word).count_ones() as usize).sum::<usize>() == self.len
            }
            ContainerIds::Runs(runs) => {
                let apart = runs.array_windows().all(|[a, b]| ends(a).end() < ends(b).start());
                let inside = runs.last().is_some_and(|run| *ends(run).end() <= 0xffff);
                apart && inside && runs.iter().map(|run| ends(run).count()).sum::<usize>() == self.len
            }
        }
    }
}

/// Returns the runs in `low..=high`, in ascending order and clipped to that range.
fn runs_between(runs: &[[u8; 4]], low: u32, high: u32) -> impl Iterator<Item = RangeInclusive<u32>> + '_ {
    let from = runs.partition_point(|run| *ends(run).end() < low);
    let touched = runs[from..].iter().map(ends).take_while(move |run| *run.start() <= high);
    touched.map(move |run| *run.start().max(&low)..=*run.end().min(&high))
}

/// Returns the first and last id of a run, without their upper 16 bits.
fn ends(run: &[u8; 4]) -> RangeInclusive<u32> {
    let [a, b, c, d] = *run;
    let start = u32::from(u16::from_le_bytes([a, b]));
    start..=start + u32::from(u16::from_le_bytes([c, d]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roaring::RoaringBitmap;

    use super::*;

    fn set() -> impl Strategy<Value = RoaringBitmap> {
        let piece = (0u32..400_000, 1u32..30_000, 1u32..40)
            .prop_map(|(start, count, step)| (start..start + count).step_by(step as usize).collect::<RoaringBitmap>());
        prop::collection::vec(piece, 1..6).prop_map(|pieces| {
            let mut set = RoaringBitmap::new();
            pieces.iter().for_each(|piece| set |= piece);
            set
        })
    }

    proptest! {
        #[test]
        fn windows_match_the_set(mut set in set(), optimised in any::<bool>()) {
            if optimised {
                set.optimize();
            }
            let mut bytes = Vec::new();
            set.serialize_into(&mut bytes).expect("writing to a vector does not fail");
            let docs = ChunkIds::decode(&bytes).expect("the bytes are valid");
            let all: Vec<u32> = set.iter().collect();
            prop_assert_eq!((docs.len(), docs.last()), (all.len(), set.max()));
            let mut offsets = [0; WINDOW as usize];
            let mut start = 0;
            for window in all.chunk_by(|a, b| a / WINDOW == b / WINDOW) {
                let number = window[0] / WINDOW;
                let count = docs.window(number, start, &mut offsets[..window.len()]);
                let ids = offsets[..count].iter().map(|offset| number * WINDOW + u32::from(*offset));
                prop_assert!(ids.eq(window.iter().copied()));
                start += count;
            }
            prop_assert_eq!((docs.first(), docs.is_valid()), (set.min(), true));
            prop_assert!(ChunkIds::decode(&bytes[..bytes.len() - 1]).is_none());
            let mut start = 0;
            for window in all.chunk_by(|a, b| a / WINDOW == b / WINDOW) {
                let number = window[0] / WINDOW;
                for step in [1, 3, 97] {
                    let mut cursor = docs.cursor(number, start).expect("the window exists");
                    for offset in (0..WINDOW as u16).step_by(step) {
                        let index = window.binary_search(&(number * WINDOW + u32::from(offset))).ok();
                        prop_assert_eq!(cursor.seek(offset), index.map(|index| start + index));
                    }
                }
                start += window.len();
            }
        }

        #[test]
        fn tombstones_are_counted(set in set(), deleted in set()) {
            let expected = set.intersection_len(&deleted) as usize;
            let tombstones = Tombstones::new(deleted);
            for set in [set.clone(), { let mut runs = set; runs.optimize(); runs }] {
                let mut bytes = Vec::new();
                set.serialize_into(&mut bytes).expect("writing to a vector does not fail");
                prop_assert_eq!(ChunkIds::decode(&bytes).expect("the bytes are valid").count_deleted(&tombstones), expected);
                prop_assert!(set.iter().take(99).all(|id| tombstones.contains(id) == tombstones.set().contains(id)));
            }
        }

        #[test]
        fn a_flipped_bit_is_rejected_or_yields_another_set(mut set in set(), optimised in any::<bool>(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
            if optimised {
                set.optimize();
            }
            let mut bytes = Vec::new();
            set.serialize_into(&mut bytes).expect("writing to a vector does not fail");
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let read = RoaringBitmap::deserialize_from(bytes.as_slice()).ok();
            if let (Some(docs), Some(read)) = (ChunkIds::decode(&bytes).filter(ChunkIds::is_valid), read) {
                prop_assert_eq!((docs.len() as u64, docs.first(), docs.last()), (read.len(), read.min(), read.max()));
                let tombstones = Tombstones::new(read);
                prop_assert_eq!(docs.count_deleted(&tombstones), docs.len());
            }
        }

        #[test]
        fn reading_arbitrary_bytes_terminates(bytes in prop::collection::vec(any::<u8>(), 0..60), runs in any::<bool>(), first in any::<u32>(), last in any::<u32>()) {
            let cookie = if runs { WITH_RUNS } else { NO_RUNS };
            let bytes = [&cookie.to_le_bytes()[..], &bytes].concat();
            if let Some(docs) = ChunkIds::decode(&bytes) {
                docs.window(first / WINDOW, 3, &mut [0; 40]);
                docs.is_valid();
                if let Some(mut cursor) = docs.cursor(first / WINDOW, last as usize % 9) {
                    (0..WINDOW as u16).step_by(5).for_each(|offset| assert!(cursor.seek(offset).is_none_or(|at| at < 1 << 20)));
                }
            }
        }
    }
}
