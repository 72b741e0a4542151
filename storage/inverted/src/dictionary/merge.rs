//! Merges segments and sorted runs, term by term, into a segment, a range of terms of a segment, or a run.

use std::cmp::Ordering;
use std::io;

use aurora_codec::put_varint;

use super::block::{MAX_INLINE_POSTINGS, encode_postings, has_frequencies};
use super::encoded_lists::ListEncoder;
use super::reader::{SegmentReader, TermCursor};
use super::run::{DamagedRun, RunList, RunReader, RunWriter};
use super::source::{SegmentSink, SegmentSource};
use super::writer::{SegmentTotals, SegmentWriter};
use crate::lengths::LengthCodes;
use crate::postings::{Posting, Tombstones};

/// An input of a merge: a sorted sequence of terms, each with sorted postings.
pub enum MergeSource<'a, S: SegmentSource<'a>> {
    /// A published segment.
    Segment(TermCursor<'a, S>),
    /// A run.
    Run(RunReader<'a>),
}

/// Error of a merge. `S` is the error type of the source segments, `W` of the sink.
#[derive(Debug)]
pub enum MergeError<S, W> {
    /// A segment cannot be read.
    Segment(S),
    /// The sources contradict each other or are damaged; the text gives the reason.
    Damaged(&'static str),
    /// The new segment cannot be written.
    Sink(W),
}

/// The terms from `from` up to but excluding `to`. An empty `to` means no upper bound.
#[derive(Debug, Clone, Copy)]
pub struct TermRange<'t> {
    /// The first term.
    pub from: &'t [u8],
    /// The first term after the range.
    pub to: &'t [u8],
}

impl TermRange<'_> {
    /// All terms.
    pub const ALL: Self = Self { from: &[], to: &[] };
}

/// Merges the terms of `range` and writes them with `writer`. `length` returns the field lengths of a chunk. For each
/// term, the chunk ids of a segment must be higher than the chunk ids of all previous segments, and the chunk ids of
/// runs must be higher than the chunk ids of all segments. The chunk ids of different runs may overlap. Postings of
/// chunks with tombstones are dropped. `new_is_live` may be true only if no chunk of the runs has a tombstone.
///
/// # Errors
/// Fails if a source cannot be read, the new segment cannot be written, or a chunk occurs twice in a list.
pub fn merge<'a, S: SegmentSource<'a>, W: SegmentSink>(
    sources: Vec<MergeSource<'a, S>>,
    range: TermRange<'_>,
    tombstones: &Tombstones,
    new_is_live: bool,
    length: &dyn Fn(u32) -> LengthCodes,
    mut writer: SegmentWriter<W>,
) -> Result<SegmentTotals, MergeError<S::Error, W::Error>> {
    let mut queue = SourceQueue::new(sources, range.from)?;
    let (mut term, mut postings, mut joined) = (Vec::new(), Vec::new(), Vec::new());
    let mut encoder = ListEncoder::new(length);
    while queue.take_equal(&mut term) && (range.to.is_empty() || *term < *range.to) {
        let lists = queue.lists().filter(|lists| {
            new_is_live && lists.iter().map(|list| list.count as usize).sum::<usize>() <= MAX_INLINE_POSTINGS
        });
        if let Some(mut lists) = lists {
            let list = join(&mut lists, &mut joined)?;
            writer.push_inline(&term, list.count, list.postings).map_err(MergeError::Sink)?;
        } else {
            postings.clear();
            queue.decode(&mut postings)?;
            sort(&mut postings)?;
            encoder.begin(&term);
            let live = postings.iter().filter(|posting| !tombstones.contains(posting.chunk));
            live.for_each(|posting| encoder.push(*posting));
            encoder.end();
            let lists = encoder.take();
            writer.append(&lists).map_err(MergeError::Sink)?;
            encoder.reuse(lists);
        }
        queue.advance_equal()?;
    }
    writer.finish(range.to).map_err(MergeError::Sink)
}

/// Merges runs into one run.
///
/// # Errors
/// Fails if a run is damaged, or the new run cannot be written.
pub fn merge_runs<'a, S: SegmentSource<'a>, W: io::Write>(
    runs: Vec<RunReader<'a>>,
    out: &mut RunWriter<W>,
) -> Result<(), MergeError<S::Error, io::Error>> {
    let sources = runs.into_iter().map(MergeSource::<S>::Run).collect();
    let mut queue = SourceQueue::new(sources, &[])?;
    let (mut term, mut joined) = (Vec::new(), Vec::new());
    while queue.take_equal(&mut term) {
        let mut lists = queue.lists().unwrap_or_default();
        out.push(join(&mut lists, &mut joined)?).map_err(MergeError::Sink)?;
        queue.advance_equal()?;
    }
    Ok(())
}

/// Joins the lists of one term. The joined postings are in `joined`, unless there is only one list.
fn join<'j, S, W>(lists: &mut [RunList<'j>], joined: &'j mut Vec<u8>) -> Result<RunList<'j>, MergeError<S, W>> {
    if let [only] = lists {
        return Ok(*only);
    }
    joined.clear();
    let first = |list: &RunList<'_>| list.first().map_or(0, |(first, _)| first);
    lists.sort_unstable_by_key(first);
    let Some(last) = lists.last() else { return Err(damaged_run()) };
    let (term, count) = (last.term, lists.iter().map(|list| list.count).sum());
    if lists.is_sorted_by(|a, b| a.last < first(b)) {
        let mut before = 0;
        for list in &*lists {
            let (first, rest) = list.first().ok_or_else(damaged_run)?;
            put_varint(joined, u64::from(first - before));
            joined.extend_from_slice(rest);
            before = list.last;
        }
        return Ok(RunList { term, count, last: before, postings: joined });
    }
    let mut postings = Vec::with_capacity(count as usize);
    for list in &*lists {
        list.decode(&mut postings).ok_or_else(damaged_run)?;
    }
    sort(&mut postings)?;
    encode_postings(joined, &postings, has_frequencies(term));
    let last = postings.last().map_or(0, |posting| posting.chunk);
    Ok(RunList { term, count, last, postings: joined })
}

fn damaged_run<S, W>() -> MergeError<S, W> {
    MergeError::Damaged("a run is damaged")
}

/// Sorts postings of one term by chunk.
fn sort<S, W>(postings: &mut [Posting]) -> Result<(), MergeError<S, W>> {
    let is_sorted = |postings: &[Posting]| postings.is_sorted_by(|a, b| a.chunk < b.chunk);
    if !is_sorted(postings) {
        postings.sort_unstable_by_key(|posting| posting.chunk);
        if !is_sorted(postings) {
            return Err(MergeError::Damaged("a chunk occurs twice in a posting list"));
        }
    }
    Ok(())
}

/// Sources ordered by their current term: a binary heap with the lowest term first.
struct SourceQueue<'a, S: SegmentSource<'a>> {
    sources: Vec<MergeSource<'a, S>>,
    /// Indexes of the sources that have not ended.
    heap: Vec<usize>,
    /// Indexes of the sources that [`Self::take_equal`] took, in ascending order.
    equal: Vec<usize>,
}

impl<'a, S: SegmentSource<'a>> SourceQueue<'a, S> {
    /// Creates a queue and moves all sources to the first term that is not below `from`.
    fn new<W>(sources: Vec<MergeSource<'a, S>>, from: &[u8]) -> Result<Self, MergeError<S::Error, W>> {
        let count = sources.len();
        let mut queue = Self { sources, heap: Vec::with_capacity(count), equal: Vec::new() };
        for at in 0..count {
            while queue.sources[at].term().is_some_and(|term| term < from) {
                queue.sources[at].advance()?;
            }
            queue.put(at);
        }
        Ok(queue)
    }

    /// Takes all sources with the lowest term and copies the term into `term`. Returns false at the end.
    fn take_equal(&mut self, term: &mut Vec<u8>) -> bool {
        self.equal.clear();
        let Some(&lowest) = self.heap.first() else { return false };
        term.clear();
        term.extend_from_slice(self.sources[lowest].term().unwrap_or_default());
        while let Some(&next) = self.heap.first()
            && self.sources[next].term() == Some(term)
        {
            self.equal.push(next);
            self.heap.swap_remove(0);
            self.sink(0);
        }
        true
    }

    /// Returns the lists of the sources that were taken; `None` if a source is a segment.
    fn lists(&self) -> Option<Vec<RunList<'a>>> {
        let list = |&at: &usize| match &self.sources[at] {
            MergeSource::Segment(_) => None,
            MergeSource::Run(run) => run.list(),
        };
        self.equal.iter().map(list).collect()
    }

    /// Appends the postings of the sources that were taken.
    fn decode<W>(&self, postings: &mut Vec<Posting>) -> Result<(), MergeError<S::Error, W>> {
        for &at in &self.equal {
            match &self.sources[at] {
                MergeSource::Segment(cursor) => {
                    let Some(entry) = cursor.entry() else { continue };
                    let read = cursor.segment().for_each(&entry, |posting| postings.push(posting));
                    read.map_err(MergeError::Segment)?;
                }
                MergeSource::Run(run) => {
                    run.list().and_then(|list| list.decode(postings)).ok_or_else(damaged_run)?;
                }
            }
        }
        Ok(())
    }

    /// Moves the sources that were taken to their next terms.
    fn advance_equal<W>(&mut self) -> Result<(), MergeError<S::Error, W>> {
        for at in std::mem::take(&mut self.equal) {
            self.sources[at].advance()?;
            self.put(at);
        }
        Ok(())
    }

    fn put(&mut self, source: usize) {
        if self.sources[source].term().is_none() {
            return;
        }
        let mut at = self.heap.len();
        self.heap.push(source);
        while at > 0 && self.is_before(self.heap[at], self.heap[(at - 1) / 2]) {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let below = (2 * at + 1..(2 * at + 3).min(self.heap.len()))
                .reduce(|a, b| if self.is_before(self.heap[b], self.heap[a]) { b } else { a });
            let Some(below) = below.filter(|&below| self.is_before(self.heap[below], self.heap[at])) else { return };
            self.heap.swap(at, below);
            at = below;
        }
    }

    /// Whether source `a` is before source `b`. Equal terms are ordered by the indexes of their sources.
    fn is_before(&self, a: usize, b: usize) -> bool {
        match self.sources[a].term().cmp(&self.sources[b].term()) {
            Ordering::Less => true,
            Ordering::Equal => a < b,
            Ordering::Greater => false,
        }
    }
}

impl<'a, S: SegmentSource<'a>> MergeSource<'a, S> {
    /// Creates a source with the terms of a segment from a given term on.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read.
    pub fn segment(segment: &SegmentReader<'a, S>, from: &[u8]) -> Result<Self, S::Error> {
        segment.terms_from(from).map(Self::Segment)
    }

    fn term(&self) -> Option<&[u8]> {
        match self {
            Self::Segment(cursor) => cursor.entry().map(|_| cursor.term()),
            Self::Run(run) => run.list().map(|list| list.term),
        }
    }

    fn advance<W>(&mut self) -> Result<(), MergeError<S::Error, W>> {
        match self {
            Self::Segment(cursor) => cursor.advance().map_err(MergeError::Segment),
            Self::Run(run) => run.advance().map_err(|DamagedRun| damaged_run()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::dictionary::{Inverter, Run, SegmentReader};
    use crate::field::FIELDS;
    use crate::memory::MemorySegment;
    use crate::postings::{Postings, TfVector};
    use crate::terms::HashedTerm;

    type Lists = BTreeMap<Vec<u8>, BTreeMap<u32, TfVector>>;

    /// Creates a run of the chunks with the given ids.
    fn run(chunks: &[Vec<(Vec<u8>, TfVector)>], ids: impl IntoIterator<Item = usize>) -> Run {
        let mut inverter = Inverter::default();
        for id in ids {
            let postings = chunks[id].iter().map(|(term, frequencies)| (HashedTerm::new(term), *frequencies));
            inverter.add(id as u32, postings);
        }
        inverter.into_run()
    }

    /// Merges old segments and runs into a segment, in ranges of terms that begin at `bounds`.
    fn segment(olds: &[MemorySegment], runs: &[Run], bounds: &[&[u8]], tombstones: &Tombstones) -> MemorySegment {
        let mut segment = MemorySegment::default();
        for (part, from) in (0u32..).zip(bounds) {
            let range = TermRange { from, to: bounds.get(part as usize + 1).copied().unwrap_or_default() };
            let mut sources: Vec<MergeSource<'_, &MemorySegment>> = olds
                .iter()
                .map(|old| MergeSource::segment(&SegmentReader::new(old), from).expect("the segment is valid"))
                .collect();
            sources.extend(runs.iter().map(|run| {
                let end = if range.to.is_empty() { None } else { run.index.end_before(range.to) };
                let bytes = &run.bytes[run.index.start_of(from)..end.unwrap_or(run.bytes.len())];
                MergeSource::Run(RunReader::new(bytes).expect("the run is valid"))
            }));
            let length = |_| [0; FIELDS];
            let writer = SegmentWriter::new(&mut segment).with_range(from, part << 20);
            merge(sources, range, tombstones, tombstones.set().is_empty(), &length, writer)
                .expect("the sources are valid");
        }
        segment
    }

    fn lists(segment: &MemorySegment) -> Lists {
        let reader = SegmentReader::new(segment);
        let mut cursor = reader.terms_from(&[]).expect("the segment is valid");
        let mut lists = Lists::new();
        while let Some(entry) = cursor.entry() {
            let none = Tombstones::default();
            let postings = Postings::new(reader.parts(&entry).expect("the segment is valid"), &none);
            let list = lists.entry(cursor.term().to_vec()).or_default();
            postings.for_each(|chunk, frequencies| _ = list.insert(chunk.0, frequencies));
            // A lookup finds every term that a walk finds.
            assert!(reader.find(cursor.term()).expect("the segment is valid").is_some());
            cursor.advance().expect("the segment is valid");
        }
        lists
    }

    proptest! {
        #[test]
        fn merged_ranges_contain_all_postings(
            terms in prop::collection::vec("[ab]{1,2}|[a-d]{1,3}", 1..40),
            shape in prop::collection::vec(prop::collection::btree_set(0usize..40, 0..12), 1..90),
            old in 0usize..40,
            kinds in prop::collection::vec(0usize..5, 90),
            bounds in prop::collection::btree_set("[a-d]{1,2}", 0..6),
            dead in prop::collection::btree_set(0u32..90, 0..4),
        ) {
            let vector = |id: usize, at: usize| {
                let mut vector = TfVector::default();
                vector[(id + at) % FIELDS] = (at % 3 + 1) as u16;
                vector
            };
            let chunks: Vec<Vec<(Vec<u8>, TfVector)>> = shape.iter().enumerate().map(|(id, positions)| {
                let distinct: BTreeMap<Vec<u8>, TfVector> = positions
                    .iter()
                    .map(|at| (terms[at % terms.len()].clone().into_bytes(), vector(id, *at)))
                    .collect();
                distinct.into_iter().collect()
            }).collect();
            let old = old.min(chunks.len());
            let none = Tombstones::default();
            // Segments always have postings.
            let olds: Vec<MemorySegment> = [run(&chunks, 0..old / 2), run(&chunks, old / 2..old)]
                .into_iter()
                .filter(|run| !run.bytes.is_empty())
                .map(|run| segment(&[], &[run], &[&[]], &none))
                .collect();
            let of_kind = |kind: usize| run(&chunks, (old..chunks.len()).filter(|id| kinds[*id] == kind));
            // First merges two runs into one.
            let pair = [of_kind(0), of_kind(1)];
            let mut writer = RunWriter::new(Vec::new());
            let readers = pair.iter().map(|run| RunReader::new(&run.bytes).expect("the run is valid")).collect();
            merge_runs::<&MemorySegment, _>(readers, &mut writer).expect("the runs are valid");
            let (bytes, index) = writer.finish().expect("a run in memory can be written");
            let runs = [of_kind(2), Run { bytes, index }, of_kind(3), of_kind(4)];
            let bounds: Vec<&[u8]> = [&[][..]].into_iter().chain(bounds.iter().map(String::as_bytes)).collect();
            let mut expected = Lists::new();
            for (id, postings) in chunks.iter().enumerate().filter(|(id, _)| !dead.contains(&(*id as u32))) {
                for (term, frequencies) in postings {
                    expected.entry(term.clone()).or_default().insert(id as u32, *frequencies);
                }
            }
            let tombstones = Tombstones::new(dead.into_iter().collect());
            prop_assert_eq!(lists(&segment(&olds, &runs, &bounds, &tombstones)), expected);
        }
    }
}
