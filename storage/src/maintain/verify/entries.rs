//! Sums over each chunk's labels and frequencies in the keyword index.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use aurora_inverted::{FIELDS, LABEL_PREFIX};
use rustc_hash::FxHasher;

use crate::read::{BLOCK_IDS, Snapshot};

/// Sums over the dictionary entries of each live chunk. Threads may add entries in any order.
pub(super) struct Entries {
    /// The chunks' sums in blocks of ids; `None` for a block without live chunks.
    blocks: Vec<Option<Box<[ChunkEntries]>>>,
    hash: BuildHasherDefault<FxHasher>,
}

/// Sums over the entries of a chunk.
#[derive(Default)]
pub(super) struct ChunkEntries {
    /// Sum of the hashes of found labels minus the sum of the hashes of expected labels. The difference is 0 if the
    /// labels are the same.
    labels: AtomicU64,
    /// Frequencies in each field.
    sums: [AtomicU64; FIELDS],
    flags: AtomicU8,
}

/// Flag of a chunk with an entry that was found or is expected.
const KNOWN: u8 = 1;
/// Flag of a chunk with a stored frequency of `u16::MAX`, the highest that can be stored. The actual frequency may be
/// higher.
const CAPPED: u8 = 2;

/// The hash of a dictionary entry, and whether it is a label.
pub(super) type EntryHash = (u64, bool);

impl Entries {
    /// Creates a collection without entries.
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let block = |block: u32| {
            let ids = block * BLOCK_IDS..=block * BLOCK_IDS + (BLOCK_IDS - 1);
            let is_live = snapshot.live().range_cardinality(ids) > 0;
            is_live.then(|| (0..BLOCK_IDS).map(|_| ChunkEntries::default()).collect())
        };
        let blocks = (0..snapshot.manifest().next_chunk_id.div_ceil(BLOCK_IDS)).map(block).collect();
        Self { blocks, hash: BuildHasherDefault::default() }
    }

    /// Records that the dictionary must have a label of a chunk.
    pub(super) fn expect(&self, chunk: u32, label: &[u8]) {
        if let Some(entries) = self.get(chunk) {
            entries.flag(KNOWN);
            entries.labels.fetch_sub(self.hash.hash_one(label), Relaxed);
        }
    }

    /// Hashes a dictionary entry.
    pub(super) fn hash(&self, entry: &[u8]) -> EntryHash {
        (self.hash.hash_one(entry), entry.first() == Some(&LABEL_PREFIX))
    }

    /// Adds a posting of a dictionary entry.
    pub(super) fn add(&self, chunk: u32, (hash, is_label): EntryHash, frequencies: &[u16; FIELDS]) {
        let Some(entries) = self.get(chunk) else { return };
        entries.flag(KNOWN);
        if is_label {
            entries.labels.fetch_add(hash, Relaxed);
            return;
        }
        for (sum, &count) in entries.sums.iter().zip(frequencies).filter(|(_, count)| **count > 0) {
            sum.fetch_add(u64::from(count), Relaxed);
            if count == u16::MAX {
                entries.flag(CAPPED);
            }
        }
    }

    /// Returns the sums of a chunk; `None` if no entry of the chunk was found or is expected.
    pub(super) fn sums(&self, chunk: u32) -> Option<&ChunkEntries> {
        self.get(chunk).filter(|entries| entries.has(KNOWN))
    }

    fn get(&self, chunk: u32) -> Option<&ChunkEntries> {
        self.blocks.get((chunk / BLOCK_IDS) as usize)?.as_ref()?.get((chunk % BLOCK_IDS) as usize)
    }
}

impl ChunkEntries {
    /// Whether the found labels differ from the expected labels.
    pub(super) fn has_other_labels(&self) -> bool {
        self.labels.load(Relaxed) != 0
    }

    /// Frequencies in each field.
    pub(super) fn frequencies(&self) -> [u64; FIELDS] {
        self.sums.each_ref().map(|sum| sum.load(Relaxed))
    }

    /// Whether one of the stored frequencies is the highest that can be stored. The actual frequency may be higher, and
    /// so may the sum of the frequencies.
    pub(super) fn is_capped(&self) -> bool {
        self.has(CAPPED)
    }

    fn has(&self, flag: u8) -> bool {
        self.flags.load(Relaxed) & flag != 0
    }

    fn flag(&self, flag: u8) {
        if !self.has(flag) {
            self.flags.fetch_or(flag, Relaxed);
        }
    }
}
