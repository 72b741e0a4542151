//! The ids of one window of postings, straight out of the set's bytes.
//!
//! A set is stored in roaring's portable format: a container for each 65,536 ids, which is a sorted array, a bitmap or
//! a list of runs. Its own iterator costs several times as much per id as a walk over the bytes that knows where a window
//! begins.

use std::ops::RangeInclusive;

use super::dead::Dead;
use super::window::WINDOW;
use crate::codec::Reader;
use crate::kernel::ones;

const NO_RUNS: u32 = 12346;
const WITH_RUNS: u32 = 12347;
/// Containers from which on a set with runs lists their places.
const PLACES_FROM: usize = 4;
/// Ids up to which a container is an array.
const ARRAY: usize = 4096;
/// Ids of a container.
const IDS: usize = 1 << 16;
/// Bytes of a bitmap.
const BITMAP: usize = IDS / 8;

/// The containers of a set.
#[derive(Debug)]
pub(crate) struct Docs<'a> {
    containers: Vec<Container<'a>>,
}

#[derive(Debug)]
struct Container<'a> {
    /// The ids' upper 16 bits, in place.
    high: u32,
    /// Number of ids in the containers before.
    before: usize,
    /// Number of ids, never 0.
    len: usize,
    ids: Ids<'a>,
}

#[derive(Debug)]
enum Ids<'a> {
    Array(&'a [[u8; 2]]),
    Bitmap(&'a [[u8; 8]]),
    /// First id and length less one of every run.
    Runs(&'a [[u8; 4]]),
}

impl<'a> Docs<'a> {
    /// Reads the containers; `None` when the bytes are no such set. What is in the containers is not looked at: see
    /// [`Self::is_sound`].
    pub(super) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
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
        if runs.is_empty() || count >= PLACES_FROM {
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
                Ids::Runs(reader.take(usize::from(runs) * 4)?.as_chunks().0)
            } else if len <= ARRAY {
                Ids::Array(reader.take(len * 2)?.as_chunks().0)
            } else {
                Ids::Bitmap(reader.take(BITMAP)?.as_chunks().0)
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

    /// Whether the ids ascend, and are as many as the set says.
    pub(super) fn is_sound(&self) -> bool {
        self.containers.iter().all(Container::is_sound)
    }

    /// The lowest id; `None` in an empty set.
    pub(super) fn first(&self) -> Option<u32> {
        let container = self.containers.first()?;
        let low = match &container.ids {
            Ids::Array(ids) => u32::from(u16::from_le_bytes(*ids.first()?)),
            Ids::Bitmap(words) => {
                let (at, word) = words.iter().enumerate().find(|(_, word)| **word != [0; 8])?;
                at as u32 * 64 + u64::from_le_bytes(*word).trailing_zeros()
            }
            Ids::Runs(runs) => *ends(runs.first()?).start(),
        };
        Some(container.high | low)
    }

    /// The greatest id; `None` in an empty set.
    pub(super) fn last(&self) -> Option<u32> {
        let container = self.containers.last()?;
        let low = match &container.ids {
            Ids::Array(ids) => u32::from(u16::from_le_bytes(*ids.last()?)),
            Ids::Bitmap(words) => {
                let (at, word) = words.iter().enumerate().rfind(|(_, word)| **word != [0; 8])?;
                at as u32 * 64 + u64::from_le_bytes(*word).ilog2()
            }
            Ids::Runs(runs) => *ends(runs.last()?).end(),
        };
        Some(container.high | low)
    }

    /// Number of dead ids.
    pub(super) fn count_dead(&self, dead: &Dead) -> usize {
        let counts = self.containers.iter().map(|container| {
            let dead = dead.words(container.high, IDS);
            // Files die whole, and few of them: most containers hold none of their chunks.
            if dead.iter().all(|word| *word == 0) {
                return 0;
            }
            let is_dead = |low: u32| dead.get(low as usize / 64).map_or(0, |word| (word >> (low % 64) & 1) as usize);
            match &container.ids {
                Ids::Array(ids) => ids.iter().map(|id| is_dead(u32::from(u16::from_le_bytes(*id)))).sum::<usize>(),
                Ids::Runs(runs) => runs.iter().flat_map(ends).map(is_dead).sum(),
                Ids::Bitmap(words) => {
                    let words = words.iter().zip(dead);
                    words.map(|(word, dead)| (dead & u64::from_le_bytes(*word)).count_ones() as usize).sum()
                }
            }
        });
        counts.sum()
    }

    /// Fills `places` with the ids of a window, as places in it; `start` ids of the set are below. Returns how many there are,
    /// no more than there is room for.
    pub(super) fn window(&self, number: u32, start: usize, places: &mut [u16]) -> usize {
        let first = number * WINDOW;
        let Ok(container) = self.containers.binary_search_by_key(&(first & !0xffff), |container| container.high) else {
            return 0;
        };
        let container = &self.containers[container];
        let (low, mut at) = (first & 0xffff, 0);
        let mut put = |place: u32| {
            if let Some(free) = places.get_mut(at) {
                *free = place as u16;
                at += 1;
            }
        };
        match &container.ids {
            Ids::Array(ids) => {
                let ids = ids.get(start.saturating_sub(container.before)..).unwrap_or_default();
                let count = ids.len().min(places.len());
                for (place, id) in places.iter_mut().zip(ids) {
                    *place = u16::from_le_bytes(*id) % WINDOW as u16;
                }
                return count;
            }
            Ids::Bitmap(words) => bits(words, low, low + WINDOW - 1, |id| put(id - low)),
            Ids::Runs(runs) => runs_between(runs, low, low + WINDOW - 1).for_each(|run| run.for_each(|id| put(id - low))),
        }
        at
    }
}

impl Container<'_> {
    /// Whether the ids ascend and are as many as the head of the set says.
    fn is_sound(&self) -> bool {
        match &self.ids {
            // To the end, whatever is found: a loop without a way out goes through several ids at once.
            Ids::Array(ids) => ids
                .array_windows()
                .fold(true, |sound, [a, b]| sound & (u16::from_le_bytes(*a) < u16::from_le_bytes(*b))),
            Ids::Bitmap(words) => ones(words) == self.len,
            Ids::Runs(runs) => {
                let apart = runs.array_windows().all(|[a, b]| ends(a).end() < ends(b).start());
                let inside = runs.last().is_some_and(|run| *ends(run).end() <= 0xffff);
                apart && inside && runs.iter().map(|run| ends(run).count()).sum::<usize>() == self.len
            }
        }
    }
}

/// Where an id of a set is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// So many ids stand before it.
    Index(usize),
    /// It is there, but how many stand before it takes [`Docs::count`] from a place that is known.
    Inside,
}

impl Docs<'_> {
    /// Looks for an id.
    pub(super) fn find(&self, id: u32) -> Option<Place> {
        let container = self.containers.iter().find(|container| container.high == id & !0xffff)?;
        let low = (id & 0xffff) as u16;
        match &container.ids {
            Ids::Array(ids) => {
                let at = ids.partition_point(|id| u16::from_le_bytes(*id) < low);
                let found = ids.get(at).is_some_and(|id| u16::from_le_bytes(*id) == low);
                found.then_some(Place::Index(container.before + at))
            }
            Ids::Bitmap(words) => {
                let word = words.get(usize::from(low) / 64).map_or(0, |word| u64::from_le_bytes(*word));
                (word >> (low % 64) & 1 != 0).then_some(Place::Inside)
            }
            Ids::Runs(runs) => {
                let start = |run: &[u8; 4]| u16::from_le_bytes([run[0], run[1]]);
                let run = runs[..runs.partition_point(|run| start(run) <= low)].last()?;
                (low - start(run) <= u16::from_le_bytes([run[2], run[3]])).then_some(Place::Inside)
            }
        }
    }

    /// Number of ids from `first` to below `end`.
    pub(super) fn count(&self, first: u32, end: u32) -> usize {
        let Some(last) = end.checked_sub(1) else { return 0 };
        let touched = self
            .containers
            .iter()
            .filter(|container| container.high | 0xffff >= first && container.high <= last && first <= last);
        let counts = touched.map(|container| {
            let low = first.saturating_sub(container.high);
            let high = (last - container.high).min(0xffff);
            match &container.ids {
                Ids::Array(ids) => {
                    let below = |end: u32| ids.partition_point(|id| u32::from(u16::from_le_bytes(*id)) < end);
                    below(high + 1) - below(low)
                }
                Ids::Bitmap(words) => words_between(words, low, high).map(|(_, word)| word.count_ones() as usize).sum(),
                Ids::Runs(runs) => runs_between(runs, low, high).map(Iterator::count).sum(),
            }
        });
        counts.sum()
    }
}

/// Gives the bits of a bitmap from `low` to `high`.
fn bits(words: &[[u8; 8]], low: u32, high: u32, mut each: impl FnMut(u32)) {
    for (at, mut word) in words_between(words, low, high) {
        while word != 0 {
            each(at * 64 + word.trailing_zeros());
            word &= word - 1;
        }
    }
}

/// The runs of a list, which ascend, cut to what lies from `low` to `high`.
fn runs_between(runs: &[[u8; 4]], low: u32, high: u32) -> impl Iterator<Item = RangeInclusive<u32>> + '_ {
    let from = runs.partition_point(|run| *ends(run).end() < low);
    let touched = runs[from..].iter().map(ends).take_while(move |run| *run.start() <= high);
    touched.map(move |run| *run.start().max(&low)..=*run.end().min(&high))
}

/// The ids of a run, without their upper bits.
fn ends(run: &[u8; 4]) -> RangeInclusive<u32> {
    let [a, b, c, d] = *run;
    let start = u32::from(u16::from_le_bytes([a, b]));
    start..=start + u32::from(u16::from_le_bytes([c, d]))
}

/// The words of a bitmap that hold the bits from `low` to `high`, without the bits around.
fn words_between(words: &[[u8; 8]], low: u32, high: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
    (low / 64..=high / 64).map(move |at| {
        let mut word = words.get(at as usize).map_or(0, |word| u64::from_le_bytes(*word));
        if at == low / 64 {
            word &= u64::MAX << (low % 64);
        }
        if at == high / 64 {
            word &= u64::MAX >> (63 - high % 64);
        }
        (at, word)
    })
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
        fn windows_are_those_of_the_set(mut set in set(), optimised in any::<bool>()) {
            if optimised {
                set.optimize();
            }
            let mut bytes = Vec::new();
            set.serialize_into(&mut bytes).expect("writing to a vector");
            let docs = Docs::decode(&bytes).expect("sound");
            let all: Vec<u32> = set.iter().collect();
            prop_assert_eq!((docs.len(), docs.last()), (all.len(), set.max()));
            let mut places = [0; WINDOW as usize];
            let mut start = 0;
            for window in all.chunk_by(|a, b| a / WINDOW == b / WINDOW) {
                let number = window[0] / WINDOW;
                let count = docs.window(number, start, &mut places[..window.len()]);
                let ids = places[..count].iter().map(|place| number * WINDOW + u32::from(*place));
                prop_assert!(ids.eq(window.iter().copied()));
                start += count;
            }
            prop_assert_eq!((docs.first(), docs.is_sound()), (set.min(), true));
            prop_assert!(Docs::decode(&bytes[..bytes.len() - 1]).is_none());
            for id in all.iter().step_by(97).flat_map(|&id| [id, id + 1]) {
                let index = all.binary_search(&id).ok();
                match docs.find(id) {
                    Some(Place::Index(at)) => prop_assert_eq!(Some(at), index),
                    Some(Place::Inside) => prop_assert!(index.is_some()),
                    None => prop_assert_eq!(index, None),
                }
                for first in [0, all[0], id / 2, id.saturating_sub(700), id] {
                    let below = |end: u32| all.partition_point(|other| *other < end);
                    prop_assert_eq!(docs.count(first, id), below(id) - below(first));
                }
            }
        }

        #[test]
        fn the_dead_are_counted(set in set(), dead in set()) {
            let expected = set.intersection_len(&dead) as usize;
            let dead = Dead::new(dead);
            for set in [set.clone(), { let mut runs = set; runs.optimize(); runs }] {
                let mut bytes = Vec::new();
                set.serialize_into(&mut bytes).expect("writing to a vector");
                prop_assert_eq!(Docs::decode(&bytes).expect("sound").count_dead(&dead), expected);
                prop_assert!(set.iter().take(99).all(|id| dead.contains(id) == dead.set().contains(id)));
            }
        }

        #[test]
        fn a_flipped_bit_is_refused_or_another_set(mut set in set(), optimised in any::<bool>(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
            if optimised {
                set.optimize();
            }
            let mut bytes = Vec::new();
            set.serialize_into(&mut bytes).expect("writing to a vector");
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let read = RoaringBitmap::deserialize_from(bytes.as_slice()).ok();
            if let (Some(docs), Some(read)) = (Docs::decode(&bytes).filter(Docs::is_sound), read) {
                prop_assert_eq!((docs.len() as u64, docs.first(), docs.last()), (read.len(), read.min(), read.max()));
                let ids = |last| docs.count(0, last);
                prop_assert!(read.iter().step_by(97).all(|id| ids(id) as u64 + 1 == read.rank(id)));
            }
        }

        #[test]
        fn whatever_the_bytes_say_a_walk_ends(bytes in prop::collection::vec(any::<u8>(), 0..60), runs in any::<bool>(), first in any::<u32>(), last in any::<u32>()) {
            let cookie = if runs { WITH_RUNS } else { NO_RUNS };
            let bytes = [&cookie.to_le_bytes()[..], &bytes].concat();
            if let Some(docs) = Docs::decode(&bytes) {
                docs.window(first / WINDOW, 3, &mut [0; 40]);
                docs.is_sound();
                docs.find(first);
                docs.count(first, last);
            }
        }
    }
}
