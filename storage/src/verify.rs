//! Checks everything that an index says against everything else that it says.

use std::hash::{BuildHasher, BuildHasherDefault};

use aurora_inverted::{FIELDS, LABEL_PREFIX, LengthColumns, length_code, length_of};
use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHasher};
use serde::Serialize;

use crate::btree::check_structure;
use crate::chunk::{ChunkId, NewChunk, SourceRecord};
use crate::column::check_columns;
use crate::content::{CONTENT_PARTS, CompressedBlock, Frame};
use crate::error::StorageError;
use crate::keywords::KEYWORDS;
use crate::label::Labels;
use crate::manifest::SegmentInfo;
use crate::representation::RepresentationBuilder;
use crate::snapshot::Snapshot;
use crate::tables::{Table, block_key, meta_key};
use crate::values::{ValueBlock, parse_value_key};
use crate::vectors::{BLOCK_IDS, VectorBlock};

/// Most problems that are put into words.
const LISTED: usize = 100;

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// File rows that were read.
    pub files: u64,
    /// Chunk records that were read.
    pub chunks: u64,
    /// Dictionary entries that were read, labels included.
    pub terms: u64,
    /// Postings that were read, those of dead chunks included.
    pub postings: u64,
    /// Vectors of live chunks.
    pub vectors: u64,
    /// The first problems, in words.
    pub problems: Vec<String>,
    /// Number of all problems.
    pub problem_count: u64,
    /// How many of them are in the keyword index, which can be made anew from the stored chunks.
    pub keyword_problems: u64,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.problem_count == 0
    }

    /// Whether something is wrong, and all of it in the keyword index: see [`crate::Environment::rebuild_keywords`].
    pub fn only_keywords(&self) -> bool {
        self.problem_count > 0 && self.keyword_problems == self.problem_count
    }

    fn problem(&mut self, problem: String) {
        self.problem_count += 1;
        if self.problems.len() < LISTED {
            self.problems.push(problem);
        }
    }

    fn expect(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problem(problem());
        }
    }

    fn note(&mut self, result: Result<(), StorageError>) {
        if let Err(error) = result {
            self.problem(match error {
                StorageError::Damaged { what, .. } => what,
                error => error.to_string(),
            });
        }
    }
}

impl Snapshot {
    /// Checks the pages of every table, every record, every reference between records, and every sum.
    pub fn verify(&self) -> VerifyReport {
        let mut report = VerifyReport::default();
        let in_keywords = self.verify_pages(&mut report);
        if let Err(problem) = check_columns(&self.manifest().columns) {
            report.problem(problem);
        }
        let mut entries = Entries::default();
        let result = self.verify_chunks(&mut report, &mut entries);
        report.note(result);
        let result = self.verify_files(&mut report);
        report.note(result);
        let result = self.verify_vectors(&mut report);
        report.note(result);
        let result = self.verify_values(&mut report);
        report.note(result);
        // What is wrong from here on is wrong with the keyword index: all else has been found sound without it.
        let others = report.problem_count;
        in_keywords.into_iter().for_each(|problem| report.problem(problem));
        for info in &self.manifest().segments {
            let result = self.verify_segment(&mut report, &mut entries, info);
            report.note(result);
        }
        let result = self.verify_entries(&mut report, &entries);
        report.note(result);
        let result = self.verify_lengths(&mut report);
        report.note(result);
        report.keyword_problems = report.problem_count - others;
        report
    }

    /// Checks the pages of every tree and the checksum of every value, also in rows that nothing refers to. Vectors
    /// have checksums of their own. Returns what is wrong with the keyword index.
    fn verify_pages(&self, report: &mut VerifyReport) -> Vec<String> {
        let keywords = KEYWORDS.map(Table::name);
        let mut in_keywords = Vec::new();
        let seal_of = |name: &[u8], key: &[u8]| {
            let table = Table::ALL.iter().find(|table| table.name().as_bytes() == name)?;
            // The mark of the format is compared as a whole when the index is opened.
            table.seal().filter(|_| *table != Table::Meta || key != meta_key::FORMAT)
        };
        check_structure(&self.pages(), self.meta(), &keywords, seal_of, &mut |table, damage| {
            let is_of_keywords = keywords.iter().any(|name| name.as_bytes() == table);
            if is_of_keywords { in_keywords.push(damage.0) } else { report.problem(damage.0) }
        });
        in_keywords
    }

    fn verify_chunks(&self, report: &mut VerifyReport, entries: &mut Entries) -> Result<(), StorageError> {
        let mut present = RoaringBitmap::new();
        let mut keys: FxHashMap<String, u32> = FxHashMap::default();
        let mut cursor = self.cursor(Table::Chunks, &[])?;
        while let Some((key, _)) = cursor.entry().map_err(|damage| self.wrap(damage))? {
            match id_of(key) {
                // The rows of a writer that has not published, or never will.
                Some(id) if id >= self.manifest().next_chunk_id => break,
                Some(id) if self.live().contains(id) => {
                    present.insert(id);
                    report.chunks += 1;
                    match self.whole_chunk(ChunkId(id)) {
                        Ok(Some(chunk)) => {
                            let labels = Labels::new(&NewChunk::from(&chunk), &self.manifest().columns);
                            labels.iter().for_each(|label| entries.expect(id, label));
                            if let Some(other) = keys.insert(chunk.key, id) {
                                report.problem(format!("chunks {id} and {other} share a key"));
                            }
                        }
                        Ok(None) => report.problem(format!("chunk {id} has no valid record")),
                        Err(error) => report.note(Err(error)),
                    }
                }
                Some(id) => report.problem(format!("chunk {id} is dead but has a record")),
                None => report.problem("a chunk record has an impossible key".to_owned()),
            }
            cursor.next().map_err(|damage| self.wrap(damage))?;
        }
        for id in self.live() - &present {
            report.problem(format!("chunk {id} has no record"));
        }
        let count = self.manifest().chunk_count;
        report.expect(count == self.live().len(), || {
            format!("the manifest counts {count} chunks, {} are live", self.live().len())
        });
        self.verify_content(report)
    }

    /// Checks that the blocks of contents follow one another, and that every one is of use.
    fn verify_content(&self, report: &mut VerifyReport) -> Result<(), StorageError> {
        let mut end = 0;
        let mut cursor = self.cursor(Table::Content, &[])?;
        while let Some((key, value)) = cursor.entry().map_err(|damage| self.wrap(damage))? {
            let first = id_of(key);
            if first.is_some_and(|first| first >= self.manifest().next_chunk_id) {
                break;
            }
            match first.and_then(|first| Some((first, CompressedBlock::decode(first, value)?.read::<CONTENT_PARTS>()?)))
            {
                Some((first, frames)) => {
                    let ids: Vec<u32> = frames.iter().flat_map(Frame::ids).collect();
                    report.expect(first >= end, || format!("the block of contents {first} is in the one before"));
                    end = ids.last().map_or(end, |last| last.saturating_add(1));
                    report.expect(ids.iter().any(|id| self.live().contains(*id)), || {
                        format!("the block of contents {first} is of dead chunks")
                    });
                }
                None => report.problem("a block of contents is invalid".to_owned()),
            }
            cursor.next().map_err(|damage| self.wrap(damage))?;
        }
        Ok(())
    }

    /// Checks that every block of values is of a column and of live chunks, and that its values have the type of the column.
    fn verify_values(&self, report: &mut VerifyReport) -> Result<(), StorageError> {
        let mut cursor = self.cursor(Table::Values, &[])?;
        while let Some((key, value)) = cursor.entry().map_err(|damage| self.wrap(damage))? {
            let place = parse_value_key(key);
            let end = self.manifest().next_chunk_id.div_ceil(BLOCK_IDS);
            // The rows of a writer that has not published, or never will.
            if place.is_some_and(|(block, _)| block >= end) {
                break;
            }
            let column = place.and_then(|(block, name)| Some((block, self.custom_column(name)?)));
            match column.and_then(|(block, column)| Some((block, column, ValueBlock::decode(value)?))) {
                Some((block, column, values)) => {
                    let name = &column.name;
                    report.expect(values.values().all(|value| value.kind() == column.kind), || {
                        format!("block {block} of the column `{name}` has values of another type")
                    });
                    let ids = block * BLOCK_IDS..=block * BLOCK_IDS + (BLOCK_IDS - 1);
                    report.expect(self.live().range_cardinality(ids) > 0, || {
                        format!("block {block} of the column `{name}` is of dead chunks")
                    });
                }
                None => report.problem(format!("the block of values {} is invalid", key.escape_ascii())),
            }
            cursor.next().map_err(|damage| self.wrap(damage))?;
        }
        Ok(())
    }

    fn verify_files(&self, report: &mut VerifyReport) -> Result<(), StorageError> {
        let (mut owned, mut firsts) = (RoaringBitmap::new(), RoaringBitmap::new());
        for record in self.files() {
            let record = record?;
            report.files += 1;
            firsts.extend(record.chunks.first().map(|id| id.0));
            for id in record.chunks {
                report.expect(self.live().contains(id.0), || {
                    format!("{} refers to chunk {id}, which is not there", record.path)
                });
                report.expect(owned.insert(id.0), || {
                    format!("{} refers to chunk {id}, which another file has too", record.path)
                });
            }
        }
        for id in self.live() - &owned {
            report.problem(format!("chunk {id} belongs to no file"));
        }
        self.verify_sources(report, &firsts)?;
        self.verify_representations(report, &firsts)?;
        self.verify_blames(report, &firsts)?;
        let (count, seen) = (self.manifest().file_count, report.files);
        report.expect(count == seen, || format!("the manifest counts {count} files, there are {seen}"));
        Ok(())
    }

    /// Checks the source record of every file; `firsts` are the files' first chunks.
    fn verify_sources(&self, report: &mut VerifyReport, firsts: &RoaringBitmap) -> Result<(), StorageError> {
        let mut cursor = self.cursor(Table::Sources, &[])?;
        while let Some((key, value)) = cursor.entry().map_err(|damage| self.wrap(damage))? {
            match id_of(key) {
                // The rows of a writer that has not published, or never will.
                Some(id) if id >= self.manifest().next_chunk_id => break,
                Some(id) if firsts.contains(id) => {
                    let is_valid = SourceRecord::decode(value).is_some();
                    report.expect(is_valid, || format!("the source record of chunk {id} is invalid"));
                }
                _ => report.problem(format!("the source record of {} belongs to no file", key.escape_ascii())),
            }
            cursor.next().map_err(|damage| self.wrap(damage))?;
        }
        Ok(())
    }

    /// Checks that every file has a representation, and that it follows from the chunks; `firsts` are the files' first chunks.
    fn verify_representations(&self, report: &mut VerifyReport, firsts: &RoaringBitmap) -> Result<(), StorageError> {
        let mut seen = 0;
        let mut cursor = self.cursor(Table::Representations, &[])?;
        while let Some((key, _)) = cursor.entry().map_err(|damage| self.wrap(damage))? {
            match id_of(key) {
                // The rows of a writer that has not published, or never will.
                Some(id) if id >= self.manifest().next_chunk_id => break,
                Some(id) if firsts.contains(id) => {
                    seen += 1;
                    let is_valid = self.encoded_representation(ChunkId(id))? == self.representation_of_chunks(id)?;
                    report.expect(is_valid, || format!("the representation of the file of chunk {id} is another one"));
                }
                _ => report.problem(format!("the representation of {} belongs to no file", key.escape_ascii())),
            }
            cursor.next().map_err(|damage| self.wrap(damage))?;
        }
        report.expect(seen == firsts.len(), || format!("{seen} of {} files have a representation", firsts.len()));
        Ok(())
    }

    /// The representation of a file as it follows from its chunks, given the id of the first.
    fn representation_of_chunks(&self, first: u32) -> Result<Vec<u8>, StorageError> {
        let mut builder = RepresentationBuilder::default();
        let file = self.file_range(ChunkId(first))?;
        for id in self.live().range(file).map(ChunkId) {
            if let Some(record) = self.chunk(id)? {
                builder.add_tokens(record.doc_tokens());
            }
            if let Some((scale, row)) = self.row(id)? {
                builder.add_vector(scale, &row.iter().map(|&value| value as i8).collect::<Vec<_>>());
            }
        }
        Ok(builder.finish())
    }

    /// Checks the blame of every file; `firsts` are the files' first chunks.
    fn verify_blames(&self, report: &mut VerifyReport, firsts: &RoaringBitmap) -> Result<(), StorageError> {
        let mut cursor = self.cursor(Table::Blames, &[])?;
        while let Some((key, value)) = cursor.entry().map_err(|damage| self.wrap(damage))? {
            let first = id_of(key);
            // The rows of a writer that has not published, or never will.
            if first.is_some_and(|first| first >= self.manifest().next_chunk_id) {
                break;
            }
            match first.and_then(|first| CompressedBlock::decode(first, value)?.read::<1>()) {
                Some(frames) => {
                    for id in frames.iter().flat_map(Frame::ids).filter(|id| self.live().contains(*id)) {
                        report.expect(firsts.contains(id), || format!("the blame of chunk {id} belongs to no file"));
                        if let Err(error) = self.blame(ChunkId(id)) {
                            report.problem(error.to_string());
                        }
                    }
                }
                None => report.problem("a block of blames is invalid".to_owned()),
            }
            cursor.next().map_err(|damage| self.wrap(damage))?;
        }
        Ok(())
    }

    fn verify_segment(
        &self,
        report: &mut VerifyReport,
        entries: &mut Entries,
        info: &SegmentInfo,
    ) -> Result<(), StorageError> {
        let segment = self.segment(info.id);
        let lengths = self.all_field_lengths()?;
        let wrap = |damage| self.wrap(damage);
        let mut cursor = segment.terms_from(&[]).map_err(wrap)?;
        let (mut terms, mut postings) = (0, 0);
        let mut before = Vec::new();
        while let Some(entry) = cursor.entry() {
            let term = cursor.term().to_vec();
            report.expect(before < term, || format!("segment {} has terms out of order at {}", info.id, show(&term)));
            for part in segment.parts(&entry).map_err(wrap)? {
                report.expect(part.is_exact(&|chunk| lengths.of(ChunkId(chunk))), || {
                    format!("segment {} has damaged frequencies of {}", info.id, show(&term))
                });
                let inside = part.first() >= info.first_chunk && part.last() < info.end_chunk;
                report.expect(inside, || {
                    format!("segment {} has postings of {} outside its range", info.id, show(&term))
                });
                postings += part.posting_count() as u64;
                let _ = part.for_each(|posting| {
                    if self.live().contains(posting.chunk) {
                        entries.found(posting.chunk, &term, &posting.frequencies);
                    }
                    Ok::<(), std::convert::Infallible>(())
                });
            }
            terms += 1;
            before = term;
            cursor.advance().map_err(wrap)?;
        }
        report.terms += terms;
        report.postings += postings;
        report.expect(terms == info.terms && postings == info.postings, || {
            format!(
                "segment {} has {terms} terms and {postings} postings, the manifest says {} and {}",
                info.id, info.terms, info.postings
            )
        });
        Ok(())
    }

    /// Compares labels with the records that they come from, and frequencies with lengths.
    fn verify_entries(&self, report: &mut VerifyReport, entries: &Entries) -> Result<(), StorageError> {
        let all_lengths = self.all_field_lengths()?;
        for id in self.live() {
            let Some(found) = entries.chunks.get(&id) else { continue };
            report.expect(found.labels == 0, || format!("chunk {id} has other labels than its record gives"));
            let lengths = all_lengths.of(ChunkId(id));
            for (field, (&length, &sum)) in lengths.iter().zip(&found.sums).enumerate() {
                // A sum of capped frequencies says nothing.
                let same = length == length_code(sum.try_into().unwrap_or(u32::MAX)) || found.capped;
                report.expect(same, || {
                    format!("chunk {id} has {sum} terms in field {field}, its length says {}", length_of(length))
                });
            }
        }
        Ok(())
    }

    fn verify_lengths(&self, report: &mut VerifyReport) -> Result<(), StorageError> {
        let mut cursor = self.cursor(Table::Lengths, &[])?;
        while let Some((key, value)) = cursor.entry().map_err(|damage| self.wrap(damage))? {
            report.expect(key.len() == 4 && LengthColumns::decode(value).is_some(), || {
                "a block of field lengths is invalid".to_owned()
            });
            cursor.next().map_err(|damage| self.wrap(damage))?;
        }
        let mut totals = [0u64; FIELDS];
        let lengths = self.all_field_lengths()?;
        for id in self.live() {
            for (total, length) in totals.iter_mut().zip(lengths.of(ChunkId(id))) {
                *total += u64::from(length_of(length));
            }
        }
        report.expect(totals == self.field_totals(), || {
            format!("field lengths sum to {totals:?}, the manifest says {:?}", self.field_totals())
        });
        Ok(())
    }

    fn verify_vectors(&self, report: &mut VerifyReport) -> Result<(), StorageError> {
        let dimensions = self.manifest().model.as_ref().map(|model| model.dimensions);
        let mut cursor = self.cursor(Table::Codes, &[])?;
        while let Some((key, codes)) = cursor.entry().map_err(|damage| self.wrap(damage))? {
            let block = key.try_into().map(u32::from_be_bytes).ok().filter(|&block| block <= u32::MAX / BLOCK_IDS);
            let rows = block.map(|block| self.get(Table::Vectors, &block_key(block))).transpose()?.flatten();
            match (block, rows.and_then(|rows| VectorBlock::decode(codes, rows))) {
                (Some(block), Some(vectors)) => self.verify_block(report, block, &vectors, dimensions)?,
                _ => report.problem("a block of vectors is invalid".to_owned()),
            }
            cursor.next().map_err(|damage| self.wrap(damage))?;
        }
        let (codes, rows) = (self.tree(Table::Codes).entries, self.tree(Table::Vectors).entries);
        report.expect(codes == rows, || format!("{codes} blocks of vectors have codes, {rows} have rows"));
        Ok(())
    }

    fn verify_block(
        &self,
        report: &mut VerifyReport,
        block: u32,
        vectors: &VectorBlock<'_>,
        dimensions: Option<usize>,
    ) -> Result<(), StorageError> {
        let mut live = 0;
        for row in vectors.iter() {
            let (index, _) = row.map_err(|damage| self.wrap(damage))?;
            live += u64::from(self.live().contains(block * BLOCK_IDS + index as u32));
        }
        report.vectors += live;
        report.expect(live == 0 || Some(vectors.dimensions) == dimensions, || {
            format!("{live} vectors of block {block} are of another model")
        });
        Ok(())
    }
}

/// What the dictionary says of each chunk.
#[derive(Default)]
struct Entries {
    chunks: FxHashMap<u32, OfChunk>,
    hash: BuildHasherDefault<FxHasher>,
}

#[derive(Default)]
struct OfChunk {
    /// Hashes of the labels found minus those expected: 0 when they are the same.
    labels: u64,
    sums: [u64; FIELDS],
    capped: bool,
}

impl Entries {
    fn expect(&mut self, chunk: u32, label: &[u8]) {
        let hash = self.hash.hash_one(label);
        let of = self.chunks.entry(chunk).or_default();
        of.labels = of.labels.wrapping_sub(hash);
    }

    fn found(&mut self, chunk: u32, entry: &[u8], frequencies: &[u16; FIELDS]) {
        let hash = self.hash.hash_one(entry);
        let of = self.chunks.entry(chunk).or_default();
        if entry.first() == Some(&LABEL_PREFIX) {
            of.labels = of.labels.wrapping_add(hash);
            return;
        }
        for (sum, &count) in of.sums.iter_mut().zip(frequencies) {
            *sum += u64::from(count);
            of.capped |= count == u16::MAX;
        }
    }
}

/// The chunk id that a key is.
fn id_of(key: &[u8]) -> Option<u32> {
    key.try_into().map(u64::from_be_bytes).ok()?.try_into().ok()
}

fn show(term: &[u8]) -> String {
    String::from_utf8_lossy(term).escape_debug().to_string()
}
