//! A digest of the content of an index, independent of its ids, segments and history.

use std::ops::Range;

use aurora_inverted::{FIELDS, Field, LABEL_PREFIX, LengthCodes, TermRange};
use blake3::Hasher;

use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::read::{ChunkId, FileOutcome, FileRecord, Snapshot, StoredTokens, TermListing, encode_whole};
use crate::workers::Workers;

/// Number of bytes of a chunk's term digest. Each term is hashed together with the digest of the previous terms.
const CHAINED_BYTES: usize = 16;
/// Number of chunks that a thread reads at a time.
const CHUNKS: usize = 256;
/// Maximum number of ranges of chunks whose terms are hashed at the same time. The dictionary is read once for each
/// range.
const MAX_RANGES: u32 = 16;
/// Number of files that a thread reads at a time.
const FILES: usize = 64;

impl Snapshot {
    /// Returns the BLAKE3 hash, in hexadecimal, of the logical content: every chunk in key order with its record,
    /// terms, labels, lengths and vector; every file row except its stat data and blob id; the totals, the model and
    /// the custom columns.
    ///
    /// Stale columns (see [`crate::Unfinished::is_stale`]) and data computed from them are left out. If a stale column
    /// has terms, all terms in the field of custom columns are left out. If a stale column is part of the embedded
    /// text, all vectors and stored tokens are left out.
    ///
    /// Two indexes of the same tree have the same digest, regardless of how each was built.
    ///
    /// # Errors
    /// Returns [`StorageError::Damaged`] for the first chunk, posting list, vector or file row that cannot be read.
    pub fn digest(&self) -> Result<String, StorageError> {
        self.digest_with(Workers::default())
    }

    /// Like [`Self::digest`], with a number of threads, which does not affect the digest.
    ///
    /// # Errors
    /// Returns the errors of [`Self::digest`].
    pub fn digest_with(&self, workers: Workers) -> Result<String, StorageError> {
        let stale = StaleColumns::from_snapshot(self);
        let terms = self.term_digests(&stale, workers)?;
        let ids: Vec<u32> = self.live().iter().collect();
        let mut keys = Vec::with_capacity(ids.len());
        let key =
            |&id: &u32| Ok((self.chunk(ChunkId(id))?.map_or_else(String::new, |record| record.key().into_owned()), id));
        let read = |ids: &[u32]| ids.iter().map(key).collect::<Result<Vec<_>, StorageError>>();
        workers.for_each(ids.chunks(CHUNKS), read, |read| read.map(|read| keys.extend(read)))?;
        keys.sort_unstable();
        let lengths = self.all_field_lengths()?;
        let mut hasher = Hasher::new();
        let chunks = |keys: &[(String, u32)]| {
            let (snapshot, mut bytes) = (self.with_own_frames(), Vec::new());
            for &(_, id) in keys {
                let terms = terms.get(id as usize).copied().unwrap_or_default();
                snapshot.put_chunk(&mut bytes, ChunkId(id), &stale, terms, lengths.of(ChunkId(id)))?;
            }
            Ok::<_, StorageError>(bytes)
        };
        let mut hash = |bytes: Result<Vec<u8>, StorageError>| bytes.map(|bytes| _ = hasher.update(&bytes));
        workers.for_each(keys.chunks(CHUNKS), chunks, &mut hash)?;
        let files = |files: Vec<FileRecord>| {
            let (snapshot, mut bytes) = (self.with_own_frames(), Vec::new());
            files.iter().try_for_each(|file| snapshot.put_file(&mut bytes, file))?;
            Ok(bytes)
        };
        workers.in_order(files, &mut hash, |queue| {
            let mut records = self.files().peekable();
            while records.peek().is_some() {
                queue.push(0, records.by_ref().take(FILES).collect::<Result<_, _>>()?)?;
            }
            Ok(())
        })?;
        for total in stale.without_terms(self.field_totals()) {
            hasher.update(&total.to_le_bytes());
        }
        let mut bytes = Vec::new();
        let model = self.manifest().model.as_ref();
        field(&mut bytes, model.map_or("", |model| model.id.as_str()).as_bytes());
        for column in self.manifest().columns.iter().filter(|column| !stale.contains(&column.name)) {
            let json = serde_json::to_vec(column).map_err(|error| StorageError::encode("column", &error))?;
            field(&mut bytes, &json);
        }
        hasher.update(&bytes);
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Returns a digest for each chunk id, computed from the chunk's dictionary entries in byte order. Each thread
    /// reads the whole dictionary, and hashes the postings of a range of chunks.
    fn term_digests(
        &self,
        stale: &StaleColumns<'_>,
        workers: Workers,
    ) -> Result<Vec<[u8; CHAINED_BYTES]>, StorageError> {
        let end = self.manifest().next_chunk_id;
        let share = end.div_ceil(MAX_RANGES.min(workers.threads() as u32)).max(1);
        let mut all = Vec::with_capacity(end as usize);
        let ranges = (0..end).step_by(share as usize).map(|first| first..end.min(first.saturating_add(share)));
        let hash = |chunks: Range<u32>| self.term_digests_of_chunks(stale, chunks);
        workers.for_each(ranges, hash, |digests| digests.map(|digests| all.extend(digests)))?;
        Ok(all)
    }

    fn term_digests_of_chunks(
        &self,
        stale: &StaleColumns<'_>,
        chunks: Range<u32>,
    ) -> Result<Vec<[u8; CHAINED_BYTES]>, StorageError> {
        let mut digests = vec![[0; CHAINED_BYTES]; chunks.len()];
        let mut listing = TermListing::entries(self, TermRange::ALL, chunks.clone());
        while let Some((term, postings)) = listing.step()? {
            let is_label = term.first() == Some(&LABEL_PREFIX);
            // The bytes that are hashed for each posting fit into one block of the hash function.
            let mut link = [0; CHAINED_BYTES + 32 + 2 * FIELDS];
            link[CHAINED_BYTES..CHAINED_BYTES + 32].copy_from_slice(blake3::hash(&term).as_bytes());
            postings.for_each(|ChunkId(chunk), frequencies| {
                let frequencies = stale.without_terms(frequencies);
                if !chunks.contains(&chunk) || !is_label && frequencies == [0; FIELDS] {
                    return;
                }
                let digest = &mut digests[(chunk - chunks.start) as usize];
                link[..CHAINED_BYTES].copy_from_slice(digest);
                link[CHAINED_BYTES + 32..].copy_from_slice(frequencies.map(u16::to_le_bytes).as_flattened());
                digest.copy_from_slice(&blake3::hash(&link).as_bytes()[..CHAINED_BYTES]);
            });
        }
        Ok(digests)
    }

    /// Appends the data of a chunk that is part of the digest.
    fn put_chunk(
        &self,
        out: &mut Vec<u8>,
        id: ChunkId,
        stale: &StaleColumns<'_>,
        terms: [u8; CHAINED_BYTES],
        lengths: LengthCodes,
    ) -> Result<(), StorageError> {
        let chunk = self.whole_chunk(id)?.map(|mut chunk| {
            chunk.metadata.retain(|(key, _)| !stale.contains(key));
            if stale.have_vectors {
                chunk.tokens = StoredTokens::default();
            }
            encode_whole(&chunk)
        });
        field(out, &chunk.unwrap_or_default());
        out.extend_from_slice(&terms);
        out.extend_from_slice(&stale.without_terms(lengths));
        if let Some((scale, row)) = self.row(id)?.filter(|_| !stale.have_vectors) {
            out.extend_from_slice(&scale.to_le_bytes());
            field(out, &row);
        }
        Ok(())
    }

    /// Appends the data of a file that is part of the digest.
    fn put_file(&self, out: &mut Vec<u8>, record: &FileRecord) -> Result<(), StorageError> {
        field(out, record.path.as_bytes());
        out.extend_from_slice(&record.size.to_le_bytes());
        out.extend_from_slice(&record.hash);
        field(out, record.language.as_bytes());
        match &record.outcome {
            FileOutcome::Indexed => field(out, b"indexed"),
            FileOutcome::Skipped(reason) => {
                field(out, b"skipped");
                field(out, reason.as_bytes());
            }
        }
        field(out, &record.history_key);
        out.extend_from_slice(&record.lines.to_le_bytes());
        for warning in &record.warnings {
            field(out, warning.as_bytes());
        }
        let blame = record.chunks.first().map(|first| self.encoded_blame(*first)).transpose()?;
        field(out, &blame.flatten().unwrap_or_default());
        for &id in &record.chunks {
            let chunk = self.chunk(id)?;
            field(out, chunk.map(|chunk| chunk.key()).unwrap_or_default().as_bytes());
        }
        Ok(())
    }
}

/// The stale columns, which are left out of a digest.
struct StaleColumns<'s> {
    columns: Vec<&'s ColumnDeclaration>,
    have_terms: bool,
    have_vectors: bool,
}

impl<'s> StaleColumns<'s> {
    fn from_snapshot(snapshot: &'s Snapshot) -> Self {
        let manifest = snapshot.manifest();
        let columns: Vec<_> =
            manifest.columns.iter().filter(|column| manifest.unfinished.is_stale(&column.name)).collect();
        Self {
            have_terms: columns.iter().any(|column| column.terms.is_some()),
            have_vectors: columns.iter().any(|column| column.embed),
            columns,
        }
    }

    fn contains(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }

    /// Clears the value for the field of custom columns if a stale column has terms.
    fn without_terms<T: Default>(&self, mut by_field: [T; FIELDS]) -> [T; FIELDS] {
        if self.have_terms {
            by_field[Field::Custom.index()] = T::default();
        }
        by_field
    }
}

/// Appends bytes after their length, so that adjacent fields stay distinct.
fn field(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}
