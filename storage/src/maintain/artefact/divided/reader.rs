//! Imports a divided artefact as the index of a project. Nothing in the artefact is trusted.

use std::path::Path;
use std::sync::Arc;

use aurora_codec::ByteReader;
use aurora_inverted::{LengthCodes, Run};

use super::{CHUNKS, FILES, VECTORS};
use crate::column::ColumnDeclaration;
use crate::environment::Environment;
use crate::error::StorageError;
use crate::maintain::artefact::check::{CheckedFrame, Checker, Limits};
use crate::maintain::artefact::part::{FrameBuilder, RowReader};
use crate::maintain::artefact::reader::{conclude, damaged, verify};
use crate::maintain::artefact::{ArtefactManifest, ImportContext};
use crate::maintain::rebuild::{KeywordBuilder, Terms};
use crate::maintain::replacement::Replacement;
use crate::manifest::Manifest;
use crate::project::{ProjectDirectory, keep_out_of_git};
use crate::read::{BLOCK_IDS, ChunkId, files};
use crate::tables::{Table, block_key, chunk_key};
use crate::workers::WorkQueue;
use crate::write::{ChunkBatch, WriterOptions};

/// The tables whose rows the parts contain.
const TABLES: [(Table, &str); 5] = [
    (Table::Files, FILES),
    (Table::Representations, FILES),
    (Table::Blames, FILES),
    (Table::Chunks, CHUNKS),
    (Table::Vectors, VECTORS),
];

/// The names of the groups and the rows of parts.
type PartRows<'p> = dyn Iterator<Item = Result<(String, Vec<u8>), StorageError>> + 'p;
/// Rows of the table with this index in [`TABLES`].
type Rows = (usize, Vec<u8>);
/// The checked rows of a table, and the postings and lengths of their chunks.
type Checked = (usize, Result<(CheckedFrame, Run, Vec<LengthCodes>), String>);

impl Environment {
    /// Imports a divided artefact as the index of a project, given its `.aurora` directory. `parts` are the names of
    /// the groups and the rows of all parts in order, and `terms` returns the terms of a chunk. The existing index is
    /// replaced as in [`Self::import`], but only if the digest of the new index is `digest`.
    ///
    /// `digest` is `None` if this version of the program is known to have written the parts from a valid index. Then
    /// each row is checked, but the whole new index is not verified again, which takes a third of the time.
    ///
    /// # Errors
    /// Fails if the parts are not a valid artefact of this version, if the digest differs, or if the index cannot be
    /// written, and returns the first error in `parts`. On an error, the existing index is unchanged.
    pub fn import_divided(
        directory: &Path,
        announced: &ArtefactManifest,
        digest: Option<&str>,
        parts: &mut PartRows<'_>,
        terms: Terms<'_>,
        context: ImportContext<'_>,
    ) -> Result<Manifest, StorageError> {
        announced.check_content().map_err(|what| damaged(context.name, "manifest", what))?;
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        keep_out_of_git(&home)?;
        let mut replacement = Replacement::begin(&home, context.known)?;
        let options = WriterOptions { threads: context.workers.threads(), ..WriterOptions::default() };
        let mut keywords = KeywordBuilder::begin(&home, &options, announced.chunks)?;
        let import = Import {
            announced,
            name: context.name,
            columns: announced.columns.clone().into(),
            terms,
            context: &context,
        };
        import.write_rows(parts, &mut replacement, &mut keywords)?;
        let base = replacement.base();
        let (segment, field_totals) = keywords.write(&base, options.threads, &mut replacement)?;
        drop(base);
        if field_totals != announced.field_totals {
            return Err(import.damaged("manifest", "its totals of field lengths are wrong".to_owned()));
        }
        let live = (0..announced.chunks).collect();
        conclude(directory, replacement, announced, segment, live, context, |snapshot| {
            let Some(digest) = digest else { return Ok(()) };
            verify(snapshot, announced, context)?;
            if snapshot.digest_with(context.workers)? == digest {
                return Ok(());
            }
            let what = "the digest of its content is not the announced one; another version of the program may have \
                        written it";
            Err(import.damaged("content", what.to_owned()))
        })
    }
}

/// The context of an import.
struct Import<'i> {
    announced: &'i ArtefactManifest,
    name: &'i Path,
    columns: Arc<[ColumnDeclaration]>,
    terms: Terms<'i>,
    context: &'i ImportContext<'i>,
}

/// A file, its first chunk, and its number of chunks.
struct NumberedFile {
    key: Vec<u8>,
    first: u32,
    chunks: u32,
}

impl Import<'_> {
    /// Checks the rows of all parts, and writes them with the numbers of chunks in the new index.
    fn write_rows(
        &self,
        parts: &mut PartRows<'_>,
        to: &mut Replacement,
        keywords: &mut KeywordBuilder,
    ) -> Result<(), StorageError> {
        let (announced, workers) = (self.announced, self.context.workers);
        let dimensions = announced.model.as_ref().map(|model| model.dimensions);
        let limits = Limits { chunks: announced.chunks, dimensions };
        let mut checkers = TABLES.map(|_| Checker::new(limits, &self.columns));
        workers.in_order(
            |(group, batch): (&'static str, ChunkBatch)| {
                batch.rows(&self.columns).map_err(|error| self.damaged(group, error.to_string()))
            },
            |rows: Result<Vec<_>, _>| rows?.into_iter().try_for_each(|operation| to.committer().push(operation)),
            |batches| {
                workers.in_order(
                    |rows| self.check(limits, rows),
                    |(table, checked): Checked| {
                        let (kind, group) = TABLES[table];
                        let (frame, run, lengths) = checked.map_err(|what| self.damaged(group, what))?;
                        if kind == Table::Chunks {
                            keywords.add(run, lengths)?;
                        }
                        let size = frame.size;
                        let batch = checkers[table].push(kind, frame).map_err(|what| self.damaged(group, what))?;
                        batches.push(size, (group, batch))
                    },
                    |frames| {
                        let mut renumbering = Renumbering::new(self, frames);
                        for part in parts {
                            let (group, rows) = part?;
                            renumbering.push(&group, &rows)?;
                        }
                        renumbering.finish()
                    },
                )?;
                for ((table, group), checker) in TABLES.into_iter().zip(&mut checkers) {
                    let rest = checker.end(table).map_err(|what| self.damaged(group, what))?;
                    batches.push(0, (group, rest))?;
                }
                Ok(())
            },
        )?;
        let [files, _, _, _, vectors] = &checkers;
        if (files.files, vectors.vectors) != (announced.files, announced.vectors) {
            return Err(self.damaged("manifest", "its number of files or vectors is wrong".to_owned()));
        }
        if files.unfinished.rows != announced.unfinished.rows {
            return Err(self.damaged("manifest", "its numbers of unfinished rows are wrong".to_owned()));
        }
        Ok(())
    }

    /// Checks rows of a table on a worker thread, and inverts the terms of chunks.
    fn check(&self, limits: Limits, (table, rows): Rows) -> Checked {
        let checked = limits.check_rows(TABLES[table].0, &rows).map(|frame| {
            let (run, lengths) = KeywordBuilder::invert(frame.chunks(), &self.columns, self.terms);
            (frame, run, lengths)
        });
        (table, checked)
    }

    fn damaged(&self, part: &str, what: String) -> StorageError {
        damaged(self.name, part, what)
    }
}

/// Turns rows with the keys of files into rows with the numbers of chunks.
struct Renumbering<'r, 'w> {
    import: &'r Import<'r>,
    frames: &'r mut WorkQueue<'w, Rows, Checked, StorageError>,
    builders: [FrameBuilder; TABLES.len()],
    files: Vec<NumberedFile>,
    next_chunk: u32,
    /// The group of the last part, and the index in `files` of the first file that can follow its last row.
    at: (&'static str, usize),
    vectors: OpenBlock,
}

/// A block of vectors in the form in which artefacts contain it.
#[derive(Default)]
struct OpenBlock {
    block: u32,
    indices: Vec<u8>,
    scales: Vec<u8>,
    rows: Vec<u8>,
}

impl<'r, 'w> Renumbering<'r, 'w> {
    fn new(import: &'r Import<'r>, frames: &'r mut WorkQueue<'w, Rows, Checked, StorageError>) -> Self {
        Self {
            import,
            frames,
            builders: TABLES.map(|(table, _)| FrameBuilder::new(table.name())),
            files: Vec::new(),
            next_chunk: 0,
            at: (FILES, 0),
            vectors: OpenBlock::default(),
        }
    }

    /// Adds the rows of the next part.
    fn push(&mut self, group: &str, rows: &[u8]) -> Result<(), StorageError> {
        match (self.at.0, group) {
            (current, next) if current == next => {}
            (FILES, CHUNKS) => self.at = (CHUNKS, 0),
            (CHUNKS, VECTORS) => self.at = (VECTORS, 0),
            _ => return Err(self.import.damaged("manifest", "it lists unexpected parts".to_owned())),
        }
        let mut rows = RowReader::new(rows);
        while let Some((key, value)) = rows.next().map_err(|what| self.import.damaged(group, what))? {
            let pushed = match group {
                FILES => self.file(key, value),
                CHUNKS => self.chunks(key, value),
                _ => self.file_vectors(key, value),
            };
            let shown = key.escape_ascii();
            pushed?.ok_or_else(|| self.import.damaged(group, format!("the row of {shown} is invalid")))?;
        }
        Ok(())
    }

    /// Adds the record, the representation and the blame of a file. Returns `None` if the row is invalid.
    fn file(&mut self, key: &[u8], value: &[u8]) -> Result<Option<()>, StorageError> {
        let mut reader = ByteReader::new(value);
        let mut sized = || reader.sized();
        let (Some(record), Some(representation), Some(blame)) = (sized(), sized(), sized()) else { return Ok(None) };
        let Some(mut record) = files::decode(key, record).filter(|_| reader.is_empty()) else { return Ok(None) };
        let is_in_order = self.files.last().is_none_or(|last| last.key.as_slice() < key);
        let is_numbered = record.chunks.iter().zip(0..).all(|(id, index)| id.0 == index);
        let chunks = record.chunks.len() as u32;
        let end = self.next_chunk.checked_add(chunks).filter(|end| *end <= self.import.announced.chunks);
        let Some(end) = end.filter(|_| is_in_order && is_numbered) else { return Ok(None) };
        let first = std::mem::replace(&mut self.next_chunk, end);
        record.chunks = (first..end).map(ChunkId).collect();
        self.put(0, key, &files::encode(&record))?;
        if chunks > 0 {
            self.put(1, &chunk_key(first), representation)?;
        }
        if chunks > 0 && !blame.is_empty() {
            self.put(2, &chunk_key(first), blame)?;
        }
        self.files.push(NumberedFile { key: key.to_owned(), first, chunks });
        Ok(Some(()))
    }

    /// Adds the chunks of a file. Returns `None` if the row is invalid.
    fn chunks(&mut self, key: &[u8], value: &[u8]) -> Result<Option<()>, StorageError> {
        let Some((first, count)) = self.find(key) else { return Ok(None) };
        let mut reader = ByteReader::new(value);
        for id in first..first + count {
            let Some(chunk) = reader.sized() else { return Ok(None) };
            self.put(3, &chunk_key(id), chunk)?;
        }
        Ok(reader.is_empty().then_some(()))
    }

    /// Adds the vectors of a file. Returns `None` if the row is invalid.
    fn file_vectors(&mut self, key: &[u8], value: &[u8]) -> Result<Option<()>, StorageError> {
        let model = self.import.announced.model.as_ref();
        let (Some((first, count)), Some(model)) = (self.find(key), model) else { return Ok(None) };
        let mut reader = ByteReader::new(value);
        while !reader.is_empty() {
            let index = reader.varint32().filter(|index| *index < count);
            let (Some(index), Some(scale), Some(row)) = (index, reader.take(4), reader.take(model.dimensions)) else {
                return Ok(None);
            };
            let id = first + index;
            if self.vectors.block != id / BLOCK_IDS {
                self.end_block()?;
                self.vectors.block = id / BLOCK_IDS;
            }
            self.vectors.indices.extend_from_slice(&((id % BLOCK_IDS) as u16).to_le_bytes());
            self.vectors.scales.extend_from_slice(scale);
            self.vectors.rows.extend_from_slice(row);
        }
        Ok(Some(()))
    }

    /// Returns the first chunk and the number of chunks of the file with this key. The key must follow the previous one
    /// of the group.
    fn find(&mut self, key: &[u8]) -> Option<(u32, u32)> {
        let rest = &self.files[self.at.1..];
        let index = rest.binary_search_by(|file| file.key.as_slice().cmp(key)).ok()?;
        self.at.1 += index + 1;
        Some((rest[index].first, rest[index].chunks))
    }

    /// Adds the current block of vectors to its table.
    fn end_block(&mut self) -> Result<(), StorageError> {
        let OpenBlock { block, indices, scales, rows } = std::mem::take(&mut self.vectors);
        if indices.is_empty() {
            return Ok(());
        }
        self.put(4, &block_key(block), &[indices, scales, rows].concat())
    }

    fn put(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<(), StorageError> {
        let (name, group) = (self.import.name, TABLES[table].1);
        let full = self.builders[table].push(key, value).map_err(|error| damaged(name, group, error.to_string()))?;
        full.map_or(Ok(()), |rows| self.frames.push(rows.len(), (table, rows)))
    }

    /// Adds the last rows of all tables.
    fn finish(mut self) -> Result<(), StorageError> {
        self.end_block()?;
        for (table, builder) in self.builders.iter_mut().enumerate() {
            builder.take().map_or(Ok(()), |rows| self.frames.push(rows.len(), (table, rows)))?;
        }
        Ok(())
    }
}
