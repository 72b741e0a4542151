//! A digest of what an index says, whatever its ids, segments and history are.

use aurora_inverted::{FIELDS, Field, LABEL_PREFIX};
use blake3::Hasher;
use rustc_hash::FxHashMap;

use crate::chunk::{ChunkId, StoredTokens};
use crate::column::ColumnDeclaration;
use crate::content::encode_whole;
use crate::error::StorageError;
use crate::files::{FileOutcome, FileRecord};
use crate::listing::TermListing;
use crate::snapshot::Snapshot;

/// Bytes of the digest that is carried from one term of a chunk to the next.
const CHAINED: usize = 16;

impl Snapshot {
    /// BLAKE3, in hexadecimal, of the logical content: every chunk in the order of keys with its record,
    /// terms, labels, lengths and vector; every file row but its stat data and blob id; the totals, the model
    /// and the custom columns. Stale columns, and what is computed from them, are left out: their values, the terms of the field for custom
    /// columns if one of them has terms, and all vectors and tokens of the model if one of them is part of the embedded text.
    ///
    /// Two indexes of the same tree have the same digest, however each came about.
    ///
    /// # Errors
    /// [`StorageError::Damaged`] for the first chunk, posting list, vector or file row that cannot be read.
    pub fn digest(&self) -> Result<String, StorageError> {
        let stale = StaleColumns::from_snapshot(self);
        let terms = self.term_digests(&stale)?;
        let mut keys = Vec::with_capacity(self.live().len() as usize);
        for id in self.live() {
            let record = self.chunk(ChunkId(id))?;
            keys.push((record.map(|record| record.key()).unwrap_or_default(), id));
        }
        keys.sort_unstable();
        let lengths = self.all_field_lengths()?;
        let mut hasher = Hasher::new();
        for (_, id) in keys {
            let chunk = self.whole_chunk(ChunkId(id))?;
            let chunk = chunk.map(|mut chunk| {
                chunk.metadata.retain(|(key, _)| !stale.contains(key));
                if stale.have_vectors {
                    chunk.tokens = StoredTokens::default();
                }
                encode_whole(&chunk)
            });
            field(&mut hasher, &chunk.unwrap_or_default());
            hasher.update(&terms.get(&id).copied().unwrap_or_default());
            hasher.update(&stale.without_terms(lengths.of(ChunkId(id))));
            if let Some((scale, row)) = self.row(ChunkId(id))?.filter(|_| !stale.have_vectors) {
                hasher.update(&scale.to_le_bytes());
                field(&mut hasher, &row);
            }
        }
        for record in self.files() {
            self.hash_file(&mut hasher, &record?)?;
        }
        for total in stale.without_terms(self.field_totals()) {
            hasher.update(&total.to_le_bytes());
        }
        let model = self.manifest().model.as_ref();
        field(&mut hasher, model.map_or("", |model| model.id.as_str()).as_bytes());
        for column in self.manifest().columns.iter().filter(|column| !stale.contains(&column.name)) {
            let json = serde_json::to_vec(column).map_err(|error| StorageError::encode("column", &error))?;
            field(&mut hasher, &json);
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// A digest of the dictionary entries of each chunk, which come in the order of their bytes.
    fn term_digests(&self, stale: &StaleColumns<'_>) -> Result<FxHashMap<u32, [u8; CHAINED]>, StorageError> {
        let mut digests: FxHashMap<u32, [u8; CHAINED]> = FxHashMap::default();
        let mut listing = TermListing::everything(self);
        while let Some((term, postings)) = listing.step()? {
            let is_label = term.first() == Some(&LABEL_PREFIX);
            // What is hashed for each posting fits one block of the hash function.
            let mut link = [0; CHAINED + 32 + 2 * FIELDS];
            link[CHAINED..CHAINED + 32].copy_from_slice(blake3::hash(&term).as_bytes());
            postings.for_each(|ChunkId(chunk), frequencies| {
                let frequencies = stale.without_terms(frequencies);
                if !is_label && frequencies == [0; FIELDS] {
                    return;
                }
                let digest = digests.entry(chunk).or_default();
                link[..CHAINED].copy_from_slice(digest);
                link[CHAINED + 32..].copy_from_slice(little_endian(&frequencies).as_flattened());
                digest.copy_from_slice(&blake3::hash(&link).as_bytes()[..CHAINED]);
            });
        }
        Ok(digests)
    }

    fn hash_file(&self, hasher: &mut Hasher, record: &FileRecord) -> Result<(), StorageError> {
        field(hasher, record.path.as_bytes());
        hasher.update(&record.size.to_le_bytes());
        hasher.update(&record.hash);
        field(hasher, record.language.as_bytes());
        match &record.outcome {
            FileOutcome::Indexed => field(hasher, b"indexed"),
            FileOutcome::Skipped(reason) => {
                field(hasher, b"skipped");
                field(hasher, reason.as_bytes());
            }
        }
        field(hasher, &record.history_key);
        hasher.update(&record.lines.to_le_bytes());
        for warning in &record.warnings {
            field(hasher, warning.as_bytes());
        }
        let blame = record.chunks.first().map(|first| self.encoded_blame(*first)).transpose()?;
        field(hasher, &blame.flatten().unwrap_or_default());
        for &id in &record.chunks {
            let chunk = self.chunk(id)?;
            field(hasher, chunk.map(|chunk| chunk.key()).unwrap_or_default().as_bytes());
        }
        Ok(())
    }
}

/// The columns that a digest leaves out.
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

    /// Clears the figure of the field for custom columns if a stale column has terms.
    fn without_terms<T: Default>(&self, mut by_field: [T; FIELDS]) -> [T; FIELDS] {
        if self.have_terms {
            by_field[Field::Custom.index()] = T::default();
        }
        by_field
    }
}

/// Hashes bytes with their length, so that neighbours cannot run into each other.
fn field(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn little_endian(numbers: &[u16; FIELDS]) -> [[u8; 2]; FIELDS] {
    numbers.map(u16::to_le_bytes)
}
