// An index of one segment in memory, for the crate's example and its tests. It shows what the traits of the crate need.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;

use aurora_inverted::{
    BlockCursor, Bm25Config, ChunkId, Collection, DamagedRun, FIELDS, FieldScorer, Inverter, KeyedBlock, LengthCodes,
    LengthColumns, MergeError, MergeSource, Postings, RunReader, SegmentReader, SegmentSink, SegmentSource,
    SegmentWriter, TermRange, TermVector, Tombstones, WINDOW, WeightedPostings, add_lengths, encode_lengths, idf,
    is_term, length_code, length_from_code, merge, normalise, top_k,
};
use roaring::RoaringBitmap;

/// Error when a structure of the segment is damaged. It indicates a bug, because the bytes never leave the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DamagedSegment(pub String);

/// An index of chunks in memory. The id of a chunk is its position.
#[derive(Debug)]
pub(crate) struct MemoryIndex {
    segment: MemorySegment,
    keys: Vec<String>,
    /// Encoded field lengths of each window.
    lengths: Vec<Vec<u8>>,
    field_totals: [u64; FIELDS],
    tombstones: Tombstones,
}

impl MemoryIndex {
    /// Indexes chunks, each with its key.
    ///
    /// # Errors
    /// Never fails, because the index reads only bytes that it has written.
    pub(crate) fn new<'t>(chunks: impl IntoIterator<Item = (&'t str, TermVector)>) -> Result<Self, DamagedSegment> {
        let (mut inverter, mut keys) = (Inverter::default(), Vec::new());
        let (mut lengths, mut field_totals): (Vec<LengthCodes>, _) = (Vec::new(), [0; FIELDS]);
        for ((key, terms), id) in chunks.into_iter().zip(0..) {
            inverter.add(id, terms.hashed());
            let codes = terms.lengths().map(length_code);
            add_lengths(&mut field_totals, codes);
            lengths.push(codes);
            keys.push(key.to_owned());
        }
        let mut segment = MemorySegment::default();
        let length = |chunk: u32| lengths[chunk as usize];
        let writer = SegmentWriter::new(&mut segment);
        let run = inverter.into_run();
        let reader = RunReader::new(&run.bytes).map_err(|DamagedRun| DamagedSegment("run".to_owned()))?;
        let sources = vec![MergeSource::<&MemorySegment>::Run(reader)];
        merge(sources, TermRange::ALL, &Tombstones::default(), true, &length, writer).map_err(|error| match error {
            MergeError::Segment(error) => error,
            MergeError::Damaged(reason) => DamagedSegment(reason.to_owned()),
            MergeError::Sink(never) => match never {},
        })?;
        let lengths = lengths.chunks(WINDOW as usize).map(encode_lengths).collect();
        Ok(Self { segment, keys, lengths, field_totals, tombstones: Tombstones::default() })
    }

    /// Deletes chunks. Their postings stay in the segment but are ignored.
    pub(crate) fn delete(&mut self, chunks: impl IntoIterator<Item = ChunkId>) {
        let mut deleted = self.tombstones.set().clone();
        deleted.extend(chunks.into_iter().map(|chunk| chunk.0).filter(|chunk| *chunk < self.end()));
        // Totals cover only live chunks, like document frequencies.
        for chunk in (&deleted - self.tombstones.set()).iter().map(ChunkId) {
            let codes = self.columns(chunk.0 / WINDOW).at((chunk.0 % WINDOW) as u16);
            self.field_totals
                .iter_mut()
                .zip(codes)
                .for_each(|(total, code)| *total -= u64::from(length_from_code(code)));
        }
        self.tombstones = Tombstones::new(deleted);
    }

    /// Returns the posting list of a term.
    ///
    /// # Errors
    /// Fails if the segment is damaged.
    pub(crate) fn postings(&self, term: &str) -> Result<Postings<'_>, DamagedSegment> {
        let segment = SegmentReader::new(&self.segment);
        let entry = if is_term(term) { segment.find(normalise(term).as_bytes())? } else { None };
        let parts = entry.map_or(Ok(Vec::new()), |entry| segment.parts(&entry))?;
        Ok(Postings::new(parts, &self.tombstones))
    }

    /// Returns the `k` best chunks for some terms, best first. With a `filter`, only chunks in the filter are returned.
    ///
    /// # Errors
    /// Fails if the segment is damaged.
    pub(crate) fn search(
        &self,
        terms: &[&str],
        config: &Bm25Config,
        k: usize,
        filter: Option<&RoaringBitmap>,
    ) -> Result<Vec<(&str, f32)>, DamagedSegment> {
        let total = self.live();
        let fields = FieldScorer::new(config, total, self.field_totals);
        let lists = terms.iter().map(|term| {
            let postings = self.postings(term)?;
            let factor = idf(total, u64::from(postings.doc_frequency()));
            Ok(WeightedPostings { postings, factor })
        });
        let lists = lists.collect::<Result<Vec<_>, _>>()?;
        let filter = filter.map(|filter| filter - self.tombstones.set());
        let best = top_k(&lists, &fields, self, k, filter.as_ref())?;
        Ok(best.into_iter().map(|(chunk, score)| (self.keys[chunk.0 as usize].as_str(), score)).collect())
    }

    /// Number of chunks that are not deleted.
    pub(crate) fn live(&self) -> u64 {
        self.keys.len() as u64 - self.tombstones.set().len()
    }

    /// Sums of the field lengths over all live chunks.
    pub(crate) fn field_totals(&self) -> [u64; FIELDS] {
        self.field_totals
    }

    fn columns(&self, window: u32) -> LengthColumns<'_> {
        let columns = self.lengths.get(window as usize).and_then(|block| LengthColumns::decode(block));
        columns.unwrap_or(LengthColumns::NONE)
    }
}

impl Collection for MemoryIndex {
    type Error = DamagedSegment;

    fn end(&self) -> u32 {
        self.keys.len() as u32
    }

    fn tombstones(&self) -> &Tombstones {
        &self.tombstones
    }

    fn window_lengths(&self, window: u32) -> Result<LengthColumns<'_>, DamagedSegment> {
        Ok(self.columns(window))
    }

    fn key(&self, chunk: ChunkId) -> Result<Cow<'_, str>, DamagedSegment> {
        Ok(self.keys.get(chunk.0 as usize).map(|key| Cow::Borrowed(key.as_str())).unwrap_or_default())
    }
}

/// The bytes of one segment.
#[derive(Debug, Default)]
pub(crate) struct MemorySegment {
    /// Keys and bytes of the dictionary blocks, in ascending order.
    blocks: Vec<(Vec<u8>, Vec<u8>)>,
    /// Values by number.
    values: BTreeMap<u32, Vec<u8>>,
}

impl SegmentSink for &mut MemorySegment {
    type Error = Infallible;

    fn put_block(&mut self, key: &[u8], bytes: Vec<u8>) -> Result<(), Infallible> {
        self.blocks.push((key.to_vec(), bytes));
        Ok(())
    }

    fn put_value(&mut self, number: u32, bytes: Vec<u8>) -> Result<(), Infallible> {
        self.values.insert(number, bytes);
        Ok(())
    }
}

impl<'a> SegmentSource<'a> for &'a MemorySegment {
    type Error = DamagedSegment;
    type Blocks = MemoryBlocks<'a>;

    fn block(self, term: &[u8]) -> Result<Option<KeyedBlock<'a>>, DamagedSegment> {
        let at = self.blocks.partition_point(|(key, _)| key.as_slice() <= term).checked_sub(1);
        Ok(at.and_then(|at| self.blocks.get(at)).map(|(key, bytes)| (key.as_slice(), bytes.as_slice())))
    }

    fn blocks(self, key: &[u8]) -> Result<MemoryBlocks<'a>, DamagedSegment> {
        let from = self.blocks.partition_point(|(found, _)| found.as_slice() < key);
        Ok(MemoryBlocks(&self.blocks[from..]))
    }

    fn value(self, number: u32) -> Result<Option<&'a [u8]>, DamagedSegment> {
        Ok(self.values.get(&number).map(Vec::as_slice))
    }

    fn damaged(self, structure: &str) -> DamagedSegment {
        DamagedSegment(format!("the segment has a damaged {structure}"))
    }
}

/// The blocks that have not been read.
#[derive(Debug, Clone)]
pub(crate) struct MemoryBlocks<'a>(&'a [(Vec<u8>, Vec<u8>)]);

impl<'a> BlockCursor<'a> for MemoryBlocks<'a> {
    type Error = DamagedSegment;

    fn key(&self) -> Result<Option<&'a [u8]>, DamagedSegment> {
        Ok(self.0.first().map(|(key, _)| key.as_slice()))
    }

    fn bytes(&self) -> Result<Option<&'a [u8]>, DamagedSegment> {
        Ok(self.0.first().map(|(_, bytes)| bytes.as_slice()))
    }

    fn advance(&mut self) -> Result<(), DamagedSegment> {
        self.0 = self.0.get(1..).unwrap_or_default();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use aurora_inverted::Field;
    use proptest::prelude::*;

    use super::*;

    const TERMS: [&str; 6] = ["common", "often", "some", "few", "rare", "absent"];

    /// Creates chunks. Each term of `TERMS` is rarer than the one before it.
    fn chunks(count: usize, seed: u64) -> Vec<(String, TermVector)> {
        let mut state = seed;
        let mut below = |end: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % end
        };
        let mut builder = TermVector::builder();
        let chunk = |id: usize| {
            for (at, term) in TERMS[..5].iter().enumerate() {
                if below(2 << (2 * at)) == 0 {
                    let field = Field::ALL[below(FIELDS as u64) as usize];
                    (0..=below(4)).for_each(|_| _ = builder.add(field, term));
                    (0..below(3)).for_each(|_| _ = builder.add(Field::Body, term));
                }
            }
            (0..below(30)).for_each(|_| _ = builder.add(Field::Body, "filler"));
            (format!("chunk {:06}", (id * 7919) % count), builder.finish())
        };
        (0..count).map(chunk).collect()
    }

    /// Returns the best chunks, only those in `filter` if there is one, by scoring every posting.
    fn exhaustive<'m>(
        index: &'m MemoryIndex,
        terms: &[&str],
        config: &Bm25Config,
        k: usize,
        filter: Option<&RoaringBitmap>,
    ) -> Vec<(&'m str, f32)> {
        let fields = FieldScorer::new(config, index.live(), index.field_totals());
        let mut scores = vec![0f32; index.end() as usize];
        for term in terms {
            let postings = index.postings(term).expect("the index is valid");
            let factor = idf(index.live(), u64::from(postings.doc_frequency()));
            postings.for_each(|chunk, frequencies| {
                let lengths = index.columns(chunk.0 / WINDOW).at((chunk.0 % WINDOW) as u16);
                scores[chunk.0 as usize] += factor * fields.saturated(frequencies, lengths);
            });
        }
        if let Some(filter) = filter {
            (0u32..).zip(&mut scores).filter(|(id, _)| !filter.contains(*id)).for_each(|(_, score)| *score = 0.0);
        }
        let keyed = index.keys.iter().map(String::as_str).zip(scores);
        let mut best: Vec<_> = keyed.filter(|(_, score)| *score > 0.0).collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        best.truncate(k);
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]

        #[test]
        fn maxscore_matches_exhaustive_scoring(
            seed in any::<u64>(),
            count in 1usize..20_000,
            queries in prop::collection::vec((prop::collection::vec(0usize..TERMS.len(), 1..5), 0usize..40, prop::option::of(1usize..3_000)), 1..8),
            deleted in prop::collection::vec(0u32..20_000, 0..200),
        ) {
            let chunks = chunks(count, seed);
            let config = Bm25Config { k1: 1.2, b: 0.6, fields: [4.0, 1.0, 2.0, 1.5, 1.0, 0.5, 1.0] };
            let mut index = MemoryIndex::new(chunks.iter().map(|(key, terms)| (key.as_str(), terms.clone()))).expect("the index is valid");
            for is_after in [false, true] {
                if is_after {
                    index.delete(deleted.iter().copied().map(ChunkId));
                }
                for (query, k, every) in &queries {
                    let filter: Option<RoaringBitmap> = every.map(|every| (0..count as u32).step_by(every).collect());
                    let terms: Vec<&str> = query.iter().map(|&at| TERMS[at]).collect();
                    let found = index.search(&terms, &config, *k, filter.as_ref()).expect("the index is valid");
                    let bits = |hits: &[(&str, f32)]| -> Vec<(String, u32)> {
                        hits.iter().map(|(key, score)| ((*key).to_owned(), score.to_bits())).collect()
                    };
                    prop_assert_eq!(bits(&found), bits(&exhaustive(&index, &terms, &config, *k, filter.as_ref())));
                }
            }
        }
    }
}
