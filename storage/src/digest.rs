//! A digest of what an index says, whatever its ids, segments and history are.

use aurora_inverted::FIELDS;
use blake3::Hasher;
use rustc_hash::FxHashMap;

use crate::chunk::ChunkId;
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
    /// and the custom columns.
    ///
    /// Two indexes of the same tree have the same digest, however each came about.
    ///
    /// # Errors
    /// [`StorageError::Damaged`] for the first chunk, posting list, vector or file row that cannot be read.
    pub fn digest(&self) -> Result<String, StorageError> {
        let terms = self.term_digests()?;
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
            field(&mut hasher, &chunk.map(|chunk| encode_whole(&chunk)).unwrap_or_default());
            hasher.update(&terms.get(&id).copied().unwrap_or_default());
            hasher.update(&lengths.of(ChunkId(id)));
            if let Some((scale, row)) = self.row(ChunkId(id))? {
                hasher.update(&scale.to_le_bytes());
                field(&mut hasher, &row);
            }
        }
        for record in self.files() {
            self.hash_file(&mut hasher, &record?)?;
        }
        for total in self.field_totals() {
            hasher.update(&total.to_le_bytes());
        }
        let model = self.manifest().model.as_ref();
        field(&mut hasher, model.map_or("", |model| model.id.as_str()).as_bytes());
        for column in &self.manifest().columns {
            let json = serde_json::to_vec(column).map_err(|error| StorageError::encode("column", &error))?;
            field(&mut hasher, &json);
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// A digest of the dictionary entries of each chunk, which come in the order of their bytes.
    fn term_digests(&self) -> Result<FxHashMap<u32, [u8; CHAINED]>, StorageError> {
        let mut digests: FxHashMap<u32, [u8; CHAINED]> = FxHashMap::default();
        let mut listing = TermListing::everything(self);
        while let Some((term, postings)) = listing.step()? {
            // What is hashed for each posting fits one block of the hash function.
            let mut link = [0; CHAINED + 32 + 2 * FIELDS];
            link[CHAINED..CHAINED + 32].copy_from_slice(blake3::hash(&term).as_bytes());
            postings.for_each(|ChunkId(chunk), frequencies| {
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

/// Hashes bytes with their length, so that neighbours cannot run into each other.
fn field(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn little_endian(numbers: &[u16; FIELDS]) -> [[u8; 2]; FIELDS] {
    numbers.map(u16::to_le_bytes)
}
