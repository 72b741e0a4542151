//! Builds a new segment from old segments and new postings. Threads concurrently build the parts of the segment. Each
//! part contains the terms of a range.

use aurora_inverted::{
    DamagedRun, LengthCodes, MergeError, MergeSource, RunReader, SegmentTotals, SegmentWriter, TermRange, Tombstones,
    merge,
};

use crate::error::StorageError;
use crate::manifest::SegmentInfo;
use crate::read::{SegmentRows, Snapshot, ranges, with_totals};
use crate::tables::{Operation, collect_sealed};
use crate::workers::Workers;
use crate::write::inversion::{self, Inversion};

/// Number of samples in one part of a segment. A sample represents about 16 KiB of postings.
const SAMPLES_PER_PART: usize = 64;
/// Maximum number of parts of a segment.
const MAX_PARTS: usize = 256;
/// Number of dictionary blocks of old segments that count as one sample.
const BLOCKS_PER_SAMPLE: usize = 4;
/// Number of low bits in the number of a postings value. The low bits count the values of a part, and the higher bits
/// are the number of the part.
const VALUE_BITS: u32 = u32::BITS - MAX_PARTS.ilog2();

/// The sources of a new segment.
pub(crate) struct SegmentInput<'i> {
    /// Description of the segment without totals, which [`Self::write`] adds.
    pub(crate) info: SegmentInfo,
    /// The generation of the old segments.
    pub(crate) base: &'i Snapshot,
    /// Old segments, oldest first.
    pub(crate) segments: &'i [SegmentInfo],
    /// New postings, if there are any.
    pub(crate) inversion: Option<&'i Inversion>,
    /// Field lengths of the chunks.
    pub(crate) length: &'i (dyn Fn(u32) -> LengthCodes + Sync),
    /// Deleted chunks, whose postings are omitted.
    pub(crate) tombstones: &'i Tombstones,
    /// Whether all new chunks are live.
    pub(crate) new_is_live: bool,
}

impl SegmentInput<'_> {
    /// Writes the segment. The ranges of terms do not depend on the number of threads. `emit` receives the rows of one
    /// part after another, with their checksums.
    pub(crate) fn write(
        &self,
        threads: usize,
        mut emit: impl FnMut(Vec<Operation>) -> Result<(), StorageError>,
    ) -> Result<SegmentInfo, StorageError> {
        let bounds = self.bounds()?;
        let parts = (0u32..).zip(ranges(&bounds));
        let mut all = SegmentTotals::default();
        let mut add = |(operations, totals): (Vec<Operation>, SegmentTotals)| {
            all.terms += totals.terms;
            all.postings += totals.postings;
            all.bytes += totals.bytes;
            emit(operations)
        };
        Workers::new(threads.min(bounds.len())).for_each(
            parts,
            |(part, range)| self.part(part, range),
            |made| add(made?),
        )?;
        Ok(with_totals(self.info.clone(), all))
    }

    /// Returns the first term of each part.
    fn bounds(&self) -> Result<Vec<Vec<u8>>, StorageError> {
        let mut samples: Vec<Vec<u8>> =
            self.inversion.iter().flat_map(|inversion| inversion.samples()).map(<[u8]>::to_vec).collect();
        for info in self.segments {
            let keys = self.base.segment(info.id).block_keys(BLOCKS_PER_SAMPLE);
            samples.extend(self.base.check(keys)?.into_iter().map(<[u8]>::to_vec));
        }
        samples.sort_unstable();
        let parts = (samples.len() / SAMPLES_PER_PART).clamp(1, MAX_PARTS);
        let mut bounds: Vec<Vec<u8>> = (1..parts).map(|part| samples[part * samples.len() / parts].clone()).collect();
        bounds.insert(0, Vec::new());
        bounds.dedup();
        Ok(bounds)
    }

    fn part(&self, part: u32, range: TermRange<'_>) -> Result<(Vec<Operation>, SegmentTotals), StorageError> {
        let mut sources = Vec::new();
        for info in self.segments {
            let source = MergeSource::segment(&self.base.segment(info.id), range.from);
            sources.push(self.base.check(source)?);
        }
        let runs = self.inversion.map(|inversion| inversion.read(range)).transpose()?.unwrap_or_default();
        for run in &runs {
            let reader = RunReader::new(run).map_err(|DamagedRun| inversion::damaged(self.base.path()))?;
            sources.push(MergeSource::Run(reader));
        }
        let mut operations = Vec::new();
        let sink = SegmentRows { id: self.info.id, emit: collect_sealed(&mut operations) };
        let writer = SegmentWriter::new(sink).with_range(range.from, part << VALUE_BITS);
        let merged = merge(sources, range, self.tombstones, self.new_is_live, self.length, writer);
        let damaged = |what: String| StorageError::Damaged { path: self.base.path().to_owned(), what };
        let totals = merged.map_err(|error| match error {
            MergeError::Segment(damage) => damaged(damage.0),
            MergeError::Damaged(reason) => damaged(reason.to_owned()),
            MergeError::Sink(error) => error,
        })?;
        Ok((operations, totals))
    }
}
